//! Builds the test programs, and finds or builds the programs of a control plane.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Tier;
use crate::workspace::{WorkspaceError, cargo};

/// The package whose tests need a control plane.
const TESTBED: &str = "rehome-testbed";
/// Its program that finds or builds one and prints the folder.
const BUILD_CONTROL_PLANE: &str = "build-control-plane";

/// Tests on a control plane that take turns among themselves, and mostly wait: for a lease to run out, for a grace period.
const TURNS: [&str; 2] = ["privilege", "two_actors"];

/// Test files that need a program of a system package, and which.
const PROMETHEUS: (&str, [&str; 2]) = ("prometheus", ["prometheus", "promtool"]);

/// What asks for the tests with rules of the scheduler's model made wrong: they need a build of their own, so that
/// everything else is tested as it is shipped.
const MUTANTS: [&str; 4] = ["--features", "rehome-mutants/mutants", "--test", "mutants"];

/// What cargo built.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// The test programs, by tier and then by package and name.
    pub(crate) tests: Vec<TestProgram>,
    /// The program that finds or builds a control plane.
    pub(crate) build_control_plane: Option<PathBuf>,
}

/// One test program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TestProgram {
    /// What it needs.
    pub(crate) tier: Tier,
    /// The package.
    pub(crate) package: String,
    /// The library, program or file that it tests.
    pub(crate) target: String,
    /// The folder of the package: where its tests expect to be run.
    pub(crate) folder: PathBuf,
    /// The program.
    pub(crate) executable: PathBuf,
}

/// Builds all test programs of the workspace, and the programs that they call; `None` when something did not compile.
///
/// # Errors
/// Fails when cargo cannot be run.
pub(crate) fn build(root: &Path) -> Result<Option<Built>, WorkspaceError> {
    let mut built = Built::default();
    // All members, so that libraries of others have the same features in both.
    for wanted in [&[][..], &MUTANTS] {
        if !built.add(root, wanted)? {
            return Ok(None);
        }
    }
    built.tests.sort();
    Ok(Some(built))
}

impl TestProgram {
    /// Whether it may run beside others: it keeps no processor busy.
    pub(crate) fn beside(&self) -> bool {
        self.tier == Tier::ControlPlane && TURNS.contains(&self.target.as_str())
    }
}

impl Built {
    /// Builds what the arguments name besides; whether it compiled.
    fn add(&mut self, root: &Path, wanted: &[&str]) -> Result<bool, WorkspaceError> {
        let mut child = cargo()
            .args(["test", "--release", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"])
            .args(wanted)
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| WorkspaceError::CannotRun { program: "cargo".to_owned(), source })?;
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                // Lines that are no messages are what build scripts print.
                if let Ok(message) = serde_json::from_str::<Value>(&line?) {
                    self.take(&message);
                }
            }
        }
        Ok(child.wait()?.success())
    }

    /// Notes the program that a message of cargo's announces.
    fn take(&mut self, message: &Value) {
        let (Some("compiler-artifact"), Some(executable)) =
            (message["reason"].as_str(), message["executable"].as_str().map(PathBuf::from))
        else {
            return;
        };
        let Some(target) = message["target"]["name"].as_str() else { return };
        let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
        if message["profile"]["test"] == true {
            let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
            let package = package_name(message["package_id"].as_str().unwrap_or_default());
            self.tests.push(TestProgram {
                tier: tier(&package, kind, target),
                package,
                target: target.to_owned(),
                folder: manifest.parent().unwrap_or(Path::new(".")).to_path_buf(),
                executable,
            });
        } else if target == BUILD_CONTROL_PLANE {
            self.build_control_plane = Some(executable);
        }
    }
}

/// The tier of a target.
fn tier(package: &str, kind: &str, target: &str) -> Tier {
    match kind {
        _ if package == TESTBED => Tier::ControlPlane,
        "test" if target == PROMETHEUS.0 => Tier::Prometheus,
        "test" => Tier::Scenario,
        _ => Tier::Unit,
    }
}

/// The name in a package id: `path+file:///x/crates/model#rehome-model@0.1.0`, or `…/xtask#0.1.0` where the folder has
/// the name of the package.
fn package_name(id: &str) -> String {
    let (place, name) = id.rsplit_once('#').unwrap_or(("", id));
    match name.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => place.rsplit('/').next().unwrap_or(name).to_owned(),
    }
}

/// The folder with the programs of a control plane, or why there is none.
///
/// # Errors
/// The reason, with how to mend it.
pub(crate) fn control_plane(built: &Built) -> Result<String, String> {
    let Some(program) = &built.build_control_plane else {
        return Err(format!("{TESTBED} has no program {BUILD_CONTROL_PLANE}"));
    };
    let done = Command::new(program)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    } else {
        Err("etcd, kube-apiserver and the others could neither be found nor built (see above)".to_owned())
    }
}

/// Whether the programs of a Prometheus are there.
///
/// # Errors
/// Which is not, with how to mend it.
pub(crate) fn prometheus() -> Result<(), String> {
    for program in PROMETHEUS.1 {
        let there = Command::new(program).arg("--version").stdin(Stdio::null()).output();
        if !there.is_ok_and(|done| done.status.success()) {
            return Err(format!("{program} is not installed: apt-get install prometheus, or your system's package"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_are_sorted_into_tiers() {
        let mut built = Built::default();
        for (package, kind, test) in [
            ("rehome-sim", "lib", true),
            ("rehome-sim", "test", true),
            (TESTBED, "test", true),
            (TESTBED, "bin", false),
        ] {
            built.take(&json!({
                "reason": "compiler-artifact", "executable": "x", "package_id": format!("path+file:///a/b#{package}@0.1.0"),
                "manifest_path": "/a/b/Cargo.toml", "profile": {"test": test},
                "target": {"name": if test { "t" } else { BUILD_CONTROL_PLANE }, "kind": [kind]},
            }));
        }
        let tiers: Vec<_> = built.tests.iter().map(|program| program.tier).collect();
        assert_eq!(tiers, [Tier::Unit, Tier::Scenario, Tier::ControlPlane]);
        assert!(built.build_control_plane.is_some());
    }

    #[test]
    fn a_package_is_named_in_its_id_or_by_its_folder() {
        assert_eq!(package_name("path+file:///x/crates/model#rehome-model@0.1.0"), "rehome-model");
        assert_eq!(package_name("path+file:///x/xtask#0.1.0"), "xtask");
    }
}
