//! Exit codes of the program. They are part of its interface and never change their meaning. 4 is kept for a run that
//! waits at a gate: there are no gates yet, and a code that nothing returns is not documented.

/// Done, or nothing to do.
pub const DONE: u8 = 0;
/// An unexpected error: a fault of rehome or of the machine that it runs on.
pub const UNEXPECTED: u8 = 1;
/// Wrong usage, or input that cannot be read.
pub const USAGE: u8 = 2;
/// Blocked by findings.
pub const BLOCKED: u8 = 3;
/// The cluster is not the one of the plan any more: the plan is stale.
pub const STALE: u8 = 5;
/// What was changed has been put back.
pub const ROLLED_BACK: u8 = 6;
/// The run cannot go on without a person; resumable.
pub const STUCK: u8 = 7;
/// The verification failed.
pub const VERIFICATION_FAILED: u8 = 8;
/// Interrupted; resumable.
pub const INTERRUPTED: u8 = 9;
/// Changes are pending, with `--detailed-exitcode`.
pub const CHANGES_PENDING: u8 = 10;
