//! Nodes, workloads and evictions on the shared control plane.

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use rehome_testbed::control_plane::{ControlPlane, everything};

use crate::workload::{evict, home, wait_for_ready, web};

#[tokio::test]
async fn an_eviction_with_another_uid_is_refused_and_with_the_right_one_is_done() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "eviction");
    plane.apply(&web("eviction", 3, None)).unwrap();
    let admin = plane.admin().await.unwrap();
    let pods: Api<Pod> = Api::namespaced(admin, "eviction");
    let ready = wait_for_ready(&pods, 3).await;
    let conditions = ready[0].status.as_ref().unwrap().conditions.clone().unwrap();
    assert!(conditions.iter().any(|condition| condition.type_ == "PodScheduled"), "kwok keeps what others wrote");

    let identity = plane.identity("evictor", &everything()).unwrap();
    let client = ControlPlane::client(identity.kubeconfig()).await.unwrap();
    let (code, answer) = evict(&client, &ready[0], "00000000-0000-0000-0000-000000000000", "run/1/1").await;
    assert_eq!(code, 409, "{answer}");
    let uid = ready[0].metadata.uid.clone().unwrap();
    let (code, answer) = evict(&client, &ready[0], &uid, "run/2/1").await;
    assert_eq!(code, 201, "{answer}");
    let after = wait_for_ready(&pods, 3).await;
    assert!(after.iter().all(|pod| pod.metadata.uid.as_ref() != Some(&uid)));
}
