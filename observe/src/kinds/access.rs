//! Accesses: each read and write of a memory, with who made it, and what of that matters to whoever lays the memory out anew.

mod collector;
mod found;
mod heat;
mod named;
mod summary;
mod tables;

use petal_metadata::SiteId;
use petal_table::selection::SITE;
use petal_table::{Columns, Track, TrackContent, Value, thousands};
use serde::{Deserialize, Serialize};

use crate::builder::{Builder, refuse};
use crate::collector::Outlet;
use crate::problem::Refused;
use crate::syntax;
use crate::tables::{Forms, ResultTable, or_empty, site};
use crate::text::Text;
use crate::watched::{Watchable, watchable};

use collector::AccessCollector;

pub use crate::trees::Site;
pub(crate) use heat::Heat;
pub use summary::{Banks, Reuse, SiteAccesses, Stride, Summary};

/// A memory, or some of its words, whose accesses are listed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// The memory or words.
    pub memory: Text,
}

impl AccessRequest {
    /// Of a text.
    pub fn new(name: Option<String>, memory: Text) -> Self {
        Self { name, memory }
    }
}

/// The accesses of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accesses {
    /// What it is called.
    pub name: String,
    /// Its number in all outputs.
    pub site: SiteId,
    /// The memory or words.
    pub memory: String,
    /// How many words each dimension has, outermost first; empty where a waveform does not tell.
    pub sizes: Vec<u64>,
    /// Whether continuous assignments alone read it, too: no cycle tells when, and such reads are not listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_read_continuously: bool,
    /// What they come to.
    #[serde(flatten)]
    pub summary: Summary,
    /// Where those stand who accessed it.
    pub sites: Vec<Site>,
    /// All accesses, in the order of time; in a cycle a read comes before a write.
    pub accesses: Vec<Access>,
}

/// A read or write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The cycle in which the memory is asked.
    pub cycle: u64,
    /// Whether it is a read or a write.
    pub access: AccessKind,
    /// The address in each dimension.
    pub address: Vec<u64>,
    /// The word in row-major order; none beyond the memory, or where its sizes are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// What is written or read; none if it is wider than 64 bits, or came when the run was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<u64>,
    /// Who: numbers of sites. Empty if no group did.
    pub by: Vec<usize>,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// It asks for a word.
    Read,
    /// It sets one.
    Write,
}

impl AccessKind {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl Access {
    /// The address as people write it: `3`, or `[1, 2]` in several dimensions.
    fn place(&self) -> String {
        let indices: Vec<String> = self.address.iter().map(u64::to_string).collect();
        match &indices[..] {
            [index] => index.clone(),
            _ => format!("[{}]", indices.join(", ")),
        }
    }
}

impl Accesses {
    /// Some texts of each of those who made an access.
    fn told(&self, by: &[usize], text: impl Fn(&Site) -> &str) -> Value {
        let mut texts: Vec<String> = by
            .iter()
            .map(|&site| text(&self.sites[site]).to_owned())
            .collect();
        texts.dedup();
        Value::Texts(texts)
    }

    /// The line of the first of them.
    fn line(&self, by: &[usize]) -> Value {
        let line = by.first().and_then(|&site| self.sites[site].line);
        or_empty(line.map(u64::from))
    }
}

/// Makes them ready.
pub(super) fn build(
    requests: &[AccessRequest],
    outlet: &Outlet<Accesses>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    for of in requests {
        for (name, text) in named::named(of, builder)? {
            let what = builder.checked(&text, syntax::range, |checker, (syntax, range)| {
                watchable(checker, syntax, range.clone())
            });
            let what = what.or_else(|refused| named::unknown(&of.memory, refused, builder))?;
            let Watchable::Memory {
                signal,
                memory,
                words,
            } = what
            else {
                let message = format!("this is no memory; {}", named::there_are(builder));
                return refuse(&of.memory, &message);
            };
            let found = found::found(builder, &signal, &memory);
            let found = found.or_else(|message| refuse(&of.memory, &message))?;
            let words = (words != (0..memory.words())).then_some(words);
            let called = (name, text.text);
            let outlet = outlet.clone();
            builder.collect(AccessCollector::new(called, memory, words, found, outlet));
        }
    }
    Ok(())
}

/// A row of a table.
type Row<'a> = (&'a Accesses, &'a Access);

/// Their tables.
pub(super) fn tables(all: &[Accesses], cycles: u64) -> Vec<ResultTable<'_>> {
    let mut tables = tables::tables(all, cycles);
    // Who made them is in shown tables without the whole path: there are many.
    tables.push(table(all, with_paths(columns())).with(Forms::FileAndDatabase));
    tables.push(table(all, columns()).with(Forms::Shown));
    tables
}

fn columns<'a>() -> Columns<Row<'a>> {
    Columns::default()
        .text("memory", |(of, _): &Row<'_>| of.name.as_str().into())
        .number("cycle", |(_, access)| access.cycle.into())
        .text("access", |(_, access)| access.access.name().into())
        .text("address", |(_, access)| access.place().into())
        .bits("data", |(_, access)| or_empty(access.data))
        .optional()
        .texts("group", |(of, access)| of.told(&access.by, |of| &of.group))
        .texts("statement", |(of, access)| {
            of.told(&access.by, |of| &of.statement)
        })
        .number("line", |(of, access)| of.line(&access.by))
        .optional()
}

fn with_paths(columns: Columns<Row<'_>>) -> Columns<Row<'_>> {
    columns
        .number("index", |(_, access)| or_empty(access.index))
        .optional()
        .texts("by", |(of, access)| of.told(&access.by, |of| &of.path))
        .aside(SITE, |(of, _)| site(of.site))
}

fn table<'a>(all: &'a [Accesses], columns: Columns<Row<'a>>) -> ResultTable<'a> {
    let count: usize = all.iter().map(|of| of.accesses.len()).sum();
    let rows = all.iter();
    let rows = rows.flat_map(|of| of.accesses.iter().map(move |access| (of, access)));
    let title = format!("accesses: {}", thousands(count as u64));
    ResultTable::new("accesses", title, columns, rows)
}

/// Their tracks.
pub(super) fn tracks(all: &[Accesses]) -> Vec<Track> {
    let tracks = all.iter().map(|of| {
        let rows = of.accesses.iter();
        let argument = |name: &str, value: &dyn Fn(&Access) -> Value| {
            (name.to_owned(), rows.clone().map(value).collect())
        };
        Track {
            name: of.name.clone(),
            site: Some(of.site),
            content: TrackContent::Instants(rows.clone().map(|row| (row.cycle, None)).collect()),
            arguments: vec![
                argument("access", &|row| row.access.name().into()),
                argument("address", &|row| row.place().into()),
                argument("data", &|row| or_empty(row.data)),
                argument("group", &|row| of.told(&row.by, |of| &of.group)),
            ],
        }
    });
    tracks.collect()
}

/// What a run is compared by.
pub(super) fn figures(all: &[Accesses]) -> impl Iterator<Item = (String, u64)> {
    all.iter().flat_map(|of| {
        let summary = &of.summary;
        let figures = [
            ("reads", summary.reads),
            ("writes", summary.writes),
            ("in-use", summary.in_use),
        ];
        figures.map(|(figure, value)| (format!("access:{}:{figure}", of.name), value))
    })
}
