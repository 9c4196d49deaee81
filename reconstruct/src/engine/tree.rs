//! The call tree of one cycle: what is active in each component cell, and what stands below what.
//!
//! Owns the shape of trees, which are those of the paper (sections 4 and 5.2), with two additions: continuous
//! assignments stand where a group would, and a group is followed by its part if the compiler has split it.
//!
//! ```text
//! main                        the root is the main cell
//! ├─ seq@L51                  control nodes hang below cells and control nodes
//! │  └─ par@L53
//! │     ├─ run_s1             groups that no group calls hang below their statement
//! │     │  └─ s1 [sub_one]    cells of components hang below groups …
//! │     │     └─ go_one
//! │     │        └─ x         … and so do primitives, which are leaves
//! │     └─ run_s2
//! │        └─ helper          a group that another group calls hangs below that
//! └─ continuous assignments
//!    └─ y
//! ```
//!
//! `charge.rs` decides what a cycle of a cell is for.

mod active;

use std::collections::BTreeSet;

use petal_metadata::{
    CallId, Callee, CellId, CellKind, CompiledId, CompiledKind, ComponentId, ControlId, GroupRunId,
    Id,
};

use self::active::{Active, Actuals, Holder, Levels, of_first};
use super::charge::CycleView;
use super::emitter::Emitter;
use super::statics::{Pending, StaticProgram};
use crate::model::{Activity, Charge, Instance, InstanceId, Node};
use crate::signals::{Layout, Physical, PhysicalId, SlotId};

/// Which source instance each active hardware instance works for.
pub(super) type Owners = Vec<(PhysicalId, InstanceId)>;

/// Builds the tree of a cycle. New instances and warnings go to `emitter`.
///
/// Paper, section 4: "The root of any call tree is the main cell"; section 5.1: "the main cell is active
/// through the entire execution".
pub(super) fn build(cycle: CycleView<'_>, emitter: &mut Emitter<'_>) -> Built {
    let mut builder = Builder {
        cycle,
        emitter,
        built: Built::default(),
    };
    let main = Entry {
        holder: Holder {
            physical: Layout::main(),
            instance: InstanceId::from_index(0),
        },
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
    /// Static components that continue in the next cycle.
    pub pending: Vec<Pending>,
}

struct Builder<'a, 'e, 'l> {
    cycle: CycleView<'a>,
    emitter: &'e mut Emitter<'l>,
    built: Built,
}

/// How a cell is entered.
struct Entry {
    holder: Holder,
    /// The `ref` cell by which it is called, and its component.
    formal: Option<(ComponentId, CellId)>,
    actuals: Actuals,
    /// Cycles of a static component so far.
    position: Option<u64>,
}

impl<'a> Builder<'a, '_, '_> {
    /// Adds an active cell and all below it: its control nodes and groups, and what continuous
    /// assignments call.
    ///
    /// Paper, section 5.2: "For each active cell, we construct a tree fragment containing all the active
    /// control blocks within the cell"; "Finally, we insert the new fragment into the larger tree."
    fn cell(&mut self, entry: Entry, depth: usize) {
        let Entry {
            holder,
            formal,
            actuals,
            position,
        } = entry;
        let Holder { physical, instance } = holder;
        self.built.owners.push((physical, instance));
        let mut active = self.active(holder, actuals, position);
        let calls = active.calls.iter().map(|&(_, call)| call);
        let activity = self.cycle.activity(physical, &active.runs, calls, position);
        // The statement that pays for an overhead cycle is active in it.
        if let Activity::Overhead(Charge {
            statement: Some(statement),
            ..
        }) = activity
        {
            let statements = active.component.ancestry(statement);
            active.controls.extend(statements);
        }
        let node = Node::Cell {
            instance,
            formal,
            activity,
        };
        self.built.nodes.push((depth, node));
        self.level(&active, &active.levels(), None, depth + 1);
        let continuous = active.calls_of(None);
        if !continuous.is_empty() {
            let component = active.id;
            let node = Node::Continuous { component };
            self.built.nodes.push((depth + 1, node));
            self.callees(&active, continuous, depth + 2);
        }
    }

    /// What the probes say of an instance: its runs from GA and EN probes, its calls from CG, CC and CP
    /// probes, its control nodes from the runs and from CA probes. A call whose caller is not active is left
    /// out with a warning, unless it started a static component that continues.
    ///
    /// Paper, section 5.1: "GA probes are active during the entire execution of the group. Call probes are
    /// only active when the call assignment is active." An EN probe tells the enables of one group apart,
    /// for which the paper makes a group for each enable.
    fn active(&mut self, holder: Holder, actuals: Actuals, position: Option<u64>) -> Active<'a> {
        let physical = holder.physical;
        let component = self.cycle.component(physical);
        let hardware = self.cycle.physical(physical);
        let runs: Vec<GroupRunId> = (0..component.runs.len())
            .filter(|&run| self.runs(hardware, run))
            .map(GroupRunId::from_index)
            .collect();
        let mut calls = Vec::new();
        for (at, call) in component.calls.iter().enumerate() {
            let (id, slot) = (CallId::from_index(at), hardware.calls[at]);
            let continues = |pending: &Pending| (pending.physical, pending.call) == (physical, id);
            let pending = self.cycle.pending.iter().any(continues);
            if !self.cycle.high(slot) && !pending {
                continue;
            }
            let runs = |caller: &GroupRunId| runs.binary_search(caller).is_ok();
            if call.caller.is_some_and(|caller| !runs(&caller)) {
                // Other runs of the group have the same probe.
                let explained = component.calls.iter().zip(&hardware.calls);
                let explained = explained.filter(|&(_, &of)| of == slot).any(|(call, _)| {
                    let caller = call.caller;
                    caller.is_some_and(|caller| runs(&caller))
                });
                if !explained {
                    self.warn(physical, slot, pending);
                }
                if !pending {
                    continue;
                }
            }
            calls.push((call.caller, id));
        }
        calls.sort_unstable();
        let mut controls = BTreeSet::new();
        for run in &runs {
            if let Some(control) = component.run(*run).control {
                controls.extend(component.ancestry(control));
            }
        }
        if let Some(root) = component.root {
            self.compiled(physical, root, &mut controls);
        }
        self.scheduled(physical, position, &mut controls);
        Active {
            holder,
            component,
            id: hardware.component,
            runs,
            calls,
            controls,
            actuals,
        }
    }

    /// Whether a run is active: its group is (GA), and so is what starts the group for this run: a call
    /// (CG), or an enable of a group that has several (EN).
    fn runs(&self, hardware: &Physical, run: usize) -> bool {
        let starts = &hardware.starts[run];
        self.cycle.high(hardware.runs[run])
            && (starts.is_empty() || starts.iter().any(|&slot| self.cycle.high(slot)))
    }

    fn warn(&mut self, physical: PhysicalId, slot: SlotId, outlives: bool) {
        let text = if outlives {
            "the called cell goes on after the group that started it; it is still shown below it"
        } else {
            "is high while the group that makes the call is not active; ignored"
        };
        self.emitter.warn(physical, slot, text);
    }

    /// Adds the control nodes that an active compilation group (CA) stands for, and those of the groups
    /// that it runs: all arms of a `par`, and of a state machine the state that it is in.
    ///
    /// Paper, section 5.2: active control blocks are "derived from active compilation groups"; section 3:
    /// "Groups within the control block are called from the seq group with a guard that checks the fsm
    /// register's output value", "A par group implements parallelism by calling all child groups".
    fn compiled(&self, physical: PhysicalId, id: CompiledId, controls: &mut BTreeSet<ControlId>) {
        let component = self.cycle.component(physical);
        let hardware = self.cycle.physical(physical);
        if !self.cycle.high(hardware.compiled[id.index()]) {
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

    /// Adds the control nodes that static programs run in this cycle, whether a group is active in them or not. `position`
    /// counts the cycles of a static component from its start.
    fn scheduled(
        &self,
        physical: PhysicalId,
        position: Option<u64>,
        controls: &mut BTreeSet<ControlId>,
    ) {
        let component = self.cycle.component(physical);
        let hardware = self.cycle.physical(physical);
        // They are in the order of hardware instances.
        let programs = self.cycle.programs;
        let first = programs.partition_point(|program| program.physical < physical);
        let programs = programs[first..].iter();
        let programs = programs.take_while(|program| program.physical == physical);
        let programs = programs.filter_map(StaticProgram::running);
        for (schedule, position) in programs.chain(component.schedule.as_ref().zip(position)) {
            let is_high = |branch| self.cycle.high(hardware.branches[&branch]);
            let mut add = |statement| controls.extend(component.ancestry(statement));
            schedule.visit(position, &is_high, &mut add);
        }
    }

    /// Adds the control nodes and groups right below `parent` (`None`: the cell).
    ///
    /// Paper, section 4: "A control block's parents must be cells or other control blocks"; section 5.2:
    /// "we connect edges between active control blocks based on the control program hierarchy"; section
    /// 5.1: "any groups without a corresponding CG probe […] are called from control blocks".
    fn level(
        &mut self,
        active: &Active<'a>,
        levels: &Levels,
        parent: Option<ControlId>,
        depth: usize,
    ) {
        for &(_, control) in of_first(&levels.controls, parent) {
            let node = Node::Control {
                component: active.id,
                control,
            };
            self.built.nodes.push((depth, node));
            self.level(active, levels, Some(control), depth + 1);
        }
        for &(_, run) in of_first(&levels.runs, parent) {
            self.group(active, run, depth);
        }
    }

    /// Adds an active group, its part if the run is of one only, and what it calls.
    ///
    /// Paper, section 5.2: "Petal uses call probe signals to add edges between cell, group, and primitive
    /// nodes."
    fn group(&mut self, active: &Active<'a>, run: GroupRunId, depth: usize) {
        let component = active.id;
        let described = active.component.run(run);
        let whole = described.group;
        let part = described.part.filter(|&part| part != whole);
        let mut below = depth;
        for group in [Some(whole), part].into_iter().flatten() {
            let node = Node::Group {
                component,
                group,
                run,
            };
            self.built.nodes.push((below, node));
            below += 1;
        }
        self.callees(active, active.calls_of(Some(run)), below);
    }

    /// Adds what a group or a continuous assignment calls: groups, cells of components, and primitives.
    /// What several of the calls call is added once.
    ///
    /// Paper, section 4: "A (non-main) cell's parents can only be groups", "A primitive node's parents must
    /// be groups", "Primitive nodes are always leaves".
    fn callees(
        &mut self,
        active: &Active<'a>,
        calls: &[(Option<GroupRunId>, CallId)],
        depth: usize,
    ) {
        let component = active.component;
        let mut seen: Vec<CellId> = Vec::new();
        for &(_, call) in calls {
            match component.calls[call.index()].callee {
                Callee::Group(run) => {
                    if active.is_running(run) {
                        self.group(active, run, depth);
                    }
                }
                Callee::Cell(cell) => {
                    if seen.contains(&cell) {
                        continue;
                    }
                    seen.push(cell);
                    if let CellKind::Component(_) = component.cell(cell).kind {
                        self.component_cell(active, call, cell, depth);
                        continue;
                    }
                    let actual = active.resolve(cell);
                    let actual = actual.filter(|_| component.cell(cell).is_reference());
                    let node = Node::Primitive {
                        component: active.id,
                        cell,
                        actual: actual.map(|(holder, cell)| (holder.instance, cell)),
                    };
                    self.built.nodes.push((depth, node));
                }
            }
        }
    }

    /// Adds a called cell of a component. A dynamic one is active as long as its call; a static one is only
    /// started by its call, and active for its latency:
    ///
    /// ```text
    /// cycle       4   5   6   7
    /// CC probe    ▔▔▔▔▁▁▁▁▁▁▁▁▁▁▁▁
    /// latency 3   position 0, 1, 2    `pending` in cycles 5 and 6, with 2 and 1 cycles left
    /// ```
    fn component_cell(&mut self, active: &Active<'a>, call: CallId, cell: CellId, depth: usize) {
        let Some((holder, actual)) = active.resolve(cell) else {
            return;
        };
        let hardware = self.cycle.physical(holder.physical);
        let Some(child) = hardware.cells[actual.index()] else {
            return;
        };
        let component = self.cycle.physical(child).component;
        let instance = self.emitter.instance(Instance {
            component,
            parent: Some((holder.instance, actual)),
        });
        let physical = active.holder.physical;
        let mut position = None;
        if let Some(latency) = self.cycle.metadata.component(component).latency {
            let continues =
                |pending: &&Pending| (pending.physical, pending.call) == (physical, call);
            let left = self.cycle.pending.iter().find(continues);
            let left = left.map_or(latency, |pending| pending.left);
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
        let is_reference = active.component.cell(cell).is_reference();
        let entry = Entry {
            holder: Holder {
                physical: child,
                instance,
            },
            formal: is_reference.then_some((active.id, cell)),
            actuals: active.handed_over(call, cell),
            position,
        };
        self.cell(entry, depth);
    }
}
