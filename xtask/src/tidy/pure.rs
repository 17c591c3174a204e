//! The pure crates stay pure: what they give is a function of what they are given.
//!
//! Clippy refuses clocks and random order everywhere; this refuses, in these crates only, everything else of the
//! standard library by which a value could come in, or an effect could go out.

use crate::complaint::Complaint;
use crate::workspace::Tree;

/// Crates without any I/O.
const PURE: &[&str] = &["engine", "k8s", "model", "plan", "sched", "sim"];
/// What they may not name outside tests.
const REFUSED: &[&str] =
    &["std::env", "std::fs", "std::io", "std::net", "std::os", "std::process", "std::sync::mpsc", "std::thread"];

/// See the module.
pub(crate) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| is_pure(path)) {
        // Tests stand at the end of a file, or in files of their own.
        let code = text.lines().take_while(|line| !line.trim_start().starts_with("#[cfg(test)]")).enumerate();
        for (index, line) in code.filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for name in REFUSED.iter().filter(|name| has(line, name)) {
                let message = format!("{name} in a pure crate: take the value as an argument, or go through the World");
                found.push(Complaint::at(path, index + 1, message));
            }
        }
    }
    found
}

/// Whether the file is code of a pure crate, and not a test.
fn is_pure(path: &str) -> bool {
    let Some((name, inside)) = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/')) else { return false };
    PURE.contains(&name)
        && inside.starts_with("src/")
        && !inside.ends_with("tests.rs")
        && !inside.split('/').any(|folder| folder == "tests")
}

/// `std::fs` but not `std::fsx`.
fn has(line: &str, name: &str) -> bool {
    line.split(name).skip(1).any(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_in_a_test_only() {
        let bad = "//! Reads.\nuse std::fs;\n";
        let test = "//! Reads.\n// std::fs is for others.\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        let found = check(&Tree::of(&[
            ("crates/plan/src/a.rs", bad),
            ("crates/plan/src/b.rs", test),
            ("crates/plan/src/a/tests.rs", bad),
            ("crates/plan/tests/a.rs", bad),
            ("crates/run/src/a.rs", bad),
        ]));
        assert_eq!(found.iter().map(|c| c.place.as_str()).collect::<Vec<_>>(), ["crates/plan/src/a.rs"]);
    }

    #[test]
    fn the_longer_name_is_another() {
        assert!(has("use std::io;", "std::io"));
        assert!(!has("use std::iota;", "std::io"));
    }
}
