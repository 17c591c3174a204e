//! P6, the other half: how the time to place one pod grows with the number of nodes, all of which are scored.
//!
//! The exponent is the slope of a straight line through the logarithms, fitted by least squares.

use rehome_sched::{Chance, Sampling};

use super::BenchError;
use super::figures::{RUNS, Row, Unit};
use super::p1_openb::place_all;
use super::p2_shapes::prepare;
use super::shapes::Shape;
use super::stopwatch::timed;

/// Below this the issue wants the exponent.
const TARGET: f64 = 1.3;
/// Numbers of nodes.
const SIZES: [u32; 4] = [500, 1_000, 2_000, 5_000];

/// Measures the row on the shape that only asks for room. The processor's time is taken: the clock on the wall of a
/// machine that is shared would bend the line.
///
/// # Errors
/// See [`BenchError`].
pub fn row() -> Result<Row, BenchError> {
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); RUNS];
    for nodes in SIZES {
        let (base, pods) = prepare(Shape::Basic, nodes as usize)?;
        for points in &mut points {
            let mut model = base.clone();
            let mut chance = Chance::new(1).sampling(Sampling::All);
            let (left, took) = timed(|| place_all(&mut model, &pods, &mut chance));
            if left > 0 {
                return Err(BenchError::Otherwise {
                    what: format!("{} pods on {nodes} nodes", pods.len()),
                    expected: "a node for each".to_owned(),
                    found: format!("{left} without one"),
                });
            }
            #[expect(clippy::cast_precision_loss, reason = "a number of pods")]
            let each = took.processor / pods.len() as f64;
            points.push((f64::from(nodes), each));
        }
    }
    let exponents = points.iter().map(|points| exponent(points)).collect();
    let micros = |at: usize| points.first().and_then(|points| points.get(at)).map_or(0.0, |(_, each)| each * 1e6);
    let what = format!(
        "growth of placing a pod, all of {} to {} nodes scored: {:.1} to {:.1} microseconds",
        SIZES[0],
        SIZES[SIZES.len() - 1],
        micros(0),
        micros(SIZES.len() - 1)
    );
    Ok(Row::counted("P6", what, Unit::Exponent, exponents).target(TARGET))
}

/// The `k` of the `n^k` that fits the points best.
fn exponent(points: &[(f64, f64)]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a handful of points")]
    let count = points.len() as f64;
    let logs = || points.iter().map(|(n, time)| (n.ln(), time.ln()));
    let (sum_x, sum_y) = logs().fold((0.0, 0.0), |(x, y), (dx, dy)| (x + dx, y + dy));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (above, below) = logs()
        .fold((0.0, 0.0), |(above, below), (x, y)| (above + (x - mean_x) * (y - mean_y), below + (x - mean_x).powi(2)));
    above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found_whatever_its_factor() {
        for k in [0.0, 1.0, 1.3, 2.0] {
            let points: Vec<(f64, f64)> = SIZES.iter().map(|n| (f64::from(*n), 7e-6 * f64::from(*n).powf(k))).collect();
            assert!((exponent(&points) - k).abs() < 1e-9, "{k}");
        }
    }
}
