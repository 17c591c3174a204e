//! The speed of rehome, row by row: what is measured, on what, how often, and what it should be.
//!
//! `cargo xtask bench sched` prints the table. Knows how clusters of a shape are made and how time is taken; no test
//! asserts a time, because a machine that is shared tells little.

pub mod figures;
pub mod objects;
pub mod openb;
pub mod p1_openb;
pub mod p2_shapes;
pub mod p3_drainable;
pub mod p4_rehearsal;
pub mod p5_loss;
pub mod p6_growth;
pub mod p6_load;
pub mod p7_same_bytes;
pub mod shapes;
pub mod stopwatch;
pub mod table;
pub mod whole;

#[cfg(test)]
mod tests;

use rehome_k8s::ingest::IngestError;

use crate::oracle::OracleError;

/// Why a row cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file of the trace cannot be read, or a file cannot be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A line of the trace is not what it should be.
    #[error("{file}, line {line}: expected {expected}, found {found:?}")]
    Line {
        /// The file.
        file: String,
        /// The line, from one.
        line: usize,
        /// What it should hold.
        expected: &'static str,
        /// What it holds.
        found: String,
    },
    /// An object of a generator cannot be decoded.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The peer does not answer.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// What was measured did not do what it should.
    #[error("{what}: expected {expected}, found {found}")]
    Otherwise {
        /// What was looked at.
        what: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
}
