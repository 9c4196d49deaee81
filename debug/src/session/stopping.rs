//! Where a position stops on its way: what a text means as a place to stop at, and breakpoints.

use std::rc::Rc;

use petal_observe::Watch;
use petal_profile::Error;

use super::{Place, Session, Stop};
use crate::breakpoints::{Breakpoint, Condition, Hit};
use crate::subjects::{self, File, Unnamed};
use crate::values::{Look, becomes_true, value_at};
use crate::variables::Variable;

/// A direction in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Back,
}

impl Session {
    /// Forward to where something begins: `L12`, `main.wr`, the third time with `main.wr#3`; to a cycle; or to where an expression becomes
    /// true.
    ///
    /// # Errors
    /// When it is none of these, or does not come any more.
    pub fn until(&mut self, text: &str) -> Result<Stop, Error> {
        if let Ok(cycle) = text.parse() {
            if cycle <= self.at {
                return Err(Error::usage(format!(
                    "cycle {cycle} is not after this one: `goto {cycle}` goes anywhere"
                )));
            }
            return self.goto(cycle);
        }
        if let Some((name, number)) = text.rsplit_once('#') {
            let begin = self.activation(name, number)?;
            if begin <= self.at {
                return Err(Error::usage(format!(
                    "`{text}` begins in cycle {begin}, which is not after this one: `goto {begin}` goes there"
                )));
            }
            return Ok(self.go(begin));
        }
        let stops = self.stops(text)?;
        let after = stops.partition_point(|stop| *stop <= self.at);
        match stops.get(after) {
            Some(&stop) => Ok(self.go(stop)),
            None => Err(Error::usage(format!(
                "`{text}` does not come after cycle {}: in the whole run, it does so {}",
                self.at,
                times(stops.len())
            ))),
        }
    }

    /// In which cycle an activation begins, by its number from 1 on.
    fn activation(&self, name: &str, number: &str) -> Result<u64, Error> {
        let wrong = || {
            Error::usage(format!(
                "`{number}` is no number of an activation, from 1 on"
            ))
        };
        let number: usize = number.parse().ok().filter(|of| *of > 0).ok_or_else(wrong)?;
        if self.recording.has_gaps() {
            return Err(Error::usage(
                "activations are not numbered where the trace lacks cycles",
            ));
        }
        let found = self.subjects.find(&self.recording, name);
        let ids = found.map_err(|of| Error::usage(of.message()))?;
        let mut names: Vec<&str> = ids
            .iter()
            .filter_map(|&id| self.subjects.name(id))
            .collect();
        names.dedup();
        if names.len() > 1 {
            return Err(Error::usage(format!(
                "`{name}` may be {}: name one of them",
                names.join(", ")
            )));
        }
        let begins = self.recording.begins(&ids);
        begins
            .get(number - 1)
            .copied()
            .ok_or_else(|| Error::usage(format!("`{name}` ran {}", times(begins.len()))))
    }

    /// In which cycles the run is to stop for a text: something that begins, or an expression that becomes true.
    fn stops(&mut self, text: &str) -> Result<Vec<u64>, Error> {
        if let Ok(number) = text.parse::<u64>() {
            return Err(Error::usage(format!(
                "`{number}` may be a line or a cycle: write `L{number}` for the line; `goto {number}` goes to the cycle"
            )));
        }
        let unnamed = match self.subjects.find(&self.recording, text) {
            Ok(ids) => return Ok(self.recording.begins(&ids)),
            Err(Unnamed::Line(message)) => return Err(Error::usage(message)),
            Err(unnamed @ Unnamed::Name(_)) => unnamed,
        };
        let condition = self.variable(text, self.instance());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.@".contains(c);
        match self.history(Look::Value, &condition) {
            Ok(watch) => Ok(becomes_true(&watch.changes)),
            // What has no operator is rather a name that is wrong.
            Err(_) if text.chars().all(is_plain) => Err(Error::usage(unnamed.message())),
            Err(error) => Err(error),
        }
    }

    /// Stops where something begins, or an expression becomes true; if there is a condition, only where it is not 0. Returns the number.
    ///
    /// # Errors
    /// When the text is none of these.
    pub fn break_at(&mut self, text: &str, only_if: Option<&str>) -> Result<&Breakpoint, Error> {
        let mut stops = self.stops(text)?;
        if let Some(condition) = only_if {
            self.narrow(&mut stops, condition)?;
        }
        Ok(self.add(text, Condition::Begins, only_if, stops, None))
    }

    /// Stops where something on a line of a file begins; `None` if nothing there ran.
    ///
    /// # Errors
    /// When the condition makes no sense.
    pub fn break_on_line(
        &mut self,
        file: File,
        line: u32,
        only_if: Option<&str>,
    ) -> Result<Option<&Breakpoint>, Error> {
        let ids = self.subjects.on_line(file, line);
        if ids.is_empty() {
            return Ok(None);
        }
        let mut stops = self.recording.begins(&ids);
        if let Some(condition) = only_if {
            self.narrow(&mut stops, condition)?;
        }
        let text = format!("{}:{line}", subjects::file_name(&self.recording, file));
        Ok(Some(self.add(
            &text,
            Condition::Begins,
            only_if,
            stops,
            None,
        )))
    }

    /// Leaves those stops in which a condition is not 0.
    fn narrow(&mut self, stops: &mut Vec<u64>, condition: &str) -> Result<(), Error> {
        let condition = self.variable(condition, self.instance());
        let watch = self.history(Look::Value, &condition)?;
        stops.retain(|stop| value_at(&watch.changes, *stop) != 0);
        Ok(())
    }

    /// Stops where a value changes: a register or memory in the cycle at whose end it is written.
    ///
    /// # Errors
    /// When there is no such value.
    pub fn watch(&mut self, text: &str) -> Result<&Breakpoint, Error> {
        let variable = self.variable(text, self.instance());
        let watch = self.history(Look::Writes, &variable)?;
        let mut stops: Vec<u64> = watch.changes.iter().map(|of| of.cycle).collect();
        stops.dedup();
        let watched = Some((variable, watch));
        Ok(self.add(text, Condition::Changes, None, stops, watched))
    }

    fn add(
        &mut self,
        text: &str,
        condition: Condition,
        only_if: Option<&str>,
        stops: Vec<u64>,
        watched: Option<(Variable, Rc<Watch>)>,
    ) -> &Breakpoint {
        self.numbered += 1;
        self.breakpoints.push(Breakpoint {
            number: self.numbered,
            text: text.to_owned(),
            condition,
            only_if: only_if.map(str::to_owned),
            stops,
            watched,
        });
        &self.breakpoints[self.breakpoints.len() - 1]
    }

    /// The breakpoints, in the order of their numbers.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// Removes a breakpoint; whether there was one of this number.
    pub fn delete(&mut self, number: usize) -> bool {
        let before = self.breakpoints.len();
        self.breakpoints.retain(|of| of.number != number);
        self.breakpoints.len() < before
    }

    /// The breakpoints that stop in this cycle.
    pub(super) fn hits(&mut self) -> Vec<Hit> {
        let (profile, values) = (self.recording.profile(), &mut self.values);
        let hit = self.breakpoints.iter().filter(|of| of.is_in(self.at));
        hit.map(|of| {
            let changes = of.watched.iter().flat_map(|(variable, watch)| {
                let here = watch.changes.iter().filter(|of| of.cycle == self.at);
                here.map(move |change| (variable, change))
            });
            // They were shown to be right when the value was looked up.
            let written = changes
                .filter_map(|(variable, change)| values.written(profile, variable, change).ok());
            Hit {
                number: of.number,
                text: of.text.clone(),
                written: written.collect(),
            }
        })
        .collect()
    }

    /// Forward to the next breakpoint, or to the last cycle.
    pub fn resume(&mut self) -> Stop {
        self.run(Way::Forward)
    }

    /// Back to the breakpoint before, or to the first cycle.
    pub fn reverse(&mut self) -> Stop {
        self.run(Way::Back)
    }

    fn run(&mut self, way: Way) -> Stop {
        let all = self.breakpoints.iter();
        let next = match way {
            Way::Forward => all.filter_map(|of| of.after(self.at)).min(),
            Way::Back => all.filter_map(|of| of.before(self.at)).max(),
        };
        match (next, way) {
            (Some(cycle), _) => self.go(cycle),
            (None, Way::Forward) => self.go(u64::MAX),
            (None, Way::Back) => Stop {
                place: Place::First,
                ..self.go(0)
            },
        }
    }
}

/// How often, in words.
fn times(count: usize) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
