//! How each program of the control plane is called.
//!
//! Everything listens on loopback only. Flags differ from the defaults where a test would otherwise wait for a timer
//! that a small cluster does not need; what the programs *decide* is left alone.

use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use super::keys::Pair;
use super::supervised::Spec;
use crate::assets::Assets;

/// The audit policy; of these users every read is logged as well, without its answer. Without bodies, all that they ask
/// is: then requests are counted, and reviews are requests.
pub(super) fn audit_policy(readers: &[&str], bodies: bool) -> String {
    let policy = if bodies { AUDIT_POLICY.to_owned() } else { AUDIT_POLICY.replace("RequestResponse", "Metadata") };
    if readers.is_empty() {
        return policy;
    }
    let users = serde_json::json!(readers);
    let verbs = if bodies { ", verbs: [get, list, watch]" } else { "" };
    let reads = format!("rules:\n- {{level: Metadata, users: {users}{verbs}}}\n");
    policy.replacen("rules:\n", &reads, 1)
}

/// What the API server logs: every change with its body and its answer, and nothing else. Leases and Events are noise
/// (a write per node and ten seconds, several per pod); tokens and reviews are secrets or questions, not changes.
const AUDIT_POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  resources:
  - {group: coordination.k8s.io, resources: [leases]}
  - {group: "", resources: [events, serviceaccounts/token, secrets]}
  - {group: events.k8s.io, resources: [events]}
  - {group: authentication.k8s.io}
  - {group: authorization.k8s.io}
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
- level: None
"#;

/// The free ports of one cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    pub(super) etcd: u16,
    pub(super) etcd_peer: u16,
    pub(super) api: u16,
}

impl Ports {
    /// Ports that were free a moment ago. Somebody can take one before we do: then the program ends at once, and the
    /// start is tried again with others.
    pub(super) fn free() -> std::io::Result<Self> {
        // All are held until all are known, so that they differ.
        let held = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
        let mut ports = [0; 3];
        for (port, listener) in ports.iter_mut().zip(held) {
            *port = listener?.local_addr()?.port();
        }
        Ok(Self { etcd: ports[0], etcd_peer: ports[1], api: ports[2] })
    }

    /// The address of the API server.
    pub(super) fn server(&self) -> String {
        format!("https://127.0.0.1:{}", self.api)
    }
}

/// Files that the programs read.
pub(super) struct Files<'a> {
    pub(super) folder: &'a Path,
    pub(super) authority: &'a Path,
    pub(super) service_accounts: &'a Path,
    pub(super) service_accounts_public: &'a Path,
    pub(super) server: &'a Pair,
    pub(super) audit_policy: &'a Path,
    pub(super) audit_log: &'a Path,
}

fn spec(assets: &Assets, name: &'static str, arguments: Vec<String>) -> Spec {
    Spec { name, program: assets.program(name), arguments }
}

fn flag(name: &str, value: impl AsRef<Path>) -> String {
    format!("--{name}={}", value.as_ref().display())
}

pub(super) fn etcd(assets: &Assets, ports: Ports, files: &Files<'_>) -> Spec {
    let (client, peer) = (format!("http://127.0.0.1:{}", ports.etcd), format!("http://127.0.0.1:{}", ports.etcd_peer));
    spec(
        assets,
        "etcd",
        vec![
            flag("data-dir", files.folder.join("etcd")),
            "--name=default".into(),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
            // The data is thrown away with the folder; without this every write waits for the disk.
            "--unsafe-no-fsync".into(),
            "--log-level=warn".into(),
        ],
    )
}

pub(super) fn apiserver(assets: &Assets, ports: Ports, files: &Files<'_>) -> Spec {
    spec(
        assets,
        "kube-apiserver",
        vec![
            format!("--etcd-servers=http://127.0.0.1:{}", ports.etcd),
            "--bind-address=127.0.0.1".into(),
            "--advertise-address=127.0.0.1".into(),
            format!("--secure-port={}", ports.api),
            "--service-cluster-ip-range=10.96.0.0/16".into(),
            flag("client-ca-file", files.authority),
            flag("tls-cert-file", &files.server.certificate),
            flag("tls-private-key-file", &files.server.key),
            "--service-account-issuer=https://kubernetes.default.svc".into(),
            flag("service-account-key-file", files.service_accounts_public),
            flag("service-account-signing-key-file", files.service_accounts),
            "--authorization-mode=Node,RBAC".into(),
            "--enable-admission-plugins=NodeRestriction".into(),
            "--allow-privileged".into(),
            // One API server on loopback: the Service `kubernetes` leads nowhere, and nobody asks it.
            "--endpoint-reconciler-type=none".into(),
            flag("audit-policy-file", files.audit_policy),
            flag("audit-log-path", files.audit_log),
            // Each event is on disk before the next request of the same client is answered.
            "--audit-log-mode=blocking".into(),
        ],
    )
}

pub(super) fn controller_manager(assets: &Assets, kubeconfig: &Path, files: &Files<'_>) -> Spec {
    spec(
        assets,
        "kube-controller-manager",
        vec![
            flag("kubeconfig", kubeconfig),
            // Each controller has its own user, so that the audit log says which one deleted a pod.
            "--use-service-account-credentials".into(),
            "--leader-elect=false".into(),
            flag("service-account-private-key-file", files.service_accounts),
            flag("root-ca-file", files.authority),
            // Not asked for metrics by anybody.
            "--secure-port=0".into(),
            // Default 20 and 30 per second: a test that creates 20 workloads at once would measure this queue.
            "--kube-api-qps=400".into(),
            "--kube-api-burst=800".into(),
            // Default 15 s: a claim that waits for its first consumer would wait for this timer, too.
            "--pvclaimbinder-sync-period=1s".into(),
        ],
    )
}

/// Settings of a kube-scheduler that looks at nodes one after the other. Flags that say the same are not looked at then.
/// Source: `k8s.io/kube-scheduler/config/v1`, `KubeSchedulerConfiguration`.
pub(super) fn one_thread(kubeconfig: &Path) -> Value {
    json!({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 1,
        "leaderElection": {"leaderElect": false},
        "clientConnection": {"kubeconfig": kubeconfig.display().to_string(), "qps": 400, "burst": 800}})
}

pub(super) fn scheduler(assets: &Assets, kubeconfig: &Path, settings: Option<&Path>, gates: &[(&str, bool)]) -> Spec {
    let gates = gates.iter().map(|(gate, on)| format!("--feature-gates={gate}={on}"));
    spec(
        assets,
        "kube-scheduler",
        vec![
            flag("kubeconfig", kubeconfig),
            "--leader-elect=false".into(),
            "--secure-port=0".into(),
            // Default 50 and 100 per second; see the controller manager.
            "--kube-api-qps=400".into(),
            "--kube-api-burst=800".into(),
        ]
        .into_iter()
        .chain(settings.map(|file| flag("config", file)))
        .chain(gates)
        .collect(),
    )
}

pub(super) fn kwok(assets: &Assets, kubeconfig: &Path, stages: &Path) -> Spec {
    spec(
        assets,
        "kwok",
        vec![
            flag("kubeconfig", kubeconfig),
            flag("config", stages),
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake".into(),
            // The node lifecycle controller takes a node for lost 50 s after its last sign of life.
            "--node-lease-duration-seconds=40".into(),
            "--cidr=10.200.0.0/16".into(),
            "--node-ip=10.201.0.1".into(),
        ],
    )
}
