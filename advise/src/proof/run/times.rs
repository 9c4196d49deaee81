//! How often a loop runs, whatever the values are.
//!
//! Owns which cells decide that. The body runs once, with values that nobody knows; what it makes of registers is then computed for those that
//! the loop begins with, for as long as it goes on.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::is_combinational;
use petal_program::tree::View;

use super::{Machine, driven, looked_at};
use crate::proof::terms::{Term, Terms, Values};

/// A loop that runs more often is not followed.
const MOST: usize = 1 << 17;

/// Nor is one of which more is computed in all of its rounds.
const MOST_COMPUTED: usize = 1 << 23;

/// What surely runs before a statement, each time that it does.
struct Before<'a> {
    statements: Vec<View<'a>>,
    /// Whether nothing else runs before it at all.
    is_all: bool,
}

/// How often a `while` surely runs its body whenever it is entered. `once`: whether its component runs once, after a reset.
pub(crate) fn times(
    component: &ir::Component,
    root: View<'_>,
    view: View<'_>,
    once: bool,
) -> Option<u64> {
    let body = *view.children().first()?;
    let machine = Machine::of(component);
    let cells = machine.deciding(root, view);
    let mut before = Before {
        statements: Vec::new(),
        is_all: once,
    };
    before.lead_to(root, view, &cells)?;
    let registers = machine.registers(|name| cells.contains(&name));

    let mut terms = Terms::default();
    let mut run = machine.run(&mut terms);
    run.only = Some(&cells);
    if before.is_all {
        run.reset(&registers);
    }
    run.after(&before.statements);
    let begin: Vec<(ir::Id, Term)> = run.held(&registers);
    let begin = begin.into_iter();
    let begin = begin.filter_map(|(name, held)| Some((name, terms.value(held)?)));
    let mut now: BTreeMap<ir::Id, u64> = begin.collect();

    let mut terms = Terms::default();
    let mut run = machine.run(&mut terms);
    run.only = Some(&cells);
    run.is_whole = true;
    let goes_on = run.condition(view).ok()?;
    run.statements(&[body]).ok()?;
    let next = run.held(&registers);
    let mut values = Values::none(&terms);
    let most = MOST.min(MOST_COMPUTED / terms.count());
    for times in 0..most {
        values.hold(now);
        if values.of(goes_on)? == 0 {
            return Some(times as u64);
        }
        let next = next.iter();
        let next = next.filter_map(|(name, held)| Some((*name, values.of(*held)?)));
        now = next.collect();
    }
    None
}

impl<'a> Before<'a> {
    /// Goes on to a statement at or below `view`; `None` if others that drive some of these cells may run at the same time.
    fn lead_to(&mut self, view: View<'a>, to: View<'_>, cells: &BTreeSet<ir::Id>) -> Option<()> {
        if view.is(to) {
            return Some(());
        }
        let children = view.children();
        let has_it = |view: &View<'_>| {
            let mut has_it = false;
            view.walk(&mut |view| has_it |= view.is(to));
            has_it
        };
        let at = children.iter().position(has_it)?;
        match view.kind() {
            ControlKind::Seq | ControlKind::StaticSeq => self.statements.extend(&children[..at]),
            ControlKind::Par | ControlKind::StaticPar => {
                let mut others = children.iter().enumerate().filter(|(arm, _)| *arm != at);
                let is_free = others.all(|(_, arm)| driven(*arm).is_disjoint(cells));
                is_free.then_some(())?;
            }
            // Nobody knows what an iteration begins with.
            ControlKind::While | ControlKind::Repeat | ControlKind::StaticRepeat => {
                self.statements.clear();
                self.is_all = false;
            }
            _ => {}
        }
        self.lead_to(children[at], to, cells)
    }
}

impl Machine<'_> {
    /// The cells that decide how often a loop runs, of those that keep something.
    fn deciding(&self, root: View<'_>, view: View<'_>) -> BTreeSet<ir::Id> {
        let mut statements = Vec::new();
        root.walk(&mut |view| statements.push((driven(view), looked_at(view))));
        let keeps = |name: &ir::Id| {
            let cell = self.component.find_cell(*name);
            cell.is_some_and(|cell| !is_combinational(&cell))
        };
        let mut looked: BTreeSet<ir::Id> = looked_at(view).into_iter().collect();
        loop {
            let mut cells = self.flow.sources(looked.iter().copied());
            cells.retain(keeps);
            let count = looked.len();
            for (driven, more) in &statements {
                if !driven.is_disjoint(&cells) {
                    looked.extend(more);
                }
            }
            if looked.len() == count {
                return cells;
            }
        }
    }

    /// The registers among some cells which the component's own statements drive alone.
    pub fn registers(&self, counts: impl Fn(ir::Id) -> bool) -> Vec<ir::RRC<ir::Cell>> {
        let is_own = |cell: &&ir::RRC<ir::Cell>| {
            let cell = cell.borrow();
            counts(cell.name())
                && cell.is_primitive(Some("std_reg"))
                && !cell.is_reference()
                && !cell.attributes.has(ir::BoolAttr::External)
                && !self.wires.keys().any(|(to, _)| *to == cell.name())
        };
        let cells = self.component.cells.iter();
        cells.filter(is_own).cloned().collect()
    }
}

impl super::Run<'_> {
    /// Sets registers to 0.
    pub fn reset(&mut self, registers: &[ir::RRC<ir::Cell>]) {
        for cell in registers {
            let mut state = self.state(cell);
            if let Some(held) = &mut state.held {
                let width = self.terms.width(*held);
                *held = self.terms.constant(0, width);
            }
            self.cells.insert(cell.borrow().name(), state);
        }
    }

    /// What registers hold.
    fn held(&mut self, registers: &[ir::RRC<ir::Cell>]) -> Vec<(ir::Id, Term)> {
        let registers = registers.iter();
        let registers = registers.filter_map(|cell| {
            let name = cell.borrow().name();
            Some((name, self.state(cell).held?))
        });
        registers.collect()
    }
}
