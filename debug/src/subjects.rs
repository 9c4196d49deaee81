//! What a text names of a recorded run: a line, or a statement, group or cell.
//!
//! Owns the names, and on which lines each thing stands. What is on no list ran in no cycle of the run.

use petal_analysis::elements::{Element, ElementId, ElementKind};
use petal_analysis::front_end_file;
use petal_metadata::{Component, FileId, FrontEndFileId, Id as _, Span, labels, nearest};
use petal_reconstruct::instance_path;

use crate::recording::Recording;
use crate::source::SourcePlace;

/// A source file: of the design, or of its front end. Several may have one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum File {
    /// One that the compiler read.
    Calyx(FileId),
    /// One that the design's text was made of.
    FrontEnd(FrontEndFileId),
}

/// Lines of a file on which something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines {
    pub file: File,
    pub first: u32,
    pub last: u32,
}

impl Lines {
    fn of_span(span: Span, last: u32) -> Self {
        Self {
            file: File::Calyx(span.file),
            first: span.line,
            last,
        }
    }

    fn has(&self, file: File, line: u32) -> bool {
        self.file == file && (self.first..=self.last).contains(&line)
    }
}

/// What of a run can be named.
#[derive(Debug)]
pub(crate) struct Subjects {
    /// The names of each element, the shortest first; none of what has no name.
    names: Vec<Vec<String>>,
    lines: Vec<Vec<Lines>>,
}

/// Why a text names nothing that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// It looks like a line, and nothing on it ran.
    Line(String),
    /// It is a name of nothing that ran; what it may be instead.
    Name(String),
}

impl Unnamed {
    pub fn message(self) -> String {
        match self {
            Self::Line(message) | Self::Name(message) => message,
        }
    }
}

impl Subjects {
    pub fn new(recording: &Recording) -> Self {
        let all = recording.elements().all().iter();
        let (names, lines) = all
            .map(|&element| (names(recording, element), lines(recording, element)))
            .unzip();
        Self { names, lines }
    }

    /// All names, for completion.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.names.iter();
        names.filter_map(|names| names.first()).map(String::as_str)
    }

    /// The shortest name of an element.
    pub fn name(&self, id: ElementId) -> Option<&str> {
        self.names[id].first().map(String::as_str)
    }

    /// The lines on which an element stands: what runs it first, then where it is defined.
    pub fn lines(&self, id: ElementId) -> &[Lines] {
        &self.lines[id]
    }

    /// What stands on a line and ran.
    pub fn on_line(&self, file: File, line: u32) -> Vec<ElementId> {
        let is_there = |id: &ElementId| self.lines[*id].iter().any(|of| of.has(file, line));
        (0..self.lines.len()).filter(is_there).collect()
    }

    /// What a text names: `L12`, `lib.futil:12`, `main.while@L12`, `main.wr`, or `wr` wherever there is a group of that name.
    pub fn find(&self, recording: &Recording, text: &str) -> Result<Vec<ElementId>, Unnamed> {
        if let Some((files, line)) = place(recording, text)? {
            let there = files.iter().flat_map(|file| self.on_line(*file, line));
            let there: Vec<ElementId> = there.collect();
            if there.is_empty() {
                return Err(Unnamed::Line(self.nothing_on(recording, files[0], line)));
            }
            return Ok(there);
        }
        let ending = format!(".{text}");
        let named = |id: &ElementId| {
            let mut names = self.names[*id].iter();
            names.any(|name| name == text || name.ends_with(&ending))
        };
        let found: Vec<ElementId> = (0..self.names.len()).filter(named).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let near = nearest(text, self.names());
        let near = match near.first() {
            Some(near) => format!("; is it `{near}`?"),
            None => String::new(),
        };
        Err(Unnamed::Name(format!(
            "no statement, group or cell `{text}` ran{near}"
        )))
    }

    /// Tells of a line on which nothing ran which lines are the next ones.
    fn nothing_on(&self, recording: &Recording, file: File, line: u32) -> String {
        let all = self.lines.iter().flatten().filter(|of| of.file == file);
        let before = all.clone().map(|of| of.last).filter(|of| *of < line).max();
        let after = all.map(|of| of.first).filter(|of| *of > line).min();
        let near: Vec<String> = before
            .into_iter()
            .chain(after)
            .map(|line| SourcePlace::new(recording, file, line).label(recording))
            .collect();
        match &near[..] {
            [] => format!("nothing on line {line} ran, nor on another one of that file"),
            near => format!(
                "nothing on line {line} ran; the nearest that did: {}",
                near.join(" and ")
            ),
        }
    }
}

/// The place that a text writes as a line, if it does: the files of that name, of which there is one at least, and the line.
pub(crate) fn place(
    recording: &Recording,
    text: &str,
) -> Result<Option<(Vec<File>, u32)>, Unnamed> {
    let number = |text: &str| text.strip_prefix('L').unwrap_or(text).parse().ok();
    if let Some((file, line)) = text.rsplit_once(':')
        && !file.contains('@')
        && let Some(line) = number(line)
    {
        let files = files_named(recording, file);
        if files.is_empty() {
            return Err(Unnamed::Line(format!("the design has no file `{file}`")));
        }
        return Ok(Some((files, line)));
    }
    let Some(line) = text.strip_prefix('L').and_then(|line| line.parse().ok()) else {
        return Ok(None);
    };
    let files = &recording.metadata().files;
    let root = files.iter().position(|file| file.root);
    Ok(root.map(|root| (vec![File::Calyx(FileId::from_index(root))], line)))
}

/// The files of this name, or with this path.
pub(crate) fn files_named(recording: &Recording, path: &str) -> Vec<File> {
    let metadata = recording.metadata();
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let calyx = metadata.files.iter().enumerate();
    let calyx = calyx.filter(|(_, file)| file.name == name);
    let calyx: Vec<File> = calyx
        .map(|(at, _)| File::Calyx(FileId::from_index(at)))
        .collect();
    if !calyx.is_empty() {
        return calyx;
    }
    // Of several of one name, the one whose path it is.
    let own = || metadata.front_end.own_files();
    let exact = own().find(|(_, file)| file.path == path);
    let named = own().filter(|(_, file)| exact.is_none() && file.name() == name);
    let front_end = exact.into_iter().chain(named);
    front_end.map(|(id, _)| File::FrontEnd(id)).collect()
}

/// What a file is called.
pub(crate) fn file_name(recording: &Recording, file: File) -> &str {
    match file {
        File::Calyx(id) => &recording.metadata().files[id.index()].name,
        File::FrontEnd(id) => front_end_file(recording.metadata(), id),
    }
}

/// The text of a file, if it is known.
pub(crate) fn file_text(recording: &Recording, file: File) -> Option<&str> {
    let metadata = recording.metadata();
    match file {
        File::Calyx(id) => Some(&metadata.files[id.index()].text),
        File::FrontEnd(id) => metadata.front_end.file(id).text.as_deref(),
    }
}

fn component(recording: &Recording, element: Element) -> &Component {
    let instance = recording.instances()[element.instance.index()];
    recording.metadata().component(instance.component)
}

fn names(recording: &Recording, element: Element) -> Vec<String> {
    let metadata = recording.metadata();
    let id = recording.instances()[element.instance.index()].component;
    let of = component(recording, element);
    let cell = instance_path(metadata, recording.instances(), element.instance);
    match element.kind {
        ElementKind::Cell => vec![cell],
        ElementKind::Control(node) => {
            let label = recording.labels().control(id, node);
            let plain = label.strip_prefix("static ");
            let plain = plain.map(|label| format!("{cell}.{label}"));
            std::iter::once(format!("{cell}.{label}"))
                .chain(plain)
                .collect()
        }
        ElementKind::Group(run) => {
            let run = of.run(run);
            let name = format!("{cell}.{}", recording.labels().group(id, run.group));
            let precise = run.control.map(|node| {
                let places = labels::control_places(metadata, of);
                format!("{name}@{}", places[node.index()])
            });
            std::iter::once(name).chain(precise).collect()
        }
        ElementKind::Primitive(..) => Vec::new(),
    }
}

fn lines(recording: &Recording, element: Element) -> Vec<Lines> {
    let of = component(recording, element);
    let front_end = &recording.metadata().front_end;
    let (used, defined) = match element.kind {
        ElementKind::Cell => (Some((of.span, &of.positions)), None),
        ElementKind::Control(node) => {
            let node = of.node(node);
            (Some((node.span, &node.positions)), None)
        }
        ElementKind::Group(run) => {
            let run = of.run(run);
            let node = run.control.map(|node| of.node(node));
            let group = of.group(run.group);
            (
                node.map(|node| (node.span, &node.positions)),
                Some((group.span, &group.positions)),
            )
        }
        ElementKind::Primitive(..) => (None, None),
    };
    let mut lines = Vec::new();
    lines.extend(used.and_then(|(span, _)| span.map(|of| Lines::of_span(of, of.line))));
    lines.extend(defined.and_then(|(span, _)| span.map(|of| Lines::of_span(of, of.end_line))));
    for (_, positions) in used.into_iter().chain(defined) {
        lines.extend(front_end.front(positions).map(|position| Lines {
            file: File::FrontEnd(position.file),
            first: position.line,
            last: position.line,
        }));
    }
    lines
}
