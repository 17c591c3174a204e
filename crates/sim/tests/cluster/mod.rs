//! Small clusters for the tests.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::node::{Node, Resources};
use rehome_k8s::percent::IntOrPercent;
use rehome_k8s::pod::{Pod, PodSpec, Volume};
use rehome_k8s::policy::PodDisruptionBudget;
use rehome_k8s::selector::Selector;
use rehome_k8s::storage::{PersistentVolume, PersistentVolumeClaim};
use rehome_k8s::template::Template;
use rehome_k8s::workload::{Workload, WorkloadStrategy};
use rehome_k8s::{Key, Kind, Meta, Record, View, owner};
use rehome_model::behaviour::{Behaviour, PodBehaviour};
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::time::Seconds;
use rehome_model::{ObjectRef, Timestamp, Uid};
use rehome_sim::SimWorld;

/// The beginning of every test.
pub const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

pub struct Cluster(pub View);

pub fn labels(app: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("app".to_owned(), app.to_owned())])
}

pub fn meta(namespace: &str, name: &str) -> Meta {
    Meta {
        namespace: namespace.into(),
        name: name.into(),
        uid: Uid(format!("uid-{name}")),
        generation: 1,
        created: Some(START),
        ..Meta::default()
    }
}

pub fn spec(cpu: i64) -> PodSpec {
    PodSpec { requests: Resources::from([("cpu".to_owned(), cpu)]), grace: Seconds::new(30), ..PodSpec::default() }
}

pub fn workload(name: &str, replicas: i64, strategy: WorkloadStrategy) -> Workload {
    Workload {
        meta: meta("default", name),
        replicas: Some(replicas),
        selector: Selector::of_labels(&labels(name)),
        template: Template { labels: labels(name), spec: Arc::new(spec(100)), ..Template::default() },
        strategy,
        ..Workload::default()
    }
}

pub fn rolling(surge: i64, unavailable: i64) -> WorkloadStrategy {
    WorkloadStrategy::Rolling { max_surge: IntOrPercent::Int(surge), max_unavailable: IntOrPercent::Int(unavailable) }
}

impl Cluster {
    pub fn new(nodes: &[&str]) -> Self {
        let mut view = View::new(ClusterIdentity::default());
        for name in nodes {
            let room = Resources::from([("cpu".to_owned(), 4000), ("pods".to_owned(), 110)]);
            let node = Node { meta: meta("", name), allocatable: room, ready: Some(true), ..Node::default() };
            view.insert(Record::Node(Arc::new(node)));
        }
        Self(view)
    }

    pub fn with(mut self, record: Record) -> Self {
        self.0.insert(record);
        self
    }

    pub fn deployment(self, name: &str, replicas: i64, strategy: WorkloadStrategy) -> Self {
        self.with(Record::Deployment(Arc::new(workload(name, replicas, strategy))))
    }

    pub fn stateful(self, name: &str, replicas: i64, strategy: WorkloadStrategy) -> Self {
        self.with(Record::StatefulSet(Arc::new(workload(name, replicas, strategy))))
    }

    pub fn budget(self, name: &str, app: &str, min: i64) -> Self {
        self.with(Record::PodDisruptionBudget(Arc::new(PodDisruptionBudget {
            meta: meta("default", name),
            selector: Selector::of_labels(&labels(app)),
            min_available: Some(IntOrPercent::Int(min)),
            ..PodDisruptionBudget::default()
        })))
    }

    pub fn claim(self, name: &str) -> Self {
        let volume = PersistentVolume { meta: meta("", &format!("pv-{name}")), ..PersistentVolume::default() };
        self.with(Record::PersistentVolume(Arc::new(volume))).with(Record::PersistentVolumeClaim(Arc::new(
            PersistentVolumeClaim {
                bound: true,
                meta: meta("default", name),
                volume: Some(format!("pv-{name}")),
                access_modes: vec!["ReadWriteOnce".to_owned()],
                phase: "Bound".to_owned(),
                ..PersistentVolumeClaim::default()
            },
        )))
    }

    pub fn world(self, behaviour: Behaviour) -> SimWorld {
        SimWorld::new(self.0, behaviour, 7, START)
    }
}

pub fn timed(start: i64, ready: Option<i64>, stop: i64) -> Behaviour {
    Behaviour {
        pods: vec![PodBehaviour {
            labels: BTreeMap::new(),
            start: Seconds::new(start),
            ready: ready.map(Seconds::new),
            jitter: Seconds::ZERO,
            stop: Seconds::new(stop),
        }],
        ..Behaviour::prompt()
    }
}

pub fn with_claim(mut workload: Workload, claim: &str) -> Workload {
    let mut spec = (*workload.template.spec).clone();
    spec.volumes.push(Volume::Claim { name: claim.to_owned() });
    workload.template.spec = Arc::new(spec);
    workload
}

pub fn deployment(name: &str) -> ObjectRef {
    ObjectRef::namespaced("Deployment", "default", name)
}

pub fn pods(view: &View, kind: &str, name: &str) -> Vec<Arc<Pod>> {
    owner::pods_of(view, &ObjectRef::namespaced(kind, "default", name)).into_iter().cloned().collect()
}

pub fn pod_ref(pod: &Pod) -> ObjectRef {
    pod.meta.key().reference(Kind::Pod)
}

pub fn ready(view: &View, kind: &str, name: &str, number: usize) -> bool {
    let pods = pods(view, kind, name);
    pods.len() == number && pods.iter().all(|pod| pod.ready && pod.meta.deleting.is_none())
}

pub fn key(name: &str) -> Key {
    Key::new("default", name)
}

/// Waits until a workload has this many pods, all Ready.
pub fn settle(world: &mut SimWorld, kind: &str, name: &str, number: usize) {
    use rehome_engine::world::World;
    let until = world.now() + Seconds::new(600);
    assert!(world.run_until(until, |view| ready(view, kind, name, number)), "{kind} {name} does not settle");
}
