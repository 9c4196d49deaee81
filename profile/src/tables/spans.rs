//! The table `spans`: the slices of the timeline, in the order in which they end.
//!
//! What is on the timeline is not decided here: this is one of its formats.

use std::io;
use std::mem;

use arrow_array::RecordBatch;
use petal_metadata::{Metadata, SiteId};
use petal_reconstruct::Event;
use petal_visualize::timeline::{Slice, SliceId, Track, WholeSlice, WholeSliceFormat, WholeSlices};
use petal_visualize::{Section, Timeline};

use super::schema::BATCH;
use super::schema::Table;
use petal_table::arrow::TableError;
use petal_table::arrow::{Dictionary, numbers};

/// Makes the rows.
pub(super) struct Spans<'a>(Timeline<'a, WholeSlices<SpanRows>>);

/// The slices that ended lately.
#[derive(Debug)]
pub(super) struct SpanRows {
    /// The path, kind and site of each slice, as numbers.
    slices: Vec<(i32, i32, Option<i32>)>,
    paths: Dictionary,
    kinds: Dictionary,
    sites: Dictionary,
    start: Vec<u64>,
    cycles: Vec<u64>,
    path: Vec<i32>,
    kind: Vec<i32>,
    activation: Vec<Option<u64>>,
    activations: Vec<u64>,
    site: Vec<Option<i32>>,
}

impl<'a> Spans<'a> {
    pub fn new(metadata: &'a Metadata) -> Self {
        let rows = SpanRows {
            slices: Vec::new(),
            paths: Dictionary::new(),
            kinds: Dictionary::new(),
            sites: Dictionary::new(),
            start: Vec::new(),
            cycles: Vec::new(),
            path: Vec::new(),
            kind: Vec::new(),
            activation: Vec::new(),
            activations: Vec::new(),
            site: Vec::new(),
        };
        let format = WholeSlices::new(rows, u64::MAX);
        Self(Timeline::new(metadata, Section::default(), format))
    }

    pub fn event(&mut self, event: &Event) -> Result<Option<RecordBatch>, TableError> {
        self.0.event(event)?;
        let is_over = matches!(event, Event::End { .. });
        let rows = self.0.format_mut().format_mut();
        let least = if is_over { 1 } else { BATCH };
        if rows.start.len() < least {
            return Ok(None);
        }
        rows.batch().map(Some)
    }
}

impl SpanRows {
    fn batch(&mut self) -> Result<RecordBatch, TableError> {
        let all = |numbers: &mut Vec<u64>| mem::take(numbers).into_iter().map(Some);
        let columns = vec![
            numbers(all(&mut self.start))?,
            numbers(all(&mut self.cycles))?,
            self.paths.column(mem::take(&mut self.path))?,
            self.kinds.column(mem::take(&mut self.kind))?,
            numbers(mem::take(&mut self.activation))?,
            numbers(all(&mut self.activations))?,
            self.sites.column(mem::take(&mut self.site))?,
        ];
        Ok(RecordBatch::try_new(Table::Spans.schema(), columns)?)
    }
}

impl WholeSliceFormat for SpanRows {
    fn track(&mut self, _: &Track) -> io::Result<()> {
        Ok(())
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        let path = self.paths.number(&slice.path).map_err(io::Error::other)?;
        let kind = self
            .kinds
            .number(slice.category)
            .map_err(io::Error::other)?;
        let number = |site: SiteId| self.sites.number(&site.to_string());
        let site = slice.site.map(number).transpose();
        let texts = (path, kind, site.map_err(io::Error::other)?);
        if id == self.slices.len() {
            self.slices.push(texts);
        } else {
            self.slices[id] = texts;
        }
        Ok(())
    }

    fn whole_slice(&mut self, slice: &WholeSlice) -> io::Result<()> {
        let (path, kind, site) = self.slices[slice.slice];
        let activations = slice.activations.as_ref();
        self.start.push(slice.cycles.start);
        self.cycles.push(slice.cycles.end - slice.cycles.start);
        self.path.push(path);
        self.kind.push(kind);
        self.site.push(site);
        let first = activations.map(|all| all.start);
        self.activation.push(first.filter(|&first| first > 0));
        self.activations
            .push(activations.map_or(0, |all| all.end - all.start));
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
