//! With any one right taken away, a run does not start, and what is missing is named.

use rehome_model::exit;
use rehome_testbed::control_plane::rule;
use serde_json::{Value, json};

use crate::least::{self, Right};
use crate::place::Place;

/// Roles of a user that allow all of these.
fn roles(user: &str, rights: &[&Right]) -> Vec<Value> {
    let group = "rbac.authorization.k8s.io";
    let mut objects = Vec::new();
    let mut namespaces: Vec<&str> = rights.iter().map(|right| right.3.as_str()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    for namespace in namespaces {
        let rules: Vec<Value> = rights
            .iter()
            .filter(|right| right.3 == namespace)
            .map(|(verb, group, resource, _, name)| {
                let mut rule = serde_json::to_value(rule(group, &[resource], &[verb])).unwrap();
                if !name.is_empty() {
                    rule["resourceNames"] = json!([name]);
                }
                rule
            })
            .collect();
        let (role, binding) =
            if namespace.is_empty() { ("ClusterRole", "ClusterRoleBinding") } else { ("Role", "RoleBinding") };
        let mut metadata = json!({"name": user});
        if !namespace.is_empty() {
            metadata["namespace"] = json!(namespace);
        }
        let api = format!("{group}/v1");
        objects.push(json!({"apiVersion": api, "kind": role, "metadata": metadata, "rules": rules}));
        objects.push(json!({
            "apiVersion": api, "kind": binding, "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": role, "name": user},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        }));
    }
    objects
}

/// As the program says it.
fn said((verb, group, resource, namespace, name): &Right) -> String {
    let group = if group.is_empty() { String::new() } else { format!(".{group}") };
    let name = if name.is_empty() { String::new() } else { format!(" {name}") };
    let namespace = if namespace.is_empty() { String::new() } else { format!(" in namespace {namespace}") };
    format!("they may not {verb} {resource}{group}{name}{namespace}")
}

#[test]
fn each_missing_right_is_named_and_nothing_is_begun() {
    let place = Place::new("missing");
    let admin = place.plane.admin_kubeconfig();
    place.prepare(admin);
    let printed = place.expect(exit::DONE, &["rbac", "--plan", "plan.json", "-o", "json"]).stdout;
    let all: Vec<Right> = least::rights(&printed).into_iter().collect();
    assert!(all.len() > 40, "{}", all.len());
    // A user for each right that is missing, and one who lacks none.
    let user = |index: usize| format!("short-{index}");
    let objects: Vec<Value> = (0..=all.len())
        .flat_map(|missing| {
            let kept: Vec<&Right> =
                all.iter().enumerate().filter(|(index, _)| *index != missing).map(|(_, r)| r).collect();
            roles(&user(missing), &kept)
        })
        .collect();
    place.plane.namespace("rehome-system").unwrap();
    place.plane.apply(&json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()).unwrap();
    let lacks_none = format!("--as={}", user(all.len()));
    let eviction = ["create", "pods", "--subresource=eviction", "-n", &place.name, &lacks_none];
    for what in [&["list", "pods", "--all-namespaces", &lacks_none][..], &eviction] {
        place.wait_until_may(admin, what);
    }

    for (index, right) in all.iter().enumerate() {
        let user = user(index);
        let mut execute = place.execute(admin);
        execute.extend(["--as", &user]);
        let ran = place.expect(exit::BLOCKED, &execute);
        let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("they may not")).collect();
        assert_eq!(lines, [format!("  because {}", said(right))], "{}", ran.stderr);
        assert_eq!(place.journal(), "", "nothing is begun");
    }
    let log = fs_err::read_to_string(place.plane.audit_log()).unwrap();
    let changed = |line: &&str| {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        let user = event["impersonatedUser"]["username"].as_str().unwrap_or_default();
        user.starts_with("short-") && !matches!(event["verb"].as_str(), Some("get" | "list" | "watch"))
    };
    assert_eq!(log.lines().filter(changed).collect::<Vec<_>>(), Vec::<&str>::new());

    // Nor is a run taken up, or put back, by somebody who may not.
    let lacking = |verb: &str, resource: &str| {
        let found = all.iter().position(|right| right.0 == verb && right.2 == resource);
        user(found.unwrap())
    };
    let as_nobody = ["--as", &user(all.len())];
    place.expect(exit::DONE, &[&place.execute(admin)[..], &as_nobody].concat());
    let file = admin.to_str().unwrap();
    let back = ["rollback", "--kubeconfig", file, "--journal", "plan.journal.jsonl", "--as"];
    let ran = place.expect(exit::BLOCKED, &[&back[..], &[&lacking("patch", "nodes")]].concat());
    assert!(ran.stderr.contains("they may not patch nodes"), "{}", ran.stderr);
    // Pods are not touched by it, so that nobody needs to be allowed to.
    place.expect(exit::ROLLED_BACK, &[&back[..], &[&lacking("create", "pods/eviction")]].concat());
}
