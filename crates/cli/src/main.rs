//! `rehome`, also as `kubectl rehome`: moves a running Kubernetes cluster onto different machines.
//!
//! Arguments, views and prompts. It decides nothing about clusters: that is the concern of the crates below it.

mod args;
mod command;
mod error;
mod ui;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    let (cli, invoked) = match args::parse(std::env::args_os()) {
        Ok(parsed) => parsed,
        Err(error) => return ui::usage(&error),
    };
    let mut ui = ui::Ui::new(&cli.global, invoked);
    match command::run(&cli.command, &mut ui) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            ui.error(&error);
            ExitCode::from(error.code)
        }
    }
}
