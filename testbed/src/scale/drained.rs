//! The same pods moved back with `kubectl drain`, node by node: some nodes, as a sample.
//!
//! Every node of the new pool is cordoned first, as runbooks have it, and the old pool is opened again.

use std::process::Command;

use rehome_model::verb::FENCE_TAINT;

use super::cluster::{self, DRAINER};
use super::measured::{self, Cost};
use super::requests::Requests;
use super::{ScaleError, Size};
use crate::clock;
use crate::control_plane::{ControlPlane, everything};

/// What the drains cost.
#[derive(Clone, Debug)]
pub struct Drained {
    /// Nodes that were drained.
    pub nodes: usize,
    /// Pods that were on them.
    pub pods: usize,
    /// What the drains cost, one after the other.
    pub run: Cost,
    /// What kubectl asked the API server.
    pub requests: Requests,
}

/// Drains some of the new nodes.
///
/// # Errors
/// See [`ScaleError`].
pub fn run(plane: &ControlPlane, size: Size, say: &dyn Fn(&str)) -> Result<Drained, ScaleError> {
    let kubeconfig = plane.identity(DRAINER, &everything())?.kubeconfig;
    let names =
        |pool: &str| -> Vec<String> { cluster::nodes(size, pool).iter().map(|node| node.name().to_owned()).collect() };
    let (old, new) = (names("old"), names("new"));
    let with = |first: &[&str], names: &[String], last: &[&str]| -> Result<(), ScaleError> {
        let arguments: Vec<&str> =
            first.iter().copied().chain(names.iter().map(String::as_str)).chain(last.iter().copied()).collect();
        plane.kubectl(&arguments)?;
        Ok(())
    };
    with(&["uncordon"], &old, &[])?;
    let fence = format!("{FENCE_TAINT}-");
    with(&["taint", "node"], &old, &[&fence])?;
    with(&["cordon"], &new, &[])?;
    let chosen = &new[..size.drained.min(new.len())];
    let pods = cluster::placements(plane)?.iter().filter(|(_, node)| chosen.contains(node)).count();
    say(&format!("kubectl drains {} nodes with {pods} pods", chosen.len()));
    let from = clock::now();
    let mut run = Cost::default();
    for node in chosen {
        let mut command = Command::new(plane.kubectl_program());
        command.arg("--kubeconfig").arg(&kubeconfig).args(["drain", node, "--ignore-daemonsets"]);
        command.args(["--delete-emptydir-data"]).env_remove("KUBECONFIG").env("HOME", plane.folder());
        run = run.then(measured::run(command, &[0])?);
    }
    let requests = Requests::of(&plane.audit_log(), DRAINER, from)?;
    Ok(Drained { nodes: chosen.len(), pods, run, requests })
}
