//! A document that an editor has open, and which figures are surely of it.

use std::collections::HashMap;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use petal_table::text::uri;
use serde_json::{Value, json};

use super::checks::Check;
use super::figures::{Figures, Known, SourceFile};
use super::parts::{Part, Place};
use super::text::{Encoding, Text};

/// A document.
#[derive(Debug)]
pub struct Document {
    /// What the client calls it.
    pub uri: String,
    /// Where its file is.
    pub path: PathBuf,
    /// The name of that.
    pub name: String,
    /// How often it was changed, in the client's words.
    pub version: Value,
    /// What it says now.
    pub text: Text,
    /// What it cost, if that is known.
    pub view: Option<View>,
    /// What was found wrong in a run of it, if somebody looked.
    pub check: Option<Check>,
}

impl Document {
    /// One that was opened; `None` if it is no file.
    pub fn new(uri: &str, version: Value, text: &str) -> Option<Self> {
        let path = path(uri)?;
        let mut text = Text::new(text);
        // It is in the file, too.
        text.keep(text.digest());
        Some(Self {
            uri: uri.to_owned(),
            name: path.file_name()?.to_str()?.to_owned(),
            path,
            version,
            text,
            view: None,
            check: None,
        })
    }

    /// Which text of it a profile with these files is of: that of now, or else an earlier one.
    pub fn fits(&self, known: &[Known]) -> Option<u64> {
        let digests = known.iter().filter(|(name, _)| *name == self.name);
        let mut digests = digests.map(|(_, digest)| *digest);
        let now = self.text.digest();
        digests
            .clone()
            .find(|digest| *digest == now)
            .or_else(|| digests.find(|digest| self.text.was(*digest)))
    }

    /// Shows these figures, which are of the text with this digest.
    pub fn show(&mut self, figures: &Arc<Figures>, digest: u64) {
        self.text.keep(digest);
        let is_countable = self.text.is_countable();
        let view = is_countable.then(|| View::new(&self.text, &self.name, figures, digest));
        self.view = view.flatten();
    }

    /// Where a line is without the white space around it.
    pub fn line_range(&self, line: usize, encoding: Encoding) -> Value {
        let text = self.text.line(line);
        let indent = text.len() - text.trim_start().len();
        let from = encoding.length(&text[..indent]);
        let to = encoding.length(text.trim_end()).max(from);
        range([(line, from), (line, to)])
    }
}

/// A range as the protocol has it.
pub fn range(places: [(usize, usize); 2]) -> Value {
    let [start, end] =
        places.map(|(line, character)| json!({ "line": line, "character": character }));
    json!({ "start": start, "end": end })
}

/// The figures of a document, by its lines.
#[derive(Debug)]
pub struct View {
    /// Those of the whole design.
    pub figures: Arc<Figures>,
    /// Which of its files the document is.
    pub file: usize,
    /// The text that they are of.
    pub digest: u64,
    /// Which line of that each line of the document still is.
    lines: Vec<Option<u32>>,
    /// The lines of the document, by those.
    places: HashMap<u32, usize>,
}

impl View {
    fn new(text: &Text, name: &str, figures: &Arc<Figures>, digest: u64) -> Option<Self> {
        let mut files = figures.files.iter();
        let file = files.position(|file| file.digest == Some(digest) && file.name == name)?;
        let of: Vec<&str> = figures.files[file]
            .lines
            .iter()
            .map(String::as_str)
            .collect();
        let lines = text.unchanged(digest, &of);
        let number = |line: usize| u32::try_from(line + 1).ok();
        let lines: Vec<Option<u32>> = lines
            .into_iter()
            .map(|line| line.and_then(number))
            .collect();
        let places = lines.iter().enumerate();
        let places = places.filter_map(|(at, line)| Some(((*line)?, at)));
        Some(Self {
            figures: Arc::clone(figures),
            file,
            digest,
            places: places.collect(),
            lines,
        })
    }

    /// The file of the design that the document is.
    pub fn source(&self) -> &SourceFile {
        &self.figures.files[self.file]
    }

    /// The line of the profiled text, from 1, that a line of the document, from 0, still is.
    pub fn profiled(&self, line: usize) -> Option<u32> {
        self.lines.get(line).copied().flatten()
    }

    /// The line of the document, from 0, that a line of the profiled text, from 1, still is.
    pub fn place(&self, line: u32) -> Option<usize> {
        self.places.get(&line).copied()
    }

    /// The parts that begin on a line of the document, those with most cycles first.
    pub fn parts(&self, line: usize) -> Vec<&Part> {
        let line = self.profiled(line);
        let parts = line.and_then(|line| self.source().parts.get(&line));
        let parts = parts.into_iter().flatten();
        let mut parts: Vec<&Part> = parts.map(|&at| &self.figures.parts[at]).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.cycles));
        parts
    }

    /// Where a part stands in this document: its first line there, and its place in the file.
    pub fn place_of(&self, part: &Part) -> Option<(usize, Place)> {
        let place = part.places.iter().find(|place| place.file == self.file)?;
        Some((self.place(place.line)?, *place))
    }
}

/// The file that a URI names, if it names one.
pub fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut rest = rest.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(std::ffi::OsString::from_vec(bytes).into())
}

/// The URI of a file.
pub fn file_uri(path: &Path) -> String {
    format!("file://{}", uri(&path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_files() {
        for (uri, file) in [
            ("file:///a/b.futil", Some("/a/b.futil")),
            ("file://localhost/a%20b/%C3%A9", Some("/a b/\u{e9}")),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file:", None),
            ("file://", None),
            ("untitled:Untitled-1", None),
        ] {
            assert_eq!(path(uri), file.map(PathBuf::from), "{uri}");
        }
        let odd = Path::new("/a b/\u{e9}#?%");
        assert_eq!(path(&file_uri(odd)).as_deref(), Some(odd));
    }
}
