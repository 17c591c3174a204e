//! A real control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok for the nodes.
//!
//! Each has a temporary folder for keys, data and logs, and everything listens on free loopback ports, so that many run
//! beside each other. All of it is gone when the [`ControlPlane`] is dropped or its process ends, however it ends.
//! Tests share one ([`ControlPlane::shared`]), with an identity and a namespace each; a test that breaks it starts its
//! own.

mod blocking;
mod error;
mod identity;
mod keys;
mod kubeconfig;
mod programs;
mod supervised;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use fs_err as fs;
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rehome_model::behaviour::Behaviour;
use serde_json::Value;

pub use self::error::ControlPlaneError;
pub use self::identity::{Identity, everything, rule};
pub use self::keys::KeysError;
pub use self::kubeconfig::CLUSTER_NAME;
use self::programs::{Files, Ports};
use self::supervised::{Spec, Supervised};
use crate::assets::Assets;
use crate::clock::{self, TimedOut};
use crate::kwok;

/// How long a start may take. Seen: 4 s to `/readyz` on two idle cores; tests of several crates can run beside it.
const START_LIMIT: Duration = Duration::from_secs(120);

/// How often a start is tried: a port can be taken between our looking and the program's binding.
const START_ATTEMPTS: usize = 3;

/// If set, folders of control planes are kept for a look at their logs.
const KEEP_VARIABLE: &str = "REHOME_TESTBED_KEEP";

/// The file of kube-scheduler's settings, where it has any.
const SCHEDULER_SETTINGS: &str = "scheduler.json";

/// How a control plane is to be.
#[derive(Clone, Debug)]
pub struct Options {
    /// How pods on kwok's nodes behave.
    pub behaviour: Behaviour,
    /// Feature gates of kube-scheduler that are not to have their defaults.
    pub scheduler_gates: Vec<(&'static str, bool)>,
    /// Users whose reads are in the audit log, too.
    pub audited_readers: Vec<&'static str>,
    /// Whether the audit log has the bodies of changes and their answers: every check but counting needs them.
    pub audited_bodies: bool,
    /// kube-scheduler looks at nodes with one thread instead of 16: which nodes it has looked at when it found enough is
    /// then no chance.
    pub one_scheduler_thread: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            behaviour: Behaviour::prompt(),
            scheduler_gates: Vec::new(),
            audited_readers: Vec::new(),
            audited_bodies: true,
            one_scheduler_thread: false,
        }
    }
}

/// A program of a control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// etcd.
    Etcd,
    /// kube-apiserver.
    ApiServer,
    /// kube-controller-manager.
    ControllerManager,
    /// kube-scheduler.
    Scheduler,
    /// kwok: the nodes.
    Kwok,
}

impl Program {
    /// All, in the order in which they start.
    const ALL: [Self; 5] = [Self::Etcd, Self::ApiServer, Self::ControllerManager, Self::Scheduler, Self::Kwok];
}

/// A running control plane. See the module.
#[derive(Debug)]
pub struct ControlPlane {
    // Dropped first: programs end before their folder goes.
    running: Mutex<BTreeMap<Program, Supervised>>,
    specs: BTreeMap<Program, Spec>,
    assets: Assets,
    keys: keys::Keys,
    server: String,
    admin: PathBuf,
    folder: PathBuf,
    // Removes the folder when this process ended without doing it; ends by itself once we hold its pipe no longer.
    _janitor: Option<Child>,
}

impl ControlPlane {
    /// Starts a control plane and waits until it works.
    ///
    /// # Errors
    /// See [`ControlPlaneError`]; the end of the log of the program at fault is in it.
    pub fn start(options: &Options) -> Result<Self, ControlPlaneError> {
        let assets = Assets::find(&say)?;
        let mut attempt = 1;
        loop {
            match Self::start_once(&assets, options) {
                Err(ControlPlaneError::Ended { .. }) if attempt < START_ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    /// The control plane that all tests of this process share, started by the first that asks.
    ///
    /// # Errors
    /// It did not start; every test that asks is told why.
    pub fn shared() -> Result<&'static Self, ControlPlaneError> {
        static SHARED: OnceLock<Result<ControlPlane, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::start(&Options::default()).map_err(|error| error.to_string()));
        shared.as_ref().map_err(|error| ControlPlaneError::Shared(error.clone()))
    }

    fn start_once(assets: &Assets, options: &Options) -> Result<Self, ControlPlaneError> {
        let folder = tempfile::Builder::new().prefix("rehome-testbed-").tempdir()?.keep();
        let janitor = if kept() { None } else { Some(supervised::janitor(&folder)?) };
        let ports = Ports::free()?;
        let keys = keys::Keys::new(&folder.join("keys"))?;
        let server = ports.server();
        let kubeconfig = |user: &str, group: Option<&str>| -> Result<PathBuf, ControlPlaneError> {
            let pair = keys.client(user, group)?;
            Ok(kubeconfig::write(&folder, user, &server, &keys.authority(), &pair)?)
        };
        let admin = kubeconfig("admin", Some("system:masters"))?;
        let (audit_policy, audit_log) = (folder.join("audit-policy.yaml"), folder.join(AUDIT_LOG));
        fs::write(&audit_policy, programs::audit_policy(&options.audited_readers, options.audited_bodies))?;
        fs::write(folder.join(STAGES), kwok::stages(&options.behaviour))?;
        let files = Files {
            folder: &folder,
            authority: &keys.authority(),
            service_accounts: &keys.service_accounts(),
            service_accounts_public: &keys.service_accounts_public(),
            server: &keys.server()?,
            audit_policy: &audit_policy,
            audit_log: &audit_log,
        };
        let scheduler = kubeconfig("system:kube-scheduler", None)?;
        let settings = options.one_scheduler_thread.then(|| folder.join(SCHEDULER_SETTINGS));
        if let Some(file) = &settings {
            fs::write(file, programs::one_thread(&scheduler).to_string())?;
        }
        let specs = BTreeMap::from([
            (Program::Etcd, programs::etcd(assets, ports, &files)),
            (Program::ApiServer, programs::apiserver(assets, ports, &files)),
            (
                Program::ControllerManager,
                programs::controller_manager(assets, &kubeconfig("system:kube-controller-manager", None)?, &files),
            ),
            (
                Program::Scheduler,
                programs::scheduler(assets, &scheduler, settings.as_deref(), &options.scheduler_gates),
            ),
            (
                Program::Kwok,
                programs::kwok(assets, &kubeconfig(kwok::USER, Some("system:masters"))?, &folder.join(STAGES)),
            ),
        ]);
        let plane = Self {
            running: Mutex::default(),
            specs,
            assets: assets.clone(),
            keys,
            server,
            admin,
            folder: folder.clone(),
            _janitor: janitor,
        };
        plane.start_program(Program::Etcd)?;
        plane.start_program(Program::ApiServer)?;
        plane.wait_until_ready()?;
        for program in [Program::ControllerManager, Program::Scheduler, Program::Kwok] {
            plane.start_program(program)?;
        }
        plane.wait_for_service_account("default")?;
        Ok(plane)
    }

    /// The folder with keys, data and logs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The address of the API server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The audit log.
    #[must_use]
    pub fn audit_log(&self) -> PathBuf {
        self.folder.join(AUDIT_LOG)
    }

    /// The kubeconfig of `admin`, who may do everything.
    #[must_use]
    pub fn admin_kubeconfig(&self) -> &Path {
        &self.admin
    }

    /// Makes a user with these rights in all namespaces.
    ///
    /// # Errors
    /// See [`ControlPlaneError`].
    pub fn identity(&self, user: &str, rules: &[PolicyRule]) -> Result<Identity, ControlPlaneError> {
        let pair = self.keys.client(user, None)?;
        let kubeconfig = kubeconfig::write(&self.folder, user, &self.server, &self.keys.authority(), &pair)?;
        self.apply(&identity::role_manifest(user, rules)?)?;
        let identity = Identity { user: user.to_owned(), kubeconfig };
        let Some(review) = identity::review_of(rules) else { return Ok(identity) };
        // The authorizer learns of a role through a watch, a moment after the role was made.
        self.wait_for(Program::ApiServer, &format!("the rights of {user}"), || {
            let review = &review;
            let ask = |client: kube::Client| async move { identity::may(&client, review).await };
            match blocking::with_client(&identity.kubeconfig, ask) {
                Ok(true) => Ok(()),
                Ok(false) => Err("not yet permitted".to_owned()),
                Err(error) => Err(error.to_string()),
            }
        })?;
        Ok(identity)
    }

    /// A client for a kubeconfig of this cluster. Has to be made and used in the same async runtime.
    ///
    /// # Errors
    /// The kubeconfig cannot be used.
    pub async fn client(kubeconfig: &Path) -> Result<kube::Client, ControlPlaneError> {
        let config = Kubeconfig::read_from(kubeconfig)?;
        let mut config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
        // By default the client hides up to 15 answers of 429, 503 and 504 behind tries of its own: a test that asks what
        // an eviction is answered would wait until the budget comes back. Source: kube-client 5, `client/retry.rs`.
        config.default_retry = false;
        Ok(kube::Client::try_from(config)?)
    }

    /// A client as `admin`. Has to be made and used in the same async runtime.
    ///
    /// # Errors
    /// The kubeconfig cannot be used.
    pub async fn admin(&self) -> Result<kube::Client, ControlPlaneError> {
        Self::client(&self.admin).await
    }

    /// Runs kubectl as `admin` and gives what it printed.
    ///
    /// # Errors
    /// kubectl could not be run or ended with another status than 0.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String, ControlPlaneError> {
        self.kubectl_as(&self.admin, arguments, None)
    }

    /// Runs kubectl with a kubeconfig and text on its stdin.
    ///
    /// # Errors
    /// kubectl could not be run or ended with another status than 0.
    pub fn kubectl_as(
        &self,
        kubeconfig: &Path,
        arguments: &[&str],
        input: Option<&str>,
    ) -> Result<String, ControlPlaneError> {
        let mut command = Command::new(self.assets.program("kubectl"));
        command.env("HOME", &self.folder).env_remove("KUBECONFIG").arg("--kubeconfig").arg(kubeconfig).args(arguments);
        let done = supervised::run(&mut command, input)?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        Err(ControlPlaneError::Kubectl {
            arguments: arguments.join(" "),
            status: done.status.to_string(),
            stderr: String::from_utf8_lossy(&done.stderr).trim().to_owned(),
        })
    }

    /// The program `kubectl`, for tests that run it themselves.
    #[must_use]
    pub fn kubectl_program(&self) -> PathBuf {
        self.assets.program("kubectl")
    }

    /// Applies manifests (YAML or JSON, several documents) as `admin`, on the server's side.
    ///
    /// # Errors
    /// See [`ControlPlane::kubectl`].
    pub fn apply(&self, manifests: &str) -> Result<(), ControlPlaneError> {
        let arguments = ["apply", "--server-side", "--field-manager=testbed", "-f", "-"];
        self.kubectl_as(&self.admin, &arguments, Some(manifests)).map(drop)
    }

    /// Makes a namespace and waits until pods can be made in it.
    ///
    /// # Errors
    /// See [`ControlPlaneError`].
    pub fn namespace(&self, name: &str) -> Result<(), ControlPlaneError> {
        let manifest = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.apply(&manifest.to_string())?;
        self.wait_for_service_account(name)
    }

    /// Makes nodes that kwok plays ([`kwok::FakeNode`], or API objects with its annotation) and waits until they are Ready.
    ///
    /// # Errors
    /// See [`ControlPlaneError`].
    pub fn create_nodes(&self, nodes: impl IntoIterator<Item = impl Into<Value>>) -> Result<(), ControlPlaneError> {
        let nodes: Vec<Value> = nodes.into_iter().map(Into::into).collect();
        self.create(&nodes)?;
        let names: Vec<&str> = nodes.iter().filter_map(|node| node["metadata"]["name"].as_str()).collect();
        let arguments: Vec<&str> = ["get", "node", "-o", READY_OF_NODES].into_iter().chain(names).collect();
        self.wait_for(Program::Kwok, "nodes to become Ready", || {
            let ready = self.kubectl(&arguments).map_err(|error| error.to_string())?;
            let count = ready.split_whitespace().filter(|&status| status == "True").count();
            if count == nodes.len() { Ok(()) } else { Err(format!("{count} of {} are Ready", nodes.len())) }
        })
    }

    /// Creates objects as `admin`, in their order. Unlike [`ControlPlane::apply`] it keeps a node's status.
    ///
    /// # Errors
    /// See [`ControlPlane::kubectl`].
    pub fn create(&self, objects: &[Value]) -> Result<(), ControlPlaneError> {
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        self.kubectl_as(&self.admin, &["create", "-f", "-"], Some(&list)).map(drop)
    }

    /// Changes how pods behave from now on: the nodes' program is started again with other stages. Delays that were
    /// running start from the beginning.
    ///
    /// # Errors
    /// See [`ControlPlaneError`].
    pub fn set_behaviour(&self, behaviour: &Behaviour) -> Result<(), ControlPlaneError> {
        fs::write(self.folder.join(STAGES), kwok::stages(behaviour))?;
        self.stop_program(Program::Kwok);
        // Each kwok has an identity of its own, and waits until the lease of the one before has run out.
        self.kubectl(&["delete", "lease", "--namespace=kube-node-lease", "--all"])?;
        self.start_program(Program::Kwok)
    }

    /// Kills a program. Does nothing if it does not run.
    pub fn stop_program(&self, program: Program) {
        // Taken out under the lock, killed outside of it.
        let supervised = self.running().remove(&program);
        drop(supervised);
    }

    /// Starts a program that was stopped; returns at once.
    ///
    /// # Errors
    /// The process could not be made.
    pub fn start_program(&self, program: Program) -> Result<(), ControlPlaneError> {
        if let Some(spec) = self.specs.get(&program) {
            let supervised = Supervised::start(spec, &self.folder)?;
            let before = self.running().insert(program, supervised);
            drop(before);
        }
        Ok(())
    }

    /// Waits until the API server says that it is ready.
    ///
    /// # Errors
    /// It did not in time, or etcd or it ended.
    pub fn wait_until_ready(&self) -> Result<(), ControlPlaneError> {
        self.wait_for(Program::ApiServer, "/readyz of kube-apiserver", || {
            let ask = |client: kube::Client| async move { client.request_text(request("/readyz")?).await };
            blocking::with_client(&self.admin, ask).map(drop).map_err(|error| error.to_string())
        })
    }

    /// Pods cannot be made in a namespace before the controller manager made its default service account.
    fn wait_for_service_account(&self, namespace: &str) -> Result<(), ControlPlaneError> {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/default");
        self.wait_for(Program::ControllerManager, &format!("service account default in {namespace}"), || {
            let path = &path;
            let ask = |client: kube::Client| async move { client.request_text(request(path)?).await };
            blocking::with_client(&self.admin, ask).map(drop).map_err(|error| error.to_string())
        })
    }

    /// Asks until the answer is good, a program has ended, or the limit has passed.
    fn wait_for(
        &self,
        program: Program,
        what: &str,
        mut ask: impl FnMut() -> Result<(), String>,
    ) -> Result<(), ControlPlaneError> {
        let answer = clock::wait_for(what, START_LIMIT, || match self.ended() {
            Some(error) => Ok(Err(error)),
            None => ask().map(Ok),
        });
        answer.unwrap_or_else(|timed_out| Err(self.not_in_time(program, timed_out)))
    }

    fn not_in_time(&self, program: Program, timed_out: TimedOut) -> ControlPlaneError {
        let name = self.specs.get(&program).map_or("", |spec| spec.name);
        ControlPlaneError::NotInTime { timed_out, program: name, log: supervised::log_tail(&self.folder, name) }
    }

    /// The error for the first program that ended by itself.
    fn ended(&self) -> Option<ControlPlaneError> {
        let running = self.running();
        Program::ALL.into_iter().find_map(|program| {
            let (status, spec) = (running.get(&program)?.ended()?, self.specs.get(&program)?);
            let log = supervised::log_tail(&self.folder, spec.name);
            Some(ControlPlaneError::Ended { program: spec.name, status, log })
        })
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<Program, Supervised>> {
        // A test that panicked while it held the lock left a map that is still true.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        let running = std::mem::take(&mut *self.running());
        drop(running);
        if !kept() {
            // The janitor does it again if this did not work.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Prints the status of the condition `Ready` of one node or of a list.
const READY_OF_NODES: &str = r#"go-template={{define "n"}}{{range .status.conditions}}{{if eq .type "Ready"}}{{.status}} {{end}}{{end}}{{end}}{{if .items}}{{range .items}}{{template "n" .}}{{end}}{{else}}{{template "n" .}}{{end}}"#;
/// The audit log's file in the folder.
const AUDIT_LOG: &str = "audit.log";
/// kwok's configuration in the folder.
const STAGES: &str = "stages.yaml";

fn request(path: &str) -> Result<http::Request<Vec<u8>>, kube::Error> {
    http::Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError)
}

fn kept() -> bool {
    std::env::var_os(KEEP_VARIABLE).is_some()
}

#[expect(clippy::print_stderr, reason = "a test that builds for minutes has to say so")]
fn say(line: &str) {
    eprintln!("{line}");
}
