//! What is no request is refused with a reason, and the oracle can be asked on.

use rehome_testbed::oracle::{Oracle, OracleError, Request, Version};
use serde_json::{Value, json};

use super::cluster::{node, objects, pod};

fn refusal(oracle: &mut Oracle, objects: Vec<Value>, pods: &[&str]) -> String {
    let request = Request { objects, pods: pods.iter().map(|&pod| pod.to_owned()).collect() };
    match oracle.ask(&request) {
        Err(OracleError::Refused(why)) => why,
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[test]
fn garbage_is_refused_and_the_next_request_is_answered() {
    for version in Version::ALL {
        let mut oracle = Oracle::start(version).unwrap();
        for garbage in ["garbage", "{\"objects\": 3}", "[]", "{\"object\": []}", "{"] {
            let said = oracle.ask_line(garbage);
            assert!(
                matches!(&said, Err(OracleError::Refused(why)) if why.starts_with("expected a request")),
                "{said:?}"
            );
        }
        let request = Request { objects: objects(), pods: Vec::new() };
        assert_eq!(oracle.ask(&request).unwrap().pods, []);
    }
}

#[test]
fn a_cluster_that_makes_no_sense_is_refused() {
    for version in Version::ALL {
        let mut oracle = Oracle::start(version).unwrap();
        let unknown = json!({"apiVersion": "v1", "kind": "Nod", "metadata": {"name": "a"}});
        assert!(refusal(&mut oracle, vec![unknown], &[]).contains("object 0: no kind \"Nod\""));
        let twice = vec![node("a", None, "1"), node("a", None, "2")];
        assert!(refusal(&mut oracle, twice, &[]).contains("object 1: expected each object once"));
        assert!(refusal(&mut oracle, objects(), &["default/nobody"]).contains("expected the pod default/nobody"));
        assert!(refusal(&mut oracle, objects(), &["default/batch"]).contains("to be unbound, found it on a"));
    }
}

#[test]
fn what_the_scheduler_does_not_read_is_named() {
    let mut objects = objects();
    objects.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}));
    objects.push(pod("p", "1"));
    for version in Version::ALL {
        let request = Request { objects: objects.clone(), pods: vec!["default/p".to_owned()] };
        assert_eq!(Oracle::start(version).unwrap().ask(&request).unwrap().ignored, ["*v1.ConfigMap"]);
    }
}
