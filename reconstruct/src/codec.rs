//! The trace file: a Petal trace as a stream of records, written while the run is read and read
//! again by every later command.
//!
//! Layout: the head, which is the magic text `petal-trace 6\n`, the fingerprint of the metadata and a
//! newline; then records, in blocks with checksums (`blocks.rs`) that need not end where records do.
//! A record is a tag byte and unsigned LEB128 numbers. The last record is the end record; a file
//! without it was cut off. Here are the tags and errors, in `write.rs` and `read.rs` the two directions; `repeats.rs` makes a loop short.

mod read;
mod repeats;
#[cfg(test)]
mod tests;
mod write;

use std::io;

use thiserror::Error;

pub use read::TraceReader;
pub use write::TraceWriter;

const MAGIC: &str = "petal-trace ";

/// Whether a file that begins with these bytes is a Petal trace, of whichever version.
pub fn is_trace(start: &[u8]) -> bool {
    start.starts_with(MAGIC.as_bytes())
}

const VERSION: &str = "6";

/// The head of a trace for the metadata with this fingerprint.
fn head(fingerprint: &str) -> String {
    format!("{MAGIC}{VERSION}\n{fingerprint}\n")
}

/// Tags of records.
const INSTANCE: u8 = 1;
const TREE: u8 = 2;
const RUN: u8 = 3;
const UPDATE: u8 = 4;
const WARNING: u8 = 5;
const END: u8 = 6;
const GAP: u8 = 7;
const FIGURES: u8 = 8;
/// Runs and updates that were told before: as guessed, by number, and the latest ones several times.
const GUESSED: u8 = 9;
const AGAIN: u8 = 10;
const LATEST: u8 = 11;

/// Tags of the nodes of a tree.
const CELL: u64 = 0;
const CONTROL: u64 = 1;
const GROUP: u64 = 2;
const CONTINUOUS: u64 = 3;
const PRIMITIVE: u64 = 4;
/// The same by a `ref` cell.
const CELL_BY_REFERENCE: u64 = 5;
const PRIMITIVE_BY_REFERENCE: u64 = 6;

/// Codes of what a cell's cycle is for. A kind of overhead is [`OVERHEAD`] and its index.
const USEFUL: u64 = 0;
const CONDITION: u64 = 1;
const OVERHEAD: u64 = 2;

/// Why a trace file can't be read.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file can't be read.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// The file is no trace file.
    #[error("this is not a petal trace; profile the design again with `petal run`")]
    Foreign,
    /// The file was written by a petal with another format.
    #[error(
        "the trace has version {version}, but this petal reads version {VERSION}; profile the design again with `petal run`"
    )]
    Version {
        /// The version in the file.
        version: String,
    },
    /// The file belongs to other metadata.
    #[error(
        "the trace was recorded for another metadata file (fingerprint {fingerprint}, not {expected}); profile the design again with `petal run`"
    )]
    OtherDesign {
        /// Fingerprint in the trace.
        fingerprint: String,
        /// Fingerprint in the metadata.
        expected: String,
    },
    /// The file ends in the middle.
    #[error(
        "the trace is cut off after {cycles} cycles; profile the design again with `petal run`"
    )]
    Truncated {
        /// Cycles that were still there.
        cycles: u64,
    },
    /// A record makes no sense.
    #[error(
        "the trace is damaged after {cycles} cycles ({problem}); profile the design again with `petal run`"
    )]
    Damaged {
        /// Cycles that were read before.
        cycles: u64,
        /// What is wrong with the next record.
        problem: &'static str,
    },
}
