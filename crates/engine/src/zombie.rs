//! What a request can still do that is sent by a process which holds the run no more.
//!
//! Kubernetes has no fencing token that an eviction or a patch could carry. What there is instead: a request leaves only
//! after its intent went into the cluster's copy of the journal by compare-and-swap, and the head was written not longer
//! ago than a third of the lease ([`drive`](crate::drive::drive) looks once more right before it sends). So only a
//! process that is frozen *between that look and its request*, and for longer than a takeover takes, sends a request too
//! late; it sends that one alone, for its next record is refused. What that one can do is bounded by what it carries.

use rehome_model::request::Request;

/// What a request does at most, however late it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZombieEffect {
    /// It ends the one incarnation that the plan wanted to leave its node, or nothing: its UID is a precondition, and a
    /// budget still has its say where it is an eviction. The pod's controller makes another, as it would have.
    ThatIncarnation,
    /// It makes the one swap of a field that the plan wanted, and only if the field has the value from before. After a
    /// rollback the field can have our value again; nothing that holds the run reads it as its own, and `verify` shows it.
    ThatSwap,
}

/// What a request does at most when it is sent too late.
#[must_use]
pub fn effect(request: &Request) -> ZombieEffect {
    match request {
        Request::Evict { .. } | Request::Delete { .. } => ZombieEffect::ThatIncarnation,
        Request::SetField(_) => ZombieEffect::ThatSwap,
    }
}
