//! How many nodes of a flavor a cluster needs.
//!
//! `nodes = max(⌈demand ÷ usable⌉, floor)` is only where the search begins: pieces do not fit like water, volumes are
//! bound to zones, and a target that is full is one lost node away from an outage. The answer is the smallest number at
//! which the model of the scheduler places everything, and does so again after any one loss.
//!
//! Pure, as all of this crate: peaks that somebody measured come in as numbers.

mod advertised;
mod daemon_sets;
mod demand;
mod limits;
mod reserve;
mod room;
mod search;
mod sentence;
mod unborn;

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_k8s::node::{Node, Resources};
use rehome_k8s::pod::Pod;
use rehome_k8s::{Key, Kind, View, requests};
use rehome_model::Digest;
use rehome_model::document::Header;
use rehome_model::flavor::Flavor;
use rehome_model::intent::SizingWish;
use rehome_model::sizing::{Answer, DaemonSetShare, FlavorSizing, LowerBound, NodeBar, Peaks, Sizing};

pub use self::demand::PodPeaks;
pub use self::reserve::{Machine, ReserveError, Reserves};
pub use self::unborn::FlavorError;
use crate::facts::selection::{self, SelectionError};

/// What is to be sized.
#[derive(Clone, Copy, Debug)]
pub struct SizingRequest<'a> {
    /// The nodes that are replaced: a selector or names; all but control planes unless given.
    pub from: Option<&'a str>,
    /// Nodes that are filled and are there already: they are what is being sized, and are left out.
    pub to: Option<&'a str>,
    /// Floor and losses.
    pub wish: &'a SizingWish,
    /// The flavors to choose from.
    pub flavors: &'a [Flavor],
    /// What prices are in.
    pub currency: Option<&'a str>,
    /// What Prometheus measured.
    pub peaks: Option<&'a MeasuredPeaks>,
}

/// What Prometheus measured: for the document, and by workload.
#[derive(Clone, Debug, Default)]
pub struct MeasuredPeaks {
    /// For the document.
    pub peaks: Peaks,
    /// The highest that one pod of each workload reached.
    pub pods: PodPeaks,
}

/// Why nothing can be sized.
#[derive(Debug, thiserror::Error)]
pub enum SizingError {
    /// The nodes cannot be told.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A flavor is none.
    #[error(transparent)]
    Flavor(#[from] FlavorError),
    /// The table of reserves is broken.
    #[error(transparent)]
    Reserve(#[from] ReserveError),
    /// No flavor was given.
    #[error("expected a flavor or a catalogue, found none")]
    NoFlavor,
    /// A floor of none.
    #[error("expected a floor of at least 1, found 0")]
    NoFloor,
}

/// Sizes the target.
///
/// # Errors
/// See [`SizingError`].
pub fn size(view: &View, snapshot: Digest, request: &SizingRequest<'_>) -> Result<Sizing, SizingError> {
    if request.flavors.is_empty() {
        return Err(SizingError::NoFlavor);
    }
    if request.wish.floor == 0 {
        return Err(SizingError::NoFloor);
    }
    let (replaced, filled) = nodes(view, request)?;
    let gone: BTreeSet<String> = replaced.union(&filled).cloned().collect();
    let pods = demand::of(view, &replaced, &filled, request.peaks.map(|measured| &measured.pods));
    let mut document = demand::document(&pods, request.peaks.map(|measured| &measured.pods));
    document.peaks = request.peaks.map(|measured| measured.peaks.clone());
    let base = room::Room::without(view, &gone);
    let table = Reserves::load()?;
    let live: Vec<&Node> = replaced.iter().filter_map(|name| view.node(name)).map(AsRef::as_ref).collect();
    let mut flavors = Vec::new();
    for flavor in request.flavors {
        let unborn = unborn::Unborn::new(view, &live, flavor, &table)?;
        flavors.push(of_flavor(&base, &unborn, flavor, request.wish, &pods));
    }
    let stays = view.nodes().map(|node| node.name().to_owned()).filter(|name| !gone.contains(name)).collect();
    let notes = sentence::notes(view, request.wish, &document, &flavors);
    Ok(Sizing {
        header: Header::of::<Sizing>(),
        snapshot,
        cluster: view.cluster.clone(),
        before: live.iter().map(|node| room::bar(view, node, view.pods_on(node.name()))).collect(),
        replaced: replaced.into_iter().collect(),
        stays,
        floor: request.wish.floor,
        survives: request.wish.survives,
        demand: document,
        best: sentence::best(&flavors, request.currency),
        currency: request.currency.map(str::to_owned),
        flavors,
        notes,
    })
}

/// The nodes that are replaced, and those that are filled and there already.
fn nodes(view: &View, request: &SizingRequest<'_>) -> Result<(BTreeSet<String>, BTreeSet<String>), SizingError> {
    for kind in [Kind::Node, Kind::Pod] {
        if let Some(gap) = view.gap(kind) {
            let message = gap.message.clone();
            return Err(SizingError::Selection(match kind {
                Kind::Node => SelectionError::NodesUnknown { message },
                _ => SelectionError::PodsUnknown { message },
            }));
        }
    }
    let filled = request.to.map_or(Ok(BTreeSet::new()), |to| selection::select(view, "to", to))?;
    let replaced = match request.from {
        Some(from) => selection::select(view, "from", from)?,
        None => {
            let all = |control_planes: bool| -> BTreeSet<String> {
                let nodes = view.nodes().filter(|node| control_planes || !control_plane(node));
                nodes.map(|node| node.name().to_owned()).filter(|name| !filled.contains(name)).collect()
            };
            let workers = all(false);
            // A cluster of one node has no others.
            if workers.is_empty() { all(true) } else { workers }
        }
    };
    let both: Vec<&str> = replaced.intersection(&filled).map(String::as_str).collect();
    if !both.is_empty() {
        return Err(SizingError::Selection(SelectionError::Overlap { nodes: both.join(", ") }));
    }
    Ok((replaced, filled))
}

/// Whether a node carries a control plane and keeps workloads away. Source: `k8s.io/kubernetes/cmd/kubeadm/app/constants`.
fn control_plane(node: &Node) -> bool {
    let ours = |key: &str| key == "node-role.kubernetes.io/control-plane" || key == "node-role.kubernetes.io/master";
    node.taints.iter().any(|taint| ours(&taint.key) && taint.effect.keeps_away())
}

fn of_flavor(
    base: &room::Room<'_>,
    unborn: &unborn::Unborn,
    flavor: &Flavor,
    wish: &SizingWish,
    pods: &demand::Pods,
) -> FlavorSizing {
    let mut one = base.clone();
    let names = one.add(unborn, 1..=1);
    let name = names.first().map_or("", String::as_str);
    let bar = one.bar(name);
    let allocatable = one.node(name).map(|node| node.allocatable.clone()).unwrap_or_default();
    let mut usable = allocatable.clone();
    for (resource, amount) in &bar.daemon_sets {
        if let Some(left) = usable.get_mut(resource) {
            *left -= amount;
        }
    }
    let shares = one.node(name).map_or_else(Vec::new, |node| shares(&one, node));
    let search = search::Search { base, unborn, survives: wish.survives, floor: wish.floor };
    let (wanted, nowhere) = search::impossible(&search, &pods.pods);
    let bound = search::lower_bound(&wanted, &usable);
    let mut found = search::search(&search, &wanted, bound.nodes);
    found.nowhere.extend(nowhere);
    found.nowhere.sort_by(|a, b| a.pod.cmp(&b.pod));
    let needed = found.needed;
    let answer = found.answer.as_ref().map(|fit| {
        let (binds, because) = sentence::binding(fit.nodes, needed, wish, &bound, &found.tried);
        Answer {
            nodes: fit.nodes,
            binds,
            because,
            used_thousandths: used(&fit.after),
            cost: flavor.price.map(|price| price * f64::from(fit.nodes)),
            after: fit.after.clone(),
            worst_loss: fit.worst.clone(),
        }
    });
    let lower_bound = if bound.nodes < wish.floor {
        LowerBound {
            nodes: wish.floor,
            by: "floor".to_owned(),
            because: format!("the floor; {} alone would be {}", bound.because, bound.nodes),
        }
    } else {
        bound
    };
    FlavorSizing {
        flavor: flavor.clone(),
        node: unborn.fields.clone(),
        advertised: unborn.advertised.clone(),
        usable_thousandths: thousandths(&usable, &bar.capacity),
        capacity: bar.capacity,
        allocatable,
        usable,
        reserve: unborn.reserve.clone(),
        daemon_sets: shares,
        lower_bound,
        answer,
        nowhere: found.nowhere,
        bound_to_zone: found.bound_to_zone.iter().map(|key| key.reference(Kind::Pod)).collect(),
        tried: found.tried,
    }
}

fn shares(room: &room::Room<'_>, node: &Node) -> Vec<DaemonSetShare> {
    let share = |pod: &Arc<Pod>| -> Option<DaemonSetShare> {
        let owner = pod.meta.controller.as_ref()?;
        let key = Key::new(pod.meta.namespace.clone(), owner.name.clone());
        Some(DaemonSetShare { daemon_set: key.reference(Kind::DaemonSet), requests: pod.spec.requests.clone() })
    };
    room.pods_on(node.name()).filter_map(share).collect()
}

/// Part ÷ whole in thousandths, for cpu and memory.
fn thousandths(part: &Resources, whole: &Resources) -> Resources {
    let of = |name: &str| {
        let whole = whole.get(name).copied().filter(|whole| *whole > 0)?;
        let part = part.get(name).copied().unwrap_or(0);
        Some((name.to_owned(), i64::try_from(i128::from(part) * 1000 / i128::from(whole)).ok()?))
    };
    ["cpu", "memory"].into_iter().filter_map(of).collect()
}

/// How much of what pods can have is asked for, over all these nodes.
fn used(bars: &[NodeBar]) -> Resources {
    let (mut asked, mut all) = (Resources::new(), Resources::new());
    for bar in bars {
        for part in [&bar.daemon_sets, &bar.workloads] {
            requests::add(&mut asked, part);
            requests::add(&mut all, part);
        }
        requests::add(&mut all, &bar.free);
    }
    thousandths(&asked, &all)
}

#[cfg(test)]
mod tests;
