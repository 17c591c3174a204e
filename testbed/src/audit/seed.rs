//! The histories of what was there before the log began: a simulated world starts from a view.

use rehome_k8s::{Kind, Record, View};
use rehome_model::Timestamp;

use super::pod_history::PodHistory;
use super::timeline::Timeline;

impl Timeline {
    /// The histories of everything in a view, as it is at this time.
    #[must_use]
    pub fn of_view(view: &View, at: Timestamp) -> Self {
        let mut timeline = Self::default();
        for record in view.records() {
            timeline.seed(record, at);
        }
        timeline
    }

    fn seed(&mut self, record: &Record, at: Timestamp) {
        let meta = record.meta();
        let controller = meta.controller.as_ref().map(|c| (c.kind.clone(), c.name.clone(), c.uid.clone()));
        match record {
            Record::Pod(pod) => {
                let mut history = PodHistory::new(
                    meta.key().reference(Kind::Pod),
                    meta.uid.clone(),
                    meta.created.unwrap_or(at).min(at),
                );
                history.labels.clone_from(&meta.labels);
                history.controller = controller;
                history.node.clone_from(&pod.node);
                history.finished = pod.finished().then_some(at);
                history.set_ready(pod.ready && !pod.finished(), at);
                self.current.insert(meta.key(), meta.uid.clone());
                self.pods.insert(meta.uid.clone(), history);
            }
            Record::PodDisruptionBudget(budget) => {
                let history = self.budgets.entry(meta.key()).or_default();
                history.selector = budget.selector.clone();
                if let Some(status) = &budget.status {
                    history.set_desired(status.desired_healthy, at);
                }
            }
            Record::Service(service) => {
                let history = self.services.entry(meta.key()).or_default();
                history.selector = service.selector.clone();
                history.publishes_not_ready = service.publish_not_ready;
            }
            Record::EndpointSlice(slice) => {
                if let Some(service) = meta.labels.get(rehome_k8s::service::SERVICE_NAME_LABEL) {
                    let key = rehome_k8s::Key::new(meta.namespace.clone(), service.clone());
                    let ready = slice.endpoints.iter().filter(|endpoint| endpoint.ready);
                    let pods = ready.filter_map(|endpoint| Some(endpoint.pod.as_ref()?.1.clone())).collect();
                    self.services.entry(key).or_default().set_slice(&meta.name, pods, at);
                }
            }
            other if other.kind().is_workload() => {
                self.owners.insert(meta.uid.clone(), controller);
            }
            _ => {}
        }
    }
}
