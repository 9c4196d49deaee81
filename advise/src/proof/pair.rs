//! A component before and after an edit: which pieces of it correspond.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{cell_of, is_combinational, ports_of, ports_read};
use petal_program::tree::{GroupRef, View};

use super::ends::Ends;
use super::past::Past;
use super::run::{Assignment, Machine, assignments, with_timing};
use super::shape::{
    bodies, body, by_name, comb_text, has_loops, head, is_conditional, is_like, is_list, kind,
    shape, texts,
};
use super::{Piece, Verdict};
use crate::rewrites::{Flow, RewriteKind, key};

/// A component, before and after.
pub(super) struct Pair<'a> {
    pub(super) both: [&'a ir::Component; 2],
    pub(super) machines: [Machine<'a>; 2],
    /// The cells that only one of them has.
    pub(super) apart: BTreeSet<ir::Id>,
    /// The cells that get something by other wires.
    rewired: BTreeSet<ir::Id>,
    /// The component itself and the logic of its outputs.
    pub(super) shown: BTreeSet<ir::Id>,
    /// A cell that is something else in the other one.
    other: Option<ir::Id>,
    /// Whether they run once, after a reset.
    once: bool,
    /// Whether the edit may leave something else in cells that nobody looks at, which is the claim of its rule.
    pub(super) leaves_others: bool,
}

fn cells(component: &ir::Component) -> BTreeMap<ir::Id, String> {
    let cells = component.cells.iter().map(|cell| {
        let cell = cell.borrow();
        (cell.name(), format!("{:?}", cell.prototype))
    });
    cells.collect()
}

/// The statements that run a group.
fn enables(view: View<'_>, name: ir::Id) -> Vec<View<'_>> {
    let mut found = Vec::new();
    view.walk(&mut |view| {
        let is_it = view.group().is_some_and(|group| group.name() == name);
        found.extend(is_it.then_some(view));
    });
    found
}

/// How often each group stands below a statement.
fn enabled(view: View<'_>) -> BTreeMap<ir::Id, usize> {
    let mut found = BTreeMap::new();
    view.walk(&mut |view| {
        if let Some(group) = view.group() {
            *found.entry(group.name()).or_default() += 1;
        }
    });
    found
}

/// The cells that get something by other wires, directly or through logic.
fn rewired(both: [&ir::Component; 2]) -> BTreeSet<ir::Id> {
    let texts = both.map(|of| {
        let wires = of.continuous_assignments.iter();
        wires
            .map(ir::Printer::assignment_to_str)
            .collect::<BTreeSet<_>>()
    });
    let mut flow = Flow::default();
    let (mut cells, mut others) = (BTreeSet::new(), BTreeSet::new());
    for wire in both.iter().flat_map(|of| of.continuous_assignments.iter()) {
        flow.add(std::slice::from_ref(wire), |_| true);
        let to = wire.dst.borrow().get_parent_name();
        cells.insert(to);
        let text = ir::Printer::assignment_to_str(wire);
        if !texts.iter().all(|of| of.contains(&text)) {
            others.insert(to);
        }
    }
    cells.retain(|cell| !flow.sources([*cell]).is_disjoint(&others));
    cells
}

/// A component and the logic of which its outputs are made.
fn shown(component: &ir::Component) -> BTreeSet<ir::Id> {
    let is_logic = |port: &ir::Port| !port.is_hole() && is_combinational(&port.cell_parent());
    let mut flow = Flow::default();
    flow.add(&component.continuous_assignments, is_logic);
    for group in component.get_groups().iter() {
        flow.add(&group.borrow().assignments, is_logic);
    }
    for group in component.get_static_groups().iter() {
        flow.add(&group.borrow().assignments, is_logic);
    }
    flow.sources([component.signature.borrow().name()])
}

impl<'a> Pair<'a> {
    pub fn of(
        before: &'a ir::Component,
        after: &'a ir::Component,
        kind: RewriteKind,
        once: bool,
    ) -> Self {
        let [one, other] = [before, after].map(cells);
        let names = one.keys().chain(other.keys()).copied();
        Self {
            both: [before, after],
            machines: [before, after].map(Machine::of),
            rewired: rewired([before, after]),
            shown: [before, after].into_iter().flat_map(shown).collect(),
            apart: names
                .filter(|name| one.contains_key(name) != other.contains_key(name))
                .collect(),
            other: one
                .iter()
                .find_map(|(name, of)| (other.get(name)? != of).then_some(*name)),
            once,
            leaves_others: matches!(kind, RewriteKind::CopyPropagation | RewriteKind::Shift),
        }
    }

    pub fn pieces(&self, found: &mut Vec<Piece>) {
        if let Some(cell) = self.other {
            let texts = self
                .both
                .map(|of| cells(of).remove(&cell).unwrap_or_default());
            let verdict = Verdict::Open(format!("`{cell}` is another cell"));
            found.push(self.piece(&format!("the cell `{cell}`"), texts, verdict));
            return;
        }
        let controls = self.both.map(|of| of.control.borrow());
        let [before, after] = [&controls[0], &controls[1]].map(|of| View::of(of));
        let mut same = BTreeSet::new();
        let past = Past::of_all(self.once);
        self.control(before, after, &past, &mut same, found);
        let mut others = BTreeSet::new();
        let mut open = BTreeMap::new();
        for name in by_name(same) {
            let [Some(one), Some(other)] = self.both.map(|of| body(of, name)) else {
                continue;
            };
            if one != other || self.is_rewired(name) {
                let texts = [one, other];
                let verdict = self.groups(name);
                others.insert(name);
                if verdict != Verdict::Equal {
                    open.insert(name, found.len());
                }
                found.push(self.piece(&format!("the group `{name}`"), texts, verdict));
            }
        }
        self.ends_of_wires(found);
        for name in self.around(&others, open.keys().copied().collect(), before, after) {
            let piece = &mut found[open[&name]];
            piece.name.push_str(", with what runs before it");
            piece.verdict = Verdict::Equal;
        }
    }

    /// Compares what other wires hand to the outputs of the component, and to cells that keep something.
    fn ends_of_wires(&self, found: &mut Vec<Piece>) {
        let wires = self.both.map(|of| {
            let mut ends: BTreeMap<(String, String), (ir::RRC<ir::Port>, Vec<String>)> =
                BTreeMap::new();
            for wire in &of.continuous_assignments {
                let is_end = !cell_of(&wire.dst).is_some_and(|cell| is_combinational(&cell));
                if is_end && self.gets(&wire.dst) {
                    let (cell, port) = key(&wire.dst);
                    let end = ends.entry((cell.to_string(), port.to_string()));
                    let (_, texts) = end.or_insert_with(|| (wire.dst.clone(), Vec::new()));
                    texts.push(ir::Printer::assignment_to_str(wire));
                }
            }
            ends
        });
        let names: BTreeSet<_> = wires.iter().flat_map(BTreeMap::keys).collect();
        for name in names {
            let ends = wires.each_ref().map(|of| of.get(name));
            let Some((port, _)) = ends[0].or(ends[1]) else {
                continue;
            };
            if self.apart.contains(&port.borrow().get_parent_name()) {
                continue;
            }
            let texts = ends.map(|end| end.map_or_else(String::new, |(_, texts)| texts.join("\n")));
            let verdict = self.verdict([&[], &[]], |mut run, _| Ok(Ends::of_read(run.end(port)?)));
            let what = format!("what wires give `{}.{}`", name.0, name.1);
            found.push(self.piece(&what, texts, verdict));
        }
    }

    /// Those of some groups that come to the same with the others that an edit changes, in the shortest runs of statements that show it.
    fn around(
        &self,
        others: &BTreeSet<ir::Id>,
        mut open: BTreeSet<ir::Id>,
        before: View<'_>,
        after: View<'_>,
    ) -> BTreeSet<ir::Id> {
        let (one, other) = (before.children(), after.children());
        if open.is_empty() || one.len() != other.len() {
            return BTreeSet::new();
        }
        let all = enabled(before);
        let below: Vec<_> = one.iter().map(|view| enabled(*view)).collect();
        let mut closed = BTreeSet::new();
        for ((one, other), below) in one.iter().zip(&other).zip(&below) {
            // What runs in several places has to come to the same in each.
            let inner = open.iter().copied();
            let inner = inner.filter(|name| all.get(name) == below.get(name));
            let shown = self.around(others, inner.collect(), *one, *other);
            open.retain(|name| !shown.contains(name));
            closed.extend(shown);
        }
        let has = |below: &BTreeMap<ir::Id, usize>| others.iter().any(|of| below.contains_key(of));
        let (first, last) = (below.iter().position(has), below.iter().rposition(has));
        let (Some(first), Some(last), false) = (first, last, open.is_empty()) else {
            return closed;
        };
        let both = if kind(before) == 's' {
            [&one[first..=last], &other[first..=last]]
        } else {
            [&[before][..], &[after][..]]
        };
        if self.run_both(&Past::default(), both) == Verdict::Equal {
            closed.extend(open);
        }
        closed
    }

    fn piece(&self, what: &str, texts: [String; 2], verdict: Verdict) -> Piece {
        Piece {
            name: format!("{}: {what}", self.both[0].name),
            texts,
            verdict,
        }
    }

    /// Compares statements, of which the first one has this past; `same` gets the groups that run in the same places.
    fn control<'v>(
        &self,
        before: View<'v>,
        after: View<'v>,
        past: &Past<'v>,
        same: &mut BTreeSet<ir::Id>,
        found: &mut Vec<Piece>,
    ) {
        if shape(before) == shape(after) {
            self.alike(before, after, same, found);
            return;
        }
        let (one, other) = (before.children(), after.children());
        let heads = [head(before), head(after)];
        let is_same = heads[0] == heads[1] && !is_list(before);
        let is_condition = is_conditional(before) && kind(before) == kind(after);
        if (is_same || is_condition) && one.len() == other.len() {
            if !is_same || self.is_read_otherwise(before, after) {
                found.push(self.read(before, after));
            }
            // Nobody knows what an iteration of a loop begins with.
            let none = Past::default();
            let past = if kind(before) == 'i' { past } else { &none };
            for (one, other) in one.into_iter().zip(other) {
                self.control(one, other, past, same, found);
            }
            return;
        }
        if is_list(before) && kind(before) == kind(after) {
            let is_seq = kind(before) == 's';
            self.list(&one, &other, (is_seq, past), same, found);
        } else {
            self.statements(past, &[before], &[after], found);
        }
    }

    /// Compares what statements of one shape read; `same` gets their groups.
    fn alike(
        &self,
        before: View<'_>,
        after: View<'_>,
        same: &mut BTreeSet<ir::Id>,
        found: &mut Vec<Piece>,
    ) {
        same.extend(before.group().map(|group| group.name()));
        if self.is_read_otherwise(before, after) {
            found.push(self.read(before, after));
        }
        for (one, other) in before.children().into_iter().zip(after.children()) {
            self.alike(one, other, same, found);
        }
    }

    /// Whether a statement reads ports of which something else is made, its groups apart.
    fn is_read_otherwise(&self, before: View<'_>, after: View<'_>) -> bool {
        let both = [before, after].map(View::comb_group);
        let texts = both.each_ref().map(|comb| comb.as_ref().map(comb_text));
        let combs = both.into_iter().flatten();
        let is_by_wires = |port: &ir::RRC<ir::Port>| self.gets(port);
        texts[0] != texts[1]
            || ports_of(before).0.iter().any(is_by_wires)
            || combs
                .into_iter()
                .any(|comb| self.uses(&with_timing(&comb.borrow().assignments)))
    }

    /// Compares what statements read, their groups apart.
    fn read(&self, before: View<'_>, after: View<'_>) -> Piece {
        let keeps = |comb: &ir::RRC<ir::CombGroup>| {
            let comb = comb.borrow();
            let mut cells = comb.assignments.iter().filter_map(|to| cell_of(&to.dst));
            cells.any(|cell| !is_combinational(&cell))
        };
        let combs = [before, after].map(View::comb_group);
        let verdict = if combs.iter().flatten().any(keeps) {
            Verdict::Open("its comb group drives more than logic".to_owned())
        } else {
            self.verdict([&[], &[]], |mut run, which| {
                Ok(Ends::of_read(run.read([before, after][which])?))
            })
        };
        let text = |view: View<'_>| {
            let comb = view.comb_group().as_ref().map(comb_text);
            format!("{}\n{}", head(view), comb.unwrap_or_default())
        };
        let what = if is_conditional(before) {
            "a condition"
        } else {
            "what a call gets"
        };
        self.piece(what, [before, after].map(text), verdict)
    }

    fn gets(&self, port: &ir::RRC<ir::Port>) -> bool {
        self.rewired.contains(&port.borrow().get_parent_name())
    }

    /// Whether assignments have to do with a cell that gets something by other wires.
    fn uses(&self, assignments: &[Assignment]) -> bool {
        assignments
            .iter()
            .any(|to| self.gets(&to.dst) || ports_read(to).iter().any(|of| self.gets(of)))
    }

    fn is_rewired(&self, group: ir::Id) -> bool {
        !self.rewired.is_empty()
            && self.both.into_iter().any(|of| {
                let dynamic = of.find_group(group).map(GroupRef::Dynamic);
                let of = dynamic.or_else(|| of.find_static_group(group).map(GroupRef::Static));
                of.is_some_and(|group| self.uses(&assignments(&group)))
            })
    }

    /// Compares lists of statements: what is not the same at their begins and ends.
    fn list<'v>(
        &self,
        one: &[View<'v>],
        other: &[View<'v>],
        (is_seq, past): (bool, &Past<'v>),
        same: &mut BTreeSet<ir::Id>,
        found: &mut Vec<Piece>,
    ) {
        let shapes = |views: &[View<'_>]| views.iter().map(|view| shape(*view)).collect::<Vec<_>>();
        let (first, second) = (shapes(one), shapes(other));
        let most = first.len().min(second.len());
        let begin = (0..most).take_while(|at| first[*at] == second[*at]).count();
        let ends = (0..most - begin)
            .take_while(|at| first[first.len() - 1 - at] == second[second.len() - 1 - at]);
        let end = ends.count();
        let (begins, ends) = (
            (&one[..begin], &other[..begin]),
            (one.len() - end, other.len() - end),
        );
        let ends = (&one[ends.0..], &other[ends.1..]);
        for (one, other) in [begins, ends] {
            for (one, other) in one.iter().zip(other) {
                self.alike(*one, *other, same, found);
            }
        }
        let all = one;
        let (one, other) = (
            &one[begin..one.len() - end],
            &other[begin..other.len() - end],
        );
        match (one, other) {
            _ if one.len() == other.len()
                && one.iter().zip(other).all(|(a, b)| is_like(*a, *b)) =>
            {
                for (at, (one, other)) in (begin..).zip(one.iter().zip(other)) {
                    let past = if is_seq {
                        past.after(&all[..at])
                    } else {
                        past.of_arm(all, at)
                    };
                    self.control(*one, *other, &past, same, found);
                }
            }
            _ if is_seq => self.statements(&past.after(&all[..begin]), one, other, found),
            _ => {
                let texts = [one, other].map(texts);
                let verdict = Verdict::Open("arms of a `par` are others".to_owned());
                found.push(self.piece("arms", texts, verdict));
            }
        }
    }

    /// Compares statements that have this past, which tells how often loops run.
    fn statements(
        &self,
        past: &Past<'_>,
        one: &[View<'_>],
        other: &[View<'_>],
        found: &mut Vec<Piece>,
    ) {
        let has_loops = one.iter().chain(other).any(|view| has_loops(*view));
        let none = Past::default();
        let verdict = self.run_both(if has_loops { past } else { &none }, [one, other]);
        let text = |which: usize, views: &[View<'_>]| {
            let bodies = bodies(self.both[which], views);
            format!("{}\n{bodies}", texts(views))
        };
        let texts = [text(0, one), text(1, other)];
        found.push(self.piece("these statements", texts, verdict));
    }

    /// Compares statements with a past that both programs have.
    fn run_both(&self, past: &Past<'_>, both: [&[View<'_>]; 2]) -> Verdict {
        self.verdict(both, |mut run, which| {
            past.run(&mut run, &self.machines[which]);
            run.statements(both[which])?;
            Ok(self.ends(run, which))
        })
    }

    fn groups(&self, name: ir::Id) -> Verdict {
        let controls = self.both.map(|of| of.control.borrow());
        let enables = [0, 1].map(|which| enables(View::of(&controls[which]), name));
        self.verdict([&enables[0], &enables[1]], |mut run, which| {
            // Of a group that is another one, its text tells nothing.
            run.is_whole = true;
            let first = enables[which].first().ok_or("nothing runs it")?;
            run.statements(&[*first])?;
            Ok(self.ends(run, which))
        })
    }
}
