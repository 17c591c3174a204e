//! The contract: what the simulated cluster and the real control plane have in common.
//!
//! Each case is a script with assertions, in a file of its own in `cases/`, and runs against both worlds. What holds in
//! one must hold in the other: the answers of the API server, and which transition of an object comes before which.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cases;
mod objects;
mod real;
mod simulated;
mod timeline;
mod world;

/// Two tests for each case: one on the simulated cluster, one on the real control plane.
macro_rules! contract {
    ($($case:ident: $script:path;)*) => {
        mod on_simulated {
            $(#[test] fn $case() { $script(&mut crate::simulated::Simulated::new()); })*
        }
        mod on_real {
            $(#[test] fn $case() { $script(&mut crate::real::Real::new(stringify!($case))); })*
        }
    };
}

contract! {
    a_wrong_uid_is_refused_and_charged: crate::cases::wrong_uid::script;
    the_right_uid_is_evicted_and_the_budget_comes_back: crate::cases::right_uid::script;
    an_exhausted_budget_names_its_numbers: crate::cases::exhausted::script;
    two_budgets_are_an_error: crate::cases::two_budgets::script;
    a_pending_pod_needs_no_budget: crate::cases::pending_pod::script;
    an_unhealthy_pod_needs_healthy_others: crate::cases::unhealthy::script;
    a_terminating_pod_needs_no_budget: crate::cases::terminating::script;
    a_missing_pod_is_not_found: crate::cases::missing::script;
    a_terminating_namespace_refuses: crate::cases::terminating_namespace::script;
    a_replica_set_replaces_while_the_old_pod_ends: crate::cases::replica_set::script;
    a_stateful_set_waits_for_the_name: crate::cases::stateful_set::script;
    a_job_replaces_an_evicted_pod: crate::cases::job::script;
    a_rollout_keeps_the_minimum: crate::cases::rollout::script;
    recreate_waits_for_the_last_old_pod: crate::cases::recreate::script;
    a_daemon_set_does_not_come_back_behind_a_fence: crate::cases::daemon_set::script;
    fenced_nodes_stay_as_empty_domains: crate::cases::spread::script;
    the_scheduler_says_why: crate::cases::fit_error::script;
    a_more_important_pod_pushes_out_a_lesser: crate::cases::preemption::script;
    a_field_is_tested_before_it_is_set: crate::cases::conflict::script;
    percentages_round_up: crate::cases::percentages::script;
    endpoints_follow_readiness: crate::cases::endpoints::script;
    a_limit_range_fills_in_and_refuses: crate::cases::limit_range::script;
    a_volume_is_on_one_node_at_a_time: crate::cases::attachment::script;
    dependents_go_with_their_owner: crate::cases::garbage::script;
}
