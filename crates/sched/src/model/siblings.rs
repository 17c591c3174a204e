//! Whom the cluster's default spread constraints count for a pod: those that its Services and its owner select.
//!
//! It also keeps the CSINodes of nodes that are not there yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::selector::{Requirement, Selector};
use rehome_k8s::storage::CsiNode;
use rehome_k8s::{Key, Kind};

/// Selectors of Services and of workloads that own pods.
#[derive(Clone, Debug, Default)]
pub(crate) struct Siblings {
    services: BTreeMap<Key, Selector>,
    workloads: BTreeMap<(Kind, Key), Selector>,
    csi: BTreeMap<String, Arc<CsiNode>>,
}

impl Siblings {
    pub(crate) fn set_service(&mut self, key: &Key, selector: Option<&Selector>) {
        match selector {
            Some(selector) => drop(self.services.insert(key.clone(), selector.clone())),
            None => drop(self.services.remove(key)),
        }
    }

    pub(crate) fn set_workload(&mut self, kind: Kind, key: &Key, selector: Option<&Selector>) {
        if !matches!(kind, Kind::ReplicaSet | Kind::StatefulSet | Kind::ReplicationController) {
            return;
        }
        match selector {
            Some(selector) => drop(self.workloads.insert((kind, key.clone()), selector.clone())),
            None => drop(self.workloads.remove(&(kind, key.clone()))),
        }
    }

    pub(crate) fn set_csi(&mut self, name: &str, csi: Option<&Arc<CsiNode>>) {
        match csi {
            Some(csi) => drop(self.csi.insert(name.to_owned(), Arc::clone(csi))),
            None => drop(self.csi.remove(name)),
        }
    }

    pub(crate) fn csi(&self, name: &str) -> Option<&Arc<CsiNode>> {
        self.csi.get(name)
    }

    /// What the Services of a pod and its owner select together; `None` where neither selects anything.
    /// Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper/spread.go`, `DefaultSelector`.
    pub(crate) fn of(&self, pod: &Pod) -> Option<Selector> {
        let mut requirements: Vec<Requirement> = Vec::new();
        let from = Key::new(pod.meta.namespace.clone(), "");
        let own = self.services.range(from..).take_while(|(key, _)| key.namespace == pod.meta.namespace);
        let owner = pod.meta.controller.as_ref().and_then(|owner| {
            let kind = Kind::by_name(&owner.kind).filter(|kind| kind.api_version() == owner.api_version)?;
            let selector = self.workloads.get(&(kind, Key::new(pod.meta.namespace.clone(), owner.name.clone())))?;
            Some((kind, selector))
        });
        let services = own.map(|(_, selector)| selector).filter(|selector| selector.matches(&pod.meta.labels));
        for selector in services {
            if let Selector::All(more) = selector {
                requirements.extend(more.iter().cloned());
            }
        }
        if let Some((kind, Selector::All(more))) = owner {
            if kind == Kind::ReplicationController {
                // Its labels are merged with those of the Services, and stand in their place; others are added.
                requirements.retain(|requirement| more.iter().all(|other| other.key != requirement.key));
            }
            requirements.extend(more.iter().cloned());
        }
        requirements.sort();
        requirements.dedup();
        (!requirements.is_empty()).then_some(Selector::All(requirements))
    }
}
