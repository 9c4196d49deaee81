//! What the command tells the user when something goes wrong.

use std::fmt;
use std::path::Path;

/// An error as the user reads it: one message that names the file and the way out.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message, code: 1 }
    }

    /// A command line that makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message, code: 2 }
    }

    /// For `map_err` on file operations: `cannot <verb> <path>: <reason>`.
    pub fn io<'a>(verb: &'a str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |error| Self::new(format!("cannot {verb} {}: {error}", path.display()))
    }

    /// What the command exits with.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
