//! Libraries that must not be in the build at all, those that must be there once, and versions that must not be open.

use std::collections::BTreeSet;

use super::Packages;
use crate::complaint::Complaint;

/// Never in the build, however deep.
const NEVER: &[(&str, &str)] = &[
    ("openssl", "TLS is rustls: nothing of the machine's is linked"),
    ("openssl-sys", "TLS is rustls: nothing of the machine's is linked"),
    ("native-tls", "TLS is rustls: nothing of the machine's is linked"),
    ("chrono", "times are jiff's, as kube and k8s-openapi have them"),
    ("serde_yaml", "unmaintained; YAML is serde-saphyr's"),
    ("serde_yml", "unmaintained; YAML is serde-saphyr's"),
];

/// At most one version in the build: their types cross the borders of our crates.
const ONCE: &[&str] = &[
    "bytes",
    "http",
    "http-body",
    "hyper",
    "jiff",
    "k8s-openapi",
    "kube",
    "rustls",
    "schemars",
    "serde",
    "serde_json",
    "tokio",
];

/// See the module.
pub(crate) fn check(packages: &Packages) -> Vec<Complaint> {
    let mut found = Vec::new();
    for package in packages.theirs() {
        if let Some((name, because)) = NEVER.iter().find(|(name, _)| *name == package.name) {
            found.push(Complaint::about(
                *name,
                format!("may not be in the build: {because} (see `cargo tree -i {name}`)"),
            ));
        }
    }
    for name in ONCE {
        let versions: BTreeSet<&str> =
            packages.theirs().filter(|package| package.name == *name).map(|package| package.version.as_str()).collect();
        if versions.len() > 1 {
            let versions: Vec<&str> = versions.into_iter().collect();
            found.push(Complaint::about(*name, format!("expected one version, found {}", versions.join(" and "))));
        }
    }
    for package in packages.ours() {
        for dependency in package.dependencies.iter().filter(|dependency| !dependency.local && dependency.wanted == "*")
        {
            let message = format!("expected a version for {}, found *", dependency.name);
            found.push(Complaint::about(&package.name, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Dependency, Package};
    use super::*;

    fn theirs(name: &str, version: &str) -> Package {
        Package { name: name.into(), version: version.into(), source: Some("registry".into()), ..Package::default() }
    }

    #[test]
    fn a_banned_library_is_found_and_its_neighbour_is_not() {
        let found = check(&Packages(vec![theirs("openssl", "1.0.0"), theirs("openssl-probe", "1.0.0")]));
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn a_second_version_is_found_where_types_cross_borders_only() {
        let found = check(&Packages(vec![theirs("jiff", "0.2.0"), theirs("jiff", "0.3.0")]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(check(&Packages(vec![theirs("syn", "2.0.0"), theirs("syn", "3.0.0")])), []);
    }

    #[test]
    fn a_version_that_is_left_open_is_found() {
        let any = |wanted: &str| {
            let dependency = Dependency { name: "serde".into(), wanted: wanted.into(), ..Dependency::default() };
            Packages(vec![Package {
                name: "rehome-model".into(),
                dependencies: vec![dependency],
                ..Package::default()
            }])
        };
        assert_eq!(check(&any("*")).len(), 1);
        assert_eq!(check(&any("^1")), []);
    }
}
