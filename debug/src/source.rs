//! Where frames stand in the source.

use std::fmt::Write as _;

use petal_analysis::elements::{Element, ElementKind};
use petal_metadata::Id as _;
use petal_table::Screen;
use petal_table::style::{BOLD, DIM};
use petal_table::text::printable;

use crate::recording::Recording;
use crate::subjects::{File, Lines, file_name, file_text};
use crate::threads::{Frame, Thread};

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourcePlace {
    /// The name of the file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// What stands there, without the white space around it; nothing if nobody knows.
    pub text: String,
    /// The file, of which there may be several with that name.
    pub of: File,
}

impl SourcePlace {
    pub(crate) fn new(recording: &Recording, file: File, line: u32) -> Self {
        let text = file_text(recording, file).unwrap_or_default();
        let index = usize::try_from(line).unwrap_or(usize::MAX);
        let text = text
            .lines()
            .nth(index.saturating_sub(1))
            .unwrap_or_default();
        Self {
            file: file_name(recording, file).to_owned(),
            line,
            text: printable(text.trim()),
            of: file,
        }
    }
}

impl Frame {
    /// Where it stands: what runs it in the Calyx program, then where it is defined, then its lines in the front end's files.
    pub fn places(&self, recording: &Recording) -> Vec<SourcePlace> {
        let mut places: Vec<SourcePlace> = Vec::new();
        for of in &self.lines {
            let place = SourcePlace::new(recording, of.file, of.first);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// The place that an editor goes to: the first one, or the first in the front end's files if that is asked for and there is one.
    pub fn place(&self, recording: &Recording, in_front_end: bool) -> Option<SourcePlace> {
        let mut places = self.places(recording);
        let is_there = |place: &SourcePlace| matches!(place.of, File::FrontEnd(_));
        let front = places.iter().position(is_there);
        let at = front.filter(|_| in_front_end).unwrap_or(0);
        (at < places.len()).then(|| places.swap_remove(at))
    }
}

/// The innermost place of a thread.
pub(crate) fn place(recording: &Recording, thread: &Thread) -> Option<SourcePlace> {
    let lines = thread.frames.iter().find_map(|frame| frame.lines.first())?;
    Some(SourcePlace::new(recording, lines.file, lines.first))
}

/// The one line of a group's text on which it assigns to a port of a cell; `None` if there are several, or none.
pub(crate) fn assignment(recording: &Recording, group: Lines, cell: &str) -> Option<SourcePlace> {
    let text = file_text(recording, group.file)?;
    let lines = (1_u32..).zip(text.lines());
    let lines = lines.filter(|(line, _)| (group.first..=group.last).contains(line));
    let assigns = |text: &str| {
        text.split(';').any(|assignment| {
            let target = assignment.split(" = ").next().unwrap_or_default();
            let target = target.rsplit(['{', ' ']).next().unwrap_or_default();
            let target = target.split_once('.');
            let is_data = |port: &str| port == "in" || port == "write_data";
            target.is_some_and(|(of, port)| of.trim() == cell && is_data(port.trim()))
        })
    };
    let mut found = lines.filter(|(_, text)| assigns(text));
    let (line, _) = found.next()?;
    found
        .next()
        .is_none()
        .then(|| SourcePlace::new(recording, group.file, line))
}

/// Lines of a source file around one of them, where what is active is marked: `=>` the innermost, `>` what is around it.
pub(crate) fn list(
    recording: &Recording,
    threads: &[Thread],
    (file, line): (File, u32),
    around: u32,
    screen: Screen,
) -> Option<String> {
    let text = file_text(recording, file)?;
    let stands_on = |frame: &Frame, line: u32| {
        let mut lines = frame.lines.iter();
        lines.any(|of| of.file == file && of.first == line)
    };
    let first = line.saturating_sub(around).max(1);
    let shown = (1_u32..).zip(text.lines());
    let shown: Vec<_> = shown
        .skip_while(|(number, _)| *number < first)
        .take_while(|(number, _)| *number <= line.saturating_add(around))
        .collect();
    let width = shown
        .last()
        .map_or(1, |(number, _)| number.to_string().len());
    let mut listing = String::new();
    for (number, text) in shown {
        let is_innermost = |thread: &Thread| {
            let frames = thread.frames.iter();
            let innermost = frames.into_iter().find(|frame| !frame.lines.is_empty());
            innermost.is_some_and(|frame| stands_on(frame, number))
        };
        let mut all = threads.iter().flat_map(|thread| &thread.frames);
        let (mark, style) = if threads.iter().any(is_innermost) {
            ("=>", Some(BOLD))
        } else if all.any(|frame| stands_on(frame, number)) {
            (" >", None)
        } else {
            ("  ", Some(DIM))
        };
        let line = format!("{mark} {number:>width$}  {}", printable(text));
        let line = line.trim_end();
        let line = style.map_or_else(|| line.to_owned(), |style| screen.styled(style, line));
        let _ = writeln!(listing, "{line}");
    }
    Some(listing)
}

impl SourcePlace {
    /// How outputs write it: `L12` in the design's own file, `lib.futil:12` elsewhere.
    pub fn label(&self, recording: &Recording) -> String {
        match self.of {
            File::Calyx(id) if recording.metadata().files[id.index()].root => {
                format!("L{}", self.line)
            }
            _ => format!("{}:{}", self.file, self.line),
        }
    }
}

impl Frame {
    /// The lines that its label does not tell: `L12`, `queue.py:7`.
    pub fn line_labels(&self, recording: &Recording) -> Vec<String> {
        let is_statement = matches!(
            self.element,
            Some(Element {
                kind: ElementKind::Control(_),
                ..
            })
        );
        let places = self.places(recording).into_iter();
        let places = places.filter(|place| !is_statement || matches!(place.of, File::FrontEnd(_)));
        places.map(|place| place.label(recording)).collect()
    }
}
