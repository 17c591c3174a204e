//! Takes the time of a piece of work: by the clock on the wall, and by what this thread had of a processor.
//!
//! Both, because a machine that others use tells the first too long; the second can't be told too short.

use std::time::Instant;

/// How long something took, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    /// By the clock on the wall.
    pub wall: f64,
    /// On a processor, by this thread. The same as `wall` where the system does not say.
    pub processor: f64,
}

/// Does something and says how long it took.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let (began, had) = (Instant::now(), on_processor());
    let result = work();
    let wall = began.elapsed().as_secs_f64();
    let processor = had.zip(on_processor()).map_or(wall, |(before, after)| after - before);
    (result, Took { wall, processor })
}

/// Seconds that this thread ran. Source: Linux, `Documentation/scheduler/sched-stats.rst`, `/proc/<pid>/schedstat`: the
/// first number is the time spent on the cpu in nanoseconds.
fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "days of nanoseconds are exact enough")]
    Some(nanoseconds as f64 / 1e9)
}
