//! What the command tells the user when something goes wrong.

use std::fmt;
use std::path::Path;

/// An error as the user reads it: one message that names the file and the way out.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// For `map_err` on file operations: `cannot <verb> <path>: <reason>`.
    pub fn io<'a>(verb: &'a str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |error| Self(format!("cannot {verb} {}: {error}", path.display()))
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
