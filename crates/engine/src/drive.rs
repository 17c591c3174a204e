//! The one loop that carries out what the machine says.

use rehome_model::journal::Record;

use crate::journal::StoreFailed;

/// How a drive ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All steps are done, or all that could be put back was.
    Finished(rehome_model::journal::Verdict),
    /// It cannot go on without a person. Resumable.
    Stuck {
        /// The step.
        step: String,
        /// What is wrong.
        cause: String,
        /// What to do, in order.
        instructions: Vec<String>,
    },
    /// Somebody asked to stop. Resumable.
    Interrupted,
}

/// Why a drive could not go on.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// A record could not be kept: nothing was sent after it.
    #[error(transparent)]
    Store(#[from] StoreFailed),
}

/// Somebody who follows a run: the progress view, the rehearsal's statistics.
pub trait Observer {
    /// A record was written.
    fn recorded(&mut self, record: &Record);

    /// The run waits at a step, and why. Called again only when the reason changes.
    fn waiting(&mut self, step: &str, reason: &str);
}
