//! Reading and writing the metadata file, with its version check.

use std::hash::Hasher as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use siphasher::sip::SipHasher13;
use thiserror::Error;

use crate::schema::Metadata;

/// Version of the schema. Files of any other version are refused.
pub const VERSION: u32 = 5;

/// Why metadata can't be read.
#[derive(Debug, Error)]
pub enum MetadataError {
    /// The file can't be read.
    #[error("cannot read the metadata file {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is not petal metadata.
    #[error(
        "{path} is not a petal metadata file: {source}; write it again with `petal run` or `petal instrument`"
    )]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// The file was written by a petal with another schema.
    #[error(
        "{path} has metadata version {version}, but this petal reads version {VERSION}; write it again with `petal run` or `petal instrument`"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        version: u32,
    },
    /// The file's tables do not fit together.
    #[error("{path} is damaged: {problem}; write it again with `petal run` or `petal instrument`")]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// The table entry, and what it refers to.
        problem: String,
    },
    /// The file is not what petal wrote.
    #[error(
        "{path} was changed after petal wrote it: its contents do not fit its fingerprint {fingerprint}; write it again with `petal run` or `petal instrument`"
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The fingerprint in the file.
        fingerprint: String,
    },
}

#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

impl Metadata {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When the file can't be read, is no metadata file, is of another version, refers to entries
    /// that it does not have, or was changed.
    pub fn read(path: &Path) -> Result<Self, MetadataError> {
        let text = petal_files::read_to_string(path).map_err(|source| MetadataError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::from_json(&text, path)
    }

    /// Parses the text of a metadata file; `path` is only for error messages.
    ///
    /// # Errors
    /// As [`Metadata::read`], but for reading.
    pub fn from_json(text: &str, path: &Path) -> Result<Self, MetadataError> {
        let syntax = |source| MetadataError::Syntax {
            path: path.to_owned(),
            source,
        };
        let VersionOnly { version } = serde_json::from_str(text).map_err(syntax)?;
        if version != VERSION {
            return Err(MetadataError::Version {
                path: path.to_owned(),
                version,
            });
        }
        let metadata: Self = serde_json::from_str(text).map_err(syntax)?;
        metadata
            .check()
            .map_err(|problem| MetadataError::Inconsistent {
                path: path.to_owned(),
                problem,
            })?;
        if metadata.digest() != metadata.fingerprint {
            return Err(MetadataError::Changed {
                path: path.to_owned(),
                fingerprint: metadata.fingerprint,
            });
        }
        Ok(metadata)
    }

    /// Sets the [fingerprint](Self::fingerprint). It has to come last: whatever is changed later
    /// makes the metadata unreadable.
    pub fn seal(&mut self) {
        self.fingerprint = self.digest();
    }

    /// What the fingerprint has to be: `SipHash-1-3` of the metadata without it, as JSON.
    fn digest(&self) -> String {
        let unsealed = Self {
            fingerprint: String::new(),
            ..self.clone()
        };
        let text = serde_json::to_vec(&unsealed).expect("the schema has only string keys");
        let mut hasher = SipHasher13::new();
        hasher.write(&text);
        format!("{:016x}", hasher.finish())
    }

    /// The text of the metadata file.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("the schema has only string keys");
        text.push('\n');
        text
    }
}
