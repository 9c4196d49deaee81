//! Area, clock and time of two runs beside each other.
//!
//! Owns when they can be compared: on one device, with the memories in the same place.

use petal_analysis::Period;
use petal_analysis::clock::thousandths;
use petal_table::text::signed;
use petal_table::{Column, Table, Value};
use serde::Serialize;

use super::rows::Change;
use crate::baseline::{Baseline, SynthesisFigures};

/// Area, clock and time before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SynthesisChange {
    /// The device of both.
    pub device: String,
    /// Look-up tables.
    pub luts: Change,
    /// Flip-flops.
    pub ffs: Change,
    /// Block memories.
    pub brams: Change,
    /// Multipliers.
    pub dsps: Change,
    /// Cells of carry chains.
    pub carries: Change,
    /// The clock with the seed in the middle; `None` without place and route.
    #[serde(flatten)]
    pub clock: Option<ClockChange>,
    /// How much the period depends on place and route: before and after.
    pub seeds: Option<[Seeds; 2]>,
    /// Whether some seed before gives the period of some seed after: then which clock is faster may be chance.
    pub is_within_spread: bool,
}

/// Period and time before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClockChange {
    /// The period of the clock, in picoseconds.
    pub period_ps: Change,
    /// The time of the run with that period, in nanoseconds; `None` if one of the runs ended early.
    pub time_ns: Option<Change>,
}

impl ClockChange {
    fn new(runs: [&Baseline; 2], periods: [Period; 2]) -> Self {
        let change = |[before, after]: [u64; 2]| Change { before, after };
        let times = [0, 1].map(|of| periods[of].time_ns(runs[of].cycles));
        let is_whole = runs.iter().all(|run| run.stopped.is_none());
        Self {
            period_ps: change(periods.map(Period::ps)),
            time_ns: is_whole.then(|| change(times)),
        }
    }

    /// Of two runs for which the user said a period, of one at least; then that holds.
    pub(super) fn given(before: &Baseline, after: &Baseline) -> Option<Self> {
        before.period.or(after.period)?;
        let found = |of: &Baseline| of.synthesis.as_ref()?.period();
        let period = |of: &Baseline| of.period.or_else(|| found(of));
        Some(Self::new(
            [before, after],
            [period(before)?, period(after)?],
        ))
    }

    /// What may have a limit, by name.
    pub(super) fn limited(&self) -> [(&'static str, Option<Change>); 2] {
        [("period", Some(self.period_ps)), ("time", self.time_ns)]
    }

    /// As a table.
    pub(super) fn table(&self) -> Table {
        let mut table = table("clock".to_owned());
        self.add_to(&mut table);
        table
    }

    fn add_to(&self, table: &mut Table) {
        let rows = [
            ("period, ns", Some(self.period_ps)),
            ("time, µs", self.time_ns),
        ];
        for (name, change) in rows {
            let Some(change) = change else { continue };
            let delta = match change.delta() {
                0 => Value::Empty,
                delta => Value::Text(format!(
                    "{}{}",
                    if delta < 0 { '-' } else { '+' },
                    thousandths(delta.unsigned_abs())
                )),
            };
            table.push(vec![
                name.into(),
                thousandths(change.before).into(),
                thousandths(change.after).into(),
                delta,
                change.percent_text(),
            ]);
        }
    }
}

/// Of figures before and after.
fn table(title: String) -> Table {
    Table::new(vec![
        Column::text(title),
        Column::number("before"),
        Column::number("after"),
        Column::change("delta"),
        Column::change("%"),
    ])
}

/// How much the clock depends on place and route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Seeds {
    /// How many seeds were tried.
    pub count: usize,
    /// The shortest period, in picoseconds.
    pub shortest_ps: u64,
    /// The longest one.
    pub longest_ps: u64,
}

impl SynthesisChange {
    /// What of two runs can be compared; `None` if one has no area and clock.
    ///
    /// # Errors
    /// When both have, but they can't be compared; tells why.
    pub(super) fn new(before: &Baseline, after: &Baseline) -> Result<Option<Self>, String> {
        let (Some(was), Some(is)) = (&before.synthesis, &after.synthesis) else {
            return Ok(None);
        };
        if was.device != is.device {
            return Err(format!(
                "area and clock are not compared: before, they are of the device {}, and after of {}",
                was.device, is.device
            ));
        }
        if was.has_memories != is.has_memories {
            return Err(
                "area and clock are not compared: the external memories are a part of one side only (`--synth-memories`)"
                    .to_owned(),
            );
        }
        let change = |of: fn(&SynthesisFigures) -> u64| Change {
            before: of(was),
            after: of(is),
        };
        let periods = was.period().zip(is.period());
        let seeds = Seeds::of(was).zip(Seeds::of(is));
        let seeds = seeds.map(|(before, after)| [before, after]);
        Ok(Some(Self {
            device: is.device.clone(),
            luts: change(|of| of.luts),
            ffs: change(|of| of.ffs),
            brams: change(|of| of.brams),
            dsps: change(|of| of.dsps),
            carries: change(|of| of.carries),
            clock: periods.map(|periods| ClockChange::new([before, after], periods.into())),
            is_within_spread: seeds.is_some_and(|[before, after]| {
                before.shortest_ps <= after.longest_ps && after.shortest_ps <= before.longest_ps
            }),
            seeds,
        }))
    }

    /// What may have a limit, by name.
    pub(super) fn limited(&self) -> impl Iterator<Item = (&'static str, Option<Change>)> {
        [
            ("luts", Some(self.luts)),
            ("ffs", Some(self.ffs)),
            ("brams", Some(self.brams)),
            ("dsps", Some(self.dsps)),
            ("carries", Some(self.carries)),
        ]
        .into_iter()
        .chain(self.clock.iter().flat_map(ClockChange::limited))
    }

    /// As a table.
    pub(super) fn table(&self) -> Table {
        let mut table = table(self.device.clone());
        let counts = [
            ("LUT", self.luts),
            ("FF", self.ffs),
            ("BRAM", self.brams),
            ("DSP", self.dsps),
            ("carry", self.carries),
        ];
        for (name, change) in counts {
            if change == Change::default() {
                continue;
            }
            let delta = match change.delta() {
                0 => Value::Empty,
                delta => signed(delta).into(),
            };
            table.push(vec![
                name.into(),
                change.before.into(),
                change.after.into(),
                delta,
                change.percent_text(),
            ]);
        }
        if let Some(clock) = &self.clock {
            clock.add_to(&mut table);
        }
        table
    }

    /// How sure the clock is, in a sentence.
    pub(super) fn spread(&self) -> String {
        let Some(seeds) = self.seeds else {
            return "an estimate by yosys alone: without place and route, nobody knows the clock"
                .to_owned();
        };
        let [before, after] = seeds.map(Seeds::text);
        let is_other = self.clock.is_some_and(|clock| clock.period_ps.delta() != 0);
        let chance = if self.is_within_spread && is_other {
            "; the two overlap, so which clock is faster may be chance"
        } else {
            ""
        };
        format!("place and route: {before} before, {after} after{chance}")
    }
}

impl Seeds {
    fn of(figures: &SynthesisFigures) -> Option<Self> {
        Some(Self {
            count: figures.periods_ps.len(),
            shortest_ps: *figures.periods_ps.first()?,
            longest_ps: *figures.periods_ps.last()?,
        })
    }

    fn text(self) -> String {
        let [shortest, longest] = [self.shortest_ps, self.longest_ps].map(thousandths);
        match self.count {
            1 => format!("{shortest} ns with one seed"),
            count if shortest == longest => format!("{shortest} ns with each of {count} seeds"),
            count => format!("{shortest} to {longest} ns with {count} seeds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::comparison::{Bound, Comparison, baseline_with};

    fn run(cycles: u64, luts: u64, periods: [u64; 3], device: &str) -> Baseline {
        baseline_with(json!({
            "cycles": cycles, "useful": cycles,
            "synthesis": {"device": device, "has_memories": false, "luts": luts, "ffs": 1, "brams": 0, "dsps": 0, "carries": 0,
                          "periods_ps": periods},
        }))
    }

    #[test]
    fn time_is_cycles_times_the_period_and_has_a_limit() {
        let before = run(45_536, 779, [3880, 3890, 3900], "d");
        let after = run(33_632, 991, [4630, 4640, 4650], "d");
        let comparison = Comparison::new(&before, &after);
        let change = comparison.synthesis.as_ref().unwrap();
        let time = change.clock.unwrap().time_ns.unwrap();
        assert_eq!((time.before, time.after), (177_135, 156_052));
        assert!(!change.is_within_spread);
        let judged = |bound: &str| {
            let bound: Bound = bound.parse().unwrap();
            let judged = comparison.judge(&[bound]).unwrap();
            judged[0].exceeded.clone()
        };
        assert_eq!(judged("time=0"), None);
        assert_eq!(judged("luts=28%"), None);
        assert_eq!(
            judged("luts=27%").unwrap(),
            "luts is 991, 779 before: +212 (+27.2 %) is above the limit of 27%"
        );
        assert_eq!(
            judged("period=5%").unwrap(),
            "period is 4,640, 3,890 before: +750 (+19.3 %) is above the limit of 5%"
        );
    }

    #[test]
    fn other_devices_are_not_compared() {
        let before = run(9, 10, [1, 2, 3], "one");
        let after = run(9, 9, [1, 2, 3], "other");
        let comparison = Comparison::new(&before, &after);
        assert_eq!(comparison.synthesis, None);
        let told = "area and clock are not compared: before, they are of the device one, and after of other";
        assert!(comparison.notes.iter().any(|note| note == told));
        let bound: Bound = "luts=5%".parse().unwrap();
        let problem = comparison.judge(&[bound]).unwrap_err();
        assert!(problem.contains("`luts`"), "{problem}");
    }

    #[test]
    fn without_place_and_route_there_is_no_time() {
        let estimate = |luts: u64| {
            baseline_with(json!({
                "cycles": 9, "useful": 9,
                "synthesis": {"device": "d", "has_memories": false, "luts": luts, "ffs": 1, "brams": 0, "dsps": 0, "carries": 0},
            }))
        };
        let comparison = Comparison::new(&estimate(1459), &estimate(1311));
        let change = comparison.synthesis.as_ref().unwrap();
        assert_eq!((change.clock, change.seeds), (None, None));
        assert!(change.spread().starts_with("an estimate by yosys alone"));
        assert_eq!(change.luts.delta(), -148);
        let bound: Bound = "time=2%".parse().unwrap();
        let problem = comparison.judge(&[bound]).unwrap_err();
        assert!(
            problem.contains("no run has an observation `time` to limit"),
            "{problem}"
        );
    }

    #[test]
    fn clocks_that_overlap_are_told() {
        let comparison = Comparison::new(
            &run(9, 10, [10_000, 11_000, 12_000], "d"),
            &run(9, 10, [9_000, 9_500, 10_500], "d"),
        );
        assert_eq!(
            comparison.synthesis.unwrap().spread(),
            "place and route: 10.000 to 12.000 ns with 3 seeds before, 9.000 to 10.500 ns with 3 seeds after; the two overlap, so which clock is \
             faster may be chance"
        );
    }
}
