//! How permissions are written, for people and for the server.

use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field};

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
fn a_request_needs_what_it_sends() {
    let say = |request: &ChangeRequest| needed_for(request).iter().map(ToString::to_string).collect::<Vec<_>>();
    let pod = ObjectRef::pod("shop", "web-0");
    let evict = ChangeRequest::Evict { pod: pod.clone(), uid: "u".into() };
    assert_eq!(say(&evict), ["create pods/eviction in namespace shop"]);
    assert_eq!(say(&ChangeRequest::Delete { pod, uid: "u".into() }), ["delete pods in namespace shop"]);
    let set = |target: ObjectRef, field: Field| ChangeRequest::SetField(Change { target, field, from: None, to: None });
    assert_eq!(say(&set(ObjectRef::node("a"), Field::Unschedulable)), ["get nodes", "patch nodes"]);
    let restart =
        set(ObjectRef::namespaced("Deployment", "shop", "web"), Field::TemplateAnnotation { key: "a".to_owned() });
    assert_eq!(say(&restart), ["get deployments.apps in namespace shop", "patch deployments.apps in namespace shop"]);
    assert!(needed_to_watch().contains(&Permission::new("watch", "policy", "poddisruptionbudgets")));
}
