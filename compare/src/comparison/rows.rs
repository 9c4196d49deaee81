//! The rows of a comparison: a cell, group or statement with its figures before and after.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::matching::Fate;
use petal_table::Value;

/// A figure before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    /// In the run that is compared with.
    pub before: u64,
    /// In the run that is compared.
    pub after: u64,
}

impl Change {
    /// By how much it grew.
    pub fn delta(self) -> i64 {
        let delta = i128::from(self.after) - i128::from(self.before);
        i64::try_from(delta).unwrap_or(if delta < 0 { i64::MIN } else { i64::MAX })
    }

    /// The growth in percent; `None` where there was nothing before.
    #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
    pub fn percent(self) -> Option<f64> {
        (self.before > 0).then(|| self.delta() as f64 * 100.0 / self.before as f64)
    }

    /// The growth in percent; `new` where there was nothing before.
    pub(super) fn percent_text(self) -> Value {
        match self.percent() {
            Some(percent) if self.delta() != 0 => Value::Text(format!("{percent:+.1}")),
            None if self.after > 0 => Value::from("new"),
            _ => Value::Empty,
        }
    }

    pub(super) fn sum(
        before: &[usize],
        after: &[usize],
        of_before: impl Fn(usize) -> u64,
        of_after: impl Fn(usize) -> u64,
    ) -> Self {
        Self {
            before: before.iter().copied().map(of_before).sum(),
            after: after.iter().copied().map(of_after).sum(),
        }
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Change", 4)?;
        fields.serialize_field("before", &self.before)?;
        fields.serialize_field("after", &self.after)?;
        fields.serialize_field("delta", &self.delta())?;
        let hundredths = |percent: f64| (percent * 100.0).round() / 100.0;
        fields.serialize_field("percent", &self.percent().map(hundredths))?;
        fields.end()
    }
}

/// What all rows of a comparison tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// Its name: as in the run after, if it is there.
    pub name: String,
    /// What became of it.
    pub fate: Fate,
    /// Its name before, or for an edited statement its text, where that says more than the fate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// How many statements the row stands for, where nothing tells them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alike: Option<(usize, usize)>,
    /// How often it was active.
    pub times: Change,
    /// Cycles in which it was active.
    pub cycles: Change,
}

/// A component cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CellRow {
    /// What and for how long.
    #[serde(flatten)]
    pub subject: Subject,
    /// Cycles in which it ran a group, a primitive or another cell.
    pub busy: Change,
    /// Its other cycles, in which it only moved its control along. The two add up to all.
    pub control: Change,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupRow {
    /// What and for how long.
    #[serde(flatten)]
    pub subject: Subject,
    /// What the compiler did to it after and not before.
    pub now: Vec<String>,
    /// What the compiler did to it before and not after.
    pub no_longer: Vec<String>,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementRow {
    /// What and for how long.
    #[serde(flatten)]
    pub subject: Subject,
    /// Cycles of the run that are overhead and charged to it.
    pub overhead: Change,
    /// The head of the statement in the source.
    pub source: String,
    /// The line of a front end's file that it comes from: `queue.py:12 while_(…)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_end: Option<String>,
}
