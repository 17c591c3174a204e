//! Every Rust file begins with `//!`: what it knows, and what it deliberately does not know.
//!
//! `missing_docs` of the compiler sees public modules only; a reader meets all of them.

use crate::complaint::Complaint;
use crate::workspace::Tree;

/// See the module.
pub(crate) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.rust()
        .filter_map(|(path, text)| {
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("#!["));
            let first = lines.next().unwrap_or("");
            let words = first.strip_prefix("//!").unwrap_or("").trim();
            (words.len() < 4).then(|| Complaint::at(path, 1, "expected module docs (`//! …`) on the first line"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_may_follow_inner_attributes_but_must_say_something() {
        let found = check(&Tree::of(&[
            ("a.rs", "//! Knows all about lines.\nfn f() {}\n"),
            ("b.rs", "#![no_std]\n\n//! Knows all about lines.\n"),
            ("c.rs", "// Knows all about lines.\n"),
            ("d.rs", "//!\nfn f() {}\n"),
            ("e.rs", ""),
        ]));
        let places: Vec<_> = found.iter().map(|complaint| complaint.place.as_str()).collect();
        assert_eq!(places, ["c.rs", "d.rs", "e.rs"]);
    }
}
