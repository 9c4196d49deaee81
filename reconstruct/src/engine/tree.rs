//! The call tree of one cycle: what is active in each component cell, and what stands below what.
//!
//! Owns the shape of trees. What a cell's cycle is for, `charge.rs` says.

use std::collections::BTreeSet;

use petal_metadata::{
    Binding, CallId, Callee, CellId, CellKind, CompiledId, CompiledKind, Component, ComponentId,
    ControlId, Id, RunId,
};

use super::Emitter;
use super::charge::CycleView;
use super::statics::Pending;
use crate::model::{Activity, Charge, Instance, InstanceId, Node};
use crate::signals::{Layout, PhysicalId, SlotId};

/// Which source instance each active hardware instance works for.
pub(super) type Owners = Vec<(PhysicalId, InstanceId)>;

/// Builds the tree of a cycle, whose root is the main cell (paper, section 4). New instances and warnings go to `emitter`.
pub(super) fn build(cycle: CycleView<'_>, emitter: &mut Emitter<'_>) -> Built {
    let mut builder = Builder {
        cycle,
        emitter,
        built: Built::default(),
    };
    let main = Entry {
        physical: Layout::main(),
        instance: InstanceId::from_index(0),
        formal: None,
        actuals: Actuals::new(),
        position: None,
    };
    builder.cell(main, 0);
    builder.built
}

/// What follows from the values of a cycle.
#[derive(Debug, Default)]
pub(super) struct Built {
    /// The tree in preorder: each node with its depth.
    pub nodes: Vec<(usize, Node)>,
    pub owners: Owners,
    /// Static components that go on in the next cycle.
    pub pending: Vec<Pending>,
}

struct Builder<'a, 'e, 'l> {
    cycle: CycleView<'a>,
    emitter: &'e mut Emitter<'l>,
    built: Built,
}

/// A hardware instance, and the source instance that it works for.
#[derive(Debug, Clone, Copy)]
struct Holder {
    physical: PhysicalId,
    instance: InstanceId,
}

/// What the `ref` cells of a component stand for: each with the cell, and who holds that.
type Actuals = Vec<(CellId, (Holder, CellId))>;

/// How a cell is entered.
struct Entry {
    physical: PhysicalId,
    instance: InstanceId,
    /// The `ref` cell by which it is called, and its component.
    formal: Option<(ComponentId, CellId)>,
    actuals: Actuals,
    /// Cycles of a static component so far.
    position: Option<u64>,
}

/// What is active in one instance.
struct Active {
    runs: Vec<RunId>,
    /// Calls that are made, or go on as `pending` ones.
    calls: Vec<CallId>,
    controls: BTreeSet<ControlId>,
    actuals: Actuals,
}

impl Builder<'_, '_, '_> {
    /// Adds an active cell and all below it: its control nodes and groups, and what continuous
    /// assignments call.
    fn cell(&mut self, entry: Entry, depth: usize) {
        let Entry {
            physical,
            instance,
            formal,
            actuals,
            position,
        } = entry;
        self.built.owners.push((physical, instance));
        let mut active = self.active(physical, actuals);
        let activity = self
            .cycle
            .activity(physical, &active.runs, &active.calls, position);
        if let Activity::Overhead(Charge {
            statement: Some(statement),
            ..
        }) = activity
        {
            let component = self.cycle.component(physical);
            active.controls.extend(component.ancestry(statement));
        }
        let node = Node::Cell {
            instance,
            formal,
            activity,
        };
        self.built.nodes.push((depth, node));
        self.level(physical, instance, &active, None, depth + 1);
        let continuous: Vec<CallId> = active
            .calls
            .iter()
            .copied()
            .filter(|&call| {
                self.cycle.component(physical).calls[call.index()]
                    .caller
                    .is_none()
            })
            .collect();
        if !continuous.is_empty() {
            let component = self.cycle.physical(physical).component;
            self.built
                .nodes
                .push((depth + 1, Node::Continuous { component }));
            self.callees(physical, instance, &active, &continuous, depth + 2);
        }
    }

    /// What the probes tell of an instance: GA and EN probes its runs, call probes its calls (paper,
    /// section 5.2). A call whose caller is not active is left out with a warning, unless it started a
    /// static component that goes on.
    fn active(&mut self, physical: PhysicalId, actuals: Actuals) -> Active {
        let component = self.cycle.component(physical);
        let own = self.cycle.physical(physical);
        let runs: Vec<RunId> = (0..component.runs.len())
            .filter(|&run| self.runs(physical, run))
            .map(RunId::from_index)
            .collect();
        let mut calls = Vec::new();
        for (at, call) in component.calls.iter().enumerate() {
            let pending = self
                .cycle
                .pending
                .iter()
                .any(|p| p.physical == physical && p.call == CallId::from_index(at));
            if !self.cycle.high(own.calls[at]) && !pending {
                continue;
            }
            if call.caller.is_some_and(|caller| !runs.contains(&caller)) {
                // Other runs of the group have the same probe.
                let explained = component.calls.iter().zip(&own.calls).any(|(call, &slot)| {
                    slot == own.calls[at] && call.caller.is_some_and(|run| runs.contains(&run))
                });
                if !explained {
                    self.warn(physical, own.calls[at], pending);
                }
                if !pending {
                    continue;
                }
            }
            calls.push(CallId::from_index(at));
        }
        let mut controls = BTreeSet::new();
        for run in &runs {
            if let Some(control) = component.run(*run).control {
                controls.extend(component.ancestry(control));
            }
        }
        if let Some(root) = component.root {
            self.compiled(physical, root, &mut controls);
        }
        Active {
            runs,
            calls,
            controls,
            actuals,
        }
    }

    /// Whether a run is active: its group is, and so is what starts the group for this run.
    fn runs(&self, physical: PhysicalId, run: usize) -> bool {
        let own = self.cycle.physical(physical);
        let starts = &own.starts[run];
        self.cycle.high(own.runs[run])
            && (starts.is_empty() || starts.iter().any(|&slot| self.cycle.high(slot)))
    }

    /// The cell that `cell` is: itself, or what it stands for; `None` for a `ref` cell that nobody
    /// handed over.
    fn resolve(
        &self,
        physical: PhysicalId,
        instance: InstanceId,
        active: &Active,
        cell: CellId,
    ) -> Option<(Holder, CellId)> {
        if self.cycle.component(physical).cell(cell).is_reference() {
            let mut actuals = active.actuals.iter();
            actuals
                .find(|(formal, _)| *formal == cell)
                .map(|&(_, actual)| actual)
        } else {
            let holder = Holder { physical, instance };
            Some((holder, cell))
        }
    }

    /// What the `ref` cells of `cell`'s component stand for while `call` is made.
    fn actuals(
        &self,
        physical: PhysicalId,
        instance: InstanceId,
        active: &Active,
        call: CallId,
        cell: CellId,
    ) -> Actuals {
        let component = self.cycle.component(physical);
        let caller = component.calls[call.index()].caller;
        let invoke = caller.and_then(|run| component.run(run).control);
        let invoke = invoke.map(|node| component.node(node)).filter(|node| {
            let invoked = node.cell.map(|cell| &component.cell(cell).kind);
            invoked == Some(&component.cell(cell).kind)
        });
        let bindings = invoke.map_or(&[][..], |node| &node.bindings);
        let actual = |binding: &Binding| {
            let actual = self.resolve(physical, instance, active, binding.actual)?;
            Some((binding.formal, actual))
        };
        bindings.iter().filter_map(actual).collect()
    }

    fn warn(&mut self, physical: PhysicalId, slot: SlotId, outlives: bool) {
        let text = if outlives {
            "the called cell goes on after the group that started it; it is still shown below it"
        } else {
            "is high while the group that makes the call is not active; ignored"
        };
        self.emitter.warn(physical, slot, text);
    }

    /// Adds the control nodes that an active compilation group stands for (paper, section 5.2: the
    /// active control blocks of a cell are derived from active compilation groups).
    fn compiled(&self, physical: PhysicalId, id: CompiledId, controls: &mut BTreeSet<ControlId>) {
        let component = self.cycle.component(physical);
        let own = self.cycle.physical(physical);
        if !self.cycle.high(own.compiled[id.index()]) {
            return;
        }
        let group = component.compiled(id);
        if let Some(node) = group.node {
            controls.extend(component.ancestry(node));
        }
        match &group.kind {
            CompiledKind::Leaf => {}
            CompiledKind::Par { arms } => {
                for arm in arms {
                    self.compiled(physical, arm.child, controls);
                }
            }
            CompiledKind::Fsm {
                register,
                states,
                last,
            } => match self
                .cycle
                .machine(physical, group, *register, states, *last)
            {
                Ok(child) => self.compiled(physical, child, controls),
                Err(node) => {
                    controls.extend(node.into_iter().flat_map(|node| component.ancestry(node)));
                }
            },
        }
    }

    /// Adds the control nodes and groups right below `parent` (`None`: the cell). Control nodes are only
    /// below cells and other control nodes (paper, section 4). Groups that no other group calls were
    /// started by control (paper, section 5.1).
    fn level(
        &mut self,
        physical: PhysicalId,
        instance: InstanceId,
        active: &Active,
        parent: Option<ControlId>,
        depth: usize,
    ) {
        let component = self.cycle.component(physical);
        let id = self.cycle.physical(physical).component;
        let framed = |node: ControlId| !component.node(node).kind.is_enable();
        for &control in &active.controls {
            if framed(control) && component.node(control).parent == parent {
                self.built.nodes.push((
                    depth,
                    Node::Control {
                        component: id,
                        control,
                    },
                ));
                self.level(physical, instance, active, Some(control), depth + 1);
            }
        }
        let mut below: BTreeSet<RunId> = BTreeSet::new();
        for &run in &active.runs {
            let above = match component.run(run).control {
                Some(control) => component.ancestry(control).find(|&node| framed(node)),
                None if Self::has_caller(component, active, run) => continue,
                None => None,
            };
            if above == parent {
                below.insert(run);
            }
        }
        // A group that has ended, but whose callee goes on.
        for &call in &active.calls {
            if let Some(caller) = component.calls[call.index()].caller
                && !active.runs.contains(&caller)
            {
                let above = component
                    .run(caller)
                    .control
                    .and_then(|c| component.ancestry(c).find(|&node| framed(node)));
                let above = above.filter(|node| active.controls.contains(node));
                if above == parent {
                    below.insert(caller);
                }
            }
        }
        for run in below {
            self.group(physical, instance, active, run, depth);
        }
    }

    /// Whether another group calls `run` in this cycle.
    fn has_caller(component: &Component, active: &Active, run: RunId) -> bool {
        active
            .calls
            .iter()
            .any(|call| component.calls[call.index()].callee == Callee::Group(run))
    }

    /// Adds an active group, and what it calls.
    fn group(
        &mut self,
        physical: PhysicalId,
        instance: InstanceId,
        active: &Active,
        run: RunId,
        depth: usize,
    ) {
        let component = self.cycle.component(physical);
        let id = self.cycle.physical(physical).component;
        let entry = component.run(run);
        self.built.nodes.push((
            depth,
            Node::Group {
                component: id,
                group: entry.group,
                run,
            },
        ));
        let mut below = depth + 1;
        if let Some(part) = entry.part.filter(|&part| part != entry.group) {
            self.built.nodes.push((
                below,
                Node::Group {
                    component: id,
                    group: part,
                    run,
                },
            ));
            below += 1;
        }
        let calls: Vec<CallId> = active
            .calls
            .iter()
            .copied()
            .filter(|call| component.calls[call.index()].caller == Some(run))
            .collect();
        self.callees(physical, instance, active, &calls, below);
    }

    /// Adds what a group or a continuous assignment calls: groups, cells of components, and primitives,
    /// which are always leaves (paper, section 4).
    fn callees(
        &mut self,
        physical: PhysicalId,
        instance: InstanceId,
        active: &Active,
        calls: &[CallId],
        depth: usize,
    ) {
        let component = self.cycle.component(physical);
        let id = self.cycle.physical(physical).component;
        let mut seen: Vec<CellId> = Vec::new();
        for &call in calls {
            match component.calls[call.index()].callee {
                Callee::Group(run) => {
                    if active.runs.contains(&run) {
                        self.group(physical, instance, active, run, depth);
                    }
                }
                Callee::Cell(cell) => {
                    if seen.contains(&cell) {
                        continue;
                    }
                    seen.push(cell);
                    if let CellKind::Component(_) = component.cell(cell).kind {
                        self.component_cell(physical, instance, active, (call, cell), depth);
                        continue;
                    }
                    let is_reference = component.cell(cell).is_reference();
                    let actual = self.resolve(physical, instance, active, cell);
                    let actual = actual.filter(|_| is_reference);
                    self.built.nodes.push((
                        depth,
                        Node::Primitive {
                            component: id,
                            cell,
                            actual: actual.map(|(holder, cell)| (holder.instance, cell)),
                        },
                    ));
                }
            }
        }
    }

    /// Adds a called cell of a component. A static one is only started by its call, and goes on for its
    /// latency.
    fn component_cell(
        &mut self,
        physical: PhysicalId,
        instance: InstanceId,
        active: &Active,
        (call, cell): (CallId, CellId),
        depth: usize,
    ) {
        let Some((holder, actual)) = self.resolve(physical, instance, active, cell) else {
            return;
        };
        let Some(child) = self.cycle.physical(holder.physical).cells[actual.index()] else {
            return;
        };
        let component = self.cycle.physical(child).component;
        let inner = self.emitter.instance(Instance {
            component,
            parent: Some((holder.instance, actual)),
        });
        let own = self.cycle.physical(physical).component;
        let is_reference = self.cycle.component(physical).cell(cell).is_reference();
        let mut position = None;
        if let Some(latency) = self.cycle.metadata.component(component).latency {
            let left = self
                .cycle
                .pending
                .iter()
                .find(|p| p.physical == physical && p.call == call)
                .map_or(latency, |p| p.left);
            position = Some(latency - left);
            if left > 1 {
                let next = Pending {
                    physical,
                    call,
                    left: left - 1,
                };
                if !self.built.pending.contains(&next) {
                    self.built.pending.push(next);
                }
            }
        }
        let entry = Entry {
            physical: child,
            instance: inner,
            formal: is_reference.then_some((own, cell)),
            actuals: self.actuals(physical, instance, active, call, cell),
            position,
        };
        self.cell(entry, depth);
    }
}
