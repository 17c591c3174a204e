//! From documents to text for people. A view decides nothing: what it shows is in the document.

pub(crate) mod approval;
pub(crate) mod fidelity;
pub(crate) mod findings;
pub(crate) mod journal;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod rbac;
pub(crate) mod rehearsal;
pub(crate) mod size;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod table;
pub(crate) mod verification;

use rehome_model::snapshot::ClusterIdentity;

/// `1 pod`, `2 pods`.
pub(crate) fn count(number: usize, one: &str) -> String {
    let plural = match one {
        _ if number == 1 => one.to_owned(),
        _ if one.ends_with('s') || one.ends_with('x') => format!("{one}es"),
        _ => format!("{one}s"),
    };
    format!("{number} {plural}")
}

/// The name by which a person knows a cluster: the one to type before a run.
pub(crate) fn cluster_name(cluster: &ClusterIdentity) -> &str {
    match (&cluster.name, &cluster.uid) {
        (Some(name), _) => name,
        (None, Some(uid)) => &uid.0,
        (None, None) => "unnamed",
    }
}

/// The cluster with all that tells it from others.
pub(crate) fn cluster(cluster: &ClusterIdentity) -> String {
    let mut text = cluster_name(cluster).to_owned();
    if let (Some(_), Some(uid)) = (&cluster.name, &cluster.uid) {
        text.push_str(&format!(" (uid {uid})"));
    }
    if let Some(version) = &cluster.server_version {
        text.push_str(&format!(", Kubernetes {version}"));
    }
    text
}

/// Names, shortened after the first few unless `wide`.
pub(crate) fn names(names: &[String], wide: bool) -> String {
    /// As many names of nodes as fit on a line of 120 columns.
    const SHOWN: usize = 6;
    if names.is_empty() {
        return "<none>".to_owned();
    }
    if wide || names.len() <= SHOWN + 1 {
        return names.join(", ");
    }
    format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
}
