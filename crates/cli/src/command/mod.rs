//! One file per command: it reads what it needs, calls one use case of `rehome-run`, and shows the result.

mod approve;
mod capture;
mod check;
mod connect;
mod copy;
mod demo;
mod execute;
mod input;
mod interrupts;
mod permitted;
mod plan;
mod proceed;
mod rbac;
mod rehearse;
mod running;
mod show;
mod size;
mod status;
mod verify;
mod version;
mod wish;

use crate::args::Command;
use crate::error::CliError;
use crate::ui::Ui;
use proceed::Direction;

/// Runs a command and returns its exit code.
pub(crate) fn run(command: &Command, ui: &mut Ui) -> Result<u8, CliError> {
    match command {
        Command::Approve(args) => approve::run(args, ui),
        Command::Capture(args) => capture::run(args, ui),
        Command::Check(args) => check::run(args, ui),
        Command::Demo(args) => demo::run(args, ui),
        Command::Execute(args) => execute::run(args, ui),
        Command::Plan(args) => plan::run(args, ui),
        Command::Rbac(args) => rbac::run(args, ui),
        Command::Rehearse(args) => rehearse::run(args, ui),
        Command::Resume(args) => proceed::run(args, Direction::Forward, ui),
        Command::Rollback(args) => proceed::run(args, Direction::Back, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Size(args) => size::run(args, ui),
        Command::Status(args) => status::run(args, ui),
        Command::Verify(args) => verify::run(args, ui),
        Command::Version => version::run(ui),
    }
}
