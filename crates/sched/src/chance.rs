//! What kube-scheduler leaves to chance: which of the best nodes, and which nodes are looked at in a large cluster.
//!
//! The latter is chance twice: the search begins where the one before ended, and 16 threads look at nodes, so that those that
//! were looked at when there are enough are not quite a window. Here one thread looks, as kube-scheduler does if told so.

/// Chance, from a seed: the same seed gives the same choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chance {
    state: u64,
    sampling: Sampling,
    /// Where the next search begins, among the nodes in the order of zones.
    start: usize,
}

/// How many nodes are looked at before the best is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// All: what could be chosen by any run is judged by the same measure.
    #[default]
    All,
    /// As kube-scheduler by default: above 100 nodes, only until enough feasible ones are found.
    Default,
}

/// Source: `k8s.io/kubernetes/pkg/scheduler/schedule_one.go`, `minFeasibleNodesToFind`.
const FEWEST: usize = 100;
/// Source: the same, `minFeasibleNodesPercentageToFind`.
const LEAST_PERCENT: usize = 5;

impl Chance {
    /// Chance that looks at all nodes.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed, ..Self::default() }
    }

    /// The same with another sampling.
    #[must_use]
    pub fn sampling(self, sampling: Sampling) -> Self {
        Self { sampling, ..self }
    }

    /// The same with a search that begins at this place in the order of nodes: zones in turn.
    #[must_use]
    pub fn starting_at(self, start: usize) -> Self {
        Self { start, ..self }
    }

    /// One of a number of equals.
    pub(crate) fn one_of(&mut self, count: usize) -> usize {
        if count < 2 {
            return 0;
        }
        // SplitMix64: neighbouring seeds choose differently.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % count as u64).unwrap_or_default()
    }

    /// How many feasible nodes are enough.
    /// Source: the same, `numFeasibleNodesToFind`: 50 % less one per 125 nodes, at least 5 % and 100.
    pub(crate) fn enough(&self, nodes: usize) -> usize {
        if self.sampling == Sampling::All || nodes < FEWEST {
            return nodes;
        }
        let percent = 50_usize.saturating_sub(nodes / 125).max(LEAST_PERCENT);
        (nodes * percent / 100).max(FEWEST)
    }

    pub(crate) fn looks_at_all(&self) -> bool {
        self.sampling == Sampling::All
    }

    /// Where the next search begins.
    #[must_use]
    pub fn start(&self) -> usize {
        self.start
    }

    /// The next search begins after the nodes that were looked at.
    pub(crate) fn looked_at(&mut self, count: usize, nodes: usize) {
        self.start = (self.start + count) % nodes.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_large_clusters_is_looked_at() {
        let chance = Chance::new(1).sampling(Sampling::Default);
        let enough = [99, 100, 101, 1_000, 5_000, 6_000].map(|nodes| chance.enough(nodes));
        assert_eq!(enough, [99, 100, 100, 420, 500, 300]);
        assert_eq!(Chance::new(1).enough(5_000), 5_000);
    }
}
