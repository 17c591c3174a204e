//! `right-incarnation`: each eviction and each deletion by the run carries a UID precondition, and it is the UID that
//! the journal names. A name alone would also fit the successor.

use rehome_model::request::Request;

use super::{Evidence, Found};

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    let removals =
        evidence.requests().filter(|event| event.is("create", "pods", "eviction") || event.verb.starts_with("delete"));
    removals
        .filter_map(|event| {
            let name = event.object_ref.as_ref().and_then(|object| object.name.as_deref()).unwrap_or_default();
            let expected = match evidence.intent(&event.audit_id).map(|intent| intent.request) {
                Some(Request::Evict { uid, .. } | Request::Delete { uid, .. }) => Some(uid),
                _ => None,
            };
            let wrong = match (expected, event.uid_precondition()) {
                (_, None) => "expected a UID precondition, found none".to_owned(),
                (Some(expected), Some(found)) if *expected != found => {
                    format!("expected the precondition uid {expected}, found {found}")
                }
                _ => return None,
            };
            Some((
                event.request_received_timestamp,
                format!("{} of pod {name} ({}): {wrong}", event.verb, event.audit_id),
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::audit::invariants::cases::Case;
    use serde_json::json;

    #[test]
    fn an_eviction_by_name_fails() {
        let mut case = Case::good();
        case.request_of("web-1").request_object = Some(json!({"kind": "Eviction"}));
        assert_eq!(case.broken(), "right-incarnation");
    }

    #[test]
    fn the_field_that_kube_rs_sends_is_no_precondition() {
        let mut case = Case::good();
        case.request_of("web-1").request_object = Some(json!({"delete_options": {"preconditions": {"uid": "web-1"}}}));
        assert_eq!(case.broken(), "right-incarnation");
    }

    #[test]
    fn another_uid_fails() {
        let mut case = Case::good();
        case.request_of("web-1").request_object = Some(json!({"deleteOptions": {"preconditions": {"uid": "web-2"}}}));
        assert!(case.broken().contains("right-incarnation"));
    }

    #[test]
    fn a_deletion_by_name_fails_and_one_by_uid_passes() {
        let mut case = Case::good();
        assert!(case.request_of("db-0").uid_precondition().is_some());
        assert_eq!(case.broken(), "");
        case.request_of("db-0").request_object = None;
        assert_eq!(case.broken(), "right-incarnation");
    }
}
