//! Which work each cycle of a run belongs to, in every thread of control.
//!
//! A cycle in which a thread only moves its control along belongs to what the cycle before belongs to, if that is in the same statement:
//! whatever ends costs the steps after it, too. Otherwise, and where control waits for longer, it belongs to the innermost statement that
//! is active in the thread.

use std::collections::{HashMap, HashSet, VecDeque};

use petal_metadata::{ComponentId, ControlKind, GroupRunId, Id as _, Metadata, RunRole};
use petal_reconstruct::{Activity, CallTree, FrameLabels, Node, NodeId, TreeId};

use crate::activity::{Activities, Subject};

/// A place in call trees, by the names on the way to it.
pub(crate) type PlaceId = usize;

/// The threads of a cycle, by their number.
pub(crate) type ShapeId = usize;

/// How many cycles there were of each shape.
pub(crate) type Cycles = HashMap<ShapeId, u64>;

/// How many changes are remembered at least.
const REMEMBERED: usize = 1024;

/// A thread in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Thread {
    /// What the cycle belongs to.
    pub place: PlaceId,
    pub doing: Doing,
}

/// What a thread does in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Doing {
    /// Something works.
    Work,
    /// Control alone is moved along.
    Control,
    /// It waits at a barrier for other threads.
    Wait,
}

/// The work of a run.
pub(crate) struct Work {
    labels: FrameLabels,
    /// The groups that wait at a barrier.
    barriers: HashSet<(ComponentId, GroupRunId)>,
    /// Of each latency, what is active as long as it is about its own work.
    own: Vec<Subject>,
    /// The places of these.
    roots: Vec<HashSet<PlaceId>>,
    places: Vec<(Option<PlaceId>, String)>,
    numbers: HashMap<(Option<PlaceId>, String), PlaceId>,
    /// The threads of each tree.
    trees: Vec<Vec<Thread>>,
    shapes: Vec<Vec<Thread>>,
    shape_numbers: HashMap<Vec<Thread>, ShapeId>,
    /// The shape of a tree in its first cycle, by that of the cycle before, and in all others.
    known: HashMap<(TreeId, Option<ShapeId>), ShapeId>,
    latest: Option<TreeId>,
    /// The latest shapes, each with its first cycle.
    log: VecDeque<(u64, ShapeId)>,
    /// When the log is long enough to be cut.
    most: usize,
}

impl Work {
    /// That of a run of this design, for latencies with such work of their own.
    pub fn new(metadata: &Metadata, own: Vec<Subject>) -> Self {
        Self {
            labels: FrameLabels::new(metadata),
            barriers: barriers(metadata),
            roots: vec![HashSet::new(); own.len()],
            own,
            places: Vec::new(),
            numbers: HashMap::new(),
            trees: Vec::new(),
            shapes: Vec::new(),
            shape_numbers: HashMap::new(),
            known: HashMap::new(),
            latest: None,
            log: VecDeque::new(),
            most: REMEMBERED,
        }
    }

    /// Takes in the next tree. Without latencies nobody asks.
    pub fn add(&mut self, tree: &CallTree, activities: &Activities<'_>) {
        if self.own.is_empty() {
            return;
        }
        let mut places: Vec<PlaceId> = Vec::with_capacity(tree.len());
        for (id, node) in tree.nodes() {
            let above = tree.parent(id).map(|above| places[above.index()]);
            let label = self.labels.label(node, activities.instances());
            let key = (above, label.to_owned());
            let next = self.places.len();
            let place = *self.numbers.entry(key.clone()).or_insert(next);
            if place == next {
                self.places.push(key);
            }
            places.push(place);
        }
        for (own, roots) in self.own.iter().zip(&mut self.roots) {
            let nodes = activities.nodes_of(own, tree);
            roots.extend(nodes.map(|id| places[id.index()]));
        }
        let is_frame = |id: NodeId| !matches!(tree.node(id), Node::Primitive { .. });
        let innermost = tree
            .nodes()
            .filter(|(id, _)| is_frame(*id) && !tree.children(*id).iter().any(|id| is_frame(*id)));
        let threads = innermost.map(|(id, node)| Thread {
            place: places[id.index()],
            doing: match node {
                Node::Cell {
                    activity: Activity::Overhead(_),
                    ..
                }
                | Node::Control { .. } => Doing::Control,
                Node::Group { component, run, .. } if self.barriers.contains(&(component, run)) => {
                    Doing::Wait
                }
                _ => Doing::Work,
            },
        });
        self.trees.push(threads.collect());
    }

    /// From this cycle on this tree is active.
    pub fn go_on(&mut self, cycle: u64, tree: TreeId) {
        if self.own.is_empty() || self.latest.replace(tree) == Some(tree) {
            return;
        }
        while self.log.back().is_some_and(|&(start, _)| start >= cycle) {
            self.log.pop_back();
        }
        let before = self.log.back().map(|&(_, shape)| shape);
        let first = self.shape(tree, before);
        self.log.push_back((cycle, first));
        let others = self.shape(tree, None);
        if others != first {
            self.log.push_back((cycle + 1, others));
        }
    }

    fn shape(&mut self, tree: TreeId, before: Option<ShapeId>) -> ShapeId {
        if let Some(&shape) = self.known.get(&(tree, before)) {
            return shape;
        }
        let mut threads = Vec::new();
        for &thread in &self.trees[tree.index()] {
            let ended = before.iter().flat_map(|&shape| &self.shapes[shape]);
            let ended = ended.filter(|ended| {
                thread.doing == Doing::Control
                    && self.above(ended.place).any(|at| at == thread.place)
            });
            let so_far = threads.len();
            threads.extend(ended.map(|ended| Thread {
                doing: Doing::Control,
                ..*ended
            }));
            if threads.len() == so_far {
                threads.push(thread);
            }
        }
        threads.sort_unstable();
        threads.dedup();
        let next = self.shapes.len();
        let shape = *self.shape_numbers.entry(threads.clone()).or_insert(next);
        if shape == next {
            self.shapes.push(threads);
        }
        self.known.insert((tree, before), shape);
        shape
    }

    /// The shapes of some cycles: the first cycle, the one after the last, and the shape of each part.
    pub fn during(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, ShapeId)> + '_ {
        let first = self
            .log
            .partition_point(|&(at, _)| at <= start)
            .saturating_sub(1);
        (first..self.log.len())
            .map(move |at| {
                let (from, shape) = self.log[at];
                let to = self.log.get(at + 1).map_or(end, |&(next, _)| next);
                (from.max(start), to.min(end), shape)
            })
            .take_while(move |&(from, to, _)| from < to)
    }

    /// Whether so much is remembered that what is not needed should be forgotten.
    pub fn is_long(&self) -> bool {
        self.log.len() >= self.most
    }

    /// Forgets what was before a cycle, as soon as that is half of all: so each change is looked at a few times at most.
    ///
    /// `keep` is called before.
    pub fn forget_before(&mut self, cycle: u64, keep: impl FnOnce(&Self)) {
        let gone = self.log.partition_point(|&(start, _)| start <= cycle);
        let gone = gone.saturating_sub(1);
        if gone >= self.log.len() / 2 {
            keep(self);
            self.log.drain(..gone);
        }
        self.most = (2 * self.log.len()).max(REMEMBERED);
    }

    /// The threads of a shape that are about the own work of a latency: all, if none is.
    pub fn threads(&self, shape: ShapeId, latency: usize) -> Vec<Thread> {
        let all = &self.shapes[shape];
        let is_own = |thread: &&Thread| {
            let mut above = self.above(thread.place);
            above.any(|at| self.roots[latency].contains(&at))
        };
        let own: Vec<Thread> = all.iter().filter(is_own).copied().collect();
        if own.is_empty() { all.clone() } else { own }
    }

    /// Whether nothing of a latency's own work is active in cycles of a shape.
    pub fn is_stall(&self, shape: ShapeId, latency: usize) -> bool {
        let works = |thread: &Thread| {
            let mut above = self.above(thread.place);
            thread.doing == Doing::Work && above.any(|at| self.roots[latency].contains(&at))
        };
        !self.shapes[shape].iter().any(works)
    }

    /// A place and those around it, innermost first.
    fn above(&self, place: PlaceId) -> impl Iterator<Item = PlaceId> + '_ {
        std::iter::successors(Some(place), |&at| self.places[at].0)
    }

    /// The names of a place and of those around it, innermost first, up to the own work of a latency if that is around.
    pub fn own_names(&self, place: PlaceId, latency: usize) -> impl Iterator<Item = &str> {
        let roots = &self.roots[latency];
        let outermost = self.above(place).filter(|at| roots.contains(at)).last();
        let inner = self
            .above(place)
            .take_while(move |&at| outermost.is_none_or(|root| self.places[root].0 != Some(at)));
        inner.map(|at| self.places[at].1.as_str())
    }
}

/// The groups that the compiler made to wait at an `@sync`.
fn barriers(metadata: &Metadata) -> HashSet<(ComponentId, GroupRunId)> {
    let mut barriers = HashSet::new();
    for id in metadata.component_ids() {
        let component = metadata.component(id);
        for (at, run) in component.runs.iter().enumerate() {
            let node = run.control.map(|node| component.node(node).kind);
            if run.role == RunRole::Control && node == Some(ControlKind::Empty) {
                barriers.insert((id, GroupRunId::from_index(at)));
            }
        }
    }
    barriers
}
