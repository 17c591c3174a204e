//! Nothing unfinished lands: no marks for later, no empty bodies, no test that is switched off.
//!
//! What is thin is said in ARCHITECTURE.md or in an issue, where somebody will look for it.

use crate::complaint::Complaint;
use crate::workspace::Tree;

/// Words in any text. In pieces, so that this file does not complain about itself.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
/// Spellings in Rust.
const RUST: &[&str] = &[concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore")];
/// Files that other tools write.
const WRITTEN_BY_TOOLS: &[&str] = &["Cargo.lock", "go.sum"];

/// See the module.
pub(crate) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.texts() {
        if WRITTEN_BY_TOOLS.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            let mark = MARKS.iter().find(|mark| has_word(line, mark));
            let spelling = RUST.iter().find(|spelling| path.ends_with(".rs") && line.contains(**spelling));
            for what in mark.into_iter().chain(spelling) {
                found.push(Complaint::at(path, index + 1, format!("unfinished: {what}; finish it or open an issue")));
            }
        }
    }
    found
}

/// Whether the line has the word with no letter, digit or underscore beside it.
fn has_word(line: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(inside)
            && !line[at + word.len()..].chars().next().is_some_and(inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_as_words_only() {
        let mark = MARKS[0];
        let text = format!("// {mark}: later\nconst {mark}_LIST: u8 = 1;\n");
        let found = check(&Tree::of(&[("a.rs", &text), ("Cargo.lock", &text)]));
        assert_eq!(found.iter().map(|c| c.line).collect::<Vec<_>>(), [Some(1)]);
    }

    #[test]
    fn macros_and_switched_off_tests_are_found_in_rust_only() {
        let text = format!("{});\n{}]\n{} = \"slow\"]\n", RUST[0], RUST[2], RUST[2]);
        let found = check(&Tree::of(&[("a.rs", &text), ("a.md", &text)]));
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
