//! Where the programs of a control plane come from: a folder that the caller names, or a build of our two Go modules.
//!
//! It knows how they are found and built. How they are started is in [`crate::control_plane`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rehome_model::digest::Hasher;

use crate::go::{Build, GoError, target_folder, testbed_folder};

/// The programs that a control plane needs.
pub const PROGRAMS: [&str; 6] =
    ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok"];

/// The programs that are one file, which looks at the name it is called by (`controlplane/main.go`).
const IN_ONE_FILE: [&str; 5] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"];

/// The variable that names a folder with ready programs; controller-runtime's `envtest` reads the same one.
pub const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";

/// The files that decide what a build gives. The folder of a build is named by their digest.
const INPUTS: [&str; 5] =
    ["controlplane/go.mod", "controlplane/go.sum", "controlplane/main.go", "kwok/go.mod", "kwok/go.sum"];

/// A folder that holds all of [`PROGRAMS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assets {
    folder: PathBuf,
}

/// Why there are no programs.
#[derive(Debug, thiserror::Error)]
pub enum AssetsError {
    /// Go is not installed, and no folder with programs was named.
    #[error(
        "expected the program `go` (to build {missing}), found none in PATH. Install Go 1.26 or newer from \
         https://go.dev/dl/, or set {ASSETS_VARIABLE} to a folder that holds {}",
        PROGRAMS.join(", ")
    )]
    NoGo {
        /// What it was needed for.
        missing: String,
    },
    /// A build failed.
    #[error("`go build` of {what} in {folder} failed ({status}); what it said last:\n{complaint}")]
    Build {
        /// What was built.
        what: String,
        /// The Go module.
        folder: PathBuf,
        /// How `go` ended.
        status: String,
        /// The end of its output.
        complaint: String,
    },
    /// A build was said to have worked, but a program is not there.
    #[error("expected {program} in {folder} after the build, found none")]
    Incomplete {
        /// The folder.
        folder: PathBuf,
        /// The program.
        program: &'static str,
    },
    /// `go.mod` does not require Kubernetes.
    #[error("expected a line `k8s.io/kubernetes vX.Y.Z` in {file}, found none")]
    NoVersion {
        /// The file.
        file: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Assets {
    /// The programs: from `KUBEBUILDER_ASSETS` if that names a complete folder, otherwise from an earlier build, and
    /// otherwise built now, which takes minutes. Only one process builds at a time; others wait for it.
    ///
    /// # Errors
    /// See [`AssetsError`].
    pub fn find(progress: &dyn Fn(&str)) -> Result<Self, AssetsError> {
        if let Some(folder) = variable(ASSETS_VARIABLE).map(PathBuf::from) {
            match missing_in(&folder) {
                None => return Ok(Self { folder }),
                Some(program) => progress(&format!(
                    "{ASSETS_VARIABLE} names {}, which has no {program}: building instead",
                    folder.display()
                )),
            }
        }
        Self::built(&target_folder().join("controlplane"), progress)
    }

    /// The programs built in `parent`, from an earlier time or now.
    fn built(parent: &Path, progress: &dyn Fn(&str)) -> Result<Self, AssetsError> {
        let folder = parent.join(inputs_digest()?);
        if missing_in(&folder).is_none() {
            return Ok(Self { folder });
        }
        fs::create_dir_all(parent)?;
        let lock = std::fs::File::create(parent.join("lock"))?;
        lock.lock()?;
        // Somebody else may have built while we waited for the lock.
        if missing_in(&folder).is_some() {
            build(&folder, progress)?;
        }
        match missing_in(&folder) {
            None => Ok(Self { folder }),
            Some(program) => Err(AssetsError::Incomplete { folder, program }),
        }
    }

    /// The folder that holds the programs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of one of [`PROGRAMS`].
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn missing_in(folder: &Path) -> Option<&'static str> {
    PROGRAMS.into_iter().find(|program| !folder.join(program).is_file())
}

fn inputs_digest() -> Result<String, AssetsError> {
    let mut hasher = Hasher::default();
    for input in INPUTS {
        hasher.update(input.as_bytes());
        hasher.update(&fs::read(testbed_folder().join(input))?);
    }
    Ok(hasher.finish().short().to_owned())
}

/// Builds into a folder beside the wanted one, and renames: a build that was cut off leaves nothing that looks whole.
fn build(folder: &Path, progress: &dyn Fn(&str)) -> Result<(), AssetsError> {
    let partial = folder.with_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir_all(&partial)?;
    let version = kubernetes_version()?;
    progress(&format!("building etcd and Kubernetes {version} from Go modules: about 8 minutes the first time"));
    let controlplane = testbed_folder().join("controlplane");
    Build {
        what: "the control plane",
        module: &controlplane,
        output: &partial.join("controlplane"),
        ldflags: &ldflags(&version),
        flags: &[],
        package: ".",
    }
    .run()?;
    progress("building kwok from its Go module: about 1 minute the first time");
    let kwok = testbed_folder().join("kwok");
    Build {
        what: "kwok",
        module: &kwok,
        output: &partial.join("kwok"),
        ldflags: "-s -w",
        flags: &[],
        package: "sigs.k8s.io/kwok/cmd/kwok",
    }
    .run()?;
    for name in IN_ONE_FILE {
        fs::os::unix::fs::symlink("controlplane", partial.join(name))?;
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::rename(&partial, folder)?;
    progress(&format!("built into {}", folder.display()));
    Ok(())
}

/// The version of Kubernetes that `controlplane/go.mod` requires.
fn kubernetes_version() -> Result<String, AssetsError> {
    let file = testbed_folder().join("controlplane/go.mod");
    version_in(&fs::read_to_string(&file)?).ok_or(AssetsError::NoVersion { file })
}

fn version_in(go_mod: &str) -> Option<String> {
    let mut words = go_mod.lines().map(str::split_whitespace);
    words.find_map(|mut line| (line.next()? == "k8s.io/kubernetes").then(|| line.next())?).map(str::to_owned)
}

/// Without these the programs say that they are v0.0.0, and clients take their API for an old one.
fn ldflags(version: &str) -> String {
    let mut numbers = version.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let package = "k8s.io/component-base/version";
    format!("-s -w -X {package}.gitVersion={version} -X {package}.gitMajor={major} -X {package}.gitMinor={minor}")
}

impl From<GoError> for AssetsError {
    fn from(error: GoError) -> Self {
        match error {
            GoError::Missing { missing } => Self::NoGo { missing },
            GoError::Failed { what, folder, status, complaint } => Self::Build { what, folder, status, complaint },
            GoError::Io(error) => Self::Io(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_go_mod() {
        let text = "module x\n\nrequire (\n\tk8s.io/kubectl v0.0.0\n\tk8s.io/kubernetes v1.37.2\n)\n";
        assert_eq!(version_in(text).as_deref(), Some("v1.37.2"));
        assert_eq!(version_in("module x\n"), None);
        assert!(kubernetes_version().unwrap().starts_with("v1."));
    }

    #[test]
    fn the_programs_say_their_version() {
        assert!(ldflags("v1.37.2").contains("gitMinor=37"));
    }

    #[test]
    fn a_folder_without_a_program_is_not_complete() {
        let folder = tempfile::tempdir().unwrap();
        for name in &PROGRAMS[..5] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(missing_in(folder.path()), Some("kwok"));
    }

    #[test]
    fn without_go_the_error_says_how_to_get_it() {
        let text = AssetsError::NoGo { missing: "kwok".to_owned() }.to_string();
        assert!(text.contains("go.dev/dl") && text.contains(ASSETS_VARIABLE) && text.contains("kube-scheduler"));
    }
}
