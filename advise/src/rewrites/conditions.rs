//! Conditions that a comb group computes, made continuous.

use std::collections::BTreeSet;
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::ControlId;
use petal_program::dependences::{cell_of, ports_of, ports_read};
use petal_program::tree::View;
use petal_table::listed;

use super::ends::may_stop;
use super::state::{Others, is_memory, port_of};
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// A comb group that can be made continuous.
pub(super) struct Condition {
    span: Range<usize>,
    /// The statements that it is of.
    pub statements: Vec<ControlId>,
    pub edits: Vec<Edit>,
    /// The cells of which it needs copies, since something else has to do with them.
    copies: Vec<ir::Id>,
    /// Why it is not certain that the program computes the same with it continuous.
    pub doubt: Option<&'static str>,
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
                    _ => format!("copies of {}", listed(&copies)),
                };
                (
                    format!(", with {copies}"),
                    "nothing else drives the cells of the condition, of which some are copies",
                )
            };
            let certainty = match condition.doubt {
                Some(doubt) => (Certainty::Checked, doubt.to_owned()),
                None => (
                    Certainty::Proved,
                    format!(
                        "{cells}, and every register that it reads is written by groups that are done after that"
                    ),
                ),
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
        let others = Others::of(self.component, self.handed_over, Some(name));
        let copies = Self::copies(group, &others)?;
        if !self.is_of_state(group, &uses, &others, &copies) {
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
            let ports: Vec<ir::Id> = of
                .borrow()
                .ports
                .iter()
                .map(|port| port.borrow().name)
                .collect();
            let ports = ports.iter().map(AsRef::as_ref);
            let copy = self.free_name(&format!("{cell}_for_{name}"), ports);
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
        let mut assignments = group.assignments.iter();
        // Without the statement around it, which may keep it from being looked at.
        let may_stop = assignments.any(|assignment| may_stop(&assignment.dst, &assignment.src));
        let doubt = if timed {
            Some("what it does may depend on when it runs")
        } else {
            may_stop.then_some(
                "it reads a memory with an address that may be out of bounds while nobody asks for the condition",
            )
        };
        Some(Condition {
            span,
            statements,
            edits,
            copies,
            doubt,
        })
    }

    /// The cells that the comb group drives and something else has to do with; `None` if one of them can't be copied.
    fn copies(group: &ir::CombGroup, others: &Others) -> Option<Vec<ir::Id>> {
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
            // What they give it, a copy would lack.
            if others.is_continuous(name) {
                return None;
            }
            let is_combinational = matches!(
                cell.prototype,
                ir::CellType::Primitive { is_comb: true, .. }
            );
            let is_address = is_memory(&cell) && port.as_ref().starts_with("addr");
            if is_combinational && others.has_to_do_with(name) {
                copies.push(name);
            } else if !is_combinational && (!is_address || others.has_to_do_with(name)) {
                // There is but one of it.
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
        copies: &[ir::Id],
    ) -> bool {
        let mut driven = BTreeSet::new();
        let mut ports = Vec::new();
        for assignment in &group.assignments {
            driven.extend(port_of(&assignment.dst).map(|(cell, _)| cell));
            ports.extend(ports_read(assignment));
        }
        for view in uses {
            let (read, _) = ports_of(*view);
            // Its inputs would have to be renamed, too.
            let is_copied = |port: &ir::RRC<ir::Port>| {
                port_of(port).is_some_and(|(cell, _)| copies.contains(&cell))
            };
            if view.invoked().is_some() && read.iter().any(is_copied) {
                return false;
            }
            ports.extend(read);
        }
        // What the comb group gives those that it drives is looked at itself.
        ports.retain(|port| !port_of(port).is_some_and(|(cell, _)| driven.contains(&cell)));
        others.is_of_state(self.component, &ports, self.outputs)
    }
}
