//! Users of a place, and from when on their rights are in force.

use std::path::{Path, PathBuf};

use rehome_model::exit;
use rehome_testbed::clock;

use crate::place::{LIMIT, Place};

impl Place {
    /// A user with the rights that `rehome rbac` prints with these arguments, and the kubeconfig.
    pub(crate) fn user(&self, user: &str, arguments: &[&str]) -> PathBuf {
        let arguments = [&["rbac"], arguments, &["--to-user", user]].concat();
        let roles = self.expect(exit::DONE, &arguments).stdout;
        // Without rights of its own; those come from what was printed.
        let identity = self.plane.identity(user, &[]).unwrap();
        self.plane.apply(&roles).unwrap();
        self.wait_until_may(&identity.kubeconfig, &["list", "pods", "--all-namespaces"]);
        identity.kubeconfig
    }

    /// The authorizer learns of roles through watches, a moment after they were made.
    pub(crate) fn wait_until_may(&self, kubeconfig: &Path, what: &[&str]) {
        let arguments = [&["auth", "can-i"], what].concat();
        clock::wait_for("rights to be in force", LIMIT, || {
            self.plane.kubectl_as(kubeconfig, &arguments, None).map(drop).map_err(|error| error.to_string())
        })
        .unwrap();
    }
}
