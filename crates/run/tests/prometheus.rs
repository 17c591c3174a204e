//! Peaks from a real Prometheus, filled with a week of samples by its own tool; on loopback, on a port of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use rehome_k8s::{View, ingest};
use rehome_kube::prometheus::{Prometheus, PrometheusError};
use rehome_model::ObjectRef;
use rehome_run::peaks::{self, PeaksError};
use serde_json::json;

const MIB: i64 = 1 << 20;
/// Between two samples of a series, in seconds.
const SCRAPE: i64 = 60;
/// The samples' time before now: a little more than the window of a week.
const WEEK: i64 = 7 * 86_400 + 3600;

/// A Prometheus with a folder of its own; both are gone when it is dropped.
struct Server {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts one with these samples (OpenMetrics without the end), and waits until it says that it serves.
    fn with(samples: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("prometheus.yml"), "global: {scrape_interval: 1h}\n").unwrap();
        if !samples.is_empty() {
            std::fs::write(path("samples.txt"), format!("{samples}# EOF\n")).unwrap();
            let filled = Command::new("promtool")
                .args(["tsdb", "create-blocks-from", "openmetrics", &path("samples.txt"), &path("data")])
                .output()
                .unwrap();
            assert!(filled.status.success(), "{}", String::from_utf8_lossy(&filled.stderr));
        }
        // The kernel gives the port; Prometheus says which.
        let mut child = Command::new("prometheus")
            .args(["--web.listen-address=127.0.0.1:0", "--storage.tsdb.retention.time=60d", "--log.format=json"])
            .arg(format!("--config.file={}", path("prometheus.yml")))
            .arg(format!("--storage.tsdb.path={}", path("data")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut address, mut seen) = (None, Vec::new());
        let ready = lines.by_ref().map_while(Result::ok).any(|line| {
            let value: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if let Some(found) = value["address"].as_str().filter(|found| found.starts_with("127.0.0.1:")) {
                address = Some(format!("http://{found}"));
            }
            let ready = value["msg"].as_str().is_some_and(|msg| msg.contains("Server is ready"));
            seen.push(line);
            ready
        });
        assert!(ready, "Prometheus ended: {seen:?}");
        // Somebody must go on reading, or Prometheus waits for the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        assert!(address.is_some(), "no address in {seen:?}");
        Self { child, address: address.unwrap(), _folder: folder }
    }

    fn client(&self) -> Prometheus {
        Prometheus::new(&self.address, "rehome-tests").unwrap()
    }
}

/// The time: a test of peaks before now has to know it.
#[expect(clippy::disallowed_methods, reason = "Prometheus answers by the real clock")]
fn now() -> i64 {
    i64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

/// A series: the value at each scrape of the week, by the seconds since its beginning.
fn series(text: &mut String, name: &str, labels: &str, now: i64, value: impl Fn(i64) -> f64) {
    for at in (now - WEEK..now).step_by(usize::try_from(SCRAPE).unwrap()) {
        text.push_str(&format!("{name}{{{labels}}} {} {at}\n", value(at - (now - WEEK))));
    }
}

fn family(text: &mut String, name: &str, kind: &str) {
    text.push_str(&format!("# TYPE {name} {kind}\n"));
}

#[expect(clippy::cast_precision_loss, reason = "a test's figure")]
fn mib(mib: i64) -> f64 {
    (mib * MIB) as f64
}

/// Two machines that peak on different days, and the pods on them; one of `web`'s is gone by now.
fn a_week(now: i64) -> String {
    let mut text = String::new();
    // Machine a peaks with 3000 MiB on the second day, b with 2500 MiB on the fifth; together never above 4000.
    let peak = |second: i64, day: i64, high: i64, low: i64| if second / 86_400 == day { mib(high) } else { mib(low) };
    family(&mut text, "container_memory_working_set_bytes", "gauge");
    for (pod, day, high) in [("web-6f9c-aaaaa", 1, 700), ("web-0old-zzzzz", 2, 900), ("db-0", 3, 300)] {
        let labels = format!("namespace=\"shop\",pod=\"{pod}\",container=\"main\"");
        series(&mut text, "container_memory_working_set_bytes", &labels, now, |second| peak(second, day, high, 100));
    }
    let pause = "namespace=\"shop\",pod=\"db-0\",container=\"POD\"";
    series(&mut text, "container_memory_working_set_bytes", pause, now, |_| mib(5000));
    family(&mut text, "container_cpu_usage_seconds", "counter");
    // A quarter of a core, all week.
    let labels = "namespace=\"shop\",pod=\"db-0\",container=\"main\"";
    series(&mut text, "container_cpu_usage_seconds_total", labels, now, |second| mib(second) / mib(4));
    family(&mut text, "node_memory_MemTotal_bytes", "gauge");
    for name in ["a", "b"] {
        series(&mut text, "node_memory_MemTotal_bytes", &format!("instance=\"{name}:9100\""), now, |_| mib(4000));
    }
    family(&mut text, "node_memory_MemAvailable_bytes", "gauge");
    series(&mut text, "node_memory_MemAvailable_bytes", "instance=\"a:9100\"", now, |second| {
        mib(4000) - peak(second, 1, 3000, 1000)
    });
    series(&mut text, "node_memory_MemAvailable_bytes", "instance=\"b:9100\"", now, |second| {
        mib(4000) - peak(second, 4, 2500, 1000)
    });
    text
}

fn cluster() -> View {
    let owner = |kind: &str, name: &str| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": true}]);
    let object = |kind: &str, name: &str, owners: serde_json::Value| {
        json!({"apiVersion": if kind == "Pod" { "v1" } else { "apps/v1" }, "kind": kind,
            "metadata": {"namespace": "shop", "name": name, "uid": name, "ownerReferences": owners},
            "spec": {"selector": {}, "template": {"spec": {"containers": []}}, "containers": [], "serviceName": ""}})
    };
    let mut view = View::default();
    for object in [
        object("Deployment", "web", json!([])),
        object("ReplicaSet", "web-6f9c", owner("Deployment", "web")),
        object("Pod", "web-6f9c-aaaaa", owner("ReplicaSet", "web-6f9c")),
        object("StatefulSet", "db", json!([])),
        object("Pod", "db-0", owner("StatefulSet", "db")),
    ] {
        view.insert(ingest::object(&object.to_string()).unwrap().unwrap());
    }
    view
}

#[test]
fn peaks_of_a_week_by_workload_and_by_machine() {
    let server = Server::with(&a_week(now()));
    let measured = peaks::measure(&server.client(), &cluster(), "7d").unwrap();
    let web = &measured.pods[&ObjectRef::namespaced("Deployment", "shop", "web")];
    assert_eq!(web["memory"] / MIB, 900, "the peak of a pod that is gone counts for its workload");
    let db = &measured.pods[&ObjectRef::namespaced("StatefulSet", "shop", "db")];
    assert_eq!(db["memory"] / MIB, 300, "the pause container is none of its own");
    assert!((250..=251).contains(&db["cpu"]), "{db:?}");
    let peaks = &measured.peaks;
    let nodes: Vec<(&str, i64)> =
        peaks.nodes.iter().map(|(name, amounts)| (name.as_str(), amounts["memory"] / MIB)).collect();
    assert_eq!(nodes, [("a:9100", 3000), ("b:9100", 2500)]);
    assert_eq!([peaks.simultaneous["memory"] / MIB, peaks.sum_of_peaks["memory"] / MIB], [4000, 5500]);
    assert!((160..=169).contains(&peaks.hours), "{} hours", peaks.hours);
    assert!(peaks.queries.iter().any(|query| query.contains("[7d:5m]")), "{:?}", peaks.queries);
}

#[test]
fn an_empty_prometheus_is_an_error_that_shows_the_query() {
    let server = Server::with("");
    let error = peaks::measure(&server.client(), &cluster(), "7d").unwrap_err();
    assert!(matches!(error, PeaksError::Empty { .. }), "{error}");
    assert!(
        error.to_string().contains("max_over_time(sum by (namespace, pod) (container_memory_working_set_bytes"),
        "{error}"
    );
}

#[test]
fn pods_without_machines_and_pods_of_another_cluster_are_errors() {
    let now = now();
    let mut text = String::new();
    family(&mut text, "container_memory_working_set_bytes", "gauge");
    series(
        &mut text,
        "container_memory_working_set_bytes",
        "namespace=\"shop\",pod=\"db-0\",container=\"main\"",
        now,
        |_| mib(1),
    );
    let server = Server::with(&text);
    let error = peaks::measure(&server.client(), &cluster(), "1d").unwrap_err().to_string();
    assert!(
        error.contains("nothing about the memory of machines") && error.contains("node_memory_MemAvailable_bytes"),
        "{error}"
    );
    let error = peaks::measure(&server.client(), &View::default(), "1d").unwrap_err();
    assert!(matches!(error, PeaksError::OtherCluster { found: 1, .. }), "{error}");
}

#[test]
fn what_prometheus_refuses_is_said_in_its_words() {
    let server = Server::with("");
    let error = server.client().query("sum(").unwrap_err();
    assert!(matches!(&error, PrometheusError::Refused { code: 400, .. }), "{error}");
    assert!(error.to_string().contains("parse error") && error.to_string().contains("sum("), "{error}");
    let error = Prometheus::new(&format!("{}/nothing/here", server.address), "x").unwrap().query("up").unwrap_err();
    assert!(matches!(error, PrometheusError::Refused { code: 404, .. }), "{error}");
}
