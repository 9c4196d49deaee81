//! The tracks of a timeline: what they are called, in which order they stand, and which holds which.

use std::collections::HashMap;

use petal_metadata::{CellId, FrontEndFileId, Id, Metadata, RegisterId, ThreadId, labels};
use petal_reconstruct::{Instance, InstanceId};

use petal_analysis::cells::track_label;
use petal_analysis::front_end::{FrontEndLines, front_end_file};
use petal_analysis::sites::Sites;

/// What the tracks of a component cell show, in the order in which viewers show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Subject {
    Cell,
    Counter(Counter),
    Control(ThreadId),
    Registers,
    StaticFsm(RegisterId),
    Groups(ThreadId),
    Primitive(CellId),
}

/// What is counted in every cycle of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Counter {
    Groups,
    Primitives,
    Overhead,
}

/// A value for each counter.
pub(super) type CounterValues = [u64; Counter::ALL.len()];

impl Counter {
    pub const ALL: [Self; 3] = [Self::Groups, Self::Primitives, Self::Overhead];

    fn name(self) -> &'static str {
        match self {
            Self::Groups => "active groups",
            Self::Primitives => "active primitives",
            Self::Overhead => "overhead",
        }
    }
}

/// Which track. Where slices of one subject overlap without nesting, it has several tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TrackKey {
    pub instance: InstanceId,
    pub subject: Subject,
    /// Counts the tracks of the subject from 0 on.
    pub number: usize,
}

/// A number for each track of a timeline, from 1 on.
pub type TrackId = u64;

/// A track: a line of a timeline, with slices that nest, or a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Its number.
    pub id: TrackId,
    /// The track of the cell or file that holds it; `None` for the outermost cell and for files. A cell's own
    /// track is held by that of the cell around it.
    pub parent: Option<TrackId>,
    /// The number of the component cell that it belongs to, from 1 on; that of a front end's file is beyond those
    /// of all cells.
    pub cell: u64,
    /// The path of that cell, with its component: `main.a.b [adder]`; or the name of the file.
    pub cell_path: String,
    /// The cell, with its component: `b [adder]`; or the name of the file.
    pub cell_label: String,
    /// What it shows.
    pub name: String,
    /// Ascending in the order of tracks below the same parent.
    pub rank: u32,
    /// What is on it.
    pub content: Content,
}

/// What a track holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The slices of a component cell.
    Cell,
    /// Nothing: it holds other tracks, those of the lines of a front end's file.
    Holder,
    /// Slices.
    Slices,
    /// A number for each cycle.
    Counter,
    /// A percentage over time.
    Share,
}

/// All tracks so far.
#[derive(Debug)]
pub(super) struct Tracks<'a> {
    metadata: &'a Metadata,
    sites: Sites<'a>,
    control_labels: Vec<Vec<String>>,
    ids: HashMap<TrackKey, TrackId>,
    /// Those of front ends' files.
    files: HashMap<FrontEndFileId, TrackId>,
    /// The newest.
    last: TrackId,
}

/// More than the cells of any design: the numbers of files follow.
const MAX_CELLS: u64 = 1 << 30;

impl<'a> Tracks<'a> {
    pub fn new(metadata: &'a Metadata) -> Self {
        let control_labels = metadata
            .components
            .iter()
            .map(|component| labels::control_labels(metadata, component));
        Self {
            metadata,
            sites: Sites::new(metadata),
            control_labels: control_labels.collect(),
            ids: HashMap::new(),
            files: HashMap::new(),
            last: 0,
        }
    }

    fn next(&mut self) -> TrackId {
        self.last += 1;
        self.last
    }

    /// The track of a front end's line, which is new, and before it that of its file if that is new, too.
    pub fn line(&mut self, file: FrontEndFileId, line: u32) -> Vec<Track> {
        let name = front_end_file(self.metadata, file).to_owned();
        let track = |id, parent, name_of_track, rank, content| Track {
            id,
            parent,
            cell: MAX_CELLS + file.index() as u64,
            cell_path: name.clone(),
            cell_label: name.clone(),
            name: name_of_track,
            rank,
            content,
        };
        let mut new = Vec::new();
        let holder = match self.files.get(&file) {
            Some(&holder) => holder,
            None => {
                let id = self.next();
                self.files.insert(file, id);
                let rank = u32::try_from(file.index()).unwrap_or(u32::MAX);
                new.push(track(id, None, name.clone(), rank, Content::Holder));
                id
            }
        };
        let shown = FrontEndLines::new(self.metadata).with_text(file, line);
        new.push(track(
            self.next(),
            Some(holder),
            shown,
            line,
            Content::Slices,
        ));
        new
    }

    /// The sites of the design.
    pub fn sites(&self) -> &Sites<'a> {
        &self.sites
    }

    /// The number of a track; the track itself if it is new.
    pub fn track(&mut self, key: TrackKey, instances: &[Instance]) -> (TrackId, Option<Track>) {
        if let Some(&id) = self.ids.get(&key) {
            return (id, None);
        }
        let id = self.next();
        self.ids.insert(key, id);
        let cell = |instance| TrackKey {
            instance,
            subject: Subject::Cell,
            number: 0,
        };
        let holder = match key.subject {
            Subject::Cell => instances[key.instance.index()]
                .parent
                .map(|(parent, _)| parent),
            _ => Some(key.instance),
        };
        let track = Track {
            id,
            parent: holder.and_then(|holder| self.ids.get(&cell(holder)).copied()),
            cell: key.instance.index() as u64 + 1,
            cell_path: track_label(self.metadata, self.sites.labels(), instances, key.instance),
            cell_label: self
                .sites
                .labels()
                .instance(key.instance, instances)
                .to_owned(),
            name: self.name(key, instances),
            rank: rank(key),
            content: match key.subject {
                Subject::Cell => Content::Cell,
                Subject::Counter(_) => Content::Counter,
                _ => Content::Slices,
            },
        };
        (id, Some(track))
    }

    fn name(&self, key: TrackKey, instances: &[Instance]) -> String {
        let id = instances[key.instance.index()].component;
        let component = self.metadata.component(id);
        let thread = |thread: ThreadId| match component.threads[thread.index()].arm {
            None => String::new(),
            Some((par, arm)) => {
                let par = &self.control_labels[id.index()][par.index()];
                format!(", {par} arm {}", arm + 1)
            }
        };
        let name = match key.subject {
            Subject::Cell => "cell".to_owned(),
            Subject::Counter(counter) => counter.name().to_owned(),
            Subject::Control(of) => format!("control{}", thread(of)),
            Subject::Registers => "control register updates".to_owned(),
            Subject::StaticFsm(register) => {
                format!("counter {}", component.register(register).name)
            }
            Subject::Groups(of) => format!("groups{}", thread(of)),
            Subject::Primitive(cell) => component.cell(cell).name.clone(),
        };
        if key.number == 0 {
            name
        } else {
            format!("{name} ({})", key.number + 1)
        }
    }
}

/// The order of a track among those of its parent: by what it shows first, cells last.
fn rank(key: TrackKey) -> u32 {
    const KINDS: u32 = 1 << 27;
    const TRACKS: u32 = 1 << 6;
    let (kind, at) = match key.subject {
        Subject::Counter(counter) => (0, counter as usize),
        Subject::Control(thread) => (1, thread.index()),
        Subject::Registers => (2, 0),
        Subject::StaticFsm(register) => (3, register.index()),
        Subject::Groups(thread) => (4, thread.index()),
        Subject::Primitive(cell) => (5, cell.index()),
        Subject::Cell => (6, key.instance.index()),
    };
    let within = |number: usize, limit: u32| {
        u32::try_from(number).map_or(limit - 1, |number| number.min(limit - 1))
    };
    kind * KINDS + within(at, KINDS / TRACKS) * TRACKS + within(key.number, TRACKS)
}
