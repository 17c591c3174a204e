//! Preemption: pods of lower priority that would be pushed out so that a pod gets a place.
//!
//! On each node that could be cured, all pods of lower priority are taken off; if the pod fits then, as many as possible are
//! put back, those whose budget would be violated first, and the more important before the less. Budgets are honoured where
//! that is possible, and violated where it is not.
//! Sources: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption`, `SelectVictimsOnNode`;
//! `framework/preemption`, `pickOneNodeForPreemption`. Not modelled: pod groups; that in clusters of more than 100 candidates
//! only some are looked at, from a random one on; and that a pod waits for victims of an earlier attempt, which whoever
//! calls must see to. Left to chance by kube-scheduler itself, and here by name: the order of victims of equal priority and
//! start on one node, and, since 1.37, which of two budgets of one pod counts first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::Key;
use rehome_k8s::mutant::{self, Mutant};
use rehome_k8s::pod::Pod;
use rehome_k8s::policy::{BudgetStatus, PodDisruptionBudget};
use rehome_k8s::selector::Selector;
use rehome_model::Timestamp;

use crate::cycle::Cycle;
use crate::model::Model;

/// What preemption would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// The node that would be nominated.
    pub node: String,
    /// The pods that would be deleted, the most important first.
    pub victims: Vec<Arc<Pod>>,
    /// How many of them a budget forbids to take away.
    pub violations: usize,
}

/// Budgets, as far as preemption looks at them.
pub(crate) type Budgets = BTreeMap<Key, Arc<PodDisruptionBudget>>;

/// A pod that never started counts as started at the end of time: it is the youngest.
fn started(pod: &Pod) -> Option<Timestamp> {
    pod.timing.started
}

/// The more important pods first: by priority, then the older. Source: `pkg/scheduler/util`, `MoreImportantPod`.
fn by_importance(pods: &mut [Arc<Pod>]) {
    pods.sort_by_key(|pod| (Reverse(pod.spec.priority), started(pod).is_none(), started(pod), pod.meta.key()));
}

impl Model {
    /// What preemption would do for a pod that no node takes; `None` if nothing helps, or if the pod never preempts.
    /// Where several nodes are equal by all measures, the first by name is given: the others are [`Preemption::ties`].
    pub fn preempt(&mut self, pod: &Pod) -> Option<Preemption> {
        self.preemptions(pod).into_iter().min_by_key(cost)
    }

    /// All nodes that could be cleared for a pod that no node takes, by name, and what each would cost.
    pub fn preemptions(&mut self, pod: &Pod) -> Vec<Preemption> {
        if pod.spec.never_preempts && !mutant::on(Mutant::EverybodyPreempts) {
            return Vec::new();
        }
        let judgement = self.judge(pod);
        let curable: Vec<String> =
            judgement.nodes.iter().filter(|node| node.curable).map(|node| node.node.clone()).collect();
        curable.iter().filter_map(|node| self.victims_on(pod, node)).collect()
    }

    fn victims_on(&mut self, pod: &Pod, node: &str) -> Option<Preemption> {
        let equals = i64::from(mutant::on(Mutant::EqualsPushedOut));
        let lower = |other: &&Arc<Pod>| other.spec.priority < pod.spec.priority + equals;
        let mut potential: Vec<Arc<Pod>> = self.pods_on(node).filter(lower).cloned().collect();
        if potential.is_empty() {
            return None;
        }
        for victim in &potential {
            self.try_without(victim);
        }
        let fits = self.takes(pod, node);
        let mut victims = Vec::new();
        let mut violations = 0;
        if fits {
            by_importance(&mut potential);
            let (violating, others) = self.by_budget(&potential);
            for (victim, violates) in
                violating.into_iter().map(|v| (v, true)).chain(others.into_iter().map(|v| (v, false)))
            {
                self.put_back(&victim);
                if mutant::on(Mutant::NobodyReprieved) || !self.takes(pod, node) {
                    self.try_without(&victim);
                    violations += usize::from(violates);
                    victims.push(victim);
                }
            }
        }
        for victim in &potential {
            self.put_back(victim);
        }
        by_importance(&mut victims);
        (!victims.is_empty()).then(|| Preemption { node: node.to_owned(), victims, violations })
    }

    fn try_without(&mut self, victim: &Arc<Pod>) {
        let key = victim.meta.key();
        if let Some(node) = victim.node.as_ref().and_then(|name| self.nodes.find(name)) {
            self.tried_without.insert(key.clone(), (Arc::clone(victim), node));
        }
        self.remove_pod(&key);
    }

    fn put_back(&mut self, victim: &Arc<Pod>) {
        self.tried_without.remove(&victim.meta.key());
        self.insert_pod(victim);
    }

    fn takes(&mut self, pod: &Pod, node: &str) -> bool {
        let prepared = self.prepare(pod);
        let cycle = Cycle::new(self, pod, prepared);
        self.nodes.find(node).is_some_and(|index| cycle.blocks().is_empty() && cycle.passes(index))
    }

    /// Pods whose deletion a budget forbids once those before them are gone, and the others.
    /// Source: `framework/preemption`, `FilterVictimsWithPDBViolation`.
    fn by_budget(&self, pods: &[Arc<Pod>]) -> (Vec<Arc<Pod>>, Vec<Arc<Pod>>) {
        let mut left: BTreeMap<&Key, i64> = BTreeMap::new();
        let stops = self.profile.stops_at_a_violated_budget();
        pods.iter().cloned().partition(|pod| {
            let mut violates = false;
            for (key, budget) in self.budgets.iter().filter(|(key, _)| key.namespace == pod.meta.namespace) {
                // What has no status allows nothing.
                let unseen = BudgetStatus::default();
                let status = budget.status.as_ref().unwrap_or(&unseen);
                let selects = match &budget.selector {
                    // A budget without a selector, or with an empty one, protects nobody here.
                    Selector::Nothing => false,
                    Selector::All(requirements) => {
                        (!requirements.is_empty() || mutant::on(Mutant::EmptyBudgetProtects))
                            && budget.selector.matches(&pod.meta.labels)
                    }
                };
                if pod.meta.labels.is_empty() || !selects || seen_through(status, &pod.meta.name) {
                    continue;
                }
                let left = left.entry(key).or_insert(status.disruptions_allowed);
                *left -= 1;
                violates |= *left < 0;
                if violates && stops {
                    break;
                }
            }
            violates
        })
    }
}

/// Whether the eviction of the pod has been counted already.
fn seen_through(status: &BudgetStatus, pod: &str) -> bool {
    status.disrupted_pods.contains(pod) && !mutant::on(Mutant::DisruptedPodsIgnored)
}

impl Preemption {
    /// Those that kube-scheduler draws from: no measure tells them from the best.
    #[must_use]
    pub fn ties(candidates: &[Self]) -> Vec<&Self> {
        let nameless = |candidate: &Self| Cost { node: String::new(), ..cost(candidate) };
        let best = candidates.iter().map(nameless).min();
        candidates.iter().filter(|candidate| Some(nameless(candidate)) == best).collect()
    }
}

/// What a candidate costs: the first difference decides. Source: `framework/preemption`, `pickOneNodeForPreemption`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    violations: usize,
    highest_priority: i64,
    priorities: i128,
    pods: usize,
    /// Of the most important victims, when the oldest started: the later, the better; never is the latest.
    youngest: Reverse<(bool, Option<Timestamp>)>,
    node: String,
}

fn cost(candidate: &Preemption) -> Cost {
    let victims = &candidate.victims;
    let highest_priority = victims.iter().map(|pod| pod.spec.priority).max().unwrap_or_default();
    let oldest = victims.iter().filter(|pod| pod.spec.priority == highest_priority || mutant::on(Mutant::OldestOfAll));
    let shift = if mutant::on(Mutant::PrioritiesNotShifted) { 0 } else { i128::from(i32::MAX) + 1 };
    Cost {
        violations: if mutant::on(Mutant::BudgetsUnranked) { 0 } else { candidate.violations },
        highest_priority,
        // Priorities are shifted, so that fewer pods of negative priority are not dearer than more.
        priorities: victims.iter().map(|pod| i128::from(pod.spec.priority) + shift).sum(),
        pods: victims.len(),
        youngest: Reverse(oldest.map(|pod| (started(pod).is_none(), started(pod))).min().unwrap_or_default()),
        node: candidate.node.clone(),
    }
}
