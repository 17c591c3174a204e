//! `rehome rbac`.

use rehome_model::exit;
use rehome_model::plan::Plan;
use rehome_run::rbac::{self, Object};

use super::{input, running};
use crate::args::Rbac;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Prints the roles: what to hand to whoever grants access.
pub(crate) fn run(args: &Rbac, ui: &mut Ui) -> Result<u8, CliError> {
    let plan = args.plan.as_ref().map(|file| input::document::<Plan>(file, running::PLAN_MADE_BY)).transpose()?;
    let subject = args.subject();
    let mut roles: Vec<Object> = Vec::new();
    if !args.run && plan.is_none() {
        roles.extend(rbac::reader(subject.as_ref()));
    }
    if !args.capture_only {
        roles.extend(rbac::mover(plan.as_ref().map(|plan| &plan.document), subject.as_ref()));
    }
    let about = view::rbac::About { plan: plan.as_ref().map(|plan| &plan.digest), bound: subject.is_some() };
    let text = view::rbac::text(&roles, &about)
        .map_err(|error| CliError::unexpected("the roles have no YAML").because(&error))?;
    let list = view::rbac::List::of(&roles);
    ui.result(&list, |_| text, || roles.iter().map(Object::reference).collect())?;
    ui.say("next: look it over, then pipe it into kubectl apply -f -");
    Ok(exit::DONE)
}
