//! The way through a trace to a part of it.
//!
//! Owns where a part begins and ends. What is looked for is decided before.

use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::Event;

use super::wanted::{Around, Wanted};
use petal_analysis::elements::ElementId;
use petal_analysis::intervals::Intervals;
use petal_table::text::thousands;

/// How many cycles are shown before and after an activation.
const MARGIN: u64 = 100;

/// A part of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its cycles.
    pub cycles: Range<u64>,
    /// What it is, and what is in it.
    pub about: String,
    /// What asks for the part after it, as options of the command; `None` where the run ends.
    pub next: Option<String>,
}

impl Part {
    /// The part with these cycles of a run that is so long, and the next one as long as this.
    fn new(cycles: Range<u64>, about: String, run: u64) -> Self {
        let Range { start, end } = cycles;
        let next = (end < run).then(|| {
            let after = run.min(end.saturating_add(end - start));
            format!("--cycles {end}..{after}")
        });
        Self {
            cycles,
            about,
            next,
        }
    }
}

/// Successive iterations of a loop, or an activation.
#[derive(Debug)]
pub(super) struct Goal {
    pub name: String,
    /// What contains all of it: the loop, or what is activated itself.
    pub within: Vec<ElementId>,
    /// What begins with each iteration, any of these, and after how many cycles again, where it is active without a break.
    pub witnesses: Vec<(ElementId, Option<u64>)>,
    /// Whether a witness comes once more when the loop is left.
    pub tests: bool,
    /// Which is the first that is wanted, from 0 on, how many are at most, and how many there are.
    pub first: u64,
    pub most: u64,
    pub all: u64,
}

/// How far the way through the trace has come to a goal.
#[derive(Debug)]
struct Progress {
    goal: Goal,
    /// The witness that is active, when it begins again if it stays so, and after how many cycles once more.
    next: Option<(ElementId, u64, u64)>,
    /// How many began so far.
    seen: u64,
    /// Where the first that is wanted began, and how many slices were before it.
    start: Option<(u64, u64)>,
    /// Where the last one so far ended, and how many these are.
    end: Option<(u64, u64)>,
    /// From which cycle on there are more slices than fit.
    full: Option<u64>,
    /// Whether nothing changes any more.
    over: bool,
}

impl Progress {
    fn new(goal: Goal) -> Self {
        Self {
            goal,
            next: None,
            seen: 0,
            start: None,
            end: None,
            full: None,
            over: false,
        }
    }

    /// A witness begins in the cycle `now`, after so many slices.
    fn begin(&mut self, now: u64, slices: u64) {
        self.go_on(now);
        if self.seen == self.goal.first && !self.over {
            self.start = Some((now, slices));
        }
        self.seen += 1;
    }

    /// One iteration ends in the cycle `now`, if one has begun.
    fn go_on(&mut self, now: u64) {
        if self.start.is_none() || self.over {
            return;
        }
        self.over = self.full.is_some_and(|full| full < now);
        if !self.over {
            let count = self.seen - self.goal.first;
            self.end = Some((now, count));
            self.over = count == self.goal.most;
        }
    }

    /// What contains all ends in the cycle `now`.
    fn leave(&mut self, now: u64) {
        if self.goal.tests {
            self.seen = self.seen.saturating_sub(1);
            // What began was the test that leaves the loop.
            if self.end.is_none() && self.seen == self.goal.first {
                self.start = None;
            }
        } else {
            self.go_on(now);
        }
        self.over |= self.start.is_some();
    }

    /// The witness that is active begins again in the cycles before `now`.
    fn catch_up(&mut self, now: u64, slices: u64) {
        while let Some((id, next, latency)) = self.next
            && next < now
        {
            self.begin(next, slices);
            self.next = Some((id, next + latency, latency));
        }
    }

    /// This is active no more from the cycle `now` on.
    fn close(&mut self, id: ElementId, now: u64) {
        if self.goal.within.contains(&id) {
            self.leave(now);
        }
        self.next.take_if(|(witness, _, _)| *witness == id);
    }

    /// This becomes active in the cycle `now`.
    fn open(&mut self, id: ElementId, now: u64, slices: u64) {
        let mut witnesses = self.goal.witnesses.iter();
        if let Some(&(_, latency)) = witnesses.find(|(witness, _)| *witness == id) {
            self.begin(now, slices);
            self.next = latency.map(|latency| (id, now + latency, latency));
        }
    }

    /// There were so many slices before the cycle `now`, and now there are `slices`.
    fn fill(&mut self, now: u64, slices: u64, max: u64) {
        if let (Some((start, before)), None) = (self.start, self.full)
            && slices - before > max
        {
            self.full = Some(now.max(start + 1));
        }
    }
}

/// Goes through the trace again, and finds the part.
#[derive(Debug)]
pub struct Search {
    wanted: Wanted,
    goals: Vec<Progress>,
    /// The goals that something matters to, by its number.
    concerned: HashMap<ElementId, Vec<usize>>,
    intervals: Intervals,
    max_slices: u64,
    /// Slices so far, without those of control registers that are joined.
    slices: u64,
    /// Length of the run.
    cycles: u64,
    /// The cycles from the middle of the run on that fit, if no goal is reached.
    middle: Option<(u64, u64)>,
    full: Option<u64>,
}

impl Search {
    pub(super) fn new(goals: Vec<Goal>, wanted: Wanted, cycles: u64, max_slices: u64) -> Self {
        let mut concerned: HashMap<ElementId, Vec<usize>> = HashMap::new();
        for (at, goal) in goals.iter().enumerate() {
            let witnesses = goal.witnesses.iter().map(|&(id, _)| id);
            for id in goal.within.iter().copied().chain(witnesses) {
                let goals = concerned.entry(id).or_default();
                if !goals.contains(&at) {
                    goals.push(at);
                }
            }
        }
        Self {
            wanted,
            goals: goals.into_iter().map(Progress::new).collect(),
            concerned,
            intervals: Intervals::default(),
            max_slices,
            slices: 0,
            cycles,
            middle: None,
            full: None,
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        self.slices += u64::from(matches!(event, Event::Update(_)));
        let Some((transition, now)) = self.intervals.event(event) else {
            return;
        };
        let now = now.cycles();
        for goal in &mut self.goals {
            goal.catch_up(now, self.slices);
        }
        let transition = self.intervals.transition(transition);
        let concerned = |id: &ElementId| self.concerned.get(id).into_iter().flatten();
        for id in &transition.closes {
            for &at in concerned(id) {
                self.goals[at].close(*id, now);
            }
        }
        for goal in &mut self.goals {
            goal.catch_up(now + 1, self.slices);
        }
        for id in &transition.opens {
            for &at in concerned(id) {
                self.goals[at].open(*id, now, self.slices);
            }
        }
        if self.middle.is_none() && now >= self.cycles / 2 {
            self.middle = Some((now, self.slices));
        }
        self.slices += transition.opens.len() as u64;
        for goal in &mut self.goals {
            goal.fill(now, self.slices, self.max_slices);
        }
        if let (Some((start, before)), None) = (self.middle, self.full)
            && self.slices - before > self.max_slices
        {
            self.full = Some(now.max(start + 1));
        }
    }

    /// The part, once the trace has ended.
    pub fn part(&self) -> Part {
        let run = self.cycles;
        match &self.wanted {
            Wanted::Cycles(cycles) => {
                let about = "asked for by `--cycles`".to_owned();
                Part::new(cycles.start..cycles.end.min(run), about, run)
            }
            Wanted::Around(around) => self.around(around),
            Wanted::Typical => self.typical(),
        }
    }

    fn around(&self, around: &Around) -> Part {
        let goal = &self.goals[0];
        let start = goal.start.map_or(0, |(start, _)| start);
        let end = goal.end.map_or(self.cycles, |(end, _)| end);
        let all = thousands(goal.goal.all);
        let mut about = format!(
            "activation {} of {all} of {}, cycles {}..{}",
            thousands(around.number.get()),
            around.path,
            thousands(start),
            thousands(end),
        );
        let shown = match goal.full {
            Some(full) if full < end => {
                about.push_str(", from its beginning on as far as fits");
                full
            }
            _ => end.saturating_add(MARGIN).min(self.cycles),
        };
        let cycles = start.saturating_sub(MARGIN)..shown;
        let mut part = Part::new(cycles, about, self.cycles);
        if shown >= end {
            let next = around.number.checked_add(1);
            let next = next.filter(|next| next.get() <= goal.goal.all);
            part.next = next.map(|next| format!("--around '{}#{next}'", around.path));
        }
        part
    }

    fn typical(&self) -> Part {
        let reached = self.goals.iter().find_map(|goal| {
            let ((start, _), (end, count)) = goal.start.zip(goal.end)?;
            let first = thousands(goal.goal.first + 1);
            let last = thousands(goal.goal.first + count);
            let which = match count {
                1 => format!("iteration {first}"),
                _ => format!("iterations {first} to {last}"),
            };
            let about = format!(
                "{which} of {} of {}",
                thousands(goal.goal.all),
                goal.goal.name
            );
            Some(Part::new(start..end, about, self.cycles))
        });
        reached.unwrap_or_else(|| {
            let start = self.middle.map_or(0, |(start, _)| start);
            let end = self.full.unwrap_or(self.cycles);
            let about = "the middle of the run, which has no loop whose iterations fit".to_owned();
            Part::new(start..end, about, self.cycles)
        })
    }
}
