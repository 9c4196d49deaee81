//! Observations that the design makes itself: which circuit records them, and what its memories mean afterwards.
//!
//! Owns the file that tells it. What of the source is active as a circuit is in `activity`, how memories become results in `reading`. Knows
//! no hardware: a circuit is built elsewhere.

mod activity;
mod reading;

use std::ops::Range;

use petal_data::Format;
use petal_metadata::{
    CellKind, Circuit, CircuitPart, Gate, Metadata, Monitor, ProbePrefix, Trigger, labels,
};
use serde::{Deserialize, Serialize};

pub use self::reading::UnreadableRun;

use self::activity::Lowering;
use crate::activity::{Aspect, Subject, SubjectKind};
use crate::builder::{Builder, Known, refuse};
use crate::checker::Checker;
use crate::directory::Directory;
use crate::expression::Expression;
use crate::kinds::{
    CheckpointRequest, CounterRequest, LatencyRequest, Request, RuleRequest, Sums, WatchRequest,
    marked_checkpoints, named_counters,
};
use crate::observations::Observations;
use crate::problem::Refused;
use crate::recorded::ValueRequest;
use crate::syntax::{self, Syntax};
use crate::text::Text;
use crate::watched::{Watchable, register_writes, watchable};

/// The version of the file.
pub const MONITOR_VERSION: u32 = 3;

/// How many events one word of the mask has room for.
const MOST_EVENTS: usize = 64;

/// What a monitor records, as a file beside the design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorFile {
    /// [`MONITOR_VERSION`].
    pub version: u32,
    /// Version of petal that wrote the file.
    pub petal: String,
    /// The name of the design.
    pub design: String,
    /// A digest of all else here and of the design.
    pub id: u32,
    /// What the names of the monitor's memories begin with.
    pub prefix: ProbePrefix,
    /// How many entries there is room for.
    pub depth: u64,
    /// Whether the last entries are kept, rather than the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cyclic: bool,
    /// What ends the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// How many entries are kept of what happens after its cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// How many bits the mask has.
    pub events: usize,
    /// The checkpoints, in the order of the mask's lowest bits.
    pub checkpoints: Vec<MonitoredCheckpoint>,
    /// The watchpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watches: Vec<MonitoredWatch>,
    /// The rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<MonitoredRule>,
    /// Whether it is recorded, too, how many intervals of latencies take how many cycles.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub histograms: bool,
    /// The latencies, in the order of the memories with their sums.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<MonitoredLatency>,
    /// The counters, in the order of the memories with their sums.
    pub counters: Vec<MonitoredCounter>,
}

/// A latency that a monitor adds up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoredLatency {
    /// What it is called.
    pub name: String,
    /// The expressions.
    pub when: String,
    /// Whether ends without a beginning are nothing to tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_handshake: bool,
    /// The bit of the last cycle that tells whether it ends when the run is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<usize>,
}

/// What a monitor has room for.
#[derive(Debug, Clone)]
pub struct Room {
    /// How many entries.
    pub depth: u64,
    /// Whether the last ones are kept, rather than the first.
    pub is_cyclic: bool,
    /// An event, and how many entries of later cycles are kept.
    pub trigger: Option<(Text, u64)>,
    /// Whether it keeps how many intervals of latencies take how many cycles.
    pub has_histograms: bool,
}

/// A watchpoint that a monitor records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoredWatch {
    /// What it is called.
    pub name: String,
    /// What is watched.
    pub value: String,
    /// Whether it is a register, which has its new value in the cycle after it was written.
    pub is_written: bool,
    /// The bit of the mask that tells of a change.
    pub bit: usize,
    /// The numbers of the memories that have the values before and after.
    pub old: usize,
    /// After.
    pub new: usize,
}

/// A rule that a monitor records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoredRule {
    /// What it is called.
    pub name: String,
    /// The condition.
    pub when: String,
    /// Whether it must hold in every cycle, rather than in none.
    pub always: bool,
    /// The bit of the mask that tells of the first cycle in which it is broken; the next one tells of the first in which it is not.
    pub bit: usize,
}

/// A counter that a monitor adds up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoredCounter {
    /// What it is called.
    pub name: String,
    /// What is added up.
    pub value: String,
}

/// A checkpoint that a monitor records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoredCheckpoint {
    /// What it is called.
    pub name: String,
    /// The expression.
    pub when: String,
    /// The bit of the last cycle that tells whether it happens when the run is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<usize>,
    /// What is recorded each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<MonitoredValue>,
    /// The value that is a part of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<MonitoredValue>,
}

/// A value that a monitor records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoredValue {
    /// The number of the memory that has it.
    pub memory: usize,
    /// What it is called.
    pub name: String,
    /// The expression.
    pub value: String,
    /// Which numbers its bits are, as in data files.
    pub format: Format,
}

/// A monitor, what its memories mean, and which checkpoints of the source it leaves out.
#[derive(Debug)]
pub struct MonitorPlan {
    /// What is built.
    pub monitor: Monitor,
    /// What it means.
    pub file: MonitorFile,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Makes the monitor of a design that records the checkpoints of a request, and those that the source marks, and adds up its counters.
///
/// # Errors
/// What is wrong with the first expression that makes no sense, or that no circuit computes.
pub fn monitor(
    metadata: &Metadata,
    directory: &Directory,
    request: &Request,
    design: &str,
    room: &Room,
) -> Result<MonitorPlan, Box<Refused>> {
    // Whatever is wrong with them as observations.
    drop(Observations::new(metadata, directory, request)?);
    let mut planner = Planner {
        builder: Builder::new(metadata, directory),
        lowering: Lowering {
            metadata,
            circuit: Circuit::default(),
        },
        monitor: Monitor::default(),
        checkpoints: Vec::new(),
        watches: Vec::new(),
        rules: Vec::new(),
        latencies: Vec::new(),
        counters: Vec::new(),
        notes: Vec::new(),
    };
    for of in &request.checkpoints {
        planner.checkpoint(of)?;
    }
    for of in &request.latencies {
        planner.latency(of)?;
    }
    for of in &request.counters {
        planner.counters(of)?;
    }
    planner.marked();
    for of in &request.watches {
        planner.watch(of)?;
    }
    for (all, always) in [(&request.never, false), (&request.always, true)] {
        for of in all {
            planner.rule(of, always)?;
        }
    }
    let trigger = room.trigger.as_ref();
    let trigger = trigger.map(|(event, after)| planner.trigger(event, *after));
    let trigger = trigger.transpose()?;
    let events = planner.monitor.events.len();
    if events > MOST_EVENTS {
        let message = format!(
            "these are {events} events, and a monitor has room for {MOST_EVENTS}: each checkpoint and each watchpoint is one, and each rule is two"
        );
        let last = request.checkpoints.last().map(|of| &of.when);
        return refuse(last.unwrap_or(&Text::from(design)), &message);
    }
    let Planner {
        lowering,
        monitor,
        checkpoints,
        watches,
        rules,
        latencies,
        counters,
        notes,
        ..
    } = planner;
    let mut file = MonitorFile {
        version: MONITOR_VERSION,
        petal: metadata.petal.clone(),
        design: design.to_owned(),
        id: 0,
        prefix: metadata.prefix.clone(),
        depth: room.depth,
        cyclic: room.is_cyclic,
        trigger: room.trigger.as_ref().map(|(event, _)| event.text.clone()),
        after: room.trigger.as_ref().map(|(_, after)| *after),
        events,
        checkpoints,
        watches,
        rules,
        histograms: room.has_histograms,
        latencies,
        counters,
    };
    file.id = crc32fast::hash((metadata.fingerprint.clone() + &file.json()).as_bytes());
    Ok(MonitorPlan {
        monitor: Monitor {
            id: file.id,
            circuit: lowering.circuit,
            depth: room.depth,
            is_cyclic: room.is_cyclic,
            has_histograms: room.has_histograms,
            trigger,
            ..monitor
        },
        file,
        notes,
    })
}

struct Planner<'a> {
    builder: Builder<'a>,
    lowering: Lowering<'a>,
    monitor: Monitor,
    checkpoints: Vec<MonitoredCheckpoint>,
    watches: Vec<MonitoredWatch>,
    rules: Vec<MonitoredRule>,
    latencies: Vec<MonitoredLatency>,
    counters: Vec<MonitoredCounter>,
    notes: Vec<String>,
}

impl Planner<'_> {
    /// Adds a checkpoint that is asked for.
    fn checkpoint(&mut self, of: &CheckpointRequest) -> Result<(), Box<Refused>> {
        let event = self.builder.event(&of.when)?;
        let values = of.values.iter();
        let values = values.map(|ValueRequest { name, value }| {
            let name = value.name(name.as_ref());
            self.value(name, value)
        });
        let values = values.collect::<Result<_, _>>()?;
        let name = of.when.name(of.name.as_ref());
        let by = of.by.as_ref();
        let by = by.map(|by| self.value(name.clone(), by)).transpose()?;
        // Latencies may name it.
        self.builder.checkpoints.push(Known {
            name: name.clone(),
            event: event.clone(),
            values: Vec::new(),
        });
        let checkpoint = MonitoredCheckpoint {
            name,
            when: of.when.text.clone(),
            last: None,
            values,
            by,
        };
        match self.event(&event, checkpoint) {
            Ok(()) => Ok(()),
            Err(message) => refuse(&of.when, &message),
        }
    }

    /// Adds the counters that a text asks for.
    fn counters(&mut self, of: &CounterRequest) -> Result<(), Box<Refused>> {
        if let Some(during) = &of.during {
            return refuse(during, "a monitor counts in the whole run");
        }
        for counted in named_counters(of, &self.builder)? {
            let mut parts = Vec::new();
            for text in &counted.values {
                let value = self
                    .builder
                    .checked(text, syntax::expression, |checker, syntax| {
                        checker.expression(syntax)
                    })?;
                let part = self.lowered(&value, text)?;
                let circuit = &mut self.lowering.circuit;
                parts.push(circuit.gate(Gate::Pad, Monitor::SUM, &[part]));
            }
            let circuit = &mut self.lowering.circuit;
            let sum = parts
                .into_iter()
                .reduce(|one, other| circuit.gate(Gate::Add, Monitor::SUM, &[one, other]));
            let sum = sum.expect("a counter has a value");
            let value = counted.text(&of.value);
            let counter = MonitoredCounter {
                name: counted.name,
                value,
            };
            // Two patterns may mean the same counter.
            let known = self.counters.iter().zip(&self.monitor.sums);
            let mut known = known.map(|(known, part)| (&known.name, *part));
            if !known.any(|known| known == (&counter.name, sum)) {
                self.counters.push(counter);
                self.monitor.sums.push(sum);
            }
        }
        Ok(())
    }

    /// Adds what happens at an event.
    fn event(
        &mut self,
        event: &Expression,
        mut checkpoint: MonitoredCheckpoint,
    ) -> Result<(), String> {
        let part = self.lowering.expression(event)?;
        checkpoint.last = self.last(event)?;
        self.monitor.events.push(part);
        self.checkpoints.push(checkpoint);
        Ok(())
    }

    /// The bit of the last cycle that tells whether an event happens when the run is over: what is active ends with it.
    fn last(&mut self, event: &Expression) -> Result<Option<usize>, String> {
        let Expression::Subject(subject, Aspect::End) = event else {
            return Ok(None);
        };
        let active = self.lowering.subject(subject, Aspect::Active)?;
        self.monitor.last.push(active);
        Ok(Some(self.monitor.last.len() - 1))
    }

    /// Adds a latency.
    fn latency(&mut self, of: &LatencyRequest) -> Result<(), Box<Refused>> {
        if let Some(tag) = &of.tag {
            return refuse(
                tag,
                "a monitor adds latencies up, and tells which end belongs to which beginning by their order alone",
            );
        }
        let sums = Sums::of(of, &self.builder)?;
        let from = self.lowered(&sums.from, &of.from)?;
        let end = of.to.as_ref().unwrap_or(&of.from);
        let to = self.lowered(&sums.to, end)?;
        let last = self.last(&sums.to);
        self.latencies.push(MonitoredLatency {
            name: sums.name,
            when: sums.text,
            is_handshake: sums.is_handshake,
            last: last.or_else(|message| refuse(end, &message))?,
        });
        self.monitor.latencies.push((from, to));
        Ok(())
    }

    /// The part that is an expression of this text.
    fn lowered(&mut self, of: &Expression, text: &Text) -> Result<usize, Box<Refused>> {
        match self.lowering.expression(of) {
            Ok(part) => Ok(part),
            Err(message) => refuse(text, &message),
        }
    }

    /// A value to record.
    fn value(&mut self, name: String, value: &Text) -> Result<MonitoredValue, Box<Refused>> {
        let checked = self
            .builder
            .checked(value, syntax::expression, |checker, syntax| {
                checker.shown(syntax)
            });
        let (expression, format) = checked?;
        let part = self.lowered(&expression, value)?;
        Ok(MonitoredValue {
            memory: self.stored(part),
            name,
            value: value.text.clone(),
            format,
        })
    }

    /// The number of the memory that stores a part with every entry.
    fn stored(&mut self, part: usize) -> usize {
        let values = &mut self.monitor.values;
        let known = values.iter().position(|of| *of == part);
        known.unwrap_or_else(|| {
            values.push(part);
            values.len() - 1
        })
    }

    /// What ends the recording.
    fn trigger(&mut self, of: &Text, after: u64) -> Result<Trigger, Box<Refused>> {
        let event = self.builder.event(of)?;
        let event = self.lowered(&event, of)?;
        if self.monitor.events.is_empty() {
            return refuse(
                of,
                "a trigger ends what is recorded in the buffer, and nothing is: ask for a checkpoint, a watchpoint or a rule, too",
            );
        }
        Ok(Trigger { event, after })
    }

    /// Adds a watchpoint.
    fn watch(&mut self, of: &WatchRequest) -> Result<(), Box<Refused>> {
        let text = &of.value;
        let parse = |checker: &Checker<'_>, (syntax, range): &(Syntax, Option<Range<u64>>)| {
            watchable(checker, syntax, range.clone())
        };
        let written = match self.builder.checked(text, syntax::range, parse)? {
            Watchable::Value(expression) => {
                let new = self.lowered(&expression, text)?;
                let circuit = &mut self.lowering.circuit;
                let old = circuit.add(CircuitPart::Past(new));
                let same = circuit.gate(Gate::Eq, 1, &[old, new]);
                (circuit.not(same), old, new, false)
            }
            Watchable::Register(cell, out) => {
                let writes = register_writes(self.builder.directory, &cell, out);
                let writes = writes.or_else(|message| refuse(text, &message))?;
                let old = writes.old.expect("a register has a value before");
                let mut part = |value| self.lowered(&Expression::Value(value), text);
                (part(writes.event)?, part(old)?, part(writes.new)?, true)
            }
            Watchable::Memory { .. } => {
                return refuse(
                    text,
                    "a monitor does not watch memories: what a word was before a write takes a port to read; `--checkpoint` records the writes \
                     by their ports, such as `main.mem.write_en; at=main.mem.addr0, data=main.mem.write_data`",
                );
            }
        };
        let (event, old, new, is_written) = written;
        let watch = MonitoredWatch {
            name: text.name(of.name.as_ref()),
            value: text.text.clone(),
            is_written,
            bit: self.monitor.events.len(),
            old: self.stored(old),
            new: self.stored(new),
        };
        self.monitor.events.push(event);
        self.watches.push(watch);
        Ok(())
    }

    /// Adds a rule: what must never be, or always.
    fn rule(&mut self, of: &RuleRequest, always: bool) -> Result<(), Box<Refused>> {
        let condition = self
            .builder
            .checked(&of.when, syntax::expression, |checker, syntax| {
                checker.condition(syntax)
            })?;
        let condition = self.lowered(&condition, &of.when)?;
        let circuit = &mut self.lowering.circuit;
        let is_kept = circuit.not(condition);
        let [broken, kept] = if always {
            [is_kept, condition]
        } else {
            [condition, is_kept]
        };
        let before = circuit.add(CircuitPart::Past(broken));
        let was_kept = circuit.not(before);
        let begins = circuit.and(broken, was_kept);
        let ends = circuit.and(kept, before);
        self.rules.push(MonitoredRule {
            name: of.when.name(of.name.as_ref()),
            when: of.when.text.clone(),
            always,
            bit: self.monitor.events.len(),
        });
        self.monitor.events.extend([begins, ends]);
        Ok(())
    }

    /// Adds the checkpoints that the source marks.
    fn marked(&mut self) {
        let metadata = self.builder.metadata;
        for (name, when, subject) in marked_checkpoints(metadata) {
            let event = Expression::Subject(subject, Aspect::Begin);
            let checkpoint = MonitoredCheckpoint {
                name,
                when: when.clone(),
                last: None,
                values: Vec::new(),
                by: None,
            };
            if let Err(message) = self.event(&event, checkpoint) {
                self.notes
                    .push(format!("the monitor leaves out `{when}`: {message}"));
            }
        }
    }
}

/// What a subject is called in messages.
fn called(metadata: &Metadata, subject: &Subject) -> String {
    let mut component = metadata.component(metadata.main);
    let mut path = component.name.clone();
    for cell in &subject.holder {
        let cell = component.cell(*cell);
        path = format!("{path}.{}", cell.name);
        if let CellKind::Component(inner) = cell.kind {
            component = metadata.component(inner);
        }
    }
    match &subject.kind {
        SubjectKind::Instance | SubjectKind::Calls => path,
        SubjectKind::Control(node) | SubjectKind::Iteration(node) => {
            let label = labels::control_label(metadata, component, *node);
            format!("{path}.{label}")
        }
        SubjectKind::Group(runs) => {
            let group = runs.first().map(|run| component.run(*run).group);
            let name = group.map_or("", |group| component.group(group).name.as_str());
            format!("{path}.{name}")
        }
        SubjectKind::Primitive(cell) => format!("{path}.{}", component.cell(*cell).name),
    }
}
