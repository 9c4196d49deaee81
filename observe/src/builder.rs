//! From a request to what is computed and collected: looks at all expressions, and refuses what makes no sense.

mod counters;

use std::collections::HashSet;

use petal_metadata::{CellId, CellKind, ControlId, Id as _, Metadata, labels};

use crate::activity::{Aspect, Subject, SubjectKind};
use crate::checker::{Checker, Named};
use crate::collect::{Checkpoint, Collector, Edge, Rule, Watch, Watched, Window};
use crate::derived::Derived;
use crate::directory::Directory;
use crate::expression::Expression;
use crate::latency::{Found, Latency};
use crate::observations::Refused;
use crate::problem::Problem;
use crate::program::Program;
use crate::request::{Interval, LatencyRequest, Request, Text, WindowRequest};
use crate::syntax::{self, Kind, Syntax};
use crate::watched::{Watchable, register_writes, watchable, writes, writes_of};

/// Makes observations ready.
pub(crate) struct Builder<'a> {
    metadata: &'a Metadata,
    directory: &'a Directory,
    pub program: Program,
    pub collectors: Vec<Collector>,
    pub derived: Vec<Derived>,
    /// Of each latency, what is active as long as it is about its own work.
    pub own: Vec<Subject>,
}

impl<'a> Builder<'a> {
    /// With nothing to observe yet.
    pub fn new(metadata: &'a Metadata, directory: &'a Directory) -> Self {
        Self {
            metadata,
            directory,
            program: Program::default(),
            collectors: Vec::new(),
            derived: Vec::new(),
            own: Vec::new(),
        }
    }

    /// Adds all that is asked for.
    pub fn add(&mut self, request: &Request) -> Result<(), Box<Refused>> {
        let name =
            |name: &Option<String>, text: &Text| name.clone().unwrap_or_else(|| text.text.clone());
        for of in &request.checkpoints {
            let event = self.event(&of.when)?;
            let node = self.program.add(&event);
            self.collectors.push(Collector::Checkpoint(Checkpoint {
                name: name(&of.name, &of.when),
                when: of.when.text.clone(),
                node,
                interval: of.interval.clone(),
                is_listed: true,
                ends_with_run: event.is_end(),
                cycles: Vec::new(),
            }));
        }
        self.marked();
        let names: Vec<String> = request
            .checkpoints
            .iter()
            .map(|of| name(&of.name, &of.when))
            .collect();
        for of in &request.checkpoints {
            if let Some(Interval::Of(wanted)) = &of.interval
                && !names.contains(wanted)
            {
                let event = self.event(&Text {
                    text: wanted.clone(),
                    at: of.when.at,
                })?;
                let node = self.program.add(&event);
                self.collectors.push(Collector::Checkpoint(Checkpoint {
                    name: wanted.clone(),
                    when: wanted.clone(),
                    node,
                    interval: None,
                    is_listed: false,
                    ends_with_run: event.is_end(),
                    cycles: Vec::new(),
                }));
            }
        }
        for of in &request.latencies {
            self.latency(of)?;
        }
        for of in &request.watches {
            let what = self.watched(&of.value)?;
            self.collectors.push(Collector::Watch(Watch {
                name: name(&of.name, &of.value),
                value: of.value.text.clone(),
                what,
                latest: 0,
                changes: Vec::new(),
                known: std::collections::HashMap::new(),
                is_known: false,
            }));
        }
        let never = request.never.iter().map(|rule| (rule, false));
        for (of, always) in never.chain(request.always.iter().map(|rule| (rule, true))) {
            let condition = self.checked(&of.when, syntax::expression, |checker, syntax| {
                checker.condition(syntax)
            })?;
            let node = self.program.add(&condition);
            let writes = writes_of(self.directory, &condition).unwrap_or_default();
            let writes = writes.into_iter().map(|(event, cell)| {
                let event = self.program.add(&Expression::Value(event));
                (event, cell)
            });
            self.collectors.push(Collector::Rule(Rule {
                name: name(&of.name, &of.when),
                when: of.when.text.clone(),
                always,
                node,
                writes: writes.collect(),
                written: None,
                violations: Vec::new(),
                is_broken: false,
            }));
        }
        if request.sample == Some(0) {
            let text = Text::from("0");
            return refuse(&text, "a sample has at least one cycle");
        }
        for of in &request.counters {
            for counter in self.named(of)? {
                self.counter(counter, &of.value, request.sample)?;
            }
        }
        for of in &request.derived {
            self.derived(of, request.sample)?;
        }
        for of in &request.windows {
            self.window(of)?;
        }
        if let Some(stop) = &request.stop_on {
            let event = self.event(stop)?;
            let node = self.program.add(&event);
            self.collectors.push(Collector::Stop { node });
        }
        self.check_names()
    }

    /// Refuses two of one kind that have one name, by which others know them. Those that the source marks may have one number.
    fn check_names(&self) -> Result<(), Box<Refused>> {
        let mut seen = HashSet::new();
        for collector in &self.collectors {
            let name = match collector {
                Collector::Checkpoint(of) if of.is_listed && !of.when.starts_with('@') => &of.name,
                Collector::Latency(of) => &of.name,
                Collector::Watch(of) => &of.name,
                Collector::Rule(of) => &of.name,
                Collector::Counter(of) => &of.name,
                Collector::Window(of) => &of.name,
                Collector::Checkpoint(_) | Collector::Stop { .. } => continue,
            };
            if !seen.insert((std::mem::discriminant(collector), name)) {
                let message =
                    "two observations of one kind have this name; write `NAME=` before each";
                return refuse(&Text::from(name.as_str()), message);
            }
        }
        Ok(())
    }

    /// Adds the checkpoints that the source marks, in every instance that has them.
    fn marked(&mut self) {
        let mut waiting = vec![(self.metadata.main, Vec::new(), String::new())];
        while let Some((id, holder, path)) = waiting.pop() {
            let component = self.metadata.component(id);
            for (at, node) in component.control.iter().enumerate() {
                let Some(number) = node.checkpoint else {
                    continue;
                };
                let control = ControlId::from_index(at);
                let holder = holder.clone();
                let kind = SubjectKind::of_statement(component, control);
                let event = Expression::Subject(Subject { holder, kind }, Aspect::Begin);
                let node = self.program.add(&event);
                let label = labels::control_label(self.metadata, component, control);
                self.collectors.push(Collector::Checkpoint(Checkpoint {
                    name: format!("{path}{number}"),
                    when: format!("@checkpoint({number}) {label}"),
                    node,
                    interval: None,
                    is_listed: true,
                    ends_with_run: false,
                    cycles: Vec::new(),
                }));
            }
            // Those that share hardware, too: each is active for itself.
            for (at, cell) in component.cells.iter().enumerate() {
                if let (CellKind::Component(inner), Some(_)) = (&cell.kind, &cell.instance) {
                    let mut holder = holder.clone();
                    holder.push(CellId::from_index(at));
                    waiting.push((*inner, holder, format!("{path}{}.", cell.name)));
                }
            }
        }
    }

    /// Parses a text and checks it.
    fn checked<S, T>(
        &self,
        text: &Text,
        parse: impl FnOnce(&str) -> Result<S, Problem>,
        check: impl FnOnce(&Checker<'_>, &S) -> Result<T, Problem>,
    ) -> Result<T, Box<Refused>> {
        let checker = Checker {
            text: &text.text,
            metadata: self.metadata,
            directory: self.directory,
        };
        let checked = parse(&text.text).and_then(|syntax| check(&checker, &syntax));
        checked.map_err(|problem| {
            Box::new(Refused {
                text: text.clone(),
                problem,
            })
        })
    }

    fn event(&self, text: &Text) -> Result<Expression, Box<Refused>> {
        self.checked(text, syntax::expression, |checker, syntax| {
            checker.event(syntax)
        })
    }

    fn window(&mut self, of: &WindowRequest) -> Result<(), Box<Refused>> {
        let text = match &of.to {
            Some(to) => format!("{}..{}", of.from.text, to.text),
            None => of.from.text.clone(),
        };
        let (from, to) = match &of.to {
            Some(to) => (
                self.checked(&of.from, syntax::expression, border)?,
                self.checked(to, syntax::expression, border)?,
            ),
            None => self.checked(&of.from, syntax::interval, |checker, (from, to)| match to {
                Some(to) => Ok((border(checker, from)?, border(checker, to)?)),
                None => {
                    let (from, to, _) = alone(checker, from)?;
                    Ok((Border::Event(from), Border::Event(to)))
                }
            })?,
        };
        if let (Border::Cycles(_), Border::Cycles(_)) = (&from, &to) {
            return refuse(
                &of.from,
                "a window needs an event, at which it begins or ends",
            );
        }
        if of.most == Some(0) {
            return refuse(&of.from, "`most` is at least one window");
        }
        let mut edge = |border| match border {
            Border::Event(event) => Edge::Event(self.program.add(&event)),
            Border::Cycles(cycles) => Edge::Cycles(cycles),
        };
        let window = Window {
            name: of.name.clone().unwrap_or_else(|| text.clone()),
            from: edge(from),
            to: edge(to),
            when: text,
            most: of.most,
            open: None,
            parts: Vec::new(),
            marks: None,
        };
        self.collectors.push(Collector::Window(window));
        Ok(())
    }

    fn latency(&mut self, of: &LatencyRequest) -> Result<(), Box<Refused>> {
        let event = |checker: &Checker<'_>, syntax: &Syntax| checker.event(syntax);
        let (from, to, is_handshake) = match &of.to {
            Some(to) => (self.event(&of.from)?, self.event(to)?, false),
            None => self.checked(&of.from, syntax::interval, |checker, (from, to)| match to {
                Some(to) => Ok((event(checker, from)?, event(checker, to)?, false)),
                None => alone(checker, from),
            })?,
        };
        let value = |text: &Text| {
            self.checked(text, syntax::expression, |checker, syntax| {
                checker.expression(syntax)
            })
        };
        let tags = match (&of.tag, &of.tag_to) {
            (None, None) => None,
            (Some(tag), None) => Some((value(tag)?, value(tag)?)),
            (Some(tag), Some(tag_to)) => Some((value(tag)?, value(tag_to)?)),
            (None, Some(tag_to)) => return refuse(tag_to, "`tag-to` needs `tag`"),
        };
        let text = match &of.to {
            Some(to) => format!("{}..{}", of.from.text, to.text),
            None => of.from.text.clone(),
        };
        let program = &mut self.program;
        let tags = tags.map(|(from, to)| (program.add(&from), program.add(&to)));
        let latency = Latency {
            name: of.name.clone().unwrap_or_else(|| text.clone()),
            when: text,
            from: program.add(&from),
            to: program.add(&to),
            tags,
            ends_with_run: to.is_end(),
            is_handshake,
            number: self.own.len(),
            found: Found::default(),
        };
        self.own.push(match (&from, &to) {
            (Expression::Subject(from, _), Expression::Subject(to, _)) => {
                Subject::around(self.metadata, from, to)
            }
            _ => Subject {
                holder: Vec::new(),
                kind: SubjectKind::Instance,
            },
        });
        self.collectors.push(Collector::Latency(Box::new(latency)));
        Ok(())
    }

    fn watched(&mut self, text: &Text) -> Result<Watched, Box<Refused>> {
        let checked = self.checked(text, syntax::range, |checker, (syntax, range)| {
            watchable(checker, syntax, range.clone())
        })?;
        let (writes, cell) = match checked {
            Watchable::Value(expression) => {
                let node = self.program.add(&expression);
                return Ok(Watched::Value { node });
            }
            Watchable::Register(cell, out) => (register_writes(self.directory, &cell, out), cell),
            Watchable::Memory {
                signal,
                memory,
                words,
            } => (writes(self.directory, &signal, &memory, words), signal),
        };
        let writes = writes.or_else(|message| refuse(text, &message))?;
        let mut add = |value| self.program.add(&Expression::Value(value));
        Ok(Watched::Written {
            event: add(writes.event),
            index: writes.index.map(&mut add),
            old: writes.old.map(&mut add),
            new: add(writes.new),
            cell,
        })
    }
}

/// An end of a window.
enum Border {
    Event(Expression),
    Cycles(u64),
}

/// A number of cycles, or an event.
fn border(checker: &Checker<'_>, syntax: &Syntax) -> Result<Border, Problem> {
    match syntax.kind {
        Kind::Number(cycles, None) => Ok(Border::Cycles(cycles)),
        _ => checker.event(syntax).map(Border::Event),
    }
}

/// Refuses a text as a whole.
fn refuse<T>(text: &Text, message: &str) -> Result<T, Box<Refused>> {
    Err(Box::new(Refused {
        text: text.clone(),
        problem: Problem {
            text: text.text.clone(),
            span: 0..text.text.len(),
            message: message.to_owned(),
            help: None,
        },
    }))
}

/// What a latency is of that is told by one name: a handshake, or something that is active.
fn alone(
    checker: &Checker<'_>,
    syntax: &Syntax,
) -> Result<(Expression, Expression, bool), Problem> {
    if let Kind::Path(path) = &syntax.kind {
        let port = |name: &str| {
            let mut path = path.clone();
            path.push(name.to_owned());
            let kind = Kind::Path(path);
            let span = syntax.span.clone();
            checker.condition(&Syntax { span, kind }).ok()
        };
        // Whether the end is one only while the beginning is asked for: `go` may be low again when `done` comes.
        let pairs = [("go", "done", false), ("valid", "ready", true)];
        let is_subject = matches!(checker.named(syntax), Ok(Named::Subject(Subject { kind, .. })) if !matches!(kind, SubjectKind::Primitive(_)));
        let pair = pairs
            .iter()
            .find_map(|(start, end, both)| Some((port(start)?, port(end)?, *both)));
        if let Some((start, end, both)) = pair.filter(|_| !is_subject) {
            // It begins when it is asked for, and again after each end.
            let ends = if both { start.clone().and(end) } else { end };
            let goes_on = start.clone().past().and(ends.clone().past().not());
            let begins = start.and(goes_on.not());
            return Ok((begins, ends, true));
        }
    }
    match checker.named(syntax)? {
        Named::Subject(subject) => {
            let end = checker.end(syntax, subject.clone())?;
            Ok((Expression::Subject(subject, Aspect::Begin), end, false))
        }
        _ => Err(Problem {
            text: checker.text.to_owned(),
            span: syntax.span.clone(),
            message: "a latency needs two events".to_owned(),
            help: Some(
                "write `FROM..TO`, or name a group, a statement, a cell of a component, or one with the ports `go` and `done`"
                    .to_owned(),
            ),
        }),
    }
}
