//! The things that grow one file at a time (rules, strategies, orders, verbs) are complete: a file that nobody
//! registered does nothing, and one that no test names is a promise that nobody keeps.

use std::collections::BTreeMap;

use crate::complaint::Complaint;
use crate::workspace::Tree;

/// A folder in which each file is one of a kind.
struct Family {
    /// What each file is.
    what: &'static str,
    /// The folder. Its `mod.rs`, or the file beside it with its name, is the register.
    folder: &'static str,
    /// Files that serve the others.
    shared: &'static [&'static str],
    /// By which words tests call a member whose file has another name.
    called: &'static [(&'static str, &'static [&'static str])],
    /// Headings that the module docs must have, in this order.
    sections: &'static [&'static str],
    /// Whether each has a permanent code.
    coded: bool,
}

/// All families. A new one is one entry.
const FAMILIES: &[Family] = &[
    Family {
        what: "rule",
        folder: "crates/plan/src/rules",
        shared: SHARED,
        called: &[],
        sections: &["## What it checks", "## Why it matters", "## How to fix"],
        coded: true,
    },
    Family {
        what: "strategy",
        folder: "crates/plan/src/strategies",
        shared: &["mod.rs", "tests.rs", "budgets.rs"],
        ..PLAIN
    },
    Family { what: "order", folder: "crates/plan/src/order", ..PLAIN },
    Family {
        what: "verb",
        folder: "crates/engine/src/verbs",
        shared: &["mod.rs", "tests.rs", "answer.rs"],
        called: &[("leave", &["Evict", "Delete"])],
        ..PLAIN
    },
];

/// A family whose members need no more than to be registered and tested.
const PLAIN: Family = Family { what: "", folder: "", shared: SHARED, called: &[], sections: &[], coded: false };
/// The register and the tests of all members.
const SHARED: &[&str] = &["mod.rs", "tests.rs"];

/// See the module.
pub(crate) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for family in FAMILIES {
        found.extend(check_family(family, tree));
    }
    found
}

fn check_family(family: &Family, tree: &Tree) -> Vec<Complaint> {
    let folder = format!("{}/", family.folder);
    let registers = [format!("{folder}mod.rs"), format!("{}.rs", family.folder)];
    let mut found = Vec::new();
    let mut codes: BTreeMap<String, &str> = BTreeMap::new();
    for (path, text) in tree.rust() {
        let Some(name) = path.strip_prefix(&folder) else { continue };
        if name.contains('/') || family.shared.contains(&name) {
            continue;
        }
        let slug = name.trim_end_matches(".rs");
        if !registers.iter().filter_map(|register| tree.text(register)).any(|register| words(register, slug) > 0) {
            let message =
                format!("expected the {} `{slug}` to be registered in {}", family.what, registers.join(" or "));
            found.push(Complaint::about(path, message));
        }
        let docs: String =
            text.lines().filter_map(|line| line.strip_prefix("//!")).flat_map(|line| [line.trim(), "\n"]).collect();
        let mut rest = docs.as_str();
        for section in family.sections {
            match rest.split_once(section) {
                Some((_, after)) if after.trim_start().starts_with(|c: char| c.is_alphanumeric() || c == '`') => {
                    rest = after;
                }
                _ => found.push(Complaint::at(path, 1, format!("expected `//! {section}` in the docs, with text"))),
            }
        }
        if family.coded {
            let spoken = slug.replace('_', "-");
            if !text.contains(&format!("\"{spoken}\"")) {
                found.push(Complaint::about(path, format!("expected the name \"{spoken}\", as the file is called")));
            }
            match code(text) {
                Some(code) => {
                    if let Some(other) = codes.insert(code.clone(), path) {
                        found.push(Complaint::about(
                            path,
                            format!("expected a code of its own, found {code} of {other}"),
                        ));
                    }
                }
                None => found.push(Complaint::about(path, "expected `Code(…)`, the permanent code of the rule")),
            }
        }
        if !is_tested(family, tree, path, text, slug) {
            let message =
                "expected two tests in the file, or a test or a case that names it: one that fires and a near miss";
            found.push(Complaint::about(path, message));
        }
    }
    found
}

/// Whether two tests stand in the file, or a test or case elsewhere names the member.
fn is_tested(family: &Family, tree: &Tree, path: &str, text: &str, slug: &str) -> bool {
    if text.matches("#[test]").count() >= 2 {
        return true;
    }
    // `prove_empty` in code, `prove-empty` in documents, `ProveEmpty` as a type.
    let camel: String = slug.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    let mut names = vec![slug.to_owned(), slug.replace('_', "-"), camel];
    let others = family.called.iter().filter(|(file, _)| *file == slug).flat_map(|(_, words)| words.iter());
    names.extend(others.map(|word| (*word).to_owned()));
    names.extend(if family.coded { code(text) } else { None });
    tree.texts().any(|(other, text)| {
        let is_test =
            other != path && (other.starts_with("cases/") || other.contains("/tests/") || other.ends_with("/tests.rs"));
        is_test && names.iter().any(|name| words(text, name) > 0)
    })
}

/// The code of a rule as documents spell it: `RH` and four digits.
fn code(text: &str) -> Option<String> {
    text.match_indices("Code(").find_map(|(at, start)| {
        let digits: String = text[at + start.len()..].chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u16>().ok().map(|number| format!("RH{number:04}"))
    })
}

/// How often a name stands in a text as a word of its own.
fn words(text: &str, name: &str) -> usize {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name)
        .filter(|(at, _)| {
            !text[..*at].chars().next_back().is_some_and(inside)
                && !text[at + name.len()..].chars().next().is_some_and(inside)
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "//! Bare pods.\n//!\n//! ## What it checks\n//! Pods.\n//!\n//! ## Why it matters\n//! They die.\n//!\n\
        //! ## How to fix\n//! `kubectl` helps.\npub const RULE: Rule = Rule { code: Code(2104), name: \"bare-pod\" };\n#[test]\nfn a() {}\n#[test]\nfn b() {}\n";
    const REGISTER: &str = "crates/plan/src/rules/mod.rs";

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).into_iter().map(|complaint| complaint.message).collect()
    }

    #[test]
    fn a_complete_rule_passes() {
        assert_eq!(complaints(&[("crates/plan/src/rules/bare_pod.rs", GOOD), (REGISTER, "mod bare_pod;")]), [""; 0]);
    }

    #[test]
    fn a_rule_that_is_not_registered_is_found() {
        let found = complaints(&[("crates/plan/src/rules/bare_pod.rs", GOOD), (REGISTER, "mod bare_pods;")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("registered"), "{found:?}");
    }

    #[test]
    fn a_section_that_is_missing_or_empty_is_found() {
        for bad in [GOOD.replace("## Why it matters", "Why"), GOOD.replace("//! They die.", "//!")] {
            let found = complaints(&[("crates/plan/src/rules/bare_pod.rs", &bad), (REGISTER, "mod bare_pod;")]);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains("## Why it matters"), "{found:?}");
        }
    }

    #[test]
    fn a_code_that_is_missing_or_taken_is_found() {
        let bare = GOOD.replace("Code(2104)", "NONE");
        let files = [("crates/plan/src/rules/bare_pod.rs", bare.as_str()), (REGISTER, "mod bare_pod;")];
        assert!(complaints(&files)[0].contains("permanent code"));
        let files = [
            ("crates/plan/src/rules/a.rs", GOOD),
            ("crates/plan/src/rules/bare_pod.rs", GOOD),
            (REGISTER, "mod a;\nmod bare_pod;\n"),
        ];
        let found = complaints(&files);
        assert!(found.iter().any(|message| message.contains("RH2104 of crates/plan/src/rules/a.rs")), "{found:?}");
        assert!(found.iter().any(|message| message.contains("the name \"a\"")), "{found:?}");
    }

    #[test]
    fn a_member_without_tests_needs_a_case_that_names_it() {
        let bare = GOOD.replace("#[test]", "");
        let rule = ("crates/plan/src/rules/bare_pod.rs", bare.as_str());
        assert!(complaints(&[rule, (REGISTER, "mod bare_pod;")])[0].contains("near miss"));
        for text in ["finds: RH2104", "finds: bare-pod", "rules::bare_pod::check"] {
            assert_eq!(complaints(&[rule, (REGISTER, "mod bare_pod;"), ("cases/a/case.yaml", text)]), [""; 0]);
        }
    }
}
