//! Every library comes under a licence that lets us ship it under Apache-2.0.

use super::Packages;
use crate::complaint::Complaint;

/// Licences that ask for no more than to be named. SPDX identifiers.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// See the module.
pub(crate) fn check(packages: &Packages) -> Vec<Complaint> {
    let place = |name: &str, version: &str| format!("{name} {version}");
    packages
        .0
        .iter()
        .filter_map(|package| {
            let place = place(&package.name, &package.version);
            match &package.licence {
                None => Some(Complaint::about(place, "expected a licence, found none")),
                Some(expression) if is_allowed(expression) => None,
                Some(expression) => Some(Complaint::about(
                    place,
                    format!("expected a licence of the list in xtask/src/boundaries/licences.rs, found {expression}"),
                )),
            }
        })
        .collect()
}

/// Whether an SPDX expression can be fulfilled with allowed licences: `OR` of `AND` of names, with parentheses.
/// Old manifests write `/` for `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    either(&words, &mut at) && at == words.len()
}

fn either(words: &[&str], at: &mut usize) -> bool {
    let mut holds = both(words, at);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        holds |= both(words, at);
    }
    holds
}

fn both(words: &[&str], at: &mut usize) -> bool {
    let mut holds = one(words, at);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        holds &= one(words, at);
    }
    holds
}

fn one(words: &[&str], at: &mut usize) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let holds = either(words, at);
        *at += 1;
        return holds;
    }
    let mut name = (*word).to_owned();
    if words.get(*at) == Some(&"WITH") {
        if let Some(exception) = words.get(*at + 1) {
            name = format!("{name} WITH {exception}");
        }
        *at += 2;
    }
    ALLOWED.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allowed_choice_is_enough_and_every_part_counts() {
        for good in
            ["MIT", "MIT OR GPL-3.0", "MIT/Apache-2.0", "(MIT OR GPL-2.0) AND Unicode-3.0", "GPL-2.0 OR (MIT AND ISC)"]
        {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "MIT WITH something-else", "", "MIT ISC", "(MIT OR ISC) AND MPL-2.0"]
        {
            assert!(!is_allowed(bad), "{bad}");
        }
        assert!(is_allowed("Apache-2.0 WITH LLVM-exception OR MIT"));
    }
}
