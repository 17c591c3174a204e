//! The openb trace: nodes and pods of a cluster with GPUs, as CSV files beside the workspace. It is read, not shipped.
//!
//! Its times are sampled, so that hardly any two pods would live at once: all pods are placed, in the order of the file.

use std::path::PathBuf;

use fs_err as fs;
use serde_json::{Value, json};

use super::BenchError;
use super::objects;

/// The trace as objects.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The nodes.
    pub nodes: Vec<Value>,
    /// The pods, unbound.
    pub pods: Vec<Value>,
}

/// Pods that a node takes: the kubelet's default.
/// Source: `k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1/defaults.go`, `MaxPods`.
const MOST_PODS: u32 = 110;

/// The folder of the trace.
#[must_use]
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/openb")
}

impl Trace {
    /// Reads the trace. GPUs are whole ones, as kube-scheduler knows them: a share of one asks for one.
    ///
    /// # Errors
    /// A file is missing, or is not what it was.
    pub fn read() -> Result<Self, BenchError> {
        let nodes = table("openb_node_list_all_node.csv", &["sn", "cpu_milli", "memory_mib", "gpu"])?;
        let node = |[name, cpu, memory, gpus]: [String; 4]| {
            let mut allocatable =
                json!({"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi"), "pods": MOST_PODS.to_string()});
            if gpus != "0" {
                allocatable["nvidia.com/gpu"] = gpus.into();
            }
            objects::node(&name, &allocatable, &[])
        };
        let pods = table("openb_pod_list_default.csv", &["name", "cpu_milli", "memory_mib", "num_gpu"])?;
        let pod = |[name, cpu, memory, gpus]: [String; 4]| {
            let mut requests = json!({"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")});
            if gpus != "0" {
                requests["nvidia.com/gpu"] = gpus.into();
            }
            objects::pod("openb", &name, &json!({}), &requests)
        };
        Ok(Self { nodes: nodes.into_iter().map(node).collect(), pods: pods.into_iter().map(pod).collect() })
    }
}

/// Four columns of a file, of which the last three are numbers.
fn table(name: &str, columns: &[&'static str; 4]) -> Result<Vec<[String; 4]>, BenchError> {
    let text = fs::read_to_string(folder().join(name))?;
    let mut lines = text.lines().enumerate();
    let header: Vec<&str> = lines.next().map(|(_, line)| line.split(',').collect()).unwrap_or_default();
    let fault = |line: usize, expected: &'static str, found: &str| BenchError::Line {
        file: name.to_owned(),
        line: line + 1,
        expected,
        found: found.to_owned(),
    };
    let mut places = [0; 4];
    for (place, column) in places.iter_mut().zip(columns) {
        let found = header.iter().position(|name| name == column);
        *place = found.ok_or_else(|| fault(0, column, &header.join(",")))?;
    }
    let mut rows = Vec::new();
    for (number, line) in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let mut row = [const { String::new() }; 4];
        for (index, (cell, place)) in row.iter_mut().zip(places).enumerate() {
            let field = fields.get(place).copied().unwrap_or_default();
            if field.is_empty() || index > 0 && field.parse::<u64>().is_err() {
                return Err(fault(number, columns[index], line));
            }
            field.clone_into(cell);
        }
        rows.push(row);
    }
    Ok(rows)
}
