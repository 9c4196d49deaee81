//! Counters, by expression or by name, and figures that are computed from them.

use super::{Builder, refuse};
use crate::collect::{Collector, Counter};
use crate::countable::{Countable, countable, matching};
use crate::derived::{self, Derived};
use crate::observations::Refused;
use crate::request::{CounterRequest, DerivedRequest, Text};
use crate::resolve::did_you_mean;
use crate::syntax;

/// The widest values that are added up, in bits: sums of 2^32 of them fit into 64 bits.
const MAX_COUNTED: u32 = 32;

impl Builder<'_> {
    /// The counters of the design that are meant by a name or pattern; any other text is an expression.
    pub(super) fn named(&self, of: &CounterRequest) -> Result<Vec<Counted>, Box<Refused>> {
        let text = &of.value.text;
        let expression = || Counted {
            name: of.name.clone().unwrap_or_else(|| text.clone()),
            values: vec![of.value.clone()],
        };
        // What has a meaning of its own is no name of a counter.
        let is_expression = self.checked(&of.value, syntax::expression, |checker, syntax| {
            checker.expression(syntax)
        });
        if is_expression.is_ok() {
            return Ok(vec![expression()]);
        }
        let counters = countable(self.metadata, self.directory);
        let mut named: Vec<Counted> = matching(text, &counters).map(Counted::of).collect();
        let is_kind = text.starts_with('[');
        match (&mut named[..], &of.name) {
            // A star beside a dot multiplies nothing, and no expression begins with a bracket.
            ([], _) if text.contains(".*") || text.contains("*.") || is_kind => {
                let message = "nothing that can be counted has such a name; `petal counters` lists what there is";
                return refuse(&of.value, message);
            }
            ([], _) => named.push(expression()),
            ([one], Some(name)) => one.name.clone_from(name),
            (several, Some(name)) => {
                for one in several {
                    one.name = format!("{name}: {}", one.name);
                }
            }
            (_, None) => {}
        }
        Ok(named)
    }

    /// Adds a counter, which was asked for by this text.
    pub(super) fn counter(
        &mut self,
        of: Counted,
        asked: &Text,
        sample: Option<u64>,
    ) -> Result<(), Box<Refused>> {
        let mut nodes = Vec::new();
        for text in &of.values {
            let value = self.checked(text, syntax::expression, |checker, syntax| {
                checker.expression(syntax)
            })?;
            if value.width() > MAX_COUNTED {
                let message = format!(
                    "this has {} bits, and values of at most {MAX_COUNTED} are added up",
                    value.width()
                );
                return refuse(text, &message);
            }
            nodes.push(self.program.add(&value));
        }
        // Two patterns may mean the same counter.
        let is_there = |other: &Collector| matches!(other, Collector::Counter(other) if other.name == of.name && other.nodes == nodes);
        if self.collectors.iter().any(is_there) {
            return Ok(());
        }
        self.collectors.push(Collector::Counter(Counter {
            name: of.name,
            value: match &of.values[..] {
                [one] => one.text.clone(),
                _ => asked.text.clone(),
            },
            nodes,
            latest: (0, 0),
            total: 0,
            sample,
            samples: Vec::new(),
        }));
        Ok(())
    }

    /// Adds a figure, and the counters of the design that it needs and nobody asked for.
    pub(super) fn derived(
        &mut self,
        of: &DerivedRequest,
        sample: Option<u64>,
    ) -> Result<(), Box<Refused>> {
        let counters = countable(self.metadata, self.directory);
        let mut names: Vec<String> = self
            .collectors
            .iter()
            .filter_map(|collector| match collector {
                Collector::Counter(counter) => Some(counter.name.clone()),
                _ => None,
            })
            .collect();
        let mut more = Vec::new();
        let formula = self.checked(&of.formula, syntax::expression, |_, syntax| {
            derived::formula(&of.formula.text, syntax, &mut |name| {
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
            self.counter(counter, &of.formula, sample)?;
        }
        self.derived.push(Derived {
            name: of.name.clone().unwrap_or_else(|| of.formula.text.clone()),
            text: of.formula.text.clone(),
            formula,
        });
        Ok(())
    }
}

/// A counter: what it is called, and what is added up.
pub(super) struct Counted {
    name: String,
    values: Vec<Text>,
}

impl Counted {
    fn of(counter: &Countable) -> Self {
        Self {
            name: counter.name.clone(),
            values: counter
                .values
                .iter()
                .map(|value| Text::from(value.as_str()))
                .collect(),
        }
    }
}
