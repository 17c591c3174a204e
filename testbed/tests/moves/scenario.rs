//! What is to be moved: the scenario of six nodes, or a case of `cases/`.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rehome_k8s::View;
use rehome_model::Timestamp;
use rehome_model::behaviour::Behaviour;
use rehome_model::intent::Intent;
use rehome_model::plan::Plan;
use rehome_model::verb::Verb;
use rehome_run::read;
use rehome_sim::SimWorld;
use rehome_testbed::scenario::six_to_six as six;

use crate::moved;

/// What is to be moved.
pub(crate) struct Scenario {
    pub(crate) before: View,
    pub(crate) plan: Plan,
    pub(crate) behaviour: Behaviour,
    pub(crate) begins: Timestamp,
}

/// A case of `cases/`.
pub(crate) fn case(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases").join(name);
    let loaded = read::path(&folder.join("cluster")).unwrap();
    let intent: Intent = read::document::read(&folder.join("intent.yaml")).unwrap().document;
    let plan = rehome_plan::plan(&loaded.view, loaded.digest.clone(), &intent).unwrap();
    assert_eq!(plan.blockers().count(), 0, "{name}");
    let file = folder.join("behaviour.yaml");
    let behaviour = if file.exists() {
        read::document::read::<Behaviour>(&file).unwrap().document
    } else {
        rehome_sim::measured::behaviour_from(&loaded.view).behaviour
    };
    Scenario { before: loaded.view, plan, behaviour, begins: loaded.snapshot.taken }
}

/// The scenario of six nodes.
pub(crate) fn six_to_six() -> Scenario {
    let before = moved::cluster();
    let plan = moved::plan(&before);
    Scenario { before, plan, behaviour: six::behaviour_during(11), begins: moved::WINDOW }
}

impl Scenario {
    /// A world that is to be moved.
    pub(crate) fn world(&self, seed: u64) -> SimWorld {
        SimWorld::new(self.before.clone(), self.behaviour.clone(), seed, self.begins)
    }

    /// How many pods the plan says that are to leave.
    pub(crate) fn due(&self) -> usize {
        let lineages = |verb: &Verb| match verb {
            Verb::Restart(restart) => restart.lineage.pods,
            Verb::Evict(evict) => evict.lineages.iter().map(|lineage| lineage.pods).sum(),
            Verb::Delete(delete) => delete.lineage.pods,
            Verb::Change(_) | Verb::Wait(_) | Verb::ProveEmpty(_) => 0,
        };
        self.plan.steps().map(|step| lineages(&step.verb)).sum()
    }
}

/// Runs `work` for every number below `count` on two threads.
pub(crate) fn on_two_threads(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    work(index);
                }
            });
        }
    });
}
