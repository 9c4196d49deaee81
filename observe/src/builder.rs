//! Makes observations ready: parses and checks expressions, and gathers what is computed and collected.

use std::collections::HashSet;

use petal_metadata::{Metadata, VariableId};

use crate::activity::Subject;
use crate::checker::Checker;
use crate::collector::Collector;
use crate::directory::Directory;
use crate::expression::Expression;
use crate::problem::{Problem, Refused};
use crate::program::Program;
use crate::syntax;
use crate::text::Text;

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
