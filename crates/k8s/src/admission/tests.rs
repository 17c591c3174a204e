//! Pods as they are stored.

use serde_json::{Value, json};

use super::*;

fn view(objects: &[Value]) -> View {
    let mut view = View::default();
    for object in objects {
        view.insert(crate::ingest::object(&object.to_string()).unwrap().unwrap());
    }
    view
}

fn range(limits: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"namespace": "shop", "name": "limits"},
           "spec": {"limits": limits}})
}

fn class(name: &str, value: i64, default: bool) -> Value {
    json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
           "value": value, "globalDefault": default, "preemptionPolicy": "Never"})
}

fn pod(spec: &Value) -> Pod {
    let object =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "web"}, "spec": spec});
    match crate::ingest::object(&object.to_string()).unwrap().unwrap() {
        Record::Pod(pod) => Arc::unwrap_or_clone(pod),
        other => panic!("{other:?}"),
    }
}

fn containers(resources: &Value) -> Value {
    json!({"containers": [{"name": "main", "image": "a", "resources": resources}]})
}

fn asks(view: &View, spec: &Value) -> Resources {
    let mut pod = pod(spec);
    admit(view, &mut pod).unwrap();
    pod.spec.requests.clone()
}

fn amounts(cpu: i64, mebibytes: i64) -> Resources {
    Resources::from([("cpu".to_owned(), cpu), ("memory".to_owned(), mebibytes << 20)])
}

#[test]
fn containers_that_say_nothing_get_what_the_range_says() {
    let view = view(&[range(&json!([{"type": "Container",
        "defaultRequest": {"cpu": "100m", "memory": "256Mi"}, "default": {"cpu": "1", "memory": "1Gi"}}]))]);
    assert_eq!(asks(&view, &containers(&json!({}))), amounts(100, 256));
    assert_eq!(asks(&view, &containers(&json!({"requests": {"cpu": "30m"}}))), amounts(30, 256));
    // A limit of its own is its request before the range is asked.
    assert_eq!(asks(&view, &containers(&json!({"limits": {"cpu": "500m"}}))), amounts(500, 256));
}

#[test]
fn init_containers_and_sidecars_get_it_too() {
    let view = view(&[range(&json!([{"type": "Container", "defaultRequest": {"cpu": "100m", "memory": "256Mi"}}]))]);
    let with = |init: Value| {
        let mut spec = containers(&json!({"requests": {"cpu": "10m", "memory": "1Mi"}}));
        spec["initContainers"] = json!([init]);
        spec
    };
    assert_eq!(asks(&view, &with(json!({"name": "init", "image": "a"}))), amounts(100, 256), "the larger of the two");
    let sidecar = json!({"name": "proxy", "image": "a", "restartPolicy": "Always"});
    assert_eq!(asks(&view, &with(sidecar)), amounts(110, 257), "both run at the same time");
}

#[test]
fn what_a_range_leaves_out_follows_from_the_rest() {
    let only = |limit: Value| asks(&view(&[range(&json!([limit]))]), &containers(&json!({})));
    assert_eq!(only(json!({"type": "Container", "max": {"cpu": "2", "memory": "512Mi"}})), amounts(2000, 512));
    let min_and_default = json!({"type": "Container", "min": {"cpu": "50m"}, "default": {"memory": "64Mi"}});
    assert_eq!(only(min_and_default), amounts(50, 64));
    assert_eq!(only(json!({"type": "Pod", "max": {}})), Resources::new());
}

#[test]
fn other_namespaces_and_pods_that_were_admitted_are_left_alone() {
    let mut elsewhere = range(&json!([{"type": "Container", "defaultRequest": {"cpu": "100m"}}]));
    elsewhere["metadata"]["namespace"] = "other".into();
    assert_eq!(asks(&view(&[elsewhere]), &containers(&json!({}))), Resources::new());
    let here = view(&[range(&json!([{"type": "Container", "max": {"cpu": "1m"}}]))]);
    let mut bound = containers(&json!({"requests": {"cpu": "1"}}));
    bound["nodeName"] = "a".into();
    assert_eq!(asks(&here, &bound)["cpu"], 1000);
}

#[test]
fn a_pod_outside_of_the_range_is_refused_in_the_servers_words() {
    let refuses = |limit: Value, resources: Value| {
        let refused = admit(&view(&[range(&json!([limit]))]), &mut pod(&containers(&resources)));
        refused.unwrap_err().to_string()
    };
    assert_eq!(
        refuses(json!({"type": "Container", "max": {"memory": "1Gi"}}), json!({"limits": {"memory": "2Gi"}})),
        "maximum memory usage per Container is 1Gi, but limit is 2Gi"
    );
    assert_eq!(
        refuses(
            json!({"type": "Container", "min": {"cpu": "100m", "memory": "1Mi"}}),
            json!({"requests": {"cpu": "50m", "memory": "1Ki"}})
        ),
        "[minimum cpu usage per Container is 100m, but request is 50m, \
         minimum memory usage per Container is 1Mi, but request is 1Ki]"
    );
    assert_eq!(
        refuses(json!({"type": "Pod", "max": {"cpu": "1"}}), json!({"requests": {"cpu": "50m"}})),
        "maximum cpu usage per Pod is 1.  No limit is specified"
    );
    assert_eq!(
        refuses(
            json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "1500m"}}),
            json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}})
        ),
        "cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000"
    );
}

#[test]
fn a_class_gives_its_priority_and_the_default_class_to_all_others() {
    let classes = view(&[class("high", 1000, false), class("usual", 10, true), class("more", 20, true)]);
    let priority = |view: &View, class: Option<&str>| {
        let mut spec = containers(&json!({}));
        spec["priorityClassName"] = json!(class);
        let mut pod = pod(&spec);
        admit(view, &mut pod).map(|()| (pod.spec.priority, pod.spec.never_preempts))
    };
    assert_eq!(priority(&classes, Some("high")), Ok((1000, true)));
    assert_eq!(priority(&classes, None), Ok((10, true)), "the lowest of the defaults");
    assert_eq!(priority(&view(&[]), None), Ok((0, false)));
    assert_eq!(priority(&view(&[]), Some("system-node-critical")), Ok((2_000_001_000, false)));
    let missing = Refused::NoPriorityClass { class: "gone".to_owned() };
    assert_eq!(priority(&classes, Some("gone")), Err(missing));
}
