//! Random expressions, computed cycle by cycle from a waveform and from call trees, in code that shares nothing with petal.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use proptest::prelude::RngExt as _;
use proptest::test_runner::TestRng;
use serde_json::Value;

use crate::support::samples::samples;

/// What a test knows of a run.
pub struct Plain {
    /// The values of main's cell ports in each cycle, by path, with their widths.
    pub signals: BTreeMap<String, (u32, Vec<u64>)>,
    /// In which cycles each group and statement of main is active, by path.
    pub active: BTreeMap<String, Vec<bool>>,
    pub cycles: usize,
}

/// The ports that cells have.
const PORTS: [&str; 9] = [
    "out",
    "in",
    "write_en",
    "done",
    "left",
    "right",
    "go",
    "addr0",
    "read_data",
];

impl Plain {
    /// Of a run whose call trees `petal trace --json` printed.
    pub fn of(vcd: &Path, trees: &str) -> Self {
        let (signals, cycles) = signals(vcd);
        let mut active: BTreeMap<String, Vec<bool>> = BTreeMap::new();
        for line in trees.lines() {
            let run: Value = serde_json::from_str(line).unwrap();
            let [start, end] = ["start", "end"].map(|key| run[key].as_u64().unwrap());
            // Only what main itself holds.
            let mut inside = None;
            for node in run["tree"].as_array().unwrap() {
                let depth = node["depth"].as_u64().unwrap();
                if inside.is_some_and(|cell| depth > cell) {
                    continue;
                }
                inside = (node["kind"] == "cell" && depth > 0).then_some(depth);
                let label = node["label"].as_str().unwrap();
                let is_path = !label.contains(['(', ' ']) && inside.is_none() && depth > 0;
                if is_path && ["group", "control"].contains(&node["kind"].as_str().unwrap()) {
                    let all = active.entry(format!("main.{label}"));
                    let all = all.or_insert_with(|| vec![false; cycles]);
                    for cycle in start..end {
                        all[usize::try_from(cycle).unwrap()] = true;
                    }
                }
            }
        }
        Self {
            signals,
            active,
            cycles,
        }
    }
}

/// The ports of main's cells that the source has, with their widths, in each cycle; and how many cycles there are.
fn signals(path: &Path) -> (BTreeMap<String, (u32, Vec<u64>)>, usize) {
    let (all, cycles) = samples(path, |name| !name.starts_with("petal_"));
    let named = all.into_iter().filter_map(|((scope, name), values)| {
        let port = PORTS
            .iter()
            .find(|port| name.ends_with(&format!("_{port}")))?;
        let cell = name.strip_suffix(port)?.strip_suffix('_')?;
        // A constant, or a register of the compiler.
        let is_source = cell.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_wanted = is_source && scope.len() == 1 && values.0 <= 64;
        is_wanted.then(|| (format!("main.{cell}.{port}"), values))
    });
    (named.collect(), cycles)
}

/// A random expression: its text, its width, and its value in each cycle.
pub struct Random {
    pub text: String,
    pub width: u32,
    pub values: Vec<u64>,
}

/// Makes random expressions about a run.
pub struct Generator<'a> {
    pub plain: &'a Plain,
    pub rng: TestRng,
}

fn mask(width: u32) -> u64 {
    if width == 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl Generator<'_> {
    fn pick(&mut self, below: usize) -> usize {
        self.rng.random_range(0..below)
    }

    /// One with so many levels at most.
    pub fn expression(&mut self, depth: u32) -> Random {
        if depth == 0 {
            return self.leaf();
        }
        match self.pick(12) {
            0 => self.leaf(),
            1..=3 => self.comparison(depth),
            4 | 5 => self.arithmetic(depth),
            6 => {
                let of = self.expression(depth - 1);
                let high = u32::try_from(self.pick(of.width as usize)).unwrap();
                let low = u32::try_from(self.pick(high as usize + 1)).unwrap();
                let width = high - low + 1;
                let values = of.values.iter().map(|value| value >> low & mask(width));
                Random {
                    text: format!("({})[{high}:{low}]", of.text),
                    width,
                    values: values.collect(),
                }
            }
            7 | 8 => self.of_two_bits(depth),
            _ => self.over_time(depth),
        }
    }

    fn leaf(&mut self) -> Random {
        if self.pick(3) == 0 && !self.plain.active.is_empty() {
            let at = self.pick(self.plain.active.len());
            let (path, active) = self.plain.active.iter().nth(at).unwrap();
            return Random {
                text: path.clone(),
                width: 1,
                values: active.iter().map(|&active| u64::from(active)).collect(),
            };
        }
        let at = self.pick(self.plain.signals.len());
        let (path, (width, values)) = self.plain.signals.iter().nth(at).unwrap();
        Random {
            text: path.clone(),
            width: *width,
            values: values.clone(),
        }
    }

    /// A number that some values may be.
    fn number(&mut self, of: &Random) -> u64 {
        let values: HashSet<u64> = of.values.iter().copied().collect();
        let mut values: Vec<u64> = values.into_iter().collect();
        values.sort_unstable();
        if values.is_empty() || self.pick(4) == 0 {
            return self.rng.random::<u64>() & mask(of.width);
        }
        values[self.pick(values.len())]
    }

    fn comparison(&mut self, depth: u32) -> Random {
        let of = self.expression(depth - 1);
        let number = self.number(&of);
        if self.pick(7) == 0 {
            let signed =
                |value: u64| i128::from(value) - (i128::from(value >> (of.width - 1)) << of.width);
            let values = of
                .values
                .iter()
                .map(|&value| u64::from(signed(value) < signed(number)));
            return Random {
                text: format!("slt({}, {number})", of.text),
                width: 1,
                values: values.collect(),
            };
        }
        let (op, holds): (&str, fn(u64, u64) -> bool) = [
            ("==", (|a, b| a == b) as fn(u64, u64) -> bool),
            ("!=", |a, b| a != b),
            ("<", |a, b| a < b),
            ("<=", |a, b| a <= b),
            (">", |a, b| a > b),
            (">=", |a, b| a >= b),
        ][self.pick(6)];
        let values = of
            .values
            .iter()
            .map(|&value| u64::from(holds(value, number)));
        Random {
            text: format!("({} {op} {number})", of.text),
            width: 1,
            values: values.collect(),
        }
    }

    fn arithmetic(&mut self, depth: u32) -> Random {
        type Operation = fn(u128, u128) -> u128;
        let of = self.expression(depth - 1);
        let (width, number) = (of.width, self.number(&of));
        let operations: [(&str, Operation); 10] = [
            ("+", |a, b| a + b),
            ("-", |a, b| a + (1 << 64) - b),
            ("*", |a, b| a * b),
            ("/", |a, b| a.checked_div(b).unwrap_or(0)),
            ("%", |a, b| a.checked_rem(b).unwrap_or(0)),
            ("&", |a, b| a & b),
            ("|", |a, b| a | b),
            ("^", |a, b| a ^ b),
            ("<<", |a, b| if b >= 64 { 0 } else { a << b }),
            (">>", |a, b| if b >= 64 { 0 } else { a >> b }),
        ];
        let (op, result) = operations[self.pick(10)];
        let values = of.values.iter().map(|&value| {
            let result = result(u128::from(value), u128::from(number));
            u64::try_from(result & u128::from(mask(width))).unwrap()
        });
        Random {
            text: format!("({} {op} {width}'d{number})", of.text),
            width,
            values: values.collect(),
        }
    }

    fn bit(&mut self, depth: u32) -> Random {
        let of = self.expression(depth);
        if of.width == 1 {
            return of;
        }
        let values = of.values.iter().map(|&value| u64::from(value != 0));
        Random {
            text: format!("({} != 0)", of.text),
            width: 1,
            values: values.collect(),
        }
    }

    fn of_two_bits(&mut self, depth: u32) -> Random {
        let (a, b) = (self.bit(depth - 1), self.bit(depth - 1));
        let is_and = self.pick(2) == 0;
        let both = a.values.iter().zip(&b.values);
        let values = both.map(|(a, b)| if is_and { a & !b & 1 } else { a | (!b & 1) });
        let op = if is_and { "&&" } else { "||" };
        Random {
            text: format!("({} {op} !{})", a.text, b.text),
            width: 1,
            values: values.collect(),
        }
    }

    fn over_time(&mut self, depth: u32) -> Random {
        let kind = self.pick(5);
        let of = if kind < 2 {
            self.bit(depth - 1)
        } else {
            self.expression(depth - 1)
        };
        let before = |cycles: usize| {
            let none = std::iter::repeat_n(0, cycles);
            none.chain(of.values.iter().copied()).take(of.values.len())
        };
        let pairs = || of.values.iter().copied().zip(before(1));
        let (name, width, values): (_, _, Vec<u64>) = match kind {
            0 => (
                "rose",
                1,
                pairs().map(|(now, past)| now & !past & 1).collect(),
            ),
            1 => (
                "fell",
                1,
                pairs().map(|(now, past)| !now & past & 1).collect(),
            ),
            2 => (
                "changed",
                1,
                // Nothing is before the run that the first cycle could differ from.
                pairs()
                    .enumerate()
                    .map(|(cycle, (now, past))| u64::from(cycle > 0 && now != past))
                    .collect(),
            ),
            3 => {
                let toggles = pairs().enumerate().map(|(cycle, (now, past))| match cycle {
                    0 => 0,
                    _ => u64::from((now ^ past).count_ones()),
                });
                ("toggles", 7, toggles.collect())
            }
            _ => {
                let cycles = self.pick(3) + 1;
                return Random {
                    text: format!("past({}, {cycles})", of.text),
                    width: of.width,
                    values: before(cycles).collect(),
                };
            }
        };
        Random {
            text: format!("{name}({})", of.text),
            width,
            values,
        }
    }
}
