//! A run of a sweep: what it is called, and what it is made of.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a text of the file, a file or the output of a command is made of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A file, relative to the folder of the sweep's file.
    File(PathBuf),
    /// What a command prints that a shell runs in that folder.
    Command(String),
}

/// A run of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What it is called.
    pub name: Name,
    /// The designs that one compares with one another: those of one command, or this one alone.
    pub family: String,
    /// The design.
    pub design: Source,
    /// The data [default: those beside the design].
    pub data: Option<Source>,
    /// The file of observations, if the sweep names one.
    pub observe: Option<PathBuf>,
    /// The options of `petal run` for all that is no file of this run.
    pub options: Vec<String>,
    /// Folders with imports, which are among the options.
    pub library: Vec<PathBuf>,
    /// After how many seconds it is stopped.
    pub timeout: u64,
    /// How much memory it may take, such as `2G`.
    pub memory: Option<String>,
    /// Whether its profile is kept.
    pub keeps_profile: bool,
}

/// What a run is called: no two of a sweep have the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name {
    /// The design, with the values of its parameters.
    pub design: String,
    /// These values, by the names of the parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// The pipeline.
    pub passes: String,
    /// The data set.
    pub data: String,
}

impl Name {
    /// The folder of a run below that of all profiles: one level each for design, pipeline and data.
    pub fn folder(&self) -> PathBuf {
        [&self.design, &self.passes, &self.data]
            .map(|part| encoded(part))
            .iter()
            .collect()
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} / {} / {}", self.design, self.passes, self.data)
    }
}

/// A text as the name of a folder, and as the value of a partition: whatever may mean something else is a byte in
/// hexadecimal, as in URLs.
pub fn encoded(text: &str) -> String {
    let mut name = String::new();
    for (at, byte) in text.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric()
            || b"-_,+".contains(&byte)
            || (byte == b'.' && at > 0 && text != "..");
        if is_plain {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}
