//! From the connection flags to a cluster: gives the environment to `rehome-kube`, which reads none.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rehome_kube::{Connection, ConnectionFlags, KubeWorld};
use rehome_model::exit;

use super::input;
use super::interrupts::Interrupts;
use crate::args;
use crate::error::CliError;

/// Finds the cluster that the flags mean, and meets it.
pub(crate) fn open(flags: &args::Connection) -> Result<Connection, CliError> {
    let list = input::environment("KUBECONFIG").unwrap_or_default();
    let flags = ConnectionFlags {
        kubeconfig: flags.kubeconfig.clone(),
        kubeconfig_list: std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect(),
        kubeconfig_default: input::environment("HOME").map(|home| PathBuf::from(home).join(".kube").join("config")),
        context: flags.context.clone(),
        cluster: flags.cluster.clone(),
        user: flags.user.clone(),
        server: flags.server.clone(),
        impersonate: flags.impersonate.clone(),
        impersonate_groups: flags.impersonate_groups.clone(),
        request_timeout: flags.request_timeout.map(Duration::from_secs),
        ..ConnectionFlags::default()
    };
    let agent = concat!("rehome/", env!("CARGO_PKG_VERSION"));
    Connection::open(&flags, agent).map_err(|error| {
        CliError::usage("there is no connection to a cluster").because(&error).next(error.next_command())
    })
}

/// The cluster as the engine sees it, and as an interrupt ends what it does.
pub(crate) fn world(connection: &Connection, interrupts: &Interrupts) -> Result<KubeWorld, CliError> {
    let mut world = KubeWorld::start(connection, Arc::default()).map_err(|error| {
        CliError::new(exit::UNEXPECTED, "the cluster cannot be followed").because(&error).next("kubectl cluster-info")
    })?;
    interrupts.tell(&mut world);
    Ok(world)
}
