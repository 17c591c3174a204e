//! P5: each of the openb nodes is lost in turn, and its pods are placed again on the others.

use rehome_sched::{Chance, Model};

use super::BenchError;
use super::figures::{Row, Unit, runs};
use super::openb::Trace;
use super::p1_openb::{place_all, prepare};
use super::stopwatch::timed;

/// Seconds that the issue allows.
const TARGET: f64 = 3.0;

/// How many nodes could be lost one at a time, and how many pods would be placed again in all.
pub fn sweep(model: &mut Model) -> (usize, usize) {
    let names: Vec<String> = model.nodes().map(|node| node.name().to_owned()).collect();
    let (mut fine, mut placed) = (0, 0);
    for name in names {
        let answer = model.what_if(&[], &[name], 1);
        fine += usize::from(answer.all_fit());
        placed += answer.placed.len();
    }
    (fine, placed)
}

/// Measures the row.
///
/// # Errors
/// See [`BenchError`].
pub fn row(trace: &Trace) -> Result<Row, BenchError> {
    let (mut base, pods) = prepare(trace)?;
    let nowhere = place_all(&mut base, &pods, &mut Chance::new(1));
    let mut found = (0, 0);
    let took = runs(|| {
        let mut model = base.clone();
        let (swept, took) = timed(|| sweep(&mut model));
        found = swept;
        Ok(took)
    })?;
    let what = format!(
        "N-1 over all {} openb nodes ({} pods on them): {} can be lost, {} pods placed again",
        trace.nodes.len(),
        pods.len() - nowhere,
        found.0,
        found.1
    );
    Ok(Row::timed("P5", what, Unit::Seconds, &took, |seconds| seconds).target(TARGET))
}
