//! What a piece may leave in cells, as nobody looks at it.

use std::collections::BTreeSet;

use calyx_ir as ir;
use petal_program::dependences::{cell_of, ports_of, ports_read};
use petal_program::tree::View;

use super::ends::{self, Kept, Name};
use super::pair::Pair;
use super::run::{Assignment, assignments, is_followed, with_timing};
use super::terms::{Term, Terms};
use crate::rewrites::is_memory;

fn reads(assignments: &[Assignment], kept: Kept) -> bool {
    let mut read = assignments.iter().flat_map(ports_read);
    read.any(|port| is_of(&port, kept))
}

/// Whether a port is this one, or one of the cell other than `done` if that has no name.
fn is_of(port: &ir::RRC<ir::Port>, (cell, of): Kept) -> bool {
    let is_done = port.borrow().attributes.has(ir::NumAttr::Done);
    let is_it = port.borrow().name == of || of == "" && !is_done;
    is_it && cell_of(port).is_some_and(|of| of.borrow().name() == cell)
}

/// Whether a statement looks at something, without what is below it.
fn looks(view: View<'_>, kept: Kept) -> bool {
    let comb = view.comb_group();
    view.group()
        .is_some_and(|group| reads(&assignments(&group), kept))
        || comb.is_some_and(|comb| reads(&with_timing(&comb.borrow().assignments), kept))
        || ports_of(view).0.iter().any(|port| is_of(port, kept))
        || view.handed_over().iter().any(|(_, cell)| *cell == kept.0)
}

/// How many statements look at something.
fn looking(views: &[View<'_>], kept: Kept) -> usize {
    let mut all = 0;
    for view in views {
        view.walk(&mut |view| all += usize::from(looks(view, kept)));
    }
    all
}

impl Pair<'_> {
    /// What statements drive of the component's outputs and their logic.
    pub(super) fn shows(&self, views: &[View<'_>]) -> BTreeSet<String> {
        let mut shows = BTreeSet::new();
        for view in views {
            view.walk(&mut |view| {
                let own = view
                    .group()
                    .map_or_else(Vec::new, |group| assignments(&group));
                let own = own.iter();
                let own = own.filter(|to| self.shown.contains(&to.dst.borrow().get_parent_name()));
                shows.extend(own.map(ir::Printer::assignment_to_str));
            });
        }
        shows
    }

    /// Whether the component's outputs are made of something.
    fn is_shown(&self, component: &ir::Component, kept: Kept) -> bool {
        let leads = |to: &&Assignment| self.shown.contains(&to.dst.borrow().get_parent_name());
        let mut is_shown = false;
        View::of(&component.control.borrow()).walk(&mut |view| {
            let own = view
                .group()
                .map_or_else(Vec::new, |group| assignments(&group));
            let mut read = own.iter().filter(leads).flat_map(ports_read);
            is_shown |= read.any(|port| is_of(&port, kept));
        });
        is_shown
    }

    /// Those of some that may be left with anything: nothing but the piece looks at them, and it makes nothing of what they were when it
    /// began, as what is at its end tells, in both programs.
    pub(super) fn unneeded(
        &self,
        inside: [&[View<'_>]; 2],
        others: &BTreeSet<Kept>,
        left: &[(Name, Term)],
        terms: &Terms,
    ) -> BTreeSet<Kept> {
        let is_outside = |kept: Kept| {
            (0..2).any(|which| {
                let component = self.both[which];
                let control = component.control.borrow();
                let wires = with_timing(&component.continuous_assignments);
                let all = looking(&[View::of(&control)], kept);
                all > looking(inside[which], kept)
                    || reads(&wires, kept)
                    || self.is_shown(component, kept)
            })
        };
        let is_own = |(cell, of): Kept| {
            let found = self.both[0].find_cell(cell);
            found.is_some_and(|found| {
                let found = found.borrow();
                let is_external = found.attributes.has(ir::BoolAttr::External);
                let is_shown = of == "" && (is_external || is_memory(&found));
                !found.is_reference() && !is_shown && is_followed(&found)
            })
        };
        let mut unneeded = others.clone();
        unneeded.retain(|kept| is_own(*kept) && !is_outside(*kept));
        for (name, term) in left {
            for (cell, port) in ends::starts(terms, [*term, *term]) {
                for kept in [(cell, port), (cell, "".into())] {
                    if *name != Name::Left(kept) {
                        unneeded.remove(&kept);
                    }
                }
            }
        }
        unneeded
    }
}
