//! The one error of the command line: an exit code, what was being done, why it did not work, and what to do next.

use std::error::Error;

use rehome_model::exit;

/// Why a command ended without its result.
#[derive(Debug)]
pub(crate) struct CliError {
    /// One of [`rehome_model::exit`].
    pub(crate) code: u8,
    /// What did not work, in one sentence.
    pub(crate) message: String,
    /// Why, from the nearest cause to the farthest.
    pub(crate) causes: Vec<String>,
    /// What to do about it: commands, or a sentence.
    pub(crate) next: Vec<String>,
}

impl CliError {
    /// An error with this exit code.
    pub(crate) fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), causes: Vec::new(), next: Vec::new() }
    }

    /// Wrong usage, or input that cannot be read.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, message)
    }

    /// A fault of rehome or of the machine that it runs on.
    pub(crate) fn unexpected(message: impl Into<String>) -> Self {
        Self::new(exit::UNEXPECTED, message)
    }

    /// Adds an error and all that it rests on. A cause that its parent's sentence ends with already is not said twice.
    pub(crate) fn because(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(cause) = next {
            let text = cause.to_string();
            let said = self.causes.last().unwrap_or(&self.message);
            if !said.ends_with(&text) {
                self.causes.push(text);
            }
            next = cause.source();
        }
        self
    }

    /// Adds a cause in words.
    pub(crate) fn why(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Adds what to do next.
    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next.push(next.into());
        self
    }
}
