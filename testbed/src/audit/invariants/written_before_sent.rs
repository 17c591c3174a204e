//! `written-before-sent`: each change that the run asks for was announced in the journal before, as the same change.

use rehome_model::request::Request;

use super::{Evidence, Found};
use crate::audit::event::AuditEvent;
use crate::audit::evidence::Intent;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    evidence
        .requests()
        .filter_map(|event| {
            let wrong = match evidence.intent(&event.audit_id) {
                None => Some("expected a journal record with this Audit-ID, found none".to_owned()),
                Some(intent) => too_late(event, intent).or_else(|| another(event, intent.request)),
            }?;
            Some((
                event.request_received_timestamp,
                format!("{} {} ({})", event.verb, what(event), event.audit_id) + ": " + &wrong,
            ))
        })
        .collect()
}

fn what(event: &AuditEvent) -> String {
    let object = event.object_ref.clone().unwrap_or_default();
    let parts = [Some(object.resource), object.namespace, object.name, object.subresource];
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

fn too_late(event: &AuditEvent, intent: &Intent<'_>) -> Option<String> {
    let received = event.request_received_timestamp;
    let by_clock = intent.at > received;
    let by_count = event.journal_length.is_some_and(|length| intent.seq >= length);
    (by_clock || by_count).then(|| {
        format!("expected record {} before the request ({received}), found it written at {}", intent.seq, intent.at)
    })
}

/// What is different between the request that was announced and the one that came.
fn another(event: &AuditEvent, announced: &Request) -> Option<String> {
    let same_verb = match announced {
        Request::SetField(_) => {
            let object = event.object_ref.as_ref()?;
            matches!(event.verb.as_str(), "patch" | "update") && object.subresource.is_none()
        }
        Request::Evict { .. } => event.is("create", "pods", "eviction"),
        Request::Delete { .. } => event.is("delete", "pods", ""),
    };
    let target = event.object_ref.as_ref().and_then(|object| object.object());
    let same_uid = match (announced, event.uid_precondition()) {
        (Request::Evict { uid, .. } | Request::Delete { uid, .. }, Some(found)) => *uid == found,
        // That there is none is for `right-incarnation` to say.
        _ => true,
    };
    (!same_verb || target.as_ref() != Some(announced.target()) || !same_uid)
        .then(|| format!("expected what the journal announced ({announced}), found another request"))
}

#[cfg(test)]
mod tests {
    use crate::audit::invariants::cases::Case;
    use rehome_model::Seconds;

    #[test]
    fn a_request_without_a_record_fails() {
        let mut case = Case::good();
        case.request_of("web-1").audit_id = "made-by-the-server".to_owned();
        // The journal says that the announced one was answered; that is another invariant's affair.
        assert!(case.broken().contains("written-before-sent"));
    }

    #[test]
    fn a_record_of_another_run_or_attempt_is_none() {
        for id in ["other/3/1", "run/3/2"] {
            let mut case = Case::good();
            assert_eq!(case.request_of("web-1").audit_id, "run/3/1");
            case.request_of("web-1").audit_id = id.to_owned();
            assert!(case.broken().contains("written-before-sent"), "{id}");
        }
    }

    #[test]
    fn a_record_written_after_the_request_fails_and_one_in_the_same_millisecond_passes() {
        let mut case = Case::good();
        let received = case.request_of("web-1").request_received_timestamp;
        case.journal[3].at = received;
        assert_eq!(case.broken(), "");
        case.journal[3].at = received + Seconds::from_millis(1);
        assert_eq!(case.broken(), "written-before-sent");
    }

    #[test]
    fn a_simulated_world_counts_records_instead_of_reading_clocks() {
        let mut case = Case::good();
        case.request_of("web-1").journal_length = Some(4);
        assert_eq!(case.broken(), "");
        case.request_of("web-1").journal_length = Some(3);
        assert_eq!(case.broken(), "written-before-sent");
    }

    #[test]
    fn another_request_than_the_announced_one_fails() {
        let mut case = Case::good();
        case.request_of("web-1").object_ref.as_mut().unwrap().subresource = None;
        assert!(case.broken().contains("written-before-sent"));
    }
}
