//! `attempts-do-not-overlap`: a request is sent again only after the try before was answered, or after it can no
//! longer land. A re-read that came earlier and did not find its effect proves nothing.

use rehome_model::journal::Event;
use rehome_model::request::{LANDING_MARGIN, Outcome, REQUEST_TIMEOUT, Request};
use rehome_model::{Seconds, Timestamp};

use super::{Evidence, Found};
use crate::audit::event::AuditEvent;
use crate::audit::evidence::Intent;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    let mut found = sent_twice(evidence);
    found.extend(early_rereads(evidence));
    for event in evidence.requests() {
        let Some(intent) = evidence.intent(&event.audit_id) else { continue };
        // By the journal's order: the try before may have landed after this one, or never.
        let before =
            evidence.intents().filter(|other| other.seq < intent.seq && same(other.request, intent.request)).last();
        if let Some(wrong) = before.and_then(|before| overlap(evidence, before, event)) {
            found.push((event.request_received_timestamp, format!("{} ({}): {wrong}", intent.request, event.audit_id)));
        }
    }
    found
}

/// Whether two requests are tries of one: the same pod's incarnation, or the same field to the same value.
fn same(a: &Request, b: &Request) -> bool {
    match (a, b) {
        (Request::SetField(a), Request::SetField(b)) => a.target == b.target && a.field == b.field && a.to == b.to,
        (
            Request::Evict { uid: a, .. } | Request::Delete { uid: a, .. },
            Request::Evict { uid: b, .. } | Request::Delete { uid: b, .. },
        ) => a == b,
        _ => false,
    }
}

fn cannot_land_before(sent: Timestamp) -> Timestamp {
    sent + (REQUEST_TIMEOUT + LANDING_MARGIN)
}

fn overlap(evidence: &Evidence<'_>, before: &Intent<'_>, event: &AuditEvent) -> Option<String> {
    let received = event.request_received_timestamp;
    let id = evidence.audit_id(before);
    let landed_by_then =
        evidence.requests().filter(|earlier| earlier.audit_id == id).all(|earlier| earlier.stage_timestamp <= received);
    // An answer that was written down counts if the server says that it had given it by then.
    let answered = match evidence.answer(before.seq) {
        Some((at, Outcome::Applied | Outcome::Rejected { .. })) => at <= received && landed_by_then,
        _ => false,
    };
    let safe = cannot_land_before(before.at);
    (!answered && received < safe).then(|| {
        format!("expected it not before {safe}, because record {} was not answered; found it at {received}", before.seq)
    })
}

/// Two requests under one `Audit-ID`: a client below us tried again by itself.
fn sent_twice(evidence: &Evidence<'_>) -> Vec<Found> {
    let mut seen = std::collections::BTreeSet::new();
    evidence
        .requests()
        .filter(|event| evidence.intent(&event.audit_id).is_some() && !seen.insert(event.audit_id.as_str()))
        .map(|event| {
            (event.request_received_timestamp, format!("{}: expected one request, found another", event.audit_id))
        })
        .collect()
}

/// Verdicts "it did not land" from a read that came too early to know.
fn early_rereads(evidence: &Evidence<'_>) -> Vec<Found> {
    let verdicts = evidence.journal.iter().filter_map(|record| match record.event {
        Event::Reread { intent, landed: false } => Some((record.at, intent)),
        _ => None,
    });
    verdicts
        .filter_map(|(at, seq)| {
            let intent = evidence.intents().find(|intent| intent.seq == seq)?;
            let safe = cannot_land_before(intent.at);
            let early: Seconds = safe - at;
            (early > Seconds::ZERO).then(|| {
                (at, format!("expected the re-read of record {seq} not before {safe}, found it {early} earlier"))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::audit::invariants::cases::Case;
    use rehome_model::Seconds;
    use rehome_model::journal::Event;
    use rehome_model::request::{Cause, Outcome};

    /// The answer to the first eviction is lost; it is sent again so many seconds later.
    fn sent_again_after(seconds: i64, outcome: Option<Outcome>) -> Case {
        let mut case = Case::good();
        let answer = case.answer_to(3);
        match outcome {
            Some(outcome) => case.journal[answer].event = Event::Answer { intent: 3, outcome },
            None => case.journal[answer].event = Event::Interrupted {},
        }
        case.evict_again("web-1", Seconds::new(seconds));
        case
    }

    #[test]
    fn a_second_try_while_the_first_can_land_fails() {
        assert_eq!(sent_again_after(34, None).broken(), "attempts-do-not-overlap");
    }

    #[test]
    fn a_second_try_after_the_first_cannot_land_any_more_passes() {
        assert_eq!(sent_again_after(35, None).broken(), "");
    }

    #[test]
    fn a_second_try_right_after_a_refusal_passes() {
        let cause = Cause::NotFound;
        assert_eq!(sent_again_after(2, Some(Outcome::Rejected { cause })).broken(), "");
    }

    #[test]
    fn trusting_an_early_reread_fails() {
        let mut case = Case::good();
        let answer = case.answer_to(3);
        case.journal[answer].event = Event::Reread { intent: 3, landed: false };
        assert_eq!(case.broken(), "attempts-do-not-overlap");
        case.journal[answer].event = Event::Reread { intent: 3, landed: true };
        assert_eq!(case.broken(), "");
    }

    #[test]
    fn a_first_try_that_lands_after_an_early_second_one_is_seen() {
        let mut case = sent_again_after(2, None);
        let landed = case.request_of("web-1");
        landed.request_received_timestamp = landed.request_received_timestamp + Seconds::new(20);
        landed.stage_timestamp = landed.stage_timestamp + Seconds::new(20);
        assert!(case.broken().contains("attempts-do-not-overlap"));
    }

    #[test]
    fn two_requests_under_one_record_fail() {
        let mut case = Case::good();
        let again = case.request_of("web-1").clone();
        case.events.push(again);
        assert_eq!(case.broken(), "attempts-do-not-overlap");
    }
}
