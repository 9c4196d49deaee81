//! The course of a group: how many cycles it takes, and when it starts what, whatever the data are.
//!
//! A group is followed cycle by cycle. What is known is the `done` of registers, memories and multipliers that it starts itself, which follow from
//! when it starts them; all else may be anything. Owns of which groups the course is certain, as long as no `done` is high from an
//! earlier write.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;

use petal_metadata::ControlKind;

use crate::dependences::{cell_of, constant, drivers, is_combinational, ports_read, primitive};
use crate::tree::{GroupRef, View};

/// A group that takes longer is not followed.
const MOST: usize = 64;

/// Combinational cells one behind the other that are looked through.
const MOST_CELLS: usize = 4;

/// Low, high, or unknown.
type Bit = Option<bool>;

/// What a group does in each of its cycles.
pub struct Course {
    /// Of each assignment, in their order, whether its guard holds in each cycle.
    guards: Vec<Vec<Bit>>,
    /// What each gives in each cycle.
    given: Vec<Vec<Bit>>,
    /// The cells of several cycles that are started in its last one.
    left_running: Vec<ir::Id>,
    /// Those that are started once more after they were done, and give something else then.
    started_again: Vec<ir::Id>,
    /// The registers and memories that are surely not written in its last cycle.
    quiet: Vec<ir::Id>,
    /// Those that are surely not written in the cycle in which it is done.
    settled: Vec<ir::Id>,
    cycles: usize,
}

impl Course {
    /// The course of a group, if it is certain.
    pub fn of(group: &ir::Group) -> Option<Self> {
        Self::follow(group, None)
    }

    /// The course of a group that goes on for so many cycles, done or not.
    pub fn lasting(group: &ir::Group, cycles: u64) -> Option<Self> {
        Self::follow(group, Some(cycles))
    }

    fn follow(group: &ir::Group, lasting: Option<u64>) -> Option<Self> {
        let mut running = Running::new(group)?;
        let count = group.assignments.len();
        let mut course = Self {
            guards: vec![Vec::new(); count],
            given: vec![Vec::new(); count],
            left_running: Vec::new(),
            started_again: Vec::new(),
            quiet: Vec::new(),
            settled: Vec::new(),
            cycles: 0,
        };
        loop {
            let bits: Vec<(Bit, Bit)> = group
                .assignments
                .iter()
                .map(|of| running.bits(group, of, MOST_CELLS))
                .collect();
            let is_done = match lasting {
                Some(cycles) => course.cycles() == cycles,
                None => driven(group, &bits, ir::Port::is_hole)?,
            };
            if is_done {
                course.left_running = running.those(|state| state.begun != Some(false));
                course.started_again = running.those(|state| state.is_again);
                course.quiet = running.those(|state| state.takes == 1 && state.done == Some(false));
                running.go_on(group, &bits);
                course.settled =
                    running.those(|state| state.takes == 1 && state.done == Some(false));
                return (course.cycles > 0).then_some(course);
            }
            if course.cycles == MOST {
                return None;
            }
            for (at, (guard, given)) in bits.iter().enumerate() {
                course.guards[at].push(*guard);
                course.given[at].push(*given);
            }
            running.go_on(group, &bits);
            course.cycles += 1;
        }
    }

    /// How many cycles the group takes.
    pub fn cycles(&self) -> u64 {
        self.cycles as u64
    }

    /// The cells of several cycles that have no rest if they are started anew as soon as the group has ended.
    pub fn left_running(&self) -> &[ir::Id] {
        &self.left_running
    }

    /// The cells of several cycles that are started once more after they were done.
    pub fn started_again(&self) -> &[ir::Id] {
        &self.started_again
    }

    /// Whether a register or memory that the group starts is surely not written in its last cycle, so that its `done` is low after the group.
    pub fn is_quiet(&self, cell: ir::Id) -> bool {
        self.quiet.contains(&cell)
    }

    /// The registers and memories that have what the group writes when it is done: it surely doesn't write them in that cycle.
    pub fn settled(&self) -> &[ir::Id] {
        &self.settled
    }

    /// In which cycles an assignment, the one with this number, gives something else than 0, if that is certain of each.
    pub fn holds(&self, at: usize) -> Option<Vec<bool>> {
        let bits = self.guards[at].iter().zip(&self.given[at]);
        bits.map(|(guard, given)| match (guard, given) {
            (Some(false), _) => Some(false),
            (Some(true), Some(given)) => Some(*given),
            _ => None,
        })
        .collect()
    }

    /// In which cycles the guard of an assignment holds, if that is certain of each.
    pub fn guard_holds(&self, at: usize) -> Option<Vec<bool>> {
        self.guards[at].iter().copied().collect()
    }
}

/// How many cycles a primitive takes from its start to its `done`, where it always takes as many. The library says more of multipliers than they take.
pub fn takes(primitive: &str) -> Option<u64> {
    match primitive {
        "std_reg" => Some(1),
        "std_mult_pipe" | "std_smult_pipe" | "std_fp_mult_pipe" | "std_fp_smult_pipe"
        | "std_addFN" | "std_mulFN" | "std_compareFN" | "std_fpToInt" | "std_intToFp" => Some(2),
        _ if primitive.starts_with("comb_mem_d") || primitive.starts_with("seq_mem_d") => Some(1),
        _ => None,
    }
}

/// Whether a cell that a group starts has at least a cycle of rest after it: nothing else drives it, and after each enable of the group
/// comes another one that needs what the group writes. What doesn't, the compiler may start with the group.
pub fn rests(component: &ir::Component, group: ir::Id, cell: ir::Id) -> bool {
    if !is_sole_driver(component, cell) {
        return false;
    }
    let dynamic = component.find_group(group).map(GroupRef::Dynamic);
    let all = dynamic.or_else(|| component.find_static_group(group).map(GroupRef::Static));
    let mut written: BTreeSet<ir::Id> = all.iter().flat_map(GroupRef::driven).flatten().collect();
    written.retain(|name| {
        let cell = component.find_cell(*name);
        cell.is_some_and(|cell| !is_combinational(&cell))
    });
    let needs = |next: View<'_>| {
        next.surely_runs(&|view| match view.group() {
            Some(GroupRef::Dynamic(group)) => reads(&group.borrow().assignments, &written),
            Some(GroupRef::Static(group)) => reads(&group.borrow().assignments, &written),
            None => false,
        })
    };
    let is_enable = |view: View<'_>| view.group().is_some_and(|of| of.name() == group);
    let runs_it = |view: View<'_>| {
        let mut runs_it = false;
        view.walk(&mut |view| runs_it |= is_enable(view));
        runs_it
    };
    let (mut all, mut followed) = (0, 0);
    View::of(&component.control.borrow()).walk(&mut |view| {
        all += usize::from(is_enable(view));
        if matches!(view.kind(), ControlKind::Seq | ControlKind::StaticSeq) {
            let steps = view.children();
            let at = (0..steps.len()).filter(|at| is_enable(steps[*at]));
            let is_followed = |at: &usize| {
                let others = steps[at + 1..].iter();
                let mut others = others.take_while(|next| !runs_it(**next));
                others.any(|next| needs(*next))
            };
            followed += at.filter(is_followed).count();
        }
    });
    all == followed
}

/// Whether one statement drives a cell, and nobody else may under another name.
fn is_sole_driver(component: &ir::Component, cell: ir::Id) -> bool {
    let is_own = |cell: ir::RRC<ir::Cell>| !cell.borrow().is_reference();
    component.find_cell(cell).is_some_and(is_own) && drivers(component).get(&cell) == Some(&1)
}

/// Whether no cell of several cycles is done or runs when a group begins that starts it, with this course: nothing else drives it, and it
/// rests after the group, unless it does in its last cycle.
pub fn begins_at_rest(component: &ir::Component, group: &ir::Group, course: &Course) -> bool {
    let to = group.assignments.iter().map(|assignment| &assignment.dst);
    let mut started = to.filter(|port| port.borrow().attributes.has(ir::NumAttr::Go));
    started.all(|port| {
        let Some(cell) = cell_of(port).filter(|cell| !is_combinational(cell)) else {
            return true;
        };
        let cell = cell.borrow();
        let known = primitive(&cell).and_then(|of| takes(of.as_ref()));
        let name = cell.name();
        let is_left = course.left_running.contains(&name);
        known == Some(1)
            || !is_left && is_sole_driver(component, name)
            || rests(component, group.name(), name)
    })
}

fn reads<T>(assignments: &[ir::Assignment<T>], cells: &BTreeSet<ir::Id>) -> bool {
    let ports = assignments.iter().flat_map(ports_read);
    let mut read = ports.filter_map(|port| cell_of(&port));
    read.any(|cell| cells.contains(&cell.borrow().name()))
}

/// What a cell that a group starts is about.
struct State {
    takes: u64,
    done: Bit,
    /// Of one that takes two cycles: whether it was started in the cycle before.
    begun: Bit,
    /// The same: whether it may have been done, and may have been started once more after that.
    was_done: bool,
    is_again: bool,
}

/// The cells that a group starts.
struct Running(BTreeMap<ir::Id, State>);

impl Running {
    /// Before its first cycle; `None` if it has to do with other groups.
    fn new(group: &ir::Group) -> Option<Self> {
        let own = group.name();
        let mut cells = BTreeMap::new();
        for assignment in &group.assignments {
            let port = assignment.dst.borrow();
            if port.is_hole() && (port.get_parent_name() != own || port.name != "done") {
                return None;
            }
            let Some(cell) = cell_of(&assignment.dst) else {
                continue;
            };
            let cell = cell.borrow();
            let known = primitive(&cell).and_then(|of| takes(of.as_ref()));
            if let Some(takes) = known.filter(|_| port.attributes.has(ir::NumAttr::Go)) {
                let state = State {
                    takes,
                    done: Some(false),
                    begun: Some(false),
                    was_done: false,
                    is_again: false,
                };
                cells.insert(cell.name(), state);
            }
        }
        Some(Self(cells))
    }

    /// Whether the guard of an assignment holds, and what it gives, through so many combinational cells.
    fn bits(
        &self,
        group: &ir::Group,
        assignment: &ir::Assignment<ir::Nothing>,
        cells: usize,
    ) -> (Bit, Bit) {
        let guard = self.guard(group, &assignment.guard, cells);
        (guard, self.port(group, &assignment.src, cells))
    }

    fn port(&self, group: &ir::Group, port: &ir::RRC<ir::Port>, cells: usize) -> Bit {
        if let Some(value) = constant(port) {
            return Some(value != 0);
        }
        let cell = cell_of(port)?;
        if is_combinational(&cell) {
            return self.computed(group, &cell.borrow(), cells);
        }
        let is_done = port.borrow().attributes.has(ir::NumAttr::Done);
        let state = self.0.get(&cell.borrow().name()).filter(|_| is_done)?;
        state.done
    }

    /// What a cell of logic of one bit gives, of which the group drives all inputs.
    fn computed(&self, group: &ir::Group, cell: &ir::Cell, cells: usize) -> Bit {
        let cells = cells.checked_sub(1)?;
        let of = primitive(cell).filter(|_| cell.get_parameter("WIDTH") == Some(1))?;
        let input = |name: &str| {
            let to = group.assignments.iter().filter(|of| {
                let to = of.dst.borrow();
                to.name == name && !to.is_hole() && to.get_parent_name() == cell.name()
            });
            let bits: Vec<(Bit, Bit)> = to.map(|of| self.bits(group, of, cells)).collect();
            if bits.is_empty() {
                return None;
            }
            any(bits)
        };
        match of.as_ref() {
            "std_not" => input("in").map(|bit| !bit),
            "std_and" => and(input("left"), input("right")),
            "std_or" => or(input("left"), input("right")),
            _ => None,
        }
    }

    fn guard(&self, group: &ir::Group, guard: &ir::Guard<ir::Nothing>, cells: usize) -> Bit {
        let of = |guard: &ir::Guard<ir::Nothing>| self.guard(group, guard, cells);
        match guard {
            ir::Guard::True => Some(true),
            ir::Guard::Port(port) => self.port(group, port, cells),
            ir::Guard::Not(inner) => of(inner).map(|bit| !bit),
            ir::Guard::And(left, right) => and(of(left), of(right)),
            ir::Guard::Or(left, right) => or(of(left), of(right)),
            ir::Guard::CompOp(..) | ir::Guard::Info(_) => None,
        }
    }

    /// Goes on to the next cycle, after one in which assignments were this.
    fn go_on(&mut self, group: &ir::Group, bits: &[(Bit, Bit)]) {
        for (name, state) in &mut self.0 {
            let starts = driven(group, bits, |port| {
                let is_go = port.attributes.has(ir::NumAttr::Go);
                is_go && !port.is_hole() && port.get_parent_name() == *name
            });
            if state.takes == 1 {
                state.done = starts;
            } else {
                let resumes = starts != Some(false) && state.begun != Some(true);
                state.is_again |= state.was_done && resumes;
                state.done = and(starts, state.begun);
                state.was_done |= state.done != Some(false);
                state.begun = starts;
            }
        }
    }

    fn those(&self, is_wanted: impl Fn(&State) -> bool) -> Vec<ir::Id> {
        let wanted = self.0.iter().filter(|(_, state)| is_wanted(state));
        wanted.map(|(cell, _)| *cell).collect()
    }
}

/// What a port of one bit is given: nothing is low.
fn driven(group: &ir::Group, bits: &[(Bit, Bit)], is_wanted: impl Fn(&ir::Port) -> bool) -> Bit {
    let all = group.assignments.iter().zip(bits);
    let to = all.filter(|(assignment, _)| is_wanted(&assignment.dst.borrow()));
    any(to.map(|(_, bits)| *bits))
}

/// What assignments give a port, each with its guard and what it gives.
fn any(all: impl IntoIterator<Item = (Bit, Bit)>) -> Bit {
    let each = all.into_iter().map(|(guard, given)| and(guard, given));
    each.fold(Some(false), or)
}

fn and(left: Bit, right: Bit) -> Bit {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (left, right) => left.zip(right).map(|(left, right)| left && right),
    }
}

fn or(left: Bit, right: Bit) -> Bit {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (left, right) => left.zip(right).map(|(left, right)| left || right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Library, Parsed, Source};

    /// The cycles of the group `g` with these assignments, and when its first one holds.
    fn course(assignments: &str) -> Option<(u64, Option<Vec<bool>>)> {
        let text = format!(
            r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/seq.futil";
component main() -> () {{
  cells {{
    r = std_reg(8); s = std_reg(8); b = std_reg(1); m = seq_mem_d1(8, 4, 2); mul = std_mult_pipe(8); div = std_div_pipe(8);
  }}
  wires {{ group g {{ {assignments} }} }}
  control {{ g; }}
}}
"#
        );
        let name = "course.futil".into();
        let source = Source::Text { name, text };
        let library = Library::new(&[]).unwrap();
        let program = Parsed::read(source, &library).unwrap().program().unwrap();
        let group = program.ctx.entrypoint().find_group("g").unwrap();
        let course = Course::of(&group.borrow())?;
        Some((course.cycles(), course.holds(0)))
    }

    #[test]
    fn primitives_tell_how_long_a_group_takes() {
        let at = |cycles: u64, high: &[u64]| {
            let holds = (0..cycles).map(|cycle| high.contains(&cycle));
            Some((cycles, Some(holds.collect())))
        };
        let write = "r.write_en = 1'd1; g[done] = r.done;";
        assert_eq!(course(write), at(1, &[0]));
        let load = "r.write_en = m.done; m.content_en = 1'd1; g[done] = r.done;";
        assert_eq!(course(load), at(2, &[1]));
        let multiply = "mul.go = !mul.done ? 1'd1; r.write_en = mul.done; g[done] = r.done;";
        assert_eq!(course(multiply), at(3, &[0, 1]));
        let again = "r.write_en = 1'd1; s.write_en = r.done; g[done] = r.done & s.done ? 1'd1;";
        assert_eq!(course(again), at(2, &[0, 1]));
        let both = "r.write_en = 1'd1; s.write_en = 1'd1; g[done] = r.done & s.done ? 1'd1;";
        assert_eq!(course(both), at(1, &[0]));
        let chain = "mul.go = m.done & !mul.done ? 1'd1; m.content_en = 1'd1; r.write_en = mul.done; g[done] = r.done;";
        assert_eq!(course(chain), at(4, &[1, 2]));
    }

    #[test]
    fn what_may_take_another_time_has_no_course() {
        for assignments in [
            "r.write_en = b.out; g[done] = r.done;",
            "r.write_en = b.out == 1'd1 ? 1'd1; g[done] = r.done;",
            "div.go = !div.done ? 1'd1; r.write_en = div.done; g[done] = r.done;",
            "s.write_en = 1'd1; g[done] = r.done;",
            "r.write_en = 1'd1; g[done] = b.out;",
            "r.write_en = 1'd1; g[done] = 1'd1;",
            "r.write_en = r.done; g[done] = r.done;",
        ] {
            assert_eq!(course(assignments), None, "{assignments}");
        }
    }
}
