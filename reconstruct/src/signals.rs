//! Which signals of a simulated design reconstruction needs, and where they are.

use std::collections::{BTreeSet, HashMap};

use petal_metadata::{
    Callee, CellId, CellKind, ComponentId, Id, Metadata, ProbeName, Schedule, ids,
};

/// A signal to watch, as a path of scopes below an optional `TOP`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signal {
    /// Scopes from the outermost to the one that declares the signal.
    pub scope: Vec<String>,
    /// Name in that scope.
    pub name: String,
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.scope.join("."), self.name)
    }
}

ids! {
    /// A signal of [`SignalTable::watched`], by its position there.
    pub SlotId,
    /// A hardware instance of a component. Instances of the source that share hardware are one.
    pub(crate) PhysicalId,
}

/// What a source of probe values has to deliver.
#[derive(Debug, Clone)]
pub struct SignalTable {
    /// The signals whose values are delivered, by [`SlotId`].
    pub watched: Vec<Signal>,
    /// The clock.
    pub clock: Signal,
    /// In a waveform with one time a cycle: changes at each.
    pub tick: Signal,
    /// High while the main component is reset: the run begins after that.
    pub reset: Signal,
    /// High while the main component has to run.
    pub go: Signal,
    /// High when the main component has run.
    pub done: Signal,
    /// The scope or signal that only this design has.
    pub marker: Signal,
}

impl SignalTable {
    /// The names that a waveform with one time a cycle has to have, whatever else is left out.
    pub fn names(&self) -> BTreeSet<String> {
        let testbench = [&self.tick, &self.reset, &self.go, &self.done];
        self.watched
            .iter()
            .chain(testbench)
            .map(|signal| signal.name.clone())
            // The marker is a cell without a signal that is watched.
            .chain([format!("{}_in", self.marker.name)])
            .collect()
    }
}

/// A hardware instance of a component, with the slots of its signals.
#[derive(Debug)]
pub(crate) struct Physical {
    pub component: ComponentId,
    /// Slot of each run's probe.
    pub runs: Vec<SlotId>,
    /// For each run the slots of what starts it, of which one has to be high; none if its own probe
    /// tells enough.
    pub starts: Vec<Vec<SlotId>>,
    /// Slot of each call's probe.
    pub calls: Vec<SlotId>,
    /// Slot of each compilation group's probe.
    pub compiled: Vec<SlotId>,
    /// Slot of each probe of a branch of static control.
    pub branches: HashMap<ProbeName, SlotId>,
    /// Slot of each control register.
    pub registers: Vec<SlotId>,
    /// For each cell, the instance that does its work, if it is a component cell and no `ref` cell.
    pub cells: Vec<Option<PhysicalId>>,
    /// The instance that holds this one and the cell there; `None` for main.
    pub parent: Option<(PhysicalId, CellId)>,
}

/// All hardware instances of a design, main first, and the slots of their signals.
#[derive(Debug)]
pub(crate) struct Layout {
    instances: Vec<Physical>,
    pub table: SignalTable,
}

impl Layout {
    pub fn of(metadata: &Metadata) -> Self {
        let top: Vec<String> = metadata.scope.iter().take(2).cloned().collect();
        let signal = |name: &str| Signal {
            scope: top.clone(),
            name: name.to_owned(),
        };
        let table = SignalTable {
            watched: Vec::new(),
            clock: signal("clk"),
            tick: Signal {
                scope: metadata.scope.iter().take(1).cloned().collect(),
                name: "tick".to_owned(),
            },
            reset: signal("reset"),
            go: signal("go"),
            done: signal("done"),
            marker: Signal {
                scope: metadata.scope.clone(),
                name: metadata.prefix.marker(&metadata.fingerprint),
            },
        };
        let mut layout = Self {
            instances: Vec::new(),
            table,
        };
        layout.add(metadata, metadata.main, &metadata.scope, None);
        layout
    }

    /// The instance of the main component.
    pub fn main() -> PhysicalId {
        PhysicalId::from_index(0)
    }

    pub fn physical(&self, id: PhysicalId) -> &Physical {
        &self.instances[id.index()]
    }

    /// All hardware instances, with their ids.
    pub fn instances(&self) -> impl Iterator<Item = (PhysicalId, &Physical)> {
        let instances = self.instances.iter().enumerate();
        instances.map(|(at, physical)| (PhysicalId::from_index(at), physical))
    }

    /// Something for each hardware instance.
    pub fn for_each_instance<T: Clone>(&self, value: T) -> Vec<T> {
        vec![value; self.instances.len()]
    }

    fn add(
        &mut self,
        metadata: &Metadata,
        id: ComponentId,
        scope: &[String],
        parent: Option<(PhysicalId, CellId)>,
    ) -> PhysicalId {
        let component = metadata.component(id);
        let mut slots: HashMap<ProbeName, SlotId> = HashMap::new();
        let watched = &mut self.table.watched;
        let mut watch = |name: String| {
            watched.push(Signal {
                scope: scope.to_vec(),
                name,
            });
            SlotId::from_index(watched.len() - 1)
        };
        let mut probe = |probe: ProbeName| {
            *slots
                .entry(probe)
                .or_insert_with(|| watch(probe.signal(&metadata.prefix)))
        };
        let runs = component.runs.iter().map(|run| probe(run.probe)).collect();
        let starts = component.runs.iter();
        let mut starts: Vec<Vec<SlotId>> = starts
            .map(|run| run.enable.map(&mut probe).into_iter().collect())
            .collect();
        let calls = component.calls.iter().map(|call| {
            let slot = probe(call.probe);
            if let Callee::Group(run) = call.callee {
                starts[run.index()].push(slot);
            }
            slot
        });
        let calls = calls.collect();
        let compiled = component
            .compiled
            .iter()
            .map(|group| probe(group.probe))
            .collect();
        let scheduled = component.schedules().flat_map(Schedule::all);
        let branches = scheduled
            .filter_map(|part| part.branch)
            .map(|branch| (branch, probe(branch)))
            .collect();
        let registers = component
            .registers
            .iter()
            .map(|r| watch(r.signal()))
            .collect();
        let physical = PhysicalId::from_index(self.instances.len());
        self.instances.push(Physical {
            component: id,
            runs,
            starts,
            calls,
            compiled,
            branches,
            registers,
            cells: vec![None; component.cells.len()],
            parent,
        });
        let mut by_instance: HashMap<&str, PhysicalId> = HashMap::new();
        for (id, child) in component.instances() {
            let Some(instance) = &component.cell(id).instance else {
                continue;
            };
            let mut inner = scope.to_vec();
            inner.push(instance.clone());
            let child = self.add(metadata, child, &inner, Some((physical, id)));
            by_instance.insert(instance, child);
        }
        for (index, cell) in component.cells.iter().enumerate() {
            if let (CellKind::Component(_), Some(instance)) = (&cell.kind, &cell.instance) {
                self.instances[physical.index()].cells[index] =
                    by_instance.get(instance.as_str()).copied();
            }
        }
        physical
    }
}
