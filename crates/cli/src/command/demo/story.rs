//! What the demo says between its stages, and the move as a list of what happened when.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_engine::drive::Observer;
use rehome_k8s::node::{Node, Resources};
use rehome_k8s::{View, requests};
use rehome_model::Timestamp;
use rehome_model::intent::Intent;
use rehome_model::journal::{Event, Record};
use rehome_model::plan::Plan;
use rehome_model::rehearsal::Rehearsal;
use rehome_model::time::Seconds;

use super::folder::Folder;
use crate::ui::{DIM, GOOD, paint};
use crate::view::count;
use crate::view::table::Table;

/// What this is about, with the figures of the cluster.
pub(crate) fn opening(folder: &Folder, view: &View, intent: &Intent) -> String {
    let sizes = |pool: &str| -> (usize, i64) {
        let nodes = view
            .nodes()
            .filter(|node| format!("pool={}", node.meta.labels.get("pool").map_or("", String::as_str)) == pool);
        nodes.fold((0, 0), |(number, _), node| (number + 1, node.allocatable.get("memory").copied().unwrap_or(0)))
    };
    let (old, old_memory) = sizes(&intent.from);
    let (new, new_memory) = sizes(&intent.to);
    let mut requested = Resources::new();
    let sources = view.nodes().filter(|node| pool_of(node) == intent.from);
    for pod in sources.flat_map(|node| view.pods_on(node.name())).filter(|pod| !pod.finished()) {
        requests::add(&mut requested, &pod.spec.requests);
    }
    let memory = requested.get("memory").copied().unwrap_or(0);
    format!(
        "This is a made-up cluster; nothing real is touched. It runs on {old} small nodes ({} of memory each for pods)\n\
         and asks for {} in all. It is to move onto {new} larger nodes ({} each) that have just joined, while it runs.\n\
         All files are in {}/ and stay there.\n",
        gib(old_memory),
        gib(memory),
        gib(new_memory),
        folder.show("").trim_end_matches('/'),
    )
}

/// The selector of the pool that a node is in.
fn pool_of(node: &Node) -> String {
    format!("pool={}", node.meta.labels.get("pool").map_or("", String::as_str))
}

fn gib(bytes: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let gib = bytes as f64 / (1_i64 << 30) as f64;
    format!("{gib:.1} GiB")
}

/// The flavor of the nodes that have just joined.
pub(crate) const FLAVOR: &str = "name=a4-ram16-disk50,cpu=4,memory=16Gi";

/// After the sizing.
pub(crate) fn after_size(folder: &Folder) -> String {
    format!(
        "\nA small node gives the largest share of its memory to the kubelet's reserve and to DaemonSets: that is why fewer,\n\
         larger nodes hold the same. The picture is in {}: open it in a browser.\n",
        folder.show("nodes.svg")
    )
}

pub(crate) const AFTER_CHECK: &str = "
Every blocker comes with its cure. kubectl drain would have found these one by one, halfway through the move, and
would have waited for ever. In this demo the operator agrees to them: see intent.yaml.
";

pub(crate) const AFTER_PLAN: &str = "
Workloads are moved, not nodes: each in the gentlest way that its own rules permit, and each with its reason.
Add -o wide to see every step, what it requires, and which other ways were considered.
";

pub(crate) const AFTER_REHEARSAL: &str = "
That was not a second description of the plan: it was the same machine that moves a real cluster, on a simulated twin
whose pods take as long as the snapshot says that they took.
";

/// After the move.
pub(crate) fn after_move(folder: &Folder) -> String {
    format!(
        "\nEvery request was in the journal, on disk, before it was sent: {}.\n\
         Killed at any instant, rehome resume goes on from there, and rehome rollback puts back what was changed.\n",
        folder.show("plan.journal.jsonl")
    )
}

/// How forecast and fact compare: the pods were given other durations than the snapshot shows.
pub(crate) fn compared(rehearsal: &Rehearsal, took: Seconds, without: &BTreeMap<String, Seconds>) -> String {
    let mut table = Table::new(["FORECAST AND FACT", "REHEARSED", "HAPPENED"]);
    let forecast = rehearsal.runs.iter().map(|run| run.took).max().unwrap_or_default();
    table.row(["the whole move".to_owned(), forecast.to_string(), took.to_string()]);
    let rehearsed = |workload: &str| -> Seconds {
        rehearsal.runs.iter().filter_map(|run| run.without_ready.get(workload).copied()).max().unwrap_or_default()
    };
    let mut rows: Vec<(String, Seconds)> = without.iter().map(|(workload, time)| (workload.clone(), *time)).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (workload, time) in rows {
        table.row([format!("{workload} without a Ready pod"), rehearsed(&workload).to_string(), time.to_string()]);
    }
    format!("\n{}", table.render(""))
}

/// What to try next.
pub(crate) fn closing(folder: &Folder, program: &str) -> String {
    let (plan, journal, cluster) =
        (folder.show("plan.json"), folder.show("plan.journal.jsonl"), folder.show("cluster"));
    format!(
        "\n{} The old nodes hold nothing that matters, and every workload is as Ready as before.\n\n\
         Try next:\n\
         \x20 {program} show {plan} -o wide          every step, with what it requires and how it is undone\n\
         \x20 {program} status --journal {journal}   what was done, and when\n\
         \x20 edit {cluster}/, then run the commands above again: give a database a second replica, make a node smaller\n\
         \x20 {program} check --from pool=old --to pool=new   on your own cluster: it only reads\n",
        paint(GOOD, "✓")
    )
}

/// Follows the move and keeps a line for each thing that somebody would want to have seen.
pub(crate) struct Story {
    plan: Arc<Plan>,
    began: Timestamp,
    lines: Vec<String>,
    wave: String,
}

impl Story {
    pub(crate) fn new(plan: Arc<Plan>, began: Timestamp) -> Self {
        Self { plan, began, lines: Vec::new(), wave: String::new() }
    }

    /// The lines.
    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn enter(&mut self, step: &str) {
        let Some(wave) = self.plan.waves.iter().find(|wave| wave.steps.iter().any(|s| s.name == step)) else { return };
        if wave.name != self.wave {
            self.lines.push(paint(DIM, format!("{}  {} ({})", wave.name, wave.title, count(wave.steps.len(), "step"))));
            self.wave.clone_from(&wave.name);
        }
    }
}

impl Observer for Story {
    fn recorded(&mut self, record: &Record) {
        let time = (record.at - self.began).to_string();
        match &record.event {
            Event::StepStarted { step, .. } | Event::StepAlreadyDone { step } => self.enter(step),
            Event::Moved { receipt, .. } => {
                let to = match &receipt.successor {
                    Some(successor) => format!("{} → {}", receipt.from, successor.node),
                    None => format!("{} → gone", receipt.from),
                };
                self.lines.push(format!("  {time:>8}  {to:<16} {}", receipt.workload));
            }
            Event::NodeEmpty { node, lists, .. } => {
                let stays = count(lists[1].stays.len(), "pod");
                self.lines.push(format!("  {time:>8}  {node} is empty but for {stays} that belong there"));
            }
            Event::Stuck { step, cause, .. } => self.lines.push(format!("  {time:>8}  stuck at {step}: {cause}")),
            _ => {}
        }
    }

    fn waiting(&mut self, _: &str, _: &str) {}
}
