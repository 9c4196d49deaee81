//! The timeline: when each cell, control node, group and primitive was active, as Chrome trace
//! events (the JSON that Perfetto, Chrome and speedscope open).
//!
//! One microsecond of the viewer is one cycle. Every component cell is a process; its tracks are
//! the cell, its control nodes, the updates of its control registers, its groups by par thread,
//! and its primitives. Slices of a track nest properly: what would overlap gets a track of its own.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::rc::Rc;

use petal_metadata::{Id, Metadata, Origin, RegisterKind, RunId, Span as Place, ThreadId, labels};
use petal_reconstruct::{Event, FrameLabels, InstanceId, RegisterUpdate};
use serde_json::{Map, Value, json};

use crate::cells::track_label;
use crate::groups::effects;
use crate::spans::{Item, Key, Span, Spans, Step};

/// The tracks of an instance, in the order in which a viewer shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Track {
    Cell,
    Control(ThreadId),
    Registers,
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

/// Writes the timeline while the trace is read.
#[derive(Debug)]
pub struct Timeline<'a, W> {
    metadata: &'a Metadata,
    labels: FrameLabels,
    control_labels: Vec<Vec<String>>,
    spans: Spans,
    out: W,
    /// Whether an event was written.
    any: bool,
    /// What is open on each lane of a track, outermost first.
    open: HashMap<(InstanceId, Track), Vec<Vec<Key>>>,
    lane_of: HashMap<Key, usize>,
    lanes: BTreeMap<Lane, u64>,
    /// What does not change from slice to slice.
    written: HashMap<(Key, Lane), Rc<str>>,
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
            out,
            any: false,
            open: HashMap::new(),
            lane_of: HashMap::new(),
            lanes: BTreeMap::new(),
            written: HashMap::new(),
        })
    }

    /// Takes in the next event; the last one completes the file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut steps = Vec::new();
        self.spans.steps(event, &mut |step| steps.push(step));
        for step in steps {
            match step {
                Step::Open(key) => self.open(key),
                Step::Close(span) => self.close(span)?,
            }
        }
        match event {
            Event::Instance(_) => {
                // The cell's own track is the first of its tracks.
                let instance = InstanceId::from_index(self.spans.instances().len() - 1);
                self.tid(Lane {
                    instance,
                    track: Track::Cell,
                    number: 0,
                });
                Ok(())
            }
            Event::Update(update) => self.update(update),
            Event::End { .. } => self.finish(),
            _ => Ok(()),
        }
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
    fn open(&mut self, key: Key) {
        let track = self.track(key);
        let inside = |outer: &Key| match (outer.item, key.item) {
            (Item::Control(outer), Item::Control(inner)) => {
                let component = self
                    .metadata
                    .component(self.spans.instances()[key.instance.index()].component);
                component.ancestry(inner).any(|above| above == outer)
            }
            _ => false,
        };
        let lanes = self.open.entry((key.instance, track)).or_default();
        let number = lanes
            .iter()
            .position(|lane| lane.last().is_none_or(&inside))
            .unwrap_or(lanes.len());
        if number == lanes.len() {
            lanes.push(Vec::new());
        }
        lanes[number].push(key);
        self.lane_of.insert(key, number);
    }

    fn close(&mut self, span: Span) -> io::Result<()> {
        let key = span.key;
        let track = self.track(key);
        let number = self.lane_of.remove(&key).unwrap_or(0);
        if let Some(lanes) = self.open.get_mut(&(key.instance, track)) {
            lanes[number].retain(|open| *open != key);
        }
        let lane = Lane {
            instance: key.instance,
            track,
            number,
        };
        let what = match self.written.get(&(key, lane)) {
            Some(what) => Rc::clone(what),
            None => {
                let (name, category, args) = self.describe(key);
                let what: Rc<str> = self.slice(&name, category, lane, &args).into();
                self.written.insert((key, lane), Rc::clone(&what));
                what
            }
        };
        self.write_slice(&what, span.start.cycles(), span.cycles)
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
        let component = self
            .metadata
            .component(self.spans.instances()[update.instance.index()].component);
        let register = component.register(update.register);
        let name = match (register.kind, update.new) {
            (RegisterKind::ParDone, 1) => format!("{} set", register.name),
            (RegisterKind::ParDone, _) => format!("{} cleared", register.name),
            _ => format!("{}: {}→{}", register.name, update.old, update.new),
        };
        let lane = Lane {
            instance: update.instance,
            track: Track::Registers,
            number: 0,
        };
        let what = self.slice(&name, "control register", lane, &Map::new());
        self.write_slice(&what, update.cycle.cycles(), 1)
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

    fn write_slice(&mut self, what: &str, start: u64, cycles: u64) -> io::Result<()> {
        self.separate()?;
        write!(self.out, "{what},\"ts\":{start},\"dur\":{cycles}}}")
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
        let instances = self.spans.instances().to_vec();
        for index in 0..instances.len() {
            let id = InstanceId::from_index(index);
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
