//! How permissions are written, for people and for the server.

use rehome_k8s::Kind;

use super::*;

#[test]
fn a_permission_reads_as_kubectl_would_say_it() {
    let evict = Permission::new("create", "", "pods/eviction").in_namespace("shop");
    assert_eq!(evict.to_string(), "create pods/eviction in namespace shop");
    assert_eq!(Permission::new("patch", "apps", "deployments").to_string(), "patch deployments.apps");
}

#[test]
fn a_review_asks_for_the_subresource() {
    let request = review(&Permission::new("create", "", "pods/eviction")).unwrap();
    let body: Value = serde_json::from_slice(request.body()).unwrap();
    let asked = &body["spec"]["resourceAttributes"];
    assert_eq!((&asked["resource"], &asked["subresource"]), (&json!("pods"), &json!("eviction")));
}

#[test]
fn each_request_needs_what_it_sends() {
    let say = |needed: std::collections::BTreeSet<Permission>| {
        needed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(say(needs::to_evict()), "create pods/eviction, get pods");
    assert_eq!(say(needs::to_delete()), "delete pods, get pods");
    assert_eq!(say(needs::to_change(Kind::Node)), "get nodes, patch nodes");
    assert_eq!(say(needs::to_change(Kind::Deployment)), "get deployments.apps, patch deployments.apps");
    let (capture, follow) = (needs::to_capture(), needs::to_follow());
    assert!(
        capture.iter().all(|permission| permission.verb == "list" || permission.to_string().contains("kube-system"))
    );
    assert!(follow.contains(&Permission::new("watch", "policy", "poddisruptionbudgets")));
    assert!(!follow.contains(&Permission::new("list", "", "events")), "nobody needs Events while pods move");
    for secret in ["secrets", "configmaps"] {
        assert!(capture.iter().chain(&follow).all(|permission| permission.resource != secret));
    }
}
