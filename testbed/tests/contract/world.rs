//! What a case can do with a world, and how it waits.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rehome_k8s::{Kind, View};
use rehome_model::behaviour::{Behaviour, PodBehaviour};
use rehome_model::time::Seconds;
use rehome_model::verb::Change;
use serde_json::Value;

/// What the API server answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) code: u16,
    /// The reason of the first cause in its details: `DisruptionBudget`.
    pub(crate) cause: Option<String>,
    /// The sentence of that cause, or of the whole answer where there is none.
    pub(crate) message: String,
}

/// A cluster with a namespace and nodes that only this case uses.
pub(crate) trait ContractWorld {
    /// The namespace; also the value of the label `test` of its nodes.
    fn namespace(&self) -> &str;

    /// Makes a node `<namespace>-<suffix>` with this many CPUs.
    fn node(&mut self, suffix: &str, cpu: &str);

    /// The same, and its kubelet leaves attaching volumes to the controller.
    fn attaching_node(&mut self, suffix: &str, cpu: &str);

    /// Creates an object, in the namespace where its kind has one.
    fn create(&mut self, object: &Value) -> Answer;

    /// Deletes an object of the namespace, in the background.
    fn delete(&mut self, kind: Kind, name: &str) -> Answer;

    /// Deletes the namespace, which is held by something in it.
    fn terminate_namespace(&mut self);

    /// Evicts a pod.
    fn evict(&mut self, pod: &str, uid: &str) -> Answer;

    /// Sets a field, if it has the expected value.
    fn set_field(&mut self, change: &Change) -> Answer;

    /// Says that a pod that no kubelet takes up runs, and whether it is Ready.
    fn play_kubelet(&mut self, pod: &str, ready: bool);

    /// Says that every volume that is to be attached is.
    fn play_attacher(&mut self);

    /// What is, of these kinds, by fresh lists.
    fn look(&mut self, kinds: &[Kind]) -> View;

    /// The audit events of the namespace so far, in order.
    fn events(&mut self) -> Vec<Value>;

    /// Lets a moment pass.
    fn pass(&mut self);

    /// How much time has passed since the beginning.
    fn elapsed(&self) -> Seconds;
}

/// Pods with this label are taken up by no kubelet: the case plays it.
pub(crate) const PLAYED: (&str, &str) = ("kubelet", "played");

/// How pods behave in both worlds: at once, unless the case plays the kubelet.
pub(crate) fn behaviour() -> Behaviour {
    // Longer than any test.
    let never = Seconds::new(86_400);
    let labels = std::iter::once((PLAYED.0.to_owned(), PLAYED.1.to_owned())).collect();
    let mut behaviour = Behaviour::prompt();
    behaviour.pods.insert(0, PodBehaviour { labels, start: never, ready: None, jitter: Seconds::ZERO, stop: never });
    behaviour
}

/// Taints that cases put on their nodes, one for each: a pod can tolerate those of the other cases, whose nodes the
/// scheduler sees, too.
pub(crate) const FENCES: [&str; 3] = ["example.test/agent", "example.test/spread", "example.test/fit"];

/// Held by a case that cordons nodes: the scheduler counts those of other cases, and no pod can tolerate only them.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long anything may take that takes a second or two on an idle machine.
const LIMIT: Seconds = Seconds::new(120);

/// Waits until something holds, and gives what was seen then.
pub(crate) fn wait(world: &mut dyn ContractWorld, what: &str, kinds: &[Kind], holds: impl Fn(&View) -> bool) -> View {
    let until = world.elapsed() + LIMIT;
    loop {
        let view = world.look(kinds);
        if holds(&view) {
            return view;
        }
        if world.elapsed() > until {
            let seen: Vec<_> = view.records().collect();
            panic!("waited in vain for {what}; there is {seen:#?}");
        }
        world.pass();
    }
}
