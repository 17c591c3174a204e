//! The simulated cluster as a world of the contract.

use rehome_engine::world::World as _;
use rehome_k8s::attachment::CONTROLLER_MANAGED;
use rehome_k8s::{Key, Kind, Record, View};
use rehome_model::request::{Cause, Request};
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::time::Seconds;
use rehome_model::verb::Change;
use rehome_model::{ObjectRef, Timestamp, Uid};
use rehome_sim::SimWorld;
use rehome_sim::api::{CreateFailed, http_code};
use rehome_sim::controllers::Mutation;
use rehome_testbed::kwok::FakeNode;
use serde_json::{Value, json};

use crate::world::{Answer, ContractWorld, behaviour};

pub(crate) struct Simulated {
    world: SimWorld,
}

const NAMESPACE: &str = "contract";
const USER: &str = "contract";
/// As often as the real world is looked at.
const MOMENT: Seconds = Seconds::from_millis(50);

impl Simulated {
    pub(crate) fn new() -> Self {
        let start = Timestamp::from_millis(1_800_000_000_000);
        let mut world = SimWorld::new(View::new(ClusterIdentity::default()), behaviour(), 1, start);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        world.create(USER, &namespace.to_string()).unwrap();
        Self { world }
    }

    fn answer(result: Result<(), Cause>, good: u16) -> Answer {
        let Err(cause) = result else { return Answer { code: good, ..Answer::default() } };
        let (reason, message) = match &cause {
            Cause::Budget { message, .. } => (Some("DisruptionBudget"), message.clone()),
            Cause::NamespaceTerminating { message } => (Some("NamespaceTerminating"), message.clone()),
            Cause::SeveralBudgets { message }
            | Cause::OtherIncarnation { message }
            | Cause::Conflict { message }
            | Cause::Invalid { message, .. } => (None, message.clone()),
            other => (None, other.to_string()),
        };
        Answer { code: http_code(&cause), cause: reason.map(str::to_owned), message }
    }
}

impl ContractWorld for Simulated {
    fn namespace(&self) -> &str {
        NAMESPACE
    }

    fn node(&mut self, suffix: &str, cpu: &str) {
        let node = FakeNode::new(&format!("{NAMESPACE}-{suffix}")).label("test", NAMESPACE).cpu(cpu);
        let mut manifest = node.manifest();
        manifest["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
        self.world.create(USER, &manifest.to_string()).unwrap();
    }

    fn attaching_node(&mut self, suffix: &str, cpu: &str) {
        self.node(suffix, cpu);
        let key = Key::cluster(format!("{NAMESPACE}-{suffix}"));
        let Some(Record::Node(node)) = self.world.truth().get(Kind::Node, &key) else { panic!("no {key}") };
        let mut node = (**node).clone();
        node.meta.annotations.insert(CONTROLLER_MANAGED.to_owned(), "true".to_owned());
        self.world.mutate(USER, Mutation::Update(Record::Node(std::sync::Arc::new(node))));
    }

    fn play_attacher(&mut self) {
        // The simulated attacher is as quick as the controller.
    }

    fn create(&mut self, object: &Value) -> Answer {
        let mut object = object.clone();
        if Kind::by_name(object["kind"].as_str().unwrap()).is_some_and(Kind::namespaced) {
            object["metadata"]["namespace"] = NAMESPACE.into();
        }
        match self.world.create(USER, &object.to_string()) {
            Ok(_) => Answer { code: 201, ..Answer::default() },
            Err(error @ CreateFailed::Refused { .. }) => Answer { code: 403, cause: None, message: error.to_string() },
            Err(error) => Answer { code: 409, cause: None, message: error.to_string() },
        }
    }

    fn delete(&mut self, kind: Kind, name: &str) -> Answer {
        let done = self.world.mutate(USER, Mutation::Delete(kind, Key::new(NAMESPACE, name)));
        Answer { code: if done.is_some() { 200 } else { 404 }, ..Answer::default() }
    }

    fn terminate_namespace(&mut self) {
        self.world.terminate_namespace(NAMESPACE);
    }

    fn evict(&mut self, pod: &str, uid: &str) -> Answer {
        let request = Request::Evict { pod: ObjectRef::pod(NAMESPACE, pod), uid: Uid::from(uid) };
        Self::answer(self.world.answer(USER, &request, None), 201)
    }

    fn set_field(&mut self, change: &Change) -> Answer {
        Self::answer(self.world.answer(USER, &Request::SetField(change.clone()), None), 200)
    }

    fn play_kubelet(&mut self, pod: &str, ready: bool) {
        let found = self.world.truth().pod(&Key::new(NAMESPACE, pod)).unwrap();
        let mut played = (**found).clone();
        played.phase = rehome_k8s::pod::Phase::Running;
        played.ready = ready;
        self.world.mutate("kubelet", Mutation::Status(Record::Pod(std::sync::Arc::new(played))));
    }

    fn look(&mut self, _kinds: &[Kind]) -> View {
        self.world.truth().clone()
    }

    fn events(&mut self) -> Vec<Value> {
        self.world.audit_events().collect()
    }

    fn pass(&mut self) {
        self.world.advance(MOMENT);
    }

    fn elapsed(&self) -> Seconds {
        self.world.now() - Timestamp::from_millis(1_800_000_000_000)
    }
}
