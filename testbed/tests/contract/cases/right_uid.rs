//! An eviction with the right UID charges the budget at once, and it comes back with the Ready replacement.

use serde_json::json;

use crate::objects::{budget_is, created, deployment, pdb, play};
use crate::timeline::{self, Step};
use crate::world::{ContractWorld, PLAYED};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    let mut web = deployment("web", 3, 1, 0);
    web["spec"]["template"]["metadata"]["labels"][PLAYED.0] = PLAYED.1.into();
    web["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1.into();
    created(world, &web);
    created(world, &pdb("web", "web", &json!({"maxUnavailable": 1})));
    let pods = play(world, "web", 3);
    budget_is(world, "web", "one disruption allowed", |status| status.disruptions_allowed == 1);

    let answer = world.evict(&pods[0].meta.name, &pods[0].meta.uid.0);
    assert_eq!(answer.code, 201, "{answer:?}");
    let answer = world.evict(&pods[1].meta.name, &pods[1].meta.uid.0);
    assert_eq!((answer.code, answer.cause.as_deref()), (429, Some("DisruptionBudget")), "{answer:?}");
    let status = budget_is(world, "web", "the eviction to be seen through", |status| status.disrupted_pods.is_empty());
    assert_eq!((status.disruptions_allowed, status.current_healthy), (0, 2), "the replacement is not Ready");

    let after = play(world, "web", 3);
    budget_is(world, "web", "the budget to come back", |status| status.disruptions_allowed == 1);
    let new = after.iter().find(|pod| pods.iter().all(|old| old.meta.uid != pod.meta.uid)).unwrap();
    let happened = timeline::of_pods(&world.events());
    let at = |uid: &str, step| {
        timeline::place(&happened, uid, step).unwrap_or_else(|| panic!("{step:?} of {uid} in {happened:#?}"))
    };
    let (old, new) = (&pods[0].meta.uid.0, &new.meta.uid.0);
    assert!(at(old, Step::Ends) < at(new, Step::Created));
    assert!(at(new, Step::Created) < at(new, Step::Bound));
    assert!(at(new, Step::Bound) < at(new, Step::Ready));
}
