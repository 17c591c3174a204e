//! The scenario of the whole job stands on a control plane of its own before anybody moves it.

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use rehome_model::ObjectRef;
use rehome_testbed::audit::{Figures, Timeline, figures, read};
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options};
use rehome_testbed::scenario::six_to_six as scenario;

use crate::workload::LIMIT;

/// The names of pods that do not serve.
async fn not_ready(pods: &Api<Pod>) -> Result<Vec<String>, String> {
    let list = pods.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
    let ready = |pod: &Pod| {
        let status = pod.status.clone().unwrap_or_default();
        let conditions = status.conditions.unwrap_or_default();
        conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
    };
    let mut names: Vec<String> =
        list.items.iter().filter(|pod| !ready(pod)).filter_map(|pod| pod.metadata.name.clone()).collect();
    names.sort();
    // A cluster in which nothing was created yet is not ready either.
    if list.items.len() > scenario::DEPLOYMENTS { Ok(names) } else { Err(format!("{} pods", list.items.len())) }
}

#[tokio::test]
async fn all_pods_become_ready_but_those_that_no_node_takes() {
    let plane =
        ControlPlane::start(&Options { behaviour: scenario::behaviour_before(), ..Options::default() }).unwrap();
    plane.namespace(scenario::NAMESPACE).unwrap();
    plane.create_nodes(scenario::old_nodes().iter().map(scenario::node)).unwrap();
    let objects: Vec<_> = scenario::objects().into_iter().filter(|object| object["kind"] != "Namespace").collect();
    plane.create(&objects).unwrap();
    let pods: Api<Pod> = Api::namespaced(plane.admin().await.unwrap(), scenario::NAMESPACE);
    let mut pending: Vec<String> = scenario::PENDING.iter().map(|&name| name.to_owned()).collect();
    pending.sort();
    let settled = clock::wait_for_async("the scenario to settle", 3 * LIMIT, async || {
        let found = not_ready(&pods).await?;
        if found == pending { Ok(()) } else { Err(found.join(", ")) }
    });
    settled.await.unwrap();
    plane.create_nodes(scenario::new_and_other_nodes().iter().map(scenario::node)).unwrap();

    // Nobody has moved anything: no pod left, and what is Ready stays so.
    let now = clock::now();
    let timeline = Timeline::of(&read::log(&plane.audit_log()).unwrap());
    let sources: Vec<String> = scenario::old_nodes().into_iter().map(|node| node.name).collect();
    let workloads: Vec<ObjectRef> = (1..=scenario::DEPLOYMENTS)
        .map(|index| ObjectRef::namespaced("Deployment", scenario::NAMESPACE, format!("app-{index:02}")))
        .collect();
    let found = figures(&timeline, &workloads, &sources, now, now);
    let sum = Figures::sum(found.values());
    assert_eq!((sum.left, sum.moved_again, sum.restarted_elsewhere), (0, 0, 0), "{found:#?}");
    assert!(found.values().all(|figures| figures.pods > 0), "{found:#?}");
    assert!(timeline.budgets().all(|(_, budget)| budget.desired_at(now).is_some()));
}
