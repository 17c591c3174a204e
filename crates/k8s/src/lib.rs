//! What Kubernetes *means*, once: API objects become compact records, records fill an indexed [`view::View`], and the
//! rules that others need (who owns a pod, what a budget allows, whether a taint is tolerated) are pure functions.
//!
//! Watch caches, the simulator's store and a loaded snapshot fill the same view, so that every rule is written once.
//! Nothing here does I/O or knows the time. API types are used for decoding only (`ingest/`).

pub mod admission;
pub mod affinity;
pub mod attachment;
pub mod budget;
pub mod field;
pub mod ingest;
pub mod meta;
pub mod mutant;
pub mod node;
pub mod owner;
pub mod parts;
pub mod percent;
pub mod pod;
pub mod policy;
pub mod quantity;
pub mod readiness;
pub mod record;
pub mod redact;
pub mod requests;
pub mod selector;
pub mod service;
pub mod snapshot;
pub mod spread;
pub mod storage;
pub mod template;
pub mod toleration;
pub mod view;
pub mod workload;

pub use meta::{Key, Meta, OwnerRef};
pub use record::{Kind, Record};
pub use view::View;
