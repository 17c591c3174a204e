//! The workloads, their pods and their budgets.

use serde_json::{Value, json};

use super::storage::volume;
use super::{Size, ZONES};

/// Namespaces that the workloads are spread over.
pub(super) const NAMESPACES: usize = 50;
const DEPLOYMENTS: usize = 1_000;
const OF_DEPLOYMENT: usize = 26;
const STATEFUL_SETS: usize = 500;
const OF_STATEFUL_SET: usize = 6;

/// When everything began: any time will do, but a rehearsal's clock begins at the newest.
const BEGAN: &str = "2026-01-01T00:00:00Z";

pub(super) fn namespace(number: usize) -> String {
    format!("team-{:02}", number % NAMESPACES)
}

/// What makes pods.
struct Owner<'a> {
    kind: &'static str,
    namespace: &'a str,
    name: &'a str,
    labels: &'a Value,
    template: &'a Value,
}

impl Owner<'_> {
    fn uid(&self) -> String {
        format!("uid-{}-{}-{}", self.kind, self.namespace, self.name)
    }

    fn reference(&self) -> Value {
        json!({"apiVersion": "apps/v1", "kind": self.kind, "name": self.name, "uid": self.uid(), "controller": true, "blockOwnerDeletion": true})
    }

    /// The controller, with as many pods as it wants.
    fn controller(&self, replicas: usize, more: &Value) -> Value {
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": self.kind,
            "metadata": {"namespace": self.namespace, "name": self.name, "uid": self.uid(), "generation": 1, "labels": self.labels, "creationTimestamp": BEGAN},
            "spec": {"replicas": replicas, "selector": {"matchLabels": self.labels}, "template": self.template},
            "status": {"replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas, "updatedReplicas": replicas, "currentReplicas": replicas, "observedGeneration": 1},
        });
        for (field, value) in more.as_object().into_iter().flatten() {
            object["spec"][field] = value.clone();
        }
        object
    }

    /// A running, Ready pod.
    fn pod(&self, name: &str, node: &str) -> Value {
        let conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
        let condition =
            |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": BEGAN, "lastProbeTime": null});
        let mut object = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "namespace": self.namespace, "name": name, "uid": format!("uid-pod-{}-{name}", self.namespace),
                "resourceVersion": "1000", "creationTimestamp": BEGAN, "labels": self.labels, "ownerReferences": [self.reference()],
                "annotations": {"checksum/config": "5f2b8a1c0d9e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a", "prometheus.io/scrape": "true", "prometheus.io/port": "8080"},
            },
            "spec": self.template["spec"],
            "status": {
                "phase": "Running", "startTime": BEGAN, "qosClass": "Burstable", "hostIP": "10.0.0.1", "podIP": "10.1.0.1",
                "conditions": conditions.map(condition),
                "containerStatuses": [status("main"), status("sidecar")],
            },
        });
        object["spec"]["nodeName"] = node.into();
        object
    }
}

fn status(container: &str) -> Value {
    json!({
        "name": container, "ready": true, "started": true, "restartCount": 0, "state": {"running": {"startedAt": BEGAN}}, "lastState": {},
        "image": format!("registry.example/{container}:1"),
        "imageID": format!("registry.example/{container}@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
        "containerID": "containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    })
}

/// A template with two containers that say as much as containers do.
fn template(labels: &Value, more: &Value) -> Value {
    let container = |name: &str, cpu: &str, memory: &str| {
        let probe = json!({"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3});
        let env: Vec<Value> = (0..8)
            .map(|number| json!({"name": format!("SETTING_{number}"), "value": "a value of some length"}))
            .collect();
        json!({
            "name": name, "image": format!("registry.example/{name}:1"), "imagePullPolicy": "IfNotPresent", "env": env,
            "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}},
            "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
            "livenessProbe": probe, "readinessProbe": probe,
            "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets/token", "readOnly": true}],
        })
    };
    let mut spec = json!({
        "containers": [container("main", "200m", "512Mi"), container("sidecar", "50m", "128Mi")],
        "serviceAccountName": "default", "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30, "priority": 0, "enableServiceLinks": true, "preemptionPolicy": "PreemptLowerPriority",
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        ],
        "volumes": [{"name": "token", "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}}]}}],
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    json!({"metadata": {"labels": labels}, "spec": spec})
}

/// A pod of a DaemonSet on each node.
pub(super) fn daemons(size: Size) -> Vec<Value> {
    let labels = json!({"app": "agent"});
    let everywhere = json!({"tolerations": [{"operator": "Exists"}]});
    let template = template(&labels, &everywhere);
    let owner =
        Owner { kind: "DaemonSet", namespace: "kube-system", name: "agent", labels: &labels, template: &template };
    let mut all = vec![owner.controller(size.nodes, &json!({}))];
    let counts = ["desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled"];
    for count in counts {
        all[0]["status"][count] = size.nodes.into();
    }
    all.extend((0..size.nodes).map(|number| owner.pod(&format!("agent-{number:04}"), &Size::node_name(number))));
    all
}

/// Deployments with their ReplicaSets and pods.
pub(super) fn deployments(size: Size) -> Vec<Value> {
    let mut all = Vec::new();
    let mut next = 0;
    for number in 0..size.share(DEPLOYMENTS) {
        let (namespace, name) = (namespace(number), format!("web-{number:04}"));
        let selected = json!({"app": name});
        let spread = json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": selected},
        }]});
        let of_deployment = template(&selected, &spread);
        let deployment = Owner {
            kind: "Deployment",
            namespace: &namespace,
            name: &name,
            labels: &selected,
            template: &of_deployment,
        };
        let hash = format!("{number:x}f7d8");
        let labels = json!({"app": name, "pod-template-hash": hash});
        let of_set = template(&labels, &spread);
        let set_name = format!("{name}-{hash}");
        let set =
            Owner { kind: "ReplicaSet", namespace: &namespace, name: &set_name, labels: &labels, template: &of_set };
        let mut controller = set.controller(OF_DEPLOYMENT, &json!({}));
        controller["metadata"]["ownerReferences"] = json!([deployment.reference()]);
        all.push(deployment.controller(OF_DEPLOYMENT, &json!({})));
        all.push(controller);
        for pod in 0..OF_DEPLOYMENT {
            all.push(set.pod(&format!("{set_name}-p{pod:02}"), &Size::node_name(next % size.occupied)));
            next += 1;
        }
    }
    all
}

/// StatefulSets with their pods, claims, volumes, attachments and budgets.
pub(super) fn stateful_sets(size: Size) -> Vec<Value> {
    let mut all = Vec::new();
    let mut next = [0; ZONES.len()];
    for number in 0..size.share(STATEFUL_SETS) {
        let (namespace, name) = (namespace(number), format!("data-{number:04}"));
        let labels = json!({"app": name});
        let of_set = template(&labels, &json!({}));
        let set = Owner { kind: "StatefulSet", namespace: &namespace, name: &name, labels: &labels, template: &of_set };
        let claims = json!([{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}}]);
        all.push(set.controller(OF_STATEFUL_SET, &json!({"serviceName": name, "volumeClaimTemplates": claims})));
        all.push(json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": namespace, "name": name, "generation": 1, "creationTimestamp": BEGAN},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}},
            "status": {
                "observedGeneration": 1, "disruptionsAllowed": 1, "desiredHealthy": OF_STATEFUL_SET - 1,
                "currentHealthy": OF_STATEFUL_SET, "expectedPods": OF_STATEFUL_SET,
            },
        }));
        for ordinal in 0..OF_STATEFUL_SET {
            let zone = ordinal % ZONES.len();
            // The nodes of a zone are every third one.
            let of_zone = (size.occupied - zone).div_ceil(ZONES.len());
            let node = Size::node_name(next[zone] % of_zone * ZONES.len() + zone);
            next[zone] += 1;
            let name = format!("{name}-{ordinal}");
            let mut pod = set.pod(&name, &node);
            let claim = format!("data-{name}");
            if let Some(volumes) = pod["spec"]["volumes"].as_array_mut() {
                volumes.push(json!({"name": "data", "persistentVolumeClaim": {"claimName": claim}}));
            }
            all.push(pod);
            all.extend(volume(&namespace, &claim, zone, &node));
        }
    }
    all
}
