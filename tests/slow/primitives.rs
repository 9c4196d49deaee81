//! Every primitive of the Calyx standard library, in random widths and with random inputs: the
//! embedded simulator gives the same outputs as the primitive's Verilog in Verilator, in every cycle.
//!
//! One design holds all cells. Memories hold the inputs of every cycle, and others take the
//! outputs. `PETAL_SEED` chooses other widths and inputs.

use std::fmt::Write as _;

use num_bigint::BigUint;
use petal_verilator::{Optimisation, Trace};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::support;

/// Cycles of the run; a power of two.
const CYCLES: usize = 256;

const ADDRESS: usize = 8;

const WIDTHS: [u64; 20] = [
    1, 2, 3, 5, 8, 13, 16, 24, 31, 32, 33, 47, 48, 63, 64, 65, 96, 127, 128, 150,
];

/// How often each primitive is tried.
const TRIES: usize = 2;

const UNSYNTHESIZABLE: [&str; 6] = [
    "std_unsyn_mult",
    "std_unsyn_div",
    "std_unsyn_mod",
    "std_unsyn_smult",
    "std_unsyn_sdiv",
    "std_unsyn_smod",
];

struct Bench {
    rng: TestRng,
    cells: String,
    wires: String,
    memories: Vec<String>,
    count: usize,
}

impl Bench {
    fn new(seed: u8) -> Self {
        Self {
            rng: TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
            cells: String::new(),
            wires: String::new(),
            memories: Vec::new(),
            count: 0,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.rng.next_u64() % limit
    }

    fn width(&mut self) -> u64 {
        let at = self.below(WIDTHS.len() as u64);
        WIDTHS[usize::try_from(at).expect("it is small")]
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A value; often one at the edge of the range.
    fn value(&mut self, width: u64) -> BigUint {
        let modulus = BigUint::from(1_u8) << width;
        let words = width.div_ceil(64);
        let any = (0..words).fold(BigUint::ZERO, |value, _| {
            (value << 64) + self.rng.next_u64()
        }) % &modulus;
        match self.below(8) {
            0 => BigUint::ZERO,
            1 => modulus - 1_u8,
            2 => BigUint::from(1_u8) << (width - 1),
            3 | 4 => any % (width + 2) % modulus,
            _ => any,
        }
    }

    /// Adds a memory with these words.
    fn memory(&mut self, name: &str, width: u64, words: &[BigUint]) {
        let _ = writeln!(
            self.cells,
            "    @external {name} = comb_mem_d1({width}, {CYCLES}, {ADDRESS});"
        );
        let _ = writeln!(self.wires, "    {name}.addr0 = cycle.out;");
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        self.memories.push(format!(
            "\"{name}\": {{\"data\": [{}], \"format\": {{\"numeric_type\": \"bitnum\", \
             \"is_signed\": false, \"width\": {width}}}}}",
            words.join(", ")
        ));
    }

    /// Adds a cell. The inputs come with their words, the outputs with their widths.
    fn cell(
        &mut self,
        prototype: &str,
        inputs: &[(&str, u64, Vec<BigUint>)],
        outputs: &[(&str, u64)],
    ) {
        let name = format!("c{}", self.count);
        self.count += 1;
        let _ = writeln!(self.cells, "    {name} = {prototype};");
        for (port, width, words) in inputs {
            let memory = format!("{name}_{port}_of");
            self.memory(&memory, *width, words);
            let _ = writeln!(self.wires, "    {name}.{port} = {memory}.read_data;");
        }
        for (port, width) in outputs {
            let memory = format!("{name}_{port}_is");
            self.memory(&memory, *width, &vec![BigUint::ZERO; CYCLES]);
            let _ = writeln!(
                self.wires,
                "    {memory}.write_data = {name}.{port}; {memory}.write_en = go;"
            );
        }
    }

    fn words(&mut self, width: u64) -> Vec<BigUint> {
        (0..CYCLES).map(|_| self.value(width)).collect()
    }

    /// An operation on inputs of these widths.
    fn comb(&mut self, prototype: &str, inputs: &[(&str, u64)], out: u64) {
        let inputs: Vec<_> = inputs
            .iter()
            .map(|&(port, width)| (port, width, self.words(width)))
            .collect();
        self.cell(prototype, &inputs, &[("out", out)]);
    }

    /// The inputs of a unit that checks itself: it may finish its work before the next one, and the
    /// second operand is not 0.
    fn operands(
        &mut self,
        ports: &[&'static str],
        width: u64,
    ) -> Vec<(&'static str, u64, Vec<BigUint>)> {
        let mut go = Vec::new();
        let mut words: Vec<Vec<BigUint>> = vec![Vec::new(); ports.len()];
        while go.len() < CYCLES {
            let values: Vec<BigUint> = (0..ports.len())
                .map(|at| {
                    let value = halved(self.value(width), width);
                    if at == 1 && value == BigUint::ZERO {
                        BigUint::from(1_u8)
                    } else {
                        value
                    }
                })
                .collect();
            // A unit that still sees `go` when it is done begins again.
            let busy = self.between(1, (width / 2).max(1));
            let all = width + 4 + self.below(3);
            for at in 0..all {
                go.push(BigUint::from(u8::from(at < busy)));
                for (words, value) in words.iter_mut().zip(&values) {
                    words.push(value.clone());
                }
            }
        }
        go.truncate(CYCLES);
        let mut inputs = vec![("go", 1, go)];
        for (&port, mut words) in ports.iter().zip(words) {
            words.truncate(CYCLES);
            inputs.push((port, width, words));
        }
        inputs
    }

    /// Inputs without order.
    fn noise(&mut self, ports: &[(&'static str, u64)]) -> Vec<(&'static str, u64, Vec<BigUint>)> {
        ports
            .iter()
            .map(|&(port, width)| (port, width, self.words(width)))
            .collect()
    }

    fn add_combinational(&mut self) {
        for name in [
            "std_and", "std_or", "std_xor", "std_add", "std_sub", "std_sadd", "std_ssub",
            "std_lsh", "std_rsh", "std_slsh", "std_srsh",
        ] {
            let w = self.width();
            self.comb(&format!("{name}({w})"), &[("left", w), ("right", w)], w);
        }
        for name in [
            "std_gt", "std_lt", "std_eq", "std_neq", "std_ge", "std_le", "std_sgt", "std_slt",
            "std_seq", "std_sneq", "std_sge", "std_sle",
        ] {
            let w = self.width();
            self.comb(&format!("{name}({w})"), &[("left", w), ("right", w)], 1);
        }
        for (name, is_order) in [
            ("std_fp_add", false),
            ("std_fp_sub", false),
            ("std_fp_sadd", false),
            ("std_fp_ssub", false),
            ("std_fp_gt", true),
            ("std_fp_sgt", true),
            ("std_fp_slt", true),
        ] {
            let w = self.width().max(2);
            let int = self.between(1, w - 1);
            let prototype = format!("{name}({w}, {int}, {})", w - int);
            let out = if is_order { 1 } else { w };
            self.comb(&prototype, &[("left", w), ("right", w)], out);
        }
        for name in ["std_not", "std_wire"] {
            let w = self.width();
            self.comb(&format!("{name}({w})"), &[("in", w)], w);
        }
        let w = self.width();
        self.comb(
            &format!("std_mux({w})"),
            &[("cond", 1), ("tru", w), ("fal", w)],
            w,
        );
        let (a, b) = (self.width(), self.width());
        let (low, high) = (a.min(b), a.max(b));
        self.comb(&format!("std_slice({high}, {low})"), &[("in", high)], low);
        self.comb(&format!("std_pad({low}, {high})"), &[("in", low)], high);
        self.comb(&format!("std_signext({low}, {high})"), &[("in", low)], high);
        self.comb(
            &format!("std_cat({a}, {b}, {})", a + b),
            &[("left", a), ("right", b)],
            a + b,
        );
        let end = self.below(high);
        let start = self.between(0, end);
        let out = end - start + 1;
        self.comb(
            &format!("std_bit_slice({high}, {start}, {end}, {out})"),
            &[("in", high)],
            out,
        );
        let (w, value) = (self.width(), self.below(1 << 31));
        let value = if w < 31 { value % (1 << w) } else { value };
        self.cell(&format!("std_const({w}, {value})"), &[], &[("out", w)]);
        self.cell(&format!("undef({w})"), &[], &[("out", w)]);
    }

    fn add_unsynthesizable(&mut self) {
        for name in UNSYNTHESIZABLE {
            let w = self.width();
            self.comb(&format!("{name}({w})"), &[("left", w), ("right", w)], w);
        }
    }

    /// What petal adds to the standard library: its Verilog is in `program/library`.
    fn add_newer(&mut self) {
        let (w, value) = (self.width(), self.below(1 << 31));
        self.comb(&format!("std_const_mult({w}, {value})"), &[("in", w)], w);
        let w = self.width();
        let inputs = self.noise(&[("write_en", 1), ("in", w)]);
        self.cell(
            &format!("std_bypass_reg({w})"),
            &inputs,
            &[("out", w), ("done", 1)],
        );
        let w = self.width();
        let inputs = self.noise(&[("i_valid", 1), ("i_ready", 1), ("in", w)]);
        self.cell(
            &format!("std_skid_buffer({w})"),
            &inputs,
            &[("out", w), ("o_valid", 1), ("o_ready", 1)],
        );
    }

    fn add_units(&mut self) {
        let divided = |w: u64| [("out_quotient", w), ("out_remainder", w), ("done", 1)];
        for name in ["std_mult_pipe", "std_smult_pipe"] {
            let w = self.width();
            let inputs = self.noise(&[("go", 1), ("left", w), ("right", w)]);
            self.cell(&format!("{name}({w})"), &inputs, &[("out", w), ("done", 1)]);
        }
        for name in ["std_div_pipe", "std_sdiv_pipe"] {
            let w = self.width().clamp(2, 65);
            let inputs = self.operands(&["left", "right"], w);
            self.cell(&format!("{name}({w})"), &inputs, &divided(w));
        }
        for name in ["std_fp_mult_pipe", "std_fp_smult_pipe"] {
            let w = self.width().max(2);
            let int = self.between(1, w - 1);
            let inputs = self.noise(&[("go", 1), ("left", w), ("right", w)]);
            let prototype = format!("{name}({w}, {int}, {})", w - int);
            self.cell(&prototype, &inputs, &[("out", w), ("done", 1)]);
        }
        for name in ["std_fp_div_pipe", "std_fp_sdiv_pipe"] {
            for ordered in [false, true] {
                let w = self.width().clamp(2, 65);
                let int = self.between(1, w - 1);
                let inputs = if ordered {
                    self.operands(&["left", "right"], w)
                } else {
                    self.noise(&[("go", 1), ("left", w), ("right", w)])
                };
                let prototype = format!("{name}({w}, {int}, {})", w - int);
                self.cell(&prototype, &inputs, &divided(w));
            }
        }
        let w = self.width().clamp(2, 48);
        let inputs = self.operands(&["in"], w);
        self.cell(&format!("sqrt({w})"), &inputs, &[("out", w), ("done", 1)]);
        for ordered in [false, true] {
            let w = self.width().max(4);
            let int = self.between(1, w - 1);
            // An odd sum of the bits is not what the Verilog is made for.
            let int = if (w - int) % 2 == 1 {
                int - int / (w - 1) + 1
            } else {
                int
            };
            let (int, frac) = if int >= w { (w - 2, 2) } else { (int, w - int) };
            let inputs = if ordered {
                self.operands(&["in"], w)
            } else {
                self.noise(&[("go", 1), ("in", w)])
            };
            self.cell(
                &format!("fp_sqrt({w}, {int}, {frac})"),
                &inputs,
                &[("out", w), ("done", 1)],
            );
        }
        let w = self.width();
        let inputs = self.noise(&[("left", w), ("right", w)]);
        self.cell(&format!("pipelined_mult({w})"), &inputs, &[("out", w)]);
        let w = self.width().max(2);
        let int = self.between(1, w - 1);
        let inputs = self.noise(&[("left", w), ("right", w)]);
        self.cell(
            &format!("pipelined_fp_smult({w}, {int}, {})", w - int),
            &inputs,
            &[("out", w)],
        );
        let w = self.width();
        let inputs = self.noise(&[("stall", 1), ("left", w), ("right", w)]);
        self.cell(&format!("stallable_mult({w})"), &inputs, &[("out", w)]);
        let w = self.width();
        let inputs = self.noise(&[("write_en", 1), ("in", w)]);
        self.cell(
            &format!("std_reg({w})"),
            &inputs,
            &[("out", w), ("done", 1)],
        );
        let w = self.width();
        let inputs = self.noise(&[
            ("in_0", w),
            ("in_1", w),
            ("read_en_0", 1),
            ("read_en_1", 1),
            ("write_en_0", 1),
            ("write_en_1", 1),
        ]);
        self.cell(
            &format!("std_sync_reg({w})"),
            &inputs,
            &[
                ("out_0", w),
                ("out_1", w),
                ("write_done_0", 1),
                ("write_done_1", 1),
                ("read_done_0", 1),
                ("read_done_1", 1),
                ("peek", w),
            ],
        );
    }

    fn add_memories(&mut self) {
        for dims in 1..=4_usize {
            for kind in ["comb", "seq", "dyn"] {
                let w = self.width();
                let sizes: Vec<u64> = (0..dims).map(|_| self.between(1, 6)).collect();
                let bits: Vec<u64> = (0..dims).map(|_| self.between(3, 5)).collect();
                let list = |numbers: &[u64]| {
                    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                    texts.join(", ")
                };
                let prototype =
                    format!("{kind}_mem_d{dims}({w}, {}, {})", list(&sizes), list(&bits));
                let mut inputs = Vec::new();
                for (dim, port) in ["addr0", "addr1", "addr2", "addr3"]
                    .into_iter()
                    .enumerate()
                    .take(dims)
                {
                    let words = (0..CYCLES)
                        .map(|_| BigUint::from(self.below(sizes[dim])))
                        .collect();
                    inputs.push((port, bits[dim], words));
                }
                inputs.extend(self.noise(&[("write_data", w), ("write_en", 1)]));
                if kind != "comb" {
                    inputs.extend(self.noise(&[("content_en", 1)]));
                }
                self.cell(&prototype, &inputs, &[("read_data", w), ("done", 1)]);
            }
        }
    }

    fn design(&self) -> String {
        let imports = [
            "core",
            "binary_operators",
            "unsynthesizable",
            "math",
            "pipelined",
            "stallable",
            "sync",
            "memories/comb",
            "memories/seq",
            "memories/dyn",
        ];
        counting(&imports, ADDRESS, &self.cells, &self.wires)
    }
}

/// A design without control, whose register `cycle` counts all cycles that have an address of so many bits.
pub fn counting(imports: &[&str], address: usize, cells: &str, wires: &str) -> String {
    let imports = imports.iter();
    let imports = imports.map(|file| format!("import \"primitives/{file}.futil\";\n"));
    format!(
        r#"{}component main() -> () {{
  cells {{
    cycle = std_reg({address});
    next = std_add({address});
    last = std_eq({address});
{cells}  }}
  wires {{
    next.left = cycle.out;
    next.right = {address}'d1;
    last.left = cycle.out;
    last.right = {address}'d{};
    cycle.in = next.out;
    cycle.write_en = go;
    done = last.out;
{wires}  }}
  control {{}}
}}
"#,
        imports.collect::<String>(),
        (1_u64 << address) - 1,
    )
}

/// A signed value divided by two, rounded down. The self test of `std_sdiv_pipe` adds two remainders
/// and fails where that overflows.
fn halved(value: BigUint, width: u64) -> BigUint {
    let sign = (&value >> (width - 1)) << (width - 1);
    (value >> 1) | sign
}

#[test]
fn primitives_do_what_their_verilog_does() {
    let seed: u8 = std::env::var("PETAL_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    let mut bench = Bench::new(seed);
    for _ in 0..TRIES {
        bench.add_combinational();
        bench.add_unsynthesizable();
        bench.add_newer();
        bench.add_units();
        bench.add_memories();
    }
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let file = dir.path().join("design.futil");
    let data = format!("{{{}}}", bench.memories.join(",\n"));
    std::fs::write(&file, bench.design()).expect("the temporary folder can be written");
    std::fs::write(dir.path().join("design.futil.data"), data)
        .expect("the temporary folder can be written");
    let (design, metadata) = support::instrument(&file, "no-opt");
    let verilated = support::simulate(&file, &design, Trace::Off, Optimisation::Debug);
    let (memories, _) = support::embedded(&file, &design, &metadata);
    let cells: Vec<&str> = bench.cells.lines().map(str::trim).collect();
    let mut differing = String::new();
    for (name, expected) in verilated.memories.words() {
        let found = &memories.words()[name];
        let cycles = expected.keys().chain(found.keys());
        let at = cycles.filter(|at| expected.get(at) != found.get(at)).min();
        if let Some(at) = at {
            let cell = name.split('_').next().unwrap_or_default();
            let cell = cells
                .iter()
                .find(|line| line.starts_with(&format!("{cell} =")));
            let _ = writeln!(
                differing,
                "{cell:?}: {name} in cycle {at}: {}, expected {}",
                found.get(at).cloned().unwrap_or_default(),
                expected.get(at).cloned().unwrap_or_default()
            );
        }
    }
    assert!(differing.is_empty(), "seed {seed}:\n{differing}");
}
