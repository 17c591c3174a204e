//! How fast a plan could have been carried out: the longest chain of steps that had to come one after the other, each as
//! long as the journal says that it took.
//!
//! Two things keep steps apart. The plan's order does (`after`), and so do its limits: `parallel`, `maxUnavailable`, and
//! budgets that one step holds at a time. What comes after a group of steps cannot begin before all of them have had
//! their turn, so the group's work, shared out over as many as may be under way, is a second bound for it.
//!
//! Both are lower bounds: a run cannot be shorter. What it took beyond is what the executor itself cost. How long a step
//! took is taken as it is, waits for others within a step included.

use std::collections::BTreeMap;

use rehome_model::journal::{Event, Record};
use rehome_model::plan::{Plan, Step};
use rehome_model::{ObjectRef, Seconds, Timestamp};

/// The longest chain of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CriticalPath {
    /// How long it is: no run of this plan with these steps can be shorter.
    pub length: Seconds,
    /// Its steps in order.
    pub steps: Vec<OnPath>,
}

/// A step of the longest chain.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OnPath {
    /// The step.
    pub step: String,
    /// How long it took.
    pub took: Seconds,
    /// What kept the next step waiting beyond this one: a limit that this one and those beside it share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// What keeps steps apart besides the plan's order.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Limit {
    /// So many units may be on the move at once.
    Parallel(usize),
    /// So many workloads may be down at once.
    MaxUnavailable(usize),
    /// One step at a time holds this.
    Held(ObjectRef),
}

/// How long each step took that is done: nought if it was found done.
#[must_use]
pub fn took(records: &[Record]) -> BTreeMap<&str, Seconds> {
    let (mut begun, mut took) = (BTreeMap::<&str, Timestamp>::new(), BTreeMap::new());
    for record in records {
        match &record.event {
            Event::StepStarted { step, .. } => _ = begun.insert(step, record.at),
            Event::StepAlreadyDone { step } => _ = took.insert(step.as_str(), Seconds::ZERO),
            Event::StepDone { step } => {
                let since = begun.get(step.as_str()).copied().unwrap_or(record.at);
                took.insert(step.as_str(), record.at - since);
            }
            _ => {}
        }
    }
    took
}

/// The longest chain of a plan whose steps took this long; steps without a time count as none.
#[must_use]
pub fn of(plan: &Plan, took: &BTreeMap<&str, Seconds>) -> CriticalPath {
    let mut graph = Graph { plan, steps: Vec::new(), by_name: BTreeMap::new() };
    let mut has_next = Vec::new();
    for step in plan.steps() {
        // A plan's steps stand in an order in which they can be carried out: what is not before is no predecessor.
        let before: Vec<usize> =
            step.after.keys().filter_map(|name| graph.by_name.get(name.as_str()).copied()).collect();
        for number in &before {
            if let Some(flag) = has_next.get_mut(*number) {
                *flag = true;
            }
        }
        let bound = graph.bound(&before);
        graph.by_name.insert(&step.name, graph.steps.len());
        graph.steps.push(Placed { step, took: took.get(step.name.as_str()).copied().unwrap_or_default(), bound });
        has_next.push(false);
    }
    let last: Vec<usize> = has_next.iter().enumerate().filter(|(_, next)| !**next).map(|(number, _)| number).collect();
    let end = graph.bound(&last);
    let length = end.earliest;
    let (mut steps, mut bound) = (Vec::new(), Some(end));
    while let Some(Bound { last: Some(number), limit, .. }) = bound {
        let placed = graph.steps.get(number);
        steps.extend(placed.map(|placed| OnPath { step: placed.step.name.clone(), took: placed.took, limit }));
        bound = placed.map(|placed| placed.bound.clone());
    }
    steps.reverse();
    CriticalPath { length, steps }
}

struct Graph<'p> {
    plan: &'p Plan,
    steps: Vec<Placed<'p>>,
    by_name: BTreeMap<&'p str, usize>,
}

struct Placed<'p> {
    step: &'p Step,
    took: Seconds,
    bound: Bound,
}

/// When a step can begin at the earliest, after which one, and which limit it is that makes it later than that one's end.
#[derive(Clone, Default)]
struct Bound {
    earliest: Seconds,
    last: Option<usize>,
    limit: Option<Limit>,
}

impl Graph<'_> {
    /// When something can begin that comes after these.
    fn bound(&self, before: &[usize]) -> Bound {
        let mut bound = Bound::default();
        for number in before {
            let Some(placed) = self.steps.get(*number) else { continue };
            let end = placed.bound.earliest + placed.took;
            if bound.last.is_none() || end > bound.earliest {
                bound = Bound { earliest: end, last: Some(*number), limit: None };
            }
        }
        let group = || before.iter().filter_map(|number| self.steps.get(*number));
        let (parallel, down) = (self.plan.intent.parallel.max(1), self.plan.intent.max_unavailable.max(1));
        let moving = group().filter(|placed| placed.step.verb.moves_pods()).map(|placed| (placed, 1));
        let mut limits = vec![(Limit::Parallel(parallel), work(moving, parallel))];
        // One that takes more down than may be comes alone: as if it took just as many.
        let out = group().map(|placed| (placed, placed.step.outages.min(down)));
        limits.push((Limit::MaxUnavailable(down), work(out.filter(|(_, outages)| *outages > 0), down)));
        let mut held: BTreeMap<&ObjectRef, Vec<(&Placed<'_>, usize)>> = BTreeMap::new();
        for placed in group() {
            for object in &placed.step.holds {
                held.entry(object).or_default().push((placed, 1));
            }
        }
        limits.extend(held.into_iter().map(|(object, of)| (Limit::Held(object.clone()), work(of.into_iter(), 1))));
        for (limit, end) in limits {
            if end.is_some_and(|end| end > bound.earliest) {
                bound.earliest = end.unwrap_or_default();
                bound.limit = Some(limit);
            }
        }
        bound
    }
}

/// When this work is done at the earliest, if so many can do it at a time.
fn work<'a>(of: impl Iterator<Item = (&'a Placed<'a>, usize)>, at_a_time: usize) -> Option<Seconds> {
    let (mut from, mut sum) = (None::<Seconds>, 0);
    for (placed, weight) in of {
        from = Some(from.map_or(placed.bound.earliest, |from| from.min(placed.bound.earliest)));
        sum += placed.took.as_millis() * i64::try_from(weight).unwrap_or(i64::MAX);
    }
    Some(from? + Seconds::from_millis(sum / i64::try_from(at_a_time).unwrap_or(1).max(1)))
}

#[cfg(test)]
mod tests {
    use rehome_model::Digest;
    use serde_json::{Value, json};

    use super::*;

    fn step(name: &str, after: &[&str], outages: usize, holds: &[&str]) -> Value {
        let after: BTreeMap<&str, &str> = after.iter().map(|name| (*name, "")).collect();
        let holds: Vec<ObjectRef> =
            holds.iter().map(|name| ObjectRef::namespaced("PodDisruptionBudget", "shop", *name)).collect();
        json!({
            "name": name, "verb": "evict", "lineages": [], "off": [], "onto": [], "after": after, "because": "",
            "requires": [], "establishes": [], "undo": {"undo": "nothing"}, "deadline": 1, "outages": outages,
            "holds": holds,
        })
    }

    fn path(steps: &[Value], parallel: usize, took: &[(&str, i64)]) -> (i64, Vec<String>, Vec<Option<Limit>>) {
        let plan: Plan = serde_json::from_value(json!({
            "apiVersion": "rehome.dev/v1alpha1", "kind": "Plan", "snapshot": Digest::zero(),
            "intent": {"apiVersion": "rehome.dev/v1alpha1", "kind": "Intent", "from": "a", "to": "b",
                "parallel": parallel, "maxUnavailable": 1},
            "cluster": {}, "sources": [], "targets": [], "bystanders": [], "moves": [], "stays": [], "pending": [],
            "waves": [{"name": "w0", "title": "", "steps": steps}], "findings": [],
        }))
        .unwrap();
        let took = took.iter().map(|(name, seconds)| (*name, Seconds::new(*seconds))).collect();
        let CriticalPath { length, steps } = of(&plan, &took);
        let (names, limits) = steps.into_iter().map(|on| (on.step, on.limit)).unzip();
        (length.as_millis() / 1000, names, limits)
    }

    #[test]
    fn the_longest_chain_counts() {
        let steps = [
            step("a", &[], 0, &[]),
            step("b", &["a"], 0, &[]),
            step("c", &["a"], 0, &[]),
            step("d", &["b", "c"], 0, &[]),
        ];
        let (length, names, limits) = path(&steps, 9, &[("a", 1), ("b", 5), ("c", 2), ("d", 1)]);
        assert_eq!((length, names.join(" ").as_str()), (7, "a b d"));
        assert_eq!(limits, [None, None, None]);
    }

    #[test]
    fn work_is_shared_out_over_as_many_as_may_be_under_way() {
        let steps = [
            step("a", &[], 0, &[]),
            step("b", &[], 0, &[]),
            step("c", &[], 0, &[]),
            step("d", &["a", "b", "c"], 0, &[]),
        ];
        let took = [("a", 4), ("b", 4), ("c", 4), ("d", 1)];
        assert_eq!(path(&steps, 3, &took).0, 5);
        let (length, names, limits) = path(&steps, 2, &took);
        assert_eq!((length, names.join(" ").as_str()), (7, "a d"), "12 s of work for two");
        assert_eq!(limits, [Some(Limit::Parallel(2)), None]);
        assert_eq!(path(&steps, 0, &took).0, 13, "none is one");
    }

    #[test]
    fn outages_and_budgets_come_one_after_the_other() {
        let took = [("a", 4), ("b", 3), ("c", 1)];
        let down = [step("a", &[], 1, &[]), step("b", &[], 2, &[]), step("c", &[], 0, &[])];
        let (length, _, limits) = path(&down, 9, &took);
        assert_eq!((length, limits), (7, vec![Some(Limit::MaxUnavailable(1))]));
        let held = [step("a", &[], 0, &["db"]), step("b", &[], 0, &["db", "web"]), step("c", &[], 0, &[])];
        let (length, _, limits) = path(&held, 9, &took);
        let db = ObjectRef::namespaced("PodDisruptionBudget", "shop", "db");
        assert_eq!((length, limits), (7, vec![Some(Limit::Held(db))]));
    }

    #[test]
    fn a_journal_says_how_long_steps_took() {
        let event = |event: Value| serde_json::from_value::<Event>(event).unwrap();
        let record =
            |seq: u64, at: i64, event| Record { seq, at: Timestamp::from_millis(at), prev: Digest::zero(), event };
        let records = [
            record(0, 0, event(json!({"event": "stepStarted", "step": "a", "leaving": [], "known": []}))),
            record(1, 500, event(json!({"event": "stepAlreadyDone", "step": "b"}))),
            record(2, 1500, event(json!({"event": "stepDone", "step": "a"}))),
            record(3, 1600, event(json!({"event": "stepStarted", "step": "c", "leaving": [], "known": []}))),
        ];
        let took = took(&records);
        assert_eq!(took, [("a", Seconds::from_millis(1500)), ("b", Seconds::ZERO)].into());
    }
}
