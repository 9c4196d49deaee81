//! What is driven again when all is done.
//!
//! A component of which all control is one group or one static program is still told to go in the cycle in which it is done, if nobody
//! waits for it but the testbench. Then its first statements drive what they do once more, with what the run has left: an address
//! may leave its bounds by that. Whether control is one static program depends on the passes. Owns which statements it matters for that they
//! are first.

use std::collections::BTreeSet;

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::{Cells, cell_of, is_combinational, ports_of, ports_read};
use petal_program::tree::{GroupRef, View};

use super::ends::{Ends, may_stop};
use super::flow::Flow;
use super::misread::loops::{Uses, uses};
use super::misread::sole;
use super::state::is_memory;
use crate::proof::Assignment;

/// What is not certain then.
pub(super) const DOUBT: &str = "what comes first may be driven once more when all is done, with an address that is out of bounds by then";

/// The components whose first statements may be driven again.
pub(super) struct Again {
    main: ir::Id,
    components: BTreeSet<ir::Id>,
    /// Those of which an address may leave its bounds in the cycle in which they are started.
    stopping_at_once: BTreeSet<ir::Id>,
}

impl Again {
    pub fn of(ctx: &ir::Context, ends: &Ends) -> Self {
        let mut looping = BTreeSet::new();
        // Those that a component runs come before it.
        for component in &ctx.components {
            let mut loops = false;
            let control = component.control.borrow();
            let all = sole(View::of(&control));
            View::of(&control).walk(&mut |view| {
                // What runs as often as data say is never static; but a loop that is all control may become one group.
                loops |= view.kind() == ControlKind::While
                    && !view.attributes().has(ir::NumAttr::Bound)
                    && !view.is(all);
                loops |= runs(component, view).iter().any(|of| looping.contains(of));
            });
            if loops {
                looping.insert(component.name);
            }
        }
        let mut again = Self {
            main: ctx.entrypoint,
            components: BTreeSet::new(),
            stopping_at_once: BTreeSet::new(),
        };
        for component in &ctx.components {
            if again.stops_at_once(component, ends) {
                again.stopping_at_once.insert(component.name);
            }
        }
        let mut next = vec![ctx.entrypoint];
        while let Some(name) = next.pop() {
            let component = ctx.components.iter().find(|of| of.name == name);
            if let Some(component) = component.filter(|_| !looping.contains(&name))
                && again.components.insert(name)
            {
                let control = component.control.borrow();
                let first = firsts(component, View::of(&control)).into_iter();
                next.extend(first.flat_map(|view| runs(component, view)));
            }
        }
        again
    }

    pub fn is_main(&self, component: ir::Id) -> bool {
        component == self.main
    }

    /// The entry point, if an address of it may leave its bounds when all is done.
    pub fn stopping(&self, ctx: &ir::Context, ends: &Ends) -> BTreeSet<ir::Id> {
        let main = ctx.components.iter().filter(|of| of.name == self.main);
        let stopping = main.filter(|component| {
            let control = component.control.borrow();
            self.components.contains(&self.main)
                && self.first_stops(component, View::of(&control), ends)
        });
        stopping.map(|component| component.name).collect()
    }

    /// Whether an address of the entry point may leave its bounds when all is done, if no loop kept all control from being static.
    pub fn stops_without_loops(&self, components: &[ir::Component], ends: &Ends) -> bool {
        let mut main = components.iter().filter(|of| of.name == self.main);
        main.any(|main| self.first_stops(main, View::of(&main.control.borrow()), ends))
    }

    /// Whether an address of a component may leave its bounds in the cycle in which it is started.
    pub fn may_stop_at_once(&self, component: ir::Id) -> bool {
        self.stopping_at_once.contains(&component)
    }

    /// The same of a component of which what it runs is known.
    fn stops_at_once(&self, component: &ir::Component, ends: &Ends) -> bool {
        let control = component.control.borrow();
        let control = View::of(&control);
        let mut first = firsts(component, control).into_iter();
        ends.stops_by_itself(component)
            || first.any(|view| {
                self.of_branch_or_invoke(component, view, ends)
                    .unwrap_or_else(|| ends.statement(component, view).may_stop)
            })
    }

    /// Whether a statement that has others below it, or starts a cell, may do so itself; `None` for others.
    fn of_branch_or_invoke(
        &self,
        component: &ir::Component,
        view: View<'_>,
        ends: &Ends,
    ) -> Option<bool> {
        let with = view.comb_group();
        let decides = with.is_some_and(|group| ends.stops(component, &group.borrow().assignments));
        if !view.children().is_empty() {
            // What follows the condition is asked by itself.
            return Some(decides);
        }
        let cell = view.invoked()?;
        let cell = cell.borrow();
        let of = cell.type_name().filter(|_| cell.is_component())?;
        let starts = self.may_stop_at_once(of);
        Some(decides || starts || ends.invoke_stops(component, view, &cell))
    }

    /// Whether an address may leave its bounds if this statement of the entry point comes first, since the run changes what it is
    /// computed from.
    fn first_stops(&self, component: &ir::Component, view: View<'_>, ends: &Ends) -> bool {
        let written = written(component);
        let mut first = firsts(component, view).into_iter();
        first.any(|view| {
            self.of_branch_or_invoke(component, view, ends)
                .unwrap_or_else(|| stops(component, view, ends, &written))
        })
    }
}

/// The same of what a group does, where these cells are written.
fn stops(component: &ir::Component, view: View<'_>, ends: &Ends, written: &Cells) -> bool {
    let is_simple = view.children().is_empty()
        && view.comb_group().is_none()
        && view.invoked().is_none()
        && view.group().is_none_or(|group| group.called().is_empty())
        && runs(component, view).is_empty();
    let Some(group) = view.group().filter(|_| is_simple) else {
        // Too much to follow: what may stop there may stop again.
        return ends.statement(component, view).may_stop;
    };
    let mut given = Vec::new();
    let mut flow = Flow::default();
    flow.add(&component.continuous_assignments, |_| true);
    match group {
        GroupRef::Dynamic(group) => {
            let group = group.borrow();
            flow.add(&group.assignments, |_| true);
            given.extend(addresses(&group.assignments));
        }
        GroupRef::Static(group) => {
            let group = group.borrow();
            flow.add(&group.assignments, |_| true);
            given.extend(addresses(&group.assignments));
        }
    }
    // Its cells may be a part of what continuous assignments hand to a memory.
    let mut driven = view.group().into_iter().flat_map(|group| group.driven());
    let decides = driven.any(|cell| {
        let cell = cell.and_then(|name| component.find_cell(name));
        cell.is_some_and(|cell| {
            is_combinational(&cell) && ends.decides(component, cell.borrow().name())
        })
    });
    let given = given.iter().filter_map(cell_of);
    let given = given.map(|cell| cell.borrow().name());
    decides || !flow.sources(given).is_disjoint(written)
}

impl Again {
    /// Why it is not certain that what leaves its bounds does so as before, where these parts of a `seq` become the first ones.
    pub fn come_first(
        &self,
        component: &ir::Component,
        view: View<'_>,
        parts: std::ops::Range<usize>,
        ends: &Ends,
    ) -> Option<&'static str> {
        let children = view.children();
        let (earlier, moved) = (&children[..parts.start], &children[parts]);
        self.comes_first(component, (view, earlier, &[]), moved, ends)
    }

    /// The same where these statements come behind some steps of one, without some of what is in them.
    pub fn comes_first(
        &self,
        component: &ir::Component,
        (view, earlier, gone): (View<'_>, &[View<'_>], &[View<'_>]),
        moved: &[View<'_>],
        ends: &Ends,
    ) -> Option<&'static str> {
        let before = self.before(component, view, earlier)?;
        let waits = |part: &View<'_>| Touched::without(component, *part, gone).waits_for(&before);
        let may_stop = !moved.iter().any(waits) && self.stop_first(component, moved, ends);
        may_stop.then_some(DOUBT)
    }

    /// The same where new groups come behind some steps of a `seq`, one after the other, of each with the statements of which it has parts.
    pub fn groups_come_first(
        &self,
        component: &ir::Component,
        (view, earlier): (View<'_>, &[View<'_>]),
        groups: &[(Vec<View<'_>>, Vec<Assignment>)],
        ends: &Ends,
    ) -> Option<&'static str> {
        let mut before = self.before(component, view, earlier)?;
        let may_stop = groups.iter().any(|(views, own)| {
            let touched = Touched::by(component, own);
            let is_first = !touched.waits_for(&before);
            before.add(&touched);
            is_first && self.stop_first(component, views, ends)
        });
        may_stop.then_some(DOUBT)
    }

    /// What surely comes before what stands behind these steps of a `seq`; `None` if that is not what all begins with, in any case.
    fn before(
        &self,
        component: &ir::Component,
        view: View<'_>,
        earlier: &[View<'_>],
    ) -> Option<Touched> {
        let is_driven_again = self.components.contains(&component.name);
        let control = component.control.borrow();
        let none = Touched::default();
        let mut before =
            before(component, View::of(&control), view, &none).filter(|_| is_driven_again)?;
        for earlier in earlier {
            before.add(&Touched::of(component, *earlier));
        }
        Some(before)
    }

    /// Whether an address of these statements may leave its bounds if they come first.
    fn stop_first(&self, component: &ir::Component, views: &[View<'_>], ends: &Ends) -> bool {
        views.iter().any(|part| {
            if component.name == self.main {
                self.first_stops(component, *part, ends)
            } else {
                // What it is given may change, too.
                ends.statement(component, *part).may_stop
            }
        })
    }
}

/// What surely comes before a statement in the `seq`s right around it, where these cells come before all of them; `None` if it is not among the first ones: it waits
/// with what is around it.
fn before(
    component: &ir::Component,
    from: View<'_>,
    to: View<'_>,
    earlier: &Touched,
) -> Option<Touched> {
    if from.identity() == to.identity() {
        return Some(earlier.clone());
    }
    let mut children = children(from);
    let none = Touched::default();
    match from.kind() {
        ControlKind::StaticSeq => before(component, children.next()?, to, &none),
        ControlKind::Seq => {
            let mut earlier = earlier.clone();
            children.find_map(|child| {
                let own = Touched::of(component, child);
                let is_it = child.identity() == to.identity();
                let found = if through(child).kind() == ControlKind::Seq || is_it {
                    // The compiler makes one of two `seq`s.
                    before(component, child, to, &earlier)
                } else if own.waits_for(&earlier) {
                    None
                } else {
                    before(component, child, to, &none)
                };
                earlier.add(&own);
                found
            })
        }
        ControlKind::Par if !through(from).is(from) => {
            before(component, children.next()?, to, earlier)
        }
        _ => children.find_map(|child| before(component, child, to, &none)),
    }
}

/// What a statement has below it, but for what does nothing.
fn children(view: View<'_>) -> impl Iterator<Item = View<'_>> {
    let children = view.children().into_iter();
    children.filter(|child| child.kind() != ControlKind::Empty)
}

/// A statement, or what a `par` of one arm comes to.
fn through(view: View<'_>) -> View<'_> {
    let mut children = children(view);
    match (view.kind(), children.next(), children.next()) {
        (ControlKind::Par, Some(only), None) => through(only),
        _ => view,
    }
}

/// Those that may begin with a statement. Of a `seq` that becomes static, steps begin with the first one if they need not wait for any.
fn first_children<'a>(component: &ir::Component, view: View<'a>) -> Vec<View<'a>> {
    let mut children = children(view);
    match view.kind() {
        ControlKind::StaticSeq => children.next().into_iter().collect(),
        ControlKind::Seq => {
            let mut before = Touched::default();
            let first = children.filter(|child| {
                let own = Touched::of(component, *child);
                let waits = own.waits_for(&before);
                before.add(&own);
                !waits
            });
            first.collect()
        }
        _ => children.collect(),
    }
}

/// This statement, and those below it that may begin with it.
fn firsts<'a>(component: &ir::Component, view: View<'a>) -> Vec<View<'a>> {
    let below = first_children(component, view).into_iter();
    let below = below.flat_map(|child| firsts(component, child));
    std::iter::once(view).chain(below).collect()
}

/// The cells that keep something and that a statement surely names.
#[derive(Clone, Default)]
pub(super) struct Touched {
    reads: BTreeSet<ir::Id>,
    writes: BTreeSet<ir::Id>,
}

impl Touched {
    fn of(component: &ir::Component, view: View<'_>) -> Self {
        Self::without(component, view, &[])
    }

    /// Of assignments.
    fn by(component: &ir::Component, own: &[Assignment]) -> Self {
        let mut uses = Uses::default();
        uses.assignments(own);
        let keeps = |name: &ir::Id| keeps(component, *name);
        Self {
            reads: uses.reads.into_iter().filter(keeps).collect(),
            writes: uses.writes.into_iter().filter(keeps).collect(),
        }
    }

    /// Of a statement, but for some in it.
    pub fn without(component: &ir::Component, view: View<'_>, gone: &[View<'_>]) -> Self {
        let mut all = Self::default();
        view.walk(&mut |view| {
            if gone.iter().any(|gone| gone.is(view)) {
                return;
            }
            let handed = view.handed_over();
            // That is a name in another component.
            let is_formal = |name: &ir::Id| {
                let mut formals = handed.iter().map(|(formal, _)| formal);
                formals.any(|formal| formal == name)
                    && !handed.iter().any(|(_, actual)| actual == name)
            };
            let is_sure = |name: &ir::Id| keeps(component, *name) && !is_formal(name);
            let own = uses(view);
            all.reads.extend(own.reads.into_iter().filter(is_sure));
            all.writes.extend(own.writes.into_iter().filter(is_sure));
        });
        all
    }

    fn add(&mut self, other: &Self) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
    }

    /// Whether the compiler surely keeps it behind another one.
    pub fn waits_for(&self, other: &Self) -> bool {
        !self.reads.is_disjoint(&other.writes)
            || !self.writes.is_disjoint(&other.writes)
            || !self.writes.is_disjoint(&other.reads)
    }
}

/// Whether a component has a cell of this name that keeps something.
fn keeps(component: &ir::Component, name: ir::Id) -> bool {
    let cell = component.find_cell(name);
    cell.is_some_and(|cell| !is_combinational(&cell) && !cell.borrow().is_this())
}

/// The components of cells that a statement itself runs or drives.
fn runs(component: &ir::Component, view: View<'_>) -> Vec<ir::Id> {
    let driven = view.group().map(|group| group.driven()).unwrap_or_default();
    let driven = driven.into_iter().flatten();
    let invoked = view.invoked().map(|cell| cell.borrow().name());
    let cells = driven
        .chain(invoked)
        .filter_map(|name| component.find_cell(name));
    let components = cells.filter(|cell| cell.borrow().is_component());
    components
        .filter_map(|cell| cell.borrow().type_name())
        .collect()
}

/// The cells that the statements of a component write.
fn written(component: &ir::Component) -> Cells {
    let mut written = Cells::new();
    let mut add = |port: &ir::RRC<ir::Port>| {
        let is_address = port.borrow().name.as_ref().starts_with("addr");
        let cell = cell_of(port).filter(|cell| !(is_address && is_memory(&cell.borrow())));
        written.extend(cell.map(|cell| cell.borrow().name()));
    };
    for group in component.get_groups().iter() {
        let group = group.borrow();
        group.assignments.iter().for_each(|to| add(&to.dst));
    }
    for group in component.get_static_groups().iter() {
        let group = group.borrow();
        group.assignments.iter().for_each(|to| add(&to.dst));
    }
    View::of(&component.control.borrow()).walk(&mut |view| {
        ports_of(view).1.iter().for_each(&mut add);
    });
    View::of(&component.control.borrow()).walk(&mut |view| {
        written.extend(view.invoked().map(|cell| cell.borrow().name()));
        written.extend(view.handed_over().into_iter().map(|(_, actual)| actual));
    });
    written
}

/// What assignments hand to memories as addresses that they may have no word for, and when.
fn addresses<T>(assignments: &[ir::Assignment<T>]) -> Vec<ir::RRC<ir::Port>> {
    let addresses = assignments.iter();
    let addresses = addresses.filter(|assignment| may_stop(&assignment.dst, &assignment.src));
    addresses.flat_map(ports_read).collect()
}
