//! Kubeconfigs: files that point at the API server with one identity's certificate.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::json;

use super::keys::Pair;

/// The name that a kubeconfig gives to the cluster, and that `rehome execute` asks a person to type.
pub const CLUSTER_NAME: &str = "testbed";

/// Writes the kubeconfig of a user.
pub(super) fn write(
    folder: &Path,
    user: &str,
    server: &str,
    authority: &Path,
    pair: &Pair,
) -> std::io::Result<PathBuf> {
    let content = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CLUSTER_NAME, "cluster": {"server": server, "certificate-authority": authority}}],
        "users": [{"name": user, "user": {"client-certificate": pair.certificate, "client-key": pair.key}}],
        "contexts": [{"name": CLUSTER_NAME, "context": {"cluster": CLUSTER_NAME, "user": user}}],
        "current-context": CLUSTER_NAME,
    });
    let path = folder.join(format!("{}.kubeconfig", user.replace(':', "-")));
    // JSON is YAML.
    fs::write(&path, format!("{content:#}\n"))?;
    Ok(path)
}
