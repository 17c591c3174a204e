//! What a pod needs of storage: worked out from its claims before nodes are looked at, for all plugins about volumes.
//!
//! A kind that could not be read rejects nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_k8s::mutant::{Mutant, on};
use rehome_k8s::pod::{Pod, Volume};
use rehome_k8s::storage::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use rehome_k8s::{Key, Kind};

use crate::model::Model;
use crate::model::question::{Question, ZONE_LABELS};
use crate::model::storage::{Attachable, Storage};

/// What a pod needs of storage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    /// The first claim that it names and that is not there.
    pub(crate) missing: Option<String>,
    /// The first claim that is not there, those of ephemeral volumes included.
    pub(crate) first_missing: Option<String>,
    /// Why VolumeBinding finds no node at all.
    pub(crate) no_binding: Option<String>,
    /// Why VolumeZone finds no node at all.
    pub(crate) no_zone: Option<String>,
    /// The question about the zone labels of its volumes.
    pub(crate) zones: Option<usize>,
    /// What it brings to a node.
    pub(crate) attachables: BTreeSet<Attachable>,
    /// Drivers of these that must be on the node.
    pub(crate) insisting: Vec<String>,
    /// Numbers of claims that only one pod may use.
    one_pod: Vec<usize>,
    /// Volumes that it has, in order.
    pub(crate) bound: Vec<Bound>,
    /// Claims that get a volume where the pod goes, smallest first.
    pub(crate) delayed: Vec<Delayed>,
}

/// A volume of a bound claim.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    /// The volume is not there.
    Missing,
    /// The question which nodes are out of its reach; `None` for a volume that every node reaches.
    Reached(Option<usize>),
}

/// A claim that waits for its first consumer.
#[derive(Clone, Debug)]
pub(crate) struct Delayed {
    pub(crate) claim: Arc<PersistentVolumeClaim>,
    pub(crate) class: Arc<StorageClass>,
    /// Volumes that could be bound to it, as far as nodes do not matter; with the question about reach.
    pub(crate) candidates: Vec<(Arc<PersistentVolume>, Option<usize>)>,
    /// The question where its class makes volumes.
    pub(crate) provisioned: usize,
    /// Room for it, if its driver says how much there is: the amount, and the question which nodes have no access.
    pub(crate) room: Option<Vec<(i64, usize)>>,
}

/// The provisioner of classes whose volumes are made by hand. Source: `k8s.io/component-helpers/storage/volume`.
pub(crate) const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
const ONE_POD_MODE: &str = "ReadWriteOncePod";

impl Needs {
    /// What a pod needs.
    pub(crate) fn of(model: &mut Model, pod: &Pod) -> Self {
        let mut needs = Self::default();
        if model.storage.gap(Kind::PersistentVolumeClaim) {
            return needs;
        }
        let mut zones = Vec::new();
        let mut immediate = false;
        for volume in &pod.spec.volumes {
            let (name, ephemeral) = match volume {
                Volume::Claim { name } => (name.clone(), false),
                Volume::Ephemeral { name } => (format!("{}-{name}", pod.meta.name), true),
                _ => continue,
            };
            let key = Key::new(pod.meta.namespace.clone(), name.clone());
            let Some(claim) = model.storage.claim(&key).cloned() else {
                needs.without(name, ephemeral);
                continue;
            };
            let number = model.storage.number(&key);
            needs.attachables.extend(model.storage.attachable_of(number).cloned());
            if !ephemeral && claim.access_modes.iter().any(|mode| mode == ONE_POD_MODE) {
                needs.one_pod.push(number);
            }
            needs.refuse(&claim, ephemeral.then_some(pod));
            if !ephemeral {
                needs.zone_of(&model.storage, &claim, &mut zones);
            }
            if claim.bound {
                needs.bound.extend(bound(model, &claim));
            } else if let Some(delayed) = delayed(model, &claim) {
                needs.delayed.push(delayed);
            } else {
                immediate |= !model.storage.gap(Kind::StorageClass);
            }
        }
        if model.profile.misses_csi_drivers() && !on(Mutant::MissingDriverIgnored) {
            let insists = |driver: &&String| model.storage.driver(driver).is_some_and(|driver| driver.required_on_node);
            needs.insisting = needs.attachables.iter().map(|(driver, _)| driver).filter(insists).cloned().collect();
        }
        if immediate {
            needs.no_binding.get_or_insert_with(|| "pod has unbound immediate PersistentVolumeClaims".to_owned());
        }
        if !zones.is_empty() {
            needs.zones = Some(model.nodes.ask(Question::OtherZone(zones)));
        }
        needs
    }

    fn without(&mut self, name: String, ephemeral: bool) {
        let reason = if ephemeral {
            format!("waiting for ephemeral volume controller to create the persistentvolumeclaim {name:?}")
        } else {
            format!("persistentvolumeclaim {name:?} not found")
        };
        if !ephemeral {
            self.no_zone.get_or_insert_with(|| reason.clone());
        }
        self.no_binding.get_or_insert(reason);
        if !ephemeral {
            self.missing.get_or_insert_with(|| name.clone());
        }
        self.first_missing.get_or_insert(name);
    }

    /// Source: `volumebinding/volume_binding.go`, `podHasPVCs`.
    fn refuse(&mut self, claim: &PersistentVolumeClaim, ephemeral_of: Option<&Pod>) {
        let name = &claim.meta.name;
        // A pod that is yet to be made has no UID: a claim of that name will be gone by then.
        let foreign = |pod: &&Pod| {
            !pod.meta.uid.0.is_empty() && claim.meta.controller.as_ref().is_none_or(|owner| owner.uid != pod.meta.uid)
        };
        let reason = if claim.phase == "Lost" {
            let volume = claim.volume.clone().unwrap_or_default();
            format!("persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}")
        } else if claim.meta.deleting.is_some() {
            format!("persistentvolumeclaim {name:?} is being deleted")
        } else if let Some(pod) = ephemeral_of.filter(foreign) {
            let (namespace, pod) = (&claim.meta.namespace, &pod.meta.name);
            format!("PVC {namespace}/{name} was not created for pod {namespace}/{pod} (pod is not owner)")
        } else {
            return;
        };
        self.no_binding.get_or_insert(reason);
    }

    /// Source: `volumezone/volume_zone.go`, `getPVbyPod`.
    fn zone_of(
        &mut self,
        storage: &Storage,
        claim: &PersistentVolumeClaim,
        zones: &mut Vec<(String, BTreeSet<String>)>,
    ) {
        let Some(name) = &claim.volume else {
            if storage.gap(Kind::StorageClass) {
                return;
            }
            let class = claim.storage_class.as_deref().unwrap_or_default();
            let reason = match storage.class(claim) {
                Some(class) if class.waits_for_consumer => return,
                Some(_) => "PersistentVolume had no name".to_owned(),
                None if class.is_empty() => "PersistentVolumeClaim had no pv name and storageClass name".to_owned(),
                None => format!("storageclass.storage.k8s.io {class:?} not found"),
            };
            self.no_zone.get_or_insert(reason);
            return;
        };
        let Some(volume) = storage.volume(name) else {
            if !storage.gap(Kind::PersistentVolume) {
                self.no_zone.get_or_insert_with(|| format!("persistentvolume {name:?} not found"));
            }
            return;
        };
        for (label, _) in ZONE_LABELS {
            // A set of zones is written with two underscores between them; an empty part makes the label unreadable.
            let Some(text) = volume.meta.labels.get(label) else { continue };
            let between = if on(Mutant::ZonesNotSplit) { "\n" } else { "__" };
            let set: BTreeSet<String> = text.split(between).map(|zone| zone.trim().to_owned()).collect();
            if !set.contains("") {
                zones.push((label.to_owned(), set));
            }
        }
    }

    /// Whether another pod holds one of the claims that only one pod may use.
    pub(crate) fn held_by_another(&self, model: &Model) -> bool {
        self.one_pod.iter().any(|claim| model.storage.users(*claim) > 0) && !on(Mutant::OnePodModeIgnored)
    }

    /// The questions that are asked of nodes.
    pub(crate) fn questions(&self) -> impl Iterator<Item = usize> + '_ {
        let bound = self.bound.iter().filter_map(|bound| match bound {
            Bound::Missing => None,
            Bound::Reached(question) => *question,
        });
        let delayed = self.delayed.iter().flat_map(|delayed| {
            let reach = delayed.candidates.iter().filter_map(|(_, question)| *question);
            let room = delayed.room.iter().flatten().map(|(_, question)| *question);
            reach.chain(room).chain([delayed.provisioned])
        });
        bound.chain(delayed).chain(self.zones)
    }
}

fn reach(model: &mut Model, volume: &PersistentVolume) -> Option<usize> {
    volume.node_affinity.clone().map(|terms| model.nodes.ask(Question::OutOfReach(terms)))
}

fn bound(model: &mut Model, claim: &PersistentVolumeClaim) -> Option<Bound> {
    match claim.volume.as_ref().and_then(|name| model.storage.volume(name)).cloned() {
        Some(volume) => Some(Bound::Reached(reach(model, &volume))),
        None => (!model.storage.gap(Kind::PersistentVolume)).then_some(Bound::Missing),
    }
}

/// `None` for a claim whose volume should have been made at once.
fn delayed(model: &mut Model, claim: &Arc<PersistentVolumeClaim>) -> Option<Delayed> {
    let class = Arc::clone(model.storage.class(claim).filter(|class| class.waits_for_consumer)?);
    if claim.volume.is_some() {
        return None;
    }
    let candidates: Vec<_> =
        model.storage.volumes_of(&class.meta.name).filter(|volume| could_bind(claim, volume)).cloned().collect();
    let candidates = candidates.into_iter().map(|volume| {
        let reach = reach(model, &volume);
        (volume, reach)
    });
    let candidates = candidates.collect();
    let publishes = model.storage.driver(&class.provisioner).is_some_and(|driver| driver.publishes_capacity);
    let publishes = publishes && !on(Mutant::StorageCapacityIgnored);
    let room = (publishes && claim.request.is_some()).then(|| {
        let of_class = model.storage.capacities_of(&class.meta.name).filter_map(|capacity| {
            let largest = capacity.largest_volume.filter(|_| !on(Mutant::LargestVolumeIgnored));
            let amount = largest.or(capacity.capacity)?;
            (amount >= claim.request.unwrap_or_default())
                .then(|| Some((capacity.capacity.unwrap_or_default(), capacity.topology.clone()?)))
                .flatten()
        });
        let of_class: Vec<_> = of_class.collect();
        of_class.into_iter().map(|(amount, nodes)| (amount, model.nodes.ask(Question::NoAccess(nodes)))).collect()
    });
    let allowed = &class.allowed_topologies;
    let allowed = if on(Mutant::AllowedTopologiesIgnored) { Vec::new() } else { allowed.clone() };
    Some(Delayed {
        claim: Arc::clone(claim),
        candidates,
        provisioned: model.nodes.ask(Question::NotProvisioned(allowed)),
        room,
        class,
    })
}

/// Whether a volume of its class suits a claim, as far as nodes do not matter.
/// Source: `k8s.io/component-helpers/storage/volume`, `FindMatchingVolume`.
fn could_bind(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> bool {
    if volume.size < claim.request.unwrap_or_default()
        || volume.block != claim.block
        || volume.attributes_class != claim.attributes_class
        || volume.meta.deleting.is_some()
    {
        return false;
    }
    match &volume.claim {
        Some((namespace, name)) => *namespace == claim.meta.namespace && *name == claim.meta.name,
        None => {
            matches!(volume.phase.as_str(), "" | "Available")
                && claim.selector.as_ref().is_none_or(|selector| selector.matches(&volume.meta.labels))
                && claim
                    .access_modes
                    .iter()
                    .all(|mode| volume.access_modes.contains(mode) || on(Mutant::AccessModesIgnored))
        }
    }
}
