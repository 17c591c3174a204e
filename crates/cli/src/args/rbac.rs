//! Arguments of `rbac`.

use std::path::PathBuf;

use clap::Args;
use rehome_run::rbac::Subject;

/// What the roles are for, and who gets them.
#[derive(Debug, Args)]
pub(crate) struct Rbac {
    /// Only what capture, check, size, plan and verify need
    #[arg(long)]
    pub(crate) capture_only: bool,
    /// Only what execute, resume and rollback need
    #[arg(long, conflicts_with = "capture_only")]
    pub(crate) run: bool,
    /// Only what the steps of this plan need, in the namespaces where they need it
    #[arg(long, value_name = "FILE", conflicts_with = "capture_only")]
    pub(crate) plan: Option<PathBuf>,
    /// Bind the roles to this user
    #[arg(long, value_name = "NAME", group = "subject")]
    pub(crate) to_user: Option<String>,
    /// Bind the roles to this group
    #[arg(long, value_name = "NAME", group = "subject")]
    pub(crate) to_group: Option<String>,
    /// Bind the roles to this ServiceAccount
    #[arg(long, value_name = "NAMESPACE:NAME", group = "subject", value_parser = service_account)]
    pub(crate) to_serviceaccount: Option<(String, String)>,
}

impl Rbac {
    /// Who gets the roles.
    pub(crate) fn subject(&self) -> Option<Subject> {
        let user = || self.to_user.clone().map(Subject::User);
        let group = || self.to_group.clone().map(Subject::Group);
        let account = || {
            let (namespace, name) = self.to_serviceaccount.clone()?;
            Some(Subject::ServiceAccount { namespace, name })
        };
        user().or_else(group).or_else(account)
    }
}

/// As `kubectl create clusterrolebinding --serviceaccount` takes it.
fn service_account(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
            Ok((namespace.to_owned(), name.to_owned()))
        }
        _ => Err("expected NAMESPACE:NAME".to_owned()),
    }
}
