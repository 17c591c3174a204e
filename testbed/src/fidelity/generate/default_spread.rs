//! PodTopologySpread without constraints of the pod's own: Services and owners give the selector of the defaults.

use serde_json::{Value, json};

use super::draft::{APPS, Draft, NAMESPACES, namespace};
use crate::fidelity::dice::Dice;

/// Makes Services, and owners for pods.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    let services = dice.chance(70);
    for space in NAMESPACES {
        for app in APPS {
            if services && dice.chance(50) {
                let mut selector = json!({"app": app});
                if dice.chance(20) {
                    selector["tier"] = json!("front");
                }
                if dice.chance(10) {
                    // A Service without a selector selects nothing.
                    selector = json!({});
                }
                draft.others.push(json!({"apiVersion": "v1", "kind": "Service",
                    "metadata": {"namespace": space, "name": format!("svc-{app}")},
                    "spec": {"selector": selector, "ports": [{"port": 80}], "type": "ClusterIP"}}));
            }
        }
    }
    let mut owners: Vec<Value> = vec![];
    for index in draft.touched(dice) {
        if services && dice.chance(50) {
            continue;
        }
        let number = draft.number();
        let app = draft.judged[index]["metadata"]["labels"]["app"].clone();
        let space = namespace(&draft.judged[index]);
        let (kind, version) =
            *dice.pick(&[&("ReplicaSet", "apps/v1"), &("StatefulSet", "apps/v1"), &("ReplicationController", "v1")]);
        let selector = match kind {
            "ReplicationController" => json!({"app": app}),
            _ if dice.chance(20) => {
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "other"]}]})
            }
            _ => json!({"matchLabels": {"app": app}}),
        };
        let owner = format!("owner-{number:03}");
        draft.judged[index]["metadata"]["ownerReferences"] = json!([{"apiVersion": version, "kind": kind,
            "name": owner, "uid": format!("uid-{owner}"), "controller": true}]);
        if dice.chance(90) {
            owners.push(json!({"apiVersion": version, "kind": kind,
                "metadata": {"namespace": space, "name": owner, "uid": format!("uid-{owner}")},
                "spec": {"replicas": 3, "selector": selector, "template": {
                    "metadata": {"labels": {"app": app}},
                    "spec": {"containers": [{"name": "c0", "image": "registry.example/app:v1"}]}},
                    "serviceName": "none"}}));
        }
    }
    for mut owner in owners {
        if owner["kind"] != "StatefulSet"
            && let Some(spec) = owner["spec"].as_object_mut()
        {
            spec.remove("serviceName");
        }
        draft.others.push(owner);
    }
}
