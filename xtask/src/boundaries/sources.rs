//! Every library comes from the crates registry: what a git branch or a mirror holds can change under us.

use super::Packages;
use crate::complaint::Complaint;

/// How cargo names the crates registry, in either of its two protocols.
const REGISTRY: &[&str] = &["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

/// See the module.
pub(crate) fn check(packages: &Packages) -> Vec<Complaint> {
    packages
        .theirs()
        .filter_map(|package| {
            let source = package.source.as_deref().unwrap_or_default();
            (!REGISTRY.contains(&source)).then(|| {
                Complaint::about(&package.name, format!("expected the crates registry as its source, found {source}"))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Package;
    use super::*;

    #[test]
    fn a_git_branch_is_found() {
        let from = |source: &str| Packages(vec![Package { source: Some(source.into()), ..Package::default() }]);
        assert_eq!(check(&from("git+https://example.org/x?branch=main")).len(), 1);
        assert_eq!(check(&from(REGISTRY[0])), []);
    }
}
