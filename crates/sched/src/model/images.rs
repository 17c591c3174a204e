//! Which images nodes have already.

use std::collections::BTreeMap;

/// The nodes that have an image, by the image's name, with its size in bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Images {
    holders: BTreeMap<String, BTreeMap<usize, i64>>,
}

impl Images {
    /// Says what images a node has.
    pub(crate) fn set(&mut self, node: usize, images: &BTreeMap<String, i64>) {
        self.holders.retain(|_, holders| {
            holders.remove(&node);
            !holders.is_empty()
        });
        for (name, size) in images {
            self.holders.entry(name.clone()).or_default().insert(node, *size);
        }
    }

    /// The size of an image, as the first node that had it says, and how many nodes have it.
    pub(crate) fn of(&self, name: &str) -> (i64, usize) {
        self.holders
            .get(name)
            .map_or((0, 0), |holders| (holders.values().next().copied().unwrap_or_default(), holders.len()))
    }

    /// Whether no node has any.
    pub(crate) fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }
}
