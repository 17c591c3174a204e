//! What the kubelet of a new node will withhold: a row of `knowledge/kubelet-reserves.json`, or what live nodes of the
//! same flavor withhold.
//!
//! A provider's formula is a claim, a live node is a fact: where both are there, the live node is used and the difference
//! is said. Where no provider is named, the row that explains the live nodes best is taken, and by how much it misses is
//! said, too. Reserves of other resources than cpu and memory are not modelled.

use rehome_k8s::node::{Node, Resources};
use rehome_k8s::quantity;
use rehome_model::sizing::{Basis, Reserve};
use serde::Deserialize;

/// The table, with a source and a date in each row.
const TABLE: &str = include_str!("../../../../knowledge/kubelet-reserves.json");
/// The row where neither a provider is named nor a live node can be explained.
const FALLBACK: &str = "tiered";
/// How far a formula may miss live nodes and still be called their formula: a share of the capacity, in thousandths.
/// The kernel's own share of memory moves by less than that between releases.
const EXPLAINS: i64 = 10;
/// Shares are in hundredths of a percent.
const WHOLE: i128 = 10_000;
/// 1 GiB in bytes.
const GIB: i64 = 1 << 30;

/// The table of reserves.
#[derive(Clone, Debug, Deserialize)]
pub struct Reserves {
    rows: Vec<Row>,
}

/// The formula of one provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its name in flavors.
    pub provider: String,
    /// What it is.
    pub title: String,
    memory: Rule,
    cpu: Rule,
    eviction_memory: String,
    /// How many pods a node admits by default.
    pub max_pods: i64,
    provider_ids: Vec<String>,
    /// Where it was read.
    pub source: String,
    /// When it was read.
    pub date: String,
}

/// How much is withheld of one resource.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rule {
    fixed: Option<String>,
    per_pod: Option<String>,
    tiers: Vec<Tier>,
    at_least: Option<String>,
    at_most_share: Option<i64>,
    whole_gib: bool,
    jump: Option<Jump>,
}

/// A share of the part of the capacity up to a bound.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tier {
    up_to: Option<String>,
    share: i64,
}

/// A step of a formula that is not continuous.
#[derive(Clone, Debug, Deserialize)]
struct Jump {
    above: String,
    amount: i64,
}

/// Why no reserve can be told.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    /// The table that was built in is broken.
    #[error("knowledge/kubelet-reserves.json: {0}")]
    Table(#[from] serde_json::Error),
    /// A quantity in it is none.
    #[error("knowledge/kubelet-reserves.json: {0}")]
    Quantity(#[from] quantity::NotAQuantity),
    /// No such row.
    #[error("expected one of {known} as provider, found {found:?}")]
    UnknownProvider {
        /// What was given.
        found: String,
        /// All rows.
        known: String,
    },
}

/// What a node has before anything is withheld.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Thousandths of a core.
    pub cpu: i64,
    /// Bytes that the operating system sees.
    pub memory: i64,
    /// How many pods the kubelet admits.
    pub max_pods: i64,
}

impl Machine {
    /// The machine that a live node is.
    #[must_use]
    pub fn of(node: &Node) -> Option<Self> {
        let get = |name: &str| node.capacity.get(name).copied().filter(|amount| *amount > 0);
        Some(Self { cpu: get("cpu")?, memory: get("memory")?, max_pods: get("pods")? })
    }
}

impl Reserves {
    /// The table that is built in.
    ///
    /// # Errors
    /// It is broken.
    pub fn load() -> Result<Self, ReserveError> {
        Ok(serde_json::from_str(TABLE)?)
    }

    /// The row of a provider.
    ///
    /// # Errors
    /// There is none.
    pub fn row(&self, provider: &str) -> Result<&Row, ReserveError> {
        self.rows.iter().find(|row| row.provider == provider).ok_or_else(|| ReserveError::UnknownProvider {
            found: provider.to_owned(),
            known: self.rows.iter().map(|row| row.provider.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// The row for a new node, and why that one: as named, or as the live nodes show.
    ///
    /// # Errors
    /// No such provider, or the table is broken.
    pub fn choose(&self, provider: Option<&str>, live: &[&Node]) -> Result<(&Row, String), ReserveError> {
        if let Some(provider) = provider {
            let row = self.row(provider)?;
            return Ok((row, format!("the provider was given: {}", row.title)));
        }
        if let Some(row) = self.rows.iter().find(|row| {
            live.iter()
                .filter_map(|node| node.provider_id.as_deref())
                .any(|id| row.provider_ids.iter().any(|prefix| id.starts_with(prefix.as_str())))
        }) {
            return Ok((row, format!("the live nodes' providerID is that of {}", row.title)));
        }
        let mut best: Option<(i64, i64, &Row)> = None;
        for row in &self.rows {
            let Some((miss, size)) = row.misses(live)? else { break };
            if best.is_none_or(|(least, _, _)| miss < least) {
                best = Some((miss, size, row));
            }
        }
        Ok(match best {
            Some((miss, size, row)) if miss.saturating_mul(1000) <= size.saturating_mul(EXPLAINS) => {
                (row, format!("it explains what the live nodes withhold to within {} MiB: {}", miss >> 20, row.title))
            }
            Some((miss, _, row)) => {
                let found = format!(
                    "no formula explains the live nodes (the nearest, {}, misses by {} MiB)",
                    row.provider,
                    miss >> 20
                );
                let row = self.row(FALLBACK)?;
                (row, format!("{found}; assumed: {}", row.title))
            }
            None => {
                let row = self.row(FALLBACK)?;
                (row, format!("no live node says what it withholds; assumed: {}", row.title))
            }
        })
    }
}

impl Row {
    /// What is withheld of a machine: cpu and memory, the eviction threshold included.
    ///
    /// # Errors
    /// The table is broken.
    pub fn reserve(&self, machine: Machine) -> Result<Resources, ReserveError> {
        let cpu = self.cpu.of("cpu", machine.cpu, machine.max_pods)?;
        let memory = self.memory.of("memory", machine.memory, machine.max_pods)?;
        let memory = memory.saturating_add(quantity::amount("memory", &self.eviction_memory)?);
        Ok(Resources::from([("cpu".to_owned(), cpu), ("memory".to_owned(), memory)]))
    }

    /// The largest difference in memory between formula and live nodes, and the size of that node.
    fn misses(&self, live: &[&Node]) -> Result<Option<(i64, i64)>, ReserveError> {
        let mut worst = None;
        for node in live {
            let (Some(machine), Some(measured)) = (Machine::of(node), withheld(node)) else { continue };
            let miss = (self.reserve(machine)?["memory"] - measured["memory"]).abs();
            worst = worst.max(Some((miss, machine.memory)));
        }
        Ok(worst)
    }
}

impl Rule {
    fn of(&self, resource: &str, size: i64, max_pods: i64) -> Result<i64, ReserveError> {
        let amount = |text: &Option<String>| -> Result<i64, ReserveError> {
            text.as_deref().map_or(Ok(0), |text| Ok(quantity::amount(resource, text)?))
        };
        let size = if self.whole_gib { size / GIB * GIB } else { size };
        let mut parts = 0_i128;
        let mut from = 0;
        for tier in &self.tiers {
            let to = match &tier.up_to {
                Some(text) => quantity::amount(resource, text)?.min(size),
                None => size,
            };
            parts += i128::from((to - from).max(0)) * i128::from(tier.share);
            from = from.max(to);
        }
        let mut total = i64::try_from(parts / WHOLE).unwrap_or(i64::MAX);
        total = total.saturating_add(amount(&self.fixed)?);
        total = total.saturating_add(amount(&self.per_pod)?.saturating_mul(max_pods));
        if let Some(jump) = &self.jump
            && size > quantity::amount(resource, &jump.above)?
        {
            total = total.saturating_add(jump.amount);
        }
        if self.whole_gib {
            total = (total + GIB / 2) / GIB * GIB;
        }
        if let Some(share) = self.at_most_share {
            total = total.min(i64::try_from(i128::from(size) * i128::from(share) / WHOLE).unwrap_or(i64::MAX));
        }
        Ok(total.max(amount(&self.at_least)?))
    }
}

/// What a live node withholds of cpu and memory: capacity less allocatable.
#[must_use]
pub(super) fn withheld(node: &Node) -> Option<Resources> {
    ["cpu", "memory"]
        .into_iter()
        .map(|name| Some((name.to_owned(), node.capacity.get(name)? - node.allocatable.get(name)?)))
        .collect()
}

/// The reserve of a new node: measured where live nodes of its flavor are there, else by formula.
///
/// # Errors
/// The table is broken.
pub(super) fn of(row: &Row, because: String, machine: Machine, same_flavor: &[&Node]) -> Result<Reserve, ReserveError> {
    let by_formula = row.reserve(machine)?;
    // Nodes of one flavor may differ (a kernel more, a reserve changed since): the one that gives least is counted on.
    let measured = same_flavor.iter().filter_map(|node| withheld(node)).max_by_key(|withheld| withheld["memory"]);
    let (basis, used, because) = match &measured {
        Some(measured) => {
            let differ = measured["memory"] - by_formula["memory"];
            let because = format!(
                "on {} of this flavor; the formula {} says {:+} MiB of memory and {:+}m of cpu",
                count(same_flavor.len()),
                row.provider,
                -differ / (1 << 20),
                by_formula["cpu"] - measured["cpu"]
            );
            (Basis::Measured, measured.clone(), because)
        }
        None => (Basis::Formula, by_formula.clone(), because),
    };
    let source = format!("{} ({})", row.source, row.date);
    Ok(Reserve { basis, used, formula: row.provider.clone(), source, by_formula, measured, because })
}

fn count(nodes: usize) -> String {
    if nodes == 1 { "a live node".to_owned() } else { format!("{nodes} live nodes") }
}

#[cfg(test)]
mod tests;
