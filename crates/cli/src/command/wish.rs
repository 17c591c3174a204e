//! The intent of the arguments, and what to do when it cannot be read against a cluster.

use rehome_model::intent::Intent;
use rehome_plan::SelectionError;

use super::input;
use crate::args::Wish;
use crate::error::CliError;

/// The intent: from a file, or from the flags; what the command line says besides is put over either.
pub(crate) fn intent(wish: &Wish) -> Result<Intent, CliError> {
    let Some(file) = &wish.intent else { return Ok(wish.intent()) };
    let mut intent = input::document::<Intent>(file, "rehome plan --from pool=old --to pool=new")?.document;
    wish.add_to(&mut intent);
    Ok(intent)
}

/// A wish that makes no sense for this cluster.
pub(crate) fn unreadable(error: &SelectionError) -> CliError {
    let cli = CliError::usage("there is nothing to plan").because(error);
    match error {
        SelectionError::NodesUnknown { .. } => cli.next("add the nodes to the files: kubectl get nodes -o yaml"),
        SelectionError::PodsUnknown { .. } => cli.next("add the pods to the files: kubectl get pods -A -o yaml"),
        SelectionError::NotASelector { .. } => cli.next("--from pool=old, or --from node-1,node-2"),
        SelectionError::NoNode { .. } | SelectionError::Overlap { .. } => cli.next("kubectl get nodes --show-labels"),
    }
}
