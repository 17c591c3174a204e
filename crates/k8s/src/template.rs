//! Pod templates, and the pod that a controller makes from one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::pod::PodSpec;

/// A pod template. The pod that comes back is made from it, not from the pod that left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// The spec.
    pub spec: Arc<PodSpec>,
}
