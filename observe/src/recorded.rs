//! Values that are recorded whenever something happens: how they are asked for, kept and shown.

use std::collections::{BTreeMap, HashSet};

use petal_data::{Format, NumericType};
use petal_table::{Column, Columns, Kind, Value, column_name};
use serde::{Deserialize, Deserializer, Serialize};

use crate::builder::{Builder, refuse};
use crate::look::Look;
use crate::problem::Refused;
use crate::syntax;
use crate::text::Text;

/// A value to record.
#[derive(Debug, Clone)]
pub struct ValueRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// An expression, in a function that tells how it is shown if need be.
    pub value: Text,
}

/// Reads a table of values in the order of the file.
pub(crate) fn in_order<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ValueRequest>, D::Error> {
    let values = BTreeMap::<String, Text>::deserialize(from)?.into_iter();
    let values = values.map(|(name, value)| ValueRequest {
        name: Some(name),
        value,
    });
    let mut values: Vec<ValueRequest> = values.collect();
    values.sort_by_key(|of| of.value.at);
    if values.is_empty() {
        return Err(serde::de::Error::custom(
            "a value is missing, such as `k = \"main.k.out\"`",
        ));
    }
    Ok(values)
}

/// A value in each cycle in which something happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// What it is called.
    pub name: String,
    /// The expression.
    pub value: String,
    /// Which numbers its bits are, as in data files.
    pub format: Format,
    /// The bits. There is none for what happened when the run was over.
    pub bits: Vec<u64>,
}

impl Recorded {
    /// The number that it was at one of these times; empty if nobody knows.
    pub fn shown(&self, at: usize) -> Value {
        self.bits
            .get(at)
            .map_or(Value::Empty, |&bits| self.of(bits))
    }

    /// The number that bits are.
    pub(crate) fn of(&self, bits: u64) -> Value {
        match kind(self.format) {
            Kind::Bits => Value::Count(bits),
            Kind::Number => {
                let unused = u64::BITS - self.format.width();
                Value::Signed((bits << unused).cast_signed() >> unused)
            }
            _ => Value::Number(self.format.text(bits)),
        }
    }

    /// The same at some of these times.
    pub(crate) fn at(&self, times: &[usize]) -> Self {
        let bits = times.iter().filter_map(|&at| self.bits.get(at).copied());
        Self {
            bits: bits.collect(),
            ..self.clone()
        }
    }
}

/// What a column of such numbers holds.
fn kind(format: Format) -> Kind {
    match format.numeric_type() {
        NumericType::Bitnum if format.is_signed() => Kind::Number,
        NumericType::Bitnum => Kind::Bits,
        NumericType::FixedPoint | NumericType::Ieee754Float => Kind::Decimal,
    }
}

/// A value that is recorded while a run goes by.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    node: usize,
    pub so_far: Recorded,
}

impl Recording {
    /// Makes a value ready.
    pub fn new(
        name: String,
        value: &Text,
        builder: &mut Builder<'_>,
    ) -> Result<Self, Box<Refused>> {
        let checked = builder.checked(value, syntax::expression, |checker, syntax| {
            checker.shown(syntax)
        });
        let (expression, format) = checked?;
        Ok(Self {
            node: builder.program.add(&expression),
            so_far: Recorded {
                name,
                value: value.text.clone(),
                format,
                bits: Vec::new(),
            },
        })
    }

    /// Makes those of one checkpoint ready.
    pub fn all(
        requests: &[ValueRequest],
        builder: &mut Builder<'_>,
    ) -> Result<Vec<Self>, Box<Refused>> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for ValueRequest { name, value } in requests {
            if value.text.is_empty() {
                return refuse(value, "a value is missing, such as `k=main.k.out`");
            }
            let recording = Self::new(value.name(name.as_ref()), value, builder)?;
            let Recorded { name, format, .. } = &recording.so_far;
            let column = column_name(name);
            if !seen.insert(column.clone()) {
                let message = format!("two values of this checkpoint are called `{name}`");
                return refuse(value, &message);
            }
            let column = builder.value_columns.entry(column);
            let (called, holds) = column.or_insert_with(|| (name.clone(), kind(*format)));
            if called != name {
                let message = format!(
                    "`{name}` and `{called}` of another checkpoint have one column; call both alike"
                );
                return refuse(value, &message);
            }
            if *holds != kind(*format) {
                let message = format!(
                    "another checkpoint shows its `{name}` as another kind of number; show both alike, or call one otherwise"
                );
                return refuse(value, &message);
            }
            all.push(recording);
        }
        Ok(all)
    }

    /// The same at one end of a latency.
    #[must_use]
    pub fn called_at(mut self, end: &str) -> Self {
        self.so_far.name = format!("{end}_{}", self.so_far.name);
        self
    }

    /// The bits in a cycle.
    pub fn now(&self, look: &Look<'_, '_>) -> u64 {
        look.values[self.node]
    }

    /// Records the value of a cycle.
    pub fn record(&mut self, look: &Look<'_, '_>) {
        self.so_far.bits.push(self.now(look));
    }
}

/// A row of a table with values: all that were recorded, and which time it is about.
pub(crate) trait HasValues {
    fn values(&self) -> (&[Recorded], usize);
}

/// Adds a column for each name of these values.
pub(crate) fn with_values<'a, R: HasValues>(
    columns: Columns<R>,
    prefix: &str,
    all: impl Iterator<Item = &'a Recorded>,
) -> Columns<R> {
    let mut seen = HashSet::new();
    all.filter(|of| seen.insert(&of.name))
        .fold(columns, |columns, of| {
            let name = of.name.clone();
            let column = Column::of(format!("{prefix}{name}"), kind(of.format));
            let columns = columns.with(column, move |row: &R| {
                let (values, at) = row.values();
                let value = values.iter().find(|of| of.name == name);
                value.map_or(Value::Empty, |of| of.shown(at))
            });
            columns.optional()
        })
}

/// What was recorded at some times, for the events of a track.
pub(crate) fn arguments(all: &[Recorded], times: &[usize]) -> Vec<(String, Vec<Value>)> {
    let all = all.iter();
    let all = all.map(|of| {
        let values = times.iter().map(|&at| of.shown(at));
        (of.name.clone(), values.collect())
    });
    all.collect()
}
