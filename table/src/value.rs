//! A value in a table, and how it is written.

use serde_json::Value as Json;

use crate::text::{grouped, printable, thousands};

/// A value in a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A whole number that may be negative.
    Signed(i64),
    /// A number with two decimals.
    Decimal(f64),
    /// A number with four decimals.
    Fraction(f64),
    /// A number that is not whole, as it is written: `0.5`, `-inf` or `nan`.
    Number(String),
    /// Several texts.
    Texts(Vec<String>),
    /// Nothing.
    Empty,
    /// Something that is not known.
    Unknown,
}

/// From here on the decimals of a number mean nothing.
const LARGE: f64 = 1000.0;

/// Up to here they tell much of it.
const SMALL: f64 = 10.0;

impl Value {
    /// `part` of `whole` in per cent.
    #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
    pub fn percent(part: u64, whole: u64) -> Self {
        if whole == 0 {
            Self::Empty
        } else {
            Self::Decimal(part as f64 * 100.0 / whole as f64)
        }
    }

    /// A whole number, if it is known.
    pub fn or_unknown(count: Option<u64>) -> Self {
        count.map_or(Self::Unknown, Self::Count)
    }

    /// `total` divided by `count`.
    #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
    pub fn average(total: u64, count: u64) -> Self {
        if count == 0 {
            Self::Empty
        } else {
            Self::Decimal(total as f64 / count as f64)
        }
    }

    /// The number, if it is one that is not whole.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Decimal(number) | Self::Fraction(number) => Some(*number),
            // Each `nan(0x…)` is none, too.
            Self::Number(text) => Some(text.parse().unwrap_or(f64::NAN)),
            _ => None,
        }
    }

    /// As in data files: digits only.
    pub fn plain(&self) -> String {
        match self {
            Self::Text(text) | Self::Number(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Signed(number) => number.to_string(),
            Self::Decimal(number) => format!("{number:.2}"),
            Self::Fraction(number) => format!("{number:.4}"),
            Self::Texts(texts) => texts.join(" | "),
            Self::Empty | Self::Unknown => String::new(),
        }
    }

    /// As for people: thousands separated, and a text on one line.
    pub(crate) fn pretty(&self) -> String {
        match self {
            Self::Text(text) => printable(text).replace('\t', " "),
            Self::Count(count) => thousands(*count),
            Self::Number(text) => text.clone(),
            Self::Signed(_) | Self::Decimal(_) | Self::Fraction(_) => grouped(&self.plain()),
            Self::Texts(_) => printable(&self.plain()).replace('\t', " "),
            Self::Empty => String::new(),
            Self::Unknown => "–".to_owned(),
        }
    }

    /// The same without decimals, if it is a number that has any.
    pub(crate) fn pretty_whole(&self) -> String {
        match self {
            Self::Decimal(number) => grouped(&format!("{number:.0}")),
            _ => self.pretty(),
        }
    }

    /// Whether hundredths of it mean nothing.
    pub(crate) fn is_large(&self) -> bool {
        matches!(self, Self::Decimal(number) if number.abs() >= LARGE)
    }

    /// Whether it is more than nothing, and so small that it is told by its decimals.
    pub(crate) fn is_small(&self) -> bool {
        matches!(self, Self::Decimal(number) if number.fract() != 0.0 && number.abs() < SMALL)
    }

    /// Whether it is the figure that stands for none.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Count(0) | Self::Empty) || *self == Self::Decimal(0.0)
    }

    /// As JSON.
    pub fn json(&self) -> Json {
        match self {
            Self::Text(text) => Json::from(text.as_str()),
            Self::Count(count) => Json::from(*count),
            Self::Signed(number) => Json::from(*number),
            Self::Decimal(number) => Json::from((number * 100.0).round() / 100.0),
            Self::Fraction(number) => Json::from((number * 10_000.0).round() / 10_000.0),
            // JSON has no other numbers than finite ones.
            Self::Number(text) => match self.number().filter(|number| number.is_finite()) {
                Some(number) => Json::from(number),
                None => Json::from(text.as_str()),
            },
            Self::Texts(texts) => Json::from(texts.as_slice()),
            Self::Empty | Self::Unknown => Json::Null,
        }
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}
