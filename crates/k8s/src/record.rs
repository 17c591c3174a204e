//! The kinds that a move needs, and one record for each.

use std::fmt;
use std::sync::Arc;

use rehome_model::ObjectRef;

use crate::meta::{Key, Meta};
use crate::node::Node;
use crate::pod::Pod;
use crate::policy::{
    Hpa, LimitRange, Namespace, PodDisruptionBudget, PriorityClass, ResourceQuota, WebhookConfiguration,
};
use crate::service::{EndpointSlice, EventRecord, Service};
use crate::storage::{
    CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment,
};
use crate::workload::Workload;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($record:ty), $plural:literal, $group:literal, $namespaced:literal;)*) => {
        /// A kind of object that a capture holds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// All kinds, in the order in which they are captured.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)*];

            /// The kind as Kubernetes spells it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$kind => stringify!($kind),)* }
            }

            /// The plural under which the API server serves it.
            #[must_use]
            pub const fn plural(self) -> &'static str {
                match self { $(Kind::$kind => $plural,)* }
            }

            /// `group/version`, or `v1` for the core group.
            #[must_use]
            pub const fn api_version(self) -> &'static str {
                match self { $(Kind::$kind => $group,)* }
            }

            /// Whether its objects live in namespaces.
            #[must_use]
            pub const fn namespaced(self) -> bool {
                match self { $(Kind::$kind => $namespaced,)* }
            }
        }

        /// A compact record of one object.
        #[derive(Clone, Debug)]
        pub enum Record { $($(#[$doc])* $kind(Arc<$record>),)* }

        impl Record {
            /// The kind of the object.
            #[must_use]
            pub fn kind(&self) -> Kind {
                match self { $(Record::$kind(_) => Kind::$kind,)* }
            }

            /// The metadata of the object.
            #[must_use]
            pub fn meta(&self) -> &Meta {
                match self { $(Record::$kind(record) => &record.meta,)* }
            }

            /// The metadata of the object, to change it: a record that is shared is copied first.
            pub fn meta_mut(&mut self) -> &mut Meta {
                match self { $(Record::$kind(record) => &mut Arc::make_mut(record).meta,)* }
            }
        }
    };
}

kinds! {
    /// A namespace.
    Namespace(Namespace), "namespaces", "v1", false;
    /// A node.
    Node(Node), "nodes", "v1", false;
    /// A pod.
    Pod(Pod), "pods", "v1", true;
    /// A Deployment.
    Deployment(Workload), "deployments", "apps/v1", true;
    /// A ReplicaSet.
    ReplicaSet(Workload), "replicasets", "apps/v1", true;
    /// A StatefulSet.
    StatefulSet(Workload), "statefulsets", "apps/v1", true;
    /// A DaemonSet.
    DaemonSet(Workload), "daemonsets", "apps/v1", true;
    /// A Job.
    Job(Workload), "jobs", "batch/v1", true;
    /// A CronJob.
    CronJob(Workload), "cronjobs", "batch/v1", true;
    /// A ReplicationController.
    ReplicationController(Workload), "replicationcontrollers", "v1", true;
    /// A PodDisruptionBudget.
    PodDisruptionBudget(PodDisruptionBudget), "poddisruptionbudgets", "policy/v1", true;
    /// A HorizontalPodAutoscaler.
    HorizontalPodAutoscaler(Hpa), "horizontalpodautoscalers", "autoscaling/v2", true;
    /// A PersistentVolume.
    PersistentVolume(PersistentVolume), "persistentvolumes", "v1", false;
    /// A PersistentVolumeClaim.
    PersistentVolumeClaim(PersistentVolumeClaim), "persistentvolumeclaims", "v1", true;
    /// A StorageClass.
    StorageClass(StorageClass), "storageclasses", "storage.k8s.io/v1", false;
    /// A CSINode.
    CSINode(CsiNode), "csinodes", "storage.k8s.io/v1", false;
    /// A VolumeAttachment.
    VolumeAttachment(VolumeAttachment), "volumeattachments", "storage.k8s.io/v1", false;
    /// A CSIDriver.
    CSIDriver(CsiDriver), "csidrivers", "storage.k8s.io/v1", false;
    /// A CSIStorageCapacity.
    CSIStorageCapacity(CsiStorageCapacity), "csistoragecapacities", "storage.k8s.io/v1", true;
    /// A Service.
    Service(Service), "services", "v1", true;
    /// An EndpointSlice.
    EndpointSlice(EndpointSlice), "endpointslices", "discovery.k8s.io/v1", true;
    /// A ValidatingWebhookConfiguration.
    ValidatingWebhookConfiguration(WebhookConfiguration), "validatingwebhookconfigurations", "admissionregistration.k8s.io/v1", false;
    /// A MutatingWebhookConfiguration.
    MutatingWebhookConfiguration(WebhookConfiguration), "mutatingwebhookconfigurations", "admissionregistration.k8s.io/v1", false;
    /// A PriorityClass.
    PriorityClass(PriorityClass), "priorityclasses", "scheduling.k8s.io/v1", false;
    /// A ResourceQuota.
    ResourceQuota(ResourceQuota), "resourcequotas", "v1", true;
    /// A LimitRange.
    LimitRange(LimitRange), "limitranges", "v1", true;
    /// An Event.
    Event(EventRecord), "events", "v1", true;
}

impl Kind {
    /// The kind with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether objects of this kind own pods, directly or through others.
    #[must_use]
    pub fn is_workload(self) -> bool {
        matches!(
            self,
            Self::Deployment
                | Self::ReplicaSet
                | Self::StatefulSet
                | Self::DaemonSet
                | Self::Job
                | Self::CronJob
                | Self::ReplicationController
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Record {
    /// The key of the object.
    #[must_use]
    pub fn key(&self) -> Key {
        self.meta().key()
    }

    /// The reference to the object.
    #[must_use]
    pub fn reference(&self) -> ObjectRef {
        self.key().reference(self.kind())
    }

    /// The record as a workload, for the kinds that are.
    #[must_use]
    pub fn as_workload(&self) -> Option<&Arc<Workload>> {
        match self {
            Self::Deployment(w)
            | Self::ReplicaSet(w)
            | Self::StatefulSet(w)
            | Self::DaemonSet(w)
            | Self::Job(w)
            | Self::CronJob(w)
            | Self::ReplicationController(w) => Some(w),
            _ => None,
        }
    }

    /// The record of a workload; `None` for a kind that is none.
    #[must_use]
    pub fn workload(kind: Kind, workload: Workload) -> Option<Self> {
        let workload = Arc::new(workload);
        Some(match kind {
            Kind::Deployment => Self::Deployment(workload),
            Kind::ReplicaSet => Self::ReplicaSet(workload),
            Kind::StatefulSet => Self::StatefulSet(workload),
            Kind::DaemonSet => Self::DaemonSet(workload),
            Kind::Job => Self::Job(workload),
            Kind::CronJob => Self::CronJob(workload),
            Kind::ReplicationController => Self::ReplicationController(workload),
            _ => return None,
        })
    }
}
