//! Roles, as `kubectl apply` takes them.

use std::fmt::Write as _;

use rehome_model::Digest;
use rehome_run::rbac::{MOVER, Object, READER};
use serde::Serialize;

/// What the comment above the roles says.
pub(crate) struct About<'a> {
    /// The plan that they are for.
    pub(crate) plan: Option<&'a Digest>,
    /// Whether somebody gets them.
    pub(crate) bound: bool,
}

/// The roles as one object, for `-o json` and `-o yaml`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List<'a> {
    api_version: &'static str,
    kind: &'static str,
    items: &'a [Object],
}

impl<'a> List<'a> {
    /// All of them.
    pub(crate) fn of(roles: &'a [Object]) -> Self {
        Self { api_version: "v1", kind: "List", items: roles }
    }
}

/// YAML, one document for each, under a comment that says what they are for.
pub(crate) fn text(roles: &[Object], about: &About<'_>) -> Result<String, serde_saphyr::ser::Error> {
    let mut text = String::from("# The least that rehome needs.\n");
    let mut line = |words: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# {words}");
    };
    let has = |name: &str| roles.iter().any(|role| role.reference().ends_with(name));
    if has(READER) {
        line(
            "rehome-reader: capture, check, size, plan and verify. It changes nothing, and reads no Secret or ConfigMap.",
        );
    }
    if has(MOVER) {
        match about.plan {
            Some(digest) => {
                line(&format!("rehome-mover: execute, resume and rollback of the plan {}.", digest.short()))
            }
            None => line("rehome-mover: execute, resume and rollback. Bind it for the time of the move only."),
        }
    }
    if about.plan.is_none() && has(MOVER) {
        line("With rehome rbac --plan FILE it allows what that plan's steps do, in the namespaces where they do it.");
    }
    if !about.bound {
        line(
            "Nobody has them yet: rehome rbac --to-user NAME (or --to-group, --to-serviceaccount) writes the bindings too.",
        );
    }
    for role in roles {
        text.push_str("---\n");
        text.push_str(&serde_saphyr::to_string(role)?);
    }
    Ok(text)
}
