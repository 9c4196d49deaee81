//! Registers that only keep a copy of what a memory, multiplier or divider goes on giving.
//!
//! A sequential memory gives the word that was read last until it is accessed again, and arithmetic of several cycles its result until
//! it is started again. Owns of which registers the readers may look there instead: control is followed from each copy to all that reads it.

use std::collections::BTreeSet;
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::{cell_of, is_combinational, ports_of, ports_read, primitive};
use petal_program::tree::{GroupRef, View};
use petal_program::{Course, rests, takes};
use petal_table::listed;

use super::anew::is_fed_back;
use super::shifts::is_port;
use super::state::port_of;
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// What a group that copies an output has to do with it.
struct Copy {
    register: ir::Id,
    cell: ir::RRC<ir::Cell>,
    /// The port that is copied.
    port: ir::Id,
    /// The cycles of a static group.
    latency: Option<u64>,
}

/// Control that is followed from what copies an output to what reads the copy.
struct Readers<'a> {
    group: ir::Id,
    register: ir::Id,
    /// The cells that may be the copied one.
    cells: &'a BTreeSet<ir::Id>,
    /// Whether each reader so far would find the same there.
    is_same: bool,
}

impl Scope<'_> {
    /// Groups that copy an output: each alone, and all at once.
    pub fn copy_propagations(&self, found: &mut Vec<Rewrite>) {
        let mut each = Vec::new();
        for group in self.component.get_groups().iter() {
            let group = group.borrow();
            let copy = Copy::of(&group).filter(|copy| self.stays(copy, &group.assignments));
            each.extend(copy.and_then(|copy| self.copy(&copy, group.name(), &group.attributes)));
        }
        for group in self.component.get_static_groups().iter() {
            let group = group.borrow();
            let copy = Copy::of_static(&group)
                .filter(|copy| !self.is_part(group.name()) && self.stays(copy, &group.assignments));
            each.extend(copy.and_then(|copy| self.copy(&copy, group.name(), &group.attributes)));
        }
        // A shift takes no longer than the copy.
        let is_shift = |of: &Rewrite| {
            let mut others = found.iter();
            others.any(|other| other.kind == RewriteKind::Shift && other.region == of.region)
        };
        each.retain(|(_, rewrite)| !is_shift(rewrite));
        let names = each.iter().map(|(name, _)| format!("`{name}`"));
        let names: Vec<String> = names.collect();
        let each: Vec<Rewrite> = each.into_iter().map(|(_, rewrite)| rewrite).collect();
        found.extend(Rewrite::of_all(&each, || {
            format!(
                "leave out the registers {}, which only copy outputs",
                listed(&names)
            )
        }));
        found.extend(each);
    }

    /// Whether what is copied stays the same while the group goes on with what it started: that gets nothing of it.
    fn stays<T>(&self, copy: &Copy, assignments: &[ir::Assignment<T>]) -> bool {
        let cell = copy.cell.borrow().name();
        !is_fed_back(self.component, assignments, cell, self.aliases)
    }

    fn copy(
        &self,
        copy: &Copy,
        group: ir::Id,
        attributes: &ir::Attributes,
    ) -> Option<(ir::Id, Rewrite)> {
        let Copy { register, .. } = *copy;
        if !self.is_only_a_copy(copy, group) || !self.readers_find_the_same(copy, group) {
            return None;
        }
        let span = self.span(attributes)?;
        let edits = self.without_copy(copy, group, &span)?;
        let cell = copy.cell.borrow().name();
        let output = format!("{cell}.{}", copy.port);
        // What others do with a memory at the same time, nobody knows.
        let certainty = if copy.cell.borrow().is_reference() && self.is_timed {
            Certainty::Checked
        } else {
            Certainty::Proved
        };
        let rewrite = self.rewrite(
            RewriteKind::CopyPropagation,
            self.runs_of(group),
            span,
            format!("read `{output}` itself, and leave out its copy in the register `{register}`"),
            (
                certainty,
                format!("`{output}` stays what the register gets until all that reads it has"),
            ),
            edits,
        );
        Some((register, rewrite))
    }

    /// Whether a register gets nothing but the copy, and nobody sees it but by its output.
    fn is_only_a_copy(&self, copy: &Copy, group: ir::Id) -> bool {
        let Copy { register, .. } = *copy;
        let cell = copy.cell.borrow().name();
        let name = self.component.name;
        let is_of = |port: &ir::RRC<ir::Port>, of: ir::Id| {
            port_of(port).is_some_and(|(cell, _)| cell == of)
        };
        let calls = |port: &ir::RRC<ir::Port>, own: ir::Id| {
            let port = port.borrow();
            port.is_hole() && (port.get_parent_name() != own || port.name != "done")
        };
        let mut dynamics = self.component.get_groups().iter();
        let mut statics = self.component.get_static_groups().iter();
        let is_alone = dynamics.all(|of| {
            let of = of.borrow();
            let mut driven = of.assignments.iter().map(|to| &to.dst);
            driven.all(|port| {
                (of.name() == group || !is_of(port, register)) && !calls(port, of.name())
            })
        }) && statics.all(|of| {
            let of = of.borrow();
            let mut driven = of.assignments.iter().map(|to| &to.dst);
            driven.all(|port| {
                (of.name() == group || !is_of(port, register)) && !calls(port, of.name())
            })
        });
        let by_wires = |to: &ir::Assignment<ir::Nothing>| {
            let looks = ports_read(to).iter().any(|port| is_of(port, register));
            looks || is_of(&to.dst, register) || is_of(&to.dst, cell)
        };
        let mut combs = self.component.comb_groups.iter();
        let by_combs = combs.any(|of| {
            let of = of.borrow();
            let mut driven = of.assignments.iter().map(|to| &to.dst);
            driven.any(|port| is_of(port, register) || is_of(port, cell))
        });
        let mut by_control = self.handed_over.contains(&(name, register));
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            let invoked = view.invoked().map(|cell| cell.borrow().name());
            let driven = ports_of(view).1;
            by_control |= invoked == Some(register);
            by_control |= driven.iter().any(|port| is_of(port, register));
        });
        let mut wires = self.component.continuous_assignments.iter();
        is_alone && !wires.any(by_wires) && !by_combs && !by_control
    }

    /// Whether what is copied is still there for all that reads the copy.
    fn readers_find_the_same(&self, copy: &Copy, group: ir::Id) -> bool {
        let cell = copy.cell.borrow();
        let mut cells = BTreeSet::from([cell.name()]);
        let may_be = self.aliases.may_be(self.component.name, cell.name());
        cells.extend(may_be.into_iter().flatten());
        let several = primitive(&cell)
            .and_then(|of| takes(of.as_ref()))
            .is_none_or(|takes| takes > 1);
        // What stops with its group may not be started again at once.
        if several && copy.latency.is_some() && !rests(self.component, group, cell.name()) {
            return false;
        }
        let mut readers = Readers {
            group,
            register: copy.register,
            cells: &cells,
            is_same: true,
        };
        readers.follow(View::of(&self.component.control.borrow()), false);
        readers.is_same
    }

    /// The edits that leave out a copy.
    fn without_copy(&self, copy: &Copy, group: ir::Id, span: &Range<usize>) -> Option<Vec<Edit>> {
        let Copy {
            register, latency, ..
        } = *copy;
        let cell = copy.cell.borrow().name();
        let register = register.as_ref();
        let body = self.text.body(span.clone())?;
        let (head, inner) = (span.start..body, body..span.end);
        let mut edits = Vec::new();
        let mut own = Vec::new();
        for port in ["in", "write_en"] {
            let all = self.text.given(inner.clone(), register, port);
            let [[_, whole]] = &*all else {
                return None;
            };
            own.push(whole.start);
            edits.push(Edit::replace(self.text.with_space(whole.clone()), ""));
        }
        match latency {
            Some(latency) => {
                let word = self.text.find(head.clone(), "static")?;
                let number = self.text.find(word.end..body, &latency.to_string())?;
                edits.push(Edit::replace(number, (latency - 1).to_string()));
            }
            None => {
                let dones = self.text.dones(inner.clone(), group.as_ref());
                let [[_, whole]] = &*dones else {
                    return None;
                };
                let done = self.text.port(whole.clone(), register, "done")?;
                own.push(done.start);
                edits.push(Edit::replace(done, format!("{cell}.done")));
                let promise = self.text.attribute(head, "promotable");
                edits.extend(promise.map(|promise| Edit::replace(promise, "")));
            }
        }
        let all = self.span(&self.component.attributes)?;
        for named in self.text.references(all.clone(), register) {
            if own.contains(&named.start) {
                continue;
            }
            let output = self.text.port(named.start..all.end, register, "out")?;
            if output.start != named.start {
                return None;
            }
            edits.push(Edit::replace(output, format!("{cell}.{}", copy.port)));
        }
        let declared = self.component.find_cell(copy.register)?;
        let declared = self.span(&declared.borrow().attributes)?;
        let start = self.text.with_attributes(declared.start);
        let whole = start..self.text.with_semicolon(&declared);
        edits.push(Edit::replace(self.text.with_space(whole), ""));
        Some(edits)
    }
}

impl Copy {
    /// Of a group that is done when the copy is there, which it takes as soon as there is something to copy.
    fn of(group: &ir::Group) -> Option<Self> {
        let (copy, enables) = Self::between(&group.assignments)?;
        let cell = copy.cell.borrow().name();
        let at_once = match &*enables.guard {
            ir::Guard::True => is_port(&enables.src, cell, "done"),
            ir::Guard::Port(port) => {
                is_port(port, cell, "done") && enables.src.borrow().is_constant(1, 1)
            }
            _ => false,
        };
        let mut holes = group.assignments.iter();
        let end = holes.find(|to| to.dst.borrow().is_hole())?;
        let ends = end.guard.is_true() && is_port(&end.src, copy.register, "done");
        (at_once && ends && holes.all(|to| !to.dst.borrow().is_hole())).then_some(copy)
    }

    /// Of a static group that takes the copy in its last cycle, in which it does nothing else.
    fn of_static(group: &ir::StaticGroup) -> Option<Self> {
        let (copy, enables) = Self::between(&group.assignments)?;
        let last = group.latency.checked_sub(1).filter(|last| *last > 0)?;
        let at_last = match &*enables.guard {
            ir::Guard::Info(timing) => timing.get_interval() == (last, group.latency),
            _ => false,
        };
        let takes = primitive(&copy.cell.borrow()).and_then(|of| takes(of.as_ref()))?;
        let mut others = group.assignments.iter().filter(|to| {
            let of = port_of(&to.dst).map(|(cell, _)| cell);
            of != Some(copy.register)
        });
        let is_before = others.all(|to| match &*to.guard {
            ir::Guard::True => true,
            ir::Guard::Info(timing) => timing.get_interval().1 <= last,
            _ => false,
        });
        let is_there = at_last && takes <= last && enables.src.borrow().is_constant(1, 1);
        (is_there && is_before).then_some(Self {
            latency: Some(group.latency),
            ..copy
        })
    }

    /// What assignments copy that do nothing else than to start it, and what enables the register.
    fn between<T>(assignments: &[ir::Assignment<T>]) -> Option<(Self, &ir::Assignment<T>)> {
        let is_kept = |to: &&ir::Assignment<T>| {
            let port = to.dst.borrow();
            let is_register = || port.cell_parent().borrow().is_primitive(Some("std_reg"));
            !port.is_hole() && port.name == "in" && is_register()
        };
        let mut kept = assignments.iter().filter(is_kept);
        let keeps = kept.next()?;
        let register = keeps.dst.borrow().cell_parent();
        let is_one = kept.next().is_none() && keeps.guard.is_true();
        let is_seen = register.borrow().attributes.has(ir::BoolAttr::External);
        if !is_one || is_seen || register.borrow().is_reference() {
            return None;
        }
        let register = register.borrow().name();
        let cell = cell_of(&keeps.src)?;
        let is_stable = keeps.src.borrow().attributes.has(ir::BoolAttr::Stable);
        let is_known = primitive(&cell.borrow()).is_some_and(|of| {
            let of = of.as_ref();
            of.starts_with("seq_mem_d") || of.starts_with("std_") && of.ends_with("_pipe")
        });
        if !is_stable || !is_known {
            return None;
        }
        let name = cell.borrow().name();
        let mut enables = assignments
            .iter()
            .filter(|to| is_port(&to.dst, register, "write_en"));
        let enabled = enables.next()?;
        let starts = |to: &ir::Assignment<T>| {
            let port = to.dst.borrow();
            port.attributes.has(ir::NumAttr::Go) && port_of(&to.dst).is_some_and(|of| of.0 == name)
        };
        let mut others = assignments.iter();
        let does_nothing_else = others.all(|to| {
            let reads = |port: &ir::RRC<ir::Port>| is_port(port, register, "out");
            let driven = cell_of(&to.dst);
            let is_own = driven.is_none_or(|driven| {
                let of = driven.borrow().name();
                of == register || of == name || is_combinational(&driven)
            });
            is_own && !ports_read(to).iter().any(reads)
        });
        let is_copy = enables.next().is_none() && assignments.iter().any(starts);
        (is_copy && does_nothing_else).then(|| {
            let copy = Self {
                register,
                cell: cell.clone(),
                port: keeps.src.borrow().name,
                latency: None,
            };
            (copy, enabled)
        })
    }
}

impl Readers<'_> {
    /// Follows a statement; tells whether the cell gives what the register has behind it, if it does before it or not.
    fn follow(&mut self, view: View<'_>, is_there: bool) -> bool {
        match view.kind().dynamic() {
            ControlKind::Seq => {
                let steps = view.children().into_iter();
                steps.fold(is_there, |is_there, step| self.follow(step, is_there))
            }
            ControlKind::Par => {
                let arms = view.children().into_iter();
                let (with, without): (Vec<_>, Vec<_>) = arms.partition(|arm| self.has_to_do(*arm));
                // What runs beside it may see any of it.
                let is_beside = is_there && with.is_empty();
                for arm in without {
                    self.follow(arm, is_beside);
                }
                match with[..] {
                    [] => is_there,
                    [only] => self.follow(only, is_there),
                    _ => {
                        let each = with.into_iter();
                        each.for_each(|arm| arm.walk(&mut |view| self.look(view, false)));
                        false
                    }
                }
            }
            ControlKind::While | ControlKind::Repeat => {
                let body = view.children();
                let mut is_there = is_there;
                // What the body leaves is there at its begin, too.
                if is_there && body.iter().any(|body| self.has_to_do(*body)) {
                    let is_same = self.is_same;
                    is_there = body
                        .iter()
                        .fold(true, |is_there, of| self.follow(*of, is_there));
                    self.is_same = is_same;
                }
                self.look(view, is_there);
                for of in body {
                    let is_left = self.follow(of, is_there);
                    is_there &= is_left;
                }
                is_there
            }
            ControlKind::If => {
                self.look(view, is_there);
                let branches = view.children().into_iter();
                let all = branches.map(|branch| self.follow(branch, is_there));
                all.collect::<Vec<_>>().into_iter().all(|is_left| is_left)
            }
            _ => {
                let is_group = view.group().is_some_and(|of| of.name() == self.group);
                if is_group {
                    return true;
                }
                let touches = self.touches(view);
                self.look(view, is_there && (!touches || is_one_cycle(view)));
                is_there && !touches
            }
        }
    }

    /// Takes in what a statement itself looks at, while the cell gives what the register has, or not.
    fn look(&mut self, view: View<'_>, is_there: bool) {
        let is_copy =
            |port: &ir::RRC<ir::Port>| port_of(port).is_some_and(|(cell, _)| cell == self.register);
        let mut looks = ports_of(view).0.iter().any(is_copy);
        if let Some(group) = view.comb_group() {
            let group = group.borrow();
            looks |= group
                .assignments
                .iter()
                .flat_map(ports_read)
                .any(|port| is_copy(&port));
        }
        looks |= match view.group() {
            Some(GroupRef::Dynamic(group)) => {
                let group = group.borrow();
                let mut read = group.assignments.iter().flat_map(ports_read);
                read.any(|port| is_copy(&port))
            }
            Some(GroupRef::Static(group)) => {
                let group = group.borrow();
                let mut read = group.assignments.iter().flat_map(ports_read);
                read.any(|port| is_copy(&port))
            }
            None => false,
        };
        self.is_same &= !looks || is_there;
    }

    /// Whether a statement, or one below it, takes the copy, or does something with the cell.
    fn has_to_do(&self, view: View<'_>) -> bool {
        let mut has = false;
        view.walk(&mut |view| {
            has |= view.group().is_some_and(|of| of.name() == self.group) || self.touches(view);
        });
        has
    }

    /// Whether a statement itself does something with the cell.
    fn touches(&self, view: View<'_>) -> bool {
        let driven = view.group().map(|group| group.driven()).unwrap_or_default();
        let driven = driven.into_iter().flatten();
        let invoked = view.invoked().map(|cell| cell.borrow().name());
        let ports = ports_of(view).1;
        let outputs = ports.iter().filter_map(port_of).map(|(cell, _)| cell);
        let handed = view.handed_over().into_iter().map(|(_, actual)| actual);
        let mut all = driven.chain(invoked).chain(outputs).chain(handed);
        all.any(|cell| self.cells.contains(&cell))
    }
}

/// Whether a statement surely takes a single cycle.
fn is_one_cycle(view: View<'_>) -> bool {
    match view.group() {
        Some(GroupRef::Dynamic(group)) => {
            Course::of(&group.borrow()).is_some_and(|course| course.cycles() == 1)
        }
        Some(GroupRef::Static(group)) => group.borrow().latency == 1,
        None => false,
    }
}
