//! Timelines as Chrome trace events: the JSON that Perfetto, Chrome and speedscope open.
//!
//! One microsecond of the viewer is one cycle. Every component cell is a process, with a thread for
//! each row. Counters and flows are left to the native format.
//!
//! Format: *Trace Event Format*, Google, the JSON object format.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Content, Detail, Format, Lane, Moment, Slice, SliceId};

/// Writes Chrome trace events.
#[derive(Debug)]
pub struct ChromeJson<W> {
    out: W,
    /// How many more slices there may be.
    room: u64,
    /// Whether an event was written.
    any: bool,
    lanes: Vec<Lane>,
    /// The beginning of each slice: the text of an object up to the first thing that changes.
    beginnings: Vec<String>,
    /// Where each slice began last, and the number of its activation.
    began: Vec<(u64, u64)>,
    /// The slices that end in the same cycle, inner ones first. Viewers want outer ones first where
    /// both are as long.
    ending: Vec<Ended>,
}

#[derive(Debug)]
struct Ended {
    id: SliceId,
    start: u64,
    at: u64,
    /// The number of its first activation, and how many it holds.
    activation: u64,
    activations: u64,
}

impl<W: Write> ChromeJson<W> {
    /// Starts a file of at most `slices` slices.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(mut out: W, slices: u64) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[\n")?;
        Ok(Self {
            out,
            room: slices.saturating_add(1),
            any: false,
            lanes: Vec::new(),
            beginnings: Vec::new(),
            began: Vec::new(),
            ending: Vec::new(),
        })
    }

    /// Whether all slices found room. If not, the file is of no use.
    pub fn is_whole(&self) -> bool {
        self.room > 0
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

    /// Writes the slices that end in the same cycle.
    fn write_ended(&mut self) -> io::Result<()> {
        while let Some(Ended {
            id,
            start,
            at,
            activation,
            activations,
        }) = self.ending.pop()
        {
            let more = [("activation", activation), ("activations", activations)];
            let known = if activations == 1 { 1 } else { 2 };
            self.complete(id, start, at - start, &more[..known])?;
        }
        Ok(())
    }

    /// Writes a slice, unless there is no room for it.
    fn complete(
        &mut self,
        id: SliceId,
        start: u64,
        cycles: u64,
        more: &[(&str, u64)],
    ) -> io::Result<()> {
        self.room = self.room.saturating_sub(1);
        if self.room == 0 {
            return Ok(());
        }
        self.separate()?;
        let mut number = itoa::Buffer::new();
        self.out.write_all(self.beginnings[id].as_bytes())?;
        let mut first = self.beginnings[id].ends_with('{');
        for (name, value) in more {
            if !first {
                self.out.write_all(b",")?;
            }
            first = false;
            write!(self.out, "\"{name}\":")?;
            self.out.write_all(number.format(*value).as_bytes())?;
        }
        self.out.write_all(b"},\"ts\":")?;
        self.out.write_all(number.format(start).as_bytes())?;
        self.out.write_all(b",\"dur\":")?;
        self.out.write_all(number.format(cycles).as_bytes())?;
        self.out.write_all(b"}")
    }
}

impl<W: Write> Format for ChromeJson<W> {
    type Memo = ();

    fn lane(&mut self, lane: &Lane) -> io::Result<()> {
        if lane.content != Content::Counter {
            self.lanes.push(lane.clone());
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
        if id == self.beginnings.len() {
            self.beginnings.push(text);
            self.began.push((0, 0));
        } else {
            self.beginnings[id] = text;
        }
        Ok(())
    }

    fn moment(
        &mut self,
        at: u64,
        moment: &Moment,
        numbers: &[u64],
        _memo: &mut (),
    ) -> io::Result<()> {
        if !self.is_whole() {
            return Ok(());
        }
        if self.ending.last().is_some_and(|ended| ended.at != at) {
            self.write_ended()?;
        }
        let mut numbers = numbers.iter().copied();
        for end in &moment.ends {
            let (start, activation) = self.began[end.slice];
            let activations = end.counted.then(|| numbers.next()).flatten();
            self.ending.push(Ended {
                id: end.slice,
                start,
                at,
                activation,
                activations: activations.unwrap_or(1),
            });
        }
        for begin in &moment.begins {
            let activation = numbers.next().unwrap_or_default();
            self.began[begin.slice] = (at, activation);
            let arrows = begin.arrows + usize::from(begin.is_called);
            numbers.by_ref().take(arrows).for_each(drop);
        }
        Ok(())
    }

    fn update(&mut self, id: SliceId, start: u64, cycles: u64) -> io::Result<()> {
        self.complete(id, start, cycles, &[])
    }

    /// Names the rows and ends the file.
    fn finish(&mut self) -> io::Result<()> {
        self.write_ended()?;
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
