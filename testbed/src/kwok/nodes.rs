//! Nodes that kwok plays.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The annotation by which kwok knows its nodes, with the value that it looks for.
pub const ANNOTATION: (&str, &str) = ("kwok.x-k8s.io/node", "fake");

/// A node to be made: `FakeNode::new("old-1").label("pool", "old").cpu("2")`. Apply its [`FakeNode::manifest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeNode {
    name: String,
    labels: BTreeMap<String, String>,
    taints: Vec<Value>,
    cpu: String,
    memory: String,
    pods: u32,
    unschedulable: bool,
}

impl FakeNode {
    /// A node with 4 CPUs, 8 GiB and room for 110 pods (the kubelet's default).
    #[must_use]
    pub fn new(name: &str) -> Self {
        let labels = BTreeMap::from([
            ("kubernetes.io/hostname".to_owned(), name.to_owned()),
            ("kubernetes.io/os".to_owned(), "linux".to_owned()),
            ("kubernetes.io/arch".to_owned(), "amd64".to_owned()),
        ]);
        Self {
            name: name.to_owned(),
            labels,
            taints: Vec::new(),
            cpu: "4".to_owned(),
            memory: "8Gi".to_owned(),
            pods: 110,
            unschedulable: false,
        }
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Adds a taint with the effect `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    #[must_use]
    pub fn taint(mut self, key: &str, value: &str, effect: &str) -> Self {
        self.taints.push(json!({"key": key, "value": value, "effect": effect}));
        self
    }

    /// Sets the CPUs: `2`, `1500m`.
    #[must_use]
    pub fn cpu(mut self, cpu: &str) -> Self {
        cpu.clone_into(&mut self.cpu);
        self
    }

    /// Sets the memory: `4Gi`.
    #[must_use]
    pub fn memory(mut self, memory: &str) -> Self {
        memory.clone_into(&mut self.memory);
        self
    }

    /// Sets how many pods it takes.
    #[must_use]
    pub fn pods(mut self, pods: u32) -> Self {
        self.pods = pods;
        self
    }

    /// Makes it cordoned from the beginning.
    #[must_use]
    pub fn cordoned(mut self) -> Self {
        self.unschedulable = true;
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The node as an API object.
    #[must_use]
    pub fn manifest(&self) -> Value {
        let resources = json!({"cpu": self.cpu, "memory": self.memory, "pods": self.pods.to_string()});
        let mut spec = json!({"taints": self.taints});
        if self.unschedulable {
            spec["unschedulable"] = json!(true);
        }
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": self.name,
                "labels": self.labels,
                "annotations": {ANNOTATION.0: ANNOTATION.1},
            },
            "spec": spec,
            "status": {
                "capacity": resources,
                "allocatable": resources,
                "nodeInfo": {
                    "architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": "v1.37.2",
                    "bootID": "", "containerRuntimeVersion": "kwok", "kernelVersion": "", "kubeProxyVersion": "",
                    "machineID": "", "osImage": "kwok", "systemUUID": "",
                },
            },
        })
    }
}

impl From<FakeNode> for Value {
    fn from(node: FakeNode) -> Self {
        node.manifest()
    }
}
