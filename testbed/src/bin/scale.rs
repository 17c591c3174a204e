//! `cargo xtask scale` starts it: a large cluster is moved on the real control plane, and the figures are printed.
//!
//! usage: scale [--nodes N] [--pods N] [--parallel N] [--drained N]

use std::process::ExitCode;

use rehome_testbed::scale::{ScaleError, Size, cluster, drained, moved, table};

/// What is measured by default: the issue's own figures. Sixty on the move at once are what keeps kwok's nodes and the
/// controllers of two cores busy; ten drained nodes are some hundred pods, enough for a mean.
const DEFAULT: Size = Size { nodes: 300, pods: 9000, parallel: 60, drained: 10 };

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(size) = size(&arguments) else {
        eprintln!("usage: scale [--nodes N] [--pods N] [--parallel N] [--drained N]");
        return ExitCode::from(2);
    };
    match measure(size, &|line| eprintln!("{line}")) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn size(arguments: &[String]) -> Option<Size> {
    let mut size = DEFAULT;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let number = words.next()?.parse().ok()?;
        match word.as_str() {
            "--nodes" => size.nodes = number,
            "--pods" => size.pods = number,
            "--parallel" => size.parallel = number,
            "--drained" => size.drained = number,
            _ => return None,
        }
    }
    Some(size)
}

fn measure(size: Size, say: &dyn Fn(&str)) -> Result<String, ScaleError> {
    moved::program()?;
    let plane = cluster::start(size, say)?;
    say("all pods are Ready on the old nodes");
    let moved = moved::run(&plane, size, say)?;
    // The first half of the table stands even if the second half is never measured.
    say(&table::text(size, &moved, None));
    let drained = if size.drained > 0 { Some(drained::run(&plane, size, say)?) } else { None };
    Ok(table::text(size, &moved, drained.as_ref()))
}
