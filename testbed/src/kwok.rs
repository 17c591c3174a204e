//! Nodes without kubelets: kwok plays the kubelet for nodes that carry its annotation.
//!
//! What its pods do and when is rendered from a [`Behaviour`], the same document that drives the simulator's kubelets.
//! Unlike a kubelet, kwok never rejects a pod, never restarts a container and never ends a Job's pods.

mod nodes;
mod template;

use std::fmt::Write as _;

use rehome_model::Seconds;
use rehome_model::behaviour::{Behaviour, PodBehaviour};
use serde_json::{Value, json};

pub use self::nodes::{ANNOTATION, FakeNode};

/// The user as which kwok appears in the audit log.
pub const USER: &str = "kwok";

/// kwok's configuration for a behaviour: JSON documents, which are YAML.
#[must_use]
pub fn stages(behaviour: &Behaviour) -> String {
    let mut documents = vec![node_stage()];
    let mut rules = behaviour.pods.clone();
    rules.push(unnamed());
    for (index, rule) in rules.iter().enumerate() {
        let earlier = &rules[..index];
        documents.extend(pod_stages(index, rule, &matches(rule, earlier)));
    }
    let mut text = String::new();
    for document in documents {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "---\n{document:#}");
    }
    text
}

/// How pods behave of which no rule speaks: as in the simulated world (`rehome-sim`, `kubelet.rs`).
fn unnamed() -> PodBehaviour {
    PodBehaviour {
        labels: std::collections::BTreeMap::new(),
        start: Seconds::new(1),
        ready: Some(Seconds::new(1)),
        jitter: Seconds::ZERO,
        stop: Seconds::new(1),
    }
}

/// A jq expression that gives something for the pods for which this rule holds: those it matches and no earlier one
/// does. (kwok picks at random among stages that match, so they must not overlap.)
fn matches(rule: &PodBehaviour, earlier: &[PodBehaviour]) -> String {
    let mut all = vec![labels(rule)];
    all.extend(earlier.iter().map(|other| format!("({} | not)", labels(other))));
    format!(".metadata | select({}) | .name", all.join(" and "))
}

fn labels(rule: &PodBehaviour) -> String {
    if rule.labels.is_empty() {
        return "true".to_owned();
    }
    // A label's value is a jq string literal when it is a JSON one: it can hold no backslash.
    let terms: Vec<_> =
        rule.labels.iter().map(|(key, value)| format!(".labels[{}] == {}", json!(key), json!(value))).collect();
    format!("({})", terms.join(" and "))
}

fn stage(name: &str, kind: &str, expressions: &[Value], delay: Option<Value>, next: &Value) -> Value {
    let mut spec = json!({
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": expressions},
        "next": next,
    });
    if let Some(delay) = delay {
        spec["delay"] = delay;
    }
    json!({"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec})
}

fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
    let mut expression = json!({"key": key, "operator": operator});
    if !values.is_empty() {
        expression["values"] = json!(values);
    }
    expression
}

/// The status of the condition `Ready`, as jq.
const READY: &str = r#".status.conditions.[] | select( .type == "Ready" ) | .status"#;

fn node_stage() -> Value {
    stage(
        "node-ready",
        "Node",
        &[expression(READY, "NotIn", &["True"])],
        None,
        &json!({"statusTemplate": template::NODE_READY}),
    )
}

fn pod_stages(index: usize, rule: &PodBehaviour, matches: &str) -> Vec<Value> {
    let ours = expression(matches, "Exists", &[]);
    let staying = expression(".metadata.deletionTimestamp", "DoesNotExist", &[]);
    let mut stages = vec![stage(
        &format!("pod-{index}-start"),
        "Pod",
        // An absent phase is Pending: a pod that was made with a node name has none yet.
        &[ours.clone(), staying.clone(), expression(".status.startTime", "DoesNotExist", &[])],
        Some(json!({"durationMilliseconds": rule.start.as_millis()})),
        &json!({"statusTemplate": template::POD_RUNNING}),
    )];
    if let Some(ready) = rule.ready {
        let mut delay = json!({"durationMilliseconds": ready.as_millis()});
        if rule.jitter.as_millis() > 0 {
            // kwok draws uniformly between the two.
            delay["jitterDurationMilliseconds"] = json!((ready + rule.jitter).as_millis());
        }
        let running = expression(".status.phase", "In", &["Running"]);
        stages.push(stage(
            &format!("pod-{index}-ready"),
            "Pod",
            &[ours.clone(), staying, running, expression(READY, "NotIn", &["True"])],
            Some(delay),
            &json!({"statusTemplate": template::POD_READY}),
        ));
    }
    let seconds = f64::from(rule.stop);
    stages.push(stage(
        &format!("pod-{index}-stop"),
        "Pod",
        &[
            ours,
            expression(".metadata.deletionTimestamp", "Exists", &[]),
            expression(".metadata.finalizers", "DoesNotExist", &[]),
        ],
        Some(json!({
            "durationMilliseconds": rule.stop.as_millis(),
            "durationFrom": {"expressionFrom":
                format!("[.metadata.deletionGracePeriodSeconds, {seconds}] | min | tostring + \"s\"")},
        })),
        &json!({"delete": true}),
    ));
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(label: Option<(&str, &str)>, ready: Option<i64>) -> PodBehaviour {
        PodBehaviour {
            labels: label.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            start: Seconds::new(1),
            ready: ready.map(Seconds::new),
            jitter: Seconds::new(2),
            stop: Seconds::from_millis(1500),
        }
    }

    #[test]
    fn the_first_rule_that_matches_holds() {
        let (first, second) = (rule(Some(("app", "db")), Some(9)), rule(None, Some(1)));
        assert_eq!(matches(&first, &[]), r#".metadata | select((.labels["app"] == "db")) | .name"#);
        assert_eq!(
            matches(&second, &[first]),
            r#".metadata | select(true and ((.labels["app"] == "db") | not)) | .name"#
        );
    }

    #[test]
    fn a_pod_that_never_becomes_ready_has_no_stage_for_it() {
        let names = |ready| -> Vec<String> {
            let stages = pod_stages(0, &rule(None, ready), "x");
            stages.iter().map(|stage| stage["metadata"]["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(Some(1)), ["pod-0-start", "pod-0-ready", "pod-0-stop"]);
        assert_eq!(names(None), ["pod-0-start", "pod-0-stop"]);
    }

    #[test]
    fn jitter_is_added_and_the_grace_period_caps_the_stop() {
        let stages = pod_stages(0, &rule(None, Some(3)), "x");
        assert_eq!(stages[1]["spec"]["delay"]["durationMilliseconds"], 3000);
        assert_eq!(stages[1]["spec"]["delay"]["jitterDurationMilliseconds"], 5000);
        let from = stages[2]["spec"]["delay"]["durationFrom"]["expressionFrom"].as_str().unwrap();
        assert!(from.contains("deletionGracePeriodSeconds, 1.5]"), "{from}");
    }
}
