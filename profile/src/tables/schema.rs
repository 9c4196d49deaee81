//! Which tables there are, and their columns.
//!
//! `docs/formats.md` has them for the reader; `tests/fast/tables.rs` holds the two against each other.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use petal_analysis::{cells, control, groups, lines, loops, sites};
use petal_observe::{ResultTable, Results};
use petal_reconstruct::Overhead;
use petal_table::arrow::{field, number, or_null, text};
use petal_table::selection::SITE;
use petal_table::{Column, Columns, column_name};

/// The version of the schema: it changes when a column is removed, renamed or gets another type or meaning, and not when one is
/// added.
pub const SCHEMA_VERSION: u32 = 1;

/// How many rows are made at a time.
pub(super) const BATCH: usize = 1 << 16;

/// A table of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// One row: what was run, how long it took, and where the cycles went.
    Runs,
    /// Control statements, as `stats/control.csv`.
    Statements,
    /// Loops, as `stats/loops.csv`.
    Loops,
    /// Groups, as `stats/groups.csv`.
    Groups,
    /// Component cells, as `stats/cells.csv`.
    Cells,
    /// Lines of a front end's files, as `stats/lines.csv`; only of designs that name them.
    Lines,
    /// All that can be active, in each instance.
    Sites,
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
            Self::Loops,
            Self::Groups,
            Self::Cells,
            Self::Lines,
            Self::Sites,
            Self::Trees,
            Self::Cycles,
            Self::Spans,
        ];
        let observed = observed_tables(&Results::default())
            .map(|table| Self::Observed(table.name))
            .collect::<Vec<_>>();
        own.into_iter().chain(observed).collect()
    }

    /// Its name, which is that of its file without `.parquet`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Statements => "statements",
            Self::Loops => "loops",
            Self::Groups => "groups",
            Self::Cells => "cells",
            Self::Lines => "lines",
            Self::Sites => "sites",
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
            Self::Statements
            | Self::Loops
            | Self::Groups
            | Self::Cells
            | Self::Lines
            | Self::Sites => self.counted(),
            Self::Trees => vec![
                number("tree"),
                number("node"),
                or_null(number("parent")),
                number("depth"),
                text("kind"),
                text("component"),
                text("path"),
                or_null(text(SITE)),
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
                or_null(text(SITE)),
            ],
            Self::Spans => vec![
                number("start"),
                number("cycles"),
                text("path"),
                text("kind"),
                or_null(number("activation")),
                number("activations"),
                or_null(text(SITE)),
            ],
            Self::Observed(name) => observed(name).iter().map(field).collect(),
        };
        Arc::new(Schema::new(fields).with_metadata(self.marks()))
    }

    /// The columns of such a table. What a run or a place does not have is null.
    fn counted(self) -> Vec<Field> {
        match self {
            Self::Statements => of(&control::columns()),
            Self::Loops => of(&loops::columns()),
            Self::Groups => of(&groups::columns()),
            Self::Cells => of(&cells::columns()),
            Self::Lines => of(&lines::columns()),
            Self::Sites => of(&sites::columns()),
            _ => Vec::new(),
        }
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
    let kinds = Overhead::ALL.map(|kind| or_null(number(&column_name(kind.title()))));
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

fn of<R>(columns: &Columns<R>) -> Vec<Field> {
    let fields = columns.list();
    let or_null = |column: &Column| field(column).with_nullable(true);
    fields.map(or_null).collect()
}

/// The tables of observations that databases have.
pub(super) fn observed_tables(results: &Results) -> impl Iterator<Item = ResultTable<'_>> {
    let tables = results.tables().into_iter();
    tables.filter(|table| table.forms.is_of_databases())
}

/// The columns of such a table.
fn observed(name: &str) -> Vec<Column> {
    let results = Results::default();
    let table = observed_tables(&results).find(|table| table.name == name);
    table.map_or_else(Vec::new, |table| table.into_parts().0)
}
