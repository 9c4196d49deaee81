//! Which tables there are, and their columns.
//!
//! `docs/formats.md` has them for the reader; `tests/fast/tables.rs` holds the two against each other.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use petal_reconstruct::Overhead;

use crate::columns::field;
use crate::{observations, statistics};

/// The version of the schema: it changes when a column is removed, renamed or gets another type or meaning, and not when one is
/// added.
pub const SCHEMA_VERSION: u32 = 1;

/// A table of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// One row: what was run, how long it took, and where the cycles went.
    Runs,
    /// Control statements, as `stats/control.csv`.
    Statements,
    /// Groups, as `stats/groups.csv`.
    Groups,
    /// Component cells, as `stats/cells.csv`.
    Cells,
    /// Lines of a front end's files, as `stats/lines.csv`; only of designs that name them.
    Lines,
    /// The nodes of the different call trees.
    Trees,
    /// Which call tree the run had when, and what its cycles went to.
    Cycles,
    /// The slices of the timeline.
    Spans,
    /// What was observed: a table of `petal_observe`.
    Observed(&'static str),
}

impl Table {
    /// All tables, in the order of the documentation.
    pub fn all() -> Vec<Self> {
        let own = [
            Self::Runs,
            Self::Statements,
            Self::Groups,
            Self::Cells,
            Self::Lines,
            Self::Trees,
            Self::Cycles,
            Self::Spans,
        ];
        let observed = observations::names().into_iter().map(Self::Observed);
        own.into_iter().chain(observed).collect()
    }

    /// Its name, which is that of its file without `.parquet`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Statements => "statements",
            Self::Groups => "groups",
            Self::Cells => "cells",
            Self::Lines => "lines",
            Self::Trees => "trees",
            Self::Cycles => "cycles",
            Self::Spans => "spans",
            Self::Observed(name) => name,
        }
    }

    /// The table of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|table| table.name() == name)
    }

    /// Its columns. In the metadata of the schema, `petal.table` is its name and `petal.schema` the [`SCHEMA_VERSION`].
    ///
    /// The table `runs` may have columns of parameters after these.
    pub fn schema(self) -> SchemaRef {
        let fields = match self {
            Self::Runs => runs(),
            Self::Statements | Self::Groups | Self::Cells | Self::Lines => statistics::fields(self),
            Self::Trees => vec![
                number("tree"),
                number("node"),
                or_null(number("parent")),
                number("depth"),
                text("kind"),
                text("component"),
                text("path"),
            ],
            Self::Cycles => vec![
                number("start"),
                number("cycles"),
                number("tree"),
                text("kind"),
                or_null(text("cell")),
                or_null(text("component")),
                or_null(text("statement")),
                or_null(number("line")),
            ],
            Self::Spans => vec![
                number("start"),
                number("cycles"),
                text("path"),
                text("kind"),
                or_null(number("activation")),
                number("activations"),
            ],
            Self::Observed(name) => observations::columns(name).iter().map(field).collect(),
        };
        Arc::new(Schema::new(fields).with_metadata(self.marks()))
    }

    /// What files and streams tell of the table itself.
    pub(crate) fn marks(self) -> HashMap<String, String> {
        HashMap::from([
            ("petal.table".to_owned(), self.name().to_owned()),
            ("petal.schema".to_owned(), SCHEMA_VERSION.to_string()),
        ])
    }
}

fn runs() -> Vec<Field> {
    let mut fields = vec![
        text("design"),
        text("digest"),
        text("pipeline"),
        or_null(text("data")),
        or_null(number("cycles")),
        or_null(number("useful")),
        or_null(number("computation")),
        or_null(number("conditions")),
        or_null(number("overhead")),
    ];
    let kinds = Overhead::ALL.map(|kind| or_null(number(&column(kind.title()))));
    fields.extend(kinds);
    fields.extend([
        or_null(text("stopped")),
        or_null(text("error")),
        or_null(text("verified")),
        or_null(text("petal")),
        or_null(text("calyx")),
    ]);
    fields
}

/// What a heading, such as `FSM update %`, is called as a column: `fsm_update_percent`.
pub(crate) fn column(heading: &str) -> String {
    let words = heading.replace('%', "percent").to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("_")
}

/// The type of texts: each is there once, and rows have its number.
pub(crate) fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// A column of texts that come again and again.
pub(crate) fn text(name: &str) -> Field {
    Field::new(name, dictionary(), false)
}

/// A column of lists of texts.
pub(crate) fn texts(name: &str) -> Field {
    let item = Field::new_list_field(DataType::Utf8, false);
    Field::new(name, DataType::List(Arc::new(item)), false)
}

/// A column of cycles, lines or counts, of which differences may be taken.
pub(crate) fn number(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

/// A column of values in hardware, of up to 64 bits.
pub(crate) fn bits(name: &str) -> Field {
    Field::new(name, DataType::UInt64, false)
}

/// A column of numbers that are not whole.
pub(crate) fn real(name: &str) -> Field {
    Field::new(name, DataType::Float64, false)
}

/// The same column, with nulls.
pub(crate) fn or_null(field: Field) -> Field {
    field.with_nullable(true)
}
