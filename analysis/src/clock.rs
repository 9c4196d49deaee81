//! The clock of a run, by which its cycles are time.

use std::str::FromStr;

use petal_table::selection::TIME;
use petal_table::text::thousands;
use petal_table::{Column, Kind, Table, Value};
use serde::{Deserialize, Serialize};

/// The longest period in picoseconds: a second.
const MAX_PERIOD: u64 = 1_000_000_000_000;

/// The period of a clock in picoseconds: from 1 to a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Period(u64);

impl Period {
    /// So many picoseconds; `None` beyond the limits.
    pub fn of_ps(picoseconds: u64) -> Option<Self> {
        let is_period = (1..=MAX_PERIOD).contains(&picoseconds);
        is_period.then_some(Self(picoseconds))
    }

    /// Of a clock of so many MHz.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "beyond the limits it is none"
    )]
    pub fn of_mhz(mhz: f64) -> Option<Self> {
        Self::of_ps((1e6 / mhz).round() as u64)
    }

    /// In picoseconds.
    pub fn ps(self) -> u64 {
        self.0
    }

    /// How long so many cycles take, in nanoseconds.
    pub fn time_ns(self, cycles: u64) -> u64 {
        let time = (u128::from(cycles) * u128::from(self.0) + 500) / 1000;
        u64::try_from(time).unwrap_or(u64::MAX)
    }

    /// A table with the time of each row after its column of cycles.
    #[expect(clippy::cast_precision_loss, reason = "shown with four decimals")]
    pub(crate) fn timed(self, table: Table, cycles: &str) -> Table {
        let column = Column {
            title: Some("time, µs"),
            ..Column::of(TIME, Kind::Decimal)
        };
        table.with_after(cycles, column, |value| match value {
            Value::Count(cycles) => Value::Fraction(*cycles as f64 * self.0 as f64 / 1e6),
            other => other.clone(),
        })
    }
}

impl TryFrom<u64> for Period {
    type Error = String;

    fn try_from(picoseconds: u64) -> Result<Self, String> {
        Self::of_ps(picoseconds)
            .ok_or_else(|| "a period has from 1 to a trillion picoseconds".to_owned())
    }
}

impl From<Period> for u64 {
    fn from(period: Period) -> Self {
        period.0
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let places = match text[digits.len()..].trim() {
            "ps" => Some(0),
            "ns" => Some(3),
            "us" | "µs" => Some(6),
            _ => None,
        };
        let period = places.and_then(|places| {
            let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
            let decimals = (decimals.len() <= places).then(|| format!("{decimals:0<places$}"))?;
            let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
            if !is_number(whole) || !is_number(&decimals) {
                return None;
            }
            Self::of_ps(format!("{whole}{decimals}").parse().ok()?)
        });
        period.ok_or_else(|| {
            "write a time from 1ps to a second, in whole picoseconds, such as 4ns, 3.89ns or 640ps"
                .to_owned()
        })
    }
}

/// Where a period is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockSource {
    /// The user says it.
    Option,
    /// Place and route found it.
    Synthesis,
}

/// The clock of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Its period, in picoseconds.
    #[serde(rename = "period_ps")]
    pub period: Period,
    /// How long the run took with it, in nanoseconds.
    pub time_ns: u64,
    /// Where it is from.
    pub from: ClockSource,
}

impl Clock {
    /// With this period, of a run of so many cycles.
    pub fn new(period: Period, from: ClockSource, cycles: u64) -> Self {
        Self {
            period,
            time_ns: period.time_ns(cycles),
            from,
        }
    }

    /// How long the run took.
    pub fn time(self) -> String {
        format!("{} µs", thousandths(self.time_ns))
    }

    /// The same with its period.
    pub fn text(self) -> String {
        let from = match self.from {
            ClockSource::Option => "",
            ClockSource::Synthesis => " by place and route",
        };
        format!(
            "{}, {} ns a cycle{from}",
            self.time(),
            thousandths(self.period.ps())
        )
    }
}

/// A number of thousandths, with three decimals.
pub fn thousandths(of: u64) -> String {
    format!("{}.{:03}", thousands(of / 1000), of % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole_picoseconds() {
        for (text, ps) in [
            ("4ns", 4000),
            ("3.89ns", 3890),
            ("640ps", 640),
            ("0.004 us", 4000),
            ("1000000us", 1_000_000_000_000),
        ] {
            assert_eq!(text.parse::<Period>().map(Period::ps), Ok(ps), "{text}");
        }
        for text in [
            "4",
            "ns",
            "-4ns",
            "0ns",
            "3.8905ns",
            "1.5ps",
            "2000000us",
            "4ms",
            ".ns",
            "1.2.3ns",
            "99999999999999999999ps",
        ] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }

    #[test]
    fn time_is_rounded_once() {
        let period = Period::of_ps(3_890).unwrap();
        assert_eq!(period.time_ns(45_536), 177_135);
        let clock = Clock::new(period, ClockSource::Option, 45_536);
        assert_eq!(clock.text(), "177.135 µs, 3.890 ns a cycle");
    }
}
