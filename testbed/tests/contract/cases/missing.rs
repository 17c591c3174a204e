//! The eviction of a pod that does not exist.

use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    let answer = world.evict("nobody", "00000000-0000-4000-8000-000000000000");
    assert_eq!((answer.code, answer.cause.as_deref()), (404, None), "{answer:?}");
}
