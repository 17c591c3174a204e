//! `cargo xtask`: the project's own tasks. Each is a function of the tree, of cargo's metadata, or of test programs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]

use std::process::{Command, ExitCode};

use crate::boundaries::Packages;
use crate::complaint::Complaint;
use crate::workspace::{Tree, WorkspaceError, root};

mod bench;
mod boundaries;
mod complaint;
mod conforms;
mod fidelity;
mod generated;
mod scale;
mod schemas;
mod tidy;
mod tiers;
mod workspace;

/// How the tasks are called.
const USAGE: &str = "\
usage: cargo xtask TASK

  test [TIER…] [-- ARGUMENT…]  build and run the tests of all tiers, or of these: unit, scenario, control-plane;
                               arguments go to each test program (a part of a test's name, say)
  fidelity [--clusters N] [--seed S] [--no-coverage]
                               or --record: our model of kube-scheduler against kube-scheduler's own packages, on random clusters
  bench sched [ROW…]           how fast the scheduler's model and what rests on it are: the table P1 to P7
  scale [--nodes N] [--pods N] [--parallel N] [--drained N]
                               a large cluster moved on the real control plane: memory and requests, beside kubectl drain
  tidy [CHECK]                 rules about the tree: size, docs, completeness, format
  boundaries                   who may depend on what; licences, bans and sources of all dependencies
  gen [--check]                write the schemas and the corpus' digests; or say what differs
  fmt                          rustfmt on every tracked Rust file
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test", rest @ ..] => tiers::main(&root(), rest),
        ["fidelity", rest @ ..] => fidelity::main(&root(), rest),
        ["bench", "sched", rows @ ..] => bench::sched(&root(), rows),
        ["scale", rest @ ..] => scale::main(&root(), rest),
        ["tidy"] => tidy(None),
        ["tidy", name] => tidy(Some(name)),
        ["boundaries"] => boundaries(),
        ["gen"] => generate(),
        ["gen", "--check"] => generated::check(&root()).map(|found| report("gen", &found)),
        ["fmt"] => format(),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all checks, or the one with this name.
fn tidy(name: Option<&str>) -> Result<bool, WorkspaceError> {
    let checks: Vec<_> = tidy::CHECKS.iter().filter(|check| name.is_none_or(|name| name == check.name)).collect();
    if checks.is_empty() {
        let known: Vec<_> = tidy::CHECKS.iter().map(|check| check.name).collect();
        eprintln!("error: expected the name of a check ({}), found {:?}", known.join(", "), name.unwrap_or_default());
        return Ok(false);
    }
    let tree = Tree::tracked(&root())?;
    let mut good = true;
    for check in checks {
        good &= report(&format!("tidy {}", check.name), &(check.run)(&tree));
    }
    Ok(good)
}

fn boundaries() -> Result<bool, WorkspaceError> {
    let packages = Packages::of_metadata(&workspace::cargo_metadata(&root())?);
    println!("{} packages of ours, {} of others", packages.ours().count(), packages.theirs().count());
    Ok(report("boundaries", &boundaries::check(&packages)))
}

fn generate() -> Result<bool, WorkspaceError> {
    for line in generated::write(&root())? {
        println!("{line}");
    }
    // What only a person can write is said at once.
    let found = generated::check(&root())?;
    Ok(report("gen", &found))
}

fn format() -> Result<bool, WorkspaceError> {
    let tree = Tree::tracked(&root())?;
    let files: Vec<&str> = tree.rust().map(|(path, _)| path).collect();
    let mut good = true;
    for some in files.chunks(200) {
        let status = Command::new("rustfmt")
            .args(["--edition", "2024"])
            .args(some)
            .current_dir(root())
            .status()
            .map_err(|source| WorkspaceError::CannotRun { program: "rustfmt".to_owned(), source })?;
        good &= status.success();
    }
    Ok(good)
}

/// Prints the complaints and gives back whether there were none.
fn report(what: &str, found: &[Complaint]) -> bool {
    if found.is_empty() {
        println!("{what}: ok");
    } else {
        for complaint in found {
            println!("{complaint}");
        }
        println!("{what}: {} to mend", found.len());
    }
    found.is_empty()
}
