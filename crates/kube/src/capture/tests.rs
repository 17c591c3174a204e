//! Captures of a server in this process: what becomes a gap, what ends the capture, what is bounded.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use super::*;

/// Captures from a server that answers each path as told, and everything else with an empty list.
fn captured(
    answer: impl Fn(&str) -> Option<(u16, Value)> + Clone + Send + Sync + 'static,
) -> Result<Snapshot, CaptureError> {
    let service = tower::service_fn(move |request: Request<Body>| {
        let answer = answer.clone();
        async move {
            assert_eq!(request.method(), http::Method::GET, "a capture only reads");
            let empty = || (200, json!({"metadata": {}, "items": null}));
            let (code, body) = answer(request.uri().path()).unwrap_or_else(empty);
            let response = Response::builder().status(code).body(Body::from(body.to_string().into_bytes()));
            Ok::<_, Infallible>(response.unwrap())
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let client = {
        let _inside = runtime.enter();
        Client::new(service, "default")
    };
    capture(&Connection::of(Arc::new(runtime), client), &mut |_| {})
}

fn refusal(code: u16) -> Value {
    json!({"kind": "Status", "status": "Failure", "message": "because", "code": code})
}

#[test]
fn each_refusal_is_a_gap_with_its_reason() {
    let snapshot = captured(|path| match path {
        "/api/v1/nodes" => Some((403, refusal(403))),
        "/apis/policy/v1/poddisruptionbudgets" => Some((404, refusal(404))),
        "/api/v1/services" => Some((200, json!("no list"))),
        "/api/v1/pods" => Some((200, json!({"metadata": {}, "items": [5]}))),
        _ => None,
    })
    .unwrap();
    let gaps: Vec<_> = snapshot.gaps.iter().map(|gap| (gap.source.as_str(), gap.reason)).collect();
    let expected = [
        ("Node", GapReason::Forbidden),
        ("Pod", GapReason::Unreadable),
        ("PodDisruptionBudget", GapReason::NotServed),
        ("Service", GapReason::Unreadable),
    ];
    assert_eq!(gaps, expected);
    assert_eq!(snapshot.gaps[0].message, "because");
}

#[test]
fn credentials_that_expire_on_the_way_end_the_capture() {
    let error = captured(|path| (path == "/api/v1/pods").then(|| (401, refusal(401)))).unwrap_err();
    assert!(matches!(error, CaptureError::Unauthorized { kind: Kind::Pod, .. }), "{error}");
}

#[test]
fn objects_are_sorted_and_only_the_newest_events_stay() {
    let snapshot = captured(|path| {
        let item = |namespace: &str, name: &str| json!({"metadata": {"namespace": namespace, "name": name}});
        match path {
            "/api/v1/pods" => {
                Some((200, json!({"metadata": {}, "items": [item("b", "a"), item("a", "c"), item("a", "b")]})))
            }
            "/api/v1/events" => {
                let event = |index: usize| {
                    let time = format!("2026-12-01T{:02}:{:02}:{:02}Z", index / 3600, index / 60 % 60, index % 60);
                    json!({"metadata": {"namespace": "a", "name": format!("e{index}")}, "lastTimestamp": time})
                };
                let events: Vec<_> = (0..EVENT_LIMIT + 2).map(event).collect();
                Some((200, json!({"metadata": {}, "items": events})))
            }
            _ => None,
        }
    })
    .unwrap();
    let values = snapshot.objects.iter().map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap());
    let (events, others): (Vec<_>, Vec<_>) = values.partition(|value| value["kind"] == "Event");
    let names: Vec<_> = others.iter().map(|pod| format!("{}", pod["metadata"]["name"])).collect();
    assert_eq!(names, ["\"b\"", "\"c\"", "\"a\""]);
    assert_eq!(events.len(), EVENT_LIMIT);
    assert!(events.iter().all(|event| event["metadata"]["name"] != "e0" && event["metadata"]["name"] != "e1"));
    assert!(snapshot.redacted.iter().any(|sentence| sentence.starts_with("2 older Events")), "{:?}", snapshot.redacted);
}
