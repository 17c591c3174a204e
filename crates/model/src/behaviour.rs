//! How the workloads of a cluster behave: how long a start takes, and what never becomes Ready.
//!
//! One document is rendered to simulated kubelets and to kwok stages, so that a scenario is the same on both. Forecasts
//! for a real cluster take their durations from the capture, never from here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Header};
use crate::time::Seconds;

/// The behaviour of all pods of a scenario: the first rule that matches a pod holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Behaviour {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// Rules in order.
    pub pods: Vec<PodBehaviour>,
}

impl Document for Behaviour {
    const KIND: &'static str = "Behaviour";
}

/// How some pods behave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodBehaviour {
    /// Labels that a pod must have; none match every pod.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// From bound to Running (image, volumes, containers).
    pub start: Seconds,
    /// From Running to Ready.
    pub ready: Option<Seconds>,
    /// Added to `ready` at random, uniformly from zero to this.
    #[serde(default)]
    pub jitter: Seconds,
    /// From the deletion to the end of the last container; capped by the grace period.
    pub stop: Seconds,
}

impl Behaviour {
    /// Pods start and stop within a second: for scenarios where time does not matter.
    #[must_use]
    pub fn prompt() -> Self {
        Self {
            header: Header::of::<Self>(),
            pods: vec![PodBehaviour {
                labels: BTreeMap::new(),
                start: Seconds::from_millis(500),
                ready: Some(Seconds::from_millis(500)),
                jitter: Seconds::ZERO,
                stop: Seconds::from_millis(500),
            }],
        }
    }

    /// The rule for a pod with these labels.
    #[must_use]
    pub fn of(&self, labels: &BTreeMap<String, String>) -> Option<&PodBehaviour> {
        self.pods.iter().find(|rule| rule.labels.iter().all(|(key, value)| labels.get(key) == Some(value)))
    }
}
