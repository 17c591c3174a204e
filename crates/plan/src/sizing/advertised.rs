//! From the memory that a provider advertises to what the operating system sees: firmware and kernel take their part
//! before Kubernetes is asked.
//!
//! The kernel describes each page of 4096 bytes by 64 bytes, a 64th of the memory; the rest is a nearly fixed amount. That
//! fixed amount is learned from a live node whose advertised size is known, and is assumed otherwise.

use rehome_k8s::node::Node;
use rehome_model::sizing::Basis;

/// 1 GiB in bytes.
const GIB: i64 = 1 << 30;
/// One part in this many goes to page descriptors. Source: Linux, `include/linux/mm_types.h`: `struct page` has 64 bytes.
const PAGES: i64 = 64;
/// Firmware and kernel beside that, in bytes. Derived from the two flavors that the flavor runbook measured (§1): 4 GiB
/// advertised are 3.82 GiB, 16 GiB are 15.62 GiB; less a 64th each, 121 and 133 MiB are gone.
const FIXED: i64 = 127 << 20;
/// The largest part of an advertised size that can be missing for a whole number of GiB to be taken for it, as a divisor.
/// A 2 GiB machine loses 8 %.
const PLAUSIBLE: i64 = 8;
/// Labels that hold a flavor's name. Source: `k8s.io/api/core/v1/well_known_labels.go`.
const TYPE_LABELS: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];

/// The name of a node's flavor.
#[must_use]
pub(super) fn flavor_of(node: &Node) -> Option<&str> {
    TYPE_LABELS.iter().find_map(|label| node.meta.labels.get(*label)).map(String::as_str)
}

/// The memory that a live node's flavor is sold with: from its name (`a4-ram16-disk50`), or the next whole GiB if the
/// capacity is just below it.
#[must_use]
pub(super) fn memory_of(node: &Node) -> Option<i64> {
    let capacity = node.capacity.get("memory").copied().filter(|memory| *memory > 0)?;
    let named = flavor_of(node).and_then(named).filter(|named| plausible(capacity, *named));
    named.or_else(|| {
        let whole = (capacity + GIB - 1) / GIB * GIB;
        // Machines are sold by even numbers of GiB above 8.
        let whole = if whole > 8 * GIB && whole / GIB % 2 == 1 { whole + GIB } else { whole };
        plausible(capacity, whole).then_some(whole)
    })
}

/// `ram16` in a name: 16 GiB.
fn named(name: &str) -> Option<i64> {
    let digits: String = name.split("ram").nth(1)?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<i64>().ok()?.checked_mul(GIB)
}

fn plausible(capacity: i64, advertised: i64) -> bool {
    capacity <= advertised && advertised - capacity <= advertised / PLAUSIBLE
}

/// What the operating system sees of an advertised size, how that is known, and from what.
#[must_use]
pub(super) fn capacity(advertised: i64, same_flavor: &[&Node], others: &[&Node]) -> (i64, Basis, String) {
    let memories = |nodes: &[&Node]| -> Vec<i64> {
        nodes.iter().filter_map(|node| node.capacity.get("memory").copied()).filter(|memory| *memory > 0).collect()
    };
    if let Some(least) = memories(same_flavor).into_iter().min() {
        return (least, Basis::Measured, format!("a live node of this flavor has {} MiB", least >> 20));
    }
    let learned = others.iter().filter_map(|node| {
        let sold = memory_of(node)?;
        let fixed = sold - node.capacity.get("memory")? - sold / PAGES;
        Some((fixed, node.name()))
    });
    match learned.max() {
        Some((fixed, name)) => (
            advertised - advertised / PAGES - fixed,
            Basis::Assumed,
            format!("a 64th for page descriptors, and {} MiB more as on {name}", fixed >> 20),
        ),
        None => (
            advertised - advertised / PAGES - FIXED,
            Basis::Assumed,
            format!("a 64th for page descriptors, and {} MiB for firmware and kernel", FIXED >> 20),
        ),
    }
}

#[cfg(test)]
mod tests {
    use rehome_k8s::node::Resources;

    use super::*;

    fn node(mib: i64, flavor: &str) -> Node {
        let mut node = Node { capacity: Resources::from([("memory".to_owned(), mib << 20)]), ..Node::default() };
        if !flavor.is_empty() {
            node.meta.labels.insert(TYPE_LABELS[0].to_owned(), flavor.to_owned());
        }
        node
    }

    #[test]
    fn a_size_is_known_from_the_name_or_from_the_next_whole_number() {
        assert_eq!(memory_of(&node(15994, "a4-ram16-disk50-perf1")), Some(16 * GIB));
        assert_eq!(memory_of(&node(3910, "")), Some(4 * GIB));
        assert_eq!(memory_of(&node(31_800, "m5.2xlarge")), Some(32 * GIB));
        // The name says something that cannot be: the capacity is believed.
        assert_eq!(memory_of(&node(3910, "ram512")), Some(4 * GIB));
        assert_eq!(memory_of(&node(8600, "")), None, "8.4 GiB of 10 is no loss of firmware");
    }

    #[test]
    fn the_runbook_s_flavors_come_out_without_any_node_and_from_each_other() {
        for (sold, mib) in [(4, 3910), (16, 15994)] {
            let (capacity, basis, _) = capacity(sold * GIB, &[], &[]);
            assert!(((capacity >> 20) - mib).abs() < 20, "{sold} GiB: {} MiB", capacity >> 20);
            assert_eq!(basis, Basis::Assumed);
        }
        let (from_small, _, because) = capacity(16 * GIB, &[], &[&node(3910, "a2-ram4")]);
        assert!(((from_small >> 20) - 15994).abs() < 20, "{}", from_small >> 20);
        assert!(because.contains("122 MiB"), "{because}");
        let (measured, basis, _) = capacity(16 * GIB, &[&node(15990, ""), &node(15994, "")], &[]);
        assert_eq!((measured >> 20, basis), (15990, Basis::Measured));
    }
}
