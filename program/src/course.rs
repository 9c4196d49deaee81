//! The course of a group: how many cycles it takes, and when it starts what, whatever the data are.
//!
//! A group is followed cycle by cycle. What is known is the `done` of registers, memories and multipliers that it starts itself, which follow from
//! when it starts them; all else may be anything. Owns of which groups the course is certain, as long as no `done` is high from an
//! earlier write.

use std::collections::BTreeMap;

use calyx_ir as ir;

use petal_metadata::ControlKind;

use crate::dependences::{cell_of, constant, drivers, primitive};
use crate::tree::View;

/// A group that takes longer is not followed.
const MOST: usize = 64;

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
    cycles: usize,
}

impl Course {
    /// The course of a group, if it is certain.
    pub fn of(group: &ir::Group) -> Option<Self> {
        let mut running = Running::new(group)?;
        let count = group.assignments.len();
        let mut course = Self {
            guards: vec![Vec::new(); count],
            given: vec![Vec::new(); count],
            left_running: Vec::new(),
            cycles: 0,
        };
        loop {
            let bits: Vec<(Bit, Bit)> = group
                .assignments
                .iter()
                .map(|of| (running.guard(&of.guard), running.port(&of.src)))
                .collect();
            let is_done = driven(group, &bits, ir::Port::is_hole)?;
            if is_done {
                course.left_running = running.begun();
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

    /// Whether each cell that takes several cycles is at rest before another one starts it, whether or not control takes a cycle to go on.
    pub fn leaves_at_rest(&self, component: &ir::Component, group: ir::Id) -> bool {
        let mut left = self.left_running.iter();
        left.all(|cell| rests(component, group, *cell))
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
        "std_mult_pipe" | "std_smult_pipe" | "std_fp_mult_pipe" | "std_fp_smult_pipe" => Some(2),
        _ if primitive.starts_with("comb_mem_d") || primitive.starts_with("seq_mem_d") => Some(1),
        _ => None,
    }
}

/// Whether a cell that a group starts has at least a cycle of rest after it: nothing else drives it, and after each enable of the group
/// come others.
pub fn rests(component: &ir::Component, group: ir::Id, cell: ir::Id) -> bool {
    if drivers(component).get(&cell) != Some(&1) {
        return false;
    }
    let is_enable = |view: &View<'_>| view.group().is_some_and(|of| of.name() == group);
    let (mut all, mut followed) = (0, 0);
    View::of(&component.control.borrow()).walk(&mut |view| {
        all += usize::from(is_enable(&view));
        if matches!(view.kind(), ControlKind::Seq | ControlKind::StaticSeq) {
            let steps = view.children();
            let pairs = steps.windows(2).filter(|pair| is_enable(&pair[0]));
            followed += pairs.filter(|pair| takes_time(pair[1], &is_enable)).count();
        }
    });
    all == followed
}

/// Whether all cells of several cycles that a group starts rest after it, so that it may start them once more in a cycle that it does not need.
pub fn may_take_longer(component: &ir::Component, group: &ir::Group) -> bool {
    let mut started = group.assignments.iter().filter_map(|assignment| {
        let is_go = assignment.dst.borrow().attributes.has(ir::NumAttr::Go);
        cell_of(&assignment.dst).filter(|_| is_go)
    });
    started.all(|cell| {
        let cell = cell.borrow();
        let known = primitive(&cell).and_then(|of| takes(of.as_ref()));
        known == Some(1) || rests(component, group.name(), cell.name())
    })
}

/// Whether a statement surely runs a group, and none of these.
fn takes_time(view: View<'_>, is_one: &impl Fn(&View<'_>) -> bool) -> bool {
    let mut has_one = false;
    view.walk(&mut |view| has_one |= is_one(&view));
    !has_one && view.surely_runs(&|view| view.group().is_some())
}

/// What a cell that a group starts is about.
struct State {
    takes: u64,
    done: Bit,
    /// Of one that takes two cycles: whether it was started in the cycle before.
    begun: Bit,
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
                };
                cells.insert(cell.name(), state);
            }
        }
        Some(Self(cells))
    }

    fn port(&self, port: &ir::RRC<ir::Port>) -> Bit {
        if let Some(value) = constant(port) {
            return Some(value != 0);
        }
        let cell = cell_of(port)?;
        let is_done = port.borrow().attributes.has(ir::NumAttr::Done);
        let state = self.0.get(&cell.borrow().name()).filter(|_| is_done)?;
        state.done
    }

    fn guard(&self, guard: &ir::Guard<ir::Nothing>) -> Bit {
        match guard {
            ir::Guard::True => Some(true),
            ir::Guard::Port(port) => self.port(port),
            ir::Guard::Not(inner) => self.guard(inner).map(|bit| !bit),
            ir::Guard::And(left, right) => match (self.guard(left), self.guard(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (left, right) => left.zip(right).map(|(left, right)| left && right),
            },
            ir::Guard::Or(left, right) => match (self.guard(left), self.guard(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (left, right) => left.zip(right).map(|(left, right)| left || right),
            },
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
            let both = |one: Bit, other: Bit| match (one, other) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (one, other) => one.zip(other).map(|_| true),
            };
            if state.takes == 1 {
                state.done = starts;
            } else {
                state.done = both(starts, state.begun);
                state.begun = starts;
            }
        }
    }

    /// Those that may have been started in the cycle before.
    fn begun(&self) -> Vec<ir::Id> {
        let begun = self
            .0
            .iter()
            .filter(|(_, state)| state.begun != Some(false));
        begun.map(|(cell, _)| *cell).collect()
    }
}

/// What a port of one bit is given: nothing is low.
fn driven(group: &ir::Group, bits: &[(Bit, Bit)], is_wanted: impl Fn(&ir::Port) -> bool) -> Bit {
    let mut all = Some(false);
    for (assignment, (guard, given)) in group.assignments.iter().zip(bits) {
        if !is_wanted(&assignment.dst.borrow()) {
            continue;
        }
        match (guard, given) {
            (Some(false), _) | (_, Some(false)) => {}
            (Some(true), Some(true)) => return Some(true),
            _ => all = None,
        }
    }
    all
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
