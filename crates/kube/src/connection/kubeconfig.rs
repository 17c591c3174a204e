//! Which kubeconfig counts, and what the flags change in it: the rules of kubectl.
//! Source: client-go `tools/clientcmd/loader.go` and `overrides.go`.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, KubeconfigError, NamedCluster, NamedContext,
};

use super::{ConnectionError, ConnectionFlags, Description};
use crate::secrecy;

/// What a cluster is called that only flags describe.
const OF_FLAGS: &str = "flags";

/// The configuration that the flags mean, and what it calls things.
pub(super) async fn resolve(flags: &ConnectionFlags) -> Result<(Config, Description), ConnectionError> {
    let (mut kubeconfig, description) = match (load(flags)?, &flags.server) {
        (Some(kubeconfig), _) => {
            let description = describe(flags, &kubeconfig)?;
            (kubeconfig, description)
        }
        (None, Some(_)) => (of_flags(), Description { cluster: flags.cluster.clone(), ..Description::default() }),
        (None, None) => return in_cluster(flags),
    };
    let options = KubeConfigOptions {
        context: description.context.clone().or_else(|| kubeconfig.current_context.clone()),
        cluster: description.context.as_ref().and(description.cluster.clone()),
        user: flags.user.clone(),
    };
    let cluster = options.cluster.as_deref().unwrap_or(OF_FLAGS);
    let named = kubeconfig.clusters.iter_mut().find(|named| named.name == cluster);
    let mut proxy_named = false;
    if let Some(cluster) = named.and_then(|named| named.cluster.as_mut()) {
        override_cluster(flags, cluster);
        proxy_named = cluster.proxy_url.as_ref().is_some_and(|url| !url.is_empty());
    }
    let built = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = built.map_err(|error| bad("kubeconfig", &error))?;
    // kube takes a proxy from the environment for any server; Go (and so kubectl) never does for this machine.
    // Source: golang.org/x/net/http/httpproxy, `useProxy`.
    if !proxy_named && of_this_machine(&config.cluster_url) {
        config.proxy_url = None;
    }
    override_user(flags, &mut config.auth_info);
    Ok((config, description))
}

/// The merged files; none when none exists.
fn load(flags: &ConnectionFlags) -> Result<Option<Kubeconfig>, ConnectionError> {
    let read = |path: &Path| Kubeconfig::read_from(path).map_err(|error| bad(&path.display().to_string(), &error));
    if let Some(path) = &flags.kubeconfig {
        if !path.exists() {
            return Err(ConnectionError::NoKubeconfig { looked: vec![path.clone()] });
        }
        return read(path).map(Some);
    }
    let mut merged: Option<Kubeconfig> = None;
    for path in candidates(flags).into_iter().filter(|path| path.exists()) {
        let next = read(&path)?;
        merged = Some(match merged {
            None => next,
            Some(before) => before.merge(next).map_err(|error| bad(&path.display().to_string(), &error))?,
        });
    }
    Ok(merged)
}

fn candidates(flags: &ConnectionFlags) -> Vec<PathBuf> {
    let named: Vec<PathBuf> =
        flags.kubeconfig_list.iter().filter(|path| !path.as_os_str().is_empty()).cloned().collect();
    if named.is_empty() { flags.kubeconfig_default.iter().cloned().collect() } else { named }
}

/// A kubeconfig with one cluster that the flags fill.
fn of_flags() -> Kubeconfig {
    let name = OF_FLAGS.to_owned();
    let context = Context { cluster: name.clone(), ..Context::default() };
    Kubeconfig {
        clusters: vec![NamedCluster { name: name.clone(), cluster: Some(Cluster::default()), ..Default::default() }],
        contexts: vec![NamedContext { name: name.clone(), context: Some(context), ..Default::default() }],
        current_context: Some(name),
        ..Kubeconfig::default()
    }
}

/// The cluster that this process runs in, if it runs in one.
fn in_cluster(flags: &ConnectionFlags) -> Result<(Config, Description), ConnectionError> {
    let Ok(mut config) = Config::incluster() else {
        return Err(ConnectionError::NoKubeconfig { looked: candidates(flags) });
    };
    override_user(flags, &mut config.auth_info);
    Ok((config, Description { cluster: flags.cluster.clone(), ..Description::default() }))
}

/// Checks the names, because a message that lists those that exist is worth more than "failed to load".
fn describe(flags: &ConnectionFlags, kubeconfig: &Kubeconfig) -> Result<Description, ConnectionError> {
    let contexts = || kubeconfig.contexts.iter().map(|context| context.name.clone()).collect::<Vec<_>>();
    let context = match flags.context.clone().or_else(|| kubeconfig.current_context.clone()) {
        Some(name) if !name.is_empty() => name,
        _ => {
            return Err(ConnectionError::UnknownName { what: "a context", known: contexts(), found: String::new() });
        }
    };
    let found = kubeconfig.contexts.iter().find(|known| known.name == context);
    let Some(found) = found.and_then(|known| known.context.as_ref()) else {
        return Err(ConnectionError::UnknownName { what: "a context", known: contexts(), found: context });
    };
    let cluster = flags.cluster.clone().unwrap_or_else(|| found.cluster.clone());
    if !kubeconfig.clusters.iter().any(|known| known.name == cluster) {
        let known = kubeconfig.clusters.iter().map(|known| known.name.clone()).collect();
        return Err(ConnectionError::UnknownName { what: "a cluster", known, found: cluster });
    }
    Ok(Description {
        context: Some(context),
        cluster: Some(cluster),
        user: flags.user.clone().or_else(|| found.user.clone()),
        ..Description::default()
    })
}

fn override_cluster(flags: &ConnectionFlags, cluster: &mut Cluster) {
    if let Some(server) = &flags.server {
        cluster.server = Some(server.clone());
    }
    if let Some(path) = &flags.certificate_authority {
        cluster.certificate_authority = Some(path.display().to_string());
        cluster.certificate_authority_data = None;
    }
    if let Some(name) = &flags.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
    if flags.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(true);
    }
}

fn override_user(flags: &ConnectionFlags, user: &mut AuthInfo) {
    if let Some(token) = &flags.token {
        // A token on the command line goes before whatever the kubeconfig would do to get one.
        user.token = Some(token.clone().into());
        (user.token_file, user.exec, user.auth_provider) = (None, None, None);
        (user.username, user.password) = (None, None);
    }
    if let Some(name) = &flags.impersonate {
        user.impersonate = Some(name.clone());
    }
    if let Some(uid) = &flags.impersonate_uid {
        user.impersonate_uid = Some(uid.clone());
    }
    if !flags.impersonate_groups.is_empty() {
        user.impersonate_groups = Some(flags.impersonate_groups.clone());
    }
}

/// Whether an address leads to this machine.
fn of_this_machine(server: &http::Uri) -> bool {
    let host = server.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn bad(path: &str, error: &KubeconfigError) -> ConnectionError {
    ConnectionError::BadKubeconfig { path: path.to_owned(), message: secrecy::of_kubeconfig(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_this_machine() {
        for (server, expected) in [
            ("https://127.0.0.1:6443", true),
            ("https://[::1]:6443", true),
            ("https://localhost:6443", true),
            ("https://10.0.0.1:6443", false),
            ("https://localhost.example.com", false),
        ] {
            assert_eq!(of_this_machine(&server.parse().unwrap()), expected, "{server}");
        }
    }
}
