//! From a snapshot to a view, object by object.

use rehome_model::snapshot::Snapshot;

use crate::ingest::{self, IngestError};
use crate::record::Kind;
use crate::view::View;

/// The view that a snapshot holds. Objects of kinds that no rule reads are left out.
///
/// # Errors
/// [`IngestError`] names the first object that cannot be decoded.
pub fn view(snapshot: &Snapshot) -> Result<View, IngestError> {
    let mut view = View::new(snapshot.cluster.clone());
    for gap in &snapshot.gaps {
        if let Some(kind) = Kind::by_name(&gap.source) {
            view.set_gap(kind, gap.clone());
        }
    }
    for raw in &snapshot.objects {
        if let Some(record) = ingest::object(raw.get())? {
            view.insert(record);
        }
    }
    Ok(view)
}
