//! `rehome approve`.

use rehome_model::approval::Approval;
use rehome_model::document::Header;
use rehome_model::exit;
use rehome_model::plan::Plan;

use super::input;
use crate::args::Approve;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Writes an approval of the plan as it is now.
pub(crate) fn run(args: &Approve, ui: &mut Ui) -> Result<u8, CliError> {
    let plan = input::document::<Plan>(&args.plan, "rehome plan --from … --to … --out plan.json")?;
    if plan.document.blockers().count() > 0 {
        return Err(CliError::new(exit::BLOCKED, "a plan with blocking findings cannot be approved")
            .next(format!("rehome show {}", args.plan.display())));
    }
    let by = args.by.clone().or_else(|| input::environment("USER")).or_else(|| input::environment("LOGNAME"));
    let by = by.ok_or_else(|| {
        CliError::usage("nobody to approve it: neither USER nor LOGNAME is set").next("rehome approve --by NAME …")
    })?;
    let approval = Approval {
        header: Header::of::<Approval>(),
        plan: plan.digest,
        cluster: plan.document.cluster,
        by,
        at: input::now(),
    };
    if !input::keep(&approval, args.out.as_ref(), ui)? {
        ui.for_the_next_command();
    }
    ui.document(&approval, |_| view::approval::text(&approval), || vec![format!("Approval {}", approval.plan)])?;
    Ok(exit::DONE)
}
