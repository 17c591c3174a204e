//! The checker on the log of the real API server: a run in miniature breaks nothing, and the same run by a saboteur
//! that evicts by name is told by name.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::Api;
use rehome_model::document::API_VERSION;
use rehome_model::journal::{Event, Record};
use rehome_model::plan::Plan;
use rehome_model::request::{Outcome, Request};
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::{Digest, ObjectRef};
use rehome_testbed::audit::{Evidence, check, read};
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, everything};
use serde_json::json;

use crate::workload::{LIMIT, evict, home, wait_for_ready, web};

fn plan(namespace: &str, sources: &[String]) -> Plan {
    let workload = ObjectRef::namespaced("Deployment", namespace, "web");
    let step = json!({
        "name": "move/web", "verb": "evict", "off": sources, "onto": [], "after": {}, "because": "", "requires": [],
        "lineages": [{"workload": workload, "pods": 2}], "establishes": [], "undo": {"undo": "nothing"}, "deadline": 60,
    });
    serde_json::from_value(json!({
        "apiVersion": API_VERSION, "kind": "Plan", "snapshot": Digest::zero(), "cluster": {},
        "intent": {"apiVersion": API_VERSION, "kind": "Intent", "from": "a", "to": "b"},
        "sources": sources, "targets": [], "bystanders": [], "moves": [], "stays": [], "pending": [],
        "findings": [], "waves": [{"name": "w1", "title": "", "steps": [step]}],
    }))
    .unwrap()
}

/// Evicts both pods of `web`, one after the other, with a journal; the names of the broken invariants.
async fn run(plane: &ControlPlane, namespace: &str, by_uid: bool) -> BTreeSet<&'static str> {
    home(plane, namespace);
    plane.apply(&web(namespace, 2, Some(1))).unwrap();
    let pods: Api<Pod> = Api::namespaced(plane.admin().await.unwrap(), namespace);
    let leaving = wait_for_ready(&pods, 2).await;
    let budgets: Api<PodDisruptionBudget> = Api::namespaced(plane.admin().await.unwrap(), namespace);
    let allowed = async || {
        let status = budgets.get("web").await.map_err(|error| error.to_string())?.status.unwrap_or_default();
        if status.disruptions_allowed.unwrap_or_default() == 1 {
            Ok(())
        } else {
            Err(format!("{} allowed", status.disruptions_allowed.unwrap_or_default()))
        }
    };
    clock::wait_for_async("the budget to be counted", LIMIT, allowed).await.unwrap();
    let user = format!("mover-{namespace}");
    let identity = plane.identity(&user, &everything()).unwrap();
    let client = ControlPlane::client(identity.kubeconfig()).await.unwrap();

    let mut journal: Vec<Record> = Vec::new();
    let record = |event: Event, journal: &mut Vec<Record>| {
        let seq = journal.len() as u64;
        journal.push(Record { seq, at: clock::now(), prev: Digest::zero(), event });
        seq
    };
    let started = Event::RunStarted {
        api_version: API_VERSION.to_owned(),
        run: namespace.to_owned(),
        plan: Digest::zero(),
        approval: None,
        cluster: ClusterIdentity::default(),
        program: "test".to_owned(),
    };
    record(started, &mut journal);
    record(Event::StepStarted { step: "move/web".into(), leaving: vec![], known: vec![] }, &mut journal);
    for pod in &leaving {
        let uid = pod.metadata.uid.clone().unwrap();
        let name = pod.metadata.name.clone().unwrap();
        let request = Request::Evict { pod: ObjectRef::pod(namespace, name), uid: uid.as_str().into() };
        let intent = record(Event::Intent { step: "move/web".into(), attempt: 1, request }, &mut journal);
        let id = format!("{namespace}/{intent}/1");
        // The server takes a precondition without a value as none.
        let precondition = if by_uid { Some(uid.as_str()) } else { None };
        let (code, answer) = evict(&client, pod, precondition, &id).await;
        assert_eq!(code, 201, "{answer}");
        record(Event::Answer { intent, outcome: Outcome::Applied }, &mut journal);
        let settled = clock::wait_for_async("a successor and the budget", LIMIT, async || {
            allowed().await?;
            let ready = crate::workload::ready_pods(&pods).await;
            let gone = ready.iter().all(|other| other.metadata.uid.as_deref() != Some(uid.as_str()));
            if gone && ready.len() == 2 {
                Ok(())
            } else {
                Err(format!("{} Ready, the old one gone: {gone}", ready.len()))
            }
        });
        settled.await.unwrap();
    }
    record(Event::StepDone { step: "move/web".into() }, &mut journal);

    let sources: Vec<String> = leaving.iter().filter_map(|pod| pod.spec.as_ref()?.node_name.clone()).collect();
    let (plan, events) = (plan(namespace, &sources), read::log(&plane.audit_log()).unwrap());
    let violations = check(&Evidence::new(&plan, &journal, &user, &events));
    println!("{violations:#?}");
    violations.into_iter().map(|violation| violation.invariant).collect()
}

#[tokio::test]
async fn a_run_one_pod_after_the_other_breaks_nothing() {
    assert_eq!(run(ControlPlane::shared().unwrap(), "honest", true).await, BTreeSet::new());
}

#[tokio::test]
async fn a_saboteur_that_evicts_by_name_is_told_by_name() {
    assert_eq!(run(ControlPlane::shared().unwrap(), "by-name", false).await, BTreeSet::from(["right-incarnation"]));
}
