//! Every exit code is in the table of the README: it is part of the interface of the program.

use crate::complaint::Complaint;
use crate::workspace::Tree;

/// Where the codes are defined.
const CODES: &str = "crates/model/src/exit.rs";
/// Where they are documented.
const README: &str = "README.md";

/// See the module.
pub(crate) fn check(tree: &Tree) -> Vec<Complaint> {
    let (Some(codes), Some(readme)) = (tree.text(CODES), tree.text(README)) else {
        return vec![Complaint::about(CODES, format!("expected this file and {README} to exist"))];
    };
    codes
        .lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let (name, value) = line.strip_prefix("pub const ")?.strip_suffix(';')?.split_once(": u8 = ")?;
            let row = format!("| {value} |");
            (!readme.lines().any(|line| line.starts_with(&row)))
                .then(|| Complaint::at(CODES, index + 1, format!("expected a row `{row} …` in {README} for {name}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_without_a_row_is_found() {
        let codes = "pub const DONE: u8 = 0;\npub const STUCK: u8 = 7;\n";
        let found = check(&Tree::of(&[(CODES, codes), (README, "| 0 | done |\n| 70 | no |\n")]));
        assert_eq!(found.iter().map(|c| c.line).collect::<Vec<_>>(), [Some(2)]);
        assert_eq!(check(&Tree::of(&[(CODES, codes), (README, "| 0 | done |\n| 7 | stuck |\n")])), []);
    }
}
