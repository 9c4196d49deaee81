//! The baseline of a run: the figures that a comparison with another run needs, with the source
//! identity of all that they are of. Small enough to be kept beside the design.

mod figures;
mod observed;
mod plausible;
mod synthesis;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use petal_analysis::Period;
use petal_analysis::ledger::ByKind;

pub use observed::{
    AccessFigures, CheckpointFigures, CounterFigures, LatencyFigures, ValueFigures,
};
pub use synthesis::SynthesisFigures;

/// Version of the file format. Files of any other version are refused.
const VERSION: u32 = 2;

/// The figures of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Version of the format; its name tells what the file is.
    #[serde(rename = "petal-baseline")]
    version: u32,
    /// Version of petal that made the profile.
    pub petal: String,
    /// Version of the Calyx compiler that built the design; empty if an older petal wrote the baseline.
    #[serde(default)]
    pub calyx: String,
    /// Name of the design.
    pub design: String,
    /// The passes that compiled the design.
    pub passes: Vec<String>,
    /// The name of the file with its data, if it had one; nothing where an older petal wrote the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// A digest of the contents of its memories before the run; nothing if nobody knew them, or an older petal wrote the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_digest: Option<String>,
    /// Why the run ended before the design was done, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Whether it was made sure that the plain design runs alike.
    #[serde(default)]
    pub verified: bool,
    /// How much was odd in the waveform.
    pub warnings: u64,
    /// Length of the run in cycles.
    pub cycles: u64,
    /// Cycles in which something useful ran, conditions included.
    pub useful: u64,
    /// The part of them in which nothing but conditions was computed.
    pub conditions: u64,
    /// The other cycles.
    #[serde(with = "kinds")]
    pub overhead: ByKind,
    /// The part of them that no statement is charged for.
    pub unplaced: u64,
    /// The source files.
    pub files: Vec<FileIdentity>,
    /// The component cells, in the order in which they first ran.
    pub cells: Vec<CellFigures>,
    /// The groups of the source, by component and name.
    pub groups: Vec<GroupFigures>,
    /// The statements in the order of the source, component by component.
    pub statements: Vec<StatementFigures>,
    /// The frames of `flame`.
    pub frames: Vec<Frame>,
    /// The flame graph.
    pub flame: Vec<FlameNode>,
    /// The latencies that were observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<LatencyFigures>,
    /// The counters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterFigures>,
    /// The memories whose accesses were listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<AccessFigures>,
    /// The checkpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<CheckpointFigures>,
    /// All their stamps in the order of time, each by the position of its checkpoint in the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stamps: Vec<usize>,
    /// The period of the clock, if the user said it.
    #[serde(default, rename = "period_ps", skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// Area and clock, if the design was synthesised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<SynthesisFigures>,
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Its name without folders.
    pub name: String,
    /// A digest of its text.
    pub digest: String,
}

/// The figures of a component cell. `busy` and `control` add up to `cycles`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellFigures {
    /// Its path: `main.queue`.
    pub path: String,
    /// What it is an instance of.
    pub component: String,
    /// How often it was active.
    pub times: u64,
    /// Cycles in which it was active.
    pub cycles: u64,
    /// Those in which it ran a group, a primitive or another cell.
    pub busy: u64,
    /// The others: it only moved its own control along.
    #[serde(with = "kinds", default, skip_serializing_if = "kinds::none")]
    pub control: ByKind,
}

/// The figures of a group of the source, in all instances of its component together, wherever
/// inlining took it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupFigures {
    /// The component that defines it.
    pub component: String,
    /// Its name.
    pub name: String,
    /// How it is timed: `dynamic`, `static` or `comb`.
    pub kind: String,
    /// A digest of its body without its name; `None` where there is no source.
    pub body: Option<String>,
    /// How often it was active.
    pub times: u64,
    /// Cycles in which it was active.
    pub cycles: u64,
    /// What the compiler did to it, as in the table of groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
}

/// The figures of a statement, in all instances of its component together, wherever inlining took
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementFigures {
    /// The component that defines it.
    pub component: String,
    /// How outputs name it: `while@L12`, or `read@L13` for an enable of the group `read`.
    pub label: String,
    /// What it is: `seq`, `while`, `enable` ...
    pub kind: String,
    /// Its text up to the brace or semicolon that ends its head.
    pub text: String,
    /// Where it is written.
    pub place: Option<SourcePlace>,
    /// The line of a front end's file that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<FrontEndPlace>,
    /// The statement of the same component that contains it, by its position in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// How often it was active.
    pub times: u64,
    /// Cycles in which it was active.
    pub cycles: u64,
    /// Cycles of the run that are overhead and charged to it.
    #[serde(with = "kinds", default, skip_serializing_if = "kinds::none")]
    pub overhead: ByKind,
}

impl StatementFigures {
    /// Cycles of the run that are charged to it.
    pub fn charged(&self) -> u64 {
        self.overhead.iter().sum()
    }
}

/// A place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePlace {
    /// The file, by its position in the list.
    pub file: usize,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

/// A line of a front end's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontEndPlace {
    /// The file, as outputs name it.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Its text without the white space around it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A frame of the flame graph.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frame {
    /// A statement, by its position in the list.
    Statement(usize),
    /// A group, by its position in the list.
    Group(usize),
    /// Anything else, by its label.
    Label(String),
}

/// A node of the flame graph, in preorder: its depth (the root's is 0), its frame by its position in
/// the list, and its share of the run as a leaf, in thousandths of a cycle. All together are the run's cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameNode(pub usize, pub usize, pub u64);

/// Why a baseline can't be read.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// The file is no baseline.
    #[error(
        "{path} is not a petal baseline: {source}; write one with `petal baseline`, or name the folder of a profile, \
         or a Calyx program whose name ends in `.futil`"
    )]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// The file was written by a petal with another format.
    #[error(
        "{path} is a baseline of version {found}, but this petal reads version {VERSION}; write it again with \
         `petal baseline`"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u32,
    },
    /// The figures do not fit together.
    #[error("{path} is damaged: {problem}; write it again with `petal baseline`")]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        problem: String,
    },
}

#[derive(Deserialize)]
struct VersionOnly {
    #[serde(rename = "petal-baseline")]
    version: u32,
}

impl Baseline {
    /// Parses the text of a baseline file; `path` is only for error messages.
    ///
    /// # Errors
    /// When it is no baseline file, is of another version, or its figures do not fit together.
    pub fn from_json(text: &str, path: &Path) -> Result<Self, BaselineError> {
        let syntax = |source| BaselineError::Syntax {
            path: path.to_owned(),
            source,
        };
        let VersionOnly { version } = serde_json::from_str(text).map_err(syntax)?;
        if version != VERSION {
            return Err(BaselineError::Version {
                path: path.to_owned(),
                found: version,
            });
        }
        let baseline: Self = serde_json::from_str(text).map_err(syntax)?;
        baseline
            .check()
            .map_err(|problem| BaselineError::Inconsistent {
                path: path.to_owned(),
                problem,
            })?;
        Ok(baseline)
    }

    /// The text of the baseline file: JSON with a line for each cell, group and statement, so that
    /// version control shows what changed.
    pub fn to_json(&self) -> String {
        let whole = serde_json::to_value(self).expect("the keys are texts");
        let fields = whole.as_object().expect("a struct is an object");
        let mut text = String::from("{");
        for (at, (key, value)) in fields.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\n\"{key}\": ");
            match value.as_array() {
                Some(rows) if rows.iter().any(serde_json::Value::is_object) => {
                    let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
                    let _ = write!(text, "[\n{}\n]", rows.join(",\n"));
                }
                _ => {
                    let _ = write!(text, "{value}");
                }
            }
        }
        text.push_str("\n}\n");
        text
    }

    /// Cycles that are not useful.
    pub fn total_overhead(&self) -> u64 {
        self.overhead.iter().sum()
    }
}

/// Cycles by kind of overhead as an object that has only the kinds that occur.
mod kinds {
    use std::collections::BTreeMap;

    use petal_reconstruct::Overhead;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use petal_analysis::ledger::ByKind;

    pub(super) fn none(overhead: &ByKind) -> bool {
        overhead.iter().all(|&cycles| cycles == 0)
    }

    pub(super) fn serialize<S: Serializer>(
        overhead: &ByKind,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let named: BTreeMap<String, u64> = Overhead::ALL
            .iter()
            .zip(overhead)
            .filter(|&(_, &cycles)| cycles > 0)
            .map(|(kind, &cycles)| (kind.to_string(), cycles))
            .collect();
        named.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<ByKind, D::Error> {
        let mut overhead = ByKind::default();
        for (name, cycles) in BTreeMap::<String, u64>::deserialize(deserializer)? {
            let kind = Overhead::ALL
                .into_iter()
                .find(|kind| kind.to_string() == name)
                .ok_or_else(|| D::Error::custom(format!("`{name}` is no kind of overhead")))?;
            overhead[kind.index()] = cycles;
        }
        Ok(overhead)
    }
}
