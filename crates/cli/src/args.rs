//! The arguments. What they mean is the commands' concern.

mod flavor;
mod journal;
mod rbac;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
pub(crate) use flavor::flavor;
pub(crate) use journal::{Continue, Copy, Status};
pub(crate) use rbac::Rbac;
use rehome_model::flavor::Flavor;
use rehome_model::intent::{Consent, ConsentTo, Loss};
use rehome_model::{ObjectRef, intent::Intent};

/// Moves a running Kubernetes cluster onto different machines: looks first, plans, rehearses, moves, and proves it.
#[derive(Debug, Parser)]
#[command(name = "rehome", version, max_term_width = 120, disable_help_subcommand = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Results go to standard output, progress and errors to standard error.

Exit codes:
  0 done              1 unexpected error     2 usage, unreadable input
  3 blocked           5 the plan is stale    6 rolled back
  7 stuck             8 verification failed  9 interrupted
 10 changes pending

Try it without a cluster: rehome demo";

/// Arguments of all commands.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Format of the result. On a pipe or a file, `capture` and `plan` write json unless told otherwise
    #[arg(short, long, global = true, value_enum, value_name = "FORMAT")]
    pub(crate) output: Option<Output>,
    /// When to colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// Nothing on standard error but errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// Formats of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    Table,
    /// For people, every detail
    Wide,
    /// The document
    Json,
    /// The document
    Yaml,
    /// Names of the objects in it, one a line
    Name,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Also in pipes and files
    Always,
    /// Not at all
    Never,
}

impl Color {
    /// Sets it for both streams.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// What rehome can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take a snapshot of the cluster: read-only, safe to send to a colleague
    Capture(Capture),
    /// Say how many nodes of a flavor the cluster needs, which rule says so, and what they will hold
    Size(Box<Size>),
    /// Say what stands in the way of a move, and how to mend it
    Check(Check),
    /// Plan the move: what, how, in which order, and why
    Plan(PlanArgs),
    /// Show any document of rehome to a person
    Show(Show),
    /// Carry the plan out on a simulated twin of the cluster
    Rehearse(Rehearse),
    /// Approve a plan, so that it can be carried out where nobody can be asked
    Approve(Approve),
    /// Carry the plan out on the cluster
    Execute(Execute),
    /// Go on with a run that was interrupted, got stuck or crashed
    Resume(Continue),
    /// Put back what a run changed and still owns
    Rollback(Continue),
    /// Say how far a run is
    Status(Status),
    /// Compare the cluster after the move with the one before
    Verify(Verify),
    /// Print the least rights that a capture, a run or one plan needs, for kubectl apply
    Rbac(Rbac),
    /// See the whole job on a made-up cluster, in seconds; needs no cluster
    Demo(Demo),
    /// Say which version this is
    Version,
}

/// Arguments of `capture`.
#[derive(Debug, Args)]
pub(crate) struct Capture {
    /// Write the snapshot to a file, and show what is in it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: Source,
}

/// What to move from where to where.
#[derive(Debug, Args)]
pub(crate) struct Wish {
    /// The nodes to empty: a label selector (pool=old) or names separated by commas
    #[arg(long, value_name = "NODES", required_unless_present = "intent")]
    pub(crate) from: Option<String>,
    /// The nodes to fill, in the same form
    #[arg(long, value_name = "NODES", required_unless_present = "intent")]
    pub(crate) to: Option<String>,
    /// An Intent document instead of --from and --to
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to"])]
    pub(crate) intent: Option<PathBuf>,
    /// Agree to a disruption, once for each: delete-past-budget=Kind/namespace/name or delete-bare-pod=Pod/namespace/name
    /// (a name of * means all of that kind in the namespace)
    #[arg(long = "consent", value_name = "WHAT=OBJECT", value_parser = consent)]
    pub(crate) consents: Vec<Consent>,
    /// How many units may be on the move at the same time; the Intent's, or 4, unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) parallel: Option<u32>,
    /// How many workloads may be without a Ready pod at the same time; the Intent's, or 1, unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_unavailable: Option<u32>,
}

impl Wish {
    /// The intent, less what a file would add.
    pub(crate) fn intent(&self) -> Intent {
        let mut intent = Intent::new(self.from.clone().unwrap_or_default(), self.to.clone().unwrap_or_default());
        self.add_to(&mut intent);
        intent
    }

    /// Puts what was given beside a file over what the file says.
    pub(crate) fn add_to(&self, intent: &mut Intent) {
        intent.consents.extend(self.consents.iter().cloned());
        let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        intent.parallel = self.parallel.map_or(intent.parallel, count);
        intent.max_unavailable = self.max_unavailable.map_or(intent.max_unavailable, count);
    }
}

/// Arguments of `size`.
#[derive(Debug, Args)]
pub(crate) struct Size {
    /// What one new node is, once for each to compare: cpu=4,memory=16Gi and, if known, name=, provider=, zone= (again for
    /// each), pods=, attach=, disk=, capacity=, price=, label:KEY=VALUE, taint:KEY=VALUE:EFFECT, RESOURCE=N
    #[arg(long = "flavor", value_name = "FLAVOR", value_parser = flavor, required_unless_present = "catalogue")]
    pub(crate) flavors: Vec<Flavor>,
    /// A Catalogue document of flavors to compare
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,
    /// The nodes to replace: a label selector or names; all but control planes unless given
    #[arg(long, value_name = "NODES")]
    pub(crate) from: Option<String>,
    /// New nodes that are there already, and are what is being sized
    #[arg(long, value_name = "NODES")]
    pub(crate) to: Option<String>,
    /// An Intent document, for its nodes and its wishes about size
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to"])]
    pub(crate) intent: Option<PathBuf>,
    /// The least number of nodes; the Intent's, or 3, unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5000))]
    pub(crate) floor: Option<u32>,
    /// The loss after which everything must fit again; the Intent's, or node, unless given
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) survive: Option<Survive>,
    /// Ask this Prometheus for peaks: pods are sized by their memory's peak where it is above their request
    #[arg(long, value_name = "URL")]
    pub(crate) prometheus: Option<String>,
    /// The time before now over which peaks are taken: 7d, 36h
    #[arg(long, value_name = "TIME", default_value = "7d", requires = "prometheus")]
    pub(crate) window: String,
    /// Write a picture of the nodes before and after, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write the sizing to a file, and show it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: Source,
}

/// What a target must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Survive {
    /// No loss
    Nothing,
    /// The loss of any one node
    Node,
    /// The loss of any one node, and of any one zone
    Zone,
}

impl From<Survive> for Loss {
    fn from(survive: Survive) -> Self {
        match survive {
            Survive::Nothing => Self::Nothing,
            Survive::Node => Self::Node,
            Survive::Zone => Self::Zone,
        }
    }
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) wish: Wish,
    #[command(flatten)]
    pub(crate) source: Source,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) wish: Wish,
    /// Write the plan to a file, and show it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Exit with 10 instead of 0 if the plan changes anything
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    #[command(flatten)]
    pub(crate) source: Source,
}

/// A cluster: files, or a connection.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// Look at a Snapshot, or at files of `kubectl get … -o json|yaml`, instead of a cluster (`-` is standard input)
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A Snapshot, Sizing, Plan, Rehearsal, Approval, Verification, Intent, Behaviour or Catalogue, or a journal
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Arguments of `rehearse`.
#[derive(Debug, Args)]
pub(crate) struct Rehearse {
    /// The plan
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// The Snapshot that the plan was made from, or the files
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) snapshot: PathBuf,
    /// How many orders of ties and races to try
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: u64,
    /// A Behaviour document instead of the durations in the snapshot
    #[arg(long, value_name = "FILE")]
    pub(crate) behaviour: Option<PathBuf>,
    /// Write the rehearsal to a file, and show it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `approve`.
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The plan
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// Who approves it; your login name unless given
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Write the approval to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `execute`.
#[derive(Debug, Args)]
pub(crate) struct Execute {
    /// The plan, exactly as it was approved
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// An Approval of that plan: needed where nobody can be asked
    #[arg(long, value_name = "FILE")]
    pub(crate) approval: Option<PathBuf>,
    /// The journal of the run; beside the plan unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Give up a run that was begun and never finished
    #[arg(long, value_name = "RUN", conflicts_with = "no_cluster_journal")]
    pub(crate) instead_of: Option<String>,
    #[command(flatten)]
    pub(crate) copy: Copy,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The plan that was carried out
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// The Snapshot that the plan was made from, or the files
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) before: PathBuf,
    /// A Snapshot, or files, from after the move; the cluster as it is now unless given
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) after: Option<PathBuf>,
    /// Write the verification to a file, and show it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where its documents go
    #[arg(long, value_name = "DIR", default_value = "rehome-demo")]
    pub(crate) dir: PathBuf,
}

/// kubectl's connection flags.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Connection {
    /// The kubeconfig file; KUBECONFIG or ~/.kube/config unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The cluster in the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// The user in the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// The API server's address
    #[arg(short, long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Act as this user
    #[arg(long = "as", value_name = "USER")]
    pub(crate) impersonate: Option<String>,
    /// Act as a member of this group, once for each
    #[arg(long = "as-group", value_name = "GROUP")]
    pub(crate) impersonate_groups: Vec<String>,
    /// How long one answer may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) request_timeout: Option<u64>,
}

/// As kubectl takes it: `30`, `30s`, `5m`, `1h`; 0 is no limit.
fn seconds(text: &str) -> Result<u64, String> {
    let (number, factor) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60),
        Some(number) if text.ends_with('h') => (number, 3600),
        Some(number) => (number, 1),
        None => (text, 1),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor))
        .ok_or_else(|| "expected 30, 30s, 5m or 1h".to_owned())
}

fn consent(text: &str) -> Result<Consent, String> {
    const EXPECTED: &str = "expected delete-past-budget=Kind/namespace/name or delete-bare-pod=Pod/namespace/name";
    let (what, object) = text.split_once('=').ok_or(EXPECTED)?;
    let to = match what {
        "delete-past-budget" => ConsentTo::DeletePastBudget,
        "delete-bare-pod" => ConsentTo::DeleteBarePod,
        _ => return Err(EXPECTED.to_owned()),
    };
    match object.split('/').collect::<Vec<_>>()[..] {
        [kind, namespace, name] if [kind, namespace, name].iter().all(|part| !part.is_empty()) => {
            Ok(Consent { to, object: ObjectRef::namespaced(kind, namespace, name) })
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

/// The name under which the program was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invoked {
    /// `rehome`.
    Alone,
    /// `kubectl-rehome`, which kubectl runs for `kubectl rehome`.
    ByKubectl,
}

impl Invoked {
    fn of(argv0: Option<&OsString>) -> Self {
        let stem = argv0.and_then(|path| Path::new(path).file_stem()).map(|stem| stem.to_string_lossy().into_owned());
        if stem.as_deref() == Some("kubectl-rehome") { Self::ByKubectl } else { Self::Alone }
    }

    /// What a person types.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Alone => "rehome",
            Self::ByKubectl => "kubectl rehome",
        }
    }
}

/// Reads the arguments.
pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<(Cli, Invoked), clap::Error> {
    let args: Vec<OsString> = args.collect();
    let invoked = Invoked::of(args.first());
    let command = Cli::command().bin_name(invoked.program());
    let mut matches = command.try_get_matches_from(args)?;
    let cli = Cli::from_arg_matches_mut(&mut matches)?;
    Ok((cli, invoked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_consent_names_what_and_for_which_object() {
        let parsed = consent("delete-past-budget=StatefulSet/kernel-data/kernel-postgres").unwrap();
        assert_eq!(parsed.object, ObjectRef::namespaced("StatefulSet", "kernel-data", "kernel-postgres"));
        assert!(consent("delete-everything=Pod/a/b").is_err());
        assert!(consent("delete-bare-pod=a/b").is_err());
    }

    #[test]
    fn a_timeout_is_written_as_kubectl_writes_it() {
        assert_eq!(["0", "30", "30s", "5m", "1h"].map(|text| seconds(text).unwrap()), [0, 30, 30, 300, 3600]);
        assert!(seconds("soon").is_err());
    }
}
