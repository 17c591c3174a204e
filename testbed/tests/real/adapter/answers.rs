//! The answers of the eviction endpoint, each brought about on the real server.

use rehome_engine::world::World;
use rehome_k8s::{Kind, Record};
use rehome_kube::KubeWorld;
use rehome_model::request::{Cause, Outcome, Request};
use rehome_model::{ObjectRef, Uid};
use rehome_testbed::control_plane::{ControlPlane, everything, rule};
use serde_json::json;

use super::{connect, evict, ready, send, start, wait_for};
use crate::workload::{home, web};

fn rejected(outcome: Outcome) -> Cause {
    match outcome {
        Outcome::Rejected { cause } => cause,
        other => panic!("expected a rejection, found {other:?}"),
    }
}

fn budgets_observed(world: &mut KubeWorld, namespace: &str, count: usize) {
    wait_for(world, "observed budgets", |world| {
        let observed = world.view().of_kind(Kind::PodDisruptionBudget).filter(|record| {
            matches!(record, Record::PodDisruptionBudget(pdb)
                if pdb.meta.namespace == namespace
                    && pdb.status.as_ref().is_some_and(|status| status.observed_generation >= pdb.meta.generation))
        });
        (observed.count() == count).then_some(())
    });
}

#[test]
fn an_eviction_is_refused_for_each_reason_by_its_own_cause() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "answers");
    plane.apply(&web("answers", 2, Some(0))).unwrap();
    let identity = plane.identity("answers", &everything()).unwrap();
    let mut world = start(&connect(identity.kubeconfig(), None));
    let pods = ready(&mut world, "answers", 2);
    budgets_observed(&mut world, "answers", 1);

    let cause = rejected(send(&mut world, &evict(&pods[0]), "answers/1/1"));
    assert!(matches!(&cause, Cause::Budget { message, .. } if message.contains("web")), "{cause:?}");

    let second = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "two", "namespace": "answers"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    });
    plane.apply(&second.to_string()).unwrap();
    budgets_observed(&mut world, "answers", 2);
    let cause = rejected(send(&mut world, &evict(&pods[0]), "answers/2/1"));
    assert!(matches!(cause, Cause::SeveralBudgets { .. }), "{cause:?}");

    plane.kubectl(&["delete", "pdb", "--namespace=answers", "web", "two"]).unwrap();
    let wrong = Request::Evict { pod: pods[0].meta.key().reference(Kind::Pod), uid: Uid("other".to_owned()) };
    let cause = rejected(send(&mut world, &wrong, "answers/3/1"));
    assert!(matches!(cause, Cause::OtherIncarnation { .. }), "{cause:?}");

    let none = Request::Evict { pod: ObjectRef::pod("answers", "none"), uid: Uid("other".to_owned()) };
    assert_eq!(rejected(send(&mut world, &none, "answers/4/1")), Cause::NotFound);
    assert!(pods.iter().all(|pod| world.view().by_uid(&pod.meta.uid).is_some()), "all were refused");
}

#[test]
fn rbac_and_policies_are_told_apart() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "refused");
    plane.apply(&web("refused", 1, None)).unwrap();
    let reader = plane.identity("refused-reader", &[rule("*", &["*"], &["get", "list", "watch"])]).unwrap();
    let mut world = start(&connect(reader.kubeconfig(), None));
    let pod = ready(&mut world, "refused", 1).remove(0);
    let cause = rejected(send(&mut world, &evict(&pod), "refused/1/1"));
    assert!(matches!(cause, Cause::Forbidden { .. }), "{cause:?}");

    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "refused"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]},
            ]},
            "validations": [{"expression": "request.namespace != 'refused'", "message": "not today"}],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "refused"}, "spec": {"policyName": "refused", "validationActions": ["Deny"]},
    });
    plane.apply(&json!({"apiVersion": "v1", "kind": "List", "items": [policy, binding]}).to_string()).unwrap();
    let identity = plane.identity("refused", &everything()).unwrap();
    let mut world = start(&connect(identity.kubeconfig(), None));
    // A UID that fits no pod: as long as the policy is not in force, the answer is another, and no pod goes.
    let wrong = Request::Evict { pod: pod.meta.key().reference(Kind::Pod), uid: Uid("other".to_owned()) };
    let message = wait_for_denial(&mut world, &wrong);
    assert!(message.contains("not today"), "{message}");
}

#[test]
fn a_namespace_that_ends_says_so() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "ending");
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "held", "namespace": "ending", "finalizers": ["example.com/held"]},
        "spec": {"nodeSelector": {"test": "ending"}, "containers": [{"name": "c", "image": "example.test/web:1"}]},
    });
    plane.apply(&pod.to_string()).unwrap();
    let identity = plane.identity("ending", &everything()).unwrap();
    let mut world = start(&connect(identity.kubeconfig(), None));
    let pod = ready(&mut world, "ending", 1).remove(0);
    plane.kubectl(&["delete", "namespace", "ending", "--wait=false"]).unwrap();
    let cause = rejected(send(&mut world, &evict(&pod), "ending/1/1"));
    assert!(matches!(cause, Cause::NamespaceTerminating { .. }), "{cause:?}");
    let free = r#"{"metadata":{"finalizers":null}}"#;
    plane.kubectl(&["patch", "pod", "--namespace=ending", "held", "--type=merge", "--patch", free]).unwrap();
    wait_for(&mut world, "the pod to go", |world| world.view().by_uid(&pod.meta.uid).is_none().then_some(()));
}

fn wait_for_denial(world: &mut KubeWorld, request: &Request) -> String {
    let mut attempt = 0;
    rehome_testbed::clock::wait_for("the policy to be in force", crate::workload::LIMIT, || {
        attempt += 1;
        match world.send(request, &format!("refused/2/{attempt}")) {
            Outcome::Rejected { cause: Cause::Denied { message } } => Ok(message),
            other => Err(format!("{other:?}")),
        }
    })
    .unwrap()
}
