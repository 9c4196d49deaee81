//! Conditions that a comb group computes, made continuous.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::ControlId;

use super::{Certainty, Edit, Rewrite, RewriteKind, Scope, join};
use crate::dependences::{cell_of, is_combinational, ports_read};
use crate::tree::View;

/// A port of a component: its cell and its name.
type Port = (ir::Id, ir::Id);

/// A comb group that can be made continuous.
pub(super) struct Condition {
    span: Range<usize>,
    /// The statements that it is of.
    pub statements: Vec<ControlId>,
    pub edits: Vec<Edit>,
    /// The cells of which it needs copies, since something else has to do with them.
    copies: Vec<ir::Id>,
    /// Whether what they do may depend on when they run.
    timed: bool,
}

/// What has to do with the cells of a component, apart from a comb group and the statements that it is of.
#[derive(Default)]
struct Others {
    /// Ports that are driven other than by continuous assignments.
    driven: BTreeSet<Port>,
    /// Cells that continuous assignments drive: the ports, and the cells from which these get something.
    continuous: BTreeMap<ir::Id, (BTreeSet<ir::Id>, BTreeSet<ir::Id>)>,
    /// Cells that are read, handed over or named by control.
    named: BTreeSet<ir::Id>,
}

impl Others {
    fn add<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        for assignment in assignments {
            self.driven.extend(driven_port(&assignment.dst));
            self.named.extend(cells_read(assignment));
        }
    }

    fn drives(&self, cell: ir::Id) -> bool {
        self.driven.iter().any(|(driven, _)| *driven == cell)
    }
}

fn driven_port(port: &ir::RRC<ir::Port>) -> Option<Port> {
    let cell = cell_of(port)?;
    let name = cell.borrow().name();
    Some((name, port.borrow().name))
}

fn cells_read<T>(assignment: &ir::Assignment<T>) -> Vec<ir::Id> {
    let cells = ports_read(assignment).into_iter();
    let cells = cells.filter_map(|port| cell_of(&port));
    cells.map(|cell| cell.borrow().name()).collect()
}

fn is_memory(cell: &ir::Cell) -> bool {
    let of = cell.type_name();
    of.is_some_and(|of| of.as_ref().starts_with("comb_mem_d"))
}

impl Scope<'_> {
    /// The compiler gives a condition `with` a comb group a cycle of its own: the group's assignments become continuous, of copies of
    /// those cells that something else has to do with.
    pub fn conditions(&self, found: &mut Vec<Rewrite>) {
        for group in self.component.comb_groups.iter() {
            let Some(condition) = self.condition(&group.borrow()) else {
                continue;
            };
            let name = group.borrow().name();
            let (with, cells) = if condition.copies.is_empty() {
                (
                    String::new(),
                    "nothing else drives or reads the cells of the condition",
                )
            } else {
                let copies: Vec<String> = condition
                    .copies
                    .iter()
                    .map(|cell| format!("`{cell}`"))
                    .collect();
                let copies = match copies.as_slice() {
                    [only] => format!("a copy of {only}"),
                    _ => format!("copies of {}", join(&copies)),
                };
                (
                    format!(", with {copies}"),
                    "nothing else drives the cells of the condition, of which some are copies",
                )
            };
            let certainty = if condition.timed {
                (
                    Certainty::Checked,
                    "what it does may depend on when it runs".to_owned(),
                )
            } else {
                (
                    Certainty::Proved,
                    format!(
                        "{cells}, and every register that it reads is written by groups that are done after that"
                    ),
                )
            };
            found.push(self.rewrite(
                RewriteKind::ContinuousCondition,
                vec![condition.statements],
                condition.span,
                format!("make the comb group `{name}` continuous{with}"),
                certainty,
                condition.edits,
            ));
        }
    }

    /// What makes a comb group continuous, if what it computes depends on state and inputs alone.
    pub fn condition(&self, group: &ir::CombGroup) -> Option<Condition> {
        let name = group.name();
        let span = self.span(&group.attributes)?;
        let control = self.component.control.borrow();
        let mut uses = Vec::new();
        View::of(&control).walk(&mut |view| {
            let with = view.comb_group().map(|group| group.borrow().name());
            if with == Some(name) {
                uses.push(view);
            }
        });
        let holes = || {
            let mut ports = group.assignments.iter().flat_map(ports_read);
            ports.any(|port| port.borrow().is_hole())
        };
        if uses.is_empty() || holes() {
            return None;
        }
        let others = self.others(name, &control);
        let copies = self.copies(group, &others)?;
        let copied = |cell: &ir::Id| copies.contains(cell);
        if !self.is_of_state(group, &uses, &others, &copied) {
            return None;
        }
        let mut edits = Vec::new();
        let (open, close) = (self.text.body(span.clone())?, span.end.checked_sub(1)?);
        let inner = self.text.without_space(open + 1..close);
        if inner.is_empty() {
            return None;
        }
        self.text.unwrap(span.clone(), inner.clone(), &mut edits);
        for cell in &copies {
            let of = self.component.find_cell(*cell)?;
            let declared = self.span(&of.borrow().attributes)?;
            let prototype = self.text.of(declared.clone()).split_once('=')?.1;
            let copy = self.free_name(&format!("{cell}_for_{name}"));
            let declaration = format!("{copy} = {};", prototype.trim());
            edits.push(self.text.behind(&declared, &declaration));
            let mut named = self.text.references(inner.clone(), cell.as_ref());
            for view in &uses {
                let statement = self.span(view.attributes())?;
                let head = statement.start..self.text.with(statement)?.start;
                named.extend(self.text.references(head, cell.as_ref()));
            }
            let named = named.into_iter();
            edits.extend(named.map(|named| Edit::replace(named, copy.clone())));
        }
        let mut statements = Vec::new();
        let mut timed = false;
        for &view in &uses {
            let statement = self.span(view.attributes())?;
            edits.push(Edit::replace(self.text.with(statement)?, ""));
            statements.push(self.id(view)?);
            let (key, _) = view.identity()?;
            timed |= self.dependences.effects(key)?.timed;
        }
        Some(Condition {
            span,
            statements,
            edits,
            copies,
            timed,
        })
    }

    /// What has to do with cells, apart from this comb group and the statements that it is of.
    fn others(&self, name: ir::Id, control: &ir::Control) -> Others {
        let mut others = Others::default();
        let component = self.component;
        for assignment in &component.continuous_assignments {
            if let Some((cell, port)) = driven_port(&assignment.dst) {
                let (ports, from) = others.continuous.entry(cell).or_default();
                ports.insert(port);
                from.extend(cells_read(assignment));
            }
            others.named.extend(cells_read(assignment));
        }
        for group in component.get_groups().iter() {
            others.add(&group.borrow().assignments);
        }
        for group in component.get_static_groups().iter() {
            others.add(&group.borrow().assignments);
        }
        for group in component.comb_groups.iter() {
            if group.borrow().name() != name {
                others.add(&group.borrow().assignments);
            }
        }
        View::of(control).walk(&mut |view| {
            let (read, driven) = named_by(view);
            others.driven.extend(driven.iter().filter_map(driven_port));
            let with = view.comb_group().map(|group| group.borrow().name());
            if with != Some(name) {
                let cells = read.iter().chain(&driven).filter_map(cell_of);
                others.named.extend(cells.map(|cell| cell.borrow().name()));
            }
        });
        let handed_over = self.handed_over.iter();
        let handed_over = handed_over.filter(|(of, _)| *of == component.name);
        for (_, cell) in handed_over {
            others.named.insert(*cell);
            if let Some(cell) = component.find_cell(*cell) {
                let cell = cell.borrow();
                let ports = cell.ports.iter();
                let ports = ports.map(|port| (cell.name(), port.borrow().name));
                others.driven.extend(ports);
            }
        }
        others
    }

    /// The cells that the comb group drives and something else has to do with; `None` if one of them can't be copied.
    fn copies(&self, group: &ir::CombGroup, others: &Others) -> Option<Vec<ir::Id>> {
        let mut copies = Vec::new();
        for assignment in &group.assignments {
            let cell = cell_of(&assignment.dst)?;
            let port = assignment.dst.borrow().name;
            let cell = cell.borrow();
            let name = cell.name();
            if cell.is_reference() {
                return None;
            }
            if copies.contains(&name) {
                continue;
            }
            if is_memory(&cell) && port.as_ref().starts_with("addr") {
                // There is but one of it.
                let is_alone = !others.drives(name) && !others.named.contains(&name);
                if !is_alone || others.continuous.contains_key(&name) {
                    return None;
                }
            } else if !matches!(
                cell.prototype,
                ir::CellType::Primitive { is_comb: true, .. }
            ) {
                return None;
            } else if others.drives(name) || others.named.contains(&name) {
                // What continuous assignments give it, a copy would lack.
                if others.continuous.contains_key(&name) {
                    return None;
                }
                copies.push(name);
            } else if others
                .continuous
                .get(&name)
                .is_some_and(|(ports, _)| ports.contains(&port))
            {
                return None;
            }
        }
        Some(copies)
    }

    /// Whether all that the condition depends on is state, an input of the component, or computed from these by cells that the comb
    /// group and continuous assignments drive and nothing else does.
    fn is_of_state(
        &self,
        group: &ir::CombGroup,
        uses: &[View<'_>],
        others: &Others,
        is_copied: &impl Fn(&ir::Id) -> bool,
    ) -> bool {
        let mut driven: BTreeSet<ir::Id> = BTreeSet::new();
        let mut next: Vec<ir::Id> = Vec::new();
        for assignment in &group.assignments {
            driven.extend(driven_port(&assignment.dst).map(|(cell, _)| cell));
            next.extend(cells_read(assignment));
        }
        for view in uses {
            let (read, _) = named_by(*view);
            let cells = read.iter().filter_map(cell_of);
            let is_invoke = view.invoked().is_some();
            for cell in cells {
                let name = cell.borrow().name();
                // Its inputs would have to be renamed, too.
                if is_invoke && is_copied(&name) {
                    return false;
                }
                next.push(name);
            }
        }
        let mut seen: BTreeSet<ir::Id> = BTreeSet::new();
        while let Some(name) = next.pop() {
            if !seen.insert(name) {
                continue;
            }
            let Some(cell) = self.component.find_cell(name) else {
                continue;
            };
            let by_continuous = others.continuous.get(&name);
            if is_combinational(&cell) {
                if is_copied(&name) {
                    continue;
                }
                if others.drives(name) || !driven.contains(&name) && by_continuous.is_none() {
                    return false;
                }
            } else if is_memory(&cell.borrow()) {
                let addressed = others
                    .driven
                    .iter()
                    .any(|(driven, port)| *driven == name && port.as_ref().starts_with("addr"));
                if addressed || !driven.contains(&name) && by_continuous.is_none() {
                    return false;
                }
            }
            next.extend(by_continuous.into_iter().flat_map(|(_, from)| from));
        }
        true
    }
}

/// The ports that a statement reads, and those that it drives, without its groups.
fn named_by(view: View<'_>) -> (Vec<ir::RRC<ir::Port>>, Vec<ir::RRC<ir::Port>>) {
    let port = match view {
        View::Dynamic(ir::Control::If(node)) => Some(&node.port),
        View::Dynamic(ir::Control::While(node)) => Some(&node.port),
        View::Static(ir::StaticControl::If(node)) => Some(&node.port),
        _ => None,
    };
    let (inputs, outputs) = match view {
        View::Dynamic(ir::Control::Invoke(node)) => {
            (node.inputs.as_slice(), node.outputs.as_slice())
        }
        View::Static(ir::StaticControl::Invoke(node)) => {
            (node.inputs.as_slice(), node.outputs.as_slice())
        }
        _ => (&[][..], &[][..]),
    };
    let read = inputs.iter().map(|(_, port)| port).chain(port);
    let driven = outputs.iter().map(|(_, port)| port);
    (read.cloned().collect(), driven.cloned().collect())
}
