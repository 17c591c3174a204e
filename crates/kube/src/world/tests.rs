//! A world over a server in this process: what becomes of lists, events and refusals.

use std::convert::Infallible;
use std::sync::Mutex;

use http::{Request as HttpRequest, Response};
use kube::Client;
use kube::client::Body;
use rehome_model::Seconds;
use rehome_model::snapshot::GapReason;
use serde_json::{Value, json};

use super::*;

fn pod(name: &str, node: &str, version: u64) -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("u-{name}"), "resourceVersion": version.to_string()},
        "spec": {"nodeName": node, "containers": [{"name": "c"}]},
        "status": {"phase": "Running"},
    })
}

fn list(items: &[Value]) -> (u16, String) {
    (200, json!({"kind": "List", "metadata": {"resourceVersion": "10"}, "items": items}).to_string())
}

/// A world whose server answers each path and query as told.
fn world(answer: impl FnMut(&str) -> Option<(u16, String)> + Send + 'static) -> Result<KubeWorld, StartFailed> {
    let answer = Arc::new(Mutex::new(answer));
    let service = tower::service_fn(move |request: HttpRequest<Body>| {
        let answer = answer.clone();
        async move {
            let asked = request.uri().to_string();
            let said = (answer.lock().unwrap())(&asked);
            let (code, body) =
                said.unwrap_or_else(|| if asked.contains("watch=1") { (200, String::new()) } else { list(&[]) });
            let response = Response::builder().status(code);
            Ok::<_, Infallible>(response.body(Body::from(body.into_bytes())).unwrap())
        }
    });
    let runtime = Arc::new(tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    let client = {
        let _inside = runtime.enter();
        Client::new(service, "default")
    };
    KubeWorld::start(&Connection::of(runtime, client), Arc::new(AtomicBool::new(false)))
}

fn soon(world: &KubeWorld) -> Timestamp {
    world.now() + Seconds::new(20)
}

#[test]
fn a_pod_of_the_list_changes_and_goes_by_events() {
    let events = format!(
        "{}\n{}\n{}\n",
        json!({"type": "ADDED", "object": pod("b", "old-1", 11)}),
        json!({"type": "MODIFIED", "object": pod("a", "new-1", 12)}),
        json!({"type": "DELETED", "object": pod("b", "old-1", 13)}),
    );
    let mut told = false;
    let mut world = world(move |asked| {
        let pods = asked.starts_with("/api/v1/pods?");
        if pods && asked.contains("watch=1") && !std::mem::replace(&mut told, true) {
            assert!(asked.contains("resourceVersion=10") && asked.contains("allowWatchBookmarks=true"), "{asked}");
            return Some((200, events.clone()));
        }
        (pods && !asked.contains("watch=1")).then(|| list(&[pod("a", "old-1", 9)]))
    })
    .unwrap();
    let until = soon(&world);
    let done = |world: &KubeWorld| world.view().pods_on("new-1").count() == 1 && world.view().pods().count() == 1;
    while !done(&world) && world.now() < until {
        world.wait(until);
    }
    assert!(done(&world));
}

#[test]
fn history_that_is_gone_is_listed_again_and_what_is_missing_is_gone() {
    let mut lists = 0;
    let mut world = world(move |asked| {
        if !asked.starts_with("/api/v1/pods?") {
            return None;
        }
        if asked.contains("watch=1") {
            let status = json!({"type": "ERROR", "object": {"kind": "Status", "code": 410}});
            return (lists == 1).then(|| (200, format!("{status}\n")));
        }
        lists += 1;
        let name = if lists == 1 { "a" } else { "b" };
        Some(list(&[pod(name, "old-1", 9)]))
    })
    .unwrap();
    assert!(world.view().pod(&Key::new("shop", "a")).is_some());
    let until = soon(&world);
    while world.view().pod(&Key::new("shop", "b")).is_none() && world.now() < until {
        world.wait(until);
    }
    let names: Vec<_> = world.view().pods().map(|pod| pod.meta.name.clone()).collect();
    assert_eq!(names, ["b"]);
}

#[test]
fn a_kind_that_may_not_be_listed_is_a_gap() {
    let world = world(|asked| {
        let refusal = json!({"kind": "Status", "status": "Failure", "message": "no", "code": 403});
        asked.starts_with("/apis/policy/").then(|| (403, refusal.to_string()))
    })
    .unwrap();
    let gap = world.view().gap(Kind::PodDisruptionBudget).unwrap();
    assert_eq!(gap.reason, GapReason::Forbidden);
    assert_eq!(world.view().gaps().count(), 1);
}

#[test]
fn a_fresh_list_follows_its_pages_and_begins_again_when_they_are_gone() {
    let mut gone = false;
    let mut world = world(move |asked| {
        if !asked.contains("fieldSelector=spec.nodeName%3Dold-1") {
            return None;
        }
        assert!(!asked.contains("resourceVersion"), "a fresh list is a quorum read: {asked}");
        if asked.contains("continue=next") {
            if !std::mem::replace(&mut gone, true) {
                return Some((410, json!({"kind": "Status", "code": 410}).to_string()));
            }
            return Some(list(&[pod("b", "old-1", 9)]));
        }
        let page = json!({"metadata": {"continue": "next"}, "items": [pod("a", "old-1", 9)]});
        Some((200, page.to_string()))
    })
    .unwrap();
    let pods = world.list_pods_on("old-1").unwrap();
    let names: Vec<_> = pods.iter().map(|pod| pod.meta.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn absence_is_proved_by_an_answer_about_the_object_only() {
    let mut world = world(|asked| {
        let missing =
            json!({"kind": "Status", "status": "Failure", "code": 404, "details": {"name": "a", "kind": "pods"}});
        match asked {
            "/api/v1/namespaces/shop/pods/a" => Some((404, missing.to_string())),
            "/api/v1/namespaces/shop/pods/b" => Some((404, "404 page not found".to_owned())),
            "/api/v1/namespaces/shop/pods/c" => Some((200, pod("c", "old-1", 9).to_string())),
            _ => None,
        }
    })
    .unwrap();
    assert!(world.read(&ObjectRef::pod("shop", "a")).unwrap().is_none());
    assert!(world.read(&ObjectRef::pod("shop", "b")).unwrap_err().permanent);
    assert!(matches!(world.read(&ObjectRef::pod("shop", "c")).unwrap(), Some(Record::Pod(_))));
}

#[test]
fn a_wait_ends_when_somebody_asks_to_stop() {
    let mut world = world(|_| None).unwrap();
    world.stop.store(true, Ordering::Relaxed);
    let hour = world.now() + Seconds::new(3600);
    world.wait(hour);
    assert_eq!(world.stop(), rehome_engine::world::Stop::Now);
}

#[test]
fn a_wait_ends_once_when_the_steps_under_way_are_to_be_the_last() {
    let mut world = world(|_| None).unwrap();
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    world.wind_down_when(asked);
    let hour = world.now() + Seconds::new(3600);
    world.wait(hour);
    assert_eq!(world.stop(), rehome_engine::world::Stop::AfterSteps);
    // The steps under way still wait for their pods: from here on, a wait is one again.
    let soon = world.now() + Seconds::from_millis(300);
    world.wait(soon);
    assert!(world.now() >= soon);
    world.stop.store(true, Ordering::Relaxed);
    world.wait(hour);
    assert_eq!(world.stop(), rehome_engine::world::Stop::Now);
}
