//! The terminal: results go to standard output, everything else to standard error.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use rehome_model::document::Document;
use rehome_model::exit;

use crate::args::{Global, Invoked, Output};
use crate::error::CliError;

/// Names, headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// What is less important.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Done, passed.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Warnings, waiting.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();
/// Errors, blockers.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Text in a style; the streams take it out again where there is no terminal.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Standard output and standard error, as the arguments want them.
pub(crate) struct Ui {
    invoked: Invoked,
    output: Option<Output>,
    quiet: bool,
    /// Set once the reader of standard output has gone: nothing more is written, and nobody complains.
    closed: bool,
}

impl Ui {
    pub(crate) fn new(global: &Global, invoked: Invoked) -> Self {
        global.color.apply();
        Self { invoked, output: global.output, quiet: global.quiet, closed: false }
    }

    /// `rehome` or `kubectl rehome`.
    pub(crate) fn program(&self) -> &'static str {
        self.invoked.program()
    }

    /// Whether rows may be wide.
    pub(crate) fn wide(&self) -> bool {
        self.output == Some(Output::Wide)
    }

    /// Whether the result is for a program.
    pub(crate) fn structured(&self) -> bool {
        matches!(self.output, Some(Output::Json | Output::Yaml))
    }

    /// Whether standard error is for errors only.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether a person can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether a bar can be drawn.
    pub(crate) fn can_draw(&self) -> bool {
        io::stderr().is_terminal() && !self.quiet
    }

    /// Writes to standard output.
    pub(crate) fn out(&mut self, text: &str) -> Result<(), CliError> {
        if self.closed {
            return Ok(());
        }
        let mut stdout = anstream::AutoStream::auto(io::stdout().lock());
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.closed = true,
            Err(error) => return Err(CliError::unexpected("standard output could not be written").because(&error)),
            Ok(()) => {}
        }
        Ok(())
    }

    /// A result that is no document of its own: what `text` says of it is for people.
    pub(crate) fn result<T: serde::Serialize + ?Sized>(
        &mut self,
        result: &T,
        text: impl FnOnce(bool) -> String,
        names: impl FnOnce() -> Vec<String>,
    ) -> Result<(), CliError> {
        let value = serde_json::to_value(result)
            .map_err(|error| CliError::unexpected("the result has no JSON").because(&error))?;
        self.value(&value, text, names)
    }

    /// Writes a line to standard error, unless quiet. A standard error that is gone is nobody's concern.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            line(text);
        }
    }

    /// The format in which a document goes to standard output when none was asked for: a document that another command
    /// reads is written as such where nobody looks.
    pub(crate) fn for_the_next_command(&mut self) {
        if !io::stdout().is_terminal() {
            self.output = self.output.or(Some(Output::Json));
        }
    }

    /// A document in the format that was asked for; `text` is what a person reads, `names` the objects in it.
    pub(crate) fn document<D: Document>(
        &mut self,
        document: &D,
        text: impl FnOnce(bool) -> String,
        names: impl FnOnce() -> Vec<String>,
    ) -> Result<(), CliError> {
        self.result(document, text, names)
    }

    fn value(
        &mut self,
        value: &serde_json::Value,
        text: impl FnOnce(bool) -> String,
        names: impl FnOnce() -> Vec<String>,
    ) -> Result<(), CliError> {
        let unexpected = |error: &dyn std::error::Error| CliError::unexpected("the result has no JSON").because(error);
        let text = match self.output.unwrap_or(Output::Table) {
            Output::Table | Output::Wide => text(self.wide()),
            Output::Json => serde_json::to_string_pretty(value).map_err(|error| unexpected(&error))? + "\n",
            Output::Yaml => serde_saphyr::to_string(value).map_err(|error| unexpected(&error))?,
            Output::Name => names().iter().map(|name| format!("{name}\n")).collect(),
        };
        self.out(&text)
    }

    /// Asks for a line of text.
    pub(crate) fn ask(&self, question: &str) -> Result<String, CliError> {
        let mut stderr = anstream::AutoStream::auto(io::stderr().lock());
        let mut answer = String::new();
        write!(stderr, "{question}")
            .and_then(|()| stderr.flush())
            .and_then(|()| io::stdin().read_line(&mut answer))
            .map_err(|error| CliError::usage("no answer could be read").because(&error))?;
        Ok(answer.trim().to_owned())
    }

    /// An error, its causes, and what to do next.
    pub(crate) fn error(&self, error: &CliError) {
        let kind = match error.code {
            exit::BLOCKED => "blocked",
            exit::STALE => "stale",
            exit::STUCK => "stuck",
            exit::INTERRUPTED => "interrupted",
            exit::VERIFICATION_FAILED => "failed",
            _ => "error",
        };
        line(&format!("{} {}", paint(BAD, format!("{kind}:")), error.message));
        for cause in &error.causes {
            let mut rows = cause.lines();
            line(&format!("  because {}", rows.next().unwrap_or_default()));
            for row in rows {
                line(&format!("          {row}"));
            }
        }
        for next in &error.next {
            line(&format!("{} {}", paint(BOLD, "next:"), next.replace("rehome ", &format!("{} ", self.program()))));
        }
    }
}

/// Writes a line to standard error, whatever was asked for.
pub(crate) fn line(text: &str) {
    let mut stderr = anstream::AutoStream::auto(io::stderr().lock());
    let _ = writeln!(stderr, "{text}");
}

/// Help, version, or wrong usage, as clap says it.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Help goes to standard output; that its reader has gone is nobody's concern.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(exit::USAGE) } else { ExitCode::from(exit::DONE) }
}
