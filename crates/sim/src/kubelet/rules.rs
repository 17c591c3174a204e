//! The rules of a [`Behaviour`], found by the labels of a pod: a measured one has a rule for each workload.

use std::collections::BTreeMap;

use rehome_model::behaviour::{Behaviour, PodBehaviour};

/// The rules in order, and which of them a label can lead to.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pods: Vec<PodBehaviour>,
    /// The rules that ask for this label with this value, each under one of its labels: the rarest.
    by_label: BTreeMap<(String, String), Vec<usize>>,
    /// The first rule that asks for no label.
    of_all: Option<usize>,
}

impl Rules {
    /// The rules of a behaviour.
    pub(super) fn new(behaviour: Behaviour) -> Self {
        let mut uses: BTreeMap<(String, String), usize> = BTreeMap::new();
        let labels_of = |rule: &PodBehaviour| -> Vec<(String, String)> {
            rule.labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        for label in behaviour.pods.iter().flat_map(labels_of) {
            *uses.entry(label).or_default() += 1;
        }
        let mut rules = Self { pods: behaviour.pods, by_label: BTreeMap::new(), of_all: None };
        for (number, rule) in rules.pods.iter().enumerate() {
            match labels_of(rule).into_iter().min_by_key(|label| uses.get(label).copied()) {
                Some(rarest) => rules.by_label.entry(rarest).or_default().push(number),
                None => rules.of_all = rules.of_all.or(Some(number)),
            }
        }
        rules
    }

    /// The first rule that matches a pod with these labels, as [`Behaviour::of`] finds it.
    pub(super) fn of(&self, labels: &BTreeMap<String, String>) -> Option<&PodBehaviour> {
        let matches = |number: &&usize| {
            let rule = self.pods.get(**number);
            rule.is_some_and(|rule| rule.labels.iter().all(|(key, value)| labels.get(key) == Some(value)))
        };
        let led_to = labels.iter().filter_map(|(key, value)| {
            let rules = self.by_label.get(&(key.clone(), value.clone()))?;
            rules.iter().find(matches)
        });
        led_to.chain(&self.of_all).min().and_then(|number| self.pods.get(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rehome_model::time::Seconds;

    fn labels() -> impl Strategy<Value = BTreeMap<String, String>> {
        proptest::collection::btree_map("[ab]", "[xyz]", 0..3)
    }

    proptest! {
        #[test]
        fn finds_what_a_search_in_order_finds(
            rules in proptest::collection::vec(labels(), 0..6),
            pods in proptest::collection::vec(labels(), 1..6),
        ) {
            let mut behaviour = Behaviour::prompt();
            behaviour.pods = rules
                .into_iter()
                .zip(1..)
                .map(|(labels, start)| PodBehaviour {
                    labels,
                    start: Seconds::new(start),
                    ready: None,
                    jitter: Seconds::ZERO,
                    stop: Seconds::ZERO,
                })
                .collect();
            let rules = Rules::new(behaviour.clone());
            for pod in pods {
                prop_assert_eq!(rules.of(&pod), behaviour.of(&pod));
            }
        }
    }
}
