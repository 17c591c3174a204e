//! A LimitRange fills in what containers leave out when a pod is created, whoever creates it, and refuses pods outside
//! of it; pods that are there already keep what they have.

use rehome_k8s::node::Resources;
use rehome_k8s::{Kind, Record};
use serde_json::{Value, json};

use crate::objects::{created, pods, settled, workload};
use crate::world::{ContractWorld, wait};

fn set_with(app: &str, resources: &Value) -> Value {
    let container = json!({"name": "main", "image": "example.test/main:1", "resources": resources});
    let mut set = workload("ReplicaSet", app, 1, &json!({}));
    set["spec"]["template"]["spec"]["containers"] = json!([container]);
    set
}

fn amounts(cpu: i64, mebibytes: i64) -> Resources {
    Resources::from([("cpu".to_owned(), cpu), ("memory".to_owned(), mebibytes << 20)])
}

fn asks(world: &mut dyn ContractWorld, app: &str) -> Resources {
    settled(world, app, 1)[0].spec.requests.clone()
}

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &set_with("before", &json!({})));
    assert_eq!(asks(world, "before"), Resources::new());

    // No `default` for cpu, no `defaultRequest` for memory: they follow from `max`.
    created(
        world,
        &json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "1", "memory": "256Mi"},
                             "min": {"cpu": "20m"}, "defaultRequest": {"cpu": "50m"}}]}}),
    );
    wait(world, "the LimitRange", &[Kind::LimitRange], |view| view.of_kind(Kind::LimitRange).count() == 1);
    // The server's cache of LimitRanges is a moment behind: until it is not, a pod is stored as it is.
    let refused = loop {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large", "labels": {"app": "large"}},
            "spec": {"containers": [{"name": "main", "image": "example.test/main:1",
                "resources": {"limits": {"memory": "512Mi"}}}]}});
        pod["spec"]["nodeSelector"] = json!({"test": world.namespace()});
        let answer = world.create(&pod);
        if answer.code != 201 && answer.code != 409 {
            break answer;
        }
        world.delete(Kind::Pod, "large");
        world.pass();
    };
    assert_eq!(refused.code, 403, "{refused:?}");
    // The server goes through maps in no order; there is one reason here.
    let reason = "maximum memory usage per Container is 256Mi, but limit is 512Mi";
    assert!(refused.message.contains(reason), "{refused:?}");

    created(world, &set_with("silent", &json!({})));
    assert_eq!(asks(world, "silent"), amounts(50, 256));
    created(world, &set_with("own", &json!({"requests": {"cpu": "30m"}, "limits": {"memory": "64Mi"}})));
    assert_eq!(asks(world, "own"), amounts(30, 64));
    let mut with_init = set_with("init", &json!({"requests": {"cpu": "30m"}, "limits": {"memory": "64Mi"}}));
    let init = json!({"name": "proxy", "image": "example.test/main:1", "restartPolicy": "Always"});
    with_init["spec"]["template"]["spec"]["initContainers"] = json!([init]);
    created(world, &with_init);
    assert_eq!(asks(world, "init"), amounts(80, 320));

    // A template that nobody may use is accepted; its pods are not.
    created(world, &set_with("refused", &json!({"limits": {"cpu": "2"}})));
    created(world, &set_with("after", &json!({})));
    settled(world, "after", 1);
    let view = world.look(&[Kind::ReplicaSet, Kind::Pod]);
    let sets = view.of_kind(Kind::ReplicaSet).filter(|set| matches!(set, Record::ReplicaSet(_)));
    assert_eq!(sets.filter(|set| set.meta().name == "refused").count(), 1);
    assert_eq!(pods(&view, "refused").len(), 0);

    // The pod from before keeps what it has, until it is made again.
    assert_eq!(asks(world, "before"), Resources::new());
    let old = settled(world, "before", 1)[0].meta.clone();
    assert_eq!(world.evict(&old.name, &old.uid.0).code, 201);
    wait(world, "a successor", &[Kind::Pod], |view| {
        let pods = pods(view, "before");
        pods.len() == 1 && pods[0].ready && pods[0].meta.uid != old.uid
    });
    assert_eq!(asks(world, "before"), amounts(50, 256));
}
