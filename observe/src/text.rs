//! The text of an expression, as users write it.

use serde::Deserialize;
use toml::Spanned;

/// The text of an expression, with its place in the file if it is from one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Spanned<String>")]
pub struct Text {
    /// The text.
    pub text: String,
    /// Its first byte in the file.
    pub at: Option<usize>,
    /// The option of the command line that it is from, such as `--watch`.
    pub option: Option<String>,
}

impl From<Spanned<String>> for Text {
    fn from(text: Spanned<String>) -> Self {
        Self {
            at: Some(text.span().start),
            text: text.into_inner(),
            option: None,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            at: None,
            option: None,
        }
    }
}

impl Text {
    /// What is called by this name, or else by its text.
    pub(crate) fn name(&self, name: Option<&String>) -> String {
        name.unwrap_or(&self.text).clone()
    }
}
