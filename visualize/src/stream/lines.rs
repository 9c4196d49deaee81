//! Events as lines of JSON: `docs/formats.md` has the fields.

use std::io::{self, Write};

use serde_json::json;

use petal_analysis::sites::{Edge, EventSite};
use petal_metadata::SiteId;

use super::{EventFilter, Observed, Subscriber};

/// The version of the lines.
const VERSION: u32 = 1;

/// Writes each event as a line of JSON.
#[derive(Debug)]
pub struct EventLines<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> EventLines<W> {
    /// Writes the first line: what the stream is called, and which events it has, if not all.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(
        design: &str,
        stream: &str,
        filter: Option<&EventFilter>,
        mut out: W,
    ) -> io::Result<Self> {
        let mut line = json!({ "events": VERSION, "design": design, "stream": stream });
        if let Some(filter) = filter {
            line["filter"] = json!(filter.to_string());
        }
        writeln!(out, "{line}")?;
        Ok(Self {
            out,
            line: Vec::new(),
        })
    }

    /// Adds a text to the line, and a number.
    fn add(&mut self, text: &str, number: u64) {
        self.line.extend_from_slice(text.as_bytes());
        let mut digits = itoa::Buffer::new();
        self.line
            .extend_from_slice(digits.format(number).as_bytes());
    }

    /// Begins the line of an event.
    fn start(&mut self, what: &str, site: SiteId, cycle: u64, before: u64) {
        self.line.clear();
        self.line.extend_from_slice(what.as_bytes());
        self.line.extend_from_slice(&site.digits());
        self.add("\",\"cycle\":", cycle);
        self.add(",\"before\":", before);
    }

    fn write(&mut self) -> io::Result<()> {
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)
    }
}

impl<W: Write> Subscriber for EventLines<W> {
    fn site(&mut self, site: &EventSite) -> io::Result<()> {
        let mut line = json!({ "site": site.id.to_string(), "kind": site.kind, "path": site.path });
        if let Some((file, number)) = &site.place {
            line["file"] = json!(file);
            line["line"] = json!(number);
        }
        writeln!(self.out, "{line}")
    }

    fn edge(&mut self, edge: &Edge) -> io::Result<()> {
        let (from, to) = (edge.from.to_string(), edge.to.to_string());
        let line = json!({ "edge": edge.kind.name(), "from": from, "to": to });
        writeln!(self.out, "{line}")
    }

    fn begin(&mut self, cycle: u64, site: SiteId, before: u64) -> io::Result<()> {
        self.start("{\"begin\":\"", site, cycle, before);
        self.write()
    }

    fn end(&mut self, cycle: u64, site: SiteId, before: u64, times: u64) -> io::Result<()> {
        self.start("{\"end\":\"", site, cycle, before);
        if times != 1 {
            self.add(",\"times\":", times);
        }
        self.write()
    }

    fn value(&mut self, before: u64, observed: &Observed) -> io::Result<()> {
        self.start("{\"value\":\"", observed.site, observed.cycle, before);
        if let Some(index) = observed.index {
            self.add(",\"index\":", index);
        }
        self.add(",\"is\":", observed.value);
        if let Some(name) = &observed.name {
            write!(self.line, ",\"name\":{}", json!(name))?;
        }
        for (at, (name, value)) in observed.recorded.iter().enumerate() {
            let before = if at == 0 { ",\"values\":{" } else { "," };
            write!(self.line, "{before}{}:{}", json!(name), value.json())?;
        }
        if !observed.recorded.is_empty() {
            self.line.push(b'}');
        }
        self.write()
    }

    fn finish(&mut self, cycles: u64) -> io::Result<()> {
        writeln!(self.out, "{}", json!({ "cycles": cycles }))?;
        self.out.flush()
    }
}
