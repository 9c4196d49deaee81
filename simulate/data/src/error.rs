//! The errors of data files: on which file, at which place, and what is wrong there.
//!
//! Owns their texts. Problems inside a data file are listed in [`crate::problem`].

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::problem::DataProblem;

/// Why memories could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, such as `read`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },

    /// A data file is not JSON, or not of the right form.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Json {
        /// The data file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },

    /// A data file does not fit itself or the design.
    #[error("the memories do not fit:{}", listed(path, problems))]
    Data {
        /// The data file.
        path: PathBuf,
        /// All that does not fit, at least one.
        problems: Vec<DataProblem>,
    },

    /// A memory file that a run should have left is wrong.
    #[error("{}:{line}: {message}", path.display())]
    MemoryFile {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

impl Error {
    /// Makes an [`Error::Io`] for `path`; `action` completes "cannot ...".
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

fn listed(path: &Path, problems: &[DataProblem]) -> String {
    let mut text = String::new();
    for problem in problems {
        // Writing to a String cannot fail.
        let _ = match problem.position {
            Some(at) => write!(
                text,
                "\n{}:{}:{}: {problem}",
                path.display(),
                at.line,
                at.column
            ),
            None => write!(text, "\n{}: {problem}", path.display()),
        };
    }
    text
}
