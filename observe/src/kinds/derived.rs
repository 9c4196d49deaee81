//! Figures that are computed from counters when the run is over.
//!
//! Owns formulas: their names are those of counters, so the grammar is that of expressions, and the arithmetic that of fractions.

use petal_table::{Columns, Track, TrackContent, Value};
use serde::{Deserialize, Serialize};

use super::Outlets;
use super::counter::{self, Counted, Counter};
use super::sample::{self, Samples, Sampling};
use crate::builder::Builder;
use crate::collector::{Collector, Finished, Outlet};
use crate::countable::countable;
use crate::look::Look;
use crate::problem::{Problem, Refused};
use crate::resolve::did_you_mean;
use crate::syntax::{self, Binary, Kind, Syntax};
use crate::tables::ResultTable;
use crate::text::Text;

/// What stands for the cycles of the run, or of a sample.
const CYCLES: &str = "cycles";

/// A figure that is computed from counters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedRequest {
    /// What it is called [default: the formula].
    pub name: Option<String>,
    /// A formula of `+ - * /`, numbers, names of counters and `cycles`.
    pub formula: Text,
}

impl DerivedRequest {
    /// Of a text.
    pub fn new(name: Option<String>, formula: Text) -> Self {
        Self { name, formula }
    }
}

/// A figure that is computed from counters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Derived {
    /// What it is called.
    pub name: String,
    /// The formula.
    pub formula: String,
    /// Its value for the whole run; `None` where it divides by zero.
    pub value: Option<f64>,
    /// The values for successive parts of the run, if samples are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Option<f64>>,
}

/// A figure, before the run is over.
struct DerivedCollector {
    name: String,
    text: String,
    formula: Formula,
    /// Where the counters are left, before it is computed.
    counters: Outlet<Counter>,
    samples: Outlet<Samples>,
    outlet: Outlet<Derived>,
}

/// Makes figures ready, and the counters of the design that they need and nobody asked for.
pub(super) fn build(
    requests: &[DerivedRequest],
    sampling: &Sampling,
    outlets: &Outlets,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    requests
        .iter()
        .try_for_each(|of| add(of, sampling, outlets, builder))
}

fn add(
    of: &DerivedRequest,
    sampling: &Sampling,
    outlets: &Outlets,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    let counters = countable(builder.metadata, builder.directory);
    let mut names = counter::counters(builder)
        .map(|of| of.name().to_owned())
        .collect::<Vec<_>>();
    let mut more = Vec::new();
    let parsed = builder.checked(&of.formula, syntax::expression, |_, syntax| {
        formula(&of.formula.text, syntax, &mut |name| {
            if names.iter().any(|of| of == name) {
                return Ok(());
            }
            match counters.iter().find(|counter| counter.name == name) {
                Some(counter) => {
                    names.push(name.to_owned());
                    more.push(Counted::of(counter));
                    Ok(())
                }
                None => {
                    let all = counters.iter().map(|counter| &counter.name);
                    let all = all.chain(&names).cloned();
                    Err(did_you_mean(all.map(|other| (name.to_owned(), other))))
                }
            }
        })
    })?;
    for counter in more {
        counter::add(
            counter,
            &of.formula,
            sampling.clone(),
            &outlets.counters,
            builder,
        )?;
    }
    builder.collect(DerivedCollector {
        name: of.formula.name(of.name.as_ref()),
        text: of.formula.text.clone(),
        formula: parsed,
        counters: outlets.counters.clone(),
        samples: outlets.samples.clone(),
        outlet: outlets.derived.clone(),
    });
    Ok(())
}
/// A formula.
enum Formula {
    Number(f64),
    Cycles,
    /// The counter with this name.
    Counter(String),
    Binary(Binary, Box<Formula>, Box<Formula>),
}

/// The formula that is written. `counter` looks whether there is a counter with a name.
fn formula(
    text: &str,
    syntax: &Syntax,
    counter: &mut impl FnMut(&str) -> Result<(), Option<String>>,
) -> Result<Formula, Problem> {
    let problem = |message: String, help: Option<String>| Problem {
        text: text.to_owned(),
        span: syntax.span.clone(),
        message,
        help,
    };
    match &syntax.kind {
        #[expect(clippy::cast_precision_loss, reason = "figures have a few digits")]
        Kind::Number(number, None) => Ok(Formula::Number(*number as f64)),
        Kind::Path(path) if path == &[CYCLES] => Ok(Formula::Cycles),
        Kind::Path(path) => {
            let name = path.join(".");
            counter(&name).map_err(|near| {
                let help =
                    near.unwrap_or_else(|| "`petal counters` lists what there is".to_owned());
                problem(format!("there is no counter `{name}`"), Some(help))
            })?;
            Ok(Formula::Counter(name))
        }
        Kind::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::Div), left, right) => {
            let left = formula(text, left, counter)?;
            let right = formula(text, right, counter)?;
            Ok(Formula::Binary(*op, Box::new(left), Box::new(right)))
        }
        _ => {
            let help =
                "it consists of `+ - * /`, numbers without a width, `cycles` and names of counters";
            Err(problem(
                "this is no part of a formula".to_owned(),
                Some(help.to_owned()),
            ))
        }
    }
}

impl Formula {
    /// The value; `None` if it divides by zero. `counter` has the values of counters.
    fn value(&self, cycles: u64, counter: &impl Fn(&str) -> u64) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "figures have a few digits")]
        let number = |number: u64| number as f64;
        match self {
            Self::Number(value) => Some(*value),
            Self::Cycles => Some(number(cycles)),
            Self::Counter(name) => Some(number(counter(name))),
            Self::Binary(op, left, right) => {
                let (left, right) = (left.value(cycles, counter)?, right.value(cycles, counter)?);
                match op {
                    Binary::Add => Some(left + right),
                    Binary::Sub => Some(left - right),
                    Binary::Mul => Some(left * right),
                    _ => (right != 0.0).then(|| left / right),
                }
            }
        }
    }
}

impl Collector for DerivedCollector {
    fn kind(&self) -> &'static str {
        "derive"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn known_as(&self) -> Option<(&'static str, &str)> {
        None
    }

    fn nodes(&self) -> Vec<usize> {
        Vec::new()
    }

    fn kept(&self) -> usize {
        0
    }

    fn look(&mut self, _look: &mut Look<'_, '_>) -> bool {
        false
    }

    fn finish(self: Box<Self>, run: &Finished<'_>) {
        let Self {
            name,
            text,
            formula,
            counters,
            samples,
            outlet,
        } = &*self;
        let parts = sample::parts(run.sample, samples.left().first(), run.cycles);
        let counters = counters.left();
        let of = |name: &str| counters.iter().find(|counter| counter.name == name);
        let total = |name: &str| of(name).map_or(0, |counter| counter.total);
        let samples = parts.iter().enumerate().map(|(at, &(_, cycles))| {
            let sum = |name: &str| of(name).and_then(|counter| counter.samples.get(at));
            let sum = |name: &str| sum(name).copied().unwrap_or(0);
            formula.value(cycles, &sum)
        });
        let derived = Derived {
            name: name.clone(),
            formula: text.clone(),
            value: formula.value(run.cycles, &total),
            samples: samples.collect(),
        };
        outlet.leave(derived);
    }
}

/// Their table.
pub(super) fn tables(all: &[Derived]) -> Vec<ResultTable<'_>> {
    let columns = Columns::default()
        .text("figure", |of: &&Derived| of.name.as_str().into())
        .decimal("value", |of| of.value.map_or(Value::Empty, Value::Fraction))
        .optional()
        .text("formula", |of| of.formula.as_str().into());
    let title = "computed from counters";
    vec![ResultTable::new("derived", title, columns, all.iter())]
}

/// Their tracks.
pub(super) fn tracks(all: &[Derived], parts: &[(u64, u64)]) -> Vec<Track> {
    let tracks = all.iter().map(|of| {
        let samples = parts.iter().zip(&of.samples);
        let values = samples.filter_map(|(&(cycle, _), value)| Some((cycle, (*value)?)));
        Track {
            name: of.name.clone(),
            site: None,
            content: TrackContent::Samples(values.collect()),
            arguments: Vec::new(),
        }
    });
    tracks.collect()
}
