//! P2: 5,000 nodes, the shapes of scheduler_perf; by default sampling, as its own figures are, and with all nodes scored.
//!
//! Its figures hold the writes to an API server, ours do not: the targets are ten times its thresholds.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_sched::{Chance, Model, Profile, Sampling};

use super::BenchError;
use super::figures::{Row, Unit, runs};
use super::objects;
use super::p1_openb::{per_second, place_all};
use super::shapes::Shape;
use super::stopwatch::timed;

/// Pods in a second that the issue asks for.
fn target(shape: Shape) -> f64 {
    match shape {
        Shape::Basic => 8_100.0,
        Shape::Spread => 4_600.0,
        Shape::DefaultSpread => 1_600.0,
        Shape::AntiAffinity => 600.0,
        Shape::NamespaceSelector => 240.0,
    }
}

/// The model of a shape with the pods that are there, and those that come.
///
/// # Errors
/// An object of the generator cannot be decoded.
pub fn prepare(shape: Shape, nodes: usize) -> Result<(Model, Vec<Arc<Pod>>), BenchError> {
    let cluster = shape.cluster(nodes);
    let mut model = Model::new(&objects::view(&cluster.objects)?, Profile::default());
    let before = objects::pods(&cluster.before)?;
    let failed = place_all(&mut model, &before, &mut Chance::new(1).sampling(Sampling::Default));
    if failed > 0 {
        return Err(BenchError::Otherwise {
            what: format!("the pods that are there in the shape {}", shape.name()),
            expected: "a node for each".to_owned(),
            found: format!("{failed} of {} without one", before.len()),
        });
    }
    Ok((model, objects::pods(&cluster.pods)?))
}

/// Measures the rows of all shapes.
///
/// # Errors
/// See [`BenchError`].
pub fn rows(mut print: impl FnMut(Row)) -> Result<(), BenchError> {
    for shape in Shape::ALL {
        let (base, pods) = prepare(shape, shape.nodes())?;
        for sampling in [Sampling::Default, Sampling::All] {
            let mut left = 0;
            let took = runs(|| {
                let mut model = base.clone();
                let mut chance = Chance::new(1).sampling(sampling);
                let (failed, took) = timed(|| place_all(&mut model, &pods, &mut chance));
                left = failed;
                Ok(took)
            })?;
            let looked = if sampling == Sampling::All { "all nodes" } else { "default sampling" };
            let nowhere = if left == 0 { String::new() } else { format!(" ({left} fit nowhere)") };
            let what = format!("{}: {} nodes, {} pods{nowhere}, {looked}", shape.name(), shape.nodes(), pods.len());
            print(Row::timed("P2", what, Unit::PodsPerSecond, &took, per_second(pods.len())).target(target(shape)));
        }
    }
    Ok(())
}
