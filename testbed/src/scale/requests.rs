//! How many requests a user sent, from the audit log.

use std::collections::BTreeMap;
use std::path::Path;

use rehome_model::Timestamp;

use crate::audit::{AuditEvent, ReadError, read};

/// Requests by what they were: `create pods/eviction`. Watches are counted apart: they stay open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// All but watches.
    pub by_kind: BTreeMap<String, usize>,
    /// Watches that were opened.
    pub watches: usize,
}

impl Requests {
    /// The requests of a user that the server received at a time or after it.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn of(log: &Path, user: &str, from: Timestamp) -> Result<Self, ReadError> {
        let mut requests = Self::default();
        read::stream(log, |event| {
            if event.user.username == user && event.request_received_timestamp >= from {
                requests.count(&event);
            }
        })?;
        Ok(requests)
    }

    fn count(&mut self, event: &AuditEvent) {
        if event.verb == "watch" {
            // Each is logged when it begins to answer and when it has ended.
            self.watches += usize::from(event.stage == "ResponseStarted");
            return;
        }
        let what = match &event.object_ref {
            // A run begins with one list of each kind, and so does a drain with a few.
            Some(object) if event.verb == "list" && object.resource != "pods" => "list other kinds".to_owned(),
            Some(object) => {
                let sub = object.subresource.as_deref().map(|sub| format!("/{sub}")).unwrap_or_default();
                format!("{} {}{sub}", event.verb, object.resource)
            }
            // A path that is no resource: /version, /api.
            None => format!("{} {}", event.verb, event.request_uri.split('?').next().unwrap_or_default()),
        };
        *self.by_kind.entry(what).or_default() += 1;
    }

    /// How many there were beside watches.
    #[must_use]
    pub fn total(&self) -> usize {
        self.by_kind.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::AuditRef;

    #[test]
    fn watches_are_counted_apart_and_once() {
        let at = Timestamp::from_millis(5);
        let mut requests = Requests::default();
        let pods = AuditRef::new("pods", Some("shop"), "web-1");
        let event = |verb: &str, object: &AuditRef| AuditEvent::new("id", "mover", verb, object.clone(), at);
        requests.count(&event("create", &pods.clone().subresource("eviction")));
        requests.count(&event("get", &pods));
        requests.count(&event("get", &pods));
        for stage in ["ResponseStarted", "ResponseComplete"] {
            requests.count(&AuditEvent { stage: stage.to_owned(), ..event("watch", &pods) });
        }
        let by_kind = [("create pods/eviction".to_owned(), 1), ("get pods".to_owned(), 2)];
        assert_eq!(requests, Requests { by_kind: by_kind.into(), watches: 1 });
        assert_eq!(requests.total(), 3);
    }
}
