//! Groups that take a cycle each, one of which reads what the one before it writes into a register, as one group.
//!
//! What a register has in the next cycle is what goes into it now, so who reads it then can read that instead. Owns of which
//! neighbours that is certain. The rest of what one group needs of another they read and write at once: a register gives what it had
//! until the cycle ends.

mod texts;

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{cell_of, is_combinational, ports_read, primitive};
use petal_program::latency::takes_one_cycle;
use petal_program::tree::{GroupRef, View};

use super::flow::Flow;
use super::merged::{Joined, Short};
use super::state::port_of;
use super::{Rewrite, RewriteKind, Scope};
use texts::{Assigned, Written};

/// What a cell does with what it is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nature {
    Combinational,
    Register,
    /// A memory that gives the word that was read last.
    Sequential,
    /// A memory that gives the word at its address at once.
    Addressed,
}

impl Nature {
    /// Of a cell that groups of one cycle may drive.
    fn of(cell: &ir::RRC<ir::Cell>) -> Option<Self> {
        if is_combinational(cell) {
            return Some(Self::Combinational);
        }
        let of = primitive(&cell.borrow())?;
        match of.as_ref() {
            "std_reg" => Some(Self::Register),
            of if of.starts_with("seq_mem_d") => Some(Self::Sequential),
            of if of.starts_with("comb_mem_d") => Some(Self::Addressed),
            _ => None,
        }
    }
}

/// What the assignments of a group have to do with cells.
#[derive(Default)]
struct Body {
    /// The cells that are driven, and which of their ports.
    driven: BTreeMap<ir::Id, BTreeSet<ir::Id>>,
    /// The cells that are read, and which of their ports, `done` of the group aside.
    read: BTreeMap<ir::Id, BTreeSet<ir::Id>>,
    /// Those of these that guards read.
    guarding: BTreeSet<ir::Id>,
    /// Registers that are written for sure.
    written: BTreeSet<ir::Id>,
}

impl Body {
    /// Of a group that takes a single cycle and knows of no other group; `None` if it does something that is not looked at here.
    fn of(group: &GroupRef) -> Option<Self> {
        match group {
            GroupRef::Dynamic(group) => {
                let group = group.borrow();
                let body = || Self::of_assignments(&group.assignments);
                takes_one_cycle(&group).then(body)?
            }
            GroupRef::Static(group) => {
                let group = group.borrow();
                let body = || Self::of_assignments(&group.assignments);
                (group.latency == 1).then(body)?
            }
        }
    }

    fn of_assignments<T>(assignments: &[ir::Assignment<T>]) -> Option<Self> {
        let mut body = Self::default();
        for to in assignments {
            let port = to.dst.borrow();
            if port.is_hole() {
                if port.name != "done" {
                    return None;
                }
                continue;
            }
            let cell = cell_of(&to.dst)?;
            Nature::of(&cell)?;
            let name = cell.borrow().name();
            body.driven.entry(name).or_default().insert(port.name);
            for read in ports_read(to) {
                if read.borrow().is_hole() || read.borrow().attributes.has(ir::NumAttr::Done) {
                    return None;
                }
                let Some((cell, port)) = port_of(&read) else {
                    continue;
                };
                body.read.entry(cell).or_default().insert(port);
            }
            let guards = to.guard.all_ports();
            body.guarding
                .extend(guards.iter().filter_map(port_of).map(|(cell, _)| cell));
        }
        let is_sure = |cell: ir::Id, port: &str| {
            let mut of_port = assignments
                .iter()
                .filter(|to| port_of(&to.dst).is_some_and(|(of, name)| of == cell && name == port));
            let only = of_port.next().filter(|_| of_port.next().is_none());
            only.filter(|to| matches!(&*to.guard, ir::Guard::True | ir::Guard::Info(_)))
        };
        let written = body.driven.keys().copied().filter(|cell| {
            let enabled = is_sure(*cell, "write_en");
            enabled.is_some_and(|to| to.src.borrow().is_constant(1, 1))
                && is_sure(*cell, "in").is_some()
        });
        let written = written.collect();
        Some(Self { written, ..body })
    }

    fn add(&mut self, other: &Self) {
        for (cell, ports) in &other.driven {
            self.driven.entry(*cell).or_default().extend(ports);
        }
        for (cell, ports) in &other.read {
            self.read.entry(*cell).or_default().extend(ports);
        }
        self.written.extend(&other.written);
    }
}

/// Groups that become one, as far as they are found.
#[derive(Default)]
struct Row {
    groups: Vec<ir::Id>,
    body: Body,
    /// What each port is given, by its name, in the order of the text.
    assigned: BTreeMap<String, Vec<Assigned>>,
    texts: Vec<Written>,
    is_static: bool,
    /// Whether any needs what another one does.
    is_chained: bool,
}

impl Scope<'_> {
    /// Neighbouring enables in a `seq` of groups of one cycle, as many as may be one group.
    pub fn chains(&self, view: View<'_>, wires: &Flow, found: &mut Vec<Rewrite>) {
        let Some(parts) = self.parts(view) else {
            return;
        };
        let count = parts.len();
        let children = view.children().into_iter();
        let steps = children.zip(parts).map(|(child, part)| {
            let group = child.group()?;
            let body = Body::of(&group)?;
            Some((Short { part, group }, body))
        });
        let steps: Vec<Option<(Short<'_>, Body)>> = steps.collect();
        let mut reached = 0;
        for first in 0..count {
            let mut row = Row::default();
            let rest = steps[first..].iter();
            let length = rest
                .map_while(|step| {
                    let (step, body) = step.as_ref()?;
                    self.extend(&mut row, &step.group, body, wires)
                })
                .count();
            let end = first + length;
            if end <= reached || !row.is_chained {
                continue;
            }
            reached = end;
            let chained = steps[first..end].iter().flatten();
            let chained: Vec<&Short<'_>> = chained.map(|(step, _)| step).collect();
            let joined = Joined {
                view,
                range: first..end,
                steps: &chained,
            };
            found.extend(self.chain(&joined, &row));
        }
    }

    fn chain(&self, joined: &Joined<'_, '_>, row: &Row) -> Option<Rewrite> {
        let name = self.name_of_one(joined.steps)?;
        let (last, before) = row.texts.split_last()?;
        let mut bodies: Vec<String> = before.iter().map(|of| self.becomes(of, None)).collect();
        bodies.push(self.becomes(last, Some(&name)));
        let head = if row.is_static {
            format!("static<1> group {name}")
        } else {
            format!("group {name}")
        };
        self.made_one(
            joined,
            RewriteKind::OperationChaining,
            (&head, &bodies),
            format!(
                "make one group of {}, which reads what goes into registers",
                joined.names()
            ),
            "each takes one cycle, and what a register will have is what goes into it",
        )
    }

    /// Adds a group to a row, if it may be one with those before it.
    fn extend(&self, row: &mut Row, group: &GroupRef, body: &Body, wires: &Flow) -> Option<()> {
        let is_static = matches!(group, GroupRef::Static(_));
        let is_other_kind = !row.groups.is_empty() && is_static != row.is_static;
        if is_other_kind || row.groups.contains(&group.name()) {
            return None;
        }
        let needs = self.needs(&row.body, body)?;
        let needs_wires = self.needs_wires(&row.body, body, wires)?;
        let written = self.read(row, group, body)?;
        row.groups.push(group.name());
        row.texts.push(written);
        row.is_static = is_static;
        row.is_chained |= needs | needs_wires;
        row.body.add(body);
        Some(())
    }

    /// Whether a group needs what those before it do, or they what it changes; `None` if they can't be one then.
    fn needs(&self, before: &Body, body: &Body) -> Option<bool> {
        let mut needs = false;
        let meets = |of: &Body, cell: ir::Id| {
            let others = self.aliases.may_be(self.component.name, cell);
            let mut others = others.into_iter().flatten().filter(|other| **other != cell);
            others.any(|other| of.driven.contains_key(other))
        };
        for (cell, ports) in &body.driven {
            if meets(before, *cell) {
                return None;
            }
            let Some(known) = before.driven.get(cell) else {
                continue;
            };
            let (may_be_one, is_needed) = match self.nature(*cell)? {
                Nature::Combinational => (known == ports, false),
                // Those before it only read, at the same address.
                Nature::Addressed => (
                    addresses(known).eq(known) && addresses(ports).eq(known),
                    addresses(ports).ne(ports),
                ),
                // What is written last stays.
                Nature::Register => (
                    before.written.contains(cell) && body.written.contains(cell),
                    true,
                ),
                Nature::Sequential => (false, false),
            };
            if !may_be_one {
                return None;
            }
            needs |= is_needed;
        }
        for (cell, ports) in &body.read {
            if meets(before, *cell) {
                return None;
            }
            let is_register = self.nature(*cell) == Some(Nature::Register);
            if !before.driven.contains_key(cell) || body.driven.contains_key(cell) && !is_register {
                continue;
            }
            let is_output = ports.iter().all(|port| *port == "out");
            if !(before.written.contains(cell) && is_output) {
                return None;
            }
            needs = true;
        }
        for cell in before.read.keys() {
            let is_changed = body.driven.contains_key(cell) && !before.driven.contains_key(cell);
            if is_changed || meets(body, *cell) {
                match self.nature(*cell)? {
                    Nature::Register | Nature::Sequential => needs = true,
                    Nature::Combinational | Nature::Addressed => return None,
                }
            }
        }
        Some(needs)
    }

    /// Whether those before a group read through continuous assignments what it changes; `None` if they see it at once, or it what they change.
    fn needs_wires(&self, before: &Body, body: &Body, wires: &Flow) -> Option<bool> {
        let behind = |of: &Body| {
            let mut sources = wires.behind(of.read.keys().chain(of.driven.keys()).copied());
            let may_be = |cell: &ir::Id| self.aliases.may_be(self.component.name, *cell);
            let aliases: Vec<ir::Id> = sources
                .iter()
                .filter_map(may_be)
                .flatten()
                .copied()
                .collect();
            sources.extend(aliases);
            sources
        };
        if behind(body)
            .iter()
            .any(|cell| before.driven.contains_key(cell))
        {
            return None;
        }
        let changed = behind(before).into_iter();
        let mut changed = changed
            .filter(|cell| body.driven.contains_key(cell))
            .peekable();
        let needs = changed.peek().is_some();
        let keeps = |cell| {
            matches!(
                self.nature(cell),
                Some(Nature::Register | Nature::Sequential)
            )
        };
        changed.all(keeps).then_some(needs)
    }

    fn nature(&self, cell: ir::Id) -> Option<Nature> {
        Nature::of(&self.component.find_cell(cell)?)
    }
}

/// Those ports that are addresses.
fn addresses(ports: &BTreeSet<ir::Id>) -> impl Iterator<Item = &ir::Id> {
    ports
        .iter()
        .filter(|port| port.as_ref().starts_with("addr"))
}
