//! From the JSON of one API object to its record.
//!
//! API types are used for decoding only, one object at a time, and are dropped at once: a capture of 30,000 pods would
//! take more than a gigabyte as typed objects. Unknown fields are ignored; a field of a wrong type is an error that
//! names the object.

mod features;
pub mod head;
pub(crate) mod hostile;
mod node;
mod pod;
mod pod_spec;
mod policy;
mod requests;
mod selectors;
mod service;
mod storage;
mod workload;

use std::sync::Arc;

use k8s_openapi::api::{
    admissionregistration, apps, autoscaling, batch, core, discovery, policy as policy_api, scheduling,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use rehome_model::{ObjectRef, Timestamp, Uid};
use serde::de::DeserializeOwned;

use crate::meta::{Meta, OwnerRef};
use crate::record::{Kind, Record};

/// The annotation in which `kubectl apply` keeps a copy of the whole object, literal values included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object that cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The text is no JSON object with `kind` and `apiVersion`.
    #[error("expected a Kubernetes object with apiVersion and kind, found {found}")]
    NotAnObject {
        /// The beginning of the text.
        found: String,
    },
    /// A field has another type than the API has.
    #[error("{object}: {source}")]
    Malformed {
        /// The object, as far as it could be told.
        object: Box<ObjectRef>,
        /// What is wrong, and where.
        #[source]
        source: serde_json::Error,
    },
    /// A quantity, a percentage or another text within the object cannot be read.
    #[error("{object}: {field}: expected {expected}, found {found}")]
    BadField {
        /// The object.
        object: Box<ObjectRef>,
        /// The field.
        field: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
}

/// A field within an object that cannot be read; the object is added on the way out.
pub(crate) struct BadField {
    field: String,
    expected: &'static str,
    found: String,
}

impl BadField {
    pub(crate) fn new(field: impl Into<String>, expected: &'static str, found: impl Into<String>) -> Self {
        // Escaped: it is what it should not be.
        Self { field: field.into(), expected, found: format!("{:?}", found.into()) }
    }
}

/// Decodes one object. `None` for a kind that no rule reads.
///
/// Other versions of a known kind are read as the version that this build knows where their shape is the same
/// (`policy/v1beta1`); their group must be the same.
///
/// # Errors
/// See [`IngestError`].
pub fn object(json: &str) -> Result<Option<Record>, IngestError> {
    let json: &str = &hostile::printable(json);
    let not_an_object = || IngestError::NotAnObject { found: json.chars().take(60).collect() };
    let (head, whole) = head::look(json, head::Until::Names);
    let (Some(kind), Some(api_version), true) = (head.kind, head.api_version, whole) else {
        return Err(not_an_object());
    };
    let (name, namespace) = head.names.map_or((None, None), |names| (names.name, names.namespace));
    let reference = ObjectRef { kind: kind.clone().into_owned(), namespace, name: name.unwrap_or_default() };
    let Some(kind) = Kind::by_name(&kind).filter(|kind| group(kind.api_version()) == group(&api_version)) else {
        return Ok(None);
    };
    check_names(&reference)?;
    decode(kind, &api_version, json, &reference).map(Some)
}

/// Refuses an object whose name or namespace no API server would have accepted.
fn check_names(reference: &ObjectRef) -> Result<(), IngestError> {
    let names = [("metadata.name", Some(&reference.name)), ("metadata.namespace", reference.namespace.as_ref())];
    for (field, name) in names {
        hostile::name(field, name.map_or("", String::as_str)).map_err(|bad| IngestError::BadField {
            // Not the name itself: it must not reach a terminal.
            object: Box::new(ObjectRef::cluster(reference.kind.clone(), "")),
            field: bad.field,
            expected: bad.expected,
            found: bad.found,
        })?;
    }
    Ok(())
}

/// The group of an `apiVersion`; empty for the core group.
fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

fn decode(kind: Kind, api_version: &str, json: &str, reference: &ObjectRef) -> Result<Record, IngestError> {
    let bad = |bad: BadField| IngestError::BadField {
        object: Box::new(reference.clone()),
        field: bad.field,
        expected: bad.expected,
        found: bad.found,
    };
    macro_rules! typed {
        ($api:ty, $convert:expr, $variant:ident) => {{
            let object: $api = parse(json, reference)?;
            let convert = $convert;
            convert(object).map(|record| Record::$variant(Arc::new(record))).map_err(bad)
        }};
    }
    match kind {
        Kind::Namespace => typed!(core::v1::Namespace, policy::namespace, Namespace),
        Kind::Node => typed!(core::v1::Node, node::node, Node),
        Kind::Pod => typed!(core::v1::Pod, pod::pod, Pod),
        Kind::Deployment => typed!(apps::v1::Deployment, workload::deployment, Deployment),
        Kind::ReplicaSet => typed!(apps::v1::ReplicaSet, workload::replica_set, ReplicaSet),
        Kind::StatefulSet => typed!(apps::v1::StatefulSet, workload::stateful_set, StatefulSet),
        Kind::DaemonSet => typed!(apps::v1::DaemonSet, workload::daemon_set, DaemonSet),
        Kind::Job => typed!(batch::v1::Job, workload::job, Job),
        Kind::CronJob => typed!(batch::v1::CronJob, workload::cron_job, CronJob),
        Kind::ReplicationController => {
            typed!(core::v1::ReplicationController, workload::replication_controller, ReplicationController)
        }
        Kind::PodDisruptionBudget => {
            let beta = api_version.ends_with("/v1beta1");
            typed!(policy_api::v1::PodDisruptionBudget, |o| policy::budget(o, beta), PodDisruptionBudget)
        }
        Kind::HorizontalPodAutoscaler => {
            // The versions differ in their metrics only, which no rule reads; v1 has the fields that all share.
            typed!(autoscaling::v1::HorizontalPodAutoscaler, policy::hpa, HorizontalPodAutoscaler)
        }
        Kind::PersistentVolume => typed!(core::v1::PersistentVolume, storage::volume, PersistentVolume),
        Kind::PersistentVolumeClaim => typed!(core::v1::PersistentVolumeClaim, storage::claim, PersistentVolumeClaim),
        Kind::StorageClass => typed!(k8s_openapi::api::storage::v1::StorageClass, storage::class, StorageClass),
        Kind::CSIDriver => typed!(k8s_openapi::api::storage::v1::CSIDriver, storage::driver, CSIDriver),
        Kind::CSIStorageCapacity => {
            typed!(k8s_openapi::api::storage::v1::CSIStorageCapacity, storage::capacity, CSIStorageCapacity)
        }
        Kind::CSINode => typed!(k8s_openapi::api::storage::v1::CSINode, storage::csi_node, CSINode),
        Kind::VolumeAttachment => {
            typed!(k8s_openapi::api::storage::v1::VolumeAttachment, storage::attachment, VolumeAttachment)
        }
        Kind::Service => typed!(core::v1::Service, service::service, Service),
        Kind::EndpointSlice => typed!(discovery::v1::EndpointSlice, service::endpoint_slice, EndpointSlice),
        Kind::ValidatingWebhookConfiguration => typed!(
            admissionregistration::v1::ValidatingWebhookConfiguration,
            policy::validating,
            ValidatingWebhookConfiguration
        ),
        Kind::MutatingWebhookConfiguration => typed!(
            admissionregistration::v1::MutatingWebhookConfiguration,
            policy::mutating,
            MutatingWebhookConfiguration
        ),
        Kind::PriorityClass => typed!(scheduling::v1::PriorityClass, policy::priority_class, PriorityClass),
        Kind::ResourceQuota => typed!(core::v1::ResourceQuota, policy::quota, ResourceQuota),
        Kind::LimitRange => typed!(core::v1::LimitRange, policy::limit_range, LimitRange),
        Kind::Event => typed!(core::v1::Event, service::event, Event),
    }
}

fn parse<T: DeserializeOwned>(json: &str, reference: &ObjectRef) -> Result<T, IngestError> {
    // k8s-openapi checks kind and apiVersion; both are left out here, so that other versions of the same shape pass.
    let malformed = |source| IngestError::Malformed { object: Box::new(reference.clone()), source };
    match serde_json::from_str(json) {
        Ok(object) => Ok(object),
        Err(first) => {
            let mut value: serde_json::Value = serde_json::from_str(json).map_err(malformed)?;
            if let Some(object) = value.as_object_mut() {
                object.remove("kind");
                object.remove("apiVersion");
            }
            fill_required(&mut value);
            serde_json::from_value(value).map_err(|_| malformed(first))
        }
    }
}

/// Files from people's hands leave out fields that the API server requires; they are filled with what is empty, because
/// a sparse object is better than none.
fn fill_required(value: &mut serde_json::Value) {
    let Some(object) = value.as_object_mut() else { return };
    object.entry("metadata").or_insert_with(|| serde_json::json!({}));
    if object.get("metadata").is_some_and(serde_json::Value::is_null) {
        object.insert("metadata".to_owned(), serde_json::json!({}));
    }
}

/// The metadata of any object.
pub(crate) fn meta(meta: ObjectMeta) -> Meta {
    let controller =
        meta.owner_references.unwrap_or_default().into_iter().find(|owner| owner.controller == Some(true)).map(
            |owner| OwnerRef {
                api_version: owner.api_version,
                kind: owner.kind,
                name: owner.name,
                uid: Uid(owner.uid),
            },
        );
    let mut managers: Vec<String> =
        meta.managed_fields.unwrap_or_default().into_iter().filter_map(|entry| entry.manager).collect();
    managers.sort_unstable();
    managers.dedup();
    let mut annotations = meta.annotations.unwrap_or_default();
    annotations.remove(LAST_APPLIED);
    Meta {
        namespace: meta.namespace.unwrap_or_default(),
        name: meta.name.unwrap_or_default(),
        uid: Uid(meta.uid.unwrap_or_default()),
        resource_version: meta.resource_version.unwrap_or_default(),
        generation: meta.generation.unwrap_or_default(),
        labels: meta.labels.unwrap_or_default(),
        annotations,
        controller,
        created: meta.creation_timestamp.map(time),
        deleting: meta.deletion_timestamp.map(time),
        managers,
    }
}

pub(crate) fn time(time: Time) -> Timestamp {
    time.0.into()
}
