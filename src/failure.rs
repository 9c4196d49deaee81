//! What the command tells the user when something goes wrong.

use std::fmt;
use std::path::Path;

/// An error as the user reads it: one message that names the file and the way out.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
    /// What clap says of the arguments, if it was clap that refused them.
    arguments: Option<clap::Error>,
}

impl Failure {
    /// A failure with this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 1,
            arguments: None,
        }
    }

    /// A command line that makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: 2,
            ..Self::new(message)
        }
    }

    /// A command line that clap refuses.
    pub(crate) fn arguments(error: clap::Error) -> Self {
        let text = error.to_string();
        let message = text.trim_end();
        Self {
            message: message
                .strip_prefix("error: ")
                .unwrap_or(message)
                .to_owned(),
            code: 2,
            arguments: Some(error),
        }
    }

    /// What clap says, if it was clap that refused the arguments.
    pub(crate) fn into_arguments(self) -> Result<clap::Error, Self> {
        match self.arguments {
            Some(error) => Ok(error),
            None => Err(self),
        }
    }

    /// For `map_err` on file operations: `cannot <verb> <path>: <reason>`.
    pub(crate) fn io<'a>(
        verb: &'a str,
        path: &'a Path,
    ) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |error| Self::new(format!("cannot {verb} {}: {error}", path.display()))
    }

    /// What the command exits with: 1, or 2 where its arguments make no sense.
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
