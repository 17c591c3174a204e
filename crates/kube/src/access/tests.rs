//! How permissions are written, for people and for the server.

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
