//! What parts of a run begin and end with, and what is added up in each.

use super::latency::{LatencyRequest, Matching, alone, open::Open};
use super::window::WindowRequest;
use crate::builder::{Builder, refuse};
use crate::checker::Checker;
use crate::expression::Expression;
use crate::look::Look;
use crate::problem::{Problem, Refused};
use crate::syntax::{self, Kind, Syntax};
use crate::text::Text;

/// Splits a run into parts.
#[derive(Clone)]
pub(super) struct Splitter {
    from: usize,
    to: usize,
    way: Way,
    open: Open,
    /// The first cycle of each part, and how many cycles it has.
    pub parts: Vec<(u64, u64)>,
    /// What was added up in each.
    pub sums: Vec<u64>,
}

/// How beginnings and ends belong together.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// The next beginning is the end.
    ToNext,
    /// As those of a latency; the last may end with the run.
    Matched(Matching, bool),
    /// One at a time, the last of them up to the end of the run.
    OneByOne,
}

impl Splitter {
    fn new(from: usize, to: usize, way: Way) -> Self {
        Self {
            from,
            to,
            way,
            open: Open::default(),
            parts: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// From each event to the next; an iteration ends with its loop, too.
    pub fn to_next(text: &Text, builder: &mut Builder<'_>) -> Result<Self, Box<Refused>> {
        let (from, to) =
            builder.checked(text, syntax::expression, |checker, syntax| {
                match checker.iterations(syntax)? {
                    Some(_) => alone(checker, syntax).map(|(from, to, _)| (from, Some(to))),
                    None => checker.event(syntax).map(|event| (event, None)),
                }
            })?;
        match to {
            Some(to) => Ok(Self::matched(&from, &to, None, builder)),
            None => {
                let event = builder.program.add(&from);
                Ok(Self::new(event, event, Way::ToNext))
            }
        }
    }

    fn matched(
        from: &Expression,
        to: &Expression,
        tags: Option<Matching>,
        builder: &mut Builder<'_>,
    ) -> Self {
        let program = &mut builder.program;
        let nodes = (program.add(from), program.add(to));
        let matching = tags.unwrap_or_else(|| Matching::of(from, to, program));
        Self::new(nodes.0, nodes.1, Way::Matched(matching, to.is_end()))
    }

    /// While something is active, from one event to another, or in a latency or window of this name.
    pub fn during(
        text: &Text,
        latencies: &[LatencyRequest],
        windows: &[WindowRequest],
        builder: &mut Builder<'_>,
    ) -> Result<Self, Box<Refused>> {
        let name = Some(text.text.trim().to_owned());
        if let Some(window) = windows.iter().find(|of| of.name == name) {
            let (from, to) = events(&window.from, window.to.as_ref(), text, builder)?;
            // The cycle of its end is a part of a window.
            let program = &mut builder.program;
            let (from, to) = (program.add(&from), program.add(&to.past()));
            return Ok(Self::new(from, to, Way::OneByOne));
        }
        if let Some(latency) = latencies.iter().find(|of| of.name == name) {
            let (from, to) = events(&latency.from, latency.to.as_ref(), text, builder)?;
            let tags = Matching::asked(latency, builder)?;
            return Ok(Self::matched(&from, &to, tags, builder));
        }
        let (from, to) = events(text, None, text, builder)?;
        Ok(Self::matched(&from, &to, None, builder))
    }

    pub fn nodes(&self) -> impl Iterator<Item = usize> {
        [self.from, self.to].into_iter()
    }

    /// How many have begun and not ended.
    pub fn unfinished(&self) -> u64 {
        self.open.count
    }

    /// Looks at a cycle before which `sum` was added up. Returns whether it wants the next one, too.
    pub fn look(&mut self, look: &Look<'_, '_>, sum: u64) -> bool {
        let is_in_run = look.tree.is_some();
        let begins = is_in_run && look.values[self.from] != 0;
        let ends = look.values[self.to] != 0;
        let beginning = || (look.cycle, Box::from([sum]));
        match self.way {
            Way::ToNext if begins => {
                self.end(0, look.cycle, sum);
                self.open.begin(beginning(), 0);
            }
            Way::ToNext => {}
            Way::Matched(matching, ends_with_run) => {
                if begins {
                    let tags = matching.tags(look, true).into_iter();
                    tags.for_each(|tag| self.open.begin(beginning(), tag));
                }
                if ends && (is_in_run || (ends_with_run && look.is_done)) {
                    let tags = matching.tags(look, false).into_iter();
                    tags.for_each(|tag| self.end(tag, look.cycle, sum));
                }
            }
            Way::OneByOne => {
                if ends || !is_in_run {
                    self.end(0, look.cycle, sum);
                }
                if begins && self.open.count == 0 {
                    self.open.begin(beginning(), 0);
                }
            }
        }
        begins || ends
    }

    /// Ends what began with this tag, if something did.
    fn end(&mut self, tag: u64, cycle: u64, sum: u64) {
        if let Some((start, before)) = self.open.end(tag) {
            self.parts.push((start, cycle - start));
            self.sums.push(sum - before[0]);
        }
    }
}

/// The two events of an interval that `asked` names.
fn events(
    from: &Text,
    to: Option<&Text>,
    asked: &Text,
    builder: &Builder<'_>,
) -> Result<(Expression, Expression), Box<Refused>> {
    let has_number = |syntax: &Syntax| matches!(syntax.kind, Kind::Number(_, None));
    let event = |checker: &Checker<'_>, syntax: &Syntax| -> Result<Option<Expression>, Problem> {
        if has_number(syntax) {
            return Ok(None);
        }
        builder
            .stamped(checker, syntax)
            .map(|(event, _)| Some(event))
    };
    let both = match to {
        Some(to) => {
            let end = |text| builder.checked(text, syntax::expression, event);
            (end(from)?, end(to)?)
        }
        None => builder.checked(from, syntax::interval, |checker, (from, to)| match to {
            Some(to) => Ok((event(checker, from)?, event(checker, to)?)),
            None => {
                let (from, to, _) = alone(checker, from)?;
                Ok((Some(from.of_each_call()), Some(to.of_each_call())))
            }
        })?,
    };
    match both {
        (Some(from), Some(to)) => Ok((from, to)),
        _ => refuse(
            asked,
            "what is counted in has an event at each end, and no number of cycles",
        ),
    }
}
