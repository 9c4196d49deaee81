//! What `petal check` found in a document, on lines that are as they were then.

use serde_json::{Value, json};

use super::diagnostics::{ERROR, WARNING, diagnostic};
use super::document::{Document, range};
use super::text::{Encoding, digest};

/// What was found in a text.
#[derive(Debug)]
pub struct Check {
    digest: u64,
    lines: Vec<String>,
    found: Vec<Found>,
}

/// Something that is wrong.
#[derive(Debug)]
struct Found {
    severity: u8,
    text: String,
    /// Where in the text, from 0, and what is there; what is in another file is only in the words.
    places: Vec<(usize, String)>,
}

impl Check {
    /// What the JSON of a check of this text tells.
    pub fn new(text: &str, found: &Value) -> Self {
        let list = |name: &str| found[name].as_array().into_iter().flatten();
        let all = |name: &'static str, places: &'static str| {
            list(name).map(move |of| {
                let places = of[places].as_array().map_or(&[][..], Vec::as_slice);
                Found::new(of, places)
            })
        };
        let undefined = list("undefined").map(|of| Found::new(of, std::slice::from_ref(of)));
        Self {
            digest: digest(text),
            lines: text.lines().map(str::to_owned).collect(),
            found: all("races", "accesses")
                .chain(all("beyond", "by"))
                .chain(all("undriven", "by"))
                .chain(undefined)
                .collect(),
        }
    }

    /// It as diagnostics of the document, where its lines are as they were.
    pub fn diagnostics(&self, document: &Document, encoding: Encoding) -> Vec<Value> {
        if !document.text.is_countable() {
            return Vec::new();
        }
        let of: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        let was = document.text.unchanged(self.digest, &of);
        let now = |line: usize| was.iter().position(|was| *was == Some(line));
        let shown = self.found.iter().filter_map(|found| {
            let places = found.places.iter();
            let places =
                places.map(|(line, what)| Some((document.line_range(now(*line)?, encoding), what)));
            let places: Vec<_> = places.collect::<Option<_>>()?;
            let begin = range([(0, 0), (0, 0)]);
            let at = places.first().map_or(&begin, |(at, _)| at);
            let mut shown = diagnostic(at, found.severity, &found.text);
            let related = places.iter().skip(1).map(|(range, what)| {
                let location = json!({ "uri": document.uri, "range": range });
                json!({ "location": location, "message": what })
            });
            shown["relatedInformation"] = related.collect();
            Some(shown)
        });
        shown.collect()
    }
}

impl Found {
    fn new(of: &Value, places: &[Value]) -> Self {
        let is_here = |place: &&Value| place.get("file").is_none_or(Value::is_null);
        let places = places.iter().filter(is_here).filter_map(|place| {
            let line = usize::try_from(place["line"].as_u64()?).ok()?;
            let text = |name: &str| place[name].as_str();
            let group = text("group").or(text("statement")).unwrap_or_default();
            let what =
                text("access").map_or(group.to_owned(), |access| format!("{access} by {group}"));
            Some((line.checked_sub(1)?, what))
        });
        Self {
            severity: if of["doubt"].is_string() {
                WARNING
            } else {
                ERROR
            },
            text: of["text"].as_str().unwrap_or_default().to_owned(),
            places: places.collect(),
        }
    }
}
