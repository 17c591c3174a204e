//! Real time: the one place of the testbed that reads the clock and waits. Nothing waits for a fixed time: what is
//! waited for is a condition, asked again and again until it holds or the limit has passed.

use std::time::{Duration, Instant};

use rehome_model::Timestamp;

/// How often a condition is asked again: fast against the second or so that a control plane takes for anything, and
/// slow enough that asking costs nothing on two cores.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// Something did not happen in time.
#[derive(Debug, thiserror::Error)]
#[error("waited {waited:?} for {what}; it did not come{}", last.as_deref().map(|l| format!(": {l}")).unwrap_or_default())]
pub struct TimedOut {
    /// What was waited for.
    pub what: String,
    /// For how long.
    pub waited: Duration,
    /// What was found instead, the last time.
    pub last: Option<String>,
}

/// The time now.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the testbed lives in real time")]
pub fn now() -> Timestamp {
    jiff::Timestamp::now().into()
}

#[expect(clippy::disallowed_methods, reason = "the testbed lives in real time")]
fn instant() -> Instant {
    Instant::now()
}

/// Asks until the answer is `Ok`, at most for `limit`. The last `Err` says what was found instead.
///
/// # Errors
/// The limit has passed.
#[expect(clippy::disallowed_methods, reason = "the testbed lives in real time")]
pub fn wait_for<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Result<T, String>) -> Result<T, TimedOut> {
    let began = instant();
    loop {
        match ask() {
            Ok(value) => return Ok(value),
            Err(last) if began.elapsed() >= limit => {
                return Err(TimedOut { what: what.to_owned(), waited: limit, last: Some(last) });
            }
            Err(_) => std::thread::sleep(ASK_AGAIN),
        }
    }
}

/// As [`wait_for`], for a question that is asked asynchronously.
///
/// # Errors
/// The limit has passed.
pub async fn wait_for_async<T>(
    what: &str,
    limit: Duration,
    mut ask: impl AsyncFnMut() -> Result<T, String>,
) -> Result<T, TimedOut> {
    let began = instant();
    loop {
        match ask().await {
            Ok(value) => return Ok(value),
            Err(last) if began.elapsed() >= limit => {
                return Err(TimedOut { what: what.to_owned(), waited: limit, last: Some(last) });
            }
            Err(_) => tokio::time::sleep(ASK_AGAIN).await,
        }
    }
}
