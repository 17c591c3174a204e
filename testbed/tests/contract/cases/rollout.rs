//! A restart with surge and without unavailability never has fewer Ready pods than replicas, nor more than the surge
//! allows, and ends with new pods only.

use rehome_k8s::{Key, Kind, Record, readiness};
use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field, RESTART_ANNOTATION};

use crate::objects::{created, deployment, settled};
use crate::timeline;
use crate::world::{ContractWorld, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &deployment("web", 3, 1, 0));
    let before = settled(world, "web", 3);
    let answer = world.set_field(&Change {
        target: ObjectRef::namespaced("Deployment", world.namespace(), "web"),
        field: Field::TemplateAnnotation { key: RESTART_ANNOTATION.to_owned() },
        from: None,
        to: Some("2026-12-01T00:00:00Z".to_owned()),
    });
    assert_eq!(answer.code, 200, "{answer:?}");
    let key = Key::new(world.namespace(), "web");
    let view = wait(world, "the rollout to end", &[Kind::Deployment, Kind::ReplicaSet], |view| {
        let Some(Record::Deployment(web)) = view.get(Kind::Deployment, &key) else { return false };
        web.meta.generation == 2 && readiness::rolled_out(web)
    });
    let sizes: Vec<_> =
        view.of_kind(Kind::ReplicaSet).filter_map(|set| set.as_workload()).map(|set| set.replicas.unwrap()).collect();
    assert_eq!(sizes.iter().sum::<i64>(), 3);
    assert_eq!(sizes.len(), 2, "the old ReplicaSet stays, with no pods");
    let Some(Record::Deployment(web)) = view.get(Kind::Deployment, &key) else { panic!("no Deployment") };
    assert_eq!(web.meta.annotations["deployment.kubernetes.io/revision"], "2");
    let after = settled(world, "web", 3);
    assert!(after.iter().all(|pod| before.iter().all(|old| old.meta.uid != pod.meta.uid)));
    let happened = timeline::of_pods(&world.events());
    assert_eq!(timeline::serving(&happened, "web", 3), (3, 4), "{happened:#?}");
}
