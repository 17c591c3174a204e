//! Behaviours of pods on kwok's nodes, on a control plane of its own: they hold for all of its pods.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use rehome_model::behaviour::{Behaviour, PodBehaviour};
use rehome_model::document::Header;
use rehome_model::{ObjectRef, Seconds, Timestamp};
use rehome_testbed::audit::pod_history::PodHistory;
use rehome_testbed::audit::{Timeline, read};
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options};

use crate::workload::{LIMIT, home, wait_for_ready, web};

fn rule(labels: &[(&str, &str)], ready: Option<i64>, stop: i64) -> PodBehaviour {
    PodBehaviour {
        labels: labels.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect::<BTreeMap<_, _>>(),
        start: Seconds::from_millis(200),
        ready: ready.map(Seconds::from_millis),
        jitter: Seconds::ZERO,
        stop: Seconds::from_millis(stop),
    }
}

fn behaviour(pods: Vec<PodBehaviour>) -> Behaviour {
    Behaviour { header: Header::of::<Behaviour>(), pods }
}

/// The history of the one pod of the Deployment that is not gone, once it fulfils a condition.
async fn history(plane: &ControlPlane, what: &str, holds: impl Fn(&PodHistory) -> bool) -> PodHistory {
    let workload = ObjectRef::namespaced("Deployment", "behaviour", "web");
    clock::wait_for_async(what, LIMIT, async || {
        let timeline = Timeline::of(&read::log(&plane.audit_log()).map_err(|error| error.to_string())?);
        let found = timeline.pods_of(&workload).find(|pod| holds(pod)).cloned();
        found.ok_or_else(|| format!("{:#?}", timeline.pods_of(&workload).collect::<Vec<_>>()))
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn the_first_rule_holds_and_a_running_control_plane_can_get_others() {
    let slow = behaviour(vec![rule(&[("app", "web")], Some(2000), 300), rule(&[], Some(0), 0)]);
    let plane = ControlPlane::start(&Options { behaviour: slow, ..Options::default() }).unwrap();
    home(&plane, "behaviour");
    plane.apply(&web("behaviour", 1, None)).unwrap();
    let pods: Api<Pod> = Api::namespaced(plane.admin().await.unwrap(), "behaviour");
    let first = wait_for_ready(&pods, 1).await;
    let first =
        history(&plane, "the first pod's history", |pod| pod.uid.0 == first[0].metadata.uid.clone().unwrap()).await;
    let took = first.ready[0].from - first.created;
    assert!(took >= Seconds::from_millis(2200), "start 0.2 s and 2 s more, took {took}");

    // From now on none becomes Ready, and the end takes a minute, of which the grace period allows a second.
    plane.set_behaviour(&behaviour(vec![rule(&[("app", "web")], None, 60_000)])).unwrap();
    plane.kubectl(&["delete", "pod", "-n", "behaviour", "-l", "app=web", "--wait=false"]).unwrap();
    let gone = history(&plane, "the first pod to go", |pod| pod.uid == first.uid && pod.gone.is_some()).await;
    let took: Seconds = gone.gone.unwrap_or(Timestamp::EPOCH) - gone.deletion().unwrap().at;
    assert!(Seconds::from_millis(900) <= took && took < Seconds::new(30), "capped by 1 s of grace, took {took}");
    let pods_running = clock::wait_for_async("the successor to run", LIMIT, async || {
        let list = pods.list(&kube::api::ListParams::default()).await.map_err(|error| error.to_string())?;
        let running = |pod: &Pod| pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running");
        list.items
            .into_iter()
            .find(|pod| pod.metadata.uid.as_deref() != Some(&first.uid.0) && running(pod))
            .ok_or("none".to_owned())
    });
    let successor = pods_running.await.unwrap();
    // It was told to be Ready never; a change of behaviour makes it so.
    plane.set_behaviour(&Behaviour::prompt()).unwrap();
    let ready = wait_for_ready(&pods, 1).await;
    assert_eq!(ready[0].metadata.uid, successor.metadata.uid);
}
