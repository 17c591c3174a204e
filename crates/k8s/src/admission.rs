//! What the API server makes of a new pod before it stores it: the priority of its class, and the requests that the
//! LimitRanges of its namespace fill in; and which pods it refuses for that. So the pod that comes back is not always the
//! pod that left: a LimitRange may be younger than the pod.
//!
//! Sources: `k8s.io/kubernetes/plugin/pkg/admission/limitranger` and `plugin/pkg/admission/priority`. Deliberately not
//! known: webhooks (they may do anything), the overhead of RuntimeClasses, quotas, and the tolerations of `NoExecute`
//! taints that every pod gets. Several LimitRanges of a namespace are read by name; the server reads them in no order.

use std::sync::Arc;

use crate::meta::Key;
use crate::node::Resources;
use crate::parts::{ContainerAsk, KeptParts, Parts};
use crate::pod::Pod;
use crate::policy::{Limit, LimitRange, LimitScope, PriorityClass};
use crate::quantity;
use crate::record::{Kind, Record};
use crate::view::View;

/// Priorities of the classes that every cluster has. Source: `pkg/apis/scheduling/types.go`, `SystemCriticalPriority`.
const SYSTEM_CLASSES: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// Why a pod would not be created.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refused {
    /// A LimitRange forbids it.
    #[error("{}", join(.violations))]
    LimitRange {
        /// The LimitRange.
        name: String,
        /// What it says, in the server's words.
        violations: Vec<String>,
    },
    /// It names a class that is not there.
    #[error("no PriorityClass with name {class} was found")]
    NoPriorityClass {
        /// The class.
        class: String,
    },
}

/// As errors of one kind are put together. Source: `k8s.io/apimachinery/pkg/util/errors`, `NewAggregate`.
fn join(violations: &[String]) -> String {
    match violations {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// Makes of a pod what the API server would store. What could not be captured changes nothing.
///
/// # Errors
/// It would not be created.
pub fn admit(view: &View, pod: &mut Pod) -> Result<(), Refused> {
    let limited = limit(view, pod);
    prioritise(view, pod).and(limited)
}

/// LimitRanges fill in what containers leave out, and then look whether everything is within them.
fn limit(view: &View, pod: &mut Pod) -> Result<(), Refused> {
    let ranges: Vec<&Arc<LimitRange>> = ranges(view, &pod.meta.namespace).collect();
    if ranges.is_empty() {
        return Ok(());
    }
    // A pod without its parts was bound before, so it was admitted before.
    let Some(before) = pod.spec.parts.get() else { return Ok(()) };
    let mut parts = before.clone();
    for range in &ranges {
        fill_in(range, &mut parts);
    }
    for range in &ranges {
        let violations: Vec<String> = range.limits.iter().flat_map(|limit| violations(limit, &parts)).collect();
        if !violations.is_empty() {
            return Err(Refused::LimitRange { name: range.meta.name.clone(), violations });
        }
    }
    if parts != *before {
        let asked = parts.asked();
        let spec = Arc::make_mut(&mut pod.spec);
        (spec.requests, spec.scored, spec.coming) = (asked.requests, asked.scored, asked.coming);
        spec.memory_limit = parts.memory_limit();
        spec.parts = KeptParts::of(parts);
    }
    Ok(())
}

fn ranges<'v>(view: &'v View, namespace: &str) -> impl Iterator<Item = &'v Arc<LimitRange>> {
    view.of_kind(Kind::LimitRange).filter_map(move |record| match record {
        Record::LimitRange(range) if range.meta.namespace == namespace => Some(range),
        _ => None,
    })
}

/// Of several limits in one LimitRange the last counts; what a container says itself counts most.
fn fill_in(range: &LimitRange, parts: &mut Parts) {
    let (mut limits, mut requests) = (Resources::new(), Resources::new());
    for limit in range.limits.iter().filter(|limit| limit.scope == LimitScope::Container) {
        limits.extend(limit.default_limits.clone());
        requests.extend(limit.default_requests.clone());
    }
    for container in parts.containers.iter_mut().chain(&mut parts.inits) {
        for (name, amount) in &limits {
            container.limits.entry(name.clone()).or_insert(*amount);
        }
        for (name, amount) in &requests {
            container.requests.entry(name.clone()).or_insert(*amount);
        }
    }
}

fn violations(limit: &Limit, parts: &Parts) -> Vec<String> {
    match limit.scope {
        LimitScope::Container => parts
            .containers
            .iter()
            .chain(&parts.inits)
            .flat_map(|ContainerAsk { requests, limits, .. }| outside(limit, "Container", requests, limits))
            .collect(),
        LimitScope::Pod => outside(limit, "Pod", &parts.requests_of_pod(), &parts.limits_of_pod()),
    }
}

/// Source: `admission.go`, `minConstraint`, `maxConstraint`, `limitRequestRatioConstraint`.
fn outside(limit: &Limit, scope: &str, requests: &Resources, limits: &Resources) -> Vec<String> {
    let mut found = Vec::new();
    let text = quantity::text;
    for (name, min) in &limit.min {
        let says = format!("minimum {name} usage per {scope} is {}", text(name, *min));
        match (requests.get(name), limits.get(name)) {
            (None, _) => found.push(format!("{says}.  No request is specified")),
            (Some(request), _) if request < min => {
                found.push(format!("{says}, but request is {}", text(name, *request)))
            }
            (_, Some(most)) if most < min => found.push(format!("{says}, but limit is {}", text(name, *most))),
            _ => {}
        }
    }
    for (name, max) in &limit.max {
        let says = format!("maximum {name} usage per {scope} is {}", text(name, *max));
        match (requests.get(name), limits.get(name)) {
            (_, None) => found.push(format!("{says}.  No limit is specified")),
            (_, Some(most)) if most > max => found.push(format!("{says}, but limit is {}", text(name, *most))),
            (Some(request), _) if request > max => {
                found.push(format!("{says}, but request is {}", text(name, *request)))
            }
            _ => {}
        }
    }
    for (name, max) in &limit.max_ratio {
        let says = format!("{name} max limit to request ratio per {scope} is {}", text("cpu", *max));
        let given = |amounts: &Resources| amounts.get(name).copied().filter(|amount| *amount != 0);
        match (given(requests), given(limits)) {
            (None, _) => found.push(format!("{says}, but no request is specified or request is 0")),
            (_, None) => found.push(format!("{says}, but no limit is specified or limit is 0")),
            (Some(request), Some(most)) => {
                let ratio = i128::from(most) * 1_000_000 / i128::from(request);
                if ratio > i128::from(*max) * 1000 {
                    let (whole, millionths) = (ratio / 1_000_000, ratio % 1_000_000);
                    found.push(format!("{says}, but provided ratio is {whole}.{millionths:06}"));
                }
            }
        }
    }
    found
}

/// The class decides; without one, the default class of the cluster; without that, zero.
fn prioritise(view: &View, pod: &mut Pod) -> Result<(), Refused> {
    if view.gap(Kind::PriorityClass).is_some() {
        return Ok(());
    }
    let class = match &pod.spec.priority_class {
        Some(name) => match class(view, name) {
            Some(class) => Some(class),
            None => return Err(Refused::NoPriorityClass { class: name.clone() }),
        },
        None => default_class(view),
    };
    let class = class.unwrap_or_default();
    let spec = &pod.spec;
    let never = spec.never_preempts || class.never_preempts;
    let name = Some(class.meta.name).filter(|name| !name.is_empty());
    if spec.priority != class.value || spec.never_preempts != never || spec.priority_class != name {
        let spec = Arc::make_mut(&mut pod.spec);
        spec.priority = class.value;
        spec.never_preempts = never;
        spec.priority_class = name;
    }
    Ok(())
}

fn class(view: &View, name: &str) -> Option<PriorityClass> {
    if let Some(Record::PriorityClass(class)) = view.get(Kind::PriorityClass, &Key::cluster(name)) {
        return Some(PriorityClass::clone(class));
    }
    // Files often lack the classes that every cluster has.
    let (_, value) = SYSTEM_CLASSES.iter().find(|(known, _)| *known == name)?;
    let meta = crate::Meta { name: name.to_owned(), ..crate::Meta::default() };
    Some(PriorityClass { meta, value: *value, ..PriorityClass::default() })
}

/// Of several, the lowest. Source: `plugin/pkg/admission/priority`, `getDefaultPriorityClass`.
fn default_class(view: &View) -> Option<PriorityClass> {
    let classes = view.of_kind(Kind::PriorityClass).filter_map(|record| match record {
        Record::PriorityClass(class) if class.global_default => Some(class),
        _ => None,
    });
    classes.min_by_key(|class| class.value).map(|class| PriorityClass::clone(class))
}

#[cfg(test)]
mod tests;
