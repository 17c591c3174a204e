//! The real clock: the one place of this crate that asks it.

use rehome_model::Timestamp;

/// The time.
#[expect(clippy::disallowed_methods, reason = "this crate is the adapter to the real world; its clock is the real one")]
pub(crate) fn now() -> Timestamp {
    jiff::Timestamp::now().into()
}
