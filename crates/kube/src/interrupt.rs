//! Interrupts of the process (SIGINT, and SIGTERM where there is one): the first asks to stop, the second stops.

use std::io;

use crate::Connection;

/// Listens as long as the connection lives, from when this returns. The first interrupt calls `asked`; the second calls
/// `now`, which is expected not to return: everything that matters is on stable storage at any instant.
///
/// # Errors
/// The process cannot hear of interrupts.
pub fn listen(
    connection: &Connection,
    asked: impl FnOnce() + Send + 'static,
    now: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let mut interrupts = {
        let _inside = connection.runtime().enter();
        Interrupts::new()?
    };
    connection.runtime().spawn(async move {
        interrupts.next().await;
        asked();
        interrupts.next().await;
        now();
    });
    Ok(())
}

/// The signals: one stream for each, kept, so that none is lost between two.
#[cfg(unix)]
struct Interrupts {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Interrupts {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ctrl-C.
#[cfg(windows)]
struct Interrupts {
    interrupt: tokio::signal::windows::CtrlC,
}

#[cfg(windows)]
impl Interrupts {
    fn new() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    async fn next(&mut self) {
        self.interrupt.recv().await;
    }
}
