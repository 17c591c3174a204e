//! From a snapshot to a view, object by object.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_model::Uid;
use rehome_model::snapshot::Snapshot;

use crate::ingest::{self, IngestError};
use crate::pod::PodSpec;
use crate::record::{Kind, Record};
use crate::view::View;

/// The spec of the pod that each controller was seen with last: pods of one template share one.
#[derive(Default)]
struct Specs(BTreeMap<Uid, Arc<PodSpec>>);

impl Specs {
    /// Gives a bound pod the spec of the one before it, if they are equal. Two pods that are not bound may be equal and
    /// yet have other parts.
    fn share(&mut self, record: &mut Record) {
        let Record::Pod(pod) = record else { return };
        let Some(owner) = pod.meta.controller.as_ref().filter(|_| pod.node.is_some()) else { return };
        match self.0.get_mut(&owner.uid) {
            Some(spec) if *spec == pod.spec => Arc::make_mut(pod).spec = Arc::clone(spec),
            Some(spec) => *spec = Arc::clone(&pod.spec),
            None => _ = self.0.insert(owner.uid.clone(), Arc::clone(&pod.spec)),
        }
    }
}

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
    let mut specs = Specs::default();
    for raw in &snapshot.objects {
        if let Some(mut record) = ingest::object(raw.get())? {
            specs.share(&mut record);
            view.insert(record);
        }
    }
    Ok(view)
}
