//! The cases, one in each file. A case says what must be so in both worlds.

pub(crate) mod attachment;
pub(crate) mod conflict;
pub(crate) mod daemon_set;
pub(crate) mod endpoints;
pub(crate) mod exhausted;
pub(crate) mod fit_error;
pub(crate) mod garbage;
pub(crate) mod job;
pub(crate) mod limit_range;
pub(crate) mod missing;
pub(crate) mod pending_pod;
pub(crate) mod percentages;
pub(crate) mod preemption;
pub(crate) mod recreate;
pub(crate) mod replica_set;
pub(crate) mod right_uid;
pub(crate) mod rollout;
pub(crate) mod spread;
pub(crate) mod stateful_set;
pub(crate) mod terminating;
pub(crate) mod terminating_namespace;
pub(crate) mod two_budgets;
pub(crate) mod unhealthy;
pub(crate) mod wrong_uid;
