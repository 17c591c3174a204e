//! One test for each row, with bodies as a kube-apiserver 1.37.2 wrote them (times and UIDs shortened).

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field};
use serde_json::{Value, json};

use super::*;

const LATER: Timestamp = Timestamp::from_millis(35_000);

fn evict() -> Request {
    Request::Evict { pod: ObjectRef::pod("t", "p1"), uid: "abc".into() }
}

fn cordon() -> Request {
    let (from, to) = (None, Some("true".to_owned()));
    Request::SetField(Change { target: ObjectRef::node("n1"), field: Field::Unschedulable, from, to })
}

fn answer(code: u16, body: &str) -> Answer {
    let code = StatusCode::from_u16(code).unwrap();
    Answer { code, headers: HeaderMap::new(), body: Bytes::from(body.to_owned()) }
}

/// A failure in the frame that all of them have.
fn failure(code: u16, reason: &str, message: &str, details: Value) -> Answer {
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code,
    });
    if !reason.is_empty() {
        status["reason"] = json!(reason);
    }
    if !details.is_null() {
        status["details"] = details;
    }
    answer(code, &status.to_string())
}

#[track_caller]
fn evicted(answer: &Answer) -> Outcome {
    outcome(&evict(), "pods", answer, LATER)
}

#[track_caller]
fn rejected(outcome: Outcome) -> Cause {
    match outcome {
        Outcome::Rejected { cause } => cause,
        other => panic!("expected a rejection, found {other:?}"),
    }
}

#[test]
fn an_accepted_eviction_is_applied() {
    let body = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}"#;
    assert_eq!(evicted(&answer(201, body)), Outcome::Applied);
    assert_eq!(evicted(&answer(200, r#"{"kind":"Pod"}"#)), Outcome::Applied);
}

#[test]
fn a_failure_under_a_code_of_success_is_a_failure() {
    let body = failure(500, "", "no", Value::Null).body;
    let cause = rejected(evicted(&Answer { code: StatusCode::CREATED, headers: HeaderMap::new(), body }));
    assert_eq!(cause, Cause::Server { code: 500, message: "no".to_owned() });
}

#[test]
fn a_budget_that_is_used_up_names_itself_and_no_time() {
    let needs = "The disruption budget b1 needs 1 healthy pods and has 1 currently";
    let details = json!({"causes": [{"reason": "DisruptionBudget", "message": needs}]});
    let said =
        failure(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", details);
    assert_eq!(rejected(evicted(&said)), Cause::Budget { message: needs.to_owned(), retry_after: None });
}

#[test]
fn a_budget_that_is_not_observed_yet_names_a_time() {
    let message = "The disruption budget b1 is still being processed by the server.";
    let details = json!({"causes": [{"reason": "DisruptionBudget", "message": message}], "retryAfterSeconds": 10});
    let mut said =
        failure(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", details);
    said.headers.insert(http::header::RETRY_AFTER, HeaderValue::from_static("10"));
    let cause = Cause::Budget { message: message.to_owned(), retry_after: Some(Seconds::new(10)) };
    assert_eq!(rejected(evicted(&said)), cause);
}

#[test]
fn a_429_without_a_cause_is_throttling() {
    let mut said = answer(429, "Too many requests, please try again later.\n");
    said.headers.insert(http::header::RETRY_AFTER, HeaderValue::from_static("3"));
    assert_eq!(rejected(evicted(&said)), Cause::Throttled { retry_after: Seconds::new(3) });
    let said = failure(429, "TooManyRequests", "The request is rate limited", Value::Null);
    assert_eq!(rejected(evicted(&said)), Cause::Throttled { retry_after: DEFAULT_RETRY_AFTER });
}

#[test]
fn two_budgets_are_told_from_other_errors() {
    let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    let cause = rejected(evicted(&failure(500, "", message, Value::Null)));
    assert_eq!(cause, Cause::SeveralBudgets { message: message.to_owned() });
    let hook = r#"Internal error occurred: failed calling webhook "dead.example.com": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=2s": context deadline exceeded"#;
    let cause = rejected(evicted(&failure(500, "InternalError", hook, json!({"causes": [{"message": hook}]}))));
    assert_eq!(cause, Cause::Server { code: 500, message: hook.to_owned() });
}

#[test]
fn another_uid_is_another_incarnation() {
    let message = "Operation cannot be fulfilled on Pod \"p1\": the UID in the precondition (abc) does not match the UID in record (ac88542a). The object might have been deleted and then recreated";
    let said = failure(409, "Conflict", message, json!({"name": "p1", "kind": "Pod"}));
    assert_eq!(rejected(evicted(&said)), Cause::OtherIncarnation { message: message.to_owned() });
    let message = "Operation cannot be fulfilled on pods \"p1\": the object has been modified";
    let said = failure(409, "Conflict", message, json!({"name": "p1", "kind": "pods"}));
    assert_eq!(rejected(evicted(&said)), Cause::Conflict { message: message.to_owned() });
}

#[test]
fn not_found_is_about_the_object_or_its_namespace_and_not_about_a_path() {
    let pod = failure(404, "NotFound", "pods \"p1\" not found", json!({"name": "p1", "kind": "pods"}));
    assert_eq!(rejected(evicted(&pod)), Cause::NotFound);
    let namespace = failure(404, "NotFound", "namespaces \"t\" not found", json!({"name": "t", "kind": "namespaces"}));
    assert_eq!(rejected(evicted(&namespace)), Cause::NotFound);
    let path = answer(404, "404 page not found\n");
    assert_eq!(rejected(evicted(&path)), Cause::Invalid { code: 404, message: "404 page not found".to_owned() });
    let other = failure(404, "NotFound", "the server could not find the requested resource", json!({}));
    assert!(matches!(rejected(evicted(&other)), Cause::Invalid { code: 404, .. }));
}

#[test]
fn rbac_is_told_from_admission() {
    let rbac = "pods \"p3\" is forbidden: User \"bob\" cannot create resource \"pods/eviction\" in API group \"\" in the namespace \"t\"";
    let said = failure(403, "Forbidden", rbac, json!({"name": "p3", "kind": "pods"}));
    assert_eq!(rejected(evicted(&said)), Cause::Forbidden { message: rbac.to_owned() });
    let hook = "admission webhook \"guard.example.com\" denied the request: not now";
    for code in [400, 403, 404, 409, 422, 429, 500] {
        let said = failure(code, "Forbidden", hook, Value::Null);
        assert_eq!(rejected(evicted(&said)), Cause::Denied { message: hook.to_owned() }, "{code}");
    }
    let policy =
        "nodes \"n1\" is forbidden: ValidatingAdmissionPolicy 'no' with binding 'no' denied request: not today";
    let details = json!({"name": "n1", "kind": "nodes", "causes": [{"message": "ValidatingAdmissionPolicy 'no' with binding 'no' denied request: not today"}]});
    let cause = rejected(outcome(&cordon(), "nodes", &failure(422, "Invalid", policy, details), LATER));
    assert_eq!(cause, Cause::Denied { message: policy.to_owned() });
}

#[test]
fn a_namespace_that_ends_takes_the_pod_with_it() {
    let message =
        "pods \"p3\" is forbidden: unable to create new content in namespace t because it is being terminated";
    let causes = json!([{"reason": "NamespaceTerminating", "message": "namespace t is being terminated", "field": "metadata.namespace"}]);
    let said = failure(403, "Forbidden", message, json!({"name": "p3", "kind": "pods", "causes": causes}));
    assert_eq!(rejected(evicted(&said)), Cause::NamespaceTerminating { message: message.to_owned() });
}

#[test]
fn a_failed_test_of_a_patch_is_a_conflict_and_a_bad_value_is_not() {
    let message = "the server rejected our request due to an error in our request";
    let said = failure(422, "Invalid", message, json!({}));
    let cause = rejected(outcome(&cordon(), "nodes", &said, LATER));
    assert_eq!(cause, Cause::Conflict { message: message.to_owned() });
    let message = "Node \"n1\" is invalid: metadata.taints[1].key: Invalid value: \"bad key!\"";
    let causes =
        json!([{"reason": "FieldValueInvalid", "message": "Invalid value", "field": "metadata.taints[1].key"}]);
    let said = failure(422, "Invalid", message, json!({"name": "n1", "kind": "Node", "causes": causes}));
    let cause = rejected(outcome(&cordon(), "nodes", &said, LATER));
    assert_eq!(cause, Cause::Invalid { code: 422, message: message.to_owned() });
}

#[test]
fn an_answer_that_leaves_it_open_is_unknown() {
    let late = "Timeout: request did not complete within the allotted timeout";
    for said in [
        failure(504, "Timeout", late, Value::Null),
        failure(500, "", "etcdserver: request timed out", Value::Null),
        answer(502, "<html>bad gateway</html>"),
        answer(504, ""),
        answer(503, "upstream connect error"),
    ] {
        let found = evicted(&said);
        assert!(matches!(found, Outcome::Unknown { not_before, .. } if not_before == LATER), "{found:?}");
    }
    // The budget changed under the eviction 20 times: nothing was done to the pod.
    let budget = "couldn't update PodDisruptionBudget \"b1\" due to conflicts";
    let said = failure(504, "Timeout", budget, json!({"retryAfterSeconds": 10}));
    assert_eq!(rejected(evicted(&said)), Cause::Server { code: 504, message: budget.to_owned() });
    let said = failure(503, "ServiceUnavailable", "apiserver is shutting down", Value::Null);
    assert!(matches!(rejected(evicted(&said)), Cause::Server { code: 503, .. }));
}

#[test]
fn an_unknown_field_is_invalid_for_good() {
    let message = "Eviction in version \"v1\" cannot be handled as a Eviction: strict decoding error: unknown field \"delete_options\"";
    let cause = rejected(evicted(&failure(400, "BadRequest", message, Value::Null)));
    assert_eq!(cause, Cause::Invalid { code: 400, message: message.to_owned() });
}
