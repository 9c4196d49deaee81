//! Figures that are computed from counters when the run is over.
//!
//! Owns formulas: their names are those of counters, so the grammar is that of expressions, and the arithmetic that of fractions.

use crate::problem::Problem;
use crate::results::{self, Counter};
use crate::syntax::{Binary, Kind, Syntax};

/// What stands for the cycles of the run, or of a sample.
const CYCLES: &str = "cycles";

/// A figure.
pub(crate) struct Derived {
    pub name: String,
    pub text: String,
    pub formula: Formula,
}

/// A formula.
pub(crate) enum Formula {
    Number(f64),
    Cycles,
    /// The counter with this name.
    Counter(String),
    Binary(Binary, Box<Formula>, Box<Formula>),
}

/// The formula that is written. `counter` looks whether there is a counter with a name.
pub(crate) fn formula(
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

impl Derived {
    /// The figure of a run with these counters.
    pub fn results(
        &self,
        counters: &[Counter],
        cycles: u64,
        sample: Option<u64>,
    ) -> results::Derived {
        let of = |name: &str| counters.iter().find(|counter| counter.name == name);
        let total = |name: &str| of(name).map_or(0, |counter| counter.total);
        let samples = sample.into_iter().flat_map(|sample| {
            let all = usize::try_from(cycles.div_ceil(sample)).unwrap_or(0);
            (0..all).map(move |at| {
                let first = at as u64 * sample;
                let sum = |name: &str| of(name).and_then(|counter| counter.samples.get(at));
                let sum = |name: &str| sum(name).copied().unwrap_or(0);
                self.formula.value(sample.min(cycles - first), &sum)
            })
        });
        results::Derived {
            name: self.name.clone(),
            formula: self.text.clone(),
            value: self.formula.value(cycles, &total),
            samples: samples.collect(),
        }
    }
}
