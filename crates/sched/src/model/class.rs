//! Pods that the scheduler cannot tell apart: a namespace, labels, what the spec asks. Everything that can be worked out
//! from that alone is worked out once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rehome_k8s::affinity::{NodeOperator, NodeTerm, PodTerm};
use rehome_k8s::mutant::{Mutant, on};
use rehome_k8s::pod::PodSpec;
use rehome_k8s::requests::{Asked, Resized};
use rehome_k8s::selector::{Operator, Requirement, Selector};
use rehome_k8s::spread::SpreadConstraint;

use super::Model;
use super::nodes::{LARGEST, Load, Port};
use super::question::Question;
use super::tally::Counted;
use super::term::{Hold, REQUIRED_WEIGHT, Scope, Term};

/// What makes pods of one class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shape {
    pub(crate) namespace: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) spec: Arc<PodSpec>,
    pub(crate) resized: Option<Arc<Resized>>,
    /// Of a pod without constraints of its own: whom the cluster's default constraints count.
    pub(crate) siblings: Option<Selector>,
}

/// A spread constraint, ready to be counted.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub(crate) tally: usize,
    pub(crate) topology: usize,
    /// Whether the key is `kubernetes.io/hostname`, whose scores look at the node alone.
    pub(crate) hostname: bool,
    pub(crate) max_skew: i64,
    pub(crate) min_domains: i64,
    /// Whether the pod matches its own selector.
    pub(crate) selects_itself: bool,
    /// Questions whose answer leaves a node out of the count.
    pub(crate) leaves_out: Vec<usize>,
}

/// The nodes that NodeAffinity's PreFilter leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// All.
    Any,
    /// Those that `metadata.name` names.
    Only(BTreeSet<String>),
    /// None: the terms contradict each other.
    Conflict,
}

/// A class, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) shape: Arc<Shape>,
    pub(crate) load: Load,
    /// cpu and memory that are asked: what BalancedAllocation adds.
    pub(crate) balanced: [i64; 2],
    /// cpu and memory that LeastAllocated adds.
    pub(crate) coming: [i64; 2],
    pub(crate) ports: Vec<Port>,
    pub(crate) cordoned: usize,
    pub(crate) tainted: usize,
    pub(crate) discouraged: usize,
    /// `None` if it neither selects nodes nor has affinity to some.
    pub(crate) elsewhere: Option<usize>,
    pub(crate) preferred: Option<usize>,
    pub(crate) lacks: Option<usize>,
    pub(crate) named: Named,
    pub(crate) hard: Vec<Constraint>,
    pub(crate) soft: Vec<Constraint>,
    /// Whether the soft constraints are the cluster's, not the pod's own.
    pub(crate) by_default: bool,
    /// Pods that match all terms of required affinity, and the terms' keys.
    pub(crate) attracted: Option<(usize, Vec<usize>)>,
    /// Whether the pod matches all these terms itself.
    pub(crate) attracts_itself: bool,
    /// Terms of required anti-affinity: who, and the key.
    pub(crate) repelled: Vec<(usize, usize)>,
    /// Preferred terms: who, the key, and the weight, less than 0 for anti-affinity.
    pub(crate) inclined: Vec<(usize, usize, i64)>,
    /// Terms that the pod brings with it.
    pub(crate) holds: Vec<(usize, Hold)>,
    /// Terms of others that select it, and tallies that count it. Both grow as others are met.
    pub(crate) selected_by: Vec<usize>,
    pub(crate) counted_by: Vec<usize>,
}

/// Source: `k8s.io/api/core/v1`, `LabelHostname`.
pub(crate) const HOSTNAME: &str = "kubernetes.io/hostname";
/// The cluster's default constraints: key and skew. Source: `podtopologyspread/plugin.go`, `systemDefaultConstraints`.
const DEFAULT_SPREAD: [(&str, i64); 2] = [(HOSTNAME, 3), ("topology.kubernetes.io/zone", 5)];

impl Class {
    /// What it asks of which questions, so that the answers can be brought up to date.
    pub(crate) fn questions(&self) -> impl Iterator<Item = usize> + '_ {
        let own = [Some(self.cordoned), Some(self.tainted), Some(self.discouraged)];
        own.into_iter().chain([self.elsewhere, self.preferred, self.lacks]).flatten()
    }
}

/// What a class asks, by the minor's way of counting resizes.
fn asked(shape: &Shape, by_pod: bool) -> Asked {
    match shape.resized.as_ref().filter(|_| !on(Mutant::ResizesIgnored)) {
        Some(resized) if by_pod => resized.by_pod.clone(),
        Some(resized) => resized.by_container.clone(),
        None => Asked {
            requests: shape.spec.requests.clone(),
            scored: shape.spec.scored.clone(),
            coming: shape.spec.coming.clone(),
        },
    }
}

impl Model {
    /// Works out all about a class that does not depend on where pods are.
    pub(super) fn compile(&mut self, shape: Arc<Shape>) -> Class {
        let spec = Arc::clone(&shape.spec);
        let asked = asked(&shape, self.profile.resizes_by_pod());
        let mut load = Load::default();
        let ignored = |name: &str| on(Mutant::OtherResourcesIgnored) && !matches!(name, "cpu" | "memory");
        let asks = |(name, amount): &(&String, &i64)| *name != "pods" && **amount > 0 && !ignored(name);
        for (name, amount) in asked.requests.iter().filter(asks) {
            load.requests.push((self.nodes.resource(name), (*amount).min(LARGEST)));
        }
        // In the scheduler's order: cpu, memory, ephemeral-storage, then the others.
        load.requests.sort_unstable();
        let both = |amounts: &rehome_k8s::node::Resources| {
            ["cpu", "memory"].map(|name| amounts.get(name).map_or(0, |amount| (*amount).clamp(0, LARGEST)))
        };
        load.scored = both(if on(Mutant::NothingAssumed) { &asked.requests } else { &asked.scored });
        let node = &spec.affinity.node;
        let selects = !spec.node_selector.is_empty() || node.is_some();
        let elsewhere = selects.then(|| self.nodes.ask(Question::Elsewhere(spec.node_selector.clone(), node.clone())));
        let preferred = preferences(&spec);
        let features = self.profile.looks_at_declared_features() && !on(Mutant::DeclaredFeaturesIgnored);
        let features = features && !spec.needs_features.is_empty();
        let tainted = self.nodes.ask(Question::Tainted(spec.tolerations.clone()));
        let mut class = Class {
            load,
            balanced: both(&asked.requests),
            coming: both(if on(Mutant::NothingAssumed) { &asked.requests } else { &spec.coming }),
            ports: spec.host_ports.iter().map(|(ip, protocol, port)| (protocol.clone(), *port, ip.clone())).collect(),
            cordoned: self.nodes.ask(Question::Cordoned(spec.tolerations.clone())),
            tainted,
            discouraged: self.nodes.ask(Question::Discouraged(spec.tolerations.clone())),
            elsewhere,
            preferred: (!preferred.is_empty()).then(|| self.nodes.ask(Question::Preferred(preferred))),
            lacks: features.then(|| self.nodes.ask(Question::Lacks(spec.needs_features.clone()))),
            named: node.as_deref().map_or(Named::Any, named),
            hard: Vec::new(),
            soft: Vec::new(),
            by_default: spec.spread.is_empty(),
            attracted: None,
            attracts_itself: false,
            repelled: Vec::new(),
            inclined: Vec::new(),
            holds: Vec::new(),
            selected_by: Vec::new(),
            counted_by: Vec::new(),
            shape,
        };
        self.compile_spread(&mut class);
        self.compile_affinity(&mut class);
        class
    }

    fn compile_spread(&mut self, class: &mut Class) {
        let shape = Arc::clone(&class.shape);
        for constraint in &shape.spec.spread {
            let selector = selector(constraint, &shape.labels);
            let honor = constraint.honor_node_affinity && !on(Mutant::AffinityPolicyIgnored);
            let affinity = honor.then_some(class.elsewhere).flatten();
            let honor = constraint.honor_node_taints || on(Mutant::TaintsPolicyIgnored);
            let taints = honor.then_some(class.tainted);
            let ready = Constraint {
                selects_itself: selector.matches(&shape.labels) && !on(Mutant::SkewWithoutItself),
                tally: self.tally(Counted::Spread(shape.namespace.clone(), selector)),
                topology: self.nodes.topology(&constraint.topology_key),
                hostname: constraint.topology_key == HOSTNAME,
                max_skew: constraint.max_skew,
                min_domains: constraint.min_domains.unwrap_or(1),
                leaves_out: affinity.into_iter().chain(taints).collect(),
            };
            self.follow_spread(&ready, constraint.hard);
            if constraint.hard { class.hard.push(ready) } else { class.soft.push(ready) }
        }
        if let Some(siblings) = shape.siblings.as_ref().filter(|_| !on(Mutant::DefaultSpreadOff)) {
            for (key, max_skew) in DEFAULT_SPREAD {
                let ready = Constraint {
                    selects_itself: siblings.matches(&shape.labels),
                    tally: self.tally(Counted::Spread(shape.namespace.clone(), siblings.clone())),
                    topology: self.nodes.topology(key),
                    hostname: key == HOSTNAME,
                    max_skew,
                    min_domains: 1,
                    // The policies of constraints that say nothing.
                    leaves_out: class.elsewhere.into_iter().collect(),
                };
                self.follow_spread(&ready, false);
                class.soft.push(ready);
            }
        }
    }

    /// Scores of the hostname look at the node alone.
    fn follow_spread(&mut self, constraint: &Constraint, hard: bool) {
        if hard || !constraint.hostname {
            self.follow(constraint.tally, constraint.topology);
        }
    }

    fn compile_affinity(&mut self, class: &mut Class) {
        let shape = Arc::clone(&class.shape);
        let affinity = &shape.spec.affinity;
        let scope = |model: &Self, term: &PodTerm| Scope::of(term, &shape.namespace, &model.namespaces);
        // Whom the pod itself looks for; what others that have the term look for is `scope` in every minor.
        let sought = |model: &Self, term: &PodTerm| {
            if model.profile.takes_unlabelled_namespaces() && Scope::takes_unlabelled(term) {
                return Scope::everywhere(term);
            }
            scope(model, term)
        };
        if !affinity.pod.is_empty() {
            let scopes: Vec<Scope> = affinity.pod.iter().map(|term| sought(self, term)).collect();
            class.attracts_itself = scopes.iter().all(|scope| scope.selects(&shape.namespace, &shape.labels));
            let keys: Vec<_> = affinity.pod.iter().map(|term| self.nodes.topology(&term.topology_key)).collect();
            let tally = self.tally(Counted::All(scopes));
            keys.iter().for_each(|topology| self.follow(tally, *topology));
            class.attracted = Some((tally, keys));
        }
        let anti: Vec<_> = affinity.pod_anti.iter().map(|term| (term, 0)).collect();
        let weighted = affinity.pod_preferred.iter().map(|(weight, term)| (term, *weight));
        let averse = |weight: &i64| if on(Mutant::AversionAttracts) { *weight } else { -weight };
        let weighted = weighted.chain(affinity.pod_anti_preferred.iter().map(|(weight, term)| (term, averse(weight))));
        for (term, weight) in anti.iter().copied().chain(weighted.clone()) {
            let tally = self.tally(Counted::All(vec![sought(self, term)]));
            let topology = self.nodes.topology(&term.topology_key);
            self.follow(tally, topology);
            if weight == 0 {
                class.repelled.push((tally, topology))
            } else {
                class.inclined.push((tally, topology, weight))
            }
        }
        let draws = if on(Mutant::RequiredDrawsNobody) { 0 } else { REQUIRED_WEIGHT };
        let required = affinity.pod.iter().map(|term| (term, Hold::Weighs(draws)));
        let weighs = weighted.map(|(term, weight)| (term, Hold::Weighs(weight)));
        let holds: Vec<_> = anti.iter().map(|(term, _)| (*term, Hold::Forbids)).chain(required).chain(weighs).collect();
        for (term, hold) in holds {
            let term = Term { scope: scope(self, term), topology: self.nodes.topology(&term.topology_key) };
            class.holds.push((self.term(term), hold));
        }
    }
}

/// Preferred terms that count. Source: `component-helpers/…/nodeaffinity`, `NewPreferredSchedulingTerms`.
fn preferences(spec: &PodSpec) -> Vec<(i64, NodeTerm)> {
    let counts =
        |(weight, term): &&(i64, NodeTerm)| *weight != 0 && !(term.labels.is_empty() && term.fields.is_empty());
    spec.affinity.node_preferred.iter().filter(counts).cloned().collect()
}

/// The nodes that all terms name. Source: `nodeaffinity/node_affinity.go`, `PreFilter`.
fn named(terms: &[NodeTerm]) -> Named {
    let mut names = BTreeSet::new();
    for term in terms {
        let by_name = |field: &&rehome_k8s::affinity::NodeExpression| {
            field.key == "metadata.name" && field.operator == NodeOperator::In
        };
        let lists = term.fields.iter().filter(by_name).map(|field| field.values.iter().cloned().collect());
        match lists.reduce(|a: BTreeSet<String>, b| a.intersection(&b).cloned().collect()) {
            Some(of_term) => names.extend(of_term),
            None => return Named::Any,
        }
    }
    match (terms.is_empty(), names.is_empty()) {
        (true, _) => Named::Any,
        (false, true) => Named::Conflict,
        (false, false) => Named::Only(names),
    }
}

/// The selector with the pod's own values of `matchLabelKeys` added.
fn selector(constraint: &SpreadConstraint, labels: &BTreeMap<String, String>) -> Selector {
    let Selector::All(mut requirements) = constraint.selector.clone() else { return Selector::Nothing };
    for key in constraint.match_label_keys.iter().filter(|_| !on(Mutant::MatchLabelKeysIgnored)) {
        if let Some(value) = labels.get(key) {
            requirements.push(Requirement { key: key.clone(), operator: Operator::In, values: vec![value.clone()] });
        }
    }
    Selector::All(requirements)
}
