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
    /// How many nodes each domain has.
    members: Vec<usize>,
    /// How many domains have a node.
    populated: usize,
    /// How many nodes are in a domain.
    labelled: usize,
}

impl Default for Topology {
    fn default() -> Self {
        Self {
            values: BTreeMap::from([(String::new(), EMPTY)]),
            of: Vec::new(),
            members: vec![0],
            populated: 0,
            labelled: 0,
        }
    }
}

impl Topology {
    /// Says what label a node has.
    pub(crate) fn set(&mut self, node: usize, value: Option<&String>) {
        if self.of.len() <= node {
            self.of.resize(node + 1, NOWHERE);
        }
        let to = value.map_or(NOWHERE, |value| self.domain(value));
        let from = std::mem::replace(&mut self.of[node], to);
        if from != NOWHERE {
            self.members[from] -= 1;
            self.labelled -= 1;
            self.populated -= usize::from(self.members[from] == 0);
        }
        if to != NOWHERE {
            self.populated += usize::from(self.members[to] == 0);
            self.members[to] += 1;
            self.labelled += 1;
        }
    }

    /// The number of a label's domain.
    fn domain(&mut self, value: &String) -> usize {
        if let Some(domain) = self.values.get(value) {
            return *domain;
        }
        let domain = self.values.len();
        self.values.insert(value.clone(), domain);
        self.members.push(0);
        domain
    }

    /// The domain of a node, or [`NOWHERE`].
    pub(crate) fn of(&self, node: usize) -> usize {
        self.of.get(node).copied().unwrap_or(NOWHERE)
    }

    /// How many domains have numbers. Some may have no node any longer.
    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }

    /// How many nodes have the label.
    pub(crate) fn labelled(&self) -> usize {
        self.labelled
    }

    /// How many nodes a domain has.
    pub(crate) fn members(&self, domain: usize) -> usize {
        self.members[domain]
    }

    /// How many domains have a node.
    pub(crate) fn populated(&self) -> usize {
        self.populated
    }

    /// The domains that have a node.
    pub(crate) fn domains(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().enumerate().filter(|(_, members)| **members > 0).map(|(domain, _)| domain)
    }
}
