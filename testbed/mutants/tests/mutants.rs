//! The recorded answers of kube-scheduler's own packages catch every wrong rule, and nothing when all rules are right.

use rehome_k8s::mutant::Mutant;
use rehome_mutants::{caught, differences, recording};

/// With fewer clusters than this, one change of the generator could lose what catches a wrong rule.
const FEWEST: usize = 2;

#[test]
fn with_all_rules_right_nothing_differs() {
    let clusters = recording::read(&recording::file()).unwrap();
    assert!(clusters.len() >= 30, "{} clusters", clusters.len());
    for recorded in &clusters {
        let found = differences(recorded, None).unwrap();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "{}: {}", recorded.about, found.join("\n"));
    }
}

#[test]
fn every_wrong_rule_is_caught() {
    let clusters = recording::read(&recording::file()).unwrap();
    let survivors: Vec<String> = Mutant::ALL
        .iter()
        .filter(|mutant| clusters.iter().filter(|recorded| caught(recorded, **mutant)).take(FEWEST).count() < FEWEST)
        .map(|mutant| format!("{mutant:?}:{}", mutant.words()))
        .collect();
    assert!(survivors.is_empty(), "{}", survivors.join("\n"));
}
