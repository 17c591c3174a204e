//! Interrupts of a run: once lets the steps under way end, twice ends the process.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rehome_kube::{Connection, KubeWorld, interrupt};
use rehome_model::exit;

use crate::error::CliError;

/// Whether somebody has interrupted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    asked: Arc<AtomicBool>,
}

impl Interrupts {
    /// The world tells the engine.
    pub(crate) fn tell(&self, world: &mut KubeWorld) {
        world.wind_down_when(Arc::clone(&self.asked));
    }

    /// From here on, an interrupt does not end the process by itself. Not before the first write: until then there is
    /// nothing to bring to an end, and a person at a prompt who interrupts wants to be gone.
    pub(crate) fn listen(
        &self,
        connection: &Connection,
        say: impl Fn(&str) + Clone + Send + 'static,
        resume: String,
    ) -> Result<(), CliError> {
        let (asked, at_once) = (Arc::clone(&self.asked), say.clone());
        let first = move || {
            asked.store(true, Ordering::SeqCst);
            say("interrupted: the steps under way are seen through, no other is begun; once more stops at once");
        };
        let second = move || {
            at_once(&format!("stopped at once; what was sent is in the journal\nnext: {resume}"));
            process::exit(i32::from(exit::INTERRUPTED));
        };
        interrupt::listen(connection, first, second)
            .map_err(|error| CliError::unexpected("interrupts cannot be heard of").because(&error))
    }
}
