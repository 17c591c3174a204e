//! The `Behaviour` of a captured cluster: how long its pods really took to start and to become Ready.

use std::collections::BTreeMap;

use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::{Kind, Record, View, owner};
use rehome_model::ObjectRef;
use rehome_model::behaviour::{Behaviour, PodBehaviour};
use rehome_model::document::Header;
use rehome_model::time::Seconds;

use crate::controllers::deployment::HASH_LABEL;

/// A behaviour, and what of it was not measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// One rule for each workload, the ones with more labels first, and one for all other pods.
    pub behaviour: Behaviour,
    /// What was assumed, in words, by workload.
    pub assumed: BTreeMap<ObjectRef, Vec<String>>,
}

/// What is taken where a capture says nothing: an image that is there and a small server.
const ASSUMED_START: Seconds = Seconds::new(5);
/// A readiness probe with the default period of ten seconds succeeds at its first or second try.
/// Source: `k8s.io/api/core/v1`, `Probe.periodSeconds`.
const ASSUMED_READY: Seconds = Seconds::new(10);
/// A capture never says how long a pod takes to stop; most servers end at once on SIGTERM.
const ASSUMED_STOP: Seconds = Seconds::new(2);

/// The behaviour that a view shows. The median over the pods of each workload is taken.
#[must_use]
pub fn behaviour_from(view: &View) -> Measured {
    let mut rules = Vec::new();
    let mut assumed: BTreeMap<ObjectRef, Vec<String>> = BTreeMap::new();
    for record in view.records().filter(|record| record.kind().is_workload()) {
        let Some(workload) = record.as_workload() else { continue };
        // What another workload of the view controls speaks for it.
        if workload.meta.controller.as_ref().is_some_and(|owner| view.by_uid(&owner.uid).is_some())
            || record.kind() == Kind::CronJob
        {
            continue;
        }
        let reference = record.reference();
        let pods = owner::pods_of(view, &reference);
        let mut words = Vec::new();
        let mut rule = measure(&pods, &mut words);
        rule.labels = labels_of(record);
        if pods.iter().any(|pod| pod.spec.pre_stop) || workload.template.spec.pre_stop {
            words.push(format!("stopping takes {} although it has a preStop hook", rule.stop));
        } else {
            words.push(format!("stopping takes {}", rule.stop));
        }
        assumed.insert(reference, words);
        if !rule.labels.is_empty() {
            rules.push(rule);
        }
    }
    rules.sort_by_key(|rule| (std::cmp::Reverse(rule.labels.len()), rule.labels.clone()));
    rules.push(measure(&[], &mut Vec::new()));
    Measured { behaviour: Behaviour { header: Header::of::<Behaviour>(), pods: rules }, assumed }
}

fn labels_of(record: &Record) -> BTreeMap<String, String> {
    let mut labels = record.as_workload().map(|workload| workload.template.labels.clone()).unwrap_or_default();
    labels.remove(HASH_LABEL);
    labels
}

fn measure(pods: &[&std::sync::Arc<Pod>], words: &mut Vec<String>) -> PodBehaviour {
    let between = |from: fn(&Pod) -> Option<rehome_model::Timestamp>,
                   to: fn(&Pod) -> Option<rehome_model::Timestamp>| {
        // A container that was restarted began to run long after the pod did: that measures an incident, not a start.
        let steady = pods.iter().filter(|pod| pod.restarts == 0);
        let mut spans: Vec<i64> =
            steady.filter_map(|pod| Some((to(pod)? - from(pod)?).as_millis())).filter(|span| *span >= 0).collect();
        spans.sort_unstable();
        spans.get(spans.len() / 2).map(|span| Seconds::from_millis(*span))
    };
    let start = between(|pod| pod.timing.scheduled.or(pod.timing.started), |pod| pod.timing.running);
    let ready = between(|pod| pod.timing.running, |pod| pod.timing.ready);
    if start.is_none() {
        words.push(format!("starting takes {ASSUMED_START}"));
    }
    let running: Vec<_> = pods.iter().filter(|pod| pod.phase == Phase::Running).collect();
    let never = !running.is_empty() && running.iter().all(|pod| !pod.ready);
    if never {
        words.push("it never becomes Ready, as none of its pods is".to_owned());
    } else if ready.is_none() {
        words.push(format!("becoming Ready takes {ASSUMED_READY}"));
    }
    PodBehaviour {
        labels: BTreeMap::new(),
        start: start.unwrap_or(ASSUMED_START),
        ready: if never { None } else { Some(ready.unwrap_or(ASSUMED_READY)) },
        jitter: Seconds::ZERO,
        stop: ASSUMED_STOP,
    }
}
