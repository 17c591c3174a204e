//! One line of an audit log: `audit.k8s.io/v1`, `Event`, less what no check reads.
//!
//! A simulated world makes the same events, so that one checker judges both.

use rehome_model::{ObjectRef, Timestamp, Uid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request to the API server and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// The request's id: set by the client's header `Audit-ID`, or made by the server.
    #[serde(rename = "auditID")]
    pub audit_id: String,
    /// `ResponseComplete`, or `Panic`.
    pub stage: String,
    /// The path and the query.
    #[serde(rename = "requestURI")]
    pub request_uri: String,
    /// `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Who asked.
    pub user: AuditUser,
    /// What it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_ref: Option<AuditRef>,
    /// The answer's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_status: Option<AuditStatus>,
    /// The body of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_object: Option<Value>,
    /// The body of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_object: Option<Value>,
    /// When the server received the request.
    pub request_received_timestamp: Timestamp,
    /// When the server had answered it.
    pub stage_timestamp: Timestamp,
    /// How many records the journal held when the request arrived. Only a simulated world can say it; there it stands
    /// for the clock, which does not move between a record and the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_length: Option<u64>,
}

/// Who asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditUser {
    /// The name.
    pub username: String,
}

/// What a request was about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditRef {
    /// The plural: `pods`.
    pub resource: String,
    /// `status`, `eviction`, `binding`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subresource: Option<String>,
    /// The namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name; absent for a creation under a generated name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The group; absent for the core group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
}

/// The status of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditStatus {
    /// The HTTP status.
    #[serde(default)]
    pub code: u16,
    /// The server's sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl AuditRef {
    /// An object in a namespace, or a cluster-scoped one where `namespace` is `None`.
    #[must_use]
    pub fn new(resource: &str, namespace: Option<&str>, name: &str) -> Self {
        Self {
            resource: resource.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: Some(name.to_owned()),
            ..Self::default()
        }
    }

    /// The same object's subresource.
    #[must_use]
    pub fn subresource(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// Whether it is this resource and subresource; an empty subresource is the object itself.
    #[must_use]
    pub fn is(&self, resource: &str, subresource: &str) -> bool {
        self.resource == resource && self.subresource.as_deref().unwrap_or_default() == subresource
    }

    /// The object, for a kind that rehome knows.
    #[must_use]
    pub fn object(&self) -> Option<ObjectRef> {
        let kind = rehome_k8s::Kind::ALL.iter().find(|kind| kind.plural() == self.resource)?;
        let name = self.name.clone()?;
        Some(ObjectRef { kind: kind.name().to_owned(), namespace: self.namespace.clone(), name })
    }
}

impl AuditEvent {
    /// A request that was received at one time and answered at another, as a simulated world makes it.
    #[must_use]
    pub fn new(audit_id: &str, user: &str, verb: &str, object: AuditRef, received: Timestamp) -> Self {
        Self {
            audit_id: audit_id.to_owned(),
            stage: "ResponseComplete".to_owned(),
            request_uri: String::new(),
            verb: verb.to_owned(),
            user: AuditUser { username: user.to_owned() },
            object_ref: Some(object),
            response_status: None,
            request_object: None,
            response_object: None,
            request_received_timestamp: received,
            stage_timestamp: received,
            journal_length: None,
        }
    }

    /// Sets the body of the request.
    #[must_use]
    pub fn request(mut self, body: Value) -> Self {
        self.request_object = Some(body);
        self
    }

    /// Sets the answer: when, with which HTTP status, with which object.
    #[must_use]
    pub fn answer(mut self, at: Timestamp, code: u16, body: Option<Value>) -> Self {
        self.stage_timestamp = at;
        self.response_status = Some(AuditStatus { code, message: None });
        self.response_object = body;
        self
    }

    /// The HTTP status; 0 where there was no answer.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.response_status.as_ref().map_or(0, |status| status.code)
    }

    /// Whether the server did what was asked.
    #[must_use]
    pub fn done(&self) -> bool {
        (200..300).contains(&self.code()) && !self.dry_run()
    }

    /// Whether it asks for a change. Reviews of rights are questions, although they are created.
    #[must_use]
    pub fn mutates(&self) -> bool {
        let question = self
            .object_ref
            .as_ref()
            .and_then(|object| object.api_group.as_deref())
            .is_some_and(|group| matches!(group, "authorization.k8s.io" | "authentication.k8s.io"));
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
            && !question
            && !self.dry_run()
    }

    /// Whether the server was asked only to try. The query of the URL or the options in the body say so.
    #[must_use]
    pub fn dry_run(&self) -> bool {
        let said = |options: &Value| options["dryRun"].as_array().is_some_and(|stages| !stages.is_empty());
        self.request_uri.contains("dryRun=All") || self.delete_options().is_some_and(said)
    }

    /// Whether it is about this resource and subresource.
    #[must_use]
    pub fn is(&self, verb: &str, resource: &str, subresource: &str) -> bool {
        self.verb == verb && self.object_ref.as_ref().is_some_and(|object| object.is(resource, subresource))
    }

    /// The delete options of a deletion (its body) or of an eviction (a field of its body).
    #[must_use]
    pub fn delete_options(&self) -> Option<&Value> {
        let body = self.request_object.as_ref()?;
        if self.is("create", "pods", "eviction") {
            return body.get("deleteOptions");
        }
        self.verb.starts_with("delete").then_some(body)
    }

    /// The UID precondition of a deletion or an eviction.
    #[must_use]
    pub fn uid_precondition(&self) -> Option<Uid> {
        Some(Uid::from(self.delete_options()?["preconditions"]["uid"].as_str()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_of_a_real_log_is_read() {
        // Shortened from a log of kube-apiserver 1.37.2.
        let line = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "run/2/1",
            "stage": "ResponseComplete",
            "requestURI": "/api/v1/namespaces/x/pods/web-1/eviction?fieldValidation=Strict", "verb": "create",
            "user": {"username": "evictor", "groups": ["system:authenticated"]}, "sourceIPs": ["127.0.0.1"],
            "objectRef": {"resource": "pods", "namespace": "x", "name": "web-1", "apiVersion": "v1",
                "subresource": "eviction"},
            "responseStatus": {"metadata": {}, "status": "Success", "code": 201},
            "requestObject": {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "web-1"},
                "deleteOptions": {"preconditions": {"uid": "80df931c"}}},
            "requestReceivedTimestamp": "2026-12-01T01:29:37.716188Z", "stageTimestamp": "2026-12-01T01:29:37.736942Z",
        });
        let event: AuditEvent = serde_json::from_value(line).unwrap();
        assert!(event.is("create", "pods", "eviction") && event.done() && event.mutates());
        assert_eq!(event.uid_precondition(), Some(Uid::from("80df931c")));
        assert_eq!(event.object_ref.as_ref().unwrap().object(), Some(ObjectRef::pod("x", "web-1")));
        let again: AuditEvent = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
        assert_eq!(again, event);
    }

    #[test]
    fn a_dry_run_changes_nothing() {
        let eviction = AuditEvent::new(
            "a",
            "u",
            "create",
            AuditRef::new("pods", Some("x"), "p").subresource("eviction"),
            Timestamp::EPOCH,
        )
        .request(json!({"deleteOptions": {"dryRun": ["All"]}}))
        .answer(Timestamp::EPOCH, 201, None);
        assert!(!eviction.done() && !eviction.mutates());
    }
}
