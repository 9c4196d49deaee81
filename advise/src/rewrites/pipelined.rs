//! Loops of which an iteration starts before the one before it is over.
//!
//! If the compiler knows how long each step of a loop takes, and how often that runs, each step may as well start as soon as all that it waits for is there, which may be before
//! the last step of the iteration before. Then one static group has what runs in a cycle of several iterations at once, and before and after
//! the loop stand the steps of the first and the last ones. Steps of which one reads what the other one writes stay in their order, or run in
//! one cycle, in which it reads what was there before. Owns of which loops that is offered, and of which it is certain.

mod body;
mod each_cycle;
mod guards;
mod kept;
mod new;
mod schedule;
mod stages;

use calyx_ir as ir;
use petal_metadata::{ControlId, ControlKind};
use petal_program::dependences::{Effects, is_combinational, ports_read, primitive};
use petal_program::latency::takes_one_cycle;
use petal_program::takes;
use petal_program::tree::{GroupRef, View};
use petal_table::listed;

use self::body::Body;
use self::schedule::{Delay, Needs, Schedule};
use super::invariant::Invariant;
use super::misread::loops::Edited;
use super::misread::writes_sometimes;
use super::settled::is_watched;
use super::{Certainty, Edit, GROUP_PORTS, Rewrite, RewriteKind, Scope, promises};
use crate::proof;

/// Loops of more steps are left out.
const MOST_STEPS: usize = 64;

/// A step of a loop.
struct Step<'a> {
    id: ControlId,
    view: View<'a>,
    group: GroupRef,
    cycles: u64,
    effects: &'a Effects,
}

/// A loop that is a step of a `seq`, and always runs as often.
struct Loop<'a> {
    seq: View<'a>,
    /// Which step of that it is.
    at: usize,
    view: View<'a>,
    times: u64,
    body: View<'a>,
    steps: Vec<Step<'a>>,
    /// Steps that run once before it, and are not among the others.
    before: Vec<Invariant<'a>>,
    certainty: (Certainty, String),
}

impl Step<'_> {
    fn is_independent_of(&self, other: &Self) -> bool {
        let drives = &other.effects.drives;
        self.effects.is_independent_of(other.effects) && self.effects.drives.is_disjoint(drives)
    }

    /// How long after its start another one, which comes after it, may start; `None` if it need not wait.
    fn delays(&self, later: &Self) -> Option<u64> {
        let (own, other) = (self.effects, later.effects);
        if !own.writes.is_disjoint(&other.reads) || !own.writes.is_disjoint(&other.writes) {
            return Some(self.cycles);
        }
        // In its last cycle it still reads what was there before.
        (!own.reads.is_disjoint(&other.writes)).then(|| self.cycles - 1)
    }
}

impl Scope<'_> {
    /// The loops of a `seq` of which iterations may overlap.
    pub fn pipelined(&self, seq: View<'_>, found: &mut Vec<Rewrite>) {
        for (at, view) in seq.children().into_iter().enumerate() {
            let Some((times, doubt)) = self.surely_runs(view) else {
                continue;
            };
            let Some(body) = view.children().first().copied().filter(|_| times > 2) else {
                continue;
            };
            let mut steps = Vec::new();
            let is_list = body.kind() == ControlKind::Seq;
            if !is_list || self.steps_of(body, &mut steps).is_none() || steps.len() > MOST_STEPS {
                continue;
            }
            let longer = (!self.observed.is_apart).then_some(super::NEEDED_LONGER);
            let certainty = match longer.or(doubt) {
                Some(doubt) => (Certainty::Checked, doubt.to_owned()),
                None => (
                    Certainty::Proved,
                    "the same steps run as often, and any two of which one writes what the other one reads or writes in the same order, or in one cycle, in which it reads what was there before"
                        .to_owned(),
                ),
            };
            let of = Loop {
                seq,
                at,
                view,
                times,
                body,
                steps,
                before: Vec::new(),
                certainty,
            };
            found.extend(self.overlaps(&of));
            let invariants = self.invariants_of(seq, at);
            let without = self.without(of, invariants);
            found.extend(without.into_iter().flat_map(|of| self.overlaps(&of)));
        }
    }

    /// How often a loop runs, if that is always as often, and why it is not certain that it may become static, if so.
    fn surely_runs(&self, view: View<'_>) -> Option<(u64, Option<&'static str>)> {
        if view.kind() != ControlKind::While {
            return view.repeats().map(|times| (times, None));
        }
        let control = self.component.control.borrow();
        let times = promises::times(self.component, View::of(&control), view)?;
        let with = view.comb_group();
        let stops =
            with.is_some_and(|of| self.ends.stops(self.component, &of.borrow().assignments));
        (!stops).then_some(())?;
        let is_bound = view.attributes().has(ir::NumAttr::Bound);
        let doubt = (!is_bound).then(|| self.doubt_if_fixed(view)).flatten();
        Some((times, doubt))
    }

    /// Takes away the group of the condition of a loop, if nothing else has it.
    fn without_condition(&self, of: &Loop<'_>) -> Vec<Edit> {
        let Some(group) = of.view.comb_group() else {
            return Vec::new();
        };
        let name = group.borrow().name();
        let mut uses = 0;
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            uses += usize::from(
                view.comb_group()
                    .is_some_and(|of| of.borrow().name() == name),
            );
        });
        let span = self.span(&group.borrow().attributes).filter(|_| uses == 1);
        let gone = span.map(|span| Edit::replace(self.text.with_space(span), ""));
        gone.into_iter().collect()
    }

    /// Adds the groups that a statement runs, in an order in which they may run; `None` if the compiler does not know how long each takes, or
    /// something is not certain of one.
    fn steps_of<'a>(&'a self, view: View<'a>, steps: &mut Vec<Step<'a>>) -> Option<()> {
        match view.kind().dynamic() {
            ControlKind::Seq => {
                let mut children = view.children().into_iter();
                children.try_for_each(|child| self.steps_of(child, steps))
            }
            ControlKind::Par => {
                let mut arms: Vec<Vec<Step<'_>>> = Vec::new();
                for child in view.children() {
                    let mut arm = Vec::new();
                    self.steps_of(child, &mut arm)?;
                    let mut others = arms.iter().flatten();
                    let is_apart =
                        others.all(|other| arm.iter().all(|step| step.is_independent_of(other)));
                    is_apart.then_some(())?;
                    arms.push(arm);
                }
                steps.extend(arms.into_iter().flatten());
                Some(())
            }
            ControlKind::Enable => {
                let group = view.group()?;
                let cycles = match &group {
                    GroupRef::Dynamic(group) => takes_one_cycle(&group.borrow()).then_some(1),
                    GroupRef::Static(group) => Some(group.borrow().latency),
                }?;
                let (key, _) = view.identity()?;
                let effects = self.dependences.effects(key)?;
                let own = proof::assignments(&group);
                let mut cells = effects.reads.iter().chain(&effects.drives);
                let is_known = cells.all(|cell| self.is_of_known_length(*cell));
                let is_plain = is_known
                    && cycles > 0
                    && !effects.timed
                    && group.called().is_empty()
                    && !writes_sometimes(&own)
                    && !looks_at_done(&own);
                is_plain.then_some(())?;
                steps.push(Step {
                    id: self.id(view)?,
                    view,
                    group,
                    cycles,
                    effects,
                });
                Some(())
            }
            _ => None,
        }
    }

    /// Whether a cell is logic, a register, a memory, or something of two cycles of which nobody sees when it runs.
    fn is_of_known_length(&self, name: ir::Id) -> bool {
        self.component.find_cell(name).is_some_and(|cell| {
            let of = primitive(&cell.borrow());
            is_combinational(&cell)
                || match of.as_ref().and_then(|of| takes(of.as_ref())) {
                    Some(1) => true,
                    Some(_) => !is_watched(self.component, name),
                    None => false,
                }
        })
    }

    /// The same loop with these steps before it; `None` if none of its steps is among them.
    fn without<'a>(&self, mut of: Loop<'a>, invariants: Vec<Invariant<'a>>) -> Option<Loop<'a>> {
        for step in invariants {
            let Some(at) = of.steps.iter().position(|of| of.id == step.id) else {
                continue;
            };
            of.steps.remove(at);
            if step.certainty.0 == Certainty::Checked {
                of.certainty.clone_from(&step.certainty);
            }
            of.before.push(step);
        }
        let gone: Vec<View<'_>> = of.before.iter().map(|step| step.view).collect();
        let is_while = of.view.kind() == ControlKind::While;
        let at_once = self.loops_at_once(Edited {
            gone: &gone,
            fixed: is_while.then_some(of.view),
        });
        if at_once {
            of.certainty = (Certainty::Checked, super::LOOPS_AT_ONCE.to_owned());
        }
        (!of.before.is_empty()).then_some(of)
    }

    /// The loop with iterations that overlap: as one group, and as one that runs again.
    fn overlaps(&self, of: &Loop<'_>) -> Vec<Rewrite> {
        let in_each_cycle = self.in_each_cycle(of);
        let overlapping = self.overlapping(of, in_each_cycle.is_some());
        in_each_cycle.into_iter().chain(overlapping).collect()
    }

    /// A loop of one group, in which an iteration starts every so many cycles; `None` if that is each, and somebody has it.
    fn overlapping(&self, of: &Loop<'_>, has_each: bool) -> Option<Rewrite> {
        let steps = &of.steps;
        let schedule = Schedule::of(&of.needs()?)?;
        (schedule.interval > 1 || !has_each).then_some(())?;
        let intervals = of.times.checked_sub(schedule.stages() - 1)?;
        if intervals < 2 {
            return None;
        }
        let region = self.statement(of.view)?;
        let children = of.body.children();
        let spans: Option<Vec<_>> = children.iter().map(|of| self.statement(*of)).collect();
        let spans = spans?;
        let first = spans.first()?;
        let head = region.start..first.start;
        // What is said of the loop or its body may be said of their lengths.
        let keyword = self.text.find(head.clone(), of.keyword())?;
        let is_bound = of.view.attributes().has(ir::NumAttr::Bound);
        let said = if is_bound { "@bound" } else { "" };
        let before = self.text.of(head.start..keyword.start);
        before.trim_start().starts_with(said).then_some(())?;
        (before.matches('@').count() == usize::from(is_bound)).then_some(())?;
        let open = self.text.mark(keyword.end..head.end, b'{')?;

        let names = |steps: Vec<usize>| {
            let names = steps.into_iter();
            let names = names.map(|step| format!("{};", of.steps[step].group.name()));
            names.collect::<Vec<_>>().join(" ")
        };
        // The first and last iterations have something before the loop and after it.
        let most = schedule.stages() - 1;
        let first_steps = schedule.in_order(0..most, &(0..most));
        let begins = names(first_steps.clone());
        let last = of.times - most..of.times;
        let ends = schedule.in_order(last, &(of.times..of.times + most));
        let once = of.before.iter().map(|step| self.text.of(step.span.clone()));
        let outer = self.text.lead(region.start);
        let before: Vec<&str> = once.chain([&*begins]).collect();
        let name = self.free_name(&of.name()?, GROUP_PORTS);
        let at = self.span_of(&steps.first()?.group)?;
        let group = of.group(&name, &schedule, self.text.indent(at.start));
        let mut edits = vec![
            Edit::insert(at.start, group),
            Edit::insert(region.start, before.join(&outer) + &outer),
            Edit::replace(region.start..open, format!("repeat {intervals} ")),
            Edit::replace(first.clone(), format!("{name};")),
            Edit::insert(region.end, format!("{outer}{}", names(ends))),
        ];
        edits.extend(self.text.without(&spans[1..]));
        edits.extend(self.without_condition(of));
        let once = match &*self.hoisted(of) {
            [] => String::new(),
            names => format!(", and run {} once before it", listed(names)),
        };
        let every = match schedule.interval {
            1 => "in each cycle".to_owned(),
            interval => format!("every {interval} cycles"),
        };
        Some(self.rewrite(
            RewriteKind::PipelinedLoop,
            vec![of.ids()],
            region,
            format!(
                "start an iteration of this `{}` {every}, while the one before it goes on{once}",
                of.keyword()
            ),
            match self.comes_first(of, &first_steps) {
                Some(doubt) => (Certainty::Checked, doubt.to_owned()),
                None => of.certainty.clone(),
            },
            edits,
        ))
    }

    /// What the steps that run once before a loop are called.
    fn hoisted(&self, of: &Loop<'_>) -> Vec<String> {
        let heads = of.before.iter();
        let heads = heads.map(|step| self.text.head(step.span.clone()));
        heads.map(|head| format!("`{head}`")).collect()
    }

    /// What is not certain where what stands before a loop may be what all begins with.
    fn comes_first(&self, of: &Loop<'_>, first_steps: &[usize]) -> Option<&'static str> {
        let mut earlier = of.earlier();
        first_steps.iter().find_map(|step| {
            let view = of.steps[*step].view;
            let place = (of.seq, &*earlier, &[][..]);
            let doubt = self
                .again
                .comes_first(self.component, place, &[view], self.ends);
            earlier.push(view);
            doubt
        })
    }
}

impl Loop<'_> {
    fn keyword(&self) -> &'static str {
        match self.view.kind() {
            ControlKind::While => "while",
            _ => "repeat",
        }
    }

    /// What a group of all its steps is called.
    fn name(&self) -> Option<String> {
        let (first, last) = (self.steps.first()?, self.steps.last()?);
        Some(format!("{}_to_{}", first.group.name(), last.group.name()))
    }

    /// The statements that an edit of it is about.
    fn ids(&self) -> Vec<ControlId> {
        let before = self.before.iter().map(|step| step.id);
        before
            .chain(self.steps.iter().map(|step| step.id))
            .collect()
    }

    /// What runs before its own steps, in the `seq` that it is a step of.
    fn earlier(&self) -> Vec<View<'_>> {
        let mut earlier = self.seq.children();
        earlier.truncate(self.at);
        earlier.extend(self.before.iter().map(|step| step.view));
        earlier
    }

    /// What its steps need; `None` if that is not certain.
    fn needs(&self) -> Option<Needs> {
        let mut needs = Needs {
            cycles: self.steps.iter().map(|step| step.cycles).collect(),
            delays: Vec::new(),
            apart: Vec::new(),
        };
        for (from, one) in self.steps.iter().enumerate() {
            for (to, other) in self.steps.iter().enumerate() {
                if from != to && one.effects.sees(other.effects) {
                    return None;
                }
                if from < to && !one.effects.drives.is_disjoint(&other.effects.drives) {
                    needs.apart.push((from, to));
                }
                let delay = one.delays(other).map(|cycles| Delay {
                    from,
                    to,
                    cycles,
                    is_next: to <= from,
                });
                needs.delays.extend(delay);
            }
        }
        Some(needs)
    }

    /// The group of what runs in an interval, as text.
    fn group(&self, name: &str, schedule: &Schedule, indent: &str) -> String {
        let mut body = Body::new(name, schedule.interval, indent);
        for (at, step) in self.steps.iter().enumerate() {
            let first = schedule.slot(at);
            let own = proof::assignments(&step.group).into_iter();
            for to in own.filter(|to| !to.dst.borrow().is_hole()) {
                body.line(to, (first, first + step.cycles));
            }
        }
        body.end() + "\n" + indent
    }
}

/// Whether something that a group does depends on a `done`, which tells what was a cycle ago.
fn looks_at_done(own: &[proof::Assignment]) -> bool {
    let is_done = |port: &ir::RRC<ir::Port>| port.borrow().attributes.has(ir::NumAttr::Done);
    let mut own = own.iter().filter(|to| !to.dst.borrow().is_hole());
    own.any(|to| ports_read(to).iter().any(is_done))
}
