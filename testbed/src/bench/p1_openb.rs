//! P1: the openb trace, all default filters and scores, every node looked at, one thread; beside it kube-scheduler's own
//! loop over the same pods and nodes.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_sched::{Chance, Model, Profile};

use super::BenchError;
use super::figures::{Row, Unit, runs};
use super::objects;
use super::openb::Trace;
use super::stopwatch::{Took, timed};
use crate::oracle::{self, PlaceRequest, Version};

/// Pods in a second that the issue asks for.
const TARGET: f64 = 20_000.0;
/// And how many times the peer's.
const TIMES: f64 = 50.0;

/// The model of the trace's nodes, and its pods.
///
/// # Errors
/// The trace cannot be read.
pub fn prepare(trace: &Trace) -> Result<(Model, Vec<Arc<Pod>>), BenchError> {
    let model = Model::new(&objects::view(&trace.nodes)?, Profile::default());
    Ok((model, objects::pods(&trace.pods)?))
}

/// Places all pods; how many found no node.
pub fn place_all(model: &mut Model, pods: &[Arc<Pod>], chance: &mut Chance) -> usize {
    pods.iter().filter(|pod| model.place_one(pod, chance).is_err()).count()
}

/// Measures the row. `peer` says whether the oracle runs, too, which takes half a minute.
///
/// # Errors
/// See [`BenchError`].
pub fn rows(trace: &Trace, peer: bool) -> Result<Vec<Row>, BenchError> {
    let (base, pods) = prepare(trace)?;
    let mut left = 0;
    let took = runs(|| {
        let mut model = base.clone();
        let (failed, took): (usize, Took) = timed(|| place_all(&mut model, &pods, &mut Chance::new(1)));
        left = failed;
        Ok(took)
    })?;
    let what = format!(
        "openb: {} nodes, {} pods ({left} fit nowhere), all nodes scored, interning inside",
        trace.nodes.len(),
        pods.len()
    );
    let count = per_second(pods.len());
    let row = Row::timed("P1", what, Unit::PodsPerSecond, &took, count).target(TARGET);
    if !peer {
        return Ok(vec![row]);
    }
    let said = oracle::place(
        Version::Newest,
        &PlaceRequest { objects: trace.nodes.clone(), pods: trace.pods.clone(), percentage: 100, parallelism: 1 },
    )?;
    let unplaced = said.placements.iter().filter(|placement| placement.node.is_empty()).count();
    let theirs = count(said.seconds);
    let times = row.wall.median / theirs;
    let what = format!("the same against kube-scheduler {}'s own loop ({unplaced} fit nowhere)", said.version);
    Ok(vec![row.peer(theirs), Row::counted("P1", what, Unit::Times, vec![times]).target(TIMES)])
}

/// From seconds for so many pods to pods in a second.
pub(super) fn per_second(pods: usize) -> impl Fn(f64) -> f64 + Copy {
    #[expect(clippy::cast_precision_loss, reason = "a number of pods")]
    let pods = pods as f64;
    move |seconds| pods / seconds
}
