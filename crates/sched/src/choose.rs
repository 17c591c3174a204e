//! One node out of those that would take a pod.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::node::{Node, Resources};
use rehome_k8s::pod::Pod;
use rehome_k8s::storage::PersistentVolumeClaim;
use rehome_k8s::toleration::Effect;
use rehome_k8s::{Key, Kind, Record, View};

use crate::{Candidate, feasible, used};

/// A pod that no node takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unschedulable {
    /// How many nodes gave each reason.
    pub reasons: BTreeMap<String, usize>,
    /// The scheduler's sentence.
    pub message: String,
}

/// Requests that scores assume where a container has none: 0.1 cores and 200 MiB.
/// Source: `k8s.io/kubernetes/pkg/scheduler/util/pod_resources.go`.
const ASSUMED: [(&str, i64); 2] = [("cpu", 100), ("memory", 200 << 20)];
/// Scores range from 0 to this. Source: `k8s.io/kube-scheduler/framework`, `MaxNodeScore`.
const MAX_SCORE: i64 = 100;
/// The weight of TaintToleration in the default profile; NodeResourcesFit and BalancedAllocation weigh 1 each.
const TAINT_WEIGHT: i64 = 3;

/// The node that the scheduler would take, ties broken by the seed.
///
/// # Errors
/// No node takes it.
pub fn choose(view: &View, pod: &Candidate<'_>, seed: u64) -> Result<String, Unschedulable> {
    let feasibility = feasible(view, pod);
    let scored = feasibility.nodes.iter().filter_map(|name| view.node(name)).map(|node| (score(view, pod, node), node));
    let scored: Vec<_> = scored.collect();
    let Some(best) = scored.iter().map(|(score, _)| *score).max() else {
        return Err(Unschedulable { reasons: feasibility.reasons(), message: feasibility.message() });
    };
    let best: Vec<&str> = scored.iter().filter(|(score, _)| *score == best).map(|(_, node)| node.name()).collect();
    let index = usize::try_from(mix(seed) % best.len() as u64).unwrap_or(0);
    Ok(best[index].to_owned())
}

/// Places pods one after the other, each on a view that holds the ones before it.
#[must_use]
pub fn place_all(view: &View, pods: &[Pod], seed: u64) -> Vec<Result<String, Unschedulable>> {
    let mut view = view.clone();
    let mut results = Vec::with_capacity(pods.len());
    for (index, pod) in pods.iter().enumerate() {
        let result = choose(&view, &Candidate::of(pod), seed.wrapping_add(index as u64));
        if let Ok(node) = &result {
            select_node(&mut view, pod, node);
            view.insert(Record::Pod(Arc::new(Pod { node: Some(node.clone()), ..pod.clone() })));
        }
        results.push(result);
    }
    results
}

/// Claims without a volume get one where their first pod goes; other pods that mount them must follow.
fn select_node(view: &mut View, pod: &Pod, node: &str) {
    for name in pod.claims() {
        let key = Key::new(pod.meta.namespace.clone(), name);
        if let Some(Record::PersistentVolumeClaim(claim)) = view.get(Kind::PersistentVolumeClaim, &key)
            && claim.volume.is_none()
            && claim.selected_node.is_none()
        {
            let claim = PersistentVolumeClaim { selected_node: Some(node.to_owned()), ..(**claim).clone() };
            view.insert(Record::PersistentVolumeClaim(Arc::new(claim)));
        }
    }
}

fn score(view: &View, pod: &Candidate<'_>, node: &Node) -> i64 {
    let used = used(view, node.name(), Some(pod));
    least_allocated(pod, &used, &node.allocatable)
        + balanced(pod, &used, &node.allocatable)
        + TAINT_WEIGHT * soft_taints(pod, node)
}

fn share(pod: &Candidate<'_>, used: &Resources, allocatable: &Resources, name: &str, assumed: i64) -> Option<i64> {
    let size = allocatable.get(name).copied().filter(|size| *size > 0)?;
    let wanted = pod.spec.requests.get(name).copied().filter(|wanted| *wanted > 0).unwrap_or(assumed);
    let total = i128::from(used.get(name).copied().unwrap_or_default()) + i128::from(wanted);
    i64::try_from((total * i128::from(MAX_SCORE) / i128::from(size)).clamp(0, i128::from(MAX_SCORE))).ok()
}

/// NodeResourcesFit with the strategy LeastAllocated over cpu and memory.
fn least_allocated(pod: &Candidate<'_>, used: &Resources, allocatable: &Resources) -> i64 {
    let free: Vec<i64> = ASSUMED
        .iter()
        .filter_map(|(name, assumed)| share(pod, used, allocatable, name, *assumed))
        .map(|share| MAX_SCORE - share)
        .collect();
    free.iter().sum::<i64>() / i64::try_from(free.len().max(1)).unwrap_or(1)
}

/// NodeResourcesBalancedAllocation over cpu and memory: half of how far the two shares are apart.
fn balanced(pod: &Candidate<'_>, used: &Resources, allocatable: &Resources) -> i64 {
    let shares: Vec<i64> = ASSUMED.iter().filter_map(|(name, _)| share(pod, used, allocatable, name, 0)).collect();
    match shares[..] {
        [cpu, memory] => MAX_SCORE - (cpu - memory).abs() / 2,
        _ => MAX_SCORE,
    }
}

/// TaintToleration: full marks without an untolerated `PreferNoSchedule` taint, none with one.
fn soft_taints(pod: &Candidate<'_>, node: &Node) -> i64 {
    let repelled = node.taints.iter().any(|taint| {
        taint.effect == Effect::PreferNoSchedule && !pod.spec.tolerations.iter().any(|t| t.tolerates(taint))
    });
    if repelled { 0 } else { MAX_SCORE }
}

/// Mixes the bits of a seed (the finaliser of SplitMix64), so that neighbouring seeds choose differently.
fn mix(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
