//! The rows of a timeline: what they are called, where they stand, and which holds which.

use std::collections::HashMap;

use petal_metadata::{CellId, Id, Metadata, RegisterId, ThreadId, labels};
use petal_reconstruct::{FrameLabels, Instance, InstanceId};

use crate::cells::track_label;

/// What a row of an instance shows, in the order in which viewers show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Track {
    Cell,
    Count(Count),
    Control(ThreadId),
    Registers,
    Counter(RegisterId),
    Groups(ThreadId),
    Primitive(CellId),
}

/// What is counted in every cycle of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Count {
    Groups,
    Primitives,
    Overhead,
}

/// A value for each counter.
pub(super) type Counts = [u64; Count::ALL.len()];

impl Count {
    pub const ALL: [Self; 3] = [Self::Groups, Self::Primitives, Self::Overhead];

    fn name(self) -> &'static str {
        match self {
            Self::Groups => "active groups",
            Self::Primitives => "active primitives",
            Self::Overhead => "control overhead",
        }
    }
}

/// A row. Slices of a track that do not nest get rows of their own, with numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub instance: InstanceId,
    pub track: Track,
    pub number: usize,
}

/// A number for each row of a timeline, from 1 on.
pub type LaneId = u64;

/// A row of a timeline, as a format writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Its number.
    pub id: LaneId,
    /// The row of the cell that holds it; `None` for the outermost cell. A cell's own row is held
    /// by that of the cell around it.
    pub parent: Option<LaneId>,
    /// The number of the component cell that it belongs to, from 1 on.
    pub cell: u64,
    /// The path of that cell, with its component: `main.a.b [adder]`.
    pub cell_path: String,
    /// The cell, with its component: `b [adder]`.
    pub cell_label: String,
    /// What it shows.
    pub name: String,
    /// Ascending in the order of rows below the same parent.
    pub rank: u32,
    /// What is on it.
    pub content: Content,
}

/// What a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The slices of a component cell.
    Cell,
    /// Slices.
    Slices,
    /// A number for each cycle.
    Counter,
}

/// All rows so far.
#[derive(Debug)]
pub(super) struct Lanes<'a> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    control_labels: Vec<Vec<String>>,
    ids: HashMap<Place, LaneId>,
}

impl<'a> Lanes<'a> {
    pub fn new(metadata: &'a Metadata) -> Self {
        let control_labels = metadata
            .components
            .iter()
            .map(|component| labels::control_labels(metadata, component));
        Self {
            metadata,
            labels: FrameLabels::new(metadata),
            control_labels: control_labels.collect(),
            ids: HashMap::new(),
        }
    }

    pub fn labels(&self) -> &FrameLabels {
        &self.labels
    }

    /// The number of a row; the row itself if it is new.
    pub fn lane(&mut self, place: Place, instances: &[Instance]) -> (LaneId, Option<Lane>) {
        if let Some(&id) = self.ids.get(&place) {
            return (id, None);
        }
        let id = self.ids.len() as LaneId + 1;
        self.ids.insert(place, id);
        let cell = |instance| Place {
            instance,
            track: Track::Cell,
            number: 0,
        };
        let holder = match place.track {
            Track::Cell => instances[place.instance.index()]
                .parent
                .map(|(parent, _)| parent),
            _ => Some(place.instance),
        };
        let lane = Lane {
            id,
            parent: holder.and_then(|holder| self.ids.get(&cell(holder)).copied()),
            cell: place.instance.index() as u64 + 1,
            cell_path: track_label(self.metadata, &self.labels, instances, place.instance),
            cell_label: self.labels.instance(place.instance, instances).to_owned(),
            name: self.name(place, instances),
            rank: rank(place),
            content: match place.track {
                Track::Cell => Content::Cell,
                Track::Count(_) => Content::Counter,
                _ => Content::Slices,
            },
        };
        (id, Some(lane))
    }

    fn name(&self, place: Place, instances: &[Instance]) -> String {
        let id = instances[place.instance.index()].component;
        let component = self.metadata.component(id);
        let thread = |thread: ThreadId| match component.threads[thread.index()].arm {
            None => String::new(),
            Some((par, arm)) => {
                let par = &self.control_labels[id.index()][par.index()];
                format!(", {par} arm {}", arm + 1)
            }
        };
        let name = match place.track {
            Track::Cell => "cell".to_owned(),
            Track::Count(count) => count.name().to_owned(),
            Track::Control(of) => format!("control{}", thread(of)),
            Track::Registers => "control register updates".to_owned(),
            Track::Counter(register) => format!("counter {}", component.register(register).name),
            Track::Groups(of) => format!("groups{}", thread(of)),
            Track::Primitive(cell) => component.cell(cell).name.clone(),
        };
        if place.number == 0 {
            name
        } else {
            format!("{name} ({})", place.number + 1)
        }
    }
}

/// Where a row stands below its parent: by what it shows first, cells last.
fn rank(place: Place) -> u32 {
    const KINDS: u32 = 1 << 27;
    const ROWS: u32 = 1 << 6;
    let (kind, at) = match place.track {
        Track::Count(count) => (0, count as usize),
        Track::Control(thread) => (1, thread.index()),
        Track::Registers => (2, 0),
        Track::Counter(register) => (3, register.index()),
        Track::Groups(thread) => (4, thread.index()),
        Track::Primitive(cell) => (5, cell.index()),
        Track::Cell => (6, place.instance.index()),
    };
    let within = |number: usize, limit: u32| {
        u32::try_from(number).map_or(limit - 1, |number| number.min(limit - 1))
    };
    kind * KINDS + within(at, KINDS / ROWS) * ROWS + within(place.number, ROWS)
}
