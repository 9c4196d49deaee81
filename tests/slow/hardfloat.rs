//! The floating-point primitives of petal's own simulator, held against Calyx's wrappers and Berkeley `HardFloat` in Verilator: every output
//! in every cycle, in formats that people use and in odd ones.
//!
//! `HARDFLOAT_LIBRARY` names a folder as for `--library`, with Calyx's `primitives/float` and `HardFloat-1` in it; `PETAL_SEED` chooses other
//! operands.

use std::env;
use std::fmt::Write as _;

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::Value;

use crate::primitives::counting;
use crate::support::workshop::Workshop;

/// Cycles of the run; a power of two.
const CYCLES: usize = 1 << ADDRESS;

const ADDRESS: usize = 16;

/// Bits of exponents and significands.
const FORMATS: [(u32, u32); 6] = [(8, 24), (11, 53), (5, 11), (8, 8), (4, 5), (6, 17)];

/// Bits of integers.
const INTEGERS: [u32; 4] = [32, 64, 16, 7];

struct Bench {
    rng: TestRng,
    cells: String,
    wires: String,
    memories: Vec<String>,
}

impl Bench {
    fn new(seed: u8) -> Self {
        Self {
            rng: TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
            cells: String::new(),
            wires: String::new(),
            memories: Vec::new(),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.rng.next_u64() % limit
    }

    /// A memory with a word for each cycle.
    fn memory(&mut self, name: &str, width: u32, words: &[u64]) {
        let _ = writeln!(
            self.cells,
            "    @external {name} = comb_mem_d1({width}, {CYCLES}, {ADDRESS});"
        );
        let _ = writeln!(self.wires, "    {name}.addr0 = cycle.out;");
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        self.memories.push(format!(
            "\"{name}\": {{\"data\": [{}], \"format\": {{\"numeric_type\": \"bitnum\", \"is_signed\": false, \"width\": {width}}}}}",
            words.join(",")
        ));
    }

    /// A number of a format: often at the edge of something, or near another one.
    fn number(&mut self, (exp, sig): (u32, u32), other: Option<u64>) -> u64 {
        let ones = |bits: u32| u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        let below = sig - 1;
        let any = self.rng.next_u64();
        let sign = (any & 1) << (exp + below);
        let few = ones(below) & !(ones(below) >> (any >> 8 & 7).min(u64::from(below)) as u32);
        let fraction = match any >> 1 & 7 {
            0 => 0,
            1 => ones(below),
            2 => 1,
            3 => few,
            4 => 1 << (any >> 16 & 63).min(u64::from(below) - 1),
            _ => self.rng.next_u64() & ones(below),
        };
        let bias = ones(exp - 1);
        let place = match (any >> 24 & 15, other) {
            (0, _) => 0,
            (1, _) => ones(exp),
            (2, _) => 1,
            (3, _) => ones(exp) - 1,
            (4, _) => bias,
            (5, _) => bias + self.below(u64::from(sig)),
            (6, _) => self.below(u64::from(sig) + 2) & ones(exp),
            (7..=11, Some(other)) => {
                let near = (other >> below & ones(exp)) + self.below(5);
                near.saturating_sub(2) & ones(exp)
            }
            (12, Some(other)) => return other ^ sign,
            _ => self.rng.next_u64() & ones(exp),
        };
        sign | place << below | fraction
    }

    /// A cell; ports are tied to memories, and memories take what it puts out.
    fn cell(
        &mut self,
        name: &str,
        prototype: &str,
        inputs: &[(&str, &str)],
        outputs: &[(&str, u32)],
    ) {
        let _ = writeln!(self.cells, "    {name} = {prototype};");
        for (port, from) in inputs {
            let _ = writeln!(self.wires, "    {name}.{port} = {from};");
        }
        for (port, width) in outputs {
            let memory = format!("{name}_{port}_is");
            self.memory(&memory, *width, &vec![0; CYCLES]);
            let _ = writeln!(
                self.wires,
                "    {memory}.write_data = {name}.{port}; {memory}.write_en = go;"
            );
        }
    }

    /// A memory of random words.
    fn noise(&mut self, name: &str, width: u32, word: impl Fn(&mut Self, u64) -> u64) {
        let mut before = 0;
        let words: Vec<u64> = (0..CYCLES)
            .map(|_| {
                before = word(self, before);
                before
            })
            .collect();
        self.memory(name, width, &words);
    }

    fn fill(&mut self) {
        self.noise("mode", 3, |bench, _| bench.below(8));
        for name in ["control", "sub", "signaling", "has_sign", "root"] {
            self.noise(name, 1, |bench, _| bench.below(2));
        }
        self.noise("asks", 1, |bench, _| u64::from(bench.below(4) > 0));
        // Divisions take long, and go on when nobody waits for them.
        self.noise("holds", 1, |bench, before| match bench.below(24) {
            0 => 1 - before,
            _ => before,
        });
        for format in FORMATS {
            self.fill_format(format);
        }
    }

    fn fill_format(&mut self, format @ (exp, sig): (u32, u32)) {
        let width = exp + sig;
        let of = |what: &str| format!("{what}_{exp}_{sig}");
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for _ in 0..CYCLES {
            let one = self.number(format, None);
            left.push(one);
            right.push(self.number(format, Some(one)));
        }
        self.memory(&of("left"), width, &left);
        self.memory(&of("right"), width, &right);
        let (a, b) = (of("left"), of("right"));
        let operands = [format!("{a}.read_data"), format!("{b}.read_data")];
        let common = [("left", &*operands[0]), ("right", &*operands[1])];
        let rounded = [
            ("control", "control.read_data"),
            ("roundingMode", "mode.read_data"),
        ];
        let short = [("go", "asks.read_data")];
        let parameters = format!("({exp}, {sig}, {width})");
        let results = [("out", width), ("exceptionFlags", 5), ("done", 1)];
        let add = [&common[..], &rounded, &short, &[("subOp", "sub.read_data")]].concat();
        // HardFloat's sums are wrong in other formats, and petal leaves them to it.
        if sig.next_power_of_two() >= sig + 3 {
            self.cell(
                &of("add"),
                &format!("std_addFN{parameters}"),
                &add,
                &results,
            );
        }
        let mul = [&common[..], &rounded, &short].concat();
        self.cell(
            &of("mul"),
            &format!("std_mulFN{parameters}"),
            &mul,
            &results,
        );
        let compare = [&common[..], &short, &[("signaling", "signaling.read_data")]].concat();
        let orders = [
            ("lt", 1),
            ("eq", 1),
            ("gt", 1),
            ("unordered", 1),
            ("exceptionFlags", 5),
            ("done", 1),
        ];
        self.cell(
            &of("compare"),
            &format!("std_compareFN{parameters}"),
            &compare,
            &orders,
        );
        let long = [("go", "holds.read_data"), ("sqrtOp", "root.read_data")];
        let divide = [&common[..], &rounded, &long].concat();
        self.cell(
            &of("divide"),
            &format!("std_divSqrtFN{parameters}"),
            &divide,
            &results,
        );
        for int in INTEGERS {
            let name = format!("{}_{int}", of("whole"));
            let inputs = [
                ("in", &*operands[0]),
                ("go", "asks.read_data"),
                ("signedOut", "has_sign.read_data"),
            ];
            let prototype = format!("std_fpToInt({exp}, {sig}, {width}, {int})");
            self.cell(&name, &prototype, &inputs, &[("out", int), ("done", 1)]);
            let name = format!("{}_{int}", of("float"));
            let memory = format!("{name}_of");
            self.noise(&memory, int, |bench, _| {
                let by = u32::try_from(bench.below(u64::from(int))).unwrap_or(0);
                let any = bench.rng.next_u64() >> (64 - int) >> by;
                match bench.below(8) {
                    0 => any.wrapping_neg() & u64::MAX >> (64 - int),
                    1 => 1 << (int - 1),
                    _ => any,
                }
            });
            let from = format!("{memory}.read_data");
            let inputs = [
                ("in", &*from),
                ("go", "asks.read_data"),
                ("signedIn", "has_sign.read_data"),
            ];
            let prototype = format!("std_intToFp({int}, {exp}, {sig}, {width})");
            self.cell(&name, &prototype, &inputs, &[("out", width), ("done", 1)]);
        }
    }

    fn design(&self) -> String {
        let imports = [
            "core",
            "binary_operators",
            "memories/comb",
            "float/addFN",
            "float/mulFN",
            "float/compareFN",
            "float/divSqrtFN",
            "float/fpToInt",
            "float/intToFp",
        ];
        counting(&imports, ADDRESS, &self.cells, &self.wires)
    }
}

#[test]
fn floats_are_those_of_hardfloat() {
    let Some(library) = env::var_os("HARDFLOAT_LIBRARY") else {
        eprintln!(
            "not run: HARDFLOAT_LIBRARY names no folder with Calyx's floating-point primitives and HardFloat"
        );
        return;
    };
    let library = library.to_str().expect("the folder's name is text");
    let seed: u8 = env::var("PETAL_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    let mut bench = Bench::new(seed);
    bench.fill();
    let workshop = Workshop::empty();
    workshop.write("design.futil", bench.design());
    workshop.write(
        "design.futil.data",
        format!("{{{}}}", bench.memories.join(",\n")),
    );
    let run = |more: &[&str]| -> Value {
        let run = [
            "run",
            "design.futil",
            "--data",
            "design.futil.data",
            "--passes",
            "no-opt",
            "--unverified",
            "--out",
            "out",
        ];
        workshop.succeeds(&[&run, more].concat());
        serde_json::from_str(&workshop.read("out/memories.json")).expect("it is JSON")
    };
    let hardfloat = run(&["--library", library, "--simulator", "verilator"]);
    // Its own declarations, and the library's.
    for more in [&[][..], &["--library", library]] {
        let own = run(&[more, &["--simulator", "embedded"]].concat());
        let mut differing = String::new();
        for (name, expected) in hardfloat.as_object().expect("there are memories") {
            let (found, expected) = (&own[name]["data"], &expected["data"]);
            let words = |value: &Value| value.as_array().expect("it has words").clone();
            let pairs = words(found).into_iter().zip(words(expected));
            let mut wrong = pairs.enumerate().filter(|(_, (one, other))| one != other);
            if let Some((cycle, (found, expected))) = wrong.next() {
                let more = wrong.count();
                let _ = writeln!(
                    differing,
                    "{name} in cycle {cycle}: {found}, expected {expected}; and {more} more"
                );
            }
        }
        assert!(differing.is_empty(), "seed {seed}, {more:?}:\n{differing}");
    }
}
