//! Observations that the design makes itself: which circuit records them, and what its memories mean afterwards.
//!
//! Owns the file that tells it. What of the source is active as a circuit is in `activity`, how memories become results in `reading`. Knows
//! no hardware: a circuit is built elsewhere.

mod activity;
mod reading;

use petal_data::Format;
use petal_metadata::{CellKind, Circuit, Gate, Metadata, Monitor, ProbePrefix, labels};
use serde::{Deserialize, Serialize};

pub use self::reading::UnreadableRun;

use self::activity::Lowering;
use crate::activity::{Aspect, Subject, SubjectKind};
use crate::builder::{Builder, refuse};
use crate::directory::Directory;
use crate::expression::Expression;
use crate::kinds::{
    CheckpointRequest, CounterRequest, Request, marked_checkpoints, named_counters,
};
use crate::observations::Observations;
use crate::problem::Refused;
use crate::recorded::ValueRequest;
use crate::syntax;
use crate::text::Text;

/// The version of the file.
pub const MONITOR_VERSION: u32 = 1;

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
    /// What the names of the monitor's memories begin with.
    pub prefix: ProbePrefix,
    /// How many entries there is room for.
    pub depth: u64,
    /// The checkpoints, in the order of the mask's bits.
    pub checkpoints: Vec<MonitoredCheckpoint>,
    /// The counters, in the order of the memories with their sums.
    pub counters: Vec<MonitoredCounter>,
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
    depth: u64,
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
        counters: Vec::new(),
        notes: Vec::new(),
    };
    for of in &request.checkpoints {
        planner.checkpoint(of)?;
    }
    for of in &request.counters {
        planner.counters(of)?;
    }
    planner.marked();
    if planner.checkpoints.len() > MOST_EVENTS {
        let count = planner.checkpoints.len();
        let message =
            format!("these are {count} checkpoints, and a monitor has room for {MOST_EVENTS}");
        let last = request.checkpoints.last().map(|of| &of.when);
        return refuse(last.unwrap_or(&Text::from(design)), &message);
    }
    let Planner {
        lowering,
        monitor,
        checkpoints,
        counters,
        notes,
        ..
    } = planner;
    Ok(MonitorPlan {
        monitor: Monitor {
            circuit: lowering.circuit,
            depth,
            ..monitor
        },
        file: MonitorFile {
            version: MONITOR_VERSION,
            petal: metadata.petal.clone(),
            design: design.to_owned(),
            prefix: metadata.prefix.clone(),
            depth,
            checkpoints,
            counters,
        },
        notes,
    })
}

struct Planner<'a> {
    builder: Builder<'a>,
    lowering: Lowering<'a>,
    monitor: Monitor,
    checkpoints: Vec<MonitoredCheckpoint>,
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
        if let Expression::Subject(subject, Aspect::End) = event {
            // What is active in the last cycle ends with the run.
            let active = self.lowering.subject(subject, Aspect::Active)?;
            checkpoint.last = Some(self.monitor.last.len());
            self.monitor.last.push(active);
        }
        self.monitor.events.push(part);
        self.checkpoints.push(checkpoint);
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
        let values = &mut self.monitor.values;
        let known = values.iter().position(|of| *of == part);
        let memory = known.unwrap_or_else(|| {
            values.push(part);
            values.len() - 1
        });
        Ok(MonitoredValue {
            memory,
            name,
            value: value.text.clone(),
            format,
        })
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
