//! Restart: a Deployment rolls over with surge, as `kubectl rollout restart` does it.

use rehome_k8s::{Key, Kind, View, owner, readiness};
use rehome_model::Timestamp;
use rehome_model::journal::Event;
use rehome_model::plan::Step;
use rehome_model::verb::{Change, Field, RESTART_ANNOTATION, Restart};

use super::{Next, attached, change, leave, on};
use crate::machine::{Action, LOOK_AGAIN, Machine};

/// The change of the template that a restart is.
pub(crate) fn annotation(restart: &Restart) -> Change {
    Change {
        target: restart.lineage.workload.clone(),
        field: Field::TemplateAnnotation { key: RESTART_ANNOTATION.to_owned() },
        from: restart.from.clone(),
        to: Some(restart.to.clone()),
    }
}

pub(super) fn next(machine: &Machine, step: &Step, restart: &Restart, view: &View, now: Timestamp) -> Next {
    match change::set(machine, &step.name, &annotation(restart), now) {
        Next::Done => {}
        other => return other,
    }
    let wait = |reason: String| Next::Wait { reason, until: now + LOOK_AGAIN };
    let workload = &restart.lineage.workload;
    let Some(state) = machine.state.step(&step.name) else { return Next::Done };
    let Some(deployment) = view.workload(Kind::Deployment, &Key::of(workload)) else {
        return Next::Stuck {
            cause: format!("{workload} does not exist any more"),
            instructions: vec!["make a new plan from a new capture".to_owned()],
        };
    };
    // The watch may not have brought our own change yet: then the status is that of the template before.
    if deployment.template.annotations.get(RESTART_ANNOTATION) != Some(&restart.to) {
        return wait(format!("the restart of {workload} has not come back from the watch"));
    }
    let pods = owner::pods_of(view, workload);
    let targets = &machine.plan.targets;
    let strangers = pods.iter().filter(|pod| !state.known.contains(&pod.meta.uid));
    let mut strangers = strangers.filter(|pod| !state.leaving.iter().any(|leaver| leaver.uid == pod.meta.uid));
    if let Some(pod) = strangers.find(|pod| pod.node.as_ref().is_some_and(|node| !targets.contains(node))) {
        return Next::Stuck {
            cause: format!(
                "Pod {} landed on {}, which is no target",
                pod.meta.key(),
                pod.node.as_deref().unwrap_or_default()
            ),
            instructions: vec!["keep it away from that node, and delete it; then: rehome resume".to_owned()],
        };
    }
    if !readiness::rolled_out(deployment) {
        let waiting = pods.iter().find(|pod| !pod.ready && pod.meta.deleting.is_none());
        return wait(waiting.map_or_else(
            || {
                format!(
                    "{workload} is rolling out: {} of {} updated",
                    deployment.status.updated,
                    deployment.replicas.unwrap_or(1)
                )
            },
            |pod| leave::waiting_for(pod),
        ));
    }
    if let Some(pod) = pods.iter().find(|pod| on(pod, &restart.off)) {
        return wait(format!("Pod {} is terminating", pod.meta.key()));
    }
    let due = state.leaving.iter().find(|pod| !state.receipts.iter().any(|receipt| receipt.uid == pod.uid));
    let Some(pod) = due else { return Next::Done };
    if let Some(reason) = attached::to_source(view, pod) {
        return wait(reason);
    }
    let successor = leave::successors(view, state, pod).into_iter().find(|pod| readiness::serves(pod));
    if successor.is_none() && deployment.replicas.unwrap_or(1) > i64::try_from(pods.len()).unwrap_or(i64::MAX) {
        return wait(format!("a successor of {} is not Ready yet", pod.pod.name));
    }
    let receipt = leave::receipt_of(pod, successor.map(|pod| &**pod));
    Next::act(Action::Record(Event::Moved { step: step.name.clone(), receipt }))
}
