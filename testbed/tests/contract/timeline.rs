//! What happened to the pods of a case, in order, as the audit log of either world tells it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Something that happened to a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// It was created.
    Created,
    /// It was bound to a node.
    Bound,
    /// It became Ready.
    Ready,
    /// Its deletion began.
    Ends,
    /// It was gone.
    Gone,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Happened {
    pub(crate) step: Step,
    pub(crate) uid: String,
    pub(crate) name: String,
    pub(crate) app: String,
}

#[derive(Clone, Debug, Default)]
struct Known {
    uid: String,
    app: String,
    ready: bool,
    ends: bool,
}

/// What happened to the pods, in order.
pub(crate) fn of_pods(events: &[Value]) -> Vec<Happened> {
    let mut pods: BTreeMap<String, Known> = BTreeMap::new();
    let mut happened = Vec::new();
    for event in events.iter().filter(|event| event["objectRef"]["resource"] == "pods") {
        if event["stage"] != "ResponseComplete" || event["responseStatus"]["code"].as_u64().unwrap_or(0) >= 300 {
            continue;
        }
        let reference = &event["objectRef"];
        let response = &event["responseObject"];
        let named = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let Some(name) = named(&response["metadata"]["name"]).or_else(|| named(&reference["name"])) else { continue };
        let pod = pods.entry(name.clone()).or_default();
        let (verb, sub) = (event["verb"].as_str().unwrap_or_default(), reference["subresource"].as_str());
        let step = match (verb, sub) {
            ("create", None) => {
                *pod = Known {
                    uid: named(&response["metadata"]["uid"]).unwrap_or_default(),
                    app: named(&response["metadata"]["labels"]["app"]).unwrap_or_default(),
                    ..Known::default()
                };
                Some(Step::Created)
            }
            ("create", Some("binding")) => Some(Step::Bound),
            ("create", Some("eviction")) if !pod.ends => {
                pod.ends = true;
                Some(Step::Ends)
            }
            // A deletion with a grace period answers with the pod, and the one that ends it is the second.
            ("delete", None) if !pod.ends && ends_later(response) => {
                pod.ends = true;
                Some(Step::Ends)
            }
            ("delete", None) => Some(Step::Gone),
            ("patch" | "update", Some("status")) if !pod.ready && is_ready(response) => {
                pod.ready = true;
                Some(Step::Ready)
            }
            _ => None,
        };
        if let Some(step) = step {
            happened.push(Happened { step, uid: pod.uid.clone(), name, app: pod.app.clone() });
        }
    }
    happened
}

fn ends_later(response: &Value) -> bool {
    let metadata = &response["metadata"];
    metadata["deletionTimestamp"].is_string() && metadata["deletionGracePeriodSeconds"].as_i64() != Some(0)
}

fn is_ready(response: &Value) -> bool {
    let conditions = response["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// The place of a step of a pod.
pub(crate) fn place(happened: &[Happened], uid: &str, step: Step) -> Option<usize> {
    happened.iter().position(|one| one.uid == uid && one.step == step)
}

/// The least and the greatest number of pods of an app that were Ready and not ending, from the time on when there were
/// `from` of them.
pub(crate) fn serving(happened: &[Happened], app: &str, from: usize) -> (usize, usize) {
    let mut ready = std::collections::BTreeSet::new();
    let (mut began, mut least, mut most) = (false, usize::MAX, 0);
    for one in happened.iter().filter(|one| one.app == app) {
        match one.step {
            Step::Ready => ready.insert(one.uid.clone()),
            Step::Ends | Step::Gone => ready.remove(&one.uid),
            Step::Created | Step::Bound => false,
        };
        began |= ready.len() == from;
        if began {
            least = least.min(ready.len());
            most = most.max(ready.len());
        }
    }
    (least, most)
}
