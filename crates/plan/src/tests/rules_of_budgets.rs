//! Rules about PodDisruptionBudgets.

use rehome_k8s::Kind;
use rehome_model::ObjectRef;
use rehome_model::finding::Severity::{Blocking, Unknown, Warning};
use rehome_model::intent::{Consent, ConsentTo};
use rehome_model::verb::{Successor, Verb};
use serde_json::json;

use crate::testing::Cluster;

fn database(max_unavailable: i64) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1", "old-2"]);
    cluster.budget("db", "db", &json!({"maxUnavailable": max_unavailable}));
    cluster
}

#[test]
fn structural_budget_blocks_until_the_deletion_is_agreed_to() {
    let mut cluster = database(0);
    assert_eq!(cluster.found("structural-budget"), [Blocking]);
    let finding = cluster.findings().into_iter().find(|finding| finding.rule == "structural-budget").unwrap();
    assert!(
        finding.remedies.contains(&"--consent delete-past-budget=StatefulSet/shop/db".to_owned()),
        "{:?}",
        finding.remedies
    );
    let object = ObjectRef::namespaced("StatefulSet", "shop", "db");
    cluster.intent.consents.insert(Consent { to: ConsentTo::DeletePastBudget, object });
    assert_eq!(cluster.found("structural-budget"), [Warning]);
    let plan = cluster.plan();
    assert_eq!(plan.moves[0].strategy, "delete_with_consent");
    let Verb::Delete(delete) = &plan.step(&plan.moves[0].step).unwrap().verb else { panic!("{:?}", plan.moves) };
    assert_eq!((delete.successor, delete.lineage.pods), (Successor::Awaited, 2));
}

#[test]
fn structural_budget_is_silent_for_one_that_allows_an_eviction() {
    let cluster = database(1);
    assert_eq!(cluster.found("structural-budget"), []);
    assert_eq!(cluster.plan().moves[0].strategy, "eviction");
}

#[test]
fn structural_budget_is_no_obstacle_to_a_surge() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]).budget("web", "web", &json!({"minAvailable": 1}));
    let plan = cluster.plan();
    assert_eq!(plan.moves[0].strategy, "rolling_restart");
    assert_eq!(plan.blockers().count(), 0, "{:?}", plan.findings);
}

#[test]
fn two_budgets_on_one_pod_block() {
    let mut cluster = database(1);
    cluster.budget("db-too", "db", &json!({"maxUnavailable": 1}));
    assert_eq!(cluster.found("two-budgets"), [Blocking]);
}

#[test]
fn two_budgets_on_two_workloads_are_silent() {
    let mut cluster = database(1);
    cluster.budget("other", "other", &json!({"maxUnavailable": 1}));
    assert_eq!(cluster.found("two-budgets"), []);
}

#[test]
fn unhealthy_under_budget_blocks_until_unhealthy_pods_may_go() {
    let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    let mut cluster = database(1);
    // One pod of two is out: it has used up the budget.
    cluster.patch("Pod", "db-0", &unready);
    assert_eq!(cluster.found("unhealthy-under-budget"), [Blocking]);
    // With room for one more disruption the same pod is no obstacle.
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1", "old-2", "new-1"]);
    cluster.budget("db", "db", &json!({"maxUnavailable": 2})).patch("Pod", "db-0", &unready);
    assert_eq!(cluster.found("unhealthy-under-budget"), []);
}

#[test]
fn budgets_that_could_not_be_read_are_unknown() {
    let mut cluster = database(0);
    cluster.gap(Kind::PodDisruptionBudget);
    for rule in ["structural-budget", "two-budgets", "unhealthy-under-budget"] {
        assert_eq!(cluster.found(rule), [Unknown], "{rule}");
    }
    assert_eq!(cluster.plan().moves[0].strategy, "eviction", "the API server keeps budgets all the same");
}
