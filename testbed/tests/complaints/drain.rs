//! `kubectl drain`, as people call it.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::home::{Home, plane};

/// How a drain ended.
pub(crate) struct Drained {
    /// Exit status 0: the node is said to be drained.
    pub(crate) done: bool,
    /// What it printed.
    pub(crate) text: String,
}

impl Drained {
    pub(crate) fn gave_up(&self) -> bool {
        // The one while it asks, the other while it waits for a pod that was asked to end.
        let limits = ["global timeout reached", "context deadline exceeded"];
        !self.done && limits.iter().any(|limit| self.text.contains(limit))
    }
}

/// Drains nodes, gives up after so many seconds, and does something meanwhile.
pub(crate) fn drain_as(
    home: &Home,
    user: &Path,
    nodes: &[&str],
    seconds: u32,
    flags: &[&str],
    meanwhile: impl FnOnce(),
) -> Drained {
    let mut command = Command::new(plane().kubectl_program());
    command.arg("--kubeconfig").arg(user).arg("drain");
    command.args(nodes.iter().map(|node| home.full(node)));
    command.args(["--ignore-daemonsets", "--delete-emptydir-data", &format!("--timeout={seconds}s")]).args(flags);
    command.env("HOME", plane().folder()).env_remove("KUBECONFIG");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    meanwhile();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Drained { done: output.status.success(), text }
}

/// Drains nodes as somebody who may do everything.
pub(crate) fn drain(home: &Home, nodes: &[&str], seconds: u32, meanwhile: impl FnOnce()) -> Drained {
    drain_as(home, plane().admin_kubeconfig(), nodes, seconds, &[], meanwhile)
}
