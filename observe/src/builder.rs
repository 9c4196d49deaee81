//! Makes observations ready: parses and checks expressions, and gathers what is computed and collected.

use std::collections::{HashMap, HashSet};

use petal_metadata::{Metadata, VariableId};
use petal_table::Kind;

use crate::activity::Subject;
use crate::checker::Checker;
use crate::collector::Collector;
use crate::directory::Directory;
use crate::expression::Expression;
use crate::problem::{Problem, Refused};
use crate::program::Program;
use crate::recorded::Recording;
use crate::syntax::{self, Syntax};
use crate::text::Text;

/// A checkpoint that is asked for.
pub(crate) struct Known {
    pub name: String,
    pub event: Expression,
    pub values: Vec<Recording>,
}

/// Makes observations ready.
pub(crate) struct Builder<'a> {
    pub metadata: &'a Metadata,
    pub directory: &'a Directory,
    pub program: Program,
    pub collectors: Vec<Box<dyn Collector>>,
    /// Of each latency, what is active as long as it is about its own work.
    pub own: Vec<Subject>,
    /// The variables of the front end that are watched.
    pub watched_variables: HashSet<VariableId>,
    /// The checkpoints that are asked for.
    pub checkpoints: Vec<Known>,
    /// What recorded values are called and hold, by their columns.
    pub value_columns: HashMap<String, (String, Kind)>,
}

impl<'a> Builder<'a> {
    /// With nothing to observe yet.
    pub fn new(metadata: &'a Metadata, directory: &'a Directory) -> Self {
        Self {
            metadata,
            directory,
            program: Program::default(),
            collectors: Vec::new(),
            own: Vec::new(),
            watched_variables: HashSet::new(),
            checkpoints: Vec::new(),
            value_columns: HashMap::new(),
        }
    }

    /// Adds what is collected.
    pub fn collect(&mut self, collector: impl Collector + 'static) {
        self.collectors.push(Box::new(collector));
    }

    /// Refuses two of one kind that have one name, by which others know them.
    pub fn check_names(&self) -> Result<(), Box<Refused>> {
        let mut seen = HashSet::new();
        let known = self.collectors.iter().filter_map(|of| of.known_as());
        for (kind, name) in known {
            if !seen.insert((kind, name)) {
                let message =
                    "two observations of one kind have this name; write `NAME=` before each";
                return refuse(&Text::from(name), message);
            }
        }
        Ok(())
    }

    /// Parses a text and checks it.
    pub fn checked<S, T>(
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

    /// The event of a checkpoint by its name, or any other one, with what the checkpoint records.
    pub fn stamped(
        &self,
        checker: &Checker<'_>,
        syntax: &Syntax,
    ) -> Result<(Expression, Vec<Recording>), Problem> {
        let text = checker.text[syntax.span.clone()].trim_matches('`');
        let mut known = self.checkpoints.iter();
        if let Some(known) = known.find(|of| of.name == text) {
            return Ok((known.event.clone(), known.values.clone()));
        }
        let event = checker.event(syntax)?;
        let values = self.values_at(&event);
        Ok((event, values))
    }

    /// What a checkpoint with this event records.
    pub fn values_at(&self, event: &Expression) -> Vec<Recording> {
        let mut known = self.checkpoints.iter();
        let known = known.find(|of| of.event == *event);
        known.map_or_else(Vec::new, |of| of.values.clone())
    }

    /// Parses an event and checks it.
    pub fn event(&self, text: &Text) -> Result<Expression, Box<Refused>> {
        self.checked(text, syntax::expression, |checker, syntax| {
            checker.event(syntax)
        })
    }
}

/// Refuses a text as a whole.
pub(crate) fn refuse<T>(text: &Text, message: &str) -> Result<T, Box<Refused>> {
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
