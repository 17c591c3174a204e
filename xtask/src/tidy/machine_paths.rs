//! No path of one machine is in the tree: what works in one person's folder only is not in the project.

use crate::complaint::Complaint;
use crate::workspace::Tree;

/// Roots that differ from machine to machine. In pieces, so that this file does not complain about itself.
const ROOTS: &[&str] =
    &[concat!("/wo", "rk"), concat!("/ro", "ot"), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/t", "mp/")];

/// See the module.
pub(crate) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            for root in ROOTS.iter().filter(|root| has_path(line, root)) {
                let message = format!("a path of one machine: {root}…; use a path from the root of the workspace");
                found.push(Complaint::at(path, index + 1, message));
            }
        }
    }
    found
}

/// Whether an absolute path below `root` begins somewhere in the line. `a/work` and `https://a/home/x` are none.
fn has_path(line: &str, root: &str) -> bool {
    let part_of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '}' | ')' | '*' | '~');
    let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    line.match_indices(root).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + root.len()..].chars().next();
        let below = if root.ends_with('/') { after.is_some_and(name) } else { !after.is_some_and(name) };
        !before.is_some_and(part_of_a_name) && below
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_found_and_relative_ones_and_addresses_are_not() {
        for root in ROOTS {
            let dir = root.trim_end_matches('/');
            let bad = format!("let path = \"{dir}/x\";");
            assert_eq!(check(&Tree::of(&[("a.rs", &bad)])).len(), 1, "{bad}");
            let near = format!("a{dir}/x .{dir}/x https://a.example{dir}/x ${{HOME}}{dir}/x {dir}ing/x");
            assert_eq!(check(&Tree::of(&[("a.rs", &near)])), [], "{near}");
        }
    }

    #[test]
    fn the_bare_folder_for_temporary_files_is_everywhere() {
        let text = format!("mountPath: {}", ROOTS[4].trim_end_matches('/'));
        assert_eq!(check(&Tree::of(&[("a.yaml", &text)])), []);
    }
}
