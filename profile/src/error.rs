//! What keeps a design from being profiled, or a profile from being read.

use std::fmt;
use std::path::{Path, PathBuf};

/// An error as the user reads it: one message that names the file and the way out.
#[derive(Debug)]
pub struct Error {
    message: String,
    kind: ErrorKind,
}

/// Whose the error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The design, its data, the simulation or a file is at fault.
    Failed,
    /// What was asked for makes no sense.
    Usage,
    /// Somebody asked to stop.
    Interrupted,
}

impl Error {
    /// The design, its data, the simulation or a file is at fault.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: ErrorKind::Failed,
        }
    }

    /// What was asked for makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Usage,
            ..Self::new(message)
        }
    }

    /// Somebody asked to stop.
    pub fn interrupted() -> Self {
        Self {
            kind: ErrorKind::Interrupted,
            ..Self::new("interrupted")
        }
    }

    /// For `map_err` on file operations: `cannot <verb> <path>: <reason>`.
    pub fn io<'a>(verb: &'a str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |error| {
            let error = error.to_string();
            // Behind it, `tempfile` tells what the draft is called.
            let (reason, _) = error.split_once(" at path \"").unwrap_or((&error, ""));
            Self::new(format!("cannot {verb} {}: {reason}", path.display()))
        }
    }

    /// For `map_err` where a temporary folder is made.
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub fn no_scratch(error: std::io::Error) -> Self {
        Self::new(format!("cannot make a temporary folder: {error}"))
    }

    /// The same, of this line of an input.
    #[must_use]
    pub fn in_line(self, line: usize) -> Self {
        Self {
            message: format!("line {line}: {}", self.message),
            ..self
        }
    }

    /// Whose it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The errors of other rooms, whose messages are for the user already.
macro_rules! from {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::new(error.to_string())
            }
        })+
    };
}

from!(
    petal_analysis::FiguresError,
    petal_data::Error,
    petal_embedded::Error,
    petal_metadata::MetadataError,
    petal_program::ProgramError,
    petal_reconstruct::ReconstructError<Error>,
    petal_reconstruct::SourceError,
    petal_reconstruct::TraceError,
    petal_reconstruct::violations::Violation,
    petal_verilator::Error,
    serde_json::Error,
);

#[cfg(feature = "tables")]
from!(petal_table::arrow::TableError);

/// Lines of events could not be written; for the errors of a writer that [`Reporter::events`](crate::Reporter::events) gives, since the
/// file is none of the profile.
#[derive(Debug)]
pub struct Unwritten {
    /// Where they go.
    pub file: PathBuf,
    /// Why not.
    pub error: std::io::Error,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.file.display(), self.error)
    }
}

impl std::error::Error for Unwritten {}

impl From<petal_passes::PassesError> for Error {
    fn from(error: petal_passes::PassesError) -> Self {
        let message = error.to_string();
        match error {
            petal_passes::PassesError::Pipeline(_) => Self::usage(message),
            _ => Self::new(message),
        }
    }
}
