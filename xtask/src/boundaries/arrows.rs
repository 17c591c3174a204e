//! The arrows between our crates, and which crate may know which library.
//!
//! A crate exists only where it forbids a dependency that must never appear, so this table is the architecture.

use super::{Dependency, Package, Packages};
use crate::complaint::Complaint;

/// What one of our packages may know.
struct Allowed {
    /// The package.
    name: &'static str,
    /// The packages of the workspace that it may depend on.
    ours: &'static [&'static str],
    /// Why no more.
    because: &'static str,
}

/// All packages of the workspace. One that is missing here is refused.
const ARROWS: &[Allowed] = &[
    Allowed { name: "rehome-model", ours: &[], because: "the documents rest on nothing" },
    Allowed {
        name: "rehome-k8s",
        ours: &["rehome-model"],
        because: "what Kubernetes means does not depend on what we do with it",
    },
    Allowed {
        name: "rehome-sched",
        ours: &["rehome-k8s", "rehome-model"],
        because: "the scheduler's model serves planning and simulation alike",
    },
    Allowed {
        name: "rehome-plan",
        ours: &["rehome-k8s", "rehome-model", "rehome-sched"],
        because: "a plan is a pure function of snapshot and intent: it can't ask a world",
    },
    Allowed {
        name: "rehome-engine",
        ours: &["rehome-k8s", "rehome-model"],
        because: "the machine carries out any plan, in any world",
    },
    Allowed {
        name: "rehome-sim",
        ours: &["rehome-engine", "rehome-k8s", "rehome-model", "rehome-sched"],
        because: "the simulated world must not know what the planner hopes for",
    },
    Allowed {
        name: "rehome-kube",
        ours: &["rehome-engine", "rehome-k8s", "rehome-model"],
        because: "the adapter translates; it does not plan",
    },
    Allowed {
        name: "rehome-run",
        ours: &[
            "rehome-engine",
            "rehome-k8s",
            "rehome-kube",
            "rehome-model",
            "rehome-plan",
            "rehome-sched",
            "rehome-sim",
        ],
        because: "the use cases join all others",
    },
    Allowed {
        name: "rehome",
        ours: &[
            "rehome-engine",
            "rehome-k8s",
            "rehome-kube",
            "rehome-model",
            "rehome-plan",
            "rehome-run",
            "rehome-sched",
            "rehome-sim",
        ],
        because: "the command line is shipped: it can't rest on the testbed",
    },
    Allowed {
        name: "rehome-testbed",
        ours: &[
            "rehome",
            "rehome-engine",
            "rehome-k8s",
            "rehome-kube",
            "rehome-model",
            "rehome-plan",
            "rehome-run",
            "rehome-sched",
            "rehome-sim",
        ],
        because: "the testbed sees all",
    },
    Allowed {
        name: "rehome-mutants",
        ours: &["rehome-k8s", "rehome-testbed"],
        because: "it asks the testbed's questions with rules made wrong",
    },
    Allowed { name: "xtask", ours: &["rehome-model"], because: "the project's tasks must build in seconds" },
];

/// A library that only some packages may know, tests included.
struct Reserved {
    /// The library.
    name: &'static str,
    /// Who may know it.
    only: &'static [&'static str],
    /// Why.
    because: &'static str,
}

/// Libraries with a home.
const RESERVED: &[Reserved] = &[
    Reserved {
        name: "kube",
        only: &["rehome-kube", "rehome-testbed"],
        because: "one crate speaks to the API server; a change of client is one crate's concern",
    },
    Reserved {
        name: "k8s-openapi",
        only: &["rehome-k8s", "rehome-kube", "rehome-testbed"],
        because: "API types are for decoding; everything else sees records",
    },
    Reserved {
        name: "tokio",
        only: &["rehome-kube", "rehome-run", "rehome", "rehome-testbed"],
        because: "only adapters are async: what a machine does can't hang on an executor's order",
    },
    Reserved {
        name: "futures",
        only: &["rehome-kube", "rehome-run", "rehome", "rehome-testbed"],
        because: "only adapters are async",
    },
    Reserved {
        name: "fs-err",
        only: &["rehome-run", "rehome", "rehome-testbed", "rehome-mutants", "xtask"],
        because: "files are read and written by use cases, not by what they are made of",
    },
    Reserved { name: "clap", only: &["rehome"], because: "arguments are the command line's" },
    Reserved { name: "indicatif", only: &["rehome"], because: "user text is the command line's" },
    Reserved { name: "anstream", only: &["rehome"], because: "user text is the command line's" },
    Reserved { name: "rand", only: &[], because: "randomness is seeded: rehome-sim has its own generator" },
];

/// See the module.
pub(crate) fn check(packages: &Packages) -> Vec<Complaint> {
    packages.ours().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Complaint> {
    let Some(allowed) = ARROWS.iter().find(|allowed| allowed.name == package.name) else {
        let message = "expected an entry in xtask/src/boundaries/arrows.rs: say what it may depend on, and why";
        return vec![Complaint::about(&package.name, message)];
    };
    let refuse = |dependency: &Dependency| {
        let name = dependency.name.as_str();
        if dependency.local {
            // A package may name itself in its tests, to switch on a feature.
            let known = allowed.ours.contains(&name) || name == package.name;
            return (!known).then(|| format!("may not depend on {name}: {}", allowed.because));
        }
        let reserved = RESERVED.iter().find(|reserved| reserved.name == name)?;
        (!reserved.only.contains(&package.name.as_str()))
            .then(|| format!("may not depend on {name}: {}", reserved.because))
    };
    package.dependencies.iter().filter_map(refuse).map(|message| Complaint::about(&package.name, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependency: &str, local: bool) -> Packages {
        let dependency = Dependency { name: dependency.into(), local, ..Dependency::default() };
        Packages(vec![Package { name: name.into(), dependencies: vec![dependency], ..Package::default() }])
    }

    #[test]
    fn an_arrow_against_the_grain_is_refused() {
        assert_eq!(check(&package("rehome-model", "rehome-k8s", true)).len(), 1);
        assert_eq!(check(&package("rehome-k8s", "rehome-model", true)), []);
        assert_eq!(check(&package("rehome-sim", "rehome-plan", true)).len(), 1);
    }

    #[test]
    fn a_library_with_a_home_is_refused_elsewhere() {
        assert_eq!(check(&package("rehome-engine", "tokio", false)).len(), 1);
        assert_eq!(check(&package("rehome-kube", "tokio", false)), []);
        assert_eq!(check(&package("rehome-run", "kube", false)).len(), 1);
    }

    #[test]
    fn a_package_without_an_entry_is_refused() {
        assert_eq!(check(&package("rehome-new", "serde", false)).len(), 1);
    }

    #[test]
    fn the_table_has_no_circle() {
        // An arrow points only to packages that stand before it, but for the last of all: a table in layers.
        for (index, allowed) in ARROWS.iter().enumerate() {
            for ours in allowed.ours {
                let at = ARROWS.iter().position(|other| other.name == *ours);
                assert!(at.is_some_and(|at| at < index), "{} → {ours}", allowed.name);
            }
        }
    }
}
