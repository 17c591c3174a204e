//! Examples in doc comments. rustdoc is started for each crate, which takes a while, so only if there is an example.

use std::path::Path;

use super::run;
use super::verdict::Verdict;
use crate::workspace::{Tree, WorkspaceError, cargo};

/// Whether any doc comment holds Rust code.
///
/// # Errors
/// Fails when the tree cannot be read.
pub(crate) fn any(root: &Path) -> Result<bool, WorkspaceError> {
    Ok(Tree::tracked(root)?.rust().any(|(_, text)| has_example(text)))
}

/// Runs all examples.
///
/// # Errors
/// Fails when cargo cannot be run.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<Verdict, WorkspaceError> {
    let mut command = cargo();
    command.args(["test", "--release", "--workspace", "--doc", "--no-fail-fast"]).current_dir(root);
    if !arguments.is_empty() {
        command.arg("--").args(arguments);
    }
    let (verdict, status) = run::follow(&mut command, &mut |line| println!("{line}"))?;
    Ok(run::judge(verdict, status))
}

/// A block without a language is Rust; blocks of other languages (`text`, `json`) are not compiled.
fn has_example(text: &str) -> bool {
    let mut inside = false;
    for line in text.lines().map(str::trim_start) {
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            inside = false;
            continue;
        };
        if let Some(language) = doc.trim().strip_prefix("```") {
            if !inside && matches!(language, "" | "rust" | "no_run" | "should_panic") {
                return true;
            }
            inside = !inside;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rust_counts() {
        let block = |language: &str| format!("/// ```{language}\n/// a\n/// ```\nfn f() {{}}\n");
        assert!(has_example(&block("")));
        assert!(has_example(&block("rust")));
        assert!(!has_example(&block("text")));
        assert!(!has_example("fn f() {}"));
    }
}
