//! What a column of a table is called, and what it holds.

use anstyle::Style;

use crate::style::{BETTER, DIM, WORSE};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Texts that come again and again.
    Text,
    /// Lists of texts.
    Texts,
    /// Cycles, lines and counts, of which differences may be taken, and other whole numbers that may be negative.
    Number,
    /// Values in hardware, of up to 64 bits.
    Bits,
    /// Numbers that are not whole.
    Decimal,
}

/// What a heading, such as `FSM update %`, is called as a column of a database: `fsm_update_percent`.
pub fn column_name(heading: &str) -> String {
    let words = heading.replace('%', "percent").to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("_")
}

/// What happens to prose where there is no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prose {
    /// Its end is left out.
    Cut,
    /// It goes on in more lines.
    Folded,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What it is called: the heading, and the key in JSON.
    pub name: String,
    /// The heading for people, where that is another one.
    pub title: Option<&'static str>,
    /// What it holds.
    pub kind: Kind,
    /// Whether a row may have nothing in it.
    pub is_optional: bool,
    /// What happens to the prose that it holds where there is no room for it; `None` of names, which stay whole.
    pub prose: Option<Prose>,
    /// Whether it holds changes of a cost, with their sign: less is better.
    pub is_change: bool,
    /// Whether only programs read it: what people read leaves it out unless they ask for it.
    pub is_aside: bool,
}

impl Column {
    /// A column of anything.
    pub fn of(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            title: None,
            kind,
            is_optional: false,
            prose: (kind == Kind::Texts).then_some(Prose::Cut),
            is_change: false,
            is_aside: false,
        }
    }

    /// The heading for people.
    pub fn heading(&self) -> &str {
        self.title.unwrap_or(&self.name)
    }

    /// A column of texts.
    pub fn text(name: impl Into<String>) -> Self {
        Self::of(name, Kind::Text)
    }

    /// A column of prose.
    pub fn prose(name: impl Into<String>) -> Self {
        Self {
            prose: Some(Prose::Cut),
            ..Self::text(name)
        }
    }

    /// The same column, whose prose is folded where there is no room for it: all of it matters.
    #[must_use]
    pub fn folding(self) -> Self {
        Self {
            prose: Some(Prose::Folded),
            ..self
        }
    }

    /// A column of changes of a cost.
    pub fn change(name: impl Into<String>) -> Self {
        Self {
            is_change: true,
            ..Self::number(name)
        }
    }

    /// A column of texts that only programs read.
    pub fn aside(name: impl Into<String>) -> Self {
        Self {
            is_aside: true,
            ..Self::text(name)
        }
    }

    /// A column of whole numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Self::of(name, Kind::Number)
    }

    /// How a cell of it is shown that reads so; `None` if as it is.
    pub(crate) fn style(&self, cell: &str) -> Option<Style> {
        match cell.chars().next() {
            Some('-') if self.is_change => Some(BETTER),
            Some('+') if self.is_change => Some(WORSE),
            _ if self.prose == Some(Prose::Cut) => Some(DIM),
            _ => None,
        }
    }

    /// Whether it holds numbers, which are flush right.
    pub fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number | Kind::Bits | Kind::Decimal)
    }
}
