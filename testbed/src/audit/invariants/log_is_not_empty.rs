//! `log-is-not-empty`: a checker that is content with an empty log is no checker. The log has events, and it has each
//! request that the journal says the server answered.

use rehome_model::Timestamp;
use rehome_model::request::Outcome;

use super::{Evidence, Found};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    let began = evidence.window().map_or(Timestamp::EPOCH, |(began, _)| began);
    if evidence.journal.is_empty() {
        return vec![(began, "expected the records of a run, found an empty journal".to_owned())];
    }
    if evidence.events.is_empty() {
        return vec![(began, "expected events, found an empty audit log".to_owned())];
    }
    let logged: std::collections::BTreeSet<&str> = evidence.requests().map(|event| event.audit_id.as_str()).collect();
    if logged.is_empty() && evidence.intents().next().is_some() {
        let message = format!("expected requests by {}, found none in {} events", evidence.user, evidence.events.len());
        return vec![(began, message)];
    }
    let applied =
        evidence.intents().filter(|intent| matches!(evidence.answer(intent.seq), Some((_, Outcome::Applied))));
    applied
        .filter(|intent| !logged.contains(evidence.audit_id(intent).as_str()))
        .map(|intent| {
            let id = evidence.audit_id(intent);
            (intent.at, format!("expected a line for {id} ({}), which was answered; found none", intent.request))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::audit::invariants::cases::Case;

    #[test]
    fn an_empty_log_fails() {
        let mut case = Case::good();
        case.events.clear();
        assert!(case.broken().contains("log-is-not-empty"));
    }

    #[test]
    fn an_empty_journal_fails() {
        let mut case = Case::good();
        case.journal.clear();
        assert!(case.broken().contains("log-is-not-empty"));
    }

    #[test]
    fn a_log_without_the_runs_requests_fails() {
        let mut case = Case::good();
        case.events.retain(|event| event.user.username != Case::USER);
        assert!(case.broken().contains("log-is-not-empty"));
    }

    #[test]
    fn a_log_without_one_answered_request_fails_and_the_whole_log_passes() {
        let mut case = Case::good();
        assert_eq!(case.broken(), "");
        // The log of the eviction of `web-2`, which no kubelet's line betrays.
        let id = case.request_of("web-2").audit_id.clone();
        case.events.retain(|event| event.audit_id != id);
        assert_eq!(case.broken(), "log-is-not-empty");
    }
}
