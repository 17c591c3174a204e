//! Whether the credentials may do what a run needs: refused before the first write if not.

use std::collections::BTreeSet;
use std::path::Path;

use rehome_kube::Connection;
use rehome_kube::access::Permission;
use rehome_model::exit;
use rehome_run::access;

use crate::error::CliError;
use crate::view;

/// Asks the server, and says what is missing. `plan` is the file by which the roles can be made.
pub(crate) fn ask(connection: &Connection, needed: BTreeSet<Permission>, plan: Option<&Path>) -> Result<(), CliError> {
    let denied = access::denied(connection, needed).map_err(|error| {
        CliError::unexpected("what the credentials may do could not be asked")
            .because(&error)
            .next("kubectl auth whoami")
    })?;
    if denied.is_empty() {
        return Ok(());
    }
    let message = format!("the credentials lack {}", view::count(denied.len(), "permission"));
    let mut error = CliError::new(exit::BLOCKED, message);
    for missing in &denied {
        error = error.why(format!("they may not {}", missing.permission));
    }
    let plan = plan.map(|file| format!(" --plan {}", file.display())).unwrap_or_default();
    let subject = connection.describe().user.as_deref().unwrap_or("NAME");
    Err(error.next(format!(
        "ask whoever grants access to apply: rehome rbac --run{plan} --to-user {subject}   (who you are to the server: \
         kubectl auth whoami)"
    )))
}
