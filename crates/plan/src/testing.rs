//! Small clusters for tests: objects as the API has them, decoded as a capture is.

use rehome_k8s::{Kind, View, ingest};
use rehome_model::finding::{Finding, Severity};
use rehome_model::intent::Intent;
use rehome_model::plan::Plan;
use rehome_model::snapshot::{ClusterIdentity, Gap, GapReason};
use rehome_model::{Digest, Uid};
use serde_json::{Value, json};

/// A cluster under construction.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) objects: Vec<Value>,
    gaps: Vec<Kind>,
    pub(crate) intent: Intent,
}

/// Merges as a JSON merge patch does.
fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(target.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}

impl Cluster {
    /// Two old nodes and two new ones, each with 4 cores and 8 GiB, of pools `old` and `new`.
    pub(crate) fn new() -> Self {
        let intent = Intent::new("pool=old", "pool=new");
        let mut cluster = Self { objects: Vec::new(), gaps: Vec::new(), intent };
        for name in ["old-1", "old-2", "new-1", "new-2"] {
            cluster.node(name, &name[..3]);
        }
        cluster
    }

    pub(crate) fn add(&mut self, object: Value) -> &mut Self {
        self.objects.push(object);
        self
    }

    pub(crate) fn node(&mut self, name: &str, pool: &str) -> &mut Self {
        self.add(json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "uid": format!("node-{name}"), "labels": {"pool": pool, "kubernetes.io/hostname": name}},
            "spec": {},
            "status": {
                "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }))
    }

    /// A Deployment of pods of 100m and 128Mi with one pod on each of the nodes.
    pub(crate) fn deployment(&mut self, name: &str, nodes: &[&str]) -> &mut Self {
        let replicas = nodes.len();
        let template = json!({"metadata": {"labels": {"app": name}}, "spec": pod_spec()});
        self.add(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": "shop", "name": name, "uid": format!("deployment-{name}"), "generation": 1},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template,
                     "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}},
            "status": {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas,
                       "readyReplicas": replicas, "availableReplicas": replicas},
        }));
        self.add(json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"namespace": "shop", "name": format!("{name}-1"), "uid": format!("replicaset-{name}"),
                         "ownerReferences": [owner("apps/v1", "Deployment", name)]},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
            "status": {"replicas": replicas},
        }));
        for (index, node) in nodes.iter().enumerate() {
            let mut pod = pod(&format!("{name}-1-{index}"), name, node);
            pod["metadata"]["ownerReferences"] = json!([{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{name}-1"),
                "uid": format!("replicaset-{name}"), "controller": true,
            }]);
            self.add(pod);
        }
        self
    }

    /// A StatefulSet or DaemonSet with one pod on each of the nodes.
    pub(crate) fn workload(&mut self, kind: &str, name: &str, nodes: &[&str]) -> &mut Self {
        let replicas = nodes.len();
        self.add(json!({
            "apiVersion": "apps/v1", "kind": kind,
            "metadata": {"namespace": "shop", "name": name, "uid": format!("{}-{name}", kind.to_lowercase())},
            "spec": {"replicas": replicas, "serviceName": name, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec()}},
            "status": {"replicas": replicas, "readyReplicas": replicas, "currentNumberScheduled": replicas,
                       "desiredNumberScheduled": replicas, "numberMisscheduled": 0, "numberReady": replicas},
        }));
        for (index, node) in nodes.iter().enumerate() {
            let mut pod = pod(&format!("{name}-{index}"), name, node);
            pod["metadata"]["ownerReferences"] = json!([owner("apps/v1", kind, name)]);
            self.add(pod);
        }
        self
    }

    pub(crate) fn bare_pod(&mut self, name: &str, node: &str) -> &mut Self {
        self.add(pod(name, name, node))
    }

    pub(crate) fn budget(&mut self, name: &str, app: &str, spec: &Value) -> &mut Self {
        let mut spec = spec.clone();
        spec["selector"] = json!({"matchLabels": {"app": app}});
        self.add(json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": "shop", "name": name, "uid": format!("pdb-{name}")},
            "spec": spec,
        }))
    }

    /// A claim of one access mode, bound to a volume that only nodes with this pool label reach (`*` for all).
    pub(crate) fn claim(&mut self, name: &str, mode: &str, pool: &str) -> &mut Self {
        let mut volume = json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": format!("pv-{name}"), "uid": format!("pv-{name}")},
            "spec": {"accessModes": [mode], "claimRef": {"namespace": "shop", "name": name},
                     "csi": {"driver": "csi.example.org", "volumeHandle": name}},
            "status": {"phase": "Bound"},
        });
        if pool != "*" {
            volume["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "pool", "operator": "In", "values": [pool]}]}]}});
        }
        self.add(volume);
        self.add(json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": "shop", "name": name, "uid": format!("pvc-{name}")},
            "spec": {"accessModes": [mode], "volumeName": format!("pv-{name}")}, "status": {"phase": "Bound"},
        }))
    }

    /// Merges into the pod spec of a workload's template and of its pods.
    pub(crate) fn pod_spec_of(&mut self, app: &str, patch: &Value) -> &mut Self {
        for object in &mut self.objects {
            if object["spec"]["template"]["metadata"]["labels"]["app"] == app {
                merge(&mut object["spec"]["template"]["spec"], patch);
            }
            if object["kind"] == "Pod" && object["metadata"]["labels"]["app"] == app {
                merge(&mut object["spec"], patch);
            }
        }
        self
    }

    /// Lets a workload mount a claim.
    pub(crate) fn mount(&mut self, app: &str, claim: &str) -> &mut Self {
        let volumes = json!({"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]});
        self.pod_spec_of(app, &volumes)
    }

    /// Merges into one object.
    pub(crate) fn patch(&mut self, kind: &str, name: &str, patch: &Value) -> &mut Self {
        let object = self.objects.iter_mut().find(|o| o["kind"] == kind && o["metadata"]["name"] == name);
        merge(object.unwrap_or_else(|| panic!("no {kind} {name}")), patch);
        self
    }

    pub(crate) fn gap(&mut self, kind: Kind) -> &mut Self {
        self.gaps.push(kind);
        self.objects.retain(|object| object["kind"] != kind.name());
        self
    }

    pub(crate) fn view(&self) -> View {
        let identity = ClusterIdentity { uid: Some(Uid::from("cluster")), ..ClusterIdentity::default() };
        let mut view = View::new(identity);
        for kind in &self.gaps {
            view.set_gap(
                *kind,
                Gap { source: kind.name().to_owned(), reason: GapReason::Forbidden, message: "forbidden".to_owned() },
            );
        }
        for object in &self.objects {
            view.insert(ingest::object(&object.to_string()).unwrap().unwrap());
        }
        view
    }

    pub(crate) fn plan(&self) -> Plan {
        crate::plan(&self.view(), Digest::of_bytes(b"snapshot"), &self.intent).unwrap()
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        crate::check(&self.view(), &self.intent).unwrap()
    }

    /// How severe the findings of one rule are, by its name.
    pub(crate) fn found(&self, rule: &str) -> Vec<Severity> {
        self.findings().into_iter().filter(|finding| finding.rule == rule).map(|finding| finding.severity).collect()
    }
}

fn owner(api_version: &str, kind: &str, name: &str) -> Value {
    let uid = format!("{}-{name}", kind.to_lowercase());
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true})
}

fn pod_spec() -> Value {
    json!({"containers": [{"name": "main", "image": "example.org/app",
                           "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}]})
}

fn pod(name: &str, app: &str, node: &str) -> Value {
    let mut spec = pod_spec();
    let mut status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    if node.is_empty() {
        status = json!({"phase": "Pending"});
    } else {
        spec["nodeName"] = json!(node);
    }
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "shop", "name": name, "uid": format!("pod-{name}"), "labels": {"app": app}},
        "spec": spec, "status": status,
    })
}
