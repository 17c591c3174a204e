//! No file is too large to be read, and none too large to be kept in a repository.

use crate::complaint::Complaint;
use crate::workspace::Tree;

/// The most lines of a Rust file, tests included. 100 to 250 read best; what needs more than this has two subjects.
const MOST_LINES: usize = 600;
/// The most bytes of any tracked file: 1 MiB. Larger inputs are made by the test that needs them.
const MOST_BYTES: usize = 1 << 20;

/// See the module.
pub(crate) fn check(tree: &Tree) -> Vec<Complaint> {
    let long = tree.rust().filter_map(|(path, text)| {
        let lines = text.lines().count();
        (lines > MOST_LINES)
            .then(|| Complaint::about(path, format!("expected at most {MOST_LINES} lines, found {lines}: split it")))
    });
    let large = tree.files().filter(|(_, bytes)| bytes.len() > MOST_BYTES).map(|(path, bytes)| {
        Complaint::about(path, format!("expected at most {MOST_BYTES} bytes, found {}", bytes.len()))
    });
    long.chain(large).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_600_lines_passes_and_one_more_is_too_long() {
        let (fits, long) = ("\n".repeat(MOST_LINES), "\n".repeat(MOST_LINES + 1));
        let found = check(&Tree::of(&[("a.rs", &fits), ("b.rs", &long), ("c.md", &long)]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, "b.rs");
    }

    #[test]
    fn a_mebibyte_passes_and_one_byte_more_is_too_large() {
        let (fits, large) = (" ".repeat(MOST_BYTES), " ".repeat(MOST_BYTES + 1));
        let found = check(&Tree::of(&[("a.json", &fits), ("b.json", &large)]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].place, "b.json");
    }
}
