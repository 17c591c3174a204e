//! `docs/drain-comparison.md`: what both tools did, as the tests saw it.
//!
//! A test gives its row only after it has asserted what the row says. The row must stand in the file already;
//! `UPDATE_COMPLAINTS=1` writes it there instead. There are no times in it: a run tomorrow gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::catalogue::ALL;

/// If set, rows are written and not compared.
const UPDATE: &str = "UPDATE_COMPLAINTS";

/// What `kubectl drain` and rehome did, by number.
type Rows = BTreeMap<u8, (String, String)>;

/// Tests beside each other write one file.
static FILE: Mutex<()> = Mutex::new(());

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/drain-comparison.md")
}

fn update() -> bool {
    std::env::var_os(UPDATE).is_some()
}

/// The rows that the file holds.
fn rows(text: &str) -> Rows {
    let cells = text.lines().map(|line| line.split(" | ").collect::<Vec<_>>());
    let rows = cells.filter_map(|cells| {
        let [number, _, _, kubectl, rehome] = cells[..] else { return None };
        let number = number.trim_start_matches("| ").parse().ok()?;
        Some((number, (kubectl.to_owned(), rehome.trim_end_matches(" |").to_owned())))
    });
    rows.collect()
}

fn render(rows: &Rows) -> String {
    let mut text = String::from(
        "# `kubectl drain` and rehome on the same set-ups\n\n\
         Written by the tests in `testbed/tests/complaints`; `UPDATE_COMPLAINTS=1` writes it anew. Each row is a test, `c`\n\
         and its number, on a real control plane (Kubernetes 1.37, nodes played by kwok): the set-up once for `kubectl drain\n\
         --ignore-daemonsets --delete-emptydir-data --timeout=…` and once for rehome. Issues are where people complained;\n\
         many are about other tools. `k/k` is kubernetes/kubernetes.\n\n\
         | no. | issues | what goes wrong | kubectl drain 1.37 | rehome |\n|---|---|---|---|---|\n",
    );
    for complaint in ALL {
        let Some((kubectl, rehome)) = rows.get(&complaint.number).filter(|_| complaint.not_shown.is_none()) else {
            continue;
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {kubectl} | {rehome} |",
            complaint.number, complaint.issues, complaint.wrong
        );
    }
    text.push_str("\n## Not shown\n\n| no. | issues | what goes wrong | why there is no test |\n|---|---|---|---|\n");
    for complaint in ALL {
        if let Some(why) = complaint.not_shown {
            let _ = writeln!(text, "| {} | {} | {} | {why} |", complaint.number, complaint.issues, complaint.wrong);
        }
    }
    text
}

/// The row of a complaint, in sentences that the test has just asserted.
pub(crate) fn row(number: u8, kubectl: &str, rehome: &str) {
    let _one_at_a_time = FILE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut found = rows(&std::fs::read_to_string(file()).unwrap_or_default());
    let row = (kubectl.to_owned(), rehome.to_owned());
    if update() {
        found.insert(number, row);
        std::fs::create_dir_all(file().parent().unwrap()).unwrap();
        std::fs::write(file(), render(&found)).unwrap();
    } else {
        assert_eq!(found.get(&number), Some(&row), "complaint {number}: {UPDATE}=1 writes it anew");
    }
}

/// The numbers of the tests in this folder.
fn tests() -> BTreeSet<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/complaints");
    let mut numbers = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let named = text.lines().zip(text.lines().skip(1)).filter(|(attribute, _)| attribute.trim() == "#[test]");
        let names = named.filter_map(|(_, line)| line.strip_prefix("fn c")?.get(..2)?.parse::<u8>().ok());
        numbers.extend(names);
    }
    numbers
}

#[test]
fn every_complaint_is_a_test_or_says_why_not() {
    let numbers: Vec<u8> = ALL.iter().map(|complaint| complaint.number).collect();
    let small = (1..=55).filter(|number| ![28, 36, 37, 38, 46, 52].contains(number));
    assert_eq!(numbers, small.collect::<Vec<u8>>(), "each of the 49, once and in order");
    let shown: BTreeSet<u8> = ALL.iter().filter(|c| c.not_shown.is_none()).map(|c| c.number).collect();
    assert_eq!(tests(), shown, "a test for each that is shown, and for no other");
}

#[test]
fn the_file_is_what_its_rows_render_to() {
    let _one_at_a_time = FILE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let found = rows(&text);
    if update() {
        std::fs::create_dir_all(file().parent().unwrap()).unwrap();
        std::fs::write(file(), render(&found)).unwrap();
        return;
    }
    assert_eq!(text, render(&found), "{UPDATE}=1 writes it anew");
    let shown: BTreeSet<u8> = ALL.iter().filter(|c| c.not_shown.is_none()).map(|c| c.number).collect();
    assert_eq!(found.keys().copied().collect::<BTreeSet<_>>(), shown, "each has its row");
}

#[test]
fn a_row_is_read_as_it_was_written() {
    let rows_in = Rows::from([(1, ("a".to_owned(), "b; c".to_owned()))]);
    assert_eq!(rows(&render(&rows_in)), rows_in);
}
