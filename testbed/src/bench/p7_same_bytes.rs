//! P7: the same seed gives the same bytes.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_sched::{Chance, Model, Sampling};

use super::BenchError;
use super::figures::{Row, Unit};
use super::p2_shapes;
use super::shapes::Shape;

/// How often the issue asks for it.
pub const TIMES: u32 = 100;

/// Where each pod goes, a line each.
fn placements(base: &Model, pods: &[Arc<Pod>], seed: u64, sampling: Sampling) -> String {
    let mut model = base.clone();
    let mut chance = Chance::new(seed).sampling(sampling);
    let line = |pod: &Arc<Pod>| {
        let node = model.place_one(pod, &mut chance).unwrap_or_else(|refused| refused.message);
        format!("{} {node}\n", pod.meta.key())
    };
    pods.iter().map(line).collect()
}

/// How many of a number of runs over a shape gave the bytes of the first, and whether another seed gave others.
///
/// # Errors
/// An object of the generator cannot be decoded.
pub fn equal(shape: Shape, nodes: usize, times: u32) -> Result<(u32, bool), BenchError> {
    let (base, pods) = p2_shapes::prepare(shape, nodes)?;
    let mut equal = 0;
    let mut differs = false;
    for sampling in [Sampling::All, Sampling::Default] {
        let first = placements(&base, &pods, 1, sampling);
        equal += (0..times / 2).map(|_| u32::from(placements(&base, &pods, 1, sampling) == first)).sum::<u32>();
        differs |= placements(&base, &pods, 2, sampling) != first;
    }
    Ok((equal, differs))
}

/// Measures the row.
///
/// # Errors
/// See [`BenchError`].
pub fn row() -> Result<Row, BenchError> {
    const NODES: usize = 500;
    let (equal, _) = equal(Shape::Spread, NODES, TIMES)?;
    let what = format!("placements of {NODES} nodes by one seed, byte by byte, {TIMES} runs");
    Ok(Row::counted("P7", what, Unit::Equal, vec![f64::from(equal)]).target(f64::from(TIMES)))
}
