//! How an activation is called.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// The activation of something, and what is near it: `main.while@L377#1000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The path of a cell from main; or with a statement or group of it, by its label.
    pub(super) path: String,
    /// Which activation, from 1 on.
    pub(super) number: NonZeroU64,
}

impl FromStr for Around {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, number) = text.rsplit_once('#').unwrap_or((text, "1"));
        let number = number.parse().map_err(|_| {
            format!("`{number}` is no number of an activation; write one from 1 on, such as main.while@L12#1000")
        })?;
        Ok(Self {
            path: path.to_owned(),
            number,
        })
    }
}

impl fmt::Display for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.path, self.number)
    }
}
