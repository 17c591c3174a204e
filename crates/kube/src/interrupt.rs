//! Interrupts of the process (SIGINT, and SIGTERM where there is one): the first asks to stop, the second stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Connection;

/// Listens as long as the connection lives. The first interrupt sets `stop` and calls `asked`; the second calls `now`,
/// which is expected not to return: everything that matters is on stable storage at any instant.
pub fn listen(
    connection: &Connection,
    stop: Arc<AtomicBool>,
    asked: impl Fn() + Send + 'static,
    now: impl Fn() + Send + 'static,
) {
    connection.runtime().spawn(async move {
        while interrupted().await {
            if stop.swap(true, Ordering::SeqCst) {
                now();
            } else {
                asked();
            }
        }
    });
}

/// Waits for an interrupt; `false` when there is no way to hear of one.
#[cfg(unix)]
async fn interrupted() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return false };
    tokio::select! {
        heard = tokio::signal::ctrl_c() => heard.is_ok(),
        heard = terminate.recv() => heard.is_some(),
    }
}

/// Waits for an interrupt; `false` when there is no way to hear of one.
#[cfg(not(unix))]
async fn interrupted() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
