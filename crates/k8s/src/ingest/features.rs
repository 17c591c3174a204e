//! What a pod needs of a kubelet that not every kubelet has.
//!
//! Source: `k8s.io/component-helpers/nodedeclaredfeatures/features`: the features of the registry that are inferred from
//! the spec of a pod that is to be scheduled. Whether a scheduler looks at them is its minor's concern.

use k8s_openapi::api::core::v1 as core;

/// Names of the features, in the order of the registry.
pub(super) fn needed(spec: &core::PodSpec) -> Vec<String> {
    let containers = || spec.containers.iter().chain(spec.init_containers.iter().flatten());
    let restarts_all = containers()
        .flat_map(|container| container.restart_policy_rules.iter().flatten())
        .any(|rule| rule.action == "RestartAllContainers");
    let host_network_in_user_namespace = spec.host_network == Some(true) && spec.host_users == Some(false);
    let mount_options = containers()
        .flat_map(|container| container.volume_mounts.iter().flatten())
        .any(|mount| mount.bind_mount_options.as_ref().is_some_and(|options| !options.is_empty()));
    let features = [
        ("RestartAllContainersOnContainerExits", restarts_all),
        ("UserNamespacesHostNetworkSupport", host_network_in_user_namespace),
        ("VolumeBindMountOptions", mount_options),
    ];
    features.iter().filter(|(_, needed)| *needed).map(|(name, _)| (*name).to_owned()).collect()
}
