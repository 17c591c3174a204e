//! The API server: what it checks, what it stores, and what it answers.
//!
//! Not modelled: authentication and RBAC, admission other than that of terminating namespaces,
//! LimitRanges and priorities (webhooks, quotas), finalizers, paging.

use std::sync::Arc;

use rehome_k8s::admission::Refused;
use rehome_k8s::pod::Pod;
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::{Key, Kind, Record, admission, field};
use rehome_model::request::{Cause, Request};
use rehome_model::time::Seconds;
use rehome_model::verb::{Change as FieldChange, Field};
use rehome_model::{ObjectRef, Uid};

use crate::audit::Entry;
use crate::controllers::Mutation;
use crate::eviction::{self, Precondition, Verdict};
use crate::world::SimWorld;

/// The scheduler's user.
const SCHEDULER: &str = "system:kube-scheduler";
/// The API server's own client, by which the eviction handler charges budgets.
const LOOPBACK: &str = "system:apiserver";

/// An object that could not be created.
#[derive(Debug, thiserror::Error)]
pub enum CreateFailed {
    /// It could not be decoded.
    #[error(transparent)]
    Unreadable(#[from] rehome_k8s::ingest::IngestError),
    /// No rule reads its kind.
    #[error("the simulated cluster keeps no objects of this kind")]
    UnknownKind,
    /// Admission refuses it.
    #[error("pods {name:?} is forbidden: {why}")]
    Refused {
        /// Its name.
        name: String,
        /// Why.
        why: Refused,
    },
    /// There is one already.
    #[error("{0} already exists")]
    AlreadyExists(ObjectRef),
}

/// The HTTP status that a refusal has.
#[must_use]
pub fn http_code(cause: &Cause) -> u16 {
    match cause {
        Cause::Budget { .. } | Cause::Throttled { .. } => 429,
        Cause::SeveralBudgets { .. } => 500,
        Cause::NotFound => 404,
        Cause::OtherIncarnation { .. } => 409,
        // A JSON Patch whose `test` fails is 422 Invalid; what the engine sees is that the value was another.
        Cause::Conflict { .. } => 422,
        Cause::Forbidden { .. } | Cause::NamespaceTerminating { .. } | Cause::Denied { .. } => 403,
        Cause::Server { code, .. } | Cause::Invalid { code, .. } => *code,
    }
}

impl SimWorld {
    /// Creates an object from its JSON, as `kubectl create` does: with a UID and a resource version of its own.
    ///
    /// # Errors
    /// See [`CreateFailed`].
    pub fn create(&mut self, user: &str, json: &str) -> Result<ObjectRef, CreateFailed> {
        let record = rehome_k8s::ingest::object(json)?.ok_or(CreateFailed::UnknownKind)?;
        let reference = record.reference();
        if let Record::Pod(pod) = &record {
            let why = admission::admit(self.store.view(), &mut Pod::clone(pod)).err();
            if let Some(why) = why {
                return Err(CreateFailed::Refused { name: reference.name, why });
            }
        }
        self.mutate(user, Mutation::Create(record)).ok_or(CreateFailed::AlreadyExists(reference))
    }

    /// Changes the cluster as somebody else than the engine would: another person, an operator, an accident. The object,
    /// or `None` when it is not there (or, for one that is to be created, is there already).
    pub fn mutate(&mut self, user: &str, mutation: Mutation) -> Option<ObjectRef> {
        let (verb, subresource, change) = match mutation {
            Mutation::Create(record) => {
                let record = self.admitted(user, record)?;
                ("create", None, self.store.create(record, self.clock).ok()?)
            }
            Mutation::Update(record) => ("update", None, self.store.update(record)?),
            Mutation::Status(record) => ("update", Some("status"), self.store.update_status(record)?),
            Mutation::Delete(kind, key) => return self.delete(user, kind, &key, None, "delete", None, None),
        };
        let record = change.after.clone()?;
        let reference = record.reference();
        self.log(user, None, verb, subresource, 200 + u16::from(verb == "create"), None, None, &record);
        self.commit(&change);
        Some(reference)
    }

    /// What is stored of a new object; `None` where admission refuses it.
    fn admitted(&mut self, user: &str, record: Record) -> Option<Record> {
        let Record::Pod(mut pod) = record else { return Some(record) };
        match admission::admit(self.store.view(), Arc::make_mut(&mut pod)) {
            Ok(()) => Some(Record::Pod(pod)),
            Err(why) => {
                let message = format!("pods {:?} is forbidden: {why}", pod.meta.name);
                self.log(user, None, "create", None, 403, Some(message), None, &Record::Pod(pod));
                None
            }
        }
    }

    /// Carries out a request, or says why not.
    ///
    /// # Errors
    /// What the server refuses, and why.
    pub fn answer(&mut self, user: &str, request: &Request, audit_id: Option<&str>) -> Result<(), Cause> {
        let result = match request {
            Request::SetField(change) => self.set_field(user, change, audit_id),
            Request::Evict { pod, uid } => self.evict(user, pod, Some(uid), audit_id),
            Request::Delete { pod, uid } => self.delete_pod(user, pod, uid, audit_id),
        };
        if let Err(cause) = &result {
            self.refused(user, request, audit_id, cause);
        }
        result
    }

    /// Evicts a pod; without a UID, whichever has the name.
    ///
    /// # Errors
    /// What the server refuses, and why. It is not in the audit log: [`SimWorld::answer`] puts it there.
    pub fn evict(
        &mut self,
        user: &str,
        pod: &ObjectRef,
        uid: Option<&Uid>,
        audit_id: Option<&str>,
    ) -> Result<(), Cause> {
        let key = Key::of(pod);
        self.namespace_accepts(&key)?;
        let Some(found) = self.store.view().pod(&key).cloned() else { return Err(Cause::NotFound) };
        let precondition = match eviction::ask(self.store.view(), &found) {
            Verdict::Refused(cause) => return Err(cause),
            Verdict::Free(precondition) => precondition,
            Verdict::Charged(budget) => {
                self.mutate(LOOPBACK, Mutation::Status(Record::PodDisruptionBudget(Arc::new(*budget))));
                Precondition::Checked
            }
        };
        if let Some(uid) = uid
            && *uid != found.meta.uid
        {
            match precondition {
                Precondition::Checked => {}
                Precondition::Retried => self.advance(eviction::RETRIES),
                Precondition::Pinned => {
                    let budgets = rehome_k8s::budget::of_pod(self.store.view(), &found).known().unwrap_or_default();
                    let name = budgets.first().map(|budget| budget.meta.name.clone()).unwrap_or_default();
                    return Err(eviction::processing(&name));
                }
            }
            return Err(other_incarnation(&found, uid));
        }
        self.delete(user, Kind::Pod, &key, uid.cloned(), "create", Some("eviction"), audit_id);
        Ok(())
    }

    fn delete_pod(&mut self, user: &str, pod: &ObjectRef, uid: &Uid, audit_id: Option<&str>) -> Result<(), Cause> {
        let key = Key::of(pod);
        let Some(found) = self.store.view().pod(&key).cloned() else { return Err(Cause::NotFound) };
        if *uid != found.meta.uid {
            return Err(other_incarnation(&found, uid));
        }
        self.delete(user, Kind::Pod, &key, Some(uid.clone()), "delete", None, audit_id);
        Ok(())
    }

    /// New objects are refused in a namespace that is being deleted; an eviction is a new object.
    /// Source: `k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle`.
    fn namespace_accepts(&self, key: &Key) -> Result<(), Cause> {
        let Some(namespace) = self.store.view().get(Kind::Namespace, &Key::cluster(key.namespace.clone())) else {
            return Ok(());
        };
        if namespace.meta().deleting.is_none() {
            return Ok(());
        }
        let message = format!(
            "pods {:?} is forbidden: unable to create new content in namespace {} because it is being terminated",
            key.name, key.namespace
        );
        Err(Cause::NamespaceTerminating { message })
    }

    /// Deletes an object: a pod that a kubelet has to end first only begins to terminate.
    /// Source: `k8s.io/kubernetes/pkg/registry/core/pod/strategy.go`, `CheckGracefulDelete`.
    #[expect(clippy::too_many_arguments, reason = "the parts of one audit event")]
    fn delete(
        &mut self,
        user: &str,
        kind: Kind,
        key: &Key,
        precondition: Option<Uid>,
        verb: &'static str,
        subresource: Option<&'static str>,
        audit_id: Option<&str>,
    ) -> Option<ObjectRef> {
        let record = self.store.view().get(kind, key)?.clone();
        let change = match &record {
            Record::Pod(pod) if pod.node.is_some() && !pod.finished() && pod.spec.grace > Seconds::ZERO => {
                if pod.meta.deleting.is_some() {
                    None
                } else {
                    let mut ending = Pod::clone(pod);
                    ending.meta.deleting = Some(self.clock + pod.spec.grace);
                    self.store.update_status(Record::Pod(Arc::new(ending)))
                }
            }
            _ => self.store.remove(kind, key),
        };
        let shown = change.as_ref().and_then(|change| change.newest().cloned()).unwrap_or(record);
        let code = 200 + u16::from(subresource.is_some());
        self.log(user, audit_id, verb, subresource, code, None, precondition, &shown);
        if let Some(change) = change {
            self.commit(&change);
        }
        Some(shown.reference())
    }

    fn set_field(&mut self, user: &str, change: &FieldChange, audit_id: Option<&str>) -> Result<(), Cause> {
        let FieldChange { target, field, from, to } = change;
        let key = Key::of(target);
        let kind = Kind::by_name(&target.kind);
        let Some(record) = kind.and_then(|kind| self.store.view().get(kind, &key)).cloned() else {
            return Err(Cause::NotFound);
        };
        let Some(value) = field::read(self.store.view(), target, field) else {
            return Err(Cause::Invalid { code: 422, message: format!("{} has no {field}", target.kind) });
        };
        if value != *from {
            return Err(Cause::Conflict {
                message: format!("{field} of {target}: expected {from:?}, found {value:?}"),
            });
        }
        let changed = with_field(&record, field, to.as_deref());
        let Some(change) = self.store.update(changed) else { return Err(Cause::NotFound) };
        if let Some(record) = &change.after {
            self.log(user, audit_id, "patch", None, 200, None, None, record);
        }
        self.commit(&change);
        Ok(())
    }

    pub(crate) fn refused(&mut self, user: &str, request: &Request, audit_id: Option<&str>, cause: &Cause) {
        let target = request.target();
        let Some(kind) = Kind::by_name(&target.kind) else { return };
        let (verb, subresource, precondition) = match request {
            Request::SetField(_) => ("patch", None, None),
            Request::Evict { uid, .. } => ("create", Some("eviction"), Some(uid.clone())),
            Request::Delete { uid, .. } => ("delete", None, Some(uid.clone())),
        };
        let journal_length = audit_id.and(self.journal_length());
        self.audit.log(Entry {
            journal_length,
            id: audit_id.map(str::to_owned),
            received: self.clock,
            answered: self.clock,
            user: user.to_owned(),
            verb,
            kind,
            key: Key::of(target),
            subresource,
            code: http_code(cause),
            message: Some(cause.to_string()),
            precondition,
            object: None,
        });
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one audit event")]
    fn log(
        &mut self,
        user: &str,
        audit_id: Option<&str>,
        verb: &'static str,
        subresource: Option<&'static str>,
        code: u16,
        message: Option<String>,
        precondition: Option<Uid>,
        record: &Record,
    ) {
        let journal_length = audit_id.and(self.journal_length());
        self.audit.log(Entry {
            journal_length,
            id: audit_id.map(str::to_owned),
            received: self.clock,
            answered: self.clock,
            user: user.to_owned(),
            verb,
            kind: record.kind(),
            key: record.key(),
            subresource,
            code,
            message,
            precondition,
            object: Some(record.clone()),
        });
    }

    pub(crate) fn bind(&mut self, pod: &Arc<Pod>, node: String) {
        let mut bound = Pod::clone(pod);
        bound.node = Some(node);
        bound.unschedulable = None;
        bound.timing.scheduled = Some(self.clock);
        if let Some(change) = self.store.update_status(Record::Pod(Arc::new(bound))) {
            if let Some(record) = &change.after {
                self.log(SCHEDULER, None, "create", Some("binding"), 201, None, None, record);
            }
            self.commit(&change);
        }
    }

    pub(crate) fn unschedulable(&mut self, pod: &Arc<Pod>, message: String) {
        if pod.unschedulable.as_ref() != Some(&message) {
            let changed = Pod { unschedulable: Some(message), ..Pod::clone(pod) };
            self.mutate(SCHEDULER, Mutation::Status(Record::Pod(Arc::new(changed))));
        }
    }

    /// Pushes out pods of lower priority for one that found no node, and reserves the node for it.
    /// Source: `k8s.io/kubernetes/pkg/scheduler/framework/preemption`.
    pub(crate) fn make_room(&mut self, pod: &Key) {
        let Some(pod) = self.store.view().pod(pod).cloned() else { return };
        let lower = |other: &Arc<Pod>| other.spec.priority < pod.spec.priority;
        // Victims of an earlier time are still ending: it waits for them.
        let ends = |node: &String| self.model.pods_on(node).any(|other| lower(other) && other.meta.deleting.is_some());
        if pod.nominated.as_ref().is_some_and(ends) || !self.store.view().pods().any(lower) {
            return;
        }
        let Some(preemption) = self.model.preempt(&pod) else { return };
        let nominated = Pod { nominated: Some(preemption.node), ..Pod::clone(&pod) };
        self.mutate(SCHEDULER, Mutation::Status(Record::Pod(Arc::new(nominated))));
        for victim in preemption.victims {
            self.mutate(SCHEDULER, Mutation::Delete(Kind::Pod, victim.meta.key()));
        }
    }

    pub(crate) fn pod_status(&mut self, pod: Pod) {
        let user = kubelet_of(&pod);
        self.mutate(&user, Mutation::Status(Record::Pod(Arc::new(pod))));
    }

    /// A kubelet confirms that a pod has ended.
    pub(crate) fn pod_gone(&mut self, pod: &Arc<Pod>) {
        if let Some(change) = self.store.remove(Kind::Pod, &pod.meta.key()) {
            if let Some(record) = &change.before {
                let uid = Some(pod.meta.uid.clone());
                self.log(&kubelet_of(pod), None, "delete", None, 200, None, uid, record);
            }
            self.commit(&change);
        }
    }

    /// Marks a namespace as being deleted, which stays so: something in it has a finalizer.
    pub fn terminate_namespace(&mut self, name: &str) {
        if let Some(record) = self.store.view().get(Kind::Namespace, &Key::cluster(name)).cloned() {
            let mut record = record;
            record.meta_mut().deleting = Some(self.clock);
            if let Some(change) = self.store.update_status(record) {
                self.commit(&change);
            }
        }
    }
}

fn kubelet_of(pod: &Pod) -> String {
    format!("system:node:{}", pod.node.as_deref().unwrap_or_default())
}

/// Source: `k8s.io/apiserver/pkg/registry/rest/delete.go`, `BeforeDelete`.
fn other_incarnation(found: &Pod, uid: &Uid) -> Cause {
    let message = format!(
        "Operation cannot be fulfilled on Pod {:?}: the UID in the precondition ({uid}) does not match the UID in record ({}). \
         The object might have been deleted and then recreated",
        found.meta.name, found.meta.uid
    );
    Cause::OtherIncarnation { message }
}

fn with_field(record: &Record, field: &Field, to: Option<&str>) -> Record {
    let mut changed = record.clone();
    match (field, &mut changed) {
        (Field::Unschedulable, Record::Node(node)) => Arc::make_mut(node).unschedulable = to == Some("true"),
        (Field::NoScheduleTaint { key }, Record::Node(node)) => {
            let taints = &mut Arc::make_mut(node).taints;
            let place = taints.iter().position(|taint| taint.key == *key && taint.effect == Effect::NoSchedule);
            let taint = to.map(|value| Taint { key: key.clone(), value: value.to_owned(), effect: Effect::NoSchedule });
            match (place, taint) {
                (Some(place), Some(taint)) => taints[place] = taint,
                (Some(place), None) => drop(taints.remove(place)),
                (None, Some(taint)) => taints.push(taint),
                (None, None) => {}
            }
        }
        (Field::TemplateAnnotation { key }, Record::Deployment(deployment)) => {
            let annotations = &mut Arc::make_mut(deployment).template.annotations;
            match to {
                Some(value) => annotations.insert(key.clone(), value.to_owned()),
                None => annotations.remove(key),
            };
        }
        _ => {}
    }
    changed
}
