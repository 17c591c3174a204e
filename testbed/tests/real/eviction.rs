//! Evictions on the shared control plane, and what the audit log and the probe say of them.

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use rehome_model::{ObjectRef, Seconds, Uid};
use rehome_testbed::audit::pod_history::How;
use rehome_testbed::audit::probe::{By, probe};
use rehome_testbed::audit::{Timeline, read};
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, everything};

use crate::workload::{LIMIT, evict, home, wait_for_ready, web};

#[tokio::test]
async fn an_eviction_with_another_uid_is_refused_and_with_the_right_one_is_done() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "eviction");
    plane.apply(&web("eviction", 3, None)).unwrap();
    let pods: Api<Pod> = Api::namespaced(plane.admin().await.unwrap(), "eviction");
    let ready = wait_for_ready(&pods, 3).await;
    let conditions = ready[0].status.as_ref().unwrap().conditions.clone().unwrap();
    assert!(conditions.iter().any(|condition| condition.type_ == "PodScheduled"), "kwok keeps what others wrote");

    let identity = plane.identity("evictor", &everything()).unwrap();
    let client = ControlPlane::client(identity.kubeconfig()).await.unwrap();
    let (code, answer) = evict(&client, &ready[0], Some("00000000-0000-0000-0000-000000000000"), "run/1/1").await;
    assert_eq!(code, 409, "{answer}");
    let uid = ready[0].metadata.uid.clone().unwrap();
    let (code, answer) = evict(&client, &ready[0], Some(&uid), "run/2/1").await;
    assert_eq!(code, 201, "{answer}");
    let after = wait_for_ready(&pods, 3).await;
    assert!(after.iter().all(|pod| pod.metadata.uid.as_ref() != Some(&uid)));

    // What the log says of the same.
    let events = read::log(&plane.audit_log()).unwrap();
    let ours: Vec<_> = events.iter().filter(|event| event.user.username == identity.user).collect();
    assert_eq!(
        ours.iter().map(|event| (event.audit_id.as_str(), event.code())).collect::<Vec<_>>(),
        [("run/1/1", 409), ("run/2/1", 201)]
    );
    assert_eq!(ours[1].uid_precondition(), Some(Uid(uid.clone())));
    let timeline = Timeline::of(&events);
    let history = timeline.pod(&Uid(uid)).unwrap();
    let deletion = history.deletion().unwrap();
    assert_eq!((deletion.by.as_str(), deletion.how), ("evictor", How::Evicted));
    assert_eq!(timeline.workload(history), ObjectRef::namespaced("Deployment", "eviction", "web"));
    assert_eq!(history.ready.len(), 1);
    let node = history.node.as_deref().unwrap();
    assert!(node.starts_with("eviction-"), "{node}");
}

#[tokio::test]
async fn the_probe_sees_when_the_only_pod_of_a_service_is_away() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "probe");
    plane.apply(&web("probe", 1, None)).unwrap();
    let pods: Api<Pod> = Api::namespaced(plane.admin().await.unwrap(), "probe");
    let ready = wait_for_ready(&pods, 1).await;
    let workload = ObjectRef::namespaced("Deployment", "probe", "web");
    // Nothing was away between the first ready endpoint and the eviction.
    let endpoint = clock::wait_for_async("the endpoint in the log", LIMIT, async || {
        let timeline = Timeline::of(&read::log(&plane.audit_log()).map_err(|error| error.to_string())?);
        let mut services = timeline.services();
        let (_, service) = services.find(|(key, _)| key.namespace == "probe").ok_or("no service")?;
        let pods = timeline.pods_of(&workload).map(|pod| pod.uid.clone()).collect();
        service.ready(&pods).first().map(|interval| interval.from).ok_or("not ready".to_owned())
    });
    let from = endpoint.await.unwrap();
    let before = clock::now();
    let uid = ready[0].metadata.uid.clone().unwrap();
    let client = plane.admin().await.unwrap();
    assert_eq!(evict(&client, &ready[0], Some(&uid), "probe/1/1").await.0, 201);
    let availability = clock::wait_for_async("the endpoint to come back", LIMIT, async || {
        let timeline = Timeline::of(&read::log(&plane.audit_log()).map_err(|error| error.to_string())?);
        let now = clock::now();
        let found = probe(&timeline, [&workload], from, now).remove(&workload).ok_or("not probed")?;
        match found.without.as_slice() {
            [(_, to)] if *to < now => Ok(found),
            other => Err(format!("{other:?}")),
        }
    });
    let availability = availability.await.unwrap();
    assert!(matches!(&availability.by, By::Service(key) if key.name == "web"), "{availability:?}");
    assert!(availability.without[0].0 >= before, "{availability:?}");
    // Start and readiness take half a second each, and the controllers a little.
    assert!(availability.total() >= Seconds::from_millis(900), "{availability:?}");
    assert!(availability.longest() <= Seconds::new(20), "{availability:?}");
}
