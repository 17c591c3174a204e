//! The log folded into histories: of each incarnation of a pod, each Service and each budget.

use std::collections::BTreeMap;

use rehome_k8s::{Key, Kind};
use rehome_model::{ObjectRef, Timestamp, Uid};
use serde_json::Value;

use super::budget_history::{BudgetHistory, label_selector, labels_of, service_selector};
use super::event::AuditEvent;
use super::pod_history::{Deletion, How, PodHistory};
use super::service_history::{ServiceHistory, ready_pods, service_of};

/// The beginning of the names of kubelets, which end what is on its way out, as kwok does.
/// Source: `k8s.io/kubernetes/pkg/auth/nodeidentifier`, `nodeUserNamePrefix`.
const KUBELET_PREFIX: &str = "system:node:";

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pub(super) pods: BTreeMap<Uid, PodHistory>,
    pub(super) current: BTreeMap<Key, Uid>,
    /// The controllers of workloads.
    pub(super) owners: BTreeMap<Uid, Option<(String, String, Uid)>>,
    pub(super) services: BTreeMap<Key, ServiceHistory>,
    pub(super) budgets: BTreeMap<Key, BudgetHistory>,
}

impl Timeline {
    /// Folds events, which have to be in the order of their answers.
    #[must_use]
    pub fn of(events: &[AuditEvent]) -> Self {
        let mut timeline = Self::default();
        for event in events {
            timeline.observe(event);
        }
        timeline
    }

    /// All incarnations of all pods.
    pub fn pods(&self) -> impl Iterator<Item = &PodHistory> {
        self.pods.values()
    }

    /// One incarnation.
    #[must_use]
    pub fn pod(&self, uid: &Uid) -> Option<&PodHistory> {
        self.pods.get(uid)
    }

    /// All budgets.
    pub fn budgets(&self) -> impl Iterator<Item = (&Key, &BudgetHistory)> {
        self.budgets.iter()
    }

    /// All Services.
    pub fn services(&self) -> impl Iterator<Item = (&Key, &ServiceHistory)> {
        self.services.iter()
    }

    /// The topmost controller of a pod that the log knows, or the pod itself. A Job ends the walk: the next run of its
    /// CronJob is another lineage.
    #[must_use]
    pub fn workload(&self, pod: &PodHistory) -> ObjectRef {
        let namespace = pod.pod.namespace.clone();
        let mut found = pod.pod.clone();
        let mut next = pod.controller.clone();
        // No chain of owners is longer; a cycle would be.
        for _ in 0..8 {
            let Some((kind, name, uid)) = next else { break };
            if kind == "Node" {
                break;
            }
            found = ObjectRef { kind, namespace: namespace.clone(), name };
            next = if found.kind == "Job" { None } else { self.owners.get(&uid).cloned().flatten() };
        }
        found
    }

    /// All incarnations of a workload's pods.
    pub fn pods_of<'t>(&'t self, workload: &'t ObjectRef) -> impl Iterator<Item = &'t PodHistory> {
        self.pods().filter(move |pod| self.workload(pod) == *workload)
    }

    /// Takes in one event.
    pub fn observe(&mut self, event: &AuditEvent) {
        let Some(object) = event.object_ref.as_ref().filter(|_| event.done()) else { return };
        let at = event.stage_timestamp;
        match (object.resource.as_str(), object.subresource.as_deref()) {
            ("pods", Some("eviction")) => {
                let key = key_of(event);
                let uid = event.uid_precondition().or_else(|| self.current.get(&key).cloned());
                self.delete_pod(event, uid, How::Evicted, None);
            }
            ("pods", Some("binding")) => {
                if let (Some(uid), Some(body)) = (self.current.get(&key_of(event)), &event.request_object)
                    && let Some(pod) = self.pods.get_mut(uid)
                    && let Some(node) = body["target"]["name"].as_str()
                {
                    pod.node = Some(node.to_owned());
                }
            }
            ("pods", _) => match event.verb.as_str() {
                "delete" => {
                    let body = event.response_object.as_ref();
                    let uid = body.and_then(uid_of).or_else(|| self.current.get(&key_of(event)).cloned());
                    self.delete_pod(event, uid, How::Deleted, body);
                }
                "deletecollection" => {
                    let list = event.response_object.as_ref().and_then(|body| body["items"].as_array());
                    for item in list.into_iter().flatten() {
                        self.delete_pod(event, uid_of(item), How::Deleted, Some(item));
                    }
                }
                _ => self.with_answer(event, |timeline, body| timeline.set_pod(body, at)),
            },
            ("services", None) => self.with_answer(event, |timeline, body| timeline.set_service(body)),
            ("endpointslices", None) => self.set_slice(event, at),
            ("poddisruptionbudgets", _) => self.set_budget(event, at),
            (resource, None | Some("status")) if is_workload(resource) => {
                self.with_answer(event, |timeline, body| timeline.set_owner(body));
            }
            _ => {}
        }
    }

    fn with_answer(&mut self, event: &AuditEvent, take: impl FnOnce(&mut Self, &Value)) {
        if let Some(body) = event.response_object.as_ref().filter(|_| !event.verb.starts_with("delete")) {
            take(self, body);
        }
    }

    fn set_pod(&mut self, body: &Value, at: Timestamp) {
        let metadata = &body["metadata"];
        let (Some(uid), Some(key)) = (uid_of(body), object_key(body)) else { return };
        // Answers of concurrent requests can be logged out of order; versions of one object only grow.
        let version = metadata["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        let pod =
            self.pods.entry(uid.clone()).or_insert_with(|| PodHistory::new(key.reference(Kind::Pod), uid.clone(), at));
        if version < pod.version {
            return;
        }
        pod.version = version;
        pod.labels = labels_of(&metadata["labels"]);
        pod.controller = controller_of(body);
        if let Some(node) = body["spec"]["nodeName"].as_str() {
            pod.node = Some(node.to_owned());
        }
        let phase = body["status"]["phase"].as_str();
        if matches!(phase, Some("Succeeded" | "Failed")) {
            pod.finished.get_or_insert(at);
        }
        let mut conditions = body["status"]["conditions"].as_array().into_iter().flatten();
        let ready = conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        pod.set_ready(ready && pod.finished.is_none(), at);
        self.current.insert(key, uid);
    }

    fn delete_pod(&mut self, event: &AuditEvent, uid: Option<Uid>, how: How, body: Option<&Value>) {
        let Some(pod) = uid.and_then(|uid| self.pods.get_mut(&uid)) else { return };
        let at = event.stage_timestamp;
        let by = event.user.username.clone();
        let kubelet = by == crate::kwok::USER || by.starts_with(KUBELET_PREFIX);
        let grace = event.delete_options().and_then(|options| options["gracePeriodSeconds"].as_i64());
        let finishing = kubelet && (grace == Some(0) || !pod.deletions.is_empty());
        pod.deletions.push(Deletion {
            by,
            audit_id: event.audit_id.clone(),
            how,
            received: event.request_received_timestamp,
            at,
            finishing,
        });
        // A pod without a node, and one whose grace period is over, goes at once unless a finalizer holds it.
        let period = body.and_then(|body| body["metadata"]["deletionGracePeriodSeconds"].as_i64());
        let held = body.is_some_and(|body| body["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty()));
        if !held && (finishing || period == Some(0) || grace == Some(0) || pod.node.is_none()) {
            pod.set_gone(at);
            let key = Key::of(&pod.pod);
            if self.current.get(&key) == Some(&pod.uid) {
                self.current.remove(&key);
            }
        }
    }

    fn set_service(&mut self, body: &Value) {
        let Some(key) = object_key(body) else { return };
        let service = self.services.entry(key).or_default();
        if let Some(selector) = body["spec"].get("selector") {
            service.selector = service_selector(selector);
        }
        service.publishes_not_ready = body["spec"]["publishNotReadyAddresses"].as_bool().unwrap_or(false);
    }

    fn set_slice(&mut self, event: &AuditEvent, at: Timestamp) {
        let Some(body) = &event.response_object else { return };
        if let (Some(service), Some(slice)) = (service_of(body), object_key(body)) {
            let gone = event.verb.starts_with("delete");
            let ready = if gone { Default::default() } else { ready_pods(body) };
            self.services.entry(service).or_default().set_slice(&slice.name, ready, at);
        }
    }

    fn set_budget(&mut self, event: &AuditEvent, at: Timestamp) {
        if event.verb.starts_with("delete") {
            if let Some(budget) = self.budgets.get_mut(&key_of(event)) {
                budget.gone = Some(at);
            }
            return;
        }
        let Some(body) = &event.response_object else { return };
        let Some(key) = object_key(body) else { return };
        let budget = self.budgets.entry(key).or_default();
        budget.gone = None;
        // A simulated world shows only the parts of an object that it changes; its budgets come from a view.
        if let Some(selector) = body["spec"].get("selector") {
            budget.selector = label_selector(selector);
        }
        let status = &body["status"];
        // Before the controller has seen the budget, its status is made of zeros.
        if status["observedGeneration"].as_i64().unwrap_or(0) > 0 {
            budget.set_desired(status["desiredHealthy"].as_i64().unwrap_or(0), at);
        }
    }

    fn set_owner(&mut self, body: &Value) {
        if let Some(uid) = uid_of(body) {
            self.owners.insert(uid, controller_of(body));
        }
    }
}

fn is_workload(resource: &str) -> bool {
    Kind::ALL.iter().any(|kind| kind.plural() == resource && kind.is_workload())
}

fn key_of(event: &AuditEvent) -> Key {
    let object = event.object_ref.clone().unwrap_or_default();
    Key { namespace: object.namespace.unwrap_or_default(), name: object.name.unwrap_or_default() }
}

fn object_key(body: &Value) -> Option<Key> {
    let metadata = &body["metadata"];
    Some(Key::new(metadata["namespace"].as_str().unwrap_or_default(), metadata["name"].as_str()?))
}

fn uid_of(body: &Value) -> Option<Uid> {
    Some(Uid::from(body["metadata"]["uid"].as_str()?))
}

fn controller_of(body: &Value) -> Option<(String, String, Uid)> {
    let owners = body["metadata"]["ownerReferences"].as_array()?;
    let owner = owners.iter().find(|owner| owner["controller"] == true)?;
    let word = |field: &str| owner[field].as_str().map(str::to_owned);
    Some((word("kind")?, word("name")?, Uid(word("uid")?)))
}
