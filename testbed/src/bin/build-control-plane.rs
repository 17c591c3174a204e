//! Finds or builds the programs of the control plane and prints the folder that holds them, and builds those of the
//! scheduler's oracle. `cargo xtask test` runs it before the tests, so that no test has to wait for a build.

use std::process::ExitCode;

use rehome_testbed::assets::Assets;
use rehome_testbed::oracle;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]
fn main() -> ExitCode {
    for version in oracle::Version::ALL {
        // Only the oracle's own tests need it, and they will say the same.
        if let Err(error) = oracle::find(version, &|line| eprintln!("{line}")) {
            eprintln!("error: {error}");
        }
    }
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
