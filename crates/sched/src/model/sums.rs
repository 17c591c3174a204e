//! What the domains of one topology key have in all, of something that is counted node by node.
//!
//! Which nodes take part in a pod's count is not known here: these are the sums of all nodes with the label.

/// Sums by domain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// By the domain's number; domains that came later are missing, and have nothing.
    by_domain: Vec<i64>,
    above_zero: usize,
}

impl Sums {
    /// Sums of as many domains, all zero: for many additions.
    pub(crate) fn of_domains(domains: usize) -> Self {
        Self { by_domain: vec![0; domains], above_zero: 0 }
    }

    /// Adds to a domain.
    pub(crate) fn add(&mut self, domain: usize, amount: i64) {
        if self.by_domain.len() <= domain {
            self.by_domain.resize(domain + 1, 0);
        }
        let sum = &mut self.by_domain[domain];
        let before = *sum > 0;
        *sum += amount;
        self.above_zero = self.above_zero + usize::from(*sum > 0) - usize::from(before);
    }

    /// What a domain has.
    pub(crate) fn of(&self, domain: usize) -> i64 {
        self.by_domain.get(domain).copied().unwrap_or_default()
    }

    /// Whether a domain has more than nothing.
    pub(crate) fn any(&self) -> bool {
        self.above_zero > 0
    }
}

impl PartialEq for Sums {
    /// Domains that are missing have nothing.
    fn eq(&self, other: &Self) -> bool {
        let domains = self.by_domain.len().max(other.by_domain.len());
        self.above_zero == other.above_zero && (0..domains).all(|domain| self.of(domain) == other.of(domain))
    }
}
