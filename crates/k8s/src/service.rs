//! Services, their endpoints, and Events.

use rehome_model::{ObjectRef, Timestamp, Uid};

use crate::meta::Meta;
use crate::selector::Selector;

/// A Service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Names, labels.
    pub meta: Meta,
    /// `spec.selector`; [`Selector::Nothing`] where absent.
    pub selector: Selector,
    /// `spec.type`.
    pub service_type: String,
    /// Addresses of its load balancer.
    pub load_balancer: Vec<String>,
    /// `spec.publishNotReadyAddresses`.
    pub publish_not_ready: bool,
}

/// An EndpointSlice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointSlice {
    /// Names; the Service is in the label `kubernetes.io/service-name`.
    pub meta: Meta,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
}

/// The label that names the Service of an EndpointSlice. Source: `k8s.io/api/discovery/v1/well_known_labels.go`.
pub const SERVICE_NAME_LABEL: &str = "kubernetes.io/service-name";

/// One endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// `conditions.ready`; an absent one counts as true.
    pub ready: bool,
    /// The pod's name and UID, if its target is a pod.
    pub pod: Option<(String, Uid)>,
    /// `nodeName`.
    pub node: Option<String>,
}

/// An Event of the core group: durations and causes are read from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventRecord {
    /// Names.
    pub meta: Meta,
    /// What it is about.
    pub about: Option<ObjectRef>,
    /// `reason`.
    pub reason: String,
    /// `message`.
    pub message: String,
    /// The last time that it was seen.
    pub last: Option<Timestamp>,
    /// How often.
    pub count: i64,
}
