//! A position in a recorded run, and how it moves.

mod looking;
mod stopping;

use petal_metadata::Id as _;
use petal_profile::{Error, Profile};
use petal_reconstruct::InstanceId;

use crate::breakpoints::{Breakpoint, Hit};
use crate::recording::Recording;
use crate::source::{self, SourcePlace};
use crate::subjects::{self, File, Subjects};
use crate::threads::{self, Frame, Thread};
use crate::values::{DesignFile, Values};
use crate::why;

/// Why a position is where it is, if it is not only where somebody wanted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where it was to go.
    Wanted,
    /// In the first cycle, since nothing is before it.
    First,
    /// In the last cycle, since the run ends there.
    Last,
}

/// Where a move ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The cycle.
    pub cycle: u64,
    /// Why there.
    pub place: Place,
    /// The breakpoints that it came to.
    pub hits: Vec<Hit>,
}

/// A recorded run, and somebody who goes through it.
pub struct Session {
    recording: Recording,
    subjects: Subjects,
    values: Values,
    at: u64,
    breakpoints: Vec<Breakpoint>,
    numbered: usize,
}

impl Session {
    /// At the first cycle of the run of a profile. `design` is what the profile does not tell of its design, which is needed for values only.
    ///
    /// # Errors
    /// When the trace is damaged, or has no cycles.
    pub fn new(profile: Profile, design: DesignFile) -> Result<Self, Error> {
        let recording = Recording::new(profile)?;
        Ok(Self {
            subjects: Subjects::new(&recording),
            recording,
            values: Values::new(design),
            at: 0,
            breakpoints: Vec::new(),
            numbered: 0,
        })
    }

    /// The run.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The cycle that one looks at.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Goes to a cycle, or to the last one if there is none such.
    fn go(&mut self, cycle: u64) -> Stop {
        let last = self.recording.cycles() - 1;
        self.at = cycle.min(last);
        Stop {
            cycle: self.at,
            place: if cycle > last {
                Place::Last
            } else {
                Place::Wanted
            },
            hits: self.hits(),
        }
    }

    /// So many cycles forward.
    pub fn step(&mut self, cycles: u64) -> Stop {
        self.go(self.at.saturating_add(cycles))
    }

    /// So many cycles back.
    pub fn back(&mut self, cycles: u64) -> Stop {
        match self.at.checked_sub(cycles) {
            Some(cycle) => self.go(cycle),
            None => Stop {
                place: Place::First,
                ..self.go(0)
            },
        }
    }

    /// To a cycle.
    ///
    /// # Errors
    /// When the run does not have it.
    pub fn goto(&mut self, cycle: u64) -> Result<Stop, Error> {
        let cycles = self.recording.cycles();
        if cycle >= cycles {
            return Err(Error::usage(format!("the run has the cycles 0..{cycles}")));
        }
        Ok(self.go(cycle))
    }

    /// Forward to the first cycle in which something else is active.
    pub fn next_change(&mut self) -> Stop {
        self.go(self.recording.span(self.recording.stretch(self.at)).end)
    }

    /// Back to the first cycle in which the same is active as now; from there, to that of what was active before.
    pub fn previous_change(&mut self) -> Stop {
        let here = self.recording.span(self.recording.stretch(self.at)).start;
        if here < self.at {
            return self.go(here);
        }
        let Some(before) = here.checked_sub(1) else {
            return self.back(1);
        };
        self.go(self.recording.span(self.recording.stretch(before)).start)
    }

    /// The threads of this cycle.
    pub fn threads(&self) -> Vec<Thread> {
        threads::threads(&self.recording, &self.subjects, self.at)
    }

    /// All that is active in this cycle, as a call tree in preorder, each with its depth.
    pub fn frames(&self) -> Vec<(usize, Frame)> {
        threads::frames(&self.recording, &self.subjects, self.at)
    }

    /// What `finish` and `start` mean: the frame of this number, or the innermost that holds all that is active.
    fn frame(&self, number: Option<usize>) -> Result<Frame, Error> {
        let Some(number) = number else {
            let threads = self.threads();
            let (first, others) = threads.split_first().ok_or_else(|| not_kept(self.at))?;
            let is_shared = |frame: &&Frame| {
                let holds = |thread: &Thread| {
                    let mut frames = thread.frames.iter();
                    frames.any(|other| other.number == frame.number)
                };
                frame.element.is_some() && others.iter().all(holds)
            };
            let shared = first.frames.iter().find(is_shared);
            return shared.cloned().ok_or_else(|| not_kept(self.at));
        };
        let frames = self.frames();
        let all = frames.len();
        let frame = frames.into_iter().map(|(_, frame)| frame).nth(number);
        frame.filter(|frame| frame.element.is_some()).ok_or_else(|| {
            Error::usage(format!(
                "there is no #{number} to go to: `where` numbers what is active from #0 on, {all} in all"
            ))
        })
    }

    /// Forward to the first cycle after the activation of what holds all that is active, or of the frame with this number.
    ///
    /// # Errors
    /// When there is no such frame.
    pub fn finish(&mut self, number: Option<usize>) -> Result<Stop, Error> {
        let frame = self.frame(number)?;
        let end = frame.element.and_then(|of| self.recording.end(of, self.at));
        let end = end.ok_or_else(|| not_kept(self.at))?;
        Ok(self.go(end))
    }

    /// Back to the first cycle of that activation.
    ///
    /// # Errors
    /// When there is no such frame.
    pub fn start(&mut self, number: Option<usize>) -> Result<Stop, Error> {
        let frame = self.frame(number)?;
        let since = frame.since.ok_or_else(|| not_kept(self.at))?;
        Ok(self.go(since))
    }

    /// The innermost component cell of the first thread.
    pub fn instance(&self) -> InstanceId {
        let threads = self.threads();
        let innermost = threads.first().and_then(|thread| thread.frames.first());
        innermost.map_or_else(|| InstanceId::from_index(0), |frame| frame.instance)
    }

    /// What this cycle is, in a word or two: `computation`, `conditions`, or `overhead` with its kind.
    pub fn class(&self) -> String {
        why::class(&self.recording, self.at)
    }

    /// Why this cycle is what it is, in sentences.
    pub fn why(&self) -> Vec<String> {
        let span = self.recording.span(self.recording.stretch(self.at));
        let threads = |cycle: Option<u64>| match cycle {
            Some(cycle) => threads::threads(&self.recording, &self.subjects, cycle),
            None => Vec::new(),
        };
        let after = Some(span.end).filter(|end| *end < self.recording.cycles());
        let [now, before, after] = [Some(self.at), span.start.checked_sub(1), after].map(threads);
        why::why(&self.recording, self.at, [&now, &before, &after])
    }

    /// The innermost place of a thread in the source, if it has any.
    pub fn place(&self, thread: &Thread) -> Option<SourcePlace> {
        source::place(&self.recording, thread)
    }

    /// The source files of a name, or with a path.
    pub fn files(&self, path: &str) -> Vec<File> {
        subjects::files_named(&self.recording, path)
    }

    /// The text of a source file, if it is known.
    pub fn source(&self, file: File) -> Option<&str> {
        subjects::file_text(&self.recording, file)
    }

    /// The names of all that ran, for completion.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.subjects.names().map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn not_kept(cycle: u64) -> Error {
    Error::usage(format!(
        "the trace does not have what was active in cycle {cycle}"
    ))
}
