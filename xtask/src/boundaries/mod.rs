//! `cargo xtask boundaries`: who may depend on whom and on what, from `cargo metadata`, without network.
//!
//! Does by itself what cargo-deny's `bans`, `licenses` and `sources` do: those read the same metadata, while installing
//! cargo-deny costs a build of 400 crates on each new machine, and its fourth part needs an advisory database that
//! cannot be fetched everywhere. The tables are data at the top of each file.

use serde_json::Value;

use crate::complaint::Complaint;

mod arrows;
mod bans;
mod licences;
mod sources;

/// What cargo says about one package.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// The licence as an SPDX expression, if it gives one.
    pub(crate) licence: Option<String>,
    /// Where it comes from; `None` for packages of the workspace.
    pub(crate) source: Option<String>,
    /// What its manifest depends on.
    pub(crate) dependencies: Vec<Dependency>,
}

/// One dependency of a manifest, for its code, its build script or its tests: an arrow is an arrow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependency {
    /// The name of the package.
    pub(crate) name: String,
    /// The version that is asked for.
    pub(crate) wanted: String,
    /// Whether it lies in the workspace.
    pub(crate) local: bool,
}

/// The packages of a build.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packages(pub(crate) Vec<Package>);

impl Packages {
    /// Reads the answer of `cargo metadata`.
    #[must_use]
    pub(crate) fn of_metadata(metadata: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
        Self(
            items(&metadata["packages"])
                .iter()
                .map(|package| Package {
                    name: text(&package["name"]).unwrap_or_default(),
                    version: text(&package["version"]).unwrap_or_default(),
                    licence: text(&package["license"]),
                    source: text(&package["source"]),
                    dependencies: items(&package["dependencies"])
                        .iter()
                        .map(|dependency| Dependency {
                            name: text(&dependency["name"]).unwrap_or_default(),
                            wanted: text(&dependency["req"]).unwrap_or_default(),
                            local: !dependency["path"].is_null(),
                        })
                        .collect(),
                })
                .collect(),
        )
    }

    /// The packages of the workspace.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Package> {
        self.0.iter().filter(|package| package.source.is_none())
    }

    /// The packages of others.
    pub(crate) fn theirs(&self) -> impl Iterator<Item = &Package> {
        self.0.iter().filter(|package| package.source.is_some())
    }
}

/// All complaints about the packages.
#[must_use]
pub(crate) fn check(packages: &Packages) -> Vec<Complaint> {
    [arrows::check, bans::check, licences::check, sources::check].iter().flat_map(|check| check(packages)).collect()
}
