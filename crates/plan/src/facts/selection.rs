//! Which nodes a wish names: by label selector or by name.

use std::collections::BTreeSet;

use rehome_k8s::selector::Selector;
use rehome_k8s::{Kind, View};
use rehome_model::intent::Intent;

/// Nodes that cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// The capture holds no nodes.
    #[error("the nodes are not known: {message}")]
    NodesUnknown {
        /// Why.
        message: String,
    },
    /// The capture holds no pods: that nothing has to leave would be a guess.
    #[error("the pods are not known: {message}")]
    PodsUnknown {
        /// Why.
        message: String,
    },
    /// The text is neither a selector nor names.
    #[error("--{side} {text:?}: {message}")]
    NotASelector {
        /// `from` or `to`.
        side: &'static str,
        /// The text.
        text: String,
        /// What is wrong with it.
        message: String,
    },
    /// No node fits.
    #[error("--{side} {text:?} selects no node; node labels that would: {hint}")]
    NoNode {
        /// `from` or `to`.
        side: &'static str,
        /// The text.
        text: String,
        /// Labels with the same key.
        hint: String,
    },
    /// A node would be emptied and filled.
    #[error("--from and --to both select {nodes}")]
    Overlap {
        /// The nodes.
        nodes: String,
    },
}

/// The nodes to empty and the nodes to fill.
///
/// # Errors
/// See [`SelectionError`].
pub fn nodes(view: &View, intent: &Intent) -> Result<(BTreeSet<String>, BTreeSet<String>), SelectionError> {
    if let Some(gap) = view.gap(Kind::Node) {
        return Err(SelectionError::NodesUnknown { message: gap.message.clone() });
    }
    if let Some(gap) = view.gap(Kind::Pod) {
        return Err(SelectionError::PodsUnknown { message: gap.message.clone() });
    }
    let from = select(view, "from", &intent.from)?;
    let to = select(view, "to", &intent.to)?;
    let both: Vec<&str> = from.intersection(&to).map(String::as_str).collect();
    if !both.is_empty() {
        return Err(SelectionError::Overlap { nodes: both.join(", ") });
    }
    Ok((from, to))
}

/// The nodes that a selector or a list of names means.
///
/// # Errors
/// See [`SelectionError`].
pub(crate) fn select(view: &View, side: &'static str, text: &str) -> Result<BTreeSet<String>, SelectionError> {
    // Names first: a list of names is also a valid selector (each name a label that must exist).
    let names: BTreeSet<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().all(|name| view.node(name).is_some()) {
        return Ok(names);
    }
    let selector = Selector::parse(text).map_err(|error| SelectionError::NotASelector {
        side,
        text: text.to_owned(),
        message: error.to_string(),
    })?;
    let selected: BTreeSet<String> =
        view.nodes().filter(|node| selector.matches(&node.meta.labels)).map(|node| node.name().to_owned()).collect();
    if selected.is_empty() {
        return Err(SelectionError::NoNode { side, text: text.to_owned(), hint: hint(view, text) });
    }
    Ok(selected)
}

/// Labels that nodes have under the keys of a selector; or the names of nodes, where there are none.
fn hint(view: &View, text: &str) -> String {
    let keys: Vec<&str> = text.split([',', '=', '!', ' ']).filter(|part| !part.is_empty()).collect();
    let labels: BTreeSet<String> = view
        .nodes()
        .flat_map(|node| &node.meta.labels)
        .filter(|(key, _)| keys.contains(&key.as_str()))
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let labels: Vec<String> = labels.into_iter().take(8).collect();
    if !labels.is_empty() {
        return labels.join(", ");
    }
    let names: Vec<&str> = view.nodes().map(|node| node.name()).take(8).collect();
    if names.is_empty() { "none: there are no nodes".to_owned() } else { format!("none; nodes: {}", names.join(", ")) }
}
