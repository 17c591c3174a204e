//! With exactly the roles that `rehome rbac` prints, the whole job can be done, and the audit log shows that nothing
//! beyond them was asked for.

use std::collections::BTreeSet;

use rehome_model::exit;
use serde_json::Value;

use crate::place::{AUDITED, Place};

/// One thing that is allowed, or was done: `(verb, group, resource with subresource, namespace, name)`; an empty
/// namespace or name is all of them.
pub(crate) type Right = (String, String, String, String, String);

/// What the roles of `rehome rbac -o json` allow.
pub(crate) fn rights(roles: &str) -> BTreeSet<Right> {
    let list: Value = serde_json::from_str(roles).unwrap();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut rights = BTreeSet::new();
    for role in list["items"].as_array().unwrap() {
        let namespace = role["metadata"]["namespace"].as_str().unwrap_or_default();
        for rule in role["rules"].as_array().into_iter().flatten() {
            let mut names = texts(&rule["resourceNames"]);
            if names.is_empty() {
                names.push(String::new());
            }
            for (verb, group) in texts(&rule["verbs"])
                .iter()
                .flat_map(|v| texts(&rule["apiGroups"]).into_iter().map(move |g| (v.clone(), g)))
            {
                for resource in texts(&rule["resources"]) {
                    for name in &names {
                        rights.insert((
                            verb.clone(),
                            group.clone(),
                            resource.clone(),
                            namespace.to_owned(),
                            name.clone(),
                        ));
                    }
                }
            }
        }
    }
    rights
}

/// What a user asked for since the log had this many lines, and what was refused.
fn asked(place: &Place, user: &str) -> (BTreeSet<Right>, Vec<String>) {
    let log = fs_err::read_to_string(place.plane.audit_log()).unwrap();
    let (mut asked, mut refused) = (BTreeSet::new(), Vec::new());
    for line in log.lines() {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        if event["user"]["username"] != user || !event["objectRef"].is_object() {
            continue;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let object = &event["objectRef"];
        let mut resource = text(&object["resource"]);
        if let Some(subresource) = object["subresource"].as_str() {
            resource = format!("{resource}/{subresource}");
        }
        if matches!(event["responseStatus"]["code"].as_u64(), Some(401 | 403)) {
            refused.push(format!("{} {resource}: {}", text(&event["verb"]), event["responseStatus"]));
        }
        let (namespace, name) = (text(&object["namespace"]), text(&object["name"]));
        asked.insert((text(&event["verb"]), text(&object["apiGroup"]), resource, namespace, name));
    }
    (asked, refused)
}

fn covers(right: &Right, asked: &Right) -> bool {
    let same = (&right.0, &right.1, &right.2) == (&asked.0, &asked.1, &asked.2);
    // What the API server logs of the read of a namespace has its name in both places.
    let namespace = right.3.is_empty() || right.3 == asked.3;
    same && namespace && (right.4.is_empty() || right.4 == asked.4)
}

#[test]
fn the_printed_roles_are_enough_and_nothing_beyond_them_is_asked_for() {
    let place = Place::new("least");
    let kubeconfig = place.user(AUDITED, &["--capture-only"]);
    let file = kubeconfig.to_str().unwrap().to_owned();
    place.prepare(&kubeconfig);
    let before: Value =
        serde_json::from_str(&fs_err::read_to_string(place.folder().join("before.json")).unwrap()).unwrap();
    assert_eq!(before["gaps"], serde_json::json!([]), "a capture sees everything");
    let (from, to, consent) = (place.pool("old"), place.pool("new"), place.consent());
    let check = ["check", "--kubeconfig", &file, "--from", &from, "--to", &to, "--consent", &consent];
    place.expect(exit::DONE, &check);
    // To look is not to move.
    let refused = place.expect(exit::BLOCKED, &place.execute(&kubeconfig));
    assert!(refused.stderr.contains("they may not create pods/eviction in namespace least"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("next: ask whoever grants access to apply: rehome rbac --run"),
        "{}",
        refused.stderr
    );

    let reader = rights(&place.expect(exit::DONE, &["rbac", "--capture-only", "-o", "json"]).stdout);
    let mover = rights(&place.expect(exit::DONE, &["rbac", "--plan", "plan.json", "-o", "json"]).stdout);
    place.user(AUDITED, &["--plan", "plan.json"]);
    place.wait_until_may(&kubeconfig, &["create", "pods", "--subresource=eviction", "-n", &place.name]);
    place.wait_until_may(&kubeconfig, &["patch", "nodes"]);
    place.expect(exit::DONE, &place.execute(&kubeconfig));
    assert!(place.moved());
    place.expect(exit::DONE, &["verify", "--kubeconfig", &file, "--plan", "plan.json", "--before", "before.json"]);

    let (asked, refused) = asked(&place, AUDITED);
    assert_eq!(refused, Vec::<String>::new());
    assert!(asked.len() > 40, "{asked:#?}");
    let allowed: BTreeSet<Right> = reader.union(&mover).cloned().collect();
    let beyond: Vec<&Right> = asked.iter().filter(|asked| !allowed.iter().any(|right| covers(right, asked))).collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
    let unused: Vec<String> = allowed
        .iter()
        .filter(|right| !asked.iter().any(|asked| covers(right, asked)))
        .map(|(verb, _, resource, _, _)| format!("{verb} {resource}"))
        .collect();
    // Pods are read one by one only when an answer was lost, or a refusal has to be looked into.
    assert!(unused.iter().all(|unused| unused == "get pods"), "allowed and never used: {unused:?}");
}

#[test]
fn a_plan_is_allowed_less_than_any_plan() {
    let place = Place::new("narrow");
    place.prepare(place.plane.admin_kubeconfig());
    let any = rights(&place.expect(exit::DONE, &["rbac", "--run", "-o", "json"]).stdout);
    let this = rights(&place.expect(exit::DONE, &["rbac", "--run", "--plan", "plan.json", "-o", "json"]).stdout);
    assert!(this.iter().all(|right| any.iter().any(|wide| covers(wide, right))), "a part of what any plan is allowed");
    let in_namespaces = |rights: &BTreeSet<Right>| rights.iter().filter(|right| right.3 == place.name).count();
    assert_eq!((in_namespaces(&any), in_namespaces(&this)), (0, 5), "{this:#?}");
    let writes = |rights: &BTreeSet<Right>| {
        let everywhere = rights.iter().filter(|right| right.3.is_empty());
        everywhere.filter(|right| !matches!(right.0.as_str(), "get" | "list" | "watch")).count()
    };
    assert_eq!((writes(&any), writes(&this)), (4, 1), "in all namespaces, this plan changes nothing but nodes");
}
