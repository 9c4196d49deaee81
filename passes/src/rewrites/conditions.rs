//! Conditions that a comb group computes, made continuous.

use std::collections::BTreeSet;
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::ControlId;

use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};
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
    /// Whether what they do may depend on when they run.
    timed: bool,
}

impl Scope<'_> {
    /// The compiler gives a condition `with` a comb group a cycle of its own: the group's assignments become continuous where
    /// nothing else has to do with their cells.
    pub fn conditions(&self, found: &mut Vec<Rewrite>) {
        for group in self.component.comb_groups.iter() {
            let Some(condition) = self.condition(&group.borrow()) else {
                continue;
            };
            let name = group.borrow().name();
            let certainty = if condition.timed {
                (
                    Certainty::Checked,
                    "what it does may depend on when it runs".to_owned(),
                )
            } else {
                (
                    Certainty::Proved,
                    "nothing else drives or reads the cells of the condition, and every register that it reads is \
                     written by groups that are done after that"
                        .to_owned(),
                )
            };
            found.push(self.rewrite(
                RewriteKind::ContinuousCondition,
                vec![condition.statements],
                condition.span,
                format!("make the comb group `{name}` continuous"),
                certainty,
                condition.edits,
            ));
        }
    }

    /// What makes a comb group continuous, if nothing else has to do with its cells.
    pub fn condition(&self, group: &ir::CombGroup) -> Option<Condition> {
        let name = group.name();
        let span = self.span(&group.attributes)?;
        let mut driven: BTreeSet<Port> = BTreeSet::new();
        let mut cells = BTreeSet::new();
        for assignment in &group.assignments {
            let cell = cell_of(&assignment.dst)?;
            let port = assignment.dst.borrow().name;
            let is_address = cell.borrow().type_name().is_some_and(|of| {
                of.as_ref().starts_with("comb_mem_d") && port.as_ref().starts_with("addr")
            });
            if !is_combinational(&cell) && !is_address || cell.borrow().is_reference() {
                return None;
            }
            cells.insert(cell.borrow().name());
            driven.insert((cell.borrow().name(), port));
        }
        let handed_over = |cell: &ir::Id| self.handed_over.contains(&(self.component.name, *cell));
        let holes = || {
            group
                .assignments
                .iter()
                .flat_map(ports_read)
                .any(|port| port.borrow().is_hole())
        };
        if cells.iter().any(handed_over) || holes() || !self.is_alone(name, &driven, &cells) {
            return None;
        }
        let control = self.component.control.borrow();
        let mut uses = Vec::new();
        let mut others = false;
        View::of(&control).walk(&mut |view| {
            let with = view.comb_group().map(|group| group.borrow().name());
            if with == Some(name) {
                uses.push(view);
            } else {
                others |= named_by(view).iter().any(|cell| cells.contains(cell));
            }
        });
        if others || uses.is_empty() {
            return None;
        }
        let mut edits = Vec::new();
        let (open, close) = (self.text.body(span.clone())?, span.end.checked_sub(1)?);
        let inner = self.text.without_space(open + 1..close);
        if inner.is_empty() {
            return None;
        }
        self.text.unwrap(span.clone(), inner, &mut edits);
        let mut statements = Vec::new();
        for &view in &uses {
            let statement = self.span(view.attributes())?;
            edits.push(Edit::replace(self.text.with(statement)?, ""));
            statements.push(self.id(view)?);
        }
        let mut timed = false;
        for view in &uses {
            let (key, _) = view.identity()?;
            timed |= self.dependences.effects(key)?.timed;
        }
        Some(Condition {
            span,
            statements,
            edits,
            timed,
        })
    }

    /// Whether no assignment but those of the comb group drives these ports or reads these cells.
    fn is_alone(&self, name: ir::Id, driven: &BTreeSet<Port>, cells: &BTreeSet<ir::Id>) -> bool {
        fn meets<T>(
            assignment: &ir::Assignment<T>,
            driven: &BTreeSet<Port>,
            cells: &BTreeSet<ir::Id>,
        ) -> bool {
            let drives = {
                let port = assignment.dst.borrow();
                !port.is_hole() && driven.contains(&(port.get_parent_name(), port.name))
            };
            let reads = || {
                let ports = ports_read(assignment);
                ports.iter().filter_map(cell_of).any(|cell| {
                    let name = cell.borrow().name();
                    cells.contains(&name)
                })
            };
            drives || reads()
        }
        let meets_any = |assignments: &[ir::Assignment<ir::Nothing>]| {
            let mut assignments = assignments.iter();
            assignments.any(|assignment| meets(assignment, driven, cells))
        };
        let component = self.component;
        let groups = component.get_groups();
        let statics = component.get_static_groups();
        let combs = component.comb_groups.iter();
        let mut others = combs.filter(|group| group.borrow().name() != name);
        !meets_any(&component.continuous_assignments)
            && !groups
                .iter()
                .any(|group| meets_any(&group.borrow().assignments))
            && !statics.iter().any(|group| {
                let group = group.borrow();
                let mut assignments = group.assignments.iter();
                assignments.any(|assignment| meets(assignment, driven, cells))
            })
            && !others.any(|group| meets_any(&group.borrow().assignments))
            && self.reads_only_state(name)
    }

    /// Whether the comb group reads no combinational cell that only something else drives.
    fn reads_only_state(&self, name: ir::Id) -> bool {
        let Some(group) = self.component.comb_groups.find(name) else {
            return false;
        };
        let group = group.borrow();
        let continuous = self.component.continuous_assignments.iter();
        let all: Vec<&ir::Assignment<ir::Nothing>> =
            group.assignments.iter().chain(continuous).collect();
        let driven: BTreeSet<ir::Id> = all
            .iter()
            .filter_map(|assignment| cell_of(&assignment.dst))
            .map(|cell| cell.borrow().name())
            .collect();
        let mut ports = group.assignments.iter().flat_map(ports_read);
        ports.all(|port| {
            cell_of(&port).is_none_or(|cell| {
                let name = cell.borrow().name();
                let needs_input = is_combinational(&cell)
                    || cell
                        .borrow()
                        .type_name()
                        .is_some_and(|of| of.as_ref().starts_with("comb_mem_d"));
                !needs_input || driven.contains(&name)
            })
        })
    }
}

/// The cells whose ports a statement reads or drives itself, without its groups.
fn named_by(view: View<'_>) -> Vec<ir::Id> {
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
    let handed = inputs.iter().chain(outputs).map(|(_, port)| port);
    let ports = port.into_iter().chain(handed);
    let cells = ports.filter_map(cell_of);
    cells.map(|cell| cell.borrow().name()).collect()
}
