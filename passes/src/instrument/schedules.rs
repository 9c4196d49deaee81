//! The schedules of static programs: which source statement runs in which cycle. Taken before the
//! compiler copies a static program into one group and leaves a counter of it.
//!
//! A statement that a static program contains as a whole runs from where the first of its parts starts to where the last
//! one ends. Parts are enables, and `static if`s and loops as wholes: what is in those is placed in an iteration or branch
//! of them.
//!
//! ```text
//! cycle            0   1   2   3   4   5
//! seq s            ├───────────────────┤
//!   a              ├───┤
//!   repeat 2 r         ├───────────────┤
//!     seq b            ├───────┤├──────┤     starts in cycle 0 of each iteration
//!   if with i      condition ├─┤├──────┤     with the cycle of its condition
//! ```

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;
use petal_metadata::{ControlKind, ProbeKind, ProbeName, Schedule};
use petal_program::source::SourceComponent;
use petal_program::tree::{NodeKey, Slot, View, ViewMut};

use crate::probes::{BranchProbe, ComponentProbes, Condition};

/// Statements of the source, and which enables of the program now are at or below each.
pub(super) struct Enables<'a> {
    source: &'a SourceComponent,
    spans: HashMap<NodeKey, Span>,
    /// How many enables come before what is looked at next.
    passed: usize,
    /// Whether the component has a `done`, whose cycle belongs to the statement that is the whole control program.
    is_dynamic: bool,
}

/// The enables of a statement: how many there are, and the numbers of the first and the last one in the order of the program.
struct Span {
    count: usize,
    first: usize,
    last: usize,
}

impl<'a> Enables<'a> {
    pub fn of(source: &'a SourceComponent, component: &ir::Component) -> Self {
        let mut spans: HashMap<NodeKey, Span> = HashMap::new();
        let mut passed = 0;
        View::of(&component.control.borrow()).walk(&mut |view| {
            if let Some((key, _)) = enabled(view) {
                for above in source.ancestry(key) {
                    let span = spans.entry(above).or_insert(Span {
                        count: 0,
                        first: passed,
                        last: passed,
                    });
                    span.count += 1;
                    span.last = passed;
                }
                passed += 1;
            }
        });
        Self {
            source,
            spans,
            passed: 0,
            is_dynamic: component.latency.is_none(),
        }
    }

    /// The innermost statement around all enables at or below a node.
    fn around(&self, view: View<'_>) -> Option<NodeKey> {
        let mut keys = HashSet::new();
        view.walk(&mut |below| keys.extend(enabled(below).map(|(key, _)| key)));
        self.source.common_ancestor(keys)
    }
}

/// What an enable or invoke is of the source.
fn enabled(view: View<'_>) -> Option<(NodeKey, Slot)> {
    (view.group().is_some() || view.invoked().is_some())
        .then(|| view.identity())
        .flatten()
}

/// What cycles are counted from.
struct Frame {
    /// The frame that this one is in, and the cycle of it in which this one starts.
    outer: Option<(FrameId, u64)>,
    /// The loop or `if` whose iteration or branch it is; `None` for the whole program, or if it is not known.
    of: Option<NodeKey>,
    /// Iterations, and the cycles of one.
    iterations: u64,
    latency: u64,
    /// The probe of the branch.
    branch: Option<ProbeName>,
    /// Whether when it runs is known: it is in no branch without a probe.
    is_certain: bool,
}

type FrameId = usize;

/// When a statement runs: in which frame, from where to where. `None` if its parts contradict one another.
type Extent = Option<(FrameId, u64, u64)>;

/// Finds out when the statements of a static program run.
struct Timetable<'a> {
    source: &'a SourceComponent,
    /// The innermost dynamic statement around the program.
    around: Option<NodeKey>,
    frames: Vec<Frame>,
    extents: HashMap<NodeKey, Extent>,
    /// How many enables of the program are at or below each statement.
    counts: HashMap<NodeKey, usize>,
    /// How many enables it has.
    placed: usize,
}

impl Timetable<'_> {
    /// Places a part of the program that starts in a cycle of a frame.
    fn place(&mut self, view: View<'_>, frame: FrameId, start: u64) {
        let View::Static(control) = view else {
            unreachable!("static programs have only static parts");
        };
        let end = start.saturating_add(control.get_latency());
        match control {
            ir::StaticControl::Enable(_) | ir::StaticControl::Invoke(_) => {
                if let Some((key, _)) = enabled(view) {
                    self.part(key, frame, start, end);
                    self.placed += 1;
                    for above in self.source.ancestry(key) {
                        *self.counts.entry(above).or_default() += 1;
                    }
                }
            }
            ir::StaticControl::Seq(_) => {
                let mut start = start;
                for child in view.children() {
                    self.place(child, frame, start);
                    start = start.saturating_add(latency(child));
                }
            }
            ir::StaticControl::Par(_) => {
                for child in view.children() {
                    self.place(child, frame, start);
                }
            }
            ir::StaticControl::Repeat(node) => {
                let of = view.identity().map(|(key, _)| key);
                let inner = self.frame(frame, start, of, None, &node.body);
                self.frames[inner].iterations = node.num_repeats;
                self.place(View::Static(&node.body), inner, 0);
                self.part_or_unknown(of, inner, frame, start, end);
            }
            ir::StaticControl::If(node) => {
                let of = view.identity().map(|(key, _)| key);
                for (branch, body) in [(true, &node.tbranch), (false, &node.fbranch)] {
                    let probe = view.branch_probe(branch);
                    let inner = self.frame(frame, start, of, probe, body);
                    self.frames[inner].is_certain &= probe.is_some();
                    self.place(View::Static(body), inner, 0);
                    self.part_or_unknown(of, inner, frame, start, end);
                }
            }
            ir::StaticControl::Empty(_) => {}
        }
    }

    fn frame(
        &mut self,
        outer: FrameId,
        start: u64,
        of: Option<NodeKey>,
        branch: Option<ProbeName>,
        body: &ir::StaticControl,
    ) -> FrameId {
        self.frames.push(Frame {
            outer: Some((outer, start)),
            of,
            iterations: 1,
            latency: body.get_latency(),
            branch,
            is_certain: self.frames[outer].is_certain,
        });
        self.frames.len() - 1
    }

    /// The loop or `if` whose insides are the frame `inner`. If it is not known which it is, nothing is known of what contains
    /// them.
    fn part_or_unknown(
        &mut self,
        of: Option<NodeKey>,
        inner: FrameId,
        frame: FrameId,
        start: u64,
        end: u64,
    ) {
        if let Some(key) = of {
            self.part(key, frame, start, end);
            return;
        }
        let extents = self.extents.iter();
        let inside = extents.filter(|(_, extent)| extent.is_some_and(|(of, ..)| of == inner));
        let inside: Vec<NodeKey> = inside.map(|(&key, _)| key).collect();
        for key in inside {
            for above in self.source.ancestry(key) {
                self.extents.insert(above, None);
            }
        }
    }

    /// Something of the statement `key` runs from `start` to `end`.
    fn part(&mut self, key: NodeKey, frame: FrameId, start: u64, end: u64) {
        let inside_of = match self.frames[frame].outer {
            Some(_) => self.frames[frame].of,
            None => self.around,
        };
        for statement in self.source.ancestry(key) {
            if Some(statement) == inside_of {
                return;
            }
            let extent = self
                .extents
                .entry(statement)
                .or_insert(Some((frame, start, end)));
            *extent = extent
                .filter(|(of, ..)| *of == frame)
                .map(|(_, from, to)| (frame, from.min(start), to.max(end)));
        }
        // What contains the statement in the program does not contain it in the source.
        if inside_of.is_some() {
            for statement in self.source.ancestry(key) {
                self.extents.insert(statement, None);
            }
        }
    }

    /// The schedule of the whole program.
    fn schedule(&self) -> Schedule<NodeKey> {
        // What is right in each statement or frame.
        let mut inside: HashMap<Holder, Vec<Holder>> = HashMap::new();
        for (&key, extent) in &self.extents {
            let Some((frame, ..)) = *extent else {
                continue;
            };
            if self.frames[frame].is_certain {
                let holder = self.holder(key, frame);
                inside
                    .entry(holder)
                    .or_default()
                    .push(Holder::Statement(key));
            }
        }
        for (id, frame) in self.frames.iter().enumerate() {
            let extent = frame.of.and_then(|key| self.extents.get(&key));
            if let (Some(key), Some(Some(_)), true) = (frame.of, extent, frame.is_certain) {
                let holder = Holder::Statement(key);
                inside.entry(holder).or_default().push(Holder::Frame(id));
            }
        }
        self.part_of(Holder::Frame(0), 0, &inside).innermost()
    }

    /// What holds a statement that runs in a frame: the innermost statement around it there, or the frame.
    fn holder(&self, key: NodeKey, frame: FrameId) -> Holder {
        let around = self.source.ancestry(key).skip(1);
        let mut around = around.take_while(|above| self.frames[frame].of != Some(*above));
        let statement = around.find(|above| match self.extents.get(above) {
            Some(Some((of, ..))) => *of == frame,
            _ => false,
        });
        statement.map_or(Holder::Frame(frame), Holder::Statement)
    }

    /// The schedule of a statement or frame, in what starts in the cycle `origin` of the frame around it.
    fn part_of(
        &self,
        holder: Holder,
        origin: u64,
        inside: &HashMap<Holder, Vec<Holder>>,
    ) -> Schedule<NodeKey> {
        let (start, end) = self.cycles(holder);
        let frame = match holder {
            Holder::Frame(frame) => Some(&self.frames[frame]),
            Holder::Statement(_) => None,
        };
        let mut parts = inside.get(&holder).cloned().unwrap_or_default();
        parts.sort_by_key(|&part| (self.cycles(part), part));
        let from = if frame.is_some() { 0 } else { start };
        let statement = match holder {
            Holder::Statement(key) => Some(key),
            Holder::Frame(_) => None,
        };
        let parts = parts
            .into_iter()
            .map(|part| self.part_of(part, from, inside));
        let mut schedule = Schedule::new(statement, start - origin, end - start);
        if let Some(frame) = frame {
            schedule.iterations = frame.iterations;
            schedule.branch = frame.branch;
        }
        schedule.with(parts.collect())
    }

    /// From where to where a statement or frame runs in the frame around it.
    fn cycles(&self, holder: Holder) -> (u64, u64) {
        match holder {
            Holder::Frame(frame) => {
                let Frame {
                    outer,
                    iterations,
                    latency,
                    ..
                } = &self.frames[frame];
                let start = outer.map_or(0, |(_, start)| start);
                (
                    start,
                    start.saturating_add(latency.saturating_mul(*iterations)),
                )
            }
            Holder::Statement(key) => {
                let extent = self.extents.get(&key).copied().flatten();
                extent.map_or((0, 0), |(_, start, end)| (start, end))
            }
        }
    }
}

/// What a schedule is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Holder {
    Statement(NodeKey),
    Frame(FrameId),
}

fn latency(view: View<'_>) -> u64 {
    match view {
        View::Static(control) => control.get_latency(),
        View::Dynamic(_) => 0,
    }
}

/// Whether a branch may go on while none of its enables is active, so that only a probe tells that it runs.
fn has_pauses(branch: View<'_>) -> bool {
    let mut pauses = false;
    branch.walk(&mut |view| {
        pauses |= matches!(view, View::Static(ir::StaticControl::If(_)));
        pauses |= view.group().is_some() && view.identity().is_none();
    });
    pauses
}

impl ComponentProbes {
    /// Numbers every static program, and records its schedule and the latencies of its statements. `around` is the innermost
    /// dynamic statement around the node.
    pub(super) fn add_static_programs(
        &mut self,
        mut node: ViewMut<'_>,
        around: Option<NodeKey>,
        enables: &mut Enables<'_>,
    ) {
        if matches!(node.view(), View::Static(_)) {
            node.set_static_program(self.static_programs.len());
            self.add_branch_probes(node.reborrow());
            let schedule = self.static_program(node.view(), around, enables);
            self.static_programs.push(schedule);
            return;
        }
        enables.passed += usize::from(enabled(node.view()).is_some());
        let own = node.view().identity().map(|(key, _)| key);
        let around = own.or_else(|| enables.around(node.view())).or(around);
        for child in node.children() {
            self.add_static_programs(child, around, enables);
        }
    }

    fn static_program(
        &mut self,
        view: View<'_>,
        around: Option<NodeKey>,
        enables: &mut Enables<'_>,
    ) -> Schedule<NodeKey> {
        let Enables {
            source,
            ref spans,
            passed,
            is_dynamic,
        } = *enables;
        let mut timetable = Timetable {
            source,
            around,
            frames: vec![Frame {
                outer: None,
                of: None,
                iterations: 1,
                latency: latency(view),
                branch: None,
                is_certain: true,
            }],
            extents: HashMap::new(),
            counts: HashMap::new(),
            placed: 0,
        };
        timetable.place(view, 0, 0);
        let count = timetable.placed;
        let whole = &timetable.counts;
        let is_whole = |key: &NodeKey| whole.get(key) == spans.get(key).map(|span| &span.count);
        // A `seq` that also has parts before or after the program goes on up to there.
        for (key, extent) in &mut timetable.extents {
            let (Some((0, start, end)), Some(span)) = (extent, spans.get(key)) else {
                continue;
            };
            let node = source.nodes.get(key);
            if node.is_some_and(|node| node.kind.dynamic() == ControlKind::Seq) {
                if span.first < passed {
                    *start = 0;
                }
                if span.last >= passed + count {
                    *end = latency(view);
                }
            }
        }
        // One that has all of the program, and more, is around it.
        let is_around = |key: &NodeKey| whole.get(key) == Some(&count);
        timetable.extents.retain(|key, extent| {
            is_whole(key) || (matches!(extent, Some((0, ..))) && !is_around(key))
        });
        for (&key, extent) in timetable.extents.iter().filter(|(key, _)| is_whole(key)) {
            match extent {
                Some((_, start, end)) if source.root != Some(key) || !is_dynamic => {
                    self.latencies.insert(key, end - start);
                }
                Some(_) => {}
                None => {
                    self.merged.insert(key);
                }
            }
        }
        enables.passed += count;
        timetable.schedule()
    }

    /// Gives a probe to each branch of a `static if` that may go on while none of its enables is active. What it reads is
    /// there only when `static-inline` has run ([`crate::triggers`]).
    fn add_branch_probes(&mut self, mut node: ViewMut<'_>) {
        for child in node.reborrow().children() {
            self.add_branch_probes(child);
        }
        let ViewMut::Static(control) = node else {
            return;
        };
        let ir::StaticControl::If(inner) = &*control else {
            return;
        };
        let condition = if inner.latency == 1 {
            Condition::Port(std::rc::Rc::clone(&inner.port))
        } else {
            self.latched += 1;
            Condition::Latched(self.latched - 1)
        };
        let branches = [(true, &inner.tbranch), (false, &inner.fbranch)];
        let paused = branches.map(|(branch, body)| (branch, has_pauses(View::Static(body))));
        for (branch, _) in paused.into_iter().filter(|(_, pauses)| *pauses) {
            let probe = ProbeName {
                kind: ProbeKind::BR,
                number: self.count,
            };
            self.count += 1;
            ViewMut::Static(control).set_branch_probe(branch, probe);
            let condition = condition.clone();
            self.branches.push(BranchProbe {
                probe,
                condition,
                branch,
            });
        }
    }
}
