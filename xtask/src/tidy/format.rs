//! rustfmt agrees with every tracked Rust file.
//!
//! `cargo fmt` follows `mod` items, and misses files whose `mod` item is written by a macro; this check does not.

use std::process::{Command, Stdio};

use crate::complaint::Complaint;
use crate::workspace::{Tree, root};

/// See the module.
pub(crate) fn check(tree: &Tree) -> Vec<Complaint> {
    let files: Vec<&str> = tree.rust().map(|(path, _)| path).collect();
    // Files, not crates: `--config skip_children` is unstable, so a file may be named once for itself and once for its
    // parent. The answer is a set.
    let mut found = Vec::new();
    for some in files.chunks(200) {
        let mut rustfmt = Command::new("rustfmt");
        rustfmt.args(["--check", "-l", "--edition", "2024"]).args(some).current_dir(root()).stdin(Stdio::null());
        match rustfmt.output() {
            Ok(done) => {
                let listed = String::from_utf8_lossy(&done.stdout).into_owned();
                let prefix = format!("{}/", root().display());
                found.extend(listed.lines().filter(|line| !line.is_empty()).map(|line| {
                    let place = line.strip_prefix(&prefix).unwrap_or(line);
                    Complaint::about(place, "not formatted: run `cargo xtask fmt`")
                }));
                if !done.status.success() && listed.trim().is_empty() {
                    found.push(Complaint::about("rustfmt", String::from_utf8_lossy(&done.stderr).trim().to_owned()));
                }
            }
            Err(error) => found.push(Complaint::about("rustfmt", format!("cannot be run: {error}"))),
        }
    }
    found.sort();
    found.dedup();
    found
}
