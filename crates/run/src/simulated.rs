//! A snapshot of a simulated cluster, so that what comes after a rehearsal or a demo reads it as it reads a real one.

use std::collections::BTreeMap;

use rehome_k8s::{Key, Kind, Record, View, redact};
use rehome_model::Timestamp;
use rehome_model::document::Header;
use rehome_model::snapshot::Snapshot;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::read::Loaded;

/// The snapshot of what a view shows. What is still as it was captured is taken from there, whole; what the simulation
/// changed or made holds what records keep, no more.
///
/// # Errors
/// An object cannot be represented as JSON.
pub fn snapshot(before: &Loaded, view: &View, taken: Timestamp) -> Result<Snapshot, serde_json::Error> {
    let mut captured: BTreeMap<(Kind, Key), &RawValue> = BTreeMap::new();
    for raw in &before.snapshot.objects {
        let named: Named = serde_json::from_str(raw.get())?;
        if let Some(kind) = Kind::by_name(&named.kind) {
            captured.insert((kind, Key::new(named.metadata.namespace, named.metadata.name)), raw);
        }
    }
    let mut records: Vec<&Record> = view.records().collect();
    records.sort_by_key(|record| (record.kind().name(), record.key()));
    let objects = records
        .into_iter()
        .map(|record| match captured.get(&(record.kind(), record.key())) {
            Some(raw) if unchanged(&before.view, record) => Ok((*raw).to_owned()),
            _ => {
                let mut object = rehome_sim::render::object(record);
                redact::redact(&mut object);
                serde_json::value::to_raw_value(&object)
            }
        })
        .collect::<Result<_, _>>()?;
    Ok(Snapshot {
        header: Header::of::<Snapshot>(),
        taken,
        cluster: view.cluster.clone(),
        gaps: view.gaps().cloned().collect(),
        redacted: redact::REDACTED.iter().map(|what| (*what).to_owned()).collect(),
        objects,
    })
}

#[derive(Deserialize)]
struct Named {
    kind: String,
    metadata: Name,
}

#[derive(Deserialize)]
struct Name {
    #[serde(default)]
    namespace: String,
    name: String,
}

/// The simulated API server gives a new version to whatever it changes, as the real one does.
fn unchanged(before: &View, record: &Record) -> bool {
    let now = record.meta();
    before
        .get(record.kind(), &record.key())
        .is_some_and(|then| then.meta().uid == now.uid && then.meta().resource_version == now.resource_version)
}
