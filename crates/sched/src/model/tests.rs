//! What is kept while a cluster changes, against the same worked out anew: sums by domain, and what nodes say by
//! themselves.

mod world;

use proptest::prelude::*;

use super::kept::wrong_answers;
use crate::{Model, Profile};
use world::{World, probe, siblings};

/// What happens to a cluster. Numbers choose among few names and many ways to be.
#[derive(Clone, Copy, Debug)]
enum Change {
    Node {
        number: u8,
        way: u32,
    },
    NodeGone {
        number: u8,
    },
    Drivers {
        number: u8,
        way: u32,
    },
    Pod {
        number: u8,
        way: u32,
    },
    PodGone {
        number: u8,
    },
    Namespace {
        number: u8,
        way: u32,
    },
    /// Questions, after which all must be as before.
    Drain {
        number: u8,
    },
    Loss {
        number: u8,
        added: u32,
    },
    Preempt {
        way: u32,
    },
    /// A pod is placed, and stays.
    Place {
        number: u8,
        way: u32,
    },
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (0..6_u8, any::<u32>()).prop_map(|(number, way)| Change::Node { number, way }),
        1 => (0..6_u8).prop_map(|number| Change::NodeGone { number }),
        1 => (0..6_u8, any::<u32>()).prop_map(|(number, way)| Change::Drivers { number, way }),
        8 => (0..12_u8, any::<u32>()).prop_map(|(number, way)| Change::Pod { number, way }),
        2 => (0..12_u8).prop_map(|number| Change::PodGone { number }),
        1 => (0..2_u8, any::<u32>()).prop_map(|(number, way)| Change::Namespace { number, way }),
        2 => (0..6_u8).prop_map(|number| Change::Drain { number }),
        1 => (0..6_u8, any::<u32>()).prop_map(|(number, added)| Change::Loss { number, added }),
        2 => any::<u32>().prop_map(|way| Change::Preempt { way }),
        2 => (0..12_u8, any::<u32>()).prop_map(|(number, way)| Change::Place { number, way }),
    ]
}

/// The tallies whose sums are not those of their nodes, with the key.
fn wrong_sums(model: &Model) -> Vec<(usize, usize)> {
    let held = model.holders.iter().flat_map(|holders| [&holders.forbids, &holders.weights]);
    let tallies = model.counts.iter().chain(held).enumerate();
    tallies
        .flat_map(|(number, tally)| tally.wrong_sums(&model.nodes).into_iter().map(move |key| (number, key)))
        .collect()
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    proptest::collection::vec(change(), 1..24)
}

fn probes() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(any::<u32>(), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn kept_sums_are_those_of_the_nodes(changes in changes(), probes in probes()) {
        let mut world = World::new();
        for change in changes {
            world.make(change);
            for way in &probes {
                world.model.judge(&probe(*way));
            }
            prop_assert_eq!(wrong_sums(&world.model), Vec::new(), "after {:?}", change);
        }
    }

    #[test]
    fn kept_answers_are_those_that_would_be_given_now(changes in changes(), way in any::<u32>()) {
        let mut world = World::new();
        for change in changes {
            world.make(change);
            for pod in std::iter::once(probe(way)).chain(siblings(way)) {
                let wrong = wrong_answers(&mut world.model, &pod);
                prop_assert_eq!(wrong, Vec::<String>::new(), "after {:?}, for {:?}", change, pod);
            }
        }
    }

    #[test]
    fn a_model_that_was_changed_says_what_a_new_one_says(changes in changes(), probes in probes()) {
        let mut world = World::new();
        for change in changes {
            world.make(change);
            // So that there is something to keep.
            world.model.best_nodes(&probe(probes[0]));
        }
        let mut fresh = Model::new(&world.view, Profile::default());
        for way in &probes {
            let pod = probe(*way);
            prop_assert_eq!(world.model.judge(&pod), fresh.judge(&pod), "of probe {}", way);
            prop_assert_eq!(world.model.best_nodes(&pod), fresh.best_nodes(&pod), "of probe {}", way);
        }
    }
}
