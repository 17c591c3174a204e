//! P6: from a file of kubectl's to a snapshot with its digest and its view, as `check --file` and `size` begin.
//!
//! Each run is a process of its own (this program, started with [`CHILD`]), because the most memory that a process ever
//! had is what is asked, and the generator has had more.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::figures::{RUNS, Row, Unit};
use super::stopwatch::{Took, timed};
use super::{BenchError, whole};
use capture_file::Spelling;

pub mod capture_file;

/// Seconds that the issue allows.
const SECONDS: f64 = 2.0;
/// Peak of resident memory that the issue allows, in MiB.
const MEBIBYTES: f64 = 500.0;
/// The argument with which a process of its own loads a file and says what that took.
pub const CHILD: &str = "load-file";

/// What a process that loaded a file says of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Said {
    /// Seconds by the clock on the wall.
    wall: f64,
    /// Seconds on a processor.
    processor: f64,
    /// The most resident memory of the process, in KiB; none where the system does not say.
    peak: Option<u64>,
    /// How many objects there were.
    objects: usize,
    /// And how many of them were pods.
    pods: usize,
}

/// Loads a file in this process.
///
/// # Errors
/// It cannot be loaded.
pub fn load(file: &Path) -> Result<Said, BenchError> {
    let (loaded, took) = timed(|| rehome_run::read::path(file));
    let loaded = loaded.map_err(|error| BenchError::Otherwise {
        what: format!("loading {}", file.display()),
        expected: "a cluster".to_owned(),
        found: format!("{error}: {}", error.fault),
    })?;
    let (objects, pods) = (loaded.snapshot.objects.len(), loaded.view.pods().count());
    Ok(Said { wall: took.wall, processor: took.processor, peak: peak(), objects, pods })
}

/// The most resident memory that this process ever had, in KiB.
/// Source: Linux, `Documentation/filesystems/proc.rst`, `VmHWM` of `/proc/<pid>/status`.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

/// Measures the rows: the file of 30,000 pods in both spellings of JSON, and a tenth of them in YAML.
///
/// # Errors
/// See [`BenchError`].
pub fn rows(mut print: impl FnMut(Row)) -> Result<(), BenchError> {
    let folder = tempfile::tempdir()?;
    let tenth = whole::Size { nodes: whole::Size::FULL.nodes / 10, occupied: whole::Size::FULL.occupied / 10 };
    let files = [
        ("compact, with managedFields", whole::Size::FULL, Spelling::Compact, true),
        ("as kubectl indents it", whole::Size::FULL, Spelling::Kubectl, true),
        ("the same, two containers to a pod", whole::Size::FULL, Spelling::Kubectl, false),
        ("YAML", tenth, Spelling::Yaml, true),
    ];
    for (how, size, spelling, lean) in files {
        let file = folder.path().join(if spelling == Spelling::Yaml { "cluster.yaml" } else { "cluster.json" });
        let mut out = BufWriter::new(fs::File::create(&file)?);
        capture_file::write(whole::objects(size), spelling, lean, &mut out)?;
        out.flush()?;
        drop(out);
        let bytes = fs::metadata(&file)?.len();
        let said = (0..RUNS).map(|_| in_a_process(&file)).collect::<Result<Vec<_>, _>>()?;
        fs::remove_file(&file)?;
        let (pods, objects) = said.first().map_or((0, 0), |said| (said.pods, said.objects));
        let what = format!("load {pods} pods among {objects} objects, {} MB {how}", bytes / 1_000_000);
        let took: Vec<Took> = said.iter().map(|said| Took { wall: said.wall, processor: said.processor }).collect();
        let time = Row::timed("P6", what, Unit::Seconds, &took, |seconds| seconds);
        #[expect(clippy::cast_precision_loss, reason = "KiB of a process")]
        let peaks = said.iter().filter_map(|said| said.peak).map(|peak| peak as f64 / 1024.0).collect();
        let memory = Row::counted("P6", "and the most memory while doing so", Unit::Mebibytes, peaks);
        // The file; what is larger, and YAML, is printed beside it.
        let asked = lean && spelling != Spelling::Yaml;
        print(if asked { time.target(SECONDS) } else { time });
        print(if asked { memory.target(MEBIBYTES) } else { memory });
    }
    Ok(())
}

/// Loads a file in a process of its own.
fn in_a_process(file: &Path) -> Result<Said, BenchError> {
    let output = Command::new(std::env::current_exe()?).arg(CHILD).arg(file).output()?;
    serde_json::from_slice(&output.stdout).map_err(|error| BenchError::Otherwise {
        what: "a process that loads a file".to_owned(),
        expected: "what that took".to_owned(),
        found: format!("{error}; {}", String::from_utf8_lossy(&output.stderr).trim()),
    })
}
