//! Nothing stays behind, however the test that started a control plane ends.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options};

use crate::workload::LIMIT;

/// Set in the process that is to be killed.
const VICTIM: &str = "REHOME_TESTBED_VICTIM";

/// Processes that have the folder in their command line.
fn processes_of(folder: &Path) -> usize {
    let folder = folder.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(folder)).count()
}

fn wait_until_nothing_is_left_of(folder: &Path) {
    clock::wait_for("processes and folder to go", LIMIT, || match (processes_of(folder), folder.exists()) {
        (0, false) => Ok(()),
        (processes, exists) => Err(format!("{processes} processes, folder there: {exists}")),
    })
    .unwrap();
}

/// Is no test, but the process that the next test kills.
#[test]
fn victim() {
    if std::env::var_os(VICTIM).is_some() {
        let plane = ControlPlane::shared().unwrap();
        println!("\nfolder {}", plane.folder().display());
        // Until we are killed, or the test has gone.
        let _ = std::io::stdin().read(&mut [0]);
    }
}

#[test]
fn kill_9_of_the_process_takes_the_shared_control_plane_with_it() {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lifetime::victim", "--nocapture"])
        .env(VICTIM, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines().map_while(Result::ok);
    let folder = lines.filter_map(|line| line.strip_prefix("folder ").map(PathBuf::from)).next();
    let folder = folder.expect("the victim's folder");
    assert!(processes_of(&folder) >= 5, "etcd, three of Kubernetes, kwok");
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until_nothing_is_left_of(&folder);
}

#[test]
fn a_panic_takes_its_own_control_plane_with_it() {
    let folder = std::sync::Mutex::new(PathBuf::new());
    let panicked = std::panic::catch_unwind(|| {
        let plane = ControlPlane::start(&Options::default()).unwrap();
        plane.folder().clone_into(&mut folder.lock().unwrap());
        panic!("as a failing test does");
    });
    assert!(panicked.is_err());
    wait_until_nothing_is_left_of(&folder.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
}
