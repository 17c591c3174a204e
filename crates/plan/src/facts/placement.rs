//! Where successors can go: the cluster during the move and at its end, as the scheduler would see it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::{Kind, Record, View};
use rehome_model::fidelity::Fidelity;
use rehome_model::verb::FENCE_TAINT;
use rehome_sched::{Among, Model, Profile, Rejection};

use super::units::MoveUnit;
use crate::fidelity;

/// The value of the fence on a node that is emptied.
pub const FENCE_SOURCE: &str = "source";
/// The value of the fence on a node that is only kept out of the way.
pub const FENCE_BYSTANDER: &str = "bystander";

/// Nodes that are neither source nor target, and that some moving pod could land on if they had room.
pub(super) fn bystanders(
    view: &View,
    cluster: &Cluster,
    sources: &BTreeSet<String>,
    targets: &BTreeSet<String>,
    units: &[MoveUnit],
) -> BTreeSet<String> {
    let successors: Vec<Pod> = units
        .iter()
        .flat_map(|unit| &unit.lineages)
        .flat_map(|lineage| {
            // Pods of one template ask the same of a node, unless each has its own volume.
            let own_volumes = lineage.claims().next().is_some();
            lineage.successors(view).into_iter().take(if own_volumes { usize::MAX } else { 1 })
        })
        .collect();
    let others: Vec<String> = view
        .nodes()
        .filter(|node| !sources.contains(node.name()) && !targets.contains(node.name()))
        .map(|node| node.name().to_owned())
        .collect();
    successors.iter().flat_map(|pod| cluster.possible(&others, pod)).cloned().collect()
}

fn fence(node: &Node, value: &str) -> Node {
    let mut node = node.clone();
    if !node.taints.iter().any(|taint| taint.key == FENCE_TAINT) {
        node.taints.push(Taint { key: FENCE_TAINT.to_owned(), value: value.to_owned(), effect: Effect::NoSchedule });
    }
    node
}

/// The view with fences up.
pub(super) fn fenced(view: &View, sources: &BTreeSet<String>, bystanders: &BTreeSet<String>) -> View {
    let mut fenced = view.clone();
    let nodes = sources.iter().map(|name| (name, FENCE_SOURCE));
    for (name, value) in nodes.chain(bystanders.iter().map(|name| (name, FENCE_BYSTANDER))) {
        if let Some(node) = view.node(name) {
            fenced.insert(Record::Node(Arc::new(fence(node, value))));
        }
    }
    fenced
}

/// The view at the end of the move, without successors.
pub(super) fn emptied(view: &View, sources: &BTreeSet<String>, units: &[MoveUnit]) -> View {
    let mut emptied = view.clone();
    for node in sources.iter().filter_map(|name| view.node(name)) {
        emptied.insert(Record::Node(Arc::new(Node { unschedulable: true, ..fence(node, FENCE_SOURCE) })));
    }
    for pod in units.iter().flat_map(MoveUnit::leaving) {
        emptied.remove(Kind::Pod, &pod.meta.key());
    }
    emptied
}

/// Names of the nodes that are filled.
pub type Targets = BTreeSet<String>;

/// A cluster in which places are looked for. Looking leaves it as it was, but for answers that are kept.
pub struct Cluster {
    model: RefCell<Model>,
    targets: Targets,
    /// The same, as the model knows them.
    among: Among,
}

impl Cluster {
    /// The cluster of a view, and the nodes on which places are looked for.
    #[must_use]
    pub fn new(view: &View, targets: &Targets) -> Self {
        let model = Model::new(view, Profile::of_cluster(view));
        Self { among: model.among(targets), model: RefCell::new(model), targets: targets.clone() }
    }

    /// The same cluster, to be changed.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            model: RefCell::new(self.model.borrow().clone()),
            targets: self.targets.clone(),
            among: self.among.clone(),
        }
    }

    /// How well the model of this cluster explains a view of it.
    #[must_use]
    pub fn fidelity(&self, view: &View) -> Fidelity {
        fidelity::of_model(view, &mut self.model.borrow_mut())
    }

    /// How loaded a node is: the larger of the shares of memory and cpu that are requested, in thousandths.
    #[must_use]
    pub fn load(&self, node: &str) -> i64 {
        self.model.borrow().share_in_use(node)
    }

    /// The pods of a node.
    #[must_use]
    pub fn pods_on(&self, node: &str) -> Vec<Pod> {
        self.model.borrow().pods_on(node).map(|pod| Pod::clone(pod)).collect()
    }

    /// The target that takes a pod and has the least memory or cpu in use relative to its size.
    ///
    /// # Errors
    /// What each target says.
    pub fn best(&self, pod: &Pod) -> Result<String, Vec<(String, Rejection)>> {
        let mut model = self.model.borrow_mut();
        model.emptiest(pod, &self.among).ok_or_else(|| model.rejections(pod, &self.targets))
    }

    /// Whether all these pods find a target, one after the other, once others are gone.
    #[must_use]
    pub fn all_fit<'p>(&self, pods: &[Pod], gone: impl Iterator<Item = &'p Arc<Pod>> + Clone) -> bool {
        let gone: Vec<&Arc<Pod>> = gone.filter(|pod| self.model.borrow().node_of(&pod.meta.key()).is_some()).collect();
        for pod in &gone {
            self.model.borrow_mut().remove_pod(&pod.meta.key());
        }
        let mut placed = Vec::new();
        let fit = pods.iter().all(|pod| match self.best(pod) {
            Ok(node) => {
                placed.push(pod.meta.key());
                self.bind(pod.clone(), node);
                true
            }
            Err(_) => false,
        });
        let mut model = self.model.borrow_mut();
        for key in &placed {
            model.remove_pod(key);
        }
        for pod in gone {
            model.insert_pod(pod);
        }
        fit
    }

    /// What each target says of a pod if it were empty: what no amount of room can cure.
    #[must_use]
    pub fn impossible(&self, pod: &Pod) -> Option<Vec<(String, Rejection)>> {
        let verdicts = self.model.borrow_mut().verdicts_on_empty(pod, &self.targets);
        verdicts.into_iter().map(|(name, verdict)| Some((name.clone(), verdict.err()?))).collect()
    }

    /// The nodes of these that would take a pod if they were empty.
    #[must_use]
    pub fn possible<'n>(&self, nodes: impl IntoIterator<Item = &'n String>, pod: &Pod) -> Vec<&'n String> {
        let verdicts = self.model.borrow_mut().verdicts_on_empty(pod, nodes);
        verdicts.into_iter().filter(|(_, verdict)| verdict.is_ok()).map(|(name, _)| name).collect()
    }

    /// Why no node takes a pod: how many give each reason; `None` if one takes it.
    #[must_use]
    pub fn nowhere(&self, pod: &Pod) -> Option<BTreeMap<String, usize>> {
        let mut model = self.model.borrow_mut();
        if !model.feasible(pod).is_empty() {
            return None;
        }
        Some(model.judge(pod).reasons())
    }

    fn bind(&self, pod: Pod, node: String) {
        self.model.borrow_mut().insert_pod(&Arc::new(Pod { node: Some(node), ..pod }));
    }
}

/// Where each successor goes, in the order given, if it goes to a target.
pub struct Placements {
    /// Pods that found no target: the pod, and what each target says at that moment.
    pub homeless: Vec<(Pod, Vec<(String, Rejection)>)>,
    /// The cluster with all others placed.
    pub cluster: Cluster,
}

impl Placements {
    /// Nothing is placed yet.
    #[must_use]
    pub fn new(cluster: Cluster) -> Self {
        Self { homeless: Vec::new(), cluster }
    }

    /// Gives pods that are not part of the move the room that they wait for, where a target has it.
    pub fn reserve(&mut self, pods: Vec<Pod>) {
        for pod in pods {
            if let Ok(node) = self.cluster.best(&pod) {
                self.cluster.bind(pod, node);
            }
        }
    }

    /// Places pods on targets only, one after the other, the emptiest target first.
    pub fn place(&mut self, pods: Vec<Pod>) {
        for pod in pods {
            match self.cluster.best(&pod) {
                Ok(node) => self.cluster.bind(pod, node),
                Err(rejections) => self.homeless.push((pod, rejections)),
            }
        }
    }

    /// Places pods on one target that takes all of them, the emptiest first. Where there is none, the first pod is
    /// homeless, with what each target says to the first of them that it does not take.
    pub fn place_together(&mut self, pods: Vec<Pod>) -> Option<String> {
        let mut rejections = Vec::new();
        for name in self.emptiest_first() {
            let mut placed = Vec::new();
            let refused = pods.iter().find_map(|pod| {
                if let Err(rejection) = self.cluster.model.borrow_mut().verdict(pod, &name) {
                    return Some(rejection);
                }
                placed.push(pod.meta.key());
                self.cluster.bind(pod.clone(), name.clone());
                None
            });
            let Some(rejection) = refused else { return Some(name) };
            for key in &placed {
                self.cluster.model.borrow_mut().remove_pod(key);
            }
            rejections.push((name, rejection));
        }
        rejections.sort_by(|a, b| a.0.cmp(&b.0));
        self.homeless.extend(pods.into_iter().next().map(|pod| (pod, rejections)));
        None
    }

    fn emptiest_first(&self) -> Vec<String> {
        let mut nodes: Vec<_> =
            self.cluster.targets.iter().map(|name| (self.cluster.load(name), name.clone())).collect();
        nodes.sort();
        nodes.into_iter().map(|(_, name)| name).collect()
    }
}

/// Rejections in one sentence: `2 Insufficient memory, 1 node(s) had untolerated taint(s)`.
#[must_use]
pub fn sentence(rejections: &[(String, Rejection)]) -> String {
    let mut counts = BTreeMap::new();
    for reason in rejections.iter().flat_map(|(_, rejection)| &rejection.reasons) {
        *counts.entry(reason.as_str()).or_insert(0_usize) += 1;
    }
    let parts: Vec<String> = counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    parts.join(", ")
}
