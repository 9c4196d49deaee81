//! Timelines as Chrome trace events: the JSON that Perfetto, Chrome and speedscope open.
//!
//! One microsecond of the viewer is one cycle. Every component cell is a process, with a thread for
//! each row. Counters and flows are left to the native format.
//!
//! Format: *Trace Event Format*, Google, the JSON object format.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Activation, Content, Detail, Format, Lane, Slice, SliceId};

/// Writes Chrome trace events, at the end: nobody knows before how many there are.
#[derive(Debug)]
pub struct ChromeJson<W> {
    out: W,
    /// How many slices there may be.
    most: usize,
    /// Whether there are more.
    full: bool,
    /// Whether an event was written.
    any: bool,
    lanes: Vec<Lane>,
    /// The beginnings of slices: the text of an object up to the first thing that changes.
    beginnings: Vec<String>,
    /// Which of them is that of each slice.
    slices: Vec<usize>,
    /// The slices so far.
    events: Vec<Complete>,
    /// The slices that end in the same cycle, inner ones first. Viewers want outer ones first where
    /// both are as long.
    ending: Vec<Complete>,
}

#[derive(Debug)]
struct Complete {
    /// The number of its beginning.
    beginning: usize,
    start: u64,
    end: u64,
    activation: Option<Activation>,
}

impl<W: Write> ChromeJson<W> {
    /// A file of at most so many slices; otherwise it remains empty.
    pub fn new(out: W, slices: usize) -> Self {
        Self {
            out,
            most: slices,
            full: false,
            any: false,
            lanes: Vec::new(),
            beginnings: Vec::new(),
            slices: Vec::new(),
            events: Vec::new(),
            ending: Vec::new(),
        }
    }

    /// Whether all slices found room. If not, nothing is written.
    pub fn is_whole(&self) -> bool {
        !self.full
    }

    /// Takes in the slices that end in the same cycle.
    fn take_ended(&mut self) {
        while let Some(ended) = self.ending.pop() {
            self.take(ended);
        }
    }

    fn take(&mut self, event: Complete) {
        self.full |= self.events.len() == self.most;
        if !self.full {
            return self.events.push(event);
        }
        self.events = Vec::new();
        self.beginnings = Vec::new();
        self.slices = Vec::new();
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

    fn write(&mut self, event: &Complete) -> io::Result<()> {
        self.separate()?;
        let mut number = itoa::Buffer::new();
        let beginning = self.beginnings[event.beginning].as_bytes();
        self.out.write_all(beginning)?;
        let mut first = beginning.ends_with(b"{");
        let first_one = event.activation.map(|known| ("activation", known.first));
        let several = event.activation.filter(|known| known.count > 1);
        let several = several.map(|known| ("activations", known.count));
        for (name, value) in first_one.into_iter().chain(several) {
            if !first {
                self.out.write_all(b",")?;
            }
            first = false;
            write!(self.out, "\"{name}\":")?;
            self.out.write_all(number.format(value).as_bytes())?;
        }
        self.out.write_all(b"},\"ts\":")?;
        self.out.write_all(number.format(event.start).as_bytes())?;
        self.out.write_all(b",\"dur\":")?;
        let cycles = event.end - event.start;
        self.out.write_all(number.format(cycles).as_bytes())?;
        self.out.write_all(b"}")
    }
}

impl<W: Write> Format for ChromeJson<W> {
    fn lane(&mut self, lane: &Lane) -> io::Result<()> {
        if lane.content != Content::Counter {
            self.lanes.push(lane.clone());
        }
        Ok(())
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        if self.full {
            return Ok(());
        }
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
        // Rows come in the order of their numbers.
        let lane = self.lanes.binary_search_by_key(&slice.lane, |lane| lane.id);
        let cell = lane.map_or(0, |at| self.lanes[at].cell);
        let event = json!({
            "name": slice.name, "cat": slice.category, "ph": "X",
            "pid": cell, "tid": slice.lane,
        });
        let mut text = event.to_string();
        text.pop();
        text.push_str(",\"args\":");
        text.push_str(&Value::from(details).to_string());
        text.pop();
        let beginning = self.beginnings.len();
        self.beginnings.push(text);
        if id == self.slices.len() {
            self.slices.push(beginning);
        } else {
            self.slices[id] = beginning;
        }
        Ok(())
    }

    fn end(&mut self, id: SliceId, start: u64, at: u64, activation: Activation) -> io::Result<()> {
        if self.full {
            return Ok(());
        }
        if self.ending.last().is_some_and(|ended| ended.end != at) {
            self.take_ended();
        }
        if !self.full {
            self.ending.push(Complete {
                beginning: self.slices[id],
                start,
                end: at,
                activation: Some(activation),
            });
        }
        Ok(())
    }

    fn update(&mut self, id: SliceId, start: u64, cycles: u64) -> io::Result<()> {
        if !self.full {
            self.take(Complete {
                beginning: self.slices[id],
                start,
                end: start + cycles,
                activation: None,
            });
        }
        Ok(())
    }

    /// Writes the file, with the names of the rows at its end.
    fn finish(&mut self) -> io::Result<()> {
        self.take_ended();
        if self.full {
            return Ok(());
        }
        self.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[\n")?;
        for event in std::mem::take(&mut self.events) {
            self.write(&event)?;
        }
        let mut lanes = std::mem::take(&mut self.lanes);
        lanes.sort_by_key(|lane| (lane.cell, lane.content != Content::Cell, lane.rank));
        for (order, lane) in lanes.iter().enumerate() {
            let mut name = |tid: u64, what: &str, args: Value| {
                self.event(&json!({
                    "name": what, "ph": "M", "pid": lane.cell, "tid": tid, "args": args,
                }))
            };
            if lane.content == Content::Cell {
                name(0, "process_name", json!({ "name": lane.cell_path }))?;
                name(0, "process_sort_index", json!({ "sort_index": lane.cell }))?;
            }
            name(lane.id, "thread_name", json!({ "name": lane.name }))?;
            name(lane.id, "thread_sort_index", json!({ "sort_index": order }))?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}
