//! Loops of which an iteration starts every so many cycles.
//!
//! One static group has what runs in an interval, of several iterations, and the loop runs that again and again. Another one has the steps of the first
//! iterations that come before, and a third one those of the last ones that come after. Owns how that is written, and which registers keep what an
//! iteration still needs when the next one has begun.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::dependences::{Cells, constant};
use petal_program::tree::View;
use petal_table::listed;

use super::body::Body;
use super::new::{New, REGISTER};
use super::reuse::Ahead;
use super::schedule::{Delay, Needs, Runs, Schedule};
use super::steps::Step;
use super::{Loop, Scope};
use crate::proof::Assignment;
use crate::rewrites::misread::logic::is_led_otherwise;
use crate::rewrites::shifts::is_port;
use crate::rewrites::state::port_of;
use crate::rewrites::{GROUP_PORTS, Rewrite};

/// What is not certain where a loop and what stands before and after it lead different things to the same logic.
const LED_OTHERWISE: &str = "a component may have logic that gets one thing in a loop and another one beside it, and the compiler may take it away";

/// In loops of more steps, nothing is kept in registers for later.
const MOST_LATE_STEPS: usize = 24;

/// A register that a later step of the loop writes, which may keep what it was.
struct Counter {
    name: ir::Id,
    /// The steps that read it before that, and the one that writes it.
    readers: Vec<usize>,
    writer: usize,
    /// What keeps it.
    delayed: New,
}

/// The steps of which each is from this one on, and reads what some registers were before they were written.
#[derive(Clone, Copy)]
struct Late<'a> {
    from: usize,
    counters: &'a [Counter],
}

impl Late<'_> {
    /// What keeps the registers that a step reads.
    fn of_step(&self, step: usize) -> impl Iterator<Item = &Counter> {
        let counters = self.counters.iter();
        counters.filter(move |of| step >= self.from && of.readers.contains(&step))
    }

    /// The registers that are kept.
    fn kept(&self) -> Vec<&Counter> {
        let is_late = |of: &&Counter| of.readers.iter().any(|step| *step >= self.from);
        self.counters.iter().filter(is_late).collect()
    }

    /// What a step assigns.
    fn assignments(&self, at: usize, step: &Step<'_>) -> Vec<Assignment> {
        let mut late = ir::Rewriter::default();
        for of in self.of_step(at) {
            let port = ir::Canonical::new(of.name, "out".into());
            late.port_map.insert(port, of.delayed.port("out"));
        }
        let mut all = step.assignments.clone();
        for to in &mut all {
            late.rewrite_assign(to);
        }
        let written = self.kept().into_iter().filter(|of| of.writer == at);
        for of in written {
            let own = step.assignments.iter();
            let own = own.filter(|to| port_of(&to.dst).is_some_and(|(cell, _)| cell == of.name));
            all.extend(own.map(|to| {
                let port = to.dst.borrow().name;
                let mut to = to.clone();
                to.dst = of.delayed.port(port.as_ref());
                if port == "in" {
                    to.src = of.delayed.behind.borrow().get("out");
                }
                to
            }));
        }
        all
    }
}

impl Scope<'_> {
    /// The loop with an iteration that starts every so many cycles, in the first of several forms of it with the shortest interval; `None` if that
    /// is each, and somebody has it.
    pub(super) fn overlapping(
        &self,
        forms: [Option<&Loop<'_>>; 2],
        has_each: bool,
    ) -> Option<Rewrite> {
        let forms = forms.into_iter().flatten();
        let forms =
            forms.filter(|of| !self.is_circular(of.steps.iter().map(|step| &*step.assignments)));
        let forms: Vec<_> = forms.map(|of| (of, self.counters(of))).collect();
        let all = forms.iter().filter_map(|(of, counters)| {
            let (schedule, late) = of.schedule(counters)?;
            Some((*of, schedule, late))
        });
        let (of, schedule, late) = all.min_by_key(|(_, schedule, _)| schedule.interval)?;
        (schedule.interval > 1 || !has_each).then_some(())?;
        let most = schedule.stages() - 1;
        let intervals = of.times.checked_sub(most)?;
        if intervals < 2 {
            return None;
        }
        let name = of.name()?;
        let names = [&*format!("{name}_begin"), &name, &*format!("{name}_end")];
        let [begin, name, end] = names.map(|name| self.free_name(name, GROUP_PORTS));
        // The first and last iterations have something before the loop and after it.
        let first = schedule.runs(0..most, &(0..most)).without_rests(of);
        let last = of.times - most..of.times;
        let last = schedule
            .runs(last, &(of.times..of.times + most))
            .without_rests(of);
        let each = schedule.each();
        let place = self.place_of(of)?;
        let body = |name, runs: &Runs| Body::new(name, runs.cycles, place.indent);
        let begins = of.text_of(&first, &late, body(&begin, &first), false);
        let repeats = of.text_of(&each, &late, body(&name, &each), true);
        let ends = of.text_of(&last, &late, body(&end, &last), false);
        let text = [begins, repeats, ends].join(&format!("\n{}", place.indent));

        let kept = late.kept();
        let new = kept.iter().map(|of| &of.delayed);
        let mut edits = self.declared(of, new, &[&begin, &name, &end])?;
        edits.extend(self.in_place_of_groups(of, &place, &text)?);
        let steps = [
            format!("{begin};"),
            format!("repeat {intervals} {{ {name}; }}"),
            format!("{end};"),
        ];
        let region = self.statement(of.view)?;
        edits.push(self.in_place_of(of, region, &steps));

        let every = match schedule.interval {
            1 => "in each cycle".to_owned(),
            interval => format!("every {interval} cycles"),
        };
        let mut what = vec![format!(
            "start an iteration of this `{}` {every}, while the one before it goes on",
            of.keyword()
        )];
        what.extend(self.besides(of));
        if !kept.is_empty() {
            let names: Vec<String> = kept.iter().map(|of| format!("`{}`", of.name)).collect();
            let names = listed(&names);
            what.push(format!(
                "keep what {names} was for those that need it later"
            ));
        }
        let what = what.join(", and ");
        let [first, each, last] = [&first, &each, &last].map(|runs| of.group_of(runs, &late));
        let mut outside = [&*first.1, &last.1].concat();
        outside.extend(of.ahead.iter().flat_map(Ahead::assignments));
        let is_led_otherwise = is_led_otherwise(&each.1, &outside);
        let doubt = is_led_otherwise
            .then_some(LED_OTHERWISE)
            .filter(|_| !self.again.is_main(self.component.name));
        self.overlapped(of, what, (first, doubt), None, edits)
    }

    /// The registers of a loop that may keep what they were.
    fn counters(&self, of: &Loop<'_>) -> Vec<Counter> {
        let mut writers: BTreeMap<ir::Id, Vec<usize>> = BTreeMap::new();
        for (at, step) in of.steps.iter().enumerate() {
            for cell in &step.effects.writes {
                writers.entry(*cell).or_default().push(at);
            }
        }
        let once = writers.into_iter().filter(|(_, steps)| steps.len() == 1);
        let found = once.filter_map(|(name, steps)| {
            let writer = steps[0];
            let cell = self.component.find_cell(name)?;
            let reads = |step: &Step<'_>| step.effects.reads.contains(&name);
            let readers = (0..writer).filter(|at| reads(&of.steps[*at]));
            let readers: Vec<usize> = readers.collect();
            let step = &of.steps[writer];
            let own = |port: &str| {
                let mut own = step.assignments.iter();
                own.find(|to| is_port(&to.dst, name, port) && to.guard.is_true())
            };
            let is_plain = cell.borrow().is_primitive(Some("std_reg"))
                && !readers.is_empty()
                && step.cycles == 1
                && own("in").is_some()
                && own("write_en").is_some_and(|to| constant(&to.src) == Some(1))
                && !self.is_seen_elsewhere(name)
                && !self.is_read_by_wires(name);
            is_plain.then_some(())?;
            let width = cell.borrow().get_parameter("WIDTH")?;
            let delayed = self.free_name(&format!("{name}_delayed"), REGISTER);
            let delayed = New::register(delayed, width, cell);
            Some(Counter {
                name,
                readers,
                writer,
                delayed,
            })
        });
        found.collect()
    }
}

impl<'a> Loop<'a> {
    /// The statements of which a group has parts, and all that it assigns.
    fn group_of(&self, runs: &Runs, late: &Late<'_>) -> (Vec<View<'a>>, Vec<Assignment>) {
        let steps = runs.starts.iter().map(|(at, _)| (*at, &self.steps[*at]));
        let own = steps
            .clone()
            .flat_map(|(at, step)| late.assignments(at, step));
        (steps.map(|(_, step)| step.view).collect(), own.collect())
    }
}

impl Loop<'_> {
    /// A group in which its steps run so.
    fn text_of(
        &self,
        runs: &Runs,
        late: &Late<'_>,
        mut body: Body<'_>,
        has_comments: bool,
    ) -> String {
        for (at, start) in &runs.starts {
            let step = &self.steps[*at];
            let comments = step.comments.iter().filter(|_| has_comments);
            comments.for_each(|of| body.plain(of));
            for to in late.assignments(*at, step) {
                body.line(to, (*start, start + step.cycles));
            }
        }
        body.end()
    }

    /// A schedule with the shortest interval, in which as few steps as can be read what registers were.
    fn schedule<'a>(&self, counters: &'a [Counter]) -> Option<(Schedule, Late<'a>)> {
        let count = self.steps.len();
        let mut from: BTreeSet<usize> = BTreeSet::from([count]);
        if count <= MOST_LATE_STEPS {
            from.extend(counters.iter().flat_map(|of| &of.readers));
        }
        let late = from.into_iter().rev().map(|from| Late { from, counters });
        let late: Vec<(Needs, Late<'_>)> = late
            .map(|late| Some((self.needs(&late)?, late)))
            .collect::<Option<_>>()?;
        let all: u64 = self.steps.iter().map(|step| step.cycles).sum();
        let (needs, _) = late.first()?;
        for interval in needs.shortest()..all {
            let mut found = late
                .iter()
                .filter_map(|(needs, late)| Some((needs.schedule(interval)?, *late)));
            if let Some(found) = found.next() {
                return (found.0.stages() > 1).then_some(found);
            }
        }
        None
    }

    /// What its steps need; `None` if that is not certain.
    fn needs(&self, late: &Late<'_>) -> Option<Needs> {
        let mut needs = Needs {
            cycles: self.steps.iter().map(|step| step.cycles).collect(),
            delays: Vec::new(),
            apart: Vec::new(),
        };
        let reads: Vec<Cells> = self
            .steps
            .iter()
            .enumerate()
            .map(|(at, step)| {
                let mut reads = step.effects.reads.clone();
                reads.retain(|cell| late.of_step(at).all(|of| of.name != *cell));
                reads
            })
            .collect();
        for (from, one) in self.steps.iter().enumerate() {
            for (to, other) in self.steps.iter().enumerate() {
                if from != to && one.effects.sees(&other.effects) {
                    return None;
                }
                if from < to && !one.effects.drives.is_disjoint(&other.effects.drives) {
                    needs.apart.push((from, to));
                }
                let (writes, next) = (&one.effects.writes, &other.effects.writes);
                let waits = if !writes.is_disjoint(&reads[to]) || !writes.is_disjoint(next) {
                    Some(one.cycles)
                } else {
                    // In its last cycle it still reads what was there before.
                    (!reads[from].is_disjoint(next)).then(|| one.cycles - 1)
                };
                needs.delays.extend(waits.map(|cycles| Delay {
                    from,
                    to,
                    cycles,
                    is_next: to <= from,
                }));
            }
        }
        for (at, step) in self.steps.iter().enumerate() {
            for of in late.of_step(at) {
                let written = Delay {
                    from: of.writer,
                    to: at,
                    cycles: 1,
                    is_next: false,
                };
                let overwritten = Delay {
                    from: at,
                    to: of.writer,
                    cycles: step.cycles - 1,
                    is_next: true,
                };
                needs.delays.extend([written, overwritten]);
            }
        }
        Some(needs)
    }
}

impl Runs {
    /// The same without the cycles in which nothing runs.
    fn without_rests(mut self, of: &Loop<'_>) -> Self {
        let busy = self.starts.iter().flat_map(|(at, start)| {
            let cycles = of.steps[*at].cycles;
            *start..start + cycles
        });
        let busy: BTreeSet<u64> = busy.collect();
        for (_, start) in &mut self.starts {
            *start = busy.range(..*start).count() as u64;
        }
        self.cycles = busy.len() as u64;
        self
    }
}
