//! An approval.

use rehome_model::approval::Approval;

/// Who approved what, and when.
pub(crate) fn text(approval: &Approval) -> String {
    format!(
        "Approval of plan {}\nfor cluster {}\nby {}, {}\n",
        approval.plan,
        super::cluster(&approval.cluster),
        approval.by,
        approval.at
    )
}
