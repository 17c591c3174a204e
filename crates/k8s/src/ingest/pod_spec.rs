//! The spec of a pod or of a template.

use k8s_openapi::api::core::v1 as core;
use rehome_model::time::Seconds;

use super::BadField;
use super::features;
use super::requests;
use super::selectors::{int_or_none, labels, node_term, node_terms};
use crate::affinity::{Affinity, PodTerm};
use crate::parts::KeptParts;
use crate::pod::{Disk, PodSpec, Volume};
use crate::spread::SpreadConstraint;
use crate::toleration::{Effect, Toleration};

/// `terminationGracePeriodSeconds` where a file has none. Source: `k8s.io/api/core/v1`, `DefaultTerminationGracePeriodSeconds`.
const DEFAULT_GRACE: i64 = 30;

pub(super) fn pod_spec(spec: core::PodSpec) -> Result<PodSpec, BadField> {
    let parts = requests::parts(&spec)?;
    let asked = parts.asked();
    let images = images(&spec);
    let needs_features = features::needed(&spec);
    let disks = disks(spec.volumes.as_deref().unwrap_or_default());
    let pre_stop = spec
        .containers
        .iter()
        .any(|container| container.lifecycle.as_ref().is_some_and(|lifecycle| lifecycle.pre_stop.is_some()));
    let host_network = spec.host_network == Some(true);
    Ok(PodSpec {
        requests: asked.requests,
        scored: asked.scored,
        coming: asked.coming,
        memory_limit: parts.memory_limit(),
        image_volumes: images.len() - spec.containers.len() - spec.init_containers.as_ref().map_or(0, Vec::len),
        images,
        needs_features,
        never_preempts: spec.preemption_policy.as_deref() == Some("Never"),
        disks,
        node_name: spec.node_name,
        node_selector: spec.node_selector.unwrap_or_default(),
        affinity: affinity(spec.affinity)?,
        tolerations: spec.tolerations.unwrap_or_default().into_iter().map(toleration).collect(),
        spread: spec
            .topology_spread_constraints
            .unwrap_or_default()
            .into_iter()
            .map(spread)
            .collect::<Result<_, _>>()?,
        volumes: spec.volumes.unwrap_or_default().into_iter().filter_map(volume).collect(),
        host_ports: host_ports(&spec.containers, spec.init_containers.as_deref().unwrap_or_default(), host_network),
        priority: spec.priority.unwrap_or_default().into(),
        priority_class: spec.priority_class_name,
        scheduler: spec.scheduler_name.unwrap_or_else(|| "default-scheduler".to_owned()),
        grace: Seconds::new(
            spec.termination_grace_period_seconds.unwrap_or(DEFAULT_GRACE).clamp(0, i64::from(i32::MAX)),
        ),
        pre_stop,
        gates: spec.scheduling_gates.unwrap_or_default().into_iter().map(|gate| gate.name).collect(),
        parts: KeptParts::of(parts),
    })
}

/// Images as often as they are named: ImageLocality counts containers, not images.
fn images(spec: &core::PodSpec) -> Vec<String> {
    let containers = spec.init_containers.iter().flatten().chain(&spec.containers);
    let mounted = spec.volumes.iter().flatten().filter_map(|volume| volume.image.as_ref()?.reference.clone());
    containers.map(|container| container.image.clone().unwrap_or_default()).chain(mounted).collect()
}

fn disks(volumes: &[core::Volume]) -> Vec<Disk> {
    let disk = |kind: &str, id: String, read_only: Option<bool>| Disk {
        kind: kind.to_owned(),
        id,
        monitors: Vec::new(),
        read_only: read_only == Some(true),
    };
    let of_volume = |volume: &core::Volume| {
        if let Some(gce) = &volume.gce_persistent_disk {
            return Some(disk("gcePersistentDisk", gce.pd_name.clone(), gce.read_only));
        }
        if let Some(aws) = &volume.aws_elastic_block_store {
            return Some(disk("awsElasticBlockStore", aws.volume_id.clone(), aws.read_only));
        }
        if let Some(iscsi) = &volume.iscsi {
            return Some(disk("iscsi", iscsi.iqn.clone(), iscsi.read_only));
        }
        let rbd = volume.rbd.as_ref()?;
        // The API server's default pool.
        let pool = rbd.pool.as_deref().unwrap_or("rbd");
        Some(Disk { monitors: rbd.monitors.clone(), ..disk("rbd", format!("{pool}/{}", rbd.image), rbd.read_only) })
    };
    volumes.iter().filter_map(of_volume).collect()
}

fn affinity(affinity: Option<core::Affinity>) -> Result<Affinity, BadField> {
    let affinity = affinity.unwrap_or_default();
    let node = affinity.node_affinity.unwrap_or_default();
    let pod = affinity.pod_affinity.unwrap_or_default();
    let anti = affinity.pod_anti_affinity.unwrap_or_default();
    let terms = |terms: Option<Vec<core::PodAffinityTerm>>| {
        terms.unwrap_or_default().into_iter().map(pod_term).collect::<Result<Vec<_>, _>>()
    };
    let weighted = |terms: Option<Vec<core::WeightedPodAffinityTerm>>| {
        let terms = terms.unwrap_or_default().into_iter();
        terms
            .map(|term| Ok((term.weight.into(), pod_term(term.pod_affinity_term)?)))
            .collect::<Result<Vec<_>, BadField>>()
    };
    let preferred = node.preferred_during_scheduling_ignored_during_execution.unwrap_or_default().into_iter();
    Ok(Affinity {
        node: node.required_during_scheduling_ignored_during_execution.map(node_terms).transpose()?,
        pod: terms(pod.required_during_scheduling_ignored_during_execution)?,
        pod_anti: terms(anti.required_during_scheduling_ignored_during_execution)?,
        node_preferred: preferred
            .map(|term| Ok((term.weight.into(), node_term(term.preference)?)))
            .collect::<Result<_, BadField>>()?,
        pod_preferred: weighted(pod.preferred_during_scheduling_ignored_during_execution)?,
        pod_anti_preferred: weighted(anti.preferred_during_scheduling_ignored_during_execution)?,
    })
}

fn pod_term(term: core::PodAffinityTerm) -> Result<PodTerm, BadField> {
    Ok(PodTerm {
        selector: labels(term.label_selector)?,
        namespaces: term.namespaces.unwrap_or_default(),
        namespace_selector: term.namespace_selector.map(|selector| labels(Some(selector))).transpose()?,
        topology_key: term.topology_key,
        match_label_keys: term.match_label_keys.unwrap_or_default(),
        mismatch_label_keys: term.mismatch_label_keys.unwrap_or_default(),
    })
}

fn toleration(toleration: core::Toleration) -> Toleration {
    Toleration {
        key: toleration.key.filter(|key| !key.is_empty()),
        exists: toleration.operator.as_deref() == Some("Exists"),
        value: toleration.value.unwrap_or_default(),
        effect: toleration.effect.as_deref().and_then(Effect::by_name),
        seconds: toleration.toleration_seconds,
    }
}

fn spread(constraint: core::TopologySpreadConstraint) -> Result<SpreadConstraint, BadField> {
    Ok(SpreadConstraint {
        topology_key: constraint.topology_key,
        max_skew: constraint.max_skew.into(),
        hard: constraint.when_unsatisfiable == "DoNotSchedule",
        selector: labels(constraint.label_selector)?,
        min_domains: int_or_none(constraint.min_domains),
        honor_node_affinity: constraint.node_affinity_policy.as_deref() != Some("Ignore"),
        honor_node_taints: constraint.node_taints_policy.as_deref() == Some("Honor"),
        match_label_keys: constraint.match_label_keys.unwrap_or_default(),
    })
}

fn volume(volume: core::Volume) -> Option<Volume> {
    if let Some(claim) = volume.persistent_volume_claim {
        return Some(Volume::Claim { name: claim.claim_name });
    }
    if volume.ephemeral.is_some() {
        return Some(Volume::Ephemeral { name: volume.name });
    }
    if let Some(empty) = volume.empty_dir {
        return Some(Volume::EmptyDir { memory: empty.medium.as_deref() == Some("Memory") });
    }
    if let Some(path) = volume.host_path {
        return Some(Volume::HostPath { path: path.path });
    }
    let others = [
        ("csi", volume.csi.is_some()),
        ("nfs", volume.nfs.is_some()),
        ("iscsi", volume.iscsi.is_some()),
        ("cinder", volume.cinder.is_some()),
        ("rbd", volume.rbd.is_some()),
        ("cephfs", volume.cephfs.is_some()),
        ("fc", volume.fc.is_some()),
        ("glusterfs", volume.glusterfs.is_some()),
        ("flexVolume", volume.flex_volume.is_some()),
        ("awsElasticBlockStore", volume.aws_elastic_block_store.is_some()),
        ("gcePersistentDisk", volume.gce_persistent_disk.is_some()),
        ("azureDisk", volume.azure_disk.is_some()),
        ("azureFile", volume.azure_file.is_some()),
        ("vsphereVolume", volume.vsphere_volume.is_some()),
    ];
    others.iter().find(|(_, used)| *used).map(|(kind, _)| Volume::Other { kind: (*kind).to_owned() })
}

fn host_ports(
    containers: &[core::Container],
    inits: &[core::Container],
    host_network: bool,
) -> Vec<(String, String, i32)> {
    // Of init containers only sidecars stay, and hold ports.
    let sidecars = inits.iter().filter(|init| init.restart_policy.as_deref() == Some("Always"));
    let mut ports: Vec<_> = containers
        .iter()
        .chain(sidecars)
        .flat_map(|container| container.ports.iter().flatten())
        .filter_map(|port| {
            // With hostNetwork the API server sets hostPort to containerPort; files may lack it.
            let number = port.host_port.or(host_network.then_some(port.container_port)).filter(|port| *port > 0)?;
            let address = port.host_ip.clone().filter(|ip| !ip.is_empty()).unwrap_or_else(|| "0.0.0.0".to_owned());
            Some((address, port.protocol.clone().unwrap_or_else(|| "TCP".to_owned()), number))
        })
        .collect();
    ports.sort();
    ports.dedup();
    ports
}
