//! Finds or builds the programs of the control plane and prints the folder that holds them. `cargo xtask test` runs
//! it before the tests, so that no test has to wait for a build.

use std::process::ExitCode;

use rehome_testbed::assets::Assets;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]
fn main() -> ExitCode {
    match Assets::find(&|line| eprintln!("{line}")) {
        Ok(assets) => {
            println!("{}", assets.folder().display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
