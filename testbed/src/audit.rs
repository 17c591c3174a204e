//! The audit checker: judges a run by the API server's audit log alone, joined with the plan and the journal.
//!
//! It shares no code with the engine: what the engine believes plays no part. It reads events ([`event`]) from a log
//! file ([`read`]) or from a simulated world, folds them into histories ([`timeline`]), and asks each invariant
//! ([`invariants`]) for violations. The same histories tell how long a workload had no Ready endpoint ([`probe`]).

mod budget_history;
pub mod checker;
pub mod event;
pub mod evidence;
pub mod figures;
pub mod invariants;
pub mod pod_history;
pub mod probe;
pub mod read;
mod seed;
pub mod service_history;
pub mod timeline;

pub use budget_history::BudgetHistory;
pub use checker::{Violation, check};
pub use event::{AuditEvent, AuditRef};
pub use evidence::Evidence;
pub use figures::{Figures, figures};
pub use read::ReadError;
pub use timeline::Timeline;
