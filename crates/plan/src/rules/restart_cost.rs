//! A pod that asks for more when it comes back.
//!
//! ## What it checks
//! The pod that comes is made from its owner's template and from the LimitRanges of its namespace, not from the pod that
//! leaves. It asks for more cpu or memory than the pod that leaves holds: that one was resized in place, or a controller
//! (a VerticalPodAutoscaler) made it smaller when it was created, or the template or a LimitRange changed since.
//!
//! ## Why it matters
//! The sum of what runs today understates what the targets must hold. Room is looked for with the larger amounts; where
//! there is none, another rule blocks.
//!
//! ## How to fix
//! Nothing, if there is room. Otherwise change the template to what the pod needs, or add a target.

use rehome_k8s::node::Resources;
use rehome_k8s::pod::Pod;
use rehome_k8s::{Kind, quantity};
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule =
    Rule { code: Code(1020), name: "restart-cost", needs: &[Kind::Pod, Kind::LimitRange], check };

/// What people size by.
const RESOURCES: [&str; 2] = ["cpu", "memory"];

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let mut found = Vec::new();
    for lineage in facts.units.iter().flat_map(|unit| &unit.lineages) {
        let successors = lineage.successors(facts.view);
        let (mut now, mut then, mut growing) = (Resources::new(), Resources::new(), 0);
        for (pod, successor) in lineage.leaving.iter().zip(&successors) {
            let (held, asked) = (held(pod), &successor.spec.requests);
            if RESOURCES.iter().any(|name| amount(asked, name) > amount(held, name)) {
                growing += 1;
                rehome_k8s::requests::add(&mut now, held);
                rehome_k8s::requests::add(&mut then, asked);
            }
        }
        if growing == 0 {
            continue;
        }
        let grown: Vec<String> = RESOURCES
            .iter()
            .filter(|name| amount(&then, name) > amount(&now, name))
            .map(|name| {
                let text = |amounts| quantity::text(name, amount(amounts, name));
                format!("{} {name} instead of {}", text(&then), text(&now))
            })
            .collect();
        found.push(Found {
            severity: Severity::Warning,
            subject: lineage.workload.clone(),
            message: format!(
                "{growing} of its pods ask for more when they come back, as its template and the LimitRanges of its \
                 namespace have it: {}",
                grown.join(", ")
            ),
            remedies: vec![
                "compare its template with what its pods hold today, and change the one that is wrong".to_owned(),
            ],
        });
    }
    found
}

/// What a pod counts for today.
fn held(pod: &Pod) -> &Resources {
    pod.resized.as_ref().map_or(&pod.spec.requests, |resized| &resized.by_pod.requests)
}

fn amount(amounts: &Resources, name: &str) -> i64 {
    amounts.get(name).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rehome_model::finding::Severity::Warning;
    use serde_json::json;

    use crate::testing::Cluster;

    fn with_pod_of(memory: &str) -> Cluster {
        let mut cluster = Cluster::new();
        let asks = json!([{"name": "main", "resources": {"requests": {"cpu": "100m", "memory": memory}}}]);
        cluster.deployment("web", &["old-1"]).patch("Pod", "web-1-0", &json!({"spec": {"containers": asks}}));
        cluster
    }

    #[test]
    fn restart_cost_of_a_pod_that_is_smaller_than_its_template() {
        assert_eq!(with_pod_of("64Mi").found("restart-cost"), [Warning]);
    }

    #[test]
    fn a_pod_as_large_as_its_template_or_larger_costs_nothing() {
        assert_eq!(with_pod_of("128Mi").found("restart-cost"), []);
        assert_eq!(with_pod_of("1Gi").found("restart-cost"), []);
    }
}
