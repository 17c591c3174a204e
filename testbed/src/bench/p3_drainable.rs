//! P3: which nodes can be drained now, asked of each of 1,000 nodes with 30,000 pods between them.

use rehome_k8s::View;
use rehome_sched::{Model, Profile};

use super::BenchError;
use super::figures::{Row, Unit, runs};
use super::stopwatch::timed;

/// Seconds that the issue allows.
const TARGET: f64 = 1.0;

/// How many of the nodes could be drained, each by itself.
pub fn sweep(model: &mut Model) -> usize {
    let names: Vec<String> = model.nodes().map(|node| node.name().to_owned()).collect();
    names.iter().filter(|name| model.drainable(name, 1).all_fit()).count()
}

/// Measures the row on a view of the whole cluster.
///
/// # Errors
/// See [`BenchError`].
pub fn row(view: &View) -> Result<Row, BenchError> {
    let base = Model::new(view, Profile::default());
    let mut yes = 0;
    let took = runs(|| {
        let mut model = base.clone();
        let (drainable, took) = timed(|| sweep(&mut model));
        yes = drainable;
        Ok(took)
    })?;
    let (nodes, pods) = (view.nodes().count(), view.pods().count());
    let what = format!("which of {nodes} nodes can be drained now ({pods} pods): {yes} can");
    Ok(Row::timed("P3", what, Unit::Seconds, &took, |seconds| seconds).target(TARGET))
}
