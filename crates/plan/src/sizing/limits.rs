//! What pods ask for: as admission stores them (the LimitRange defaults of their namespace, the priority of their class),
//! and as a measured peak has it.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::{View, admission};

/// The pod as it would be stored. One that would be refused is counted as its template has it: that it is refused is
/// for the rules to say.
#[must_use]
pub(super) fn with_defaults(view: &View, mut pod: Pod) -> Pod {
    drop(admission::admit(view, &mut pod));
    pod
}

/// Lets a pod ask for so much, as filters and as scores count it.
pub(super) fn ask(pod: &mut Pod, resource: &str, amount: i64) {
    let spec = Arc::make_mut(&mut pod.spec);
    spec.requests.insert(resource.to_owned(), amount);
    if let Some(scored) = spec.scored.get_mut(resource) {
        *scored = amount;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Cluster;

    #[test]
    fn a_default_fills_what_nobody_asked_for_in_its_own_namespace() {
        let mut cluster = Cluster::new();
        cluster.workload("StatefulSet", "db", &["old-1"]);
        for object in &mut cluster.objects {
            if object["kind"] == "StatefulSet" {
                object["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
            }
        }
        for (namespace, memory) in [("shop", "300Mi"), ("other", "9Gi")] {
            cluster.add(json!({"apiVersion": "v1", "kind": "LimitRange",
                "metadata": {"namespace": namespace, "name": "defaults"},
                "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "100m", "memory": memory}}]}}));
        }
        let view = cluster.view();
        let demand = super::super::demand::of(&view, &["old-1".to_owned()].into(), &[].into(), None);
        assert_eq!(
            demand.pods[0].pod.spec.requests,
            [("cpu".to_owned(), 1000), ("memory".to_owned(), 300 << 20)].into()
        );
    }
}
