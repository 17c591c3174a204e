//! `cargo xtask test`: every tier of tests that this machine can run.
//!
//! All test programs are built by one call of cargo, with one set of features, so that nothing is compiled twice; then
//! they are run here one by one (those that mostly wait beside the others), so that it can be said what each tier ran, and where the time went.

use std::path::Path;
use std::time::Instant;

use crate::workspace::{WorkspaceError, environment};

mod doc;
mod programs;
mod run;
mod summary;
mod verdict;

use programs::TestProgram;
use summary::Summary;
use verdict::Verdict;

/// A tier: tests that need the same things of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// Tests beside the code they test: tables and properties. Need nothing.
    Unit,
    /// Tests of whole crates, of the program and of cases in the simulated world. Need nothing.
    Scenario,
    /// Tests on a real Prometheus. Need its programs.
    Prometheus,
    /// Tests on a real etcd, API server, controller manager and scheduler. Need these programs, or Go to build them.
    ControlPlane,
}

impl Tier {
    /// All tiers, the cheapest first.
    pub(crate) const ALL: [Self; 4] = [Self::Unit, Self::Scenario, Self::Prometheus, Self::ControlPlane];

    /// Its name on the command line.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Scenario => "scenario",
            Self::Prometheus => "prometheus",
            Self::ControlPlane => "control-plane",
        }
    }
}

/// Runs the tiers that the arguments name and prints a table. Gives back whether all is well.
///
/// # Errors
/// Fails when cargo cannot be run.
pub(crate) fn main(root: &Path, arguments: &[&str]) -> Result<bool, WorkspaceError> {
    let (tiers, passed_on) = match parse(arguments) {
        Ok(parsed) => parsed,
        Err(unknown) => {
            let known: Vec<_> = Tier::ALL.iter().map(|tier| tier.name()).collect();
            eprintln!("error: expected a tier ({}), found {unknown:?}", known.join(", "));
            return Ok(false);
        }
    };
    let mut summary = Summary::default();

    let (built, took) = timed(|| programs::build(root));
    summary.spent("build of the tests", took);
    let Some(built) = built? else {
        eprintln!("error: the tests could not be built");
        println!("0 passed, 1 failed");
        return Ok(false);
    };

    let mut assets = None;
    if tiers.contains(&Tier::ControlPlane) {
        let (found, took) = timed(|| programs::control_plane(&built));
        summary.spent("build of the control plane", took);
        match found {
            Ok(folder) => assets = Some(folder),
            Err(why) => summary.not_run(Tier::ControlPlane, why),
        }
    }
    let mut prometheus = false;
    if tiers.contains(&Tier::Prometheus) {
        match programs::prometheus() {
            Ok(()) => prometheus = true,
            Err(why) => summary.not_run(Tier::Prometheus, why),
        }
    }
    let runnable = |program: &&TestProgram| {
        let has_what_it_needs = match program.tier {
            Tier::ControlPlane => assets.is_some(),
            Tier::Prometheus => prometheus,
            Tier::Unit | Tier::Scenario => true,
        };
        tiers.contains(&program.tier) && has_what_it_needs
    };
    let (beside, others): (Vec<_>, Vec<_>) = built.tests.iter().filter(runnable).partition(|program| program.beside());
    let one = |program: &TestProgram, say: &mut dyn FnMut(&str)| {
        timed(|| run::run(program, assets.as_deref(), &passed_on, say))
    };
    std::thread::scope(|scope| -> Result<(), WorkspaceError> {
        // Those that mostly wait run beside those that don't, once the cheap tiers are through; what they say is kept
        // until they have ended.
        let mut waiting = None;
        for program in others {
            if program.tier == Tier::ControlPlane && waiting.is_none() {
                waiting = Some(scope.spawn(|| second_lane(&beside, &one)));
            }
            let (verdict, took) = one(program, &mut |line| println!("{line}"));
            summary.ran(program, verdict?, took);
        }
        let lane = match waiting {
            Some(lane) => lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => second_lane(&beside, &one),
        };
        for (program, lines, verdict, took) in lane {
            println!("{lines}");
            summary.ran(program, verdict?, took);
        }
        Ok(())
    })?;
    if tiers.contains(&Tier::Unit) && doc::any(root)? {
        let (verdict, took) = timed(|| doc::run(root, &passed_on));
        summary.ran_doc_tests(verdict?, took);
    }
    Ok(summary.print(&tiers, environment("CI").as_deref() == Some("true")))
}

/// What a program said, how it ended, and after how many seconds.
type Ended<'p> = (&'p TestProgram, String, Result<Verdict, WorkspaceError>, f64);

/// Runs one program, and gives its lines to somebody as they come.
type One<'a> = dyn Fn(&TestProgram, &mut dyn FnMut(&str)) -> (Result<Verdict, WorkspaceError>, f64) + Sync + 'a;

/// Runs programs one after the other and keeps what they say.
fn second_lane<'p>(programs: &[&'p TestProgram], one: &One<'_>) -> Vec<Ended<'p>> {
    let run = |program: &&'p TestProgram| {
        let mut lines = String::new();
        let (verdict, took) = one(program, &mut |line| {
            lines.push_str(line);
            lines.push('\n');
        });
        (*program, lines, verdict, took)
    };
    programs.iter().map(run).collect()
}

/// The tiers that are asked for, all when none is named, and what goes to the test programs.
fn parse<'a>(arguments: &[&'a str]) -> Result<(Vec<Tier>, Vec<&'a str>), &'a str> {
    let (names, passed_on) = match arguments.iter().position(|argument| *argument == "--") {
        Some(at) => (&arguments[..at], arguments[at + 1..].to_vec()),
        None => (arguments, Vec::new()),
    };
    let mut tiers = Vec::new();
    for name in names {
        tiers.push(*Tier::ALL.iter().find(|tier| tier.name() == *name).ok_or(*name)?);
    }
    Ok((if tiers.is_empty() { Tier::ALL.to_vec() } else { tiers }, passed_on))
}

/// Runs something and says how many seconds it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    #[expect(clippy::disallowed_methods, reason = "how long a test takes on this machine is what is asked here")]
    let begun = Instant::now();
    let result = work();
    (result, begun.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_all_tiers_and_a_wrong_one_is_refused() {
        assert_eq!(parse(&[]), Ok((Tier::ALL.to_vec(), vec![])));
        assert_eq!(parse(&["unit", "--", "budget"]), Ok((vec![Tier::Unit], vec!["budget"])));
        assert_eq!(parse(&["units"]), Err("units"));
    }
}
