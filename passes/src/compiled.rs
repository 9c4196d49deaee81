//! Reads off the compiled control what every compilation group, FSM state and control register
//! stands for.
//!
//! Control compilation keeps no map, but its output gives one: the control program from just before,
//! compared side by side with the groups that it became. An FSM enables its children in the order
//! of the program, a par group too, and the guards of these enables hold the state or the
//! par-done register.

use std::collections::HashSet;

use calyx_ir as ir;
use calyx_utils::{CalyxResult, Error};
use petal_metadata::{
    Arm, CompiledId, CompiledKind, ControlKind, ControlRegister, FsmState, Id, ProbeKind,
    ProbeName, ProbePrefix, RegisterId, RegisterKind,
};
use petal_program::source::SourceComponent;
use petal_program::tree::{NodeKey, View, parent_cell};

use crate::align::Shape;
use crate::instrument::add_guarded_probe;
use crate::probes::{ComponentProbes, RunProbe};
use crate::sharing::Driver;

/// The compiled control of one component.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub groups: Vec<CompiledEntry>,
    pub root: Option<CompiledId>,
    pub registers: Vec<ControlRegister>,
}

/// A compilation group, with its source node still as a key.
#[derive(Debug)]
pub(crate) struct CompiledEntry {
    pub name: ir::Id,
    pub node: Option<NodeKey>,
    pub probe: ProbeName,
    /// The number of the static program that it runs.
    pub static_program: Option<usize>,
    pub kind: CompiledKind,
}

/// Follows the compilation of `component`, whose control program was `shape` before, and adds the
/// CA probes.
pub(crate) fn follow(
    component: &mut ir::Component,
    lib: &ir::LibrarySignatures,
    prefix: &ProbePrefix,
    shape: &Shape,
    source: &SourceComponent,
    probes: &mut ComponentProbes,
) -> CalyxResult<Compiled> {
    let root = View::of(&component.control.borrow())
        .group()
        .map(|group| group.name());
    let mut follower = Follower {
        component,
        lib,
        prefix,
        source,
        probes,
        compiled: Compiled::default(),
    };
    if let Some(root) = root {
        follower.compiled.root = Some(if shape.kind == ControlKind::Enable {
            follower.leaf(shape, root, None)?
        } else {
            follower.fsm(shape, root, true)?
        });
    }
    follower.add_static_registers();
    Ok(follower.compiled)
}

struct Follower<'a> {
    component: &'a mut ir::Component,
    lib: &'a ir::LibrarySignatures,
    prefix: &'a ProbePrefix,
    source: &'a SourceComponent,
    probes: &'a mut ComponentProbes,
    compiled: Compiled,
}

/// The enable of a child in a compilation group.
struct ChildEnable {
    parent: ir::Id,
    group: ir::Id,
    guard: ir::Guard<ir::Nothing>,
}

impl Follower<'_> {
    fn group(&mut self, shape: &Shape, enable: &ChildEnable) -> CalyxResult<CompiledId> {
        match shape.kind {
            ControlKind::Enable => self.leaf(shape, enable.group, Some(enable)),
            ControlKind::Par => self.par(shape, enable.group),
            _ => self.fsm(shape, enable.group, false),
        }
    }

    fn leaf(
        &mut self,
        shape: &Shape,
        group: ir::Id,
        enable: Option<&ChildEnable>,
    ) -> CalyxResult<CompiledId> {
        if shape.group != Some(group) {
            return Err(self.lost(group));
        }
        let runs = &self.probes.runs;
        let shared = shape.run().filter(|&run| runs[run].enable.is_none());
        let probe = if let (Some(run), Some(enable)) = (shared, enable) {
            let probe = self.add_enable_probe(enable)?;
            self.probes.runs[run].enable = Some(probe);
            probe
        } else {
            let same =
                |run: &&RunProbe| run.group == group && matches!(run.driver, Driver::Control(..));
            match runs.iter().find(same) {
                Some(run) => run.probe,
                None => self.add_probe(group)?,
            }
        };
        let leaf = self.push(group, shape.source(self.source), probe, CompiledKind::Leaf);
        self.compiled.groups[leaf.index()].static_program = shape.static_program();
        Ok(leaf)
    }

    fn par(&mut self, shape: &Shape, group: ir::Id) -> CalyxResult<CompiledId> {
        let enables = self.enables(group)?;
        if enables.len() != shape.children.len() {
            return Err(self.lost(group));
        }
        let mut arms = Vec::new();
        for (child, enable) in shape.children.iter().zip(enables) {
            let done = enable
                .guard
                .all_ports()
                .iter()
                .find_map(|port| parent_cell(&port.borrow()))
                .ok_or_else(|| self.lost(enable.group))?;
            let register = self.register(done, RegisterKind::ParDone);
            arms.push(Arm {
                register,
                child: self.group(child, &enable)?,
            });
        }
        let probe = self.add_probe(group)?;
        Ok(self.push(
            group,
            shape.source(self.source),
            probe,
            CompiledKind::Par { arms },
        ))
    }

    /// `outermost` marks the machine that runs the whole program: it also wraps a single `par` or
    /// a statement with a machine of its own.
    fn fsm(&mut self, shape: &Shape, group: ir::Id, outermost: bool) -> CalyxResult<CompiledId> {
        let elements = if outermost && (shape.kind == ControlKind::Par || shape.new_fsm) {
            vec![shape]
        } else {
            shape.children.iter().flat_map(elements).collect()
        };
        let enables = self.enables(group)?;
        if enables.len() != elements.len() {
            return Err(self.lost(group));
        }
        let mut register = None;
        let mut states = Vec::new();
        for (element, enable) in elements.into_iter().zip(enables) {
            let (cell, value) = compared_state(self.component, &enable.guard)
                .ok_or_else(|| self.lost(enable.group))?;
            register = Some(cell);
            states.push(FsmState {
                value,
                child: self.group(element, &enable)?,
            });
        }
        let done = self.done_guard(group)?;
        let (cell, last) = compared_state(self.component, &done).ok_or_else(|| self.lost(group))?;
        let register = self.register(register.unwrap_or(cell), RegisterKind::Fsm);
        let probe = self.add_probe(group)?;
        let kind = CompiledKind::Fsm {
            register,
            states,
            last,
        };
        Ok(self.push(group, shape.source(self.source), probe, kind))
    }

    fn push(
        &mut self,
        name: ir::Id,
        node: Option<NodeKey>,
        probe: ProbeName,
        kind: CompiledKind,
    ) -> CompiledId {
        self.compiled.groups.push(CompiledEntry {
            name,
            node,
            probe,
            static_program: None,
            kind,
        });
        CompiledId::from_index(self.compiled.groups.len() - 1)
    }

    fn register(&mut self, cell: ir::Id, kind: RegisterKind) -> RegisterId {
        let registers = &mut self.compiled.registers;
        let name = cell.to_string();
        let index = registers
            .iter()
            .position(|register| register.name == name)
            .unwrap_or_else(|| {
                registers.push(ControlRegister { name, kind });
                registers.len() - 1
            });
        RegisterId::from_index(index)
    }

    /// Registers that static compilation made: those of its counters and of their wrappers.
    fn add_static_registers(&mut self) {
        let taken: HashSet<String> = self
            .compiled
            .registers
            .iter()
            .map(|register| register.name.clone())
            .collect();
        let made: Vec<String> = self
            .component
            .cells
            .iter()
            .map(|cell| cell.borrow())
            .filter(|cell| cell.is_primitive(Some("std_reg")))
            .filter(|cell| !self.probes.cells.contains(&cell.name()))
            .map(|cell| cell.name().to_string())
            .filter(|name| {
                ["fsm", "signal_reg", "sig_reg"]
                    .iter()
                    .any(|p| name.starts_with(p))
            })
            .filter(|name| !taken.contains(name))
            .collect();
        for name in made {
            self.compiled.registers.push(ControlRegister {
                name,
                kind: RegisterKind::StaticFsm,
            });
        }
    }

    fn find(&self, name: ir::Id) -> CalyxResult<ir::RRC<ir::Group>> {
        self.component
            .find_group(name)
            .ok_or_else(|| self.lost(name))
    }

    /// The enables of children in a compilation group, in its order.
    fn enables(&self, name: ir::Id) -> CalyxResult<Vec<ChildEnable>> {
        let group = self.find(name)?;
        let group = group.borrow();
        Ok(group
            .assignments
            .iter()
            .filter(|assignment| {
                let dst = assignment.dst.borrow();
                dst.is_hole() && dst.name == "go"
            })
            .map(|assignment| ChildEnable {
                parent: name,
                group: assignment.dst.borrow().get_parent_name(),
                guard: (*assignment.guard).clone(),
            })
            .collect())
    }

    fn done_guard(&self, name: ir::Id) -> CalyxResult<ir::Guard<ir::Nothing>> {
        let group = self.find(name)?;
        let group = group.borrow();
        group
            .assignments
            .iter()
            .find(|assignment| {
                let dst = assignment.dst.borrow();
                dst.is_hole() && dst.name == "done" && dst.get_parent_name() == name
            })
            .map(|assignment| (*assignment.guard).clone())
            .ok_or_else(|| self.lost(name))
    }

    /// Probes the group `name`.
    fn add_probe(&mut self, name: ir::Id) -> CalyxResult<ProbeName> {
        self.add_probe_to(name, ProbeKind::CA, ir::Guard::True)
    }

    /// Probes one of the enables of a group that has several.
    fn add_enable_probe(&mut self, enable: &ChildEnable) -> CalyxResult<ProbeName> {
        self.add_probe_to(enable.parent, ProbeKind::EN, enable.guard.clone())
    }

    /// Adds a probe that is high while the group `name` is active and `guard` holds.
    fn add_probe_to(
        &mut self,
        name: ir::Id,
        kind: ProbeKind,
        guard: ir::Guard<ir::Nothing>,
    ) -> CalyxResult<ProbeName> {
        let group = self.find(name)?;
        let mut builder = ir::Builder::new(self.component, self.lib);
        let count = &mut self.probes.count;
        let (probe, assignment) = add_guarded_probe(&mut builder, count, kind, self.prefix, guard);
        group.borrow_mut().assignments.push(assignment);
        Ok(probe)
    }

    fn lost(&self, group: ir::Id) -> Error {
        Error::misc(format!(
            "petal cannot follow how the compiler built group `{group}` of component `{}`; \
             is a pass in use that petal does not know?",
            self.component.name
        ))
    }
}

/// The parts of a control program that get a state of their own, in program order.
fn elements(shape: &Shape) -> Vec<&Shape> {
    match shape.kind {
        ControlKind::Enable | ControlKind::Par => vec![shape],
        _ if shape.new_fsm => vec![shape],
        _ => shape.children.iter().flat_map(elements).collect(),
    }
}

/// The register that a guard compares, and the value for which it holds.
fn compared_state(
    component: &ir::Component,
    guard: &ir::Guard<ir::Nothing>,
) -> Option<(ir::Id, u64)> {
    match guard {
        ir::Guard::And(left, right) | ir::Guard::Or(left, right) => {
            compared_state(component, left).or_else(|| compared_state(component, right))
        }
        ir::Guard::CompOp(ir::PortComp::Eq, left, right) => {
            let cell = parent_cell(&left.borrow())?;
            let right = right.borrow().cell_parent();
            let right = right.borrow();
            match right.prototype {
                ir::CellType::Constant { val, .. } => {
                    one_hot(component, cell).or(Some((cell, val)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The register of which a cell shows one bit, and the value that has no other: a state of a one-hot machine.
fn one_hot(component: &ir::Component, slice: ir::Id) -> Option<(ir::Id, u64)> {
    let cell = component.find_cell(slice)?;
    let cell = cell.borrow();
    if !cell.is_primitive(Some("std_bit_slice")) {
        return None;
    }
    let bit = u32::try_from(cell.get_parameter("START_IDX")?).ok()?;
    let mut assignments = component.continuous_assignments.iter();
    let shown = assignments.find(|assignment| {
        let driven = assignment.dst.borrow();
        driven.name == "in" && parent_cell(&driven) == Some(slice)
    })?;
    let register = parent_cell(&shown.src.borrow())?;
    Some((register, 1_u64.checked_shl(bit)?))
}
