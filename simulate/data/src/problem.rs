//! What can be wrong with a memory in a data file, and how that is said.

use std::fmt::{self, Write as _};

use crate::format::{Format, NumericType};

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
}

impl Position {
    /// The place of the byte at `offset` in `text`.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |newline| newline + 1);
        Self {
            line: before.split(|&byte| byte == b'\n').count(),
            column: 1 + before.len() - line_start,
        }
    }
}

/// One thing that is wrong with one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataProblem {
    /// The memory's name, as in the file or the design.
    pub memory: String,
    /// Where in the file it is; `None` for a memory that is missing.
    pub position: Option<Position>,
    /// What is wrong.
    pub problem: Problem,
}

impl fmt::Display for DataProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (index, problem) = match &self.problem {
            Problem::At { index, problem } => (index.as_slice(), &**problem),
            problem @ Problem::Ragged { index, .. } => (index.as_slice(), problem),
            problem => (&[][..], problem),
        };
        write!(f, "memory `{}{}`: {problem}", self.memory, place(index))
    }
}

/// The kinds of [`DataProblem`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The design has no such memory.
    #[error(
        "the design has no `@external` memory of this name; {}",
        known_names(known)
    )]
    UnknownMemory {
        /// The memories of the design.
        known: Vec<String>,
    },
    /// The file lacks a memory of the design.
    #[error(
        "the file does not have it; add `\"data\"` ({}) and `\"format\"` (width {width})",
        shape(dims)
    )]
    MissingMemory {
        /// Its width in the design, in bits.
        width: u32,
        /// Its sizes in the design.
        dims: Vec<u64>,
    },
    /// No cell can have this name.
    #[error("this is not the name of a Calyx cell")]
    Name,
    /// The file has the memory twice.
    #[error("the file has it more than once")]
    Duplicate,
    /// The widths differ.
    #[error("the format's width is {actual}, but the design's memory has {expected} bits per word")]
    Width {
        /// In the design.
        expected: u32,
        /// In the file.
        actual: u32,
    },
    /// The sizes differ.
    #[error(
        "the data is {}, but the design's memory is {}",
        shape(actual),
        shape(expected)
    )]
    Shape {
        /// In the design.
        expected: Vec<u64>,
        /// In the file.
        actual: Vec<u64>,
    },
    /// `data` is one value.
    #[error("the data must be a list")]
    NotAList,
    /// More lists in one another than any memory has dimensions.
    #[error("a memory has at most {limit} dimensions")]
    TooDeep {
        /// The largest number of dimensions.
        limit: usize,
    },
    /// A list is not as long or as deep as its neighbours.
    #[error("expected {expected} here, as before it, but found {actual}")]
    Ragged {
        /// Where the odd item is.
        index: Vec<u64>,
        /// What its neighbours are.
        expected: String,
        /// What it is.
        actual: String,
    },
    /// A word has an index that there is not.
    #[error(
        "`{}` is not the index of a word: there are {size}, from 0 on",
        shortened(text)
    )]
    Index {
        /// The index in the file.
        text: String,
        /// The number of words.
        size: u64,
    },
    /// A value has a problem of its own.
    #[error("{problem}")]
    At {
        /// Where the value is.
        index: Vec<u64>,
        /// What is wrong with it.
        problem: Box<Problem>,
    },
    /// A value is not a number.
    #[error("`{}` is not a number", shortened(text))]
    NotANumber {
        /// The value in the file.
        text: String,
    },
    /// A value is longer than any number of its format has to be.
    #[error(
        "{} has more than {most} characters, which no number of this format needs",
        shortened(text)
    )]
    TooLong {
        /// The value in the file.
        text: String,
        /// The most characters.
        most: usize,
    },
    /// A value is none of the numbers of a format without infinities.
    #[error(
        "`{text}` is a value of the format ieee754_float only, and this one is {}",
        described(*format)
    )]
    NotFinite {
        /// The value in the file.
        text: String,
        /// The memory's format.
        format: Format,
    },
    /// A value lies outside its format.
    #[error(
        "{} is out of range: {} is {lowest} to {highest}",
        shortened(text),
        described(*format)
    )]
    OutOfRange {
        /// The value in the file.
        text: String,
        /// The memory's format.
        format: Format,
        /// The lowest number of the format.
        lowest: String,
        /// The highest number of the format.
        highest: String,
    },
    /// A value fits its format, but not the memory.
    #[error("{text} does not fit the {width} bits of a word of the design's memory")]
    Truncated {
        /// The value.
        text: String,
        /// Bits per word of the design's memory.
        width: u32,
    },
    /// A value lies between two numbers of its format.
    #[error(
        "{} cannot be stored exactly as {}; the nearest number is {nearest}",
        shortened(text),
        described(*format)
    )]
    NotExact {
        /// The value in the file.
        text: String,
        /// The memory's format.
        format: Format,
        /// The nearest number of the format.
        nearest: String,
    },
}

fn known_names(known: &[String]) -> String {
    if known.is_empty() {
        "it has none at all".to_owned()
    } else {
        format!("it has `{}`", known.join("`, `"))
    }
}

fn shape(dims: &[u64]) -> String {
    let sizes: Vec<String> = dims.iter().map(u64::to_string).collect();
    match dims {
        [one] => format!("a list of {one}"),
        _ => format!("nested lists of {}", sizes.join(" x ")),
    }
}

fn place(index: &[u64]) -> String {
    index.iter().fold(String::new(), |mut text, i| {
        // Writing to a String cannot fail.
        let _ = write!(text, "[{i}]");
        text
    })
}

fn described(format: Format) -> String {
    let sign = if format.is_signed() {
        "signed"
    } else {
        "unsigned"
    };
    match format.numeric_type() {
        NumericType::Bitnum => format!("{sign} bitnum of width {}", format.width()),
        NumericType::FixedPoint => format!(
            "{sign} fixed_point of width {} with {} fraction bits",
            format.width(),
            format.fraction()
        ),
        NumericType::Ieee754Float => format!("ieee754_float of width {}", format.width()),
    }
}

/// A value as a message shows it.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{start}...")
}
