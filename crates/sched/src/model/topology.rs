//! Which domain of a topology key each node is in.

use std::collections::BTreeMap;

/// The domain of a node without the label.
pub(crate) const NOWHERE: usize = usize::MAX;
/// The domain whose label is empty. Soft spread by default takes nodes without the label for members of it.
pub(crate) const EMPTY: usize = 0;

/// The domains of one topology key.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    values: BTreeMap<String, usize>,
    of: Vec<usize>,
}

impl Default for Topology {
    fn default() -> Self {
        Self { values: BTreeMap::from([(String::new(), EMPTY)]), of: Vec::new() }
    }
}

impl Topology {
    /// Says what label a node has.
    pub(crate) fn set(&mut self, node: usize, value: Option<&String>) {
        if self.of.len() <= node {
            self.of.resize(node + 1, NOWHERE);
        }
        self.of[node] = match value {
            None => NOWHERE,
            Some(value) => match self.values.get(value) {
                Some(domain) => *domain,
                None => {
                    let domain = self.values.len();
                    self.values.insert(value.clone(), domain);
                    domain
                }
            },
        };
    }

    /// The domain of a node, or [`NOWHERE`].
    pub(crate) fn of(&self, node: usize) -> usize {
        self.of.get(node).copied().unwrap_or(NOWHERE)
    }

    /// How many domains have numbers. Some may have no node any longer.
    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }
}
