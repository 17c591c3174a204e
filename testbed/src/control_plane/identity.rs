//! Users of a cluster. Each test has one of its own, so that each line of the audit log can be laid at somebody's door.

use std::path::{Path, PathBuf};

use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::json;

/// A user with a client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user's name, as the audit log has it.
    pub user: String,
    /// The kubeconfig.
    pub kubeconfig: PathBuf,
}

impl Identity {
    /// The kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

/// A rule for `verbs` on `resources` of one API group (empty for the core group).
#[must_use]
pub fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}

/// May do everything.
#[must_use]
pub fn everything() -> Vec<PolicyRule> {
    vec![rule("*", &["*"], &["*"])]
}

/// The ClusterRole and its binding that give a user these rules.
pub(super) fn role_manifest(user: &str, rules: &[PolicyRule]) -> Result<String, serde_json::Error> {
    let name = format!("testbed:{user}");
    let api = "rbac.authorization.k8s.io";
    let role = json!({
        "apiVersion": format!("{api}/v1"), "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules,
    });
    let binding = json!({
        "apiVersion": format!("{api}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": api, "kind": "User", "name": user}],
    });
    serde_json::to_string(&json!({"apiVersion": "v1", "kind": "List", "items": [role, binding]}))
}

/// The question whether the first of these rules is in force.
pub(super) fn review_of(rules: &[PolicyRule]) -> Option<SelfSubjectAccessReview> {
    let rule = rules.first()?;
    let (resource, subresource) = match rule.resources.as_ref()?.first()?.split_once('/') {
        Some((resource, subresource)) => (resource.to_owned(), Some(subresource.to_owned())),
        None => (rule.resources.as_ref()?.first()?.clone(), None),
    };
    let attributes = ResourceAttributes {
        group: rule.api_groups.as_ref()?.first().cloned(),
        resource: Some(resource),
        subresource,
        verb: rule.verbs.first().cloned(),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() };
    Some(SelfSubjectAccessReview { spec, ..Default::default() })
}

/// Asks whether the client's user may do what the review names.
pub(super) async fn may(client: &kube::Client, review: &SelfSubjectAccessReview) -> Result<bool, kube::Error> {
    let api: kube::Api<SelfSubjectAccessReview> = kube::Api::all(client.clone());
    let answer = api.create(&kube::api::PostParams::default(), review).await?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}
