//! The timeline: when each cell, control node, group and primitive was active, as Chrome trace
//! events (the JSON that Perfetto, Chrome and speedscope open).
//!
//! One microsecond of the viewer is one cycle. Every component cell is a process; its tracks are
//! the cell, its control nodes, the updates of its control registers, its groups by par thread,
//! and its primitives. Slices of a track nest properly: what would overlap gets a track of its own.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::rc::Rc;

use foldhash::HashMap;
use petal_metadata::{
    Id, Metadata, Origin, RegisterId, RegisterKind, RunId, Span as Place, ThreadId, labels,
};
use petal_reconstruct::{Cycle, Event, FrameLabels, InstanceId, RegisterUpdate};
use serde_json::{Map, Value, json};

use crate::cells::{path, track_label};
use crate::groups::effects;
use crate::spans::{Item, Key, KeyId, Spans, Step};

/// The tracks of an instance, in the order in which a viewer shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Track {
    Cell,
    Control(ThreadId),
    Registers,
    Counter(RegisterId),
    Groups(ThreadId),
    Primitive(petal_metadata::CellId),
}

/// One row of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Lane {
    instance: InstanceId,
    track: Track,
    number: usize,
}

/// What is known of a key.
#[derive(Debug)]
struct Shown {
    /// Whether it is outside of the section.
    hidden: bool,
    track: Track,
    /// The number of the track.
    row: usize,
    /// The lane of its open slice.
    lane: usize,
    /// What does not change from slice to slice, by lane.
    text: Vec<Option<Box<str>>>,
}

/// How many texts of updates are remembered.
const MAX_UPDATES: usize = 1 << 16;

/// Steps of a counter that follow one another without a jump.
#[derive(Debug, Clone, Copy)]
struct Steps {
    start: u64,
    cycles: u64,
    first: u64,
    last: u64,
}

/// The part of a run that a timeline shows.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Only these cycles.
    pub cycles: Option<Range<u64>>,
    /// Only this component cell, by its path from main, and what is below it.
    pub cell: Option<String>,
    /// Only so many levels of the call tree, from that cell on.
    pub depth: Option<usize>,
}

/// Writes the timeline while the trace is read.
#[derive(Debug)]
pub struct Timeline<'a, W> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    control_labels: Vec<Vec<String>>,
    spans: Spans,
    /// Room for what `spans` tells of an event.
    steps: Vec<Step>,
    section: Section,
    /// Whether each instance is the section's cell or below it.
    inside: Vec<bool>,
    /// Levels above the section's cell.
    base: Option<usize>,
    out: W,
    /// Slices so far.
    slices: u64,
    /// Whether an event was written.
    any: bool,
    /// The number of each track.
    rows: HashMap<(InstanceId, Track), usize>,
    /// What is open on each lane of a track, by its number, outermost first.
    open: Vec<Vec<Vec<KeyId>>>,
    lanes: BTreeMap<Lane, u64>,
    shown: Vec<Shown>,
    /// What does not change from one equal update to the next, for the latest ones.
    updates: HashMap<((InstanceId, RegisterId), u64, u64), Rc<str>>,
    /// The latest steps of the counters of static programs, which are not written yet.
    counters: BTreeMap<(InstanceId, RegisterId), Steps>,
}

impl<'a, W: Write> Timeline<'a, W> {
    /// Starts a timeline.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(metadata: &'a Metadata, mut out: W) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[\n")?;
        Ok(Self {
            metadata,
            labels: FrameLabels::new(metadata),
            control_labels: metadata
                .components
                .iter()
                .map(|component| labels::control_labels(metadata, component))
                .collect(),
            spans: Spans::default(),
            steps: Vec::new(),
            section: Section::default(),
            inside: Vec::new(),
            base: None,
            out,
            slices: 0,
            any: false,
            rows: HashMap::default(),
            open: Vec::new(),
            lanes: BTreeMap::new(),
            shown: Vec::new(),
            updates: HashMap::default(),
            counters: BTreeMap::new(),
        })
    }

    /// Shows only this part of the run.
    #[must_use]
    pub fn of(mut self, section: Section) -> Self {
        self.section = section;
        self
    }

    /// Whether the section's cell was there.
    pub fn found(&self) -> bool {
        self.inside.contains(&true)
    }

    /// Takes in the next event; the last one completes the file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut steps = std::mem::take(&mut self.steps);
        let now = self.spans.event(event, &mut steps);
        for at in self.shown.len()..self.spans.keys().len() {
            let key = self.spans.keys()[at];
            let track = self.track(key);
            let next = self.rows.len();
            let row = *self.rows.entry((key.instance, track)).or_insert(next);
            if row == next {
                self.open.push(Vec::new());
            }
            let hidden = !self.shows(at);
            self.shown.push(Shown {
                hidden,
                track,
                row,
                lane: 0,
                text: Vec::new(),
            });
        }
        for step in steps.drain(..) {
            match step {
                Step::Open(id) | Step::Close(id, _) if self.shown[id].hidden => {}
                Step::Open(id) => self.open(id),
                Step::Close(id, start) => self.close(id, start, now)?,
            }
        }
        self.steps = steps;
        match event {
            Event::Instance(_) => {
                // The cell's own track is the first of its tracks.
                let instance = InstanceId::from_index(self.spans.instances().len() - 1);
                self.enter(instance);
                if self.inside[instance.index()] {
                    self.tid(Lane {
                        instance,
                        track: Track::Cell,
                        number: 0,
                    });
                }
                Ok(())
            }
            Event::Update(update) => self.update(update),
            Event::End { .. } => self.finish(),
            _ => Ok(()),
        }
    }

    /// Slices so far.
    pub fn slices(&self) -> u64 {
        self.slices
    }

    /// Finds out whether an instance is in the section.
    fn enter(&mut self, instance: InstanceId) {
        let instances = self.spans.instances();
        let path = path(self.metadata, instances, instance);
        let inside = match &self.section.cell {
            None => true,
            Some(cell) => path
                .strip_prefix(cell.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        };
        self.inside.push(inside);
    }

    /// Whether a key is in the section.
    fn shows(&mut self, id: KeyId) -> bool {
        if !self.inside[self.spans.keys()[id].instance.index()] {
            return false;
        }
        let depth = self.spans.depth(id);
        // The first key in the section is its cell.
        let base = *self.base.get_or_insert(depth);
        self.section
            .depth
            .is_none_or(|limit| depth - base.min(depth) < limit)
    }

    fn track(&self, key: Key) -> Track {
        let component = self
            .metadata
            .component(self.spans.instances()[key.instance.index()].component);
        match key.item {
            Item::Cell => Track::Cell,
            Item::Control(node) => Track::Control(component.node(node).thread),
            Item::Group(run) => Track::Groups(component.run(run).thread),
            Item::Primitive(cell) => Track::Primitive(cell),
        }
    }

    /// Finds a lane: an empty one, or one whose innermost open slice contains this one.
    fn open(&mut self, id: KeyId) {
        let keys = self.spans.keys();
        let key = keys[id];
        let inside = |outer: &KeyId| match (keys[*outer].item, key.item) {
            (Item::Control(outer), Item::Control(inner)) => {
                let component = self
                    .metadata
                    .component(self.spans.instances()[key.instance.index()].component);
                component.ancestry(inner).any(|above| above == outer)
            }
            _ => false,
        };
        let shown = &mut self.shown[id];
        let lanes = &mut self.open[shown.row];
        shown.lane = lanes
            .iter()
            .position(|lane| lane.last().is_none_or(&inside))
            .unwrap_or(lanes.len());
        if shown.lane == lanes.len() {
            lanes.push(Vec::new());
        }
        lanes[shown.lane].push(id);
    }

    fn close(&mut self, id: KeyId, start: Cycle, end: Cycle) -> io::Result<()> {
        let key = self.spans.keys()[id];
        let Shown {
            track, row, lane, ..
        } = self.shown[id];
        self.open[row][lane].retain(|open| *open != id);
        let texts = &mut self.shown[id].text;
        if texts.len() <= lane {
            texts.resize(lane + 1, None);
        }
        let text = match texts[lane].take() {
            Some(text) => text,
            None => {
                let (name, category, args) = self.describe(key);
                let lane = Lane {
                    instance: key.instance,
                    track,
                    number: lane,
                };
                self.slice(&name, category, lane, &args).into()
            }
        };
        let written = self.write_slice(&text, start.cycles(), end.cycles() - start.cycles());
        self.shown[id].text[lane] = Some(text);
        written
    }

    fn describe(&self, key: Key) -> (String, &'static str, Map<String, Value>) {
        let instances = self.spans.instances();
        let id = instances[key.instance.index()].component;
        let component = self.metadata.component(id);
        let mut args = Map::new();
        match key.item {
            Item::Cell => {
                let name = self.labels.instance(key.instance, instances).to_owned();
                args.insert("component".to_owned(), json!(component.name));
                (name, "cell", args)
            }
            Item::Control(node) => {
                self.place(&mut args, component.node(node).span);
                (
                    self.control_labels[id.index()][node.index()].clone(),
                    "control",
                    args,
                )
            }
            Item::Group(run) => (self.group_name(id.index(), run, &mut args), "group", args),
            Item::Primitive(cell) => {
                let cell = component.cell(cell);
                if cell.instance != cell.name {
                    args.insert("shares the hardware of".to_owned(), json!(cell.instance));
                }
                self.place(&mut args, cell.span);
                (cell.name.clone(), "primitive", args)
            }
        }
    }

    fn group_name(&self, component: usize, id: RunId, args: &mut Map<String, Value>) -> String {
        let component = &self.metadata.components[component];
        let run = component.run(id);
        let group = component.group(run.group);
        self.place(
            args,
            run.control
                .and_then(|node| component.node(node).span)
                .or(group.span),
        );
        if let Some(latency) = run.latency {
            args.insert("static, cycles".to_owned(), json!(latency));
        }
        let effects = effects(component, run.group);
        if !effects.is_empty() {
            args.insert("compiled".to_owned(), json!(effects.join(", ")));
        }
        match &group.origin {
            Origin::Source => {}
            Origin::Compiler => {
                args.insert("made by the compiler".to_owned(), json!(true));
            }
            Origin::Inlined(from) => {
                args.insert("inlined from".to_owned(), json!(from));
            }
        }
        match run.part {
            Some(part) => format!("{} ({})", group.name, component.group(part).name),
            None => group.name.clone(),
        }
    }

    fn place(&self, args: &mut Map<String, Value>, place: Option<Place>) {
        if let Some(place) = place {
            let file = &self.metadata.files[place.file.index()].name;
            args.insert("source".to_owned(), json!(format!("{file}:{}", place.line)));
        }
    }

    fn update(&mut self, update: &RegisterUpdate) -> io::Result<()> {
        // Where only the section's cell itself is wanted, its registers are too much.
        if !self.inside[update.instance.index()] || self.section.depth == Some(1) {
            return Ok(());
        }
        let component = self.spans.instances()[update.instance.index()].component;
        let register = self.metadata.component(component).register(update.register);
        let key = (update.instance, update.register);
        let start = update.cycle.cycles();
        let steps = Steps {
            start,
            cycles: 1,
            first: update.old,
            last: update.new,
        };
        if register.kind == RegisterKind::StaticFsm {
            self.count(key, steps)
        } else {
            self.write_steps(key, steps)
        }
    }

    fn write_steps(&mut self, key: (InstanceId, RegisterId), steps: Steps) -> io::Result<()> {
        let text = match self.updates.get(&(key, steps.first, steps.last)) {
            Some(text) => Rc::clone(text),
            None => {
                let text: Rc<str> = self.describe_steps(key, steps).into();
                if self.updates.len() == MAX_UPDATES {
                    self.updates.clear();
                }
                let known = (key, steps.first, steps.last);
                self.updates.insert(known, Rc::clone(&text));
                text
            }
        };
        self.write_slice(&text, steps.start, steps.cycles)
    }

    fn describe_steps(
        &mut self,
        (instance, register): (InstanceId, RegisterId),
        steps: Steps,
    ) -> String {
        let component = self.spans.instances()[instance.index()].component;
        let known = self.metadata.component(component).register(register);
        let name = match (known.kind, steps.last) {
            (RegisterKind::ParDone, 1) => format!("{} set", known.name),
            (RegisterKind::ParDone, _) => format!("{} cleared", known.name),
            _ => format!("{}: {}→{}", known.name, steps.first, steps.last),
        };
        let track = match known.kind {
            RegisterKind::StaticFsm => Track::Counter(register),
            _ => Track::Registers,
        };
        let lane = Lane {
            instance,
            track,
            number: 0,
        };
        self.slice(&name, "control register", lane, &Map::new())
    }

    /// Takes in a step of a counter of a static program.
    fn count(&mut self, key: (InstanceId, RegisterId), step: Steps) -> io::Result<()> {
        let known = self
            .counters
            .entry(key)
            .or_insert(Steps { cycles: 0, ..step });
        let follows = known.start + known.cycles == step.start && known.last == step.first;
        if known.cycles == 0 || follows && step.last == step.first + 1 {
            known.cycles += 1;
            known.last = step.last;
            return Ok(());
        }
        let before = std::mem::replace(known, step);
        self.write_steps(key, before)
    }

    /// All of a slice but its time: the text of a JSON object without the closing brace.
    fn slice(
        &mut self,
        name: &str,
        category: &str,
        lane: Lane,
        args: &Map<String, Value>,
    ) -> String {
        let mut event = json!({
            "name": name, "cat": category, "ph": "X",
            "pid": pid(lane.instance), "tid": self.tid(lane),
        });
        if !args.is_empty() {
            event["args"] = json!(args);
        }
        let mut text = event.to_string();
        text.pop();
        text
    }

    /// Writes the part of a slice that is in the section.
    fn write_slice(&mut self, what: &str, start: u64, cycles: u64) -> io::Result<()> {
        let (start, cycles) = match &self.section.cycles {
            None => (start, cycles),
            Some(shown) => {
                let first = start.max(shown.start);
                let end = (start + cycles).min(shown.end);
                if first >= end {
                    return Ok(());
                }
                (first, end - first)
            }
        };
        self.separate()?;
        self.slices += 1;
        let mut number = itoa::Buffer::new();
        self.out.write_all(what.as_bytes())?;
        self.out.write_all(b",\"ts\":")?;
        self.out.write_all(number.format(start).as_bytes())?;
        self.out.write_all(b",\"dur\":")?;
        self.out.write_all(number.format(cycles).as_bytes())?;
        self.out.write_all(b"}")
    }

    fn tid(&mut self, lane: Lane) -> u64 {
        let next = self.lanes.len() as u64 + 1;
        *self.lanes.entry(lane).or_insert(next)
    }

    fn write(&mut self, event: &Value) -> io::Result<()> {
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

    /// Names the tracks and ends the file.
    fn finish(&mut self) -> io::Result<()> {
        for (key, steps) in std::mem::take(&mut self.counters) {
            self.write_steps(key, steps)?;
        }
        let instances = self.spans.instances().to_vec();
        for index in 0..instances.len() {
            let id = InstanceId::from_index(index);
            if !self.inside[index] {
                continue;
            }
            let label = track_label(self.metadata, &self.labels, &instances, id);
            self.name(id, 0, "process_name", &json!({ "name": label }))?;
            self.name(id, 0, "process_sort_index", &json!({ "sort_index": index }))?;
        }
        for (order, (lane, tid)) in self.lanes.clone().into_iter().enumerate() {
            let name = self.lane_name(lane);
            self.name(lane.instance, tid, "thread_name", &json!({ "name": name }))?;
            self.name(
                lane.instance,
                tid,
                "thread_sort_index",
                &json!({ "sort_index": order }),
            )?;
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }

    fn name(&mut self, instance: InstanceId, tid: u64, what: &str, args: &Value) -> io::Result<()> {
        self.write(&json!({
            "name": what, "ph": "M", "pid": pid(instance), "tid": tid, "args": args,
        }))
    }

    fn lane_name(&self, lane: Lane) -> String {
        let id = self.spans.instances()[lane.instance.index()].component;
        let component = self.metadata.component(id);
        let thread = |thread: ThreadId| match component.threads[thread.index()].arm {
            None => String::new(),
            Some((par, arm)) => {
                format!(
                    ", {} arm {}",
                    self.control_labels[id.index()][par.index()],
                    arm + 1
                )
            }
        };
        let name = match lane.track {
            Track::Cell => "cell".to_owned(),
            Track::Control(of) => format!("control{}", thread(of)),
            Track::Registers => "control register updates".to_owned(),
            Track::Counter(register) => format!("counter {}", component.register(register).name),
            Track::Groups(of) => format!("groups{}", thread(of)),
            Track::Primitive(cell) => component.cell(cell).name.clone(),
        };
        if lane.number == 0 {
            name
        } else {
            format!("{name} ({})", lane.number + 1)
        }
    }
}

fn pid(instance: InstanceId) -> usize {
    instance.index() + 1
}
