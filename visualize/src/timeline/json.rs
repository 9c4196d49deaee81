//! Timelines as Chrome trace events: the JSON that Perfetto, Chrome and speedscope open.
//!
//! One microsecond of the viewer is one cycle. Every component cell and every file of a front end is a process,
//! with a thread for each track; so is what was observed. Other counters, and flows, are left to the native format.
//!
//! Format: *Trace Event Format*, Google, the JSON object format.

use std::io::{self, Write};

use petal_metadata::SiteId;
use petal_table::selection::SITE;
use serde_json::{Map, Value, json};

use super::observed::Events;
use super::{
    Content, Detail, Observed, Slice, SliceId, Track, Whole, WholeSlice, WholeSliceFormat,
};

/// Writes Chrome trace events.
#[derive(Debug)]
pub struct ChromeJson<W> {
    out: W,
    /// Whether an event was written.
    any: bool,
    tracks: Vec<Track>,
    /// The beginning of each slice: the text of an object up to the first thing that changes.
    beginnings: Vec<Beginning>,
}

/// How a slice begins.
#[derive(Debug)]
struct Beginning {
    text: String,
    /// What the first one tells beside.
    first: Option<SiteId>,
}

impl<W: Write> ChromeJson<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[\n")?;
        Ok(Self {
            out,
            any: false,
            tracks: Vec::new(),
            beginnings: Vec::new(),
        })
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        self.separate()?;
        serde_json::to_writer(&mut self.out, event)?;
        Ok(())
    }

    fn separate(&mut self) -> io::Result<()> {
        if self.any {
            self.out.write_all(b",\n")?;
        }
        self.any = true;
        Ok(())
    }
}

impl<W: Write> WholeSliceFormat for ChromeJson<W> {
    fn track(&mut self, track: &Track) -> io::Result<()> {
        if !matches!(track.content, Content::Counter | Content::Share) {
            self.tracks.push(track.clone());
        }
        Ok(())
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        let details: Map<String, Value> = slice
            .details
            .iter()
            .map(|(name, detail)| {
                let value = match detail {
                    Detail::Text(text) => json!(text),
                    Detail::Number(number) => json!(number),
                };
                ((*name).to_owned(), value)
            })
            .collect();
        // Tracks come in the order of their numbers.
        let track = self
            .tracks
            .binary_search_by_key(&slice.track, |track| track.id);
        let cell = track.map_or(0, |at| self.tracks[at].cell);
        let event = json!({
            "name": slice.name, "cat": slice.category, "ph": "X",
            "pid": cell, "tid": slice.track,
        });
        let mut text = event.to_string();
        text.pop();
        text.push_str(",\"args\":");
        text.push_str(&Value::from(details).to_string());
        text.pop();
        let beginning = Beginning {
            text,
            first: slice.told_first(),
        };
        if id == self.beginnings.len() {
            self.beginnings.push(beginning);
        } else {
            self.beginnings[id] = beginning;
        }
        Ok(())
    }

    fn whole_slice(&mut self, slice: &WholeSlice) -> io::Result<()> {
        self.separate()?;
        let mut number = itoa::Buffer::new();
        let Beginning { text, first } = &mut self.beginnings[slice.slice];
        self.out.write_all(text.as_bytes())?;
        let mut is_first = text.ends_with('{');
        if let Some(site) = first.take() {
            let comma = if is_first { "" } else { "," };
            write!(self.out, "{comma}\"{SITE}\":\"{site}\"")?;
            is_first = false;
        }
        let activations = slice.activations.as_ref();
        let several = activations.map(|all| all.end - all.start);
        let details = [
            (
                "activation",
                activations.map(|all| all.start).filter(|&first| first > 0),
            ),
            ("activations", several.filter(|&count| count > 1)),
            (Whole::START, slice.whole.map(|whole| whole.start)),
            (Whole::CYCLES, slice.whole.map(|whole| whole.cycles)),
        ];
        for (name, value) in details {
            let Some(value) = value else { continue };
            if !is_first {
                self.out.write_all(b",")?;
            }
            is_first = false;
            write!(self.out, "\"{name}\":")?;
            self.out.write_all(number.format(value).as_bytes())?;
        }
        self.out.write_all(b"},\"ts\":")?;
        let cycles = &slice.cycles;
        self.out.write_all(number.format(cycles.start).as_bytes())?;
        self.out.write_all(b",\"dur\":")?;
        let duration = number.format(cycles.end - cycles.start);
        self.out.write_all(duration.as_bytes())?;
        self.out.write_all(b"}")
    }

    fn observed(&mut self, observed: &Observed) -> io::Result<()> {
        if observed.tracks.is_empty() {
            return Ok(());
        }
        let cells = self.tracks.iter().map(|track| track.cell);
        let (process, order) = (cells.max().unwrap_or(0) + 1, self.tracks.len());
        let mut name = |tid: u64, what: &str, value: Value| {
            self.event(
                &json!({ "name": what, "ph": "M", "pid": process, "tid": tid, "args": value }),
            )
        };
        name(0, "process_name", json!({ "name": "observations" }))?;
        name(0, "process_sort_index", json!({ "sort_index": order }))?;
        for (tid, row) in (1_u64..).zip(observed.rows()) {
            let event = |kind: &str, cycle: u64| json!({ "name": row.name, "cat": "observation", "ph": kind, "pid": process, "tid": tid, "ts": cycle });
            let mut track = json!({ "name": row.name });
            if let Some(site) = row.site {
                track[SITE] = json!(site);
            }
            self.event(&json!({
                "name": "thread_name", "ph": "M", "pid": process, "tid": tid, "args": track,
            }))?;
            let told = |event: &mut Value, number: usize| {
                let told = row.arguments(number);
                let told: Map<String, Value> = told
                    .map(|(name, of)| (name.to_owned(), of.json()))
                    .collect();
                if !told.is_empty() {
                    event["args"] = Value::from(told);
                }
            };
            match &row.events {
                Events::Instants(instants) => {
                    for &(cycle, _, number) in instants {
                        let mut instant = event("i", cycle);
                        instant["s"] = json!("t");
                        told(&mut instant, number);
                        self.event(&instant)?;
                    }
                }
                Events::Slices(slices) => {
                    for (cycles, number) in slices {
                        let mut slice = event("X", cycles.start);
                        slice["dur"] = json!(cycles.end - cycles.start);
                        told(&mut slice, *number);
                        self.event(&slice)?;
                    }
                }
                Events::Values(values) => {
                    for &(cycle, value) in values {
                        let mut counter = event("C", cycle);
                        counter["args"] = json!({ "value": value });
                        self.event(&counter)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Names the tracks and ends the file.
    fn finish(&mut self) -> io::Result<()> {
        let mut tracks = std::mem::take(&mut self.tracks);
        tracks.sort_by_key(|track| (track.cell, track.content != Content::Cell, track.rank));
        for (order, track) in tracks.iter().enumerate() {
            let mut name = |tid: u64, what: &str, args: Value| {
                self.event(&json!({
                    "name": what, "ph": "M", "pid": track.cell, "tid": tid, "args": args,
                }))
            };
            let process = match track.content {
                Content::Cell => Some(track.cell),
                // Above all cells.
                Content::Holder => Some(0),
                Content::Slices | Content::Counter | Content::Share => None,
            };
            if let Some(order) = process {
                name(0, "process_name", json!({ "name": track.cell_path }))?;
                name(0, "process_sort_index", json!({ "sort_index": order }))?;
            }
            if track.content == Content::Holder {
                continue;
            }
            name(track.id, "thread_name", json!({ "name": track.name }))?;
            name(
                track.id,
                "thread_sort_index",
                json!({ "sort_index": order }),
            )?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}
