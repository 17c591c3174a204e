//! What a cluster really used, from Prometheus: peaks by workload, and by machine for a consolidation.
//!
//! Metrics are those that the kubelet (cAdvisor) and the node exporter have; a kubelet alone is enough. Pods come and go
//! within the window: a pod that is gone is known by its controller's name, and its peak counts for the workload. What is
//! empty is an error, never "used nothing".

use std::collections::BTreeMap;

use rehome_k8s::{Kind, Record, View, owner};
use rehome_kube::prometheus::{Prometheus, PrometheusError, Sample};
use rehome_model::ObjectRef;
use rehome_model::sizing::Peaks;
use rehome_plan::sizing::{MeasuredPeaks, PodPeaks};

/// Why there are no peaks.
#[derive(Debug, thiserror::Error)]
pub enum PeaksError {
    /// Prometheus gives no answer.
    #[error(transparent)]
    Prometheus(#[from] PrometheusError),
    /// The window is none.
    #[error("expected a window such as 7d, 36h or 90m, found {found:?}")]
    Window {
        /// What was given.
        found: String,
    },
    /// The answer is empty.
    #[error("Prometheus at {address} has nothing about {about}; the query was {query}")]
    Empty {
        /// The server.
        address: String,
        /// What was asked for.
        about: &'static str,
        /// The query, or the queries.
        query: String,
    },
    /// There are samples, but of other pods.
    #[error(
        "Prometheus at {address} knows {found} pods, and none of them is of this cluster's {expected}; the query was {query}"
    )]
    OtherCluster {
        /// The server.
        address: String,
        /// How many pods it knows.
        found: usize,
        /// How many workloads there are.
        expected: usize,
        /// The query.
        query: String,
    },
}

/// How often a subquery looks, in windows up to a day and in longer ones. Peaks between two looks are lost; looking each
/// minute for a week takes more samples than Prometheus answers (`--query.max-samples`, 50 million) from 500 pods on.
const STEPS: [(u64, &str); 2] = [(86_400, "1m"), (u64::MAX, "5m")];
/// Over which time the rate of a counter is taken: four scrapes of a minute.
const RATE: &str = "5m";

/// Asks for all peaks.
///
/// # Errors
/// See [`PeaksError`].
pub fn measure(prometheus: &Prometheus, view: &View, window: &str) -> Result<MeasuredPeaks, PeaksError> {
    let seconds = seconds(window).ok_or_else(|| PeaksError::Window { found: window.to_owned() })?;
    let mut asking = Asking { prometheus, queries: Vec::new() };
    let step = STEPS.iter().find(|(up_to, _)| seconds <= *up_to).map_or("5m", |(_, step)| *step);
    let range = format!("[{window}:{step}]");

    let memory_of_pods =
        "sum by (namespace, pod) (container_memory_working_set_bytes{container!=\"\",container!=\"POD\",pod!=\"\"})";
    let cpu_of_pods = format!(
        "sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{{container!=\"\",container!=\"POD\",pod!=\"\"}}[{RATE}]))"
    );
    let memory_query = format!("max_over_time({memory_of_pods}{range})");
    let memory = asking.some("the memory of pods", &memory_query)?;
    let cpu = asking.ask(&format!("max_over_time({cpu_of_pods}{range})"))?;
    let pods = by_workload(view, &memory, &cpu);
    if pods.is_empty() {
        let address = prometheus.address().to_owned();
        let expected = view.records().filter(|record| record.kind().is_workload()).count();
        return Err(PeaksError::OtherCluster { address, found: memory.len(), expected, query: memory_query });
    }

    let machine = asking.machine(&range)?;
    let mut peaks = Peaks { source: prometheus.address().to_owned(), window: window.to_owned(), ..Peaks::default() };
    for (name, samples) in [("memory", &machine.memory), ("cpu", &machine.cpu)] {
        for sample in samples {
            let amount = amount(name, sample.value);
            peaks.nodes.entry(machine.name(sample)).or_default().insert(name.to_owned(), amount);
            *peaks.sum_of_peaks.entry(name.to_owned()).or_default() += amount;
        }
    }
    for (name, query) in [("memory", &machine.memory_query), ("cpu", &machine.cpu_query)] {
        for sample in asking.ask(&format!("max_over_time(sum({query}){range})"))? {
            peaks.simultaneous.insert(name.to_owned(), amount(name, sample.value));
        }
    }
    let hours = asking.ask(&format!(
        "count_over_time(sum({})[{}h:1h])",
        machine.memory_query,
        seconds.div_ceil(3600).max(1)
    ))?;
    peaks.hours = hours.first().map_or(0, |sample| whole(sample.value).unsigned_abs());
    peaks.queries = asking.queries;
    Ok(MeasuredPeaks { peaks, pods })
}

/// Queries that were asked, for the document.
struct Asking<'a> {
    prometheus: &'a Prometheus,
    queries: Vec<String>,
}

/// What the machines used.
struct Machines {
    memory_query: String,
    cpu_query: String,
    memory: Vec<Sample>,
    cpu: Vec<Sample>,
    label: &'static str,
}

impl Asking<'_> {
    fn ask(&mut self, query: &str) -> Result<Vec<Sample>, PeaksError> {
        self.queries.push(query.to_owned());
        Ok(self.prometheus.query(query)?)
    }

    fn some(&mut self, about: &'static str, query: &str) -> Result<Vec<Sample>, PeaksError> {
        let samples = self.ask(query)?;
        if samples.is_empty() {
            let address = self.prometheus.address().to_owned();
            return Err(PeaksError::Empty { address, about, query: query.to_owned() });
        }
        Ok(samples)
    }

    /// The machines, operating system and all: by the node exporter, else by the kubelet's root cgroup.
    fn machine(&mut self, range: &str) -> Result<Machines, PeaksError> {
        // Source: https://github.com/prometheus/node_exporter, collector meminfo; MemAvailable leaves out caches that
        // the kernel can drop.
        let exporter = (
            "instance",
            "(node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes)".to_owned(),
            format!("sum by (instance) (rate(node_cpu_seconds_total{{mode!~\"idle|iowait|steal\"}}[{RATE}]))"),
        );
        // Source: https://github.com/google/cadvisor, docs/storage/prometheus.md: id="/" is the whole machine.
        let kubelet = (
            "instance",
            "container_memory_working_set_bytes{id=\"/\"}".to_owned(),
            format!("rate(container_cpu_usage_seconds_total{{id=\"/\"}}[{RATE}])"),
        );
        let mut asked = Vec::new();
        for (label, memory_query, cpu_query) in [exporter, kubelet] {
            let query = format!("max_over_time({memory_query}{range})");
            let memory = self.ask(&query)?;
            asked.push(query);
            if !memory.is_empty() {
                let cpu = self.ask(&format!("max_over_time({cpu_query}{range})"))?;
                return Ok(Machines { memory_query, cpu_query, memory, cpu, label });
            }
        }
        let address = self.prometheus.address().to_owned();
        Err(PeaksError::Empty { address, about: "the memory of machines", query: asked.join(" and ") })
    }
}

impl Machines {
    /// The node, where a label says it; else the address that was scraped.
    fn name(&self, sample: &Sample) -> String {
        let found =
            ["node", "nodename", "kubernetes_node", self.label].iter().find_map(|label| sample.labels.get(*label));
        found.cloned().unwrap_or_else(|| "unnamed".to_owned())
    }
}

/// The highest that one pod of each workload reached.
fn by_workload(view: &View, memory: &[Sample], cpu: &[Sample]) -> PodPeaks {
    let mut peaks = PodPeaks::new();
    let gone = Gone::new(view);
    for (name, samples) in [("memory", memory), ("cpu", cpu)] {
        for sample in samples {
            let (Some(namespace), Some(pod)) = (sample.labels.get("namespace"), sample.labels.get("pod")) else {
                continue;
            };
            let Some(workload) = workload_of(view, &gone, namespace, pod) else { continue };
            let peak = peaks.entry(workload).or_default().entry(name.to_owned()).or_default();
            *peak = (*peak).max(amount(name, sample.value));
        }
    }
    peaks
}

/// The workload of a pod: by its owners if it is there, by its name if it is gone.
fn workload_of(view: &View, gone: &Gone, namespace: &str, pod: &str) -> Option<ObjectRef> {
    match view.pod(&rehome_k8s::Key::new(namespace, pod)) {
        Some(found) => Some(owner::of_pod(view, found).reference(found)),
        None => gone.workload(namespace, pod),
    }
}

/// Workloads by what their pods' names begin with.
struct Gone(BTreeMap<(String, String), ObjectRef>);

impl Gone {
    fn new(view: &View) -> Self {
        let mut names = BTreeMap::new();
        for kind in [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::ReplicaSet] {
            for record in view.of_kind(kind) {
                // A ReplicaSet that belongs to a Deployment is known by the Deployment's name.
                let owned = matches!(record, Record::ReplicaSet(set) if set.meta.controller.is_some());
                if !owned {
                    let meta = record.meta();
                    names.entry((meta.namespace.clone(), meta.name.clone())).or_insert_with(|| record.reference());
                }
            }
        }
        Self(names)
    }

    /// `web-6f9c-x2z4q` → `web-6f9c` → `web`: one name less its last part, then less two.
    fn workload(&self, namespace: &str, pod: &str) -> Option<ObjectRef> {
        let mut name = pod;
        for _ in 0..2 {
            name = name.rsplit_once('-')?.0;
            if let Some(workload) = self.0.get(&(namespace.to_owned(), name.to_owned())) {
                return Some(workload.clone());
            }
        }
        None
    }
}

/// Cpu comes in cores, memory in bytes.
fn amount(name: &str, value: f64) -> i64 {
    if name == "cpu" { whole(value * 1000.0) } else { whole(value) }
}

fn whole(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a cast from float saturates")]
    let whole = value.ceil() as i64;
    whole
}

/// The seconds of a duration as Prometheus writes it.
fn seconds(window: &str) -> Option<u64> {
    let number = window.strip_suffix(['m', 'h', 'd', 'w'])?;
    let unit = match window.chars().last()? {
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => 604_800,
    };
    number.parse::<u64>().ok().filter(|number| *number > 0)?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_number_and_a_unit() {
        assert_eq!(["7d", "36h", "90m", "1w"].map(seconds), [Some(604_800), Some(129_600), Some(5400), Some(604_800)]);
        for wrong in ["", "d", "7", "0d", "-1d", "7 d", "7days", "1d) or vector(1"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_pod_that_is_gone_is_known_by_its_controller_s_name() {
        let gone = Gone(
            ["web", "web-6f9c", "db"]
                .iter()
                .map(|name| {
                    (("shop".to_owned(), (*name).to_owned()), ObjectRef::namespaced("Deployment", "shop", *name))
                })
                .collect(),
        );
        let name = |pod: &str| gone.workload("shop", pod).map(|workload| workload.name);
        assert_eq!(name("db-0").as_deref(), Some("db"));
        assert_eq!(name("web-77d4b-x2z4q").as_deref(), Some("web"));
        assert_eq!(name("web-6f9c-x2z4q").as_deref(), Some("web-6f9c"));
        assert_eq!((name("other-77d4b-x2z4q"), gone.workload("else", "db-0")), (None, None));
    }
}
