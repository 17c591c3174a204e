//! Units: the pods of source nodes, by the workload that they belong to; workloads on one volume move together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rehome_k8s::admission::{self, Refused};
use rehome_k8s::owner::{self, Owner};
use rehome_k8s::pod::{Pod, PodSpec};
use rehome_k8s::storage::single_node;
use rehome_k8s::workload::Workload;
use rehome_k8s::{Key, Kind, Record, View, readiness, template};
use rehome_model::plan::Stay;
use rehome_model::{ObjectRef, Timestamp, Uid};

/// A set of lineages that move together.
#[derive(Clone, Debug)]
pub struct MoveUnit {
    /// Usually one.
    pub lineages: Vec<UnitLineage>,
}

/// The pods of one workload that leave.
#[derive(Clone, Debug)]
pub struct UnitLineage {
    /// The topmost controller, or the pod itself.
    pub workload: ObjectRef,
    /// How it was found.
    pub owner: Owner,
    /// The controller, where the view holds it.
    pub controller: Option<Arc<Workload>>,
    /// Its pods on source nodes, by name.
    pub leaving: Vec<Arc<Pod>>,
    /// Its pods elsewhere.
    pub staying: Vec<Arc<Pod>>,
}

impl UnitLineage {
    /// How many pods it should have.
    #[must_use]
    pub fn desired(&self) -> i64 {
        let there = i64::try_from(self.leaving.len() + self.staying.len()).unwrap_or(i64::MAX);
        self.controller.as_ref().and_then(|controller| controller.replicas).unwrap_or(there)
    }

    /// Whether it has one pod only: while that moves, nobody serves.
    #[must_use]
    pub fn singleton(&self) -> bool {
        self.desired() <= 1
    }

    /// How many of its pods elsewhere serve.
    #[must_use]
    pub fn serving_elsewhere(&self) -> usize {
        self.staying.iter().filter(|pod| readiness::serves(pod)).count()
    }

    /// Claims that its leaving pods mount.
    pub fn claims(&self) -> impl Iterator<Item = Key> + '_ {
        self.leaving.iter().flat_map(|pod| pod.claims().map(|name| Key::new(pod.meta.namespace.clone(), name)))
    }

    /// The pods that will come, as the API server stores them: made from the owner's template where there is one, else
    /// like the ones that leave.
    #[must_use]
    pub fn successors(&self, view: &View) -> Vec<Pod> {
        // Pods of one template share their spec, before admission and after.
        let mut shared: Option<(Arc<PodSpec>, Arc<PodSpec>)> = None;
        let mut admitted = |mut pod: Pod| {
            match &shared {
                Some((before, after)) if Arc::ptr_eq(before, &pod.spec) => pod.spec = Arc::clone(after),
                _ => {
                    let before = Arc::clone(&pod.spec);
                    // A pod that would be refused is placed as its template has it: that is another rule's finding.
                    drop(admission::admit(view, &mut pod));
                    shared = Some((before, Arc::clone(&pod.spec)));
                }
            }
            pod
        };
        let like = |pod: &Pod| Pod { node: None, ready: false, ..pod.clone() };
        let made = |pod: &Arc<Pod>| self.made_from_template(pod).map_or_else(|| like(pod), &mut admitted);
        self.leaving.iter().map(made).collect()
    }

    /// Why the API server would not store the pods that should come.
    #[must_use]
    pub fn refused(&self, view: &View) -> Option<Refused> {
        let mut pod = self.made_from_template(self.leaving.first()?)?;
        admission::admit(view, &mut pod).err()
    }

    /// The pod that its controller makes in the place of one that leaves.
    fn made_from_template(&self, pod: &Pod) -> Option<Pod> {
        let (kind, controller) = (Kind::by_name(&self.workload.kind)?, self.controller.as_ref()?);
        let mut successor = template::pod(kind, controller, &pod.meta.name, Uid::default(), Timestamp::EPOCH);
        // The ReplicaSet adds its hash to the template's labels, and spread constraints may count by it.
        for (label, value) in &pod.meta.labels {
            successor.meta.labels.entry(label.clone()).or_insert_with(|| value.clone());
        }
        Some(successor)
    }
}

impl MoveUnit {
    /// All pods that leave.
    pub fn leaving(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.lineages.iter().flat_map(|lineage| &lineage.leaving)
    }

    /// The namespace and the names, joined: part of its step's name.
    #[must_use]
    pub fn path(&self) -> String {
        let namespace = self.lineages.first().and_then(|l| l.workload.namespace.as_deref()).unwrap_or_default();
        let names: Vec<&str> = self.lineages.iter().map(|lineage| lineage.workload.name.as_str()).collect();
        format!("{namespace}/{}", names.join("+"))
    }

    /// The workload, or the workloads, for a sentence.
    #[must_use]
    pub fn title(&self) -> String {
        let names: Vec<String> = self.lineages.iter().map(|lineage| lineage.workload.to_string()).collect();
        names.join(" and ")
    }
}

/// The units on these nodes, and what stays on them.
#[must_use]
pub fn of(view: &View, sources: &BTreeSet<String>) -> (Vec<MoveUnit>, Vec<Stay>) {
    let mut lineages: BTreeMap<ObjectRef, (Owner, Vec<Arc<Pod>>)> = BTreeMap::new();
    let mut stays: BTreeMap<(ObjectRef, String), usize> = BTreeMap::new();
    for pod in sources.iter().flat_map(|node| view.pods_on(node)) {
        let owner = owner::of_pod(view, pod);
        match crate::strategies::leave::reason_to_stay(pod, &owner) {
            Some((subject, because)) => *stays.entry((subject, because)).or_default() += 1,
            None => {
                let workload = owner.reference(pod);
                lineages.entry(workload).or_insert_with(|| (owner, Vec::new())).1.push(Arc::clone(pod));
            }
        }
    }
    let lineages: Vec<UnitLineage> = lineages
        .into_iter()
        .map(|(workload, (owner, mut leaving))| {
            leaving.sort_by_key(|pod| pod.meta.key());
            let uids: BTreeSet<&Uid> = leaving.iter().map(|pod| &pod.meta.uid).collect();
            let staying = owner::pods_of(view, &workload).into_iter().filter(|pod| !uids.contains(&pod.meta.uid));
            let staying = staying.cloned().collect();
            let kind = Kind::by_name(&workload.kind).filter(|kind| kind.is_workload());
            let controller = kind.and_then(|kind| view.workload(kind, &Key::of(&workload))).cloned();
            UnitLineage { workload, owner, controller, leaving, staying }
        })
        .collect();
    let stays = stays.into_iter().map(|((subject, because), pods)| Stay { subject, because, pods }).collect();
    (join_by_volume(view, lineages), stays)
}

/// Lineages that mount a claim which only one node at a time can use become one unit.
fn join_by_volume(view: &View, lineages: Vec<UnitLineage>) -> Vec<MoveUnit> {
    let mut units: Vec<MoveUnit> = Vec::new();
    for lineage in lineages {
        let claims: BTreeSet<Key> = lineage.claims().filter(|claim| on_one_node(view, claim)).collect();
        let shares = |unit: &MoveUnit| unit.lineages.iter().any(|other| other.claims().any(|c| claims.contains(&c)));
        let (sharing, mut apart): (Vec<MoveUnit>, Vec<MoveUnit>) = units.into_iter().partition(shares);
        let mut joined: Vec<UnitLineage> = sharing.into_iter().flat_map(|unit| unit.lineages).collect();
        joined.push(lineage);
        joined.sort_by(|a, b| a.workload.cmp(&b.workload));
        apart.push(MoveUnit { lineages: joined });
        units = apart;
    }
    units.sort_by_key(|unit| unit.lineages.first().map(|lineage| lineage.workload.clone()));
    units
}

/// Whether a claim can be used by one node at a time only. A claim that the view does not hold is taken for such.
#[must_use]
pub fn on_one_node(view: &View, claim: &Key) -> bool {
    match view.get(Kind::PersistentVolumeClaim, claim) {
        Some(Record::PersistentVolumeClaim(claim)) => single_node(&claim.access_modes),
        _ => true,
    }
}
