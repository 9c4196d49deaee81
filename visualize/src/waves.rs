//! What a viewer of waveforms is told: which signals of a run it shows, under the names of the source, and where in the run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use petal_analysis::elements::{Element, ElementId, ElementKind, Elements};
use petal_metadata::{Callee, CellId, CellKind, Component, GroupRunId, Id as _, Metadata};
use petal_reconstruct::{Event, InstanceId, Run, Signal, instance_path};

/// When the first cycle of a run begins in a waveform, and how long each is, in nanoseconds (`docs/formats.md`).
const FIRST: u64 = 25;
const CYCLE: u64 = 10;

/// How many frames of 200 pixels the window of GTKWave has at first. Zoom is in powers of two of a frame.
const FRAMES: f64 = 2.5;

/// Named markers that GTKWave has.
const MARKERS: usize = 26;

/// The signals of a waveform: scopes and names, with their widths.
pub type Signals = BTreeMap<(Vec<String>, String), u32>;

/// What a viewer shows: the groups that run in some cycles of a run, and the primitives that they drive.
#[derive(Debug)]
pub struct Waves<'a> {
    metadata: &'a Metadata,
    /// What is shown.
    cycles: Range<u64>,
    /// The path of a group or cell, if nothing else is to be shown.
    only: Option<String>,
    elements: Elements,
    active: BTreeSet<ElementId>,
}

/// The signals of a cell, each with the name that the source has for it.
struct Shown {
    title: String,
    signals: Vec<(String, Signal, u32)>,
}

impl<'a> Waves<'a> {
    /// Of these cycles of a run, before its first event; of one group or cell by its path, or of all that is active.
    #[must_use]
    pub fn new(metadata: &'a Metadata, cycles: Range<u64>, only: Option<String>) -> Self {
        Self {
            metadata,
            cycles,
            only,
            elements: Elements::default(),
            active: BTreeSet::new(),
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        self.elements.event(event);
        if let Event::Run(Run {
            tree,
            start,
            cycles,
        }) = event
        {
            let start = start.cycles();
            if start < self.cycles.end && self.cycles.start < start + cycles {
                self.active.extend(self.elements.of(Some(*tree)));
            }
        }
    }

    /// What is shown of each cell, the outermost one first; only what the waveform has, by the widths of its signals. `None` if
    /// that is nothing.
    fn shown(&self, signals: &Signals) -> Option<Vec<Shown>> {
        let mut cells: BTreeMap<InstanceId, (BTreeSet<GroupRunId>, BTreeSet<CellId>)> =
            BTreeMap::new();
        for &id in &self.active {
            let Element { instance, kind } = &self.elements.all()[id];
            match kind {
                ElementKind::Group(run) => _ = cells.entry(*instance).or_default().0.insert(*run),
                ElementKind::Primitive(cell, None) => {
                    cells.entry(*instance).or_default().1.insert(*cell);
                }
                ElementKind::Primitive(_, Some((holder, cell))) => {
                    cells.entry(*holder).or_default().1.insert(*cell);
                }
                _ => {}
            }
        }
        let shown = cells.into_iter().map(|(id, (runs, primitives))| {
            let title = instance_path(self.metadata, self.elements.instances(), id);
            let component = self.component(id);
            let scope = self.scope(id);
            let has = |name: String| {
                let key = (scope.clone(), name);
                let width = *signals.get(&key)?;
                let (scope, name) = key;
                Some((Signal { scope, name }, width))
            };
            let mut of = Vec::new();
            let mut probes = BTreeSet::new();
            let wanted = |name: &str, more: &dyn Fn() -> bool| {
                let Some(only) = &self.only else { return true };
                let is_inside = title.strip_prefix(&**only);
                is_inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                    || *only == format!("{title}.{name}")
                    || more()
            };
            for run in runs {
                let group = &component.group(component.run(run).group).name;
                let probe = component.run(run).probe.signal(&self.metadata.prefix);
                // Several statements may run it.
                if wanted(group, &|| false) && probes.insert(probe.clone()) {
                    of.extend(has(probe).map(|(signal, width)| (group.clone(), signal, width)));
                }
            }
            for cell in primitives {
                let of_group = || self.is_called(component, &title, cell);
                let cell = component.cell(cell);
                let (Some(instance), true) = (&cell.instance, wanted(&cell.name, &of_group)) else {
                    continue;
                };
                for port in ports(signals, &scope, instance, component) {
                    let signal = has(format!("{instance}_{port}"));
                    // GTKWave cuts off what stands before a dot.
                    let name = format!("{} {port}", cell.name);
                    of.extend(signal.map(|(signal, width)| (name, signal, width)));
                }
            }
            Shown { title, signals: of }
        });
        let shown: Vec<Shown> = shown.filter(|of| !of.signals.is_empty()).collect();
        (!shown.is_empty()).then_some(shown)
    }

    fn component(&self, id: InstanceId) -> &'a Component {
        self.metadata
            .component(self.elements.instances()[id.index()].component)
    }

    /// Whether the group that is to be shown drives a cell.
    fn is_called(&self, component: &Component, title: &str, cell: CellId) -> bool {
        let Some(group) = self.only.as_ref().and_then(|only| only.strip_prefix(title)) else {
            return false;
        };
        component.calls.iter().any(|call| {
            let Some(caller) = call.caller else {
                return false;
            };
            let caller = &component.group(component.run(caller).group).name;
            group.strip_prefix('.') == Some(caller) && call.callee == Callee::Cell(cell)
        })
    }

    /// The scope of a component cell in the hardware.
    fn scope(&self, id: InstanceId) -> Vec<String> {
        let Some((holder, cell)) = self.elements.instances()[id.index()].parent else {
            return self.metadata.scope.clone();
        };
        let mut scope = self.scope(holder);
        let cell = self.component(holder).cell(cell);
        scope.push(cell.instance.as_ref().unwrap_or(&cell.name).clone());
        scope
    }

    /// The save file of GTKWave for a waveform at `path`, whose scopes are below `top`: its signals, and markers at some cycles, each with a
    /// name.
    #[must_use]
    pub fn gtkwave(
        &self,
        (path, top): (&Path, &str),
        signals: &Signals,
        markers: &[(String, u64)],
    ) -> Option<String> {
        let shown = self.shown(signals)?;
        let Range { start, end } = self.times();
        #[expect(clippy::cast_precision_loss, reason = "a scale")]
        let zoom = -(((end - start) as f64 / FRAMES).log2());
        let mut text = format!("[dumpfile] \"{}\"\n[timestart] {start}\n", path.display());
        let _ = write!(text, "*{zoom:.6} {start}");
        for at in 0..MARKERS {
            let marker = markers.get(at);
            let _ = match marker {
                Some((_, cycle)) => write!(text, " {}", time(*cycle)),
                None => write!(text, " -1"),
            };
        }
        text.push('\n');
        for (letter, (name, _)) in ('A'..='Z').zip(markers) {
            let _ = writeln!(text, "[markername] {letter}{name}");
        }
        for Shown { title, signals } in shown {
            // A comment, then single bits as such and all else as hexadecimal numbers.
            let _ = writeln!(text, "@200\n-{title}");
            for (name, signal, width) in signals {
                let (flags, bits) = match width {
                    1 => ("@28", String::new()),
                    width => ("@22", format!("[{}:0]", width - 1)),
                };
                let _ = writeln!(text, "{flags}\n+{{{name}}} {top}{signal}{bits}");
            }
        }
        Some(text)
    }

    /// The commands for Surfer that show the same.
    #[must_use]
    pub fn surfer(
        &self,
        top: &str,
        signals: &Signals,
        markers: &[(String, u64)],
    ) -> Option<String> {
        let shown = self.shown(signals)?;
        let Range { start, end } = self.times();
        let mut text = String::new();
        for Shown { title, signals } in shown {
            let _ = writeln!(text, "divider_add {title}");
            for (name, signal, _) in signals {
                // It can't give a signal another name but by hand.
                let _ = writeln!(text, "divider_add {name}\nvariable_add {top}{signal}");
            }
        }
        for (name, cycle) in markers {
            let _ = writeln!(text, "marker_set {name} {}", time(*cycle));
        }
        let _ = writeln!(text, "cursor_set {start}\nzoom_to {start}ns {end}ns");
        Some(text)
    }

    /// When what is shown begins and ends.
    fn times(&self) -> Range<u64> {
        time(self.cycles.start)..time(self.cycles.end)
    }
}

/// When a cycle begins in a waveform.
fn time(cycle: u64) -> u64 {
    cycle.saturating_mul(CYCLE).saturating_add(FIRST)
}

/// The ports of a primitive that the waveform has, but clocks and resets. A cell whose name begins with that of another has its ports for
/// itself.
fn ports<'a>(
    signals: &'a Signals,
    scope: &[String],
    instance: &str,
    component: &Component,
) -> Vec<&'a str> {
    let begin = format!("{instance}_");
    let others = component.cells.iter().filter(|cell| {
        let is_other = |name: &String| name.starts_with(&begin);
        cell.instance.as_ref().is_some_and(is_other) && matches!(cell.kind, CellKind::Primitive(_))
    });
    let others: Vec<String> = others
        .filter_map(|cell| Some(format!("{}_", cell.instance.as_ref()?)))
        .collect();
    let from = (scope.to_vec(), begin.clone());
    let names = signals.range(from..).map(|((of, name), _)| (of, name));
    let names = names.take_while(|(of, name)| **of == scope && name.starts_with(&begin));
    names
        .filter(|(_, name)| !others.iter().any(|other| name.starts_with(other.as_str())))
        .map(|(_, name)| &name[begin.len()..])
        .filter(|port| !["clk", "reset"].contains(port))
        .collect()
}
