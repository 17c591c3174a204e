//! Roles that allow what [`crate::access`] lists, and nothing else, as objects of `rbac.authorization.k8s.io/v1`.
//!
//! Does not know whether the cluster authorizes by RBAC: where it does not, they say what to allow there.

use std::collections::{BTreeMap, BTreeSet};

use rehome_kube::access::{Permission, needs};
use rehome_kube::config_maps::NAMESPACE;
use rehome_model::plan::Plan;
use serde::Serialize;

use crate::access;

/// The role for looking: capture, check, size, plan, verify.
pub const READER: &str = "rehome-reader";
/// The role for execute, resume and rollback.
pub const MOVER: &str = "rehome-mover";

/// The API group of roles.
const GROUP: &str = "rbac.authorization.k8s.io";

/// Who gets the roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A user, as the API server names it.
    User(String),
    /// A group.
    Group(String),
    /// A ServiceAccount.
    ServiceAccount {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

/// A role or a binding, or the namespace of one. Fields are in the order in which people write them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Object {
    api_version: String,
    /// `ClusterRole`, `Role`, `ClusterRoleBinding`, `RoleBinding` or `Namespace`.
    pub kind: &'static str,
    metadata: Metadata,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role_ref: Option<Reference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subjects: Vec<Reference>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Metadata {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    api_groups: Vec<String>,
    resources: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resource_names: Vec<String>,
    verbs: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    #[serde(skip_serializing_if = "Option::is_none")]
    api_group: Option<&'static str>,
    kind: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
}

impl Object {
    fn new(kind: &'static str, name: &str, namespace: Option<&String>) -> Self {
        Self {
            api_version: format!("{GROUP}/v1"),
            kind,
            metadata: Metadata { name: name.to_owned(), namespace: namespace.cloned() },
            rules: Vec::new(),
            role_ref: None,
            subjects: Vec::new(),
        }
    }

    /// `ClusterRole rehome-mover`, `Role shop/rehome-mover`.
    #[must_use]
    pub fn reference(&self) -> String {
        match &self.metadata.namespace {
            Some(namespace) => format!("{} {namespace}/{}", self.kind, self.metadata.name),
            None => format!("{} {}", self.kind, self.metadata.name),
        }
    }
}

/// The role for looking, and who gets it.
#[must_use]
pub fn reader(subject: Option<&Subject>) -> Vec<Object> {
    granted(READER, &access::to_capture(), subject)
}

/// The roles for a run, of any plan or of this one, and who gets them. What a plan's steps do in namespaces is allowed
/// in those namespaces only.
#[must_use]
pub fn mover(plan: Option<&Plan>, subject: Option<&Subject>) -> Vec<Object> {
    let mut needed = plan.map_or_else(access::to_run, access::to_carry_out);
    needed.extend(needs::to_keep_journal());
    // A Role can be made only in a namespace that is there.
    let namespace = Object { api_version: "v1".to_owned(), ..Object::new("Namespace", NAMESPACE, None) };
    std::iter::once(namespace).chain(granted(MOVER, &needed, subject)).collect()
}

fn granted(name: &str, permissions: &BTreeSet<Permission>, subject: Option<&Subject>) -> Vec<Object> {
    let mut scopes: BTreeMap<Option<&String>, Vec<&Permission>> = BTreeMap::new();
    for permission in permissions {
        scopes.entry(permission.namespace.as_ref()).or_default().push(permission);
    }
    let mut objects = Vec::new();
    for (namespace, permissions) in scopes {
        let object = |kind| Object::new(kind, name, namespace);
        let (role, binding) =
            if namespace.is_some() { ("Role", "RoleBinding") } else { ("ClusterRole", "ClusterRoleBinding") };
        objects.push(Object { rules: rules(&permissions), ..object(role) });
        if let Some(subject) = subject {
            let role_ref = Reference { api_group: Some(GROUP), kind: role, name: name.to_owned(), namespace: None };
            objects.push(Object { role_ref: Some(role_ref), subjects: vec![bound(subject)], ..object(binding) });
        }
    }
    objects
}

/// What a rule is about: the group, the one object that it is limited to, and the verbs.
type About<'a> = (&'a str, Option<&'a String>, BTreeSet<&'a str>);

/// Resources of one group for which the same verbs are allowed share a rule.
fn rules(permissions: &[&Permission]) -> Vec<Rule> {
    let mut verbs: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for permission in permissions {
        let resource = match &permission.subresource {
            Some(subresource) => format!("{}/{subresource}", permission.resource),
            None => permission.resource.clone(),
        };
        let key = (permission.group.as_str(), permission.name.as_ref(), resource);
        verbs.entry(key).or_default().insert(&permission.verb);
    }
    let mut resources: BTreeMap<About<'_>, Vec<String>> = BTreeMap::new();
    for ((group, name, resource), verbs) in verbs {
        resources.entry((group, name, verbs)).or_default().push(resource);
    }
    let rule = |((group, name, verbs), resources): (About<'_>, Vec<String>)| Rule {
        api_groups: vec![group.to_owned()],
        resources,
        resource_names: name.into_iter().cloned().collect(),
        verbs: verbs.into_iter().map(str::to_owned).collect(),
    };
    resources.into_iter().map(rule).collect()
}

fn bound(subject: &Subject) -> Reference {
    match subject {
        Subject::User(name) => Reference { api_group: Some(GROUP), kind: "User", name: name.clone(), namespace: None },
        Subject::Group(name) => {
            Reference { api_group: Some(GROUP), kind: "Group", name: name.clone(), namespace: None }
        }
        Subject::ServiceAccount { namespace, name } => Reference {
            api_group: None,
            kind: "ServiceAccount",
            name: name.clone(),
            namespace: Some(namespace.clone()),
        },
    }
}
