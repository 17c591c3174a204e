//! Targets on which pods may use more memory than there is, and whose kubelet keeps too little for itself.
//!
//! ## What it checks
//! After the move, the memory limits of a target's pods add up to more than it has, and what its kubelet withholds
//! (capacity less allocatable) is less than half of what the usual tiered formula withholds of a node of this size. A pod
//! without a limit is counted by its request, and named.
//!
//! ## Why it matters
//! The scheduler counts requests. Fewer, fuller nodes use more at the same time: with a large enough reserve the kubelet
//! evicts pods, with one that is too small it starves itself, the node turns NotReady, and its pods take the next one.
//!
//! ## How to fix
//! Give the new pool a larger reserve (`--kube-reserved`, `--system-reserved`, `--eviction-hard`), or a target more. What the
//! pods really use is not in a capture: `rehome size --prometheus` counts with measured peaks.

use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;
use rehome_k8s::{Kind, quantity};
use rehome_model::ObjectRef;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;
use crate::sizing::{Machine, Reserves};

pub(super) const RULE: Rule =
    Rule { code: Code(1023), name: "memory-overcommitted", needs: &[Kind::Node, Kind::Pod], check };

/// The formula that most providers' are like. Source: `knowledge/kubelet-reserves.json`.
const USUAL: &str = "tiered";
/// Measured reserves differ from the formula by a few percent, and some providers withhold less by design.
const TOO_LITTLE: i64 = 2;

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let Ok(reserves) = Reserves::load() else { return Vec::new() };
    let targets = facts.targets.iter().filter_map(|name| facts.view.node(name));
    let thin = targets.filter_map(|node| Some((node, thin_reserve(&reserves, node)?)));
    thin.filter_map(|(node, (withheld, usual))| {
        let pods = draft.placements.cluster.pods_on(node.name());
        let size = *node.allocatable.get("memory")?;
        let most = |pod: &Pod| pod.spec.memory_limit.unwrap_or_else(|| requested(pod));
        let limits: i64 = pods.iter().map(most).fold(0, i64::saturating_add);
        if limits <= size {
            return None;
        }
        let unlimited = pods.iter().filter(|pod| pod.spec.memory_limit.is_none()).count();
        let text = |bytes| quantity::text("memory", bytes >> 20 << 20);
        let percent = i128::from(limits) * 100 / i128::from(size.max(1));
        Some(Found {
            severity: Severity::Warning,
            subject: ObjectRef::node(node.name()),
            message: format!(
                "limits of its {} pods add up to {} of memory after the move, {percent} % of its {}{}, and its kubelet \
                 withholds {} where {} is usual; by requests only: what they use is not known",
                pods.len(),
                text(limits),
                text(size),
                if unlimited > 0 { format!(" ({unlimited} have no limit)") } else { String::new() },
                text(withheld),
                text(usual),
            ),
            remedies: vec![
                "give the pool a larger reserve (kube-reserved, eviction-hard), or add a target".to_owned(),
                "count with what is used: rehome size --prometheus URL".to_owned(),
            ],
        })
    })
    .collect()
}

fn requested(pod: &Pod) -> i64 {
    pod.spec.requests.get("memory").copied().unwrap_or_default()
}

/// What a node withholds of memory and what is usual, if the one is far below the other.
fn thin_reserve(reserves: &Reserves, node: &Node) -> Option<(i64, i64)> {
    let usual = *reserves.row(USUAL).ok()?.reserve(Machine::of(node)?).ok()?.get("memory")?;
    let withheld = node.capacity.get("memory")? - node.allocatable.get("memory")?;
    (withheld.saturating_mul(TOO_LITTLE) < usual).then_some((withheld, usual))
}
