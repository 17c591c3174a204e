//! The audit log of the simulated API server, in the shape of `audit.k8s.io/v1`.
//!
//! Every change by whomever is in it, so that the checker that reads the log of a real cluster reads this one, too.
//! Reads are not logged. Entries keep records; they become JSON only when somebody asks.

use std::sync::Arc;

use rehome_k8s::{Key, Kind, Record};
use rehome_model::{Timestamp, Uid};
use serde_json::{Value, json};

use crate::render;

/// The log of one world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Audit {
    entries: Vec<Arc<Entry>>,
}

/// One request that was answered.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The caller's `Audit-ID`; `None` for one that the server gives.
    pub(crate) id: Option<String>,
    /// How many records the journal held: for requests of the engine, if somebody counts.
    pub(crate) journal_length: Option<u64>,
    pub(crate) received: Timestamp,
    pub(crate) answered: Timestamp,
    pub(crate) user: String,
    pub(crate) verb: &'static str,
    pub(crate) kind: Kind,
    pub(crate) key: Key,
    pub(crate) subresource: Option<&'static str>,
    pub(crate) code: u16,
    /// The refusal's sentence.
    pub(crate) message: Option<String>,
    /// The UID precondition of an eviction or a deletion.
    pub(crate) precondition: Option<Uid>,
    /// The object afterwards, or as it was when it was deleted.
    pub(crate) object: Option<Record>,
}

impl Audit {
    pub(crate) fn log(&mut self, entry: Entry) {
        self.entries.push(Arc::new(entry));
    }

    /// All events, oldest first.
    pub(crate) fn events(&self) -> impl Iterator<Item = Value> + '_ {
        self.entries.iter().enumerate().map(|(number, entry)| entry.event(number))
    }
}

impl Entry {
    fn event(&self, number: usize) -> Value {
        let (group, version) = match self.kind.api_version().split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", self.kind.api_version()),
        };
        let base = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        let place =
            if self.key.namespace.is_empty() { String::new() } else { format!("/namespaces/{}", self.key.namespace) };
        let name = if self.verb == "create" && self.subresource.is_none() {
            String::new()
        } else {
            format!("/{}", self.key.name)
        };
        let sub = self.subresource.map(|sub| format!("/{sub}")).unwrap_or_default();
        let mut reference = json!({"resource": self.kind.plural(), "name": self.key.name, "apiVersion": version});
        if !group.is_empty() {
            reference["apiGroup"] = group.into();
        }
        if !self.key.namespace.is_empty() {
            reference["namespace"] = self.key.namespace.clone().into();
        }
        if let Some(sub) = self.subresource {
            reference["subresource"] = sub.into();
        }
        if let Some(record) = &self.object {
            reference["uid"] = record.meta().uid.0.clone().into();
            reference["resourceVersion"] = record.meta().resource_version.clone().into();
        }
        let mut event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "stage": "ResponseComplete",
            "auditID": self.id.clone().unwrap_or_else(|| format!("sim-{number}")),
            "requestURI": format!("{base}{place}/{}{name}{sub}", self.kind.plural()),
            "verb": self.verb,
            "user": {"username": self.user},
            "objectRef": reference,
            "responseStatus": {"code": self.code, "message": self.message},
            "requestReceivedTimestamp": self.received,
            "stageTimestamp": self.answered,
        });
        if let Some(length) = self.journal_length {
            event["journalLength"] = length.into();
        }
        if let Some(request) = self.request() {
            event["requestObject"] = request;
        }
        if let Some(response) = self.response() {
            event["responseObject"] = response;
        }
        event
    }

    fn request(&self) -> Option<Value> {
        let object = || self.object.as_ref().map(render::object);
        match (self.verb, self.subresource) {
            ("create", Some("eviction")) => Some(json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": self.key.name, "namespace": self.key.namespace},
                "deleteOptions": {"preconditions": {"uid": self.precondition}},
            })),
            ("create", Some("binding")) => {
                let Some(Record::Pod(pod)) = &self.object else { return None };
                Some(json!({"apiVersion": "v1", "kind": "Binding",
                    "metadata": {"name": self.key.name, "namespace": self.key.namespace, "uid": pod.meta.uid},
                    "target": {"kind": "Node", "name": pod.node}}))
            }
            ("delete", _) => Some(json!({"apiVersion": "v1", "kind": "DeleteOptions",
                "preconditions": self.precondition.as_ref().map(|uid| json!({"uid": uid}))})),
            _ => object(),
        }
    }

    fn response(&self) -> Option<Value> {
        if self.code >= 400 || self.subresource.is_some_and(|sub| sub != "status") {
            let status = if self.code >= 400 { "Failure" } else { "Success" };
            return Some(json!({"apiVersion": "v1", "kind": "Status", "status": status, "code": self.code,
                "message": self.message}));
        }
        self.object.as_ref().map(render::object)
    }
}
