//! A second look at what is proved: the pieces that an edit changes, run before and after it with values that nobody knows.
//!
//! Owns which pieces of two programs correspond, and what a comparison of them says. It knows no rule of the edits: where pieces come
//! to the same, they do for all values; where they don't, there are values that show it. What it can't follow (loops, calls, what takes a time that
//! depends on values), and what an edit left out, rests on the rule alone.

mod run;
mod terms;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::Program;
use petal_program::dependences::ports_of;
use petal_program::tree::View;
use serde::Serialize;

use self::run::{Machine, Unfollowed};
use self::terms::{Term, Terms, Values};
use crate::rewrites::{RewriteKind, is_memory};

/// So many values are tried where terms are not the same.
const TRIES: u64 = 32;

/// What a look at the pieces came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Looked {
    /// Pieces that the change makes others.
    pub pieces: usize,
    /// Those that come to the same before and after it, run with values that nobody knows.
    pub equal: usize,
}

/// A piece of a program that an edit changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The component, and what it is.
    pub name: String,
    /// Its text before and after the edit.
    pub texts: [String; 2],
    /// What comes of it.
    pub verdict: Verdict,
}

/// What a comparison says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Both come to the same, whatever the values.
    Equal,
    /// Nobody knows: why not.
    Open(String),
    /// They do not: with which values.
    Differs(String),
}

/// The pieces that are others after an edit of this kind, in the order of components.
pub fn pieces(before: &Program, after: &Program, kind: RewriteKind) -> Vec<Piece> {
    let mut found = Vec::new();
    for one in &before.ctx.components {
        let other = after.ctx.components.iter().find(|of| of.name == one.name);
        if let Some(other) = other {
            let pair = Pair {
                leaves_others: matches!(kind, RewriteKind::CopyPropagation | RewriteKind::Shift),
                ..Pair::of(one, other)
            };
            pair.pieces(&mut found);
        }
    }
    found
}

impl Looked {
    pub(crate) fn at(pieces: &[Piece]) -> Self {
        let equal = pieces.iter().filter(|of| of.verdict == Verdict::Equal);
        Self {
            pieces: pieces.len(),
            equal: equal.count(),
        }
    }
}

/// What is shown of a proved change, and its pieces, as text.
pub(crate) fn text(number: usize, what: &str, premise: &str, pieces: &[Piece]) -> String {
    let Looked { pieces: all, equal } = Looked::at(pieces);
    let mut text = format!("{number}  {what}\n\n  rule: {premise}\n");
    let _ = match (equal, all) {
        (_, 0) => writeln!(
            text,
            "  no group, statement or condition becomes another one\n"
        ),
        (1, 1) => writeln!(
            text,
            "  the piece that it changes comes to the same, run with unknown values\n"
        ),
        _ if equal == all => writeln!(
            text,
            "  all {all} pieces that it changes come to the same, run with unknown values\n"
        ),
        _ => writeln!(
            text,
            "  {equal} of {all} pieces that it changes come to the same, run with unknown values\n"
        ),
    };
    for Piece {
        name,
        texts: [before, after],
        verdict,
    } in pieces
    {
        let said = match verdict {
            Verdict::Equal => "the same, whatever the values".to_owned(),
            Verdict::Open(why) => format!("by the rule alone: {why}"),
            Verdict::Differs(how) => format!("NOT THE SAME: {how}"),
        };
        let _ = writeln!(text, "  {name}: {said}");
        for (sign, lines) in [('-', before), ('+', after)] {
            for line in lines.lines() {
                let _ = writeln!(text, "    {sign} {line}");
            }
        }
        text.push('\n');
    }
    text
}

/// A component, before and after.
struct Pair<'a> {
    both: [&'a ir::Component; 2],
    machines: [Machine<'a>; 2],
    /// The cells that only one of them has, or that are something else in the other one.
    apart: BTreeSet<ir::Id>,
    /// Whether the edit may leave something else in cells that nobody looks at, which is the claim of its rule.
    leaves_others: bool,
    /// Why some statement is not followed, if one is.
    unfollowed: RefCell<Option<Unfollowed>>,
}

/// The groups of a component, as text.
fn groups(component: &ir::Component) -> BTreeMap<ir::Id, String> {
    let mut texts = BTreeMap::new();
    for group in component.get_groups().iter() {
        let group = group.borrow();
        let text = written(|to| ir::Printer::write_group(&group, 0, to));
        texts.insert(group.name(), text);
    }
    for group in component.get_static_groups().iter() {
        let group = group.borrow();
        let text = written(|to| ir::Printer::write_static_group(&group, 0, to));
        texts.insert(group.name(), text);
    }
    for group in component.comb_groups.iter() {
        let group = group.borrow();
        let text = written(|to| ir::Printer::write_comb_group(&group, 0, to));
        texts.insert(group.name(), text);
    }
    texts
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut text = Vec::new();
    // Nothing fails that writes to memory.
    let _ = write(&mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

fn cells(component: &ir::Component) -> BTreeMap<ir::Id, String> {
    let cells = component.cells.iter().map(|cell| {
        let cell = cell.borrow();
        (cell.name(), format!("{:?}", cell.prototype))
    });
    cells.collect()
}

impl<'a> Pair<'a> {
    fn of(before: &'a ir::Component, after: &'a ir::Component) -> Self {
        let [one, other] = [before, after].map(cells);
        let names = one.keys().chain(other.keys()).copied();
        Self {
            both: [before, after],
            machines: [before, after].map(Machine::of),
            apart: names
                .filter(|name| one.get(name) != other.get(name))
                .collect(),
            leaves_others: false,
            unfollowed: RefCell::default(),
        }
    }

    fn pieces(&self, found: &mut Vec<Piece>) {
        let controls = self.both.map(|of| of.control.borrow());
        let [before, after] = [&controls[0], &controls[1]].map(|of| View::of(of));
        let mut same = BTreeSet::new();
        self.control(before, after, &mut same, found);
        let [one, other] = self.both.map(groups);
        for name in same {
            let (Some(one), Some(other)) = (one.get(&name), other.get(&name)) else {
                continue;
            };
            if one != other {
                let texts = [one.clone(), other.clone()];
                let verdict = self.groups(name);
                found.push(self.piece(&format!("the group `{name}`"), texts, verdict));
            }
        }
    }

    fn piece(&self, what: &str, texts: [String; 2], verdict: Verdict) -> Piece {
        Piece {
            name: format!("{}: {what}", self.both[0].name),
            texts,
            verdict,
        }
    }

    /// Compares statements; `same` gets the groups that run in the same places.
    fn control(
        &self,
        before: View<'_>,
        after: View<'_>,
        same: &mut BTreeSet<ir::Id>,
        found: &mut Vec<Piece>,
    ) {
        if shape(before) == shape(after) {
            before.walk(&mut |view| same.extend(view.group().map(|group| group.name())));
            return;
        }
        let (one, other) = (before.children(), after.children());
        if head(before) == head(after) && one.len() == other.len() && !is_list(before) {
            for (one, other) in one.into_iter().zip(other) {
                self.control(one, other, same, found);
            }
            return;
        }
        let is_condition = is_conditional(before) && kind(before) == kind(after);
        if is_condition && one.len() == other.len() {
            let verdict = self.verdict(|machine, terms, which| {
                let view = [before, after][which];
                Ok(vec![(None, machine.run(terms).condition(view)?)])
            });
            let texts = [head(before), head(after)];
            found.push(self.piece("a condition", texts, verdict));
            for (one, other) in one.into_iter().zip(other) {
                self.control(one, other, same, found);
            }
            return;
        }
        if is_list(before) && kind(before) == kind(after) {
            self.list(&one, &other, kind(before) == 's', same, found);
        } else {
            self.statements(&[before], &[after], found);
        }
    }

    /// Compares lists of statements: what is not the same at their begins and ends.
    fn list(
        &self,
        one: &[View<'_>],
        other: &[View<'_>],
        is_seq: bool,
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
        for view in one[..begin].iter().chain(&one[one.len() - end..]) {
            view.walk(&mut |view| same.extend(view.group().map(|group| group.name())));
        }
        let (one, other) = (
            &one[begin..one.len() - end],
            &other[begin..other.len() - end],
        );
        match (one, other) {
            _ if one.len() == other.len()
                && one.iter().zip(other).all(|(a, b)| is_like(*a, *b)) =>
            {
                for (one, other) in one.iter().zip(other) {
                    self.control(*one, *other, same, found);
                }
            }
            _ if is_seq => self.statements(one, other, found),
            _ => {
                let texts = [one, other].map(texts);
                let verdict = Verdict::Open("arms of a `par` are others".to_owned());
                found.push(self.piece("arms", texts, verdict));
            }
        }
    }

    fn statements(&self, one: &[View<'_>], other: &[View<'_>], found: &mut Vec<Piece>) {
        let verdict = self.verdict(|machine, terms, which| {
            let mut run = machine.run(terms);
            run.statements([one, other][which])?;
            Ok(self.ends(run, which))
        });
        let text = |which: usize, views: &[View<'_>]| {
            let bodies = bodies(self.both[which], views);
            format!("{}\n{bodies}", texts(views))
        };
        let texts = [text(0, one), text(1, other)];
        found.push(self.piece("these statements", texts, verdict));
    }

    fn groups(&self, name: ir::Id) -> Verdict {
        self.verdict(|machine, terms, which| {
            let control = self.both[which].control.borrow();
            let mut run = machine.run(terms);
            // Of a group that is another one, its text tells nothing.
            run.is_whole = true;
            let mut done = None;
            View::of(&control).walk(&mut |view| {
                let is_it = view.group().is_some_and(|group| group.name() == name);
                if is_it && done.is_none() {
                    done = Some(run.statements(&[view]));
                }
            });
            done.unwrap_or_else(|| Err("nothing runs it".to_owned()))?;
            Ok(self.ends(run, which))
        })
    }

    /// What the cells hold and give that both components have.
    fn ends(&self, mut run: run::Run<'_>, which: usize) -> Ends {
        let mut ends = Vec::new();
        if let Some(why) = run.unfollowed.take() {
            self.unfollowed.borrow_mut().get_or_insert(why);
        }
        for cell in self.both[which].cells.iter() {
            let name = cell.borrow().name();
            if self.apart.contains(&name) || !run.cells.0.contains_key(&name) {
                continue;
            }
            let state = run.state(cell);
            ends.extend(state.held.map(|held| (Some((name, "".into())), held)));
            let given = state.given.into_iter();
            ends.extend(given.map(|(port, given)| (Some((name, port)), given)));
        }
        ends
    }

    /// Compares what both come to.
    fn verdict(
        &self,
        run: impl Fn(&Machine<'a>, &mut Terms, usize) -> Result<Ends, Unfollowed>,
    ) -> Verdict {
        let mut terms = Terms::default();
        self.unfollowed.take();
        let mut both = Vec::new();
        for (which, machine) in self.machines.iter().enumerate() {
            match run(machine, &mut terms, which) {
                Ok(ends) => both.push(ends.into_iter().collect::<BTreeMap<_, _>>()),
                Err(why) => return Verdict::Open(why),
            }
        }
        let names: BTreeSet<_> = both.iter().flat_map(BTreeMap::keys).copied().collect();
        let mut open = None;
        for name in names {
            let ends = [0, 1].map(|which| both[which].get(&name).copied());
            let ends = ends.map(|end| match (end, name) {
                (Some(end), _) => Some(end),
                // It was not touched there.
                (None, Some(name)) => self.untouched(name, &mut terms),
                (None, None) => None,
            });
            let [Some(one), Some(other)] = ends else {
                return Verdict::Open("one of them is not followed".to_owned());
            };
            if one == other {
                continue;
            }
            let difference = self.difference(&terms, name, [one, other]);
            let unneeded = name.filter(|(cell, _)| self.leaves_others && !self.is_memory(*cell));
            match (difference, unneeded) {
                (Some(how), None) => return Verdict::Differs(how),
                (Some(_), Some((cell, _))) => {
                    open = Some(format!("`{cell}` is left with something else"));
                    continue;
                }
                (None, _) => {}
            }
            open = Some(match self.one_sided(&terms, [one, other]) {
                Some(cell) => format!("it needs what `{cell}` holds, which only one program has"),
                None => self.unfollowed.borrow().clone().unwrap_or_else(|| {
                    "nothing shows that they are the same, nor that they differ".to_owned()
                }),
            });
        }
        open.map_or(Verdict::Equal, Verdict::Open)
    }

    fn untouched(&self, (cell, port): (ir::Id, ir::Id), terms: &mut Terms) -> Option<Term> {
        let found = self.both[0].find_cell(cell)?;
        let state = self.machines[0].run(terms).start(&found);
        if port == "" {
            state.held
        } else {
            state.given.get(&port).copied()
        }
    }

    /// Values with which two terms differ, if none of them is of a cell that one of the components lacks.
    fn difference(
        &self,
        terms: &Terms,
        name: Option<(ir::Id, ir::Id)>,
        [one, other]: [Term; 2],
    ) -> Option<String> {
        if self.one_sided(terms, [one, other]).is_some() {
            return None;
        }
        let starts = starts(terms, [one, other]);
        (0..TRIES).find_map(|seed| {
            let mut values = Values::new(terms, seed);
            let [before, after] = values.differ(one, other)?;
            let what = match name {
                Some((cell, port)) if port == "" => format!("`{cell}`"),
                Some((cell, port)) => format!("`{cell}.{port}`"),
                None => "it".to_owned(),
            };
            let given: Vec<String> = starts
                .iter()
                .filter(|(_, port)| !matches!(port.as_ref(), "words" | "state"))
                .map(|(cell, port)| {
                    let width = self.width(*cell, *port);
                    format!("`{cell}.{port}` {}", values.start(*cell, *port, width))
                })
                .collect();
            let given = if given.is_empty() {
                String::new()
            } else {
                format!(" with {}", given.join(", "))
            };
            Some(format!(
                "{what} is {before}, and {after} after the edit{given}"
            ))
        })
    }

    fn is_memory(&self, cell: ir::Id) -> bool {
        let cell = self.both[0].find_cell(cell);
        cell.is_some_and(|cell| is_memory(&cell.borrow()))
    }

    /// A cell that only one of the programs has, and that matters to these.
    fn one_sided(&self, terms: &Terms, both: [Term; 2]) -> Option<ir::Id> {
        let mut cells = starts(terms, both).into_iter().map(|(cell, _)| cell);
        cells.find(|cell| self.apart.contains(cell))
    }

    fn width(&self, cell: ir::Id, port: ir::Id) -> u64 {
        let of = self.both[0].find_cell(cell);
        let this = self.both[0].signature.clone();
        let of = of.unwrap_or(this);
        let port = of.borrow().find(port);
        port.map_or(0, |port| port.borrow().width)
    }
}

/// What cells hold and give at the end, or what a condition gives.
type Ends = Vec<(Option<(ir::Id, ir::Id)>, Term)>;

/// The cells and ports of which it matters to these terms what they give at first, by name.
fn starts(terms: &Terms, both: [Term; 2]) -> Vec<(ir::Id, ir::Id)> {
    let all: BTreeSet<_> = both
        .into_iter()
        .flat_map(|term| terms.starts(term))
        .collect();
    let mut all: Vec<(ir::Id, ir::Id)> = all.into_iter().collect();
    all.sort_by(|one, other| one.0.as_ref().cmp(other.0.as_ref()));
    all
}

fn texts(views: &[View<'_>]) -> String {
    views
        .iter()
        .map(|view| shape(*view))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The bodies of the groups and comb groups that statements name.
fn bodies(component: &ir::Component, views: &[View<'_>]) -> String {
    let mut names = BTreeSet::new();
    for view in views {
        view.walk(&mut |view| {
            names.extend(view.group().map(|group| group.name()));
            names.extend(view.comb_group().map(|group| group.borrow().name()));
        });
    }
    let all = groups(component);
    let mut names: Vec<ir::Id> = names.into_iter().collect();
    names.sort_by(|one, other| one.as_ref().cmp(other.as_ref()));
    let bodies = names.iter().filter_map(|name| all.get(name));
    bodies.cloned().collect::<Vec<_>>().join("\n")
}

/// A statement as text, with the bodies of its groups and all continuous assignments.
fn whole(component: &ir::Component, view: View<'_>) -> String {
    let wires = component.continuous_assignments.iter();
    let wires: Vec<String> = wires.map(ir::Printer::assignment_to_str).collect();
    let bodies = bodies(component, &[view]);
    format!("{}\n{bodies}\n{}", shape(view), wires.join("\n"))
}

/// A letter for what a statement is, static or not.
fn kind(view: View<'_>) -> char {
    match view.kind() {
        ControlKind::Seq | ControlKind::StaticSeq => 's',
        ControlKind::Par | ControlKind::StaticPar => 'p',
        ControlKind::If | ControlKind::StaticIf => 'i',
        ControlKind::While => 'w',
        ControlKind::Repeat | ControlKind::StaticRepeat => 'r',
        ControlKind::Enable | ControlKind::StaticEnable => 'e',
        ControlKind::Empty => '-',
        _ => 'v',
    }
}

fn is_list(view: View<'_>) -> bool {
    matches!(kind(view), 's' | 'p')
}

fn is_conditional(view: View<'_>) -> bool {
    matches!(kind(view), 'i' | 'w')
}

/// Whether one may have become the other, with something else in it.
fn is_like(one: View<'_>, other: View<'_>) -> bool {
    shape(one) == shape(other) || kind(one) == kind(other) && !matches!(kind(one), 'e' | 'v')
}

/// A statement without what is below it.
fn head(view: View<'_>) -> String {
    let port = |view: View<'_>| {
        let (read, _) = ports_of(view);
        let ports = read.iter().map(|port| {
            let port = port.borrow();
            format!("{}.{}", port.get_parent_name(), port.name)
        });
        ports.collect::<Vec<_>>().join(", ")
    };
    let with = view.comb_group().map_or_else(String::new, |comb| {
        format!(" with {}", comb.borrow().name())
    });
    match kind(view) {
        's' => "seq".to_owned(),
        'p' => "par".to_owned(),
        'i' => format!("if {}{with}", port(view)),
        'w' => format!("while {}{with}", port(view)),
        'r' => format!("repeat {}", view.repeats().unwrap_or(0)),
        'e' => view
            .group()
            .map_or_else(String::new, |group| format!("{};", group.name())),
        '-' => String::new(),
        _ => {
            let cell = view.invoked().map(|cell| cell.borrow().name().to_string());
            let handed: Vec<String> = view
                .handed_over()
                .iter()
                .map(|(one, other)| format!("{one} = {other}"))
                .collect();
            let cell = cell.unwrap_or_default();
            format!(
                "invoke {cell}[{}]({}){with};",
                handed.join(", "),
                port(view)
            )
        }
    }
}

/// A statement with all that is below it.
fn shape(view: View<'_>) -> String {
    let children = view.children();
    let head = head(view);
    if children.is_empty() {
        return head;
    }
    let inner: Vec<String> = children.into_iter().map(shape).collect();
    match (kind(view), &*inner) {
        ('i', [then, otherwise]) if otherwise.is_empty() => format!("{head} {{ {then} }}"),
        ('i', [then, otherwise]) => format!("{head} {{ {then} }} else {{ {otherwise} }}"),
        _ => format!("{head} {{ {} }}", inner.join(" ")),
    }
}

#[cfg(test)]
mod tests;
