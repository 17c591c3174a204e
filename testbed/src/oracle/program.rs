//! The two programs of the oracle: found from an earlier build, or built now.

use std::path::{Path, PathBuf};

use fs_err as fs;
use rehome_model::digest::Hasher;

use super::OracleError;
use crate::go::{Build, target_folder, testbed_folder};

/// The Kubernetes that an oracle is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The newest that the scheduler's model knows.
    Newest,
    /// The oldest.
    Floor,
}

impl Version {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Newest, Self::Floor];

    /// The name of the program.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Floor => "floor",
        }
    }

    /// What `go build` is told besides.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Newest => &[],
            Self::Floor => &["-modfile=floor.mod", "-tags=floor"],
        }
    }
}

/// The path of the program of a version: from an earlier build, or built now, which takes minutes the first time. Only
/// one process builds at a time; others wait for it.
///
/// # Errors
/// See [`OracleError`].
pub fn find(version: Version, progress: &dyn Fn(&str)) -> Result<PathBuf, OracleError> {
    let module = testbed_folder().join("oracle");
    let parent = target_folder().join("oracle");
    let folder = parent.join(digest_of(&module)?);
    let program = folder.join(version.name());
    if program.is_file() {
        return Ok(program);
    }
    fs::create_dir_all(&folder)?;
    let lock = std::fs::File::create(parent.join("lock"))?;
    lock.lock()?;
    // Somebody else may have built while we waited for the lock.
    if !program.is_file() {
        let what = format!("the scheduler oracle ({})", version.name());
        progress(&format!("building {what} from its Go module: about 5 minutes the first time"));
        let partial = folder.join(format!("{}.partial", version.name()));
        Build {
            what: &what,
            module: &module,
            output: &partial,
            ldflags: "-s -w",
            flags: version.flags(),
            package: ".",
        }
        .run()?;
        // A build that was cut off leaves nothing that looks whole.
        fs::rename(&partial, &program)?;
        progress(&format!("built {}", program.display()));
    }
    Ok(program)
}

/// The short digest of all files of the Go module: another text is another program.
fn digest_of(module: &Path) -> Result<String, OracleError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(module)? {
        files.push(entry?.path());
    }
    files.sort();
    let mut hasher = Hasher::default();
    for file in files {
        hasher.update(file.file_name().unwrap_or_default().as_encoded_bytes());
        hasher.update(&fs::read(&file)?);
    }
    Ok(hasher.finish().short().to_owned())
}
