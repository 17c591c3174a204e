//! Everything moved with the built program: capture, plan, approval, execution.

use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use k8s_openapi::api::rbac::v1::PolicyRule;
use rehome_model::journal::{Event, Record};
use rehome_model::plan::Plan;
use rehome_model::time::Seconds;
use rehome_model::verb::Verb;
use rehome_run::critical_path::{self, CriticalPath};
use serde::Deserialize as _;
use serde_json::Value;

use super::cluster::{self, MOVER};
use super::measured::{self, Cost};
use super::requests::Requests;
use super::{ScaleError, Size};
use crate::clock;
use crate::control_plane::ControlPlane;

/// What the move cost.
#[derive(Clone, Debug)]
pub struct Moved {
    /// Pods that were moved, by their receipts.
    pub pods: usize,
    /// Rollouts among the ways in which they moved.
    pub rollouts: usize,
    /// What the commands before the run cost: capture and plan.
    pub before: Vec<(&'static str, Cost)>,
    /// What the run cost.
    pub run: Cost,
    /// What the run asked the API server, from its first read to its last.
    pub requests: Requests,
    /// The size of the journal, in bytes.
    pub journal: u64,
    /// The least that a run of these steps can take.
    pub critical_path: CriticalPath,
    /// From the journal's first record to its last.
    pub took: Seconds,
}

/// The built program beside this one, or in the folder above, where test programs have it.
///
/// # Errors
/// It is not built.
pub fn program() -> Result<PathBuf, ScaleError> {
    let own = std::env::current_exe()?;
    let folder = own.parent().map(Path::to_owned).unwrap_or_default();
    let above = folder.parent().map(Path::to_owned).unwrap_or_default();
    let found = [&folder, &above].map(|folder| folder.join("rehome")).into_iter().find(|path| path.is_file());
    found.ok_or_else(|| ScaleError::NotBuilt(folder.join("rehome")))
}

/// Moves all pods from the old nodes to the new ones.
///
/// # Errors
/// See [`ScaleError`]; a pod that is not on a new node is one.
pub fn run(plane: &ControlPlane, size: Size, say: &dyn Fn(&str)) -> Result<Moved, ScaleError> {
    let program = program()?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let kubeconfig = mover(plane)?;
    let kubeconfig = kubeconfig.to_string_lossy();
    let parallel = size.parallel.to_string();
    let call = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.current_dir(folder).args(arguments).env_remove("KUBECONFIG").env("HOME", folder);
        measured::run(command, &[0])
    };
    let mut before = Vec::new();
    before.push(("capture", call(&["capture", "--kubeconfig", &kubeconfig, "--out", "before.json"])?));
    let plan = [
        "plan",
        "--snapshot",
        "before.json",
        "--from",
        "pool=old",
        "--to",
        "pool=new",
        "--parallel",
        &parallel,
        "--out",
        "plan.json",
    ];
    before.push(("plan", call(&plan)?));
    call(&["approve", "--plan", "plan.json", "--by", "tester", "--out", "approval.json"])?;
    say("planned and approved; it runs");
    let from = clock::now();
    let run = call(&[
        "execute",
        "--kubeconfig",
        &kubeconfig,
        "--plan",
        "plan.json",
        "--approval",
        "approval.json",
        "--journal",
        "journal.jsonl",
    ])?;
    astray(plane, "new")?;
    let requests = Requests::of(&plane.audit_log(), MOVER, from)?;
    let journal = fs::read(folder.join("journal.jsonl"))?;
    let records = rehome_engine::journal::read(&journal).map_err(std::io::Error::other)?.records;
    let plan: Plan = serde_json::from_slice(&fs::read(folder.join("plan.json"))?)?;
    let receipts = |record: &&Record| matches!(record.event, Event::Moved { .. });
    let took = match (records.first(), records.last()) {
        (Some(first), Some(last)) => last.at - first.at,
        _ => Seconds::ZERO,
    };
    Ok(Moved {
        pods: records.iter().filter(receipts).count(),
        rollouts: plan.steps().filter(|step| matches!(step.verb, Verb::Restart(_))).count(),
        before,
        run,
        requests,
        journal: journal.len() as u64,
        critical_path: critical_path::of(&plan, &critical_path::took(&records)),
        took,
    })
}

/// Fails if a pod is on a node of another pool.
pub(super) fn astray(plane: &ControlPlane, pool: &str) -> Result<(), ScaleError> {
    let prefix = format!("{pool}-");
    let placements = cluster::placements(plane)?;
    let astray: Vec<&(String, String)> = placements.iter().filter(|(_, node)| !node.starts_with(&prefix)).collect();
    match astray.first() {
        None => Ok(()),
        Some((pod, node)) => Err(ScaleError::Astray { count: astray.len(), first: format!("{pod} on {node:?}") }),
    }
}

/// The kubeconfig of a user who has just the rights of `deploy/rbac.yaml`.
fn mover(plane: &ControlPlane) -> Result<PathBuf, ScaleError> {
    let objects: Vec<Value> =
        serde_saphyr::from_multiple(include_str!("../../../deploy/rbac.yaml")).map_err(std::io::Error::other)?;
    let (roles, others): (Vec<Value>, Vec<Value>) =
        objects.into_iter().partition(|object| object["kind"].as_str().is_some_and(|kind| kind.ends_with("Role")));
    for object in others {
        plane.apply(&object.to_string())?;
    }
    let mut rules = Vec::new();
    for role in roles {
        rules.extend(Vec::<PolicyRule>::deserialize(&role["rules"])?);
    }
    Ok(plane.identity(MOVER, &rules)?.kubeconfig)
}
