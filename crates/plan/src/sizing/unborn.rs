//! Nodes that do not exist yet: Node and CSINode from a flavor, with each part marked by how it is known.
//!
//! In this order: what was given with the flavor, what live nodes of the flavor have, what a formula says, what the other
//! nodes have. Labels that say which pool a node is in are not guessed: a pod that needs one fits nowhere until it is
//! given. Images, conditions and addresses are not made up.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::node::{Node, Resources, ZONE_LABEL};
use rehome_k8s::storage::CsiNode;
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::{Kind, Meta, Record, View, quantity};
use rehome_model::flavor::{Flavor, Quantity};
use rehome_model::sizing::{Basis, NodeField, Reserve};
use rehome_model::verb::FENCE_TAINT;

use super::advertised;
use super::reserve::{self, Machine, ReserveError, Reserves};

/// Where the kubelet does not say how many pods it admits. Source: `k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1/defaults.go`.
const DEFAULT_MAX_PODS: i64 = 110;
/// Prefix of taints that come and go with a node's condition.
const CONDITION_TAINTS: &str = "node.kubernetes.io/";
/// Labels that are different on each node, or that the flavor decides.
const OWN_LABELS: [&str; 5] = [
    "kubernetes.io/hostname",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    ZONE_LABEL,
    "failure-domain.beta.kubernetes.io/zone",
];

/// A flavor that no node can be made of.
#[derive(Debug, thiserror::Error)]
pub enum FlavorError {
    /// A size that is none.
    #[error("flavor {flavor}: {field}: {source}")]
    Quantity {
        /// The flavor.
        flavor: String,
        /// The field.
        field: String,
        /// What is wrong with it.
        #[source]
        source: quantity::NotAQuantity,
    },
    /// No cores, or no memory.
    #[error("flavor {flavor}: expected {field} above zero, found {found}")]
    Nothing {
        /// The flavor.
        flavor: String,
        /// The field.
        field: &'static str,
        /// What was given.
        found: Quantity,
    },
    /// A taint that is none.
    #[error("flavor {flavor}: expected a taint such as key=value:NoSchedule, found {found:?}")]
    Taint {
        /// The flavor.
        flavor: String,
        /// What was given.
        found: String,
    },
    /// Its reserve is not known.
    #[error("flavor {flavor}: {source}")]
    Reserve {
        /// The flavor.
        flavor: String,
        /// Why.
        #[source]
        source: ReserveError,
    },
}

/// What new nodes of a flavor are made of.
#[derive(Clone, Debug)]
pub(super) struct Unborn {
    /// The node without name, hostname and zone.
    node: Node,
    csi: CsiNode,
    /// The zones in which they stand, in turn; one empty one where there are none.
    pub zones: Vec<String>,
    /// Labels that repeat the zone.
    zone_labels: BTreeSet<String>,
    /// What the provider sells.
    pub advertised: Resources,
    /// How the reserve is known.
    pub reserve: Reserve,
    /// How each part is known.
    pub fields: Vec<NodeField>,
    prefix: String,
}

impl Unborn {
    /// What nodes of this flavor are made of in this cluster. `replaced` are the nodes in whose place they come.
    ///
    /// # Errors
    /// See [`FlavorError`].
    pub(super) fn new(view: &View, replaced: &[&Node], flavor: &Flavor, table: &Reserves) -> Result<Self, FlavorError> {
        let title = flavor.title();
        let amount = |field: &str, resource: &str, given: &Quantity| {
            quantity::amount(resource, &given.to_string()).map_err(|source| FlavorError::Quantity {
                flavor: title.clone(),
                field: field.to_owned(),
                source,
            })
        };
        let reserve_error = |source| FlavorError::Reserve { flavor: title.clone(), source };
        let cpu = amount("cpu", "cpu", &flavor.cpu)?;
        let memory = amount("memory", "memory", &flavor.memory)?;
        for (field, amount, found) in [("cpu", cpu, &flavor.cpu), ("memory", memory, &flavor.memory)] {
            if amount <= 0 {
                return Err(FlavorError::Nothing { flavor: title, field, found: found.clone() });
            }
        }
        let all: Vec<&Node> = view.nodes().map(AsRef::as_ref).collect();
        let (same, others): (Vec<&Node>, Vec<&Node>) = all.iter().partition(|node| is_of(node, flavor, cpu, memory));
        let mut parts = Parts::default();
        let capacity_memory = match &flavor.capacity {
            Some(given) => parts.add("capacity.memory", amount("capacity", "memory", given)?, Basis::Given, "given"),
            None => {
                let (bytes, basis, because) = advertised::capacity(memory, &same, &others);
                parts.add("capacity.memory", bytes, basis, &because)
            }
        };
        parts.add("capacity.cpu", cpu, Basis::Given, "given");
        let (row, chosen) = table.choose(flavor.provider.as_deref(), &all).map_err(reserve_error)?;
        let max_pods = max_pods(flavor, &same, replaced, row.max_pods, &mut parts);
        let machine = Machine { cpu, memory: capacity_memory, max_pods };
        let reserve = reserve::of(row, chosen, machine, &same).map_err(reserve_error)?;
        let mut capacity = Resources::from([
            ("cpu".to_owned(), cpu),
            ("memory".to_owned(), capacity_memory),
            ("pods".to_owned(), max_pods),
        ]);
        let mut allocatable = capacity.clone();
        for name in ["cpu", "memory"] {
            let left = allocatable[name] - reserve.used.get(name).copied().unwrap_or(0);
            let left = parts.add(&format!("allocatable.{name}"), left.max(0), reserve.basis, &reserve.because);
            allocatable.insert(name.to_owned(), left);
        }
        ephemeral_storage(flavor, &same, replaced, &amount, &mut parts)?.into_iter().for_each(|(all, left)| {
            capacity.insert("ephemeral-storage".to_owned(), all);
            allocatable.insert("ephemeral-storage".to_owned(), left);
        });
        other_resources(flavor, &same, &amount, &mut capacity, &mut allocatable, &mut parts)?;
        let labels = labels(flavor, &same, replaced, &mut parts);
        let taints = taints(flavor, &same, &mut parts)?;
        let (zones, zone_labels) = zones(flavor, replaced, &mut parts);
        let csi = csi(view, flavor, &same, replaced, &mut parts);
        let node = Node {
            meta: Meta { labels, ..Meta::default() },
            taints,
            allocatable,
            capacity,
            ready: Some(true),
            kubelet_version: same.iter().chain(replaced).find_map(|node| node.kubelet_version.clone()),
            ..Node::default()
        };
        let advertised = Resources::from([("cpu".to_owned(), cpu), ("memory".to_owned(), memory)]);
        let prefix = prefix(view, &title);
        Ok(Self { node, csi, zones, zone_labels, advertised, reserve, fields: parts.0, prefix })
    }

    /// The node with this number, from 1; zones are filled in turn.
    #[must_use]
    pub(super) fn node(&self, number: usize) -> Node {
        let mut node = self.node.clone();
        node.meta.name = format!("{}-{number}", self.prefix);
        node.meta.labels.insert("kubernetes.io/hostname".to_owned(), node.meta.name.clone());
        let zone = &self.zones[(number + self.zones.len() - 1) % self.zones.len()];
        if !zone.is_empty() {
            for label in &self.zone_labels {
                node.meta.labels.insert(label.clone(), zone.clone());
            }
        }
        node
    }

    /// The CSINode of the node with this number.
    #[must_use]
    pub(super) fn csi_node(&self, number: usize) -> CsiNode {
        let mut csi = self.csi.clone();
        csi.meta.name = format!("{}-{number}", self.prefix);
        csi
    }
}

/// Whether a live node is of this flavor: by name, or by size where the flavor has none or the node no label.
fn is_of(node: &Node, flavor: &Flavor, cpu: i64, memory: i64) -> bool {
    let same_size = || node.capacity.get("cpu") == Some(&cpu) && advertised::memory_of(node) == Some(memory);
    match advertised::flavor_of(node) {
        Some(name) if !flavor.name.is_empty() && name == flavor.name => true,
        Some(_) if !flavor.name.is_empty() => false,
        _ => same_size(),
    }
}

/// A name that no node of the cluster begins with.
fn prefix(view: &View, title: &str) -> String {
    let clean: String = title
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' })
        .collect();
    if view.nodes().any(|node| node.name().starts_with(&clean)) { format!("new-{clean}") } else { clean }
}

fn max_pods(flavor: &Flavor, same: &[&Node], replaced: &[&Node], default: i64, parts: &mut Parts) -> i64 {
    let least = |nodes: &[&Node]| nodes.iter().filter_map(|node| node.allocatable.get("pods").copied()).min();
    let (pods, basis, because) = match (flavor.max_pods, least(same), least(replaced)) {
        (Some(given), _, _) => (given, Basis::Given, "given"),
        (_, Some(measured), _) => (measured, Basis::Measured, "live nodes of this flavor admit so many"),
        (_, _, Some(assumed)) => (assumed, Basis::Assumed, "the nodes that are replaced admit so many"),
        _ if default > 0 => (default, Basis::Formula, "the provider's default"),
        _ => (DEFAULT_MAX_PODS, Basis::Assumed, "the kubelet's default"),
    };
    parts.add("allocatable.pods", pods, basis, because)
}

type AmountOf<'a> = dyn Fn(&str, &str, &Quantity) -> Result<i64, FlavorError> + 'a;

/// Capacity and allocatable of ephemeral storage, where they are known from anywhere.
fn ephemeral_storage(
    flavor: &Flavor,
    same: &[&Node],
    replaced: &[&Node],
    amount: &AmountOf<'_>,
    parts: &mut Parts,
) -> Result<Option<(i64, i64)>, FlavorError> {
    const NAME: &str = "ephemeral-storage";
    /// The kubelet evicts below this share of free disk, in percent. Source: `nodefs.available` in the kubelet's
    /// `pkg/kubelet/eviction/defaults_linux.go`.
    const EVICTION_PERCENT: i64 = 10;
    let least = |nodes: &[&Node]| {
        let of = |node: &&Node| Some((*node.capacity.get(NAME)?, *node.allocatable.get(NAME)?));
        nodes.iter().filter_map(of).min()
    };
    let (found, basis, because) = match (&flavor.disk, least(same), least(replaced)) {
        (Some(given), _, _) => {
            let disk = amount("disk", NAME, given)?;
            (
                (disk, disk / 100 * (100 - EVICTION_PERCENT)),
                Basis::Formula,
                "the disk less the kubelet's eviction threshold of 10 %",
            )
        }
        (_, Some(found), _) => (found, Basis::Measured, "live nodes of this flavor have so much"),
        (_, _, Some(found)) => (found, Basis::Assumed, "the nodes that are replaced have so much"),
        _ => return Ok(None),
    };
    parts.add("allocatable.ephemeral-storage", found.1, basis, because);
    Ok(Some(found))
}

/// Devices and huge pages: as given, or as live nodes of the flavor have them.
fn other_resources(
    flavor: &Flavor,
    same: &[&Node],
    amount: &AmountOf<'_>,
    capacity: &mut Resources,
    allocatable: &mut Resources,
    parts: &mut Parts,
) -> Result<(), FlavorError> {
    let mut found: BTreeMap<String, (i64, Basis, &str)> = BTreeMap::new();
    for (name, least) in same.iter().flat_map(|node| &node.allocatable) {
        if !allocatable.contains_key(name) && name != "ephemeral-storage" && *least > 0 {
            let entry = found.entry(name.clone()).or_insert((
                *least,
                Basis::Measured,
                "live nodes of this flavor have so many",
            ));
            entry.0 = entry.0.min(*least);
        }
    }
    for (name, given) in &flavor.resources {
        found.insert(name.clone(), (amount(name, name, given)?, Basis::Given, "given"));
    }
    for (name, (number, basis, because)) in found {
        parts.add(&format!("allocatable[{name}]"), number, basis, because);
        capacity.insert(name.clone(), number);
        allocatable.insert(name, number);
    }
    Ok(())
}

fn labels(flavor: &Flavor, same: &[&Node], replaced: &[&Node], parts: &mut Parts) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, (String, Basis, &str)> = BTreeMap::new();
    for (key, value) in common(replaced) {
        // Which pool a node is in is the provider's label, or the operator's: only what Kubernetes defines is assumed.
        let domain = key.split('/').next().unwrap_or_default();
        if ["kubernetes.io", "beta.kubernetes.io", "topology.kubernetes.io"].contains(&domain) {
            found.insert(key, (value, Basis::Assumed, "the nodes that are replaced have it"));
        }
    }
    for (key, value) in common(same) {
        found.insert(key, (value, Basis::Measured, "live nodes of this flavor have it"));
    }
    if !flavor.name.is_empty() {
        let name = (flavor.name.clone(), Basis::Given, "the flavor's name");
        found.insert("node.kubernetes.io/instance-type".to_owned(), name);
    }
    for (key, value) in &flavor.labels {
        found.insert(key.clone(), (value.clone(), Basis::Given, "given"));
    }
    for (key, (value, basis, because)) in &found {
        parts.text(&format!("labels[{key}]"), value, *basis, because);
    }
    found.into_iter().map(|(key, (value, _, _))| (key, value)).collect()
}

/// Labels that all of these nodes have with one value, less those that are each node's own.
fn common(nodes: &[&Node]) -> BTreeMap<String, String> {
    let Some((first, others)) = nodes.split_first() else { return BTreeMap::new() };
    let shared = first.meta.labels.iter().filter(|(key, value)| {
        !OWN_LABELS.contains(&key.as_str()) && others.iter().all(|node| node.meta.labels.get(*key) == Some(value))
    });
    // One node says nothing of what is common: a label that holds its own name is left out.
    shared.filter(|(_, value)| *value != first.name()).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn taints(flavor: &Flavor, same: &[&Node], parts: &mut Parts) -> Result<Vec<Taint>, FlavorError> {
    let mut taints = Vec::new();
    for text in &flavor.taints {
        let taint = taint(text).ok_or_else(|| FlavorError::Taint { flavor: flavor.title(), found: text.clone() })?;
        parts.text("taints", text, Basis::Given, "given");
        taints.push(taint);
    }
    if taints.is_empty()
        && let Some((first, others)) = same.split_first()
    {
        let lasting = first.taints.iter().filter(|taint| {
            !taint.key.starts_with(CONDITION_TAINTS)
                && taint.key != FENCE_TAINT
                && others.iter().all(|node| node.taints.contains(taint))
        });
        for taint in lasting {
            parts.text("taints", &taint.to_string(), Basis::Measured, "live nodes of this flavor have it");
            taints.push(taint.clone());
        }
    }
    Ok(taints)
}

/// `key=value:Effect` or `key:Effect`.
fn taint(text: &str) -> Option<Taint> {
    let (pair, effect) = text.rsplit_once(':')?;
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    let effect = Effect::by_name(effect)?;
    (!key.is_empty()).then(|| Taint { key: key.to_owned(), value: value.to_owned(), effect })
}

/// The zones, and the labels that repeat a node's zone: CSI drivers have their own.
fn zones(flavor: &Flavor, replaced: &[&Node], parts: &mut Parts) -> (Vec<String>, BTreeSet<String>) {
    let found: BTreeSet<&String> = replaced.iter().filter_map(|node| node.meta.labels.get(ZONE_LABEL)).collect();
    let (zones, basis, because) = if flavor.zones.is_empty() {
        let zones: Vec<String> = found.into_iter().cloned().collect();
        (zones, Basis::Assumed, "where the nodes that are replaced stand")
    } else {
        (flavor.zones.clone(), Basis::Given, "given")
    };
    let mut keys = BTreeSet::from([ZONE_LABEL.to_owned()]);
    for node in replaced {
        let Some(zone) = node.meta.labels.get(ZONE_LABEL) else { continue };
        let same = node.meta.labels.iter().filter(|(key, value)| *value == zone && key.contains("zone"));
        keys.extend(same.map(|(key, _)| key.clone()));
    }
    if zones.is_empty() {
        return (vec![String::new()], keys);
    }
    for key in &keys {
        parts.text(&format!("labels[{key}]"), &zones.join(" | "), basis, because);
    }
    (zones, keys)
}

/// The CSI drivers of a new node and how many volumes each attaches.
fn csi(view: &View, flavor: &Flavor, same: &[&Node], replaced: &[&Node], parts: &mut Parts) -> CsiNode {
    let drivers_of = |nodes: &[&Node]| -> BTreeMap<String, Option<i64>> {
        let mut drivers = BTreeMap::new();
        for node in nodes {
            let Some(Record::CSINode(csi)) = view.get(Kind::CSINode, &node.meta.key()) else { continue };
            for (driver, limit) in &csi.drivers {
                let entry = drivers.entry(driver.clone()).or_insert(*limit);
                // The node that attaches least is counted on; none is no limit.
                *entry = match (*entry, *limit) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
        }
        drivers
    };
    let measured = drivers_of(same);
    let (mut drivers, mut basis, mut because) = if measured.is_empty() {
        (
            drivers_of(replaced),
            Basis::Assumed,
            "as on the nodes that are replaced; clouds give larger flavors other limits",
        )
    } else {
        (measured, Basis::Measured, "as on live nodes of this flavor")
    };
    if let Some(limit) = flavor.attach_limit {
        (basis, because) = (Basis::Given, "given");
        drivers.values_mut().for_each(|found| *found = Some(limit));
    }
    for (driver, limit) in &drivers {
        let limit = limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string());
        parts.text(&format!("attach limit of {driver}"), &limit, basis, because);
    }
    CsiNode { drivers, ..CsiNode::default() }
}

/// The parts of a node with how they are known.
#[derive(Default)]
struct Parts(Vec<NodeField>);

impl Parts {
    fn add(&mut self, field: &str, amount: i64, basis: Basis, because: &str) -> i64 {
        let value = match field.rsplit(['.', '[']).next() {
            Some("cpu") => format!("{amount}m"),
            Some("memory" | "ephemeral-storage") => format!("{}Mi", amount >> 20),
            _ => amount.to_string(),
        };
        self.text(field, &value, basis, because);
        amount
    }

    fn text(&mut self, field: &str, value: &str, basis: Basis, because: &str) {
        let (field, value, because) = (field.to_owned(), value.to_owned(), because.to_owned());
        self.0.push(NodeField { field, value, basis, because });
    }
}

#[cfg(test)]
mod tests;
