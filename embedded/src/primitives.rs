//! The primitives of the Calyx standard library, each as its Verilog describes it: the outputs as
//! functions of state and inputs, and the state after the clock's edge.

use std::collections::HashMap;

use crate::graph::{Check, Graph, MemId, NodeId, Op, Write};

/// What a cell of a primitive does.
#[derive(Default)]
pub(crate) struct Unit {
    /// The outputs that depend on state alone.
    pub outputs: Vec<(&'static str, NodeId)>,
    /// The output that depends on inputs in the same cycle.
    pub comb: Option<Comb>,
    /// What happens at the edge.
    pub edge: Option<Edge>,
    /// Its memory.
    pub memory: Option<MemId>,
}

/// Gives the values of a cell's inputs.
pub(crate) struct Inputs<'a> {
    pub values: &'a HashMap<String, NodeId>,
}

impl Inputs<'_> {
    /// The value at an input. One that the cell does not have is not connected: 0.
    fn get(&self, graph: &mut Graph, name: &str) -> NodeId {
        match self.values.get(name) {
            Some(&node) => node,
            None => graph.constant(0u8, 1),
        }
    }
}

type Build<T> = Box<dyn FnOnce(&mut Graph, &Inputs<'_>) -> T>;

/// An output that depends on inputs.
pub(crate) struct Comb {
    pub output: &'static str,
    /// The inputs that it depends on; `None`: all.
    pub inputs: Option<Vec<String>>,
    pub build: Build<NodeId>,
}

type Edge = Build<()>;

/// The parameters of a cell and its path, for messages.
pub(crate) struct Cell<'a> {
    pub primitive: &'a str,
    pub path: String,
    pub parameters: Vec<(String, u64)>,
}

impl Cell<'_> {
    fn parameter(&self, name: &str) -> u64 {
        self.parameters
            .iter()
            .find(|(known, _)| known == name)
            // As in Verilog, where all parameters have defaults.
            .map_or(0, |&(_, value)| value)
    }

    fn width(&self, name: &str) -> u32 {
        u32::try_from(self.parameter(name)).unwrap_or(u32::MAX)
    }

    /// The unit of this cell; `None` if it is not a primitive of the standard library.
    pub fn unit(&self, graph: &mut Graph) -> Option<Unit> {
        self.operation()
            .or_else(|| self.wiring(graph))
            .or_else(|| self.sequential(graph))
            .or_else(|| self.memory(graph))
    }

    /// Operations on two operands of the same width.
    fn operation(&self) -> Option<Unit> {
        let width = self.width("WIDTH");
        let binary = |op: Op, width: u32| {
            comb(move |g, i| {
                let (left, right) = (i.get(g, "left"), i.get(g, "right"));
                g.op(op, width, &[left, right])
            })
        };
        // Whether the first operand is less than the second, after swapping and negation.
        let order = |less: Op, swapped: bool, negated: bool| {
            comb(move |g, i| {
                let (left, right) = (i.get(g, "left"), i.get(g, "right"));
                let operands = if swapped {
                    [right, left]
                } else {
                    [left, right]
                };
                let result = g.op(less, 1, &operands);
                if negated { g.not(result) } else { result }
            })
        };
        Some(match self.primitive {
            "std_and" => binary(Op::And, width),
            "std_or" => binary(Op::Or, width),
            "std_xor" => binary(Op::Xor, width),
            "std_add" | "std_sadd" | "std_fp_add" | "std_fp_sadd" => binary(Op::Add, width),
            "std_sub" | "std_ssub" | "std_fp_sub" | "std_fp_ssub" => binary(Op::Sub, width),
            "std_unsyn_mult" | "std_unsyn_smult" => binary(Op::Mul, width),
            "std_unsyn_div" | "std_unsyn_sdiv" => binary(Op::Div, width),
            "std_unsyn_mod" | "std_unsyn_smod" => binary(Op::Rem, width),
            "std_lsh" | "std_slsh" => binary(Op::Shl, width),
            "std_rsh" => binary(Op::Shr, width),
            "std_srsh" => binary(Op::Sar, width),
            "std_eq" | "std_seq" => binary(Op::Eq, 1),
            "std_neq" | "std_sneq" => comb(|g, i| {
                let (left, right) = (i.get(g, "left"), i.get(g, "right"));
                g.ne(left, right)
            }),
            "std_lt" => order(Op::Lt, false, false),
            "std_gt" | "std_fp_gt" => order(Op::Lt, true, false),
            "std_le" => order(Op::Lt, true, true),
            "std_ge" => order(Op::Lt, false, true),
            "std_slt" | "std_fp_slt" => order(Op::SLt, false, false),
            "std_sgt" | "std_fp_sgt" => order(Op::SLt, true, false),
            "std_sle" => order(Op::SLt, true, true),
            "std_sge" => order(Op::SLt, false, true),
            _ => return None,
        })
    }

    /// Constants, wires, and what takes values apart and puts them together.
    fn wiring(&self, graph: &mut Graph) -> Option<Unit> {
        let width = self.width("WIDTH");
        let (input, out) = (self.width("IN_WIDTH"), self.width("OUT_WIDTH"));
        let constant = |node: NodeId| Unit {
            outputs: vec![("out", node)],
            ..Unit::default()
        };
        let unary = |op: Op, width: u32| {
            comb(move |g, i| {
                let value = i.get(g, "in");
                g.op(op, width, &[value])
            })
        };
        Some(match self.primitive {
            "undef" => constant(graph.constant(0u8, width)),
            "std_const" => constant(graph.constant(self.parameter("VALUE"), width)),
            "std_wire" => comb(|g, i| i.get(g, "in")),
            "std_not" => unary(Op::Not, width),
            "std_mux" => comb(|g, i| {
                let condition = i.get(g, "cond");
                let (then, otherwise) = (i.get(g, "tru"), i.get(g, "fal"));
                g.mux(condition, then, otherwise)
            }),
            "std_slice" => {
                self.never(graph, input < out, "Input width less than output width");
                comb(move |g, i| {
                    let value = i.get(g, "in");
                    g.resize(value, out)
                })
            }
            "std_pad" | "std_signext" => {
                self.never(graph, input > out, "Output width less than input width");
                let sign = self.primitive == "std_signext";
                unary(if sign { Op::SignExtend } else { Op::Pad }, out.max(input))
            }
            "std_cat" => {
                let both = self.width("LEFT_WIDTH") + self.width("RIGHT_WIDTH");
                let message = "Output width must equal sum of input widths";
                self.never(graph, both != out, message);
                comb(move |g, i| {
                    let (left, right) = (i.get(g, "left"), i.get(g, "right"));
                    g.cat(left, right)
                })
            }
            "std_bit_slice" => {
                let (low, high) = (self.width("START_IDX"), self.width("END_IDX"));
                self.never(graph, high >= input, "Slice range out of bounds");
                comb(move |g, i| {
                    let value = i.get(g, "in");
                    g.slice(value, low, (high + 1).saturating_sub(low).max(1))
                })
            }
            _ => return None,
        })
    }

    fn sequential(&self, graph: &mut Graph) -> Option<Unit> {
        let width = self.width("WIDTH");
        let (int, frac) = (self.width("INT_WIDTH"), self.width("FRAC_WIDTH"));
        Some(match self.primitive {
            "std_reg" => register(graph, width),
            "std_mult_pipe" => multiplier(graph, width, width, false),
            "std_smult_pipe" => multiplier(graph, width, width, true),
            "std_fp_mult_pipe" => multiplier(graph, width, int, false),
            "std_fp_smult_pipe" => multiplier(graph, width, int, true),
            "std_div_pipe" => self.divider(graph, width),
            "std_sdiv_pipe" => self.signed_divider(graph, width),
            "std_fp_div_pipe" => fixed_divider(graph, width, frac),
            "std_fp_sdiv_pipe" => fixed_signed_divider(graph, width, frac),
            "fp_sqrt" => square_root(graph, width, int, frac).0,
            "sqrt" => self.whole_square_root(graph, width),
            "pipelined_mult" => pipelined(graph, width),
            "pipelined_fp_smult" => pipelined_fixed(graph, width, int),
            "stallable_mult" => stallable(graph, width),
            "std_sync_reg" => sync_register(graph, width),
            _ => return None,
        })
    }

    /// A check that depends on parameters alone.
    fn never(&self, graph: &mut Graph, fails: bool, message: &str) {
        if fails {
            let fails = graph.constant(1u8, 1);
            self.check(graph, fails, message, &[]);
        }
    }

    fn check(
        &self,
        graph: &mut Graph,
        fails: NodeId,
        message: &str,
        values: &[(&'static str, NodeId)],
    ) {
        graph
            .checks
            .push(check(&self.path, self.primitive, fails, message, values));
    }

    fn divider(&self, graph: &mut Graph, width: u32) -> Unit {
        let core = Divider::new(graph, width);
        let test = self.self_test();
        Unit {
            outputs: core.outputs(),
            edge: Some(Box::new(move |g, i| {
                let inputs = Operands::of(g, i);
                core.edge(g, inputs);
                let operands = latched(g, inputs);
                let quotient = g.op(Op::Div, width, &operands);
                let remainder = g.op(Op::Rem, width, &operands);
                test.add(
                    g,
                    "Remainder",
                    core.done,
                    operands,
                    [remainder, core.remainder],
                );
                test.add(
                    g,
                    "Quotient",
                    core.done,
                    operands,
                    [quotient, core.quotient_out],
                );
            })),
            ..Unit::default()
        }
    }

    fn signed_divider(&self, graph: &mut Graph, width: u32) -> Unit {
        let core = Divider::new(graph, width);
        let signs = Signs::new(graph, width, core.quotient_out, core.remainder);
        let test = self.self_test();
        Unit {
            outputs: vec![
                ("out_quotient", signs.quotient),
                ("out_remainder", signs.remainder),
                ("done", core.done),
            ],
            edge: Some(Box::new(move |g, i| {
                let inputs = Operands::of(g, i);
                let absolute = signs.edge(g, inputs);
                core.edge(g, absolute);
                let operands = latched(g, inputs);
                let quotient = g.op(Op::SDiv, width, &operands);
                let remainder = g.op(Op::SRem, width, &operands);
                let above = g.add(remainder, operands[1]);
                let modulo = g.op(Op::SRem, width, &[above, operands[1]]);
                test.add(
                    g,
                    "Quotient",
                    core.done,
                    operands,
                    [quotient, signs.quotient],
                );
                test.add(
                    g,
                    "Remainder",
                    core.done,
                    operands,
                    [modulo, signs.remainder],
                );
            })),
            ..Unit::default()
        }
    }

    fn self_test(&self) -> SelfTest {
        SelfTest {
            path: self.path.clone(),
            primitive: self.primitive.to_owned(),
        }
    }

    fn whole_square_root(&self, graph: &mut Graph, width: u32) -> Unit {
        let (unit, out, done) = square_root(graph, width, width, 0);
        let (path, primitive) = (self.path.clone(), self.primitive.to_owned());
        let inner = unit.edge;
        Unit {
            outputs: unit.outputs,
            edge: Some(Box::new(move |g, i| {
                if let Some(edge) = inner {
                    edge(g, i);
                }
                let (go, value) = (i.get(g, "go"), i.get(g, "in"));
                let radicand = keep(g, go, value);
                let differs = g.op(Op::NotSqrt, 1, &[out, radicand]);
                let fails = g.and(done, differs);
                let values = [("input", radicand), ("computed", out)];
                let message = "computed and golden outputs do not match";
                g.checks.push(Check {
                    at_edge: true,
                    ..check(&path, &primitive, fails, message, &values)
                });
            })),
            ..Unit::default()
        }
    }

    fn memory(&self, graph: &mut Graph) -> Option<Unit> {
        let (kind, dims) = self.primitive.split_once("_mem_d")?;
        let dims: usize = dims.parse().ok().filter(|dims| (1..=4).contains(dims))?;
        let sizes: Vec<(u64, u32)> = if dims == 1 {
            vec![(self.parameter("SIZE"), self.width("IDX_SIZE"))]
        } else {
            (0..dims)
                .map(|dim| {
                    let size = self.parameter(&format!("D{dim}_SIZE"));
                    (size, self.width(&format!("D{dim}_IDX_SIZE")))
                })
                .collect()
        };
        match kind {
            "comb" => Some(self.comb_memory(graph, sizes)),
            "seq" => Some(self.seq_memory(graph, sizes)),
            _ => None,
        }
    }

    fn comb_memory(&self, graph: &mut Graph, sizes: Vec<(u64, u32)>) -> Unit {
        let words = words(&sizes);
        let memory = graph.mem(self.width("WIDTH"), words);
        let done = graph.reg(1);
        let addresses: Vec<String> = (0..sizes.len()).map(|dim| format!("addr{dim}")).collect();
        let (path, primitive) = (self.path.clone(), self.primitive.to_owned());
        let for_write = sizes.clone();
        Unit {
            outputs: vec![("done", done)],
            comb: Some(Comb {
                output: "read_data",
                inputs: Some(addresses),
                build: Box::new(move |g, i| {
                    let (address, inside) = comb_address(g, i, &sizes);
                    for (dim, &(size, _)) in sizes.iter().enumerate() {
                        let index = i.get(g, &format!("addr{dim}"));
                        let fits = below(g, index, size);
                        let fails = g.not(fits);
                        let values = [("index", index)];
                        let message =
                            format!("Out of bounds access: addr{dim} must be less than {size}");
                        g.checks
                            .push(check(&path, &primitive, fails, &message, &values));
                    }
                    let word = g.read(memory, address);
                    let nothing = g.constant(0u8, g.width(word));
                    g.mux(inside, word, nothing)
                }),
            }),
            edge: Some(Box::new(move |g, i| {
                let (reset, write) = (i.get(g, "reset"), i.get(g, "write_en"));
                let running = g.not(reset);
                let writes = g.and(running, write);
                g.set(done, writes);
                let (address, inside) = comb_address(g, i, &for_write);
                let enable = g.and(writes, inside);
                let data = i.get(g, "write_data");
                g.writes.push(Write {
                    memory,
                    enable,
                    address,
                    data,
                });
            })),
            memory: Some(memory),
        }
    }

    fn seq_memory(&self, graph: &mut Graph, sizes: Vec<(u64, u32)>) -> Unit {
        let words = words(&sizes);
        let width = self.width("WIDTH");
        let memory = graph.mem(width, words);
        let (done, out) = (graph.reg(1), graph.reg(width));
        let (path, primitive) = (self.path.clone(), self.primitive.to_owned());
        Unit {
            outputs: vec![("read_data", out), ("done", done)],
            edge: Some(Box::new(move |g, i| {
                let (reset, enable) = (i.get(g, "reset"), i.get(g, "content_en"));
                let write = i.get(g, "write_en");
                let running = g.not(reset);
                let active = g.and(running, enable);
                g.set(done, active);
                let address = seq_address(g, i, &sizes);
                let word = g.read(memory, address);
                let nothing = g.constant(0u8, width);
                // What a write leaves in the output is undefined.
                let accessed = g.mux(write, nothing, word);
                let next = g.mux(enable, accessed, out);
                let next = g.mux(reset, nothing, next);
                g.set(out, next);
                let fits = below(g, address, words);
                let writes = g.and(active, write);
                let stores = g.and(writes, fits);
                let data = i.get(g, "write_data");
                g.writes.push(Write {
                    memory,
                    enable: stores,
                    address,
                    data,
                });
                let reading = g.not(write);
                let reads = g.and(enable, reading);
                let misses = g.not(fits);
                let fails = g.and(reads, misses);
                let values = [("address", address)];
                let message =
                    format!("Out of bounds access: the address must be less than {words}");
                g.checks
                    .push(check(&path, &primitive, fails, &message, &values));
            })),
            memory: Some(memory),
            ..Unit::default()
        }
    }
}

/// The words of a memory, or the largest number there is: there is no room for so many.
fn words(sizes: &[(u64, u32)]) -> u64 {
    sizes
        .iter()
        .fold(1, |words, (size, _)| words.saturating_mul(*size))
}

fn comb(build: impl FnOnce(&mut Graph, &Inputs<'_>) -> NodeId + 'static) -> Unit {
    Unit {
        comb: Some(Comb {
            output: "out",
            inputs: None,
            build: Box::new(build),
        }),
        ..Unit::default()
    }
}

fn check(
    path: &str,
    primitive: &str,
    fails: NodeId,
    message: &str,
    values: &[(&'static str, NodeId)],
) -> Check {
    Check {
        fails,
        message: format!("{path} ({primitive}): {message}"),
        values: values.to_vec(),
        at_edge: false,
    }
}

/// The check of a divider against the operator.
struct SelfTest {
    path: String,
    primitive: String,
}

impl SelfTest {
    /// Adds the check of an output: its expected and its computed value.
    fn add(
        &self,
        graph: &mut Graph,
        output: &str,
        done: NodeId,
        [left, right]: [NodeId; 2],
        [expected, computed]: [NodeId; 2],
    ) {
        let differs = graph.ne(expected, computed);
        let fails = graph.and(done, differs);
        let message = format!("{output}: computed and golden outputs do not match");
        let values = [
            ("left", left),
            ("right", right),
            ("expected", expected),
            ("computed", computed),
        ];
        graph.checks.push(Check {
            at_edge: true,
            ..check(&self.path, &self.primitive, fails, &message, &values)
        });
    }
}

/// Whether an address is less than `size`.
fn below(graph: &mut Graph, address: NodeId, size: u64) -> NodeId {
    let width = graph.width(address);
    if width < 64 && size >> width > 0 {
        return graph.constant(1u8, 1);
    }
    let size = graph.constant(size, width);
    graph.lt(address, size)
}

/// The number of the word, and whether all indices are in range.
fn comb_address(graph: &mut Graph, inputs: &Inputs<'_>, sizes: &[(u64, u32)]) -> (NodeId, NodeId) {
    let mut word = graph.constant(0u8, 64);
    let mut inside = graph.constant(1u8, 1);
    for (dim, &(size, _)) in sizes.iter().enumerate() {
        let index = inputs.get(graph, &format!("addr{dim}"));
        let fits = below(graph, index, size);
        inside = graph.and(inside, fits);
        let index = graph.resize(index, 64);
        let size = graph.constant(size, 64);
        word = graph.op(Op::Mul, 64, &[word, size]);
        word = graph.add(word, index);
    }
    (word, inside)
}

/// The address as the flat memory inside gets it, with as many bits as all indices have.
fn seq_address(graph: &mut Graph, inputs: &Inputs<'_>, sizes: &[(u64, u32)]) -> NodeId {
    let bits: u32 = sizes.iter().map(|(_, bits)| bits).sum();
    if sizes.len() == 1 {
        return inputs.get(graph, "addr0");
    }
    let wide = bits.max(64);
    let mut word = graph.constant(0u8, wide);
    for (dim, &(size, _)) in sizes.iter().enumerate() {
        let index = inputs.get(graph, &format!("addr{dim}"));
        let index = graph.resize(index, wide);
        let size = graph.constant(size, wide);
        word = graph.op(Op::Mul, wide, &[word, size]);
        word = graph.add(word, index);
    }
    graph.resize(word, bits)
}

/// A register that takes `value` while `enable` is high.
fn keep(graph: &mut Graph, enable: NodeId, value: NodeId) -> NodeId {
    let reg = graph.reg(graph.width(value));
    let next = graph.mux(enable, value, reg);
    graph.set(reg, next);
    reg
}

/// Sets `reg`, to 0 while `reset` is high.
fn set_or_reset(graph: &mut Graph, reset: NodeId, reg: NodeId, next: NodeId) {
    let zero = graph.constant(0u8, graph.width(reg));
    let next = graph.mux(reset, zero, next);
    graph.set(reg, next);
}

fn register(graph: &mut Graph, width: u32) -> Unit {
    let (out, done) = (graph.reg(width), graph.reg(1));
    Unit {
        outputs: vec![("out", out), ("done", done)],
        edge: Some(Box::new(move |g, i| {
            let (reset, enable) = (i.get(g, "reset"), i.get(g, "write_en"));
            let value = i.get(g, "in");
            let next = g.mux(enable, value, out);
            set_or_reset(g, reset, out, next);
            let running = g.not(reset);
            let writes = g.and(running, enable);
            g.set(done, writes);
        })),
        ..Unit::default()
    }
}

fn multiplier(graph: &mut Graph, width: u32, int: u32, signed: bool) -> Unit {
    let (left, right) = (graph.reg(width), graph.reg(width));
    let product = graph.reg(2 * width);
    let started = graph.reg(1);
    let done = graph.reg(1);
    let out = graph.slice(product, width - int.min(width), width);
    Unit {
        outputs: vec![("out", out), ("done", done)],
        edge: Some(Box::new(move |g, i| {
            let (reset, go) = (i.get(g, "reset"), i.get(g, "go"));
            g.set(started, go);
            let ends = g.and(go, started);
            g.set(done, ends);
            let zero = g.constant(0u8, width);
            for (reg, input) in [(left, "left"), (right, "right")] {
                let value = i.get(g, input);
                let next = g.mux(go, value, zero);
                set_or_reset(g, reset, reg, next);
            }
            let extend = if signed { Op::SignExtend } else { Op::Pad };
            let (l, r) = (
                g.op(extend, 2 * width, &[left]),
                g.op(extend, 2 * width, &[right]),
            );
            let next = g.op(Op::Mul, 2 * width, &[l, r]);
            let next = g.mux(go, next, product);
            set_or_reset(g, reset, product, next);
        })),
        ..Unit::default()
    }
}

/// The inputs of a divider.
#[derive(Clone, Copy)]
struct Operands {
    reset: NodeId,
    go: NodeId,
    left: NodeId,
    right: NodeId,
}

impl Operands {
    fn of(graph: &mut Graph, inputs: &Inputs<'_>) -> Self {
        Self {
            reset: inputs.get(graph, "reset"),
            go: inputs.get(graph, "go"),
            left: inputs.get(graph, "left"),
            right: inputs.get(graph, "right"),
        }
    }
}

/// The operands of a divider's self test.
fn latched(graph: &mut Graph, inputs: Operands) -> [NodeId; 2] {
    [inputs.left, inputs.right].map(|value| keep(graph, inputs.go, value))
}

/// The state of `std_div_pipe`.
#[derive(Clone, Copy)]
struct Divider {
    width: u32,
    dividend: NodeId,
    divisor: NodeId,
    quotient: NodeId,
    mask: NodeId,
    running: NodeId,
    done: NodeId,
    quotient_out: NodeId,
    remainder: NodeId,
}

impl Divider {
    fn new(graph: &mut Graph, width: u32) -> Self {
        Self {
            width,
            dividend: graph.reg(width),
            divisor: graph.reg(2 * width - 1),
            quotient: graph.reg(width),
            mask: graph.reg(width),
            running: graph.reg(1),
            done: graph.reg(1),
            quotient_out: graph.reg(width),
            remainder: graph.reg(width),
        }
    }

    fn outputs(&self) -> Vec<(&'static str, NodeId)> {
        vec![
            ("out_quotient", self.quotient_out),
            ("out_remainder", self.remainder),
            ("done", self.done),
        ]
    }

    fn edge(
        &self,
        g: &mut Graph,
        Operands {
            reset,
            go,
            left,
            right,
        }: Operands,
    ) {
        let width = self.width;
        let zero = g.constant(0u8, width);
        let start = begins(g, self.running, go);
        let mask_empty = g.eq(self.mask, zero);
        let finished = g.and(mask_empty, self.running);
        let nothing = g.eq(left, zero);
        let dividend_is_zero = g.and(start, nothing);
        let ends = g.or(finished, dividend_is_zero);
        g.set(self.done, ends);

        set_running(g, self.running, reset, start, ends);

        for (out, value) in [
            (self.quotient_out, self.quotient),
            (self.remainder, self.dividend),
        ] {
            let next = g.mux(finished, value, out);
            let next = g.mux(start, zero, next);
            g.set(out, next);
        }

        let high = g.constant(num_bigint::BigUint::from(1u8) << (width - 1), width);
        let by_one = g.constant(1u8, 1);
        let shifted = g.op(Op::Shr, width, &[self.mask, by_one]);
        let next = g.mux(self.running, shifted, self.mask);
        let next = g.mux(start, high, next);
        g.set(self.mask, next);

        let long = 2 * width - 1;
        let dividend = g.resize(self.dividend, long);
        let fits = g.le(self.divisor, dividend);
        let with_bit = g.or(self.quotient, self.mask);
        let next = g.mux(fits, with_bit, self.quotient);
        let next = g.mux(start, zero, next);
        g.set(self.quotient, next);

        let rest = g.sub(dividend, self.divisor);
        let rest = g.resize(rest, width);
        let next = g.mux(fits, rest, self.dividend);
        let next = g.mux(start, left, next);
        g.set(self.dividend, next);

        let first = g.resize(right, long);
        let by = g.constant(width - 1, 32);
        let first = g.op(Op::Shl, long, &[first, by]);
        let nothing = g.constant(0u8, long);
        let next = g.op(Op::Shr, long, &[self.divisor, by_one]);
        let next = g.mux(finished, nothing, next);
        let next = g.mux(start, first, next);
        g.set(self.divisor, next);
    }
}

/// Whether a unit begins to work: it is told to, and does not work yet.
fn begins(graph: &mut Graph, running: NodeId, go: NodeId) -> NodeId {
    let idle = graph.not(running);
    graph.and(go, idle)
}

/// Sets the register that tells whether a unit works: from its beginning to its end.
fn set_running(graph: &mut Graph, running: NodeId, reset: NodeId, start: NodeId, ends: NodeId) {
    let stops = graph.or(reset, ends);
    let goes_on = graph.not(stops);
    let works = graph.or(start, running);
    let next = graph.and(goes_on, works);
    graph.set(running, next);
}

fn negate(graph: &mut Graph, value: NodeId) -> NodeId {
    let zero = graph.constant(0u8, graph.width(value));
    graph.sub(zero, value)
}

fn negate_if(graph: &mut Graph, condition: NodeId, value: NodeId) -> NodeId {
    let negated = negate(graph, value);
    graph.mux(condition, negated, value)
}

/// What makes a signed divider out of an unsigned one.
#[derive(Clone, Copy)]
struct Signs {
    width: u32,
    left: NodeId,
    right: NodeId,
    right_save: NodeId,
    quotient: NodeId,
    remainder: NodeId,
}

impl Signs {
    fn new(graph: &mut Graph, width: u32, quotient: NodeId, remainder: NodeId) -> Self {
        let (left, right) = (graph.reg(1), graph.reg(1));
        let right_save = graph.reg(width);
        let differ = graph.xor(left, right);
        let zero = graph.constant(0u8, width);
        let even = graph.eq(remainder, zero);
        let odd = graph.not(even);
        let other = graph.and(differ, odd);
        let complement = graph.sub(right_save, remainder);
        let rest = graph.mux(other, complement, remainder);
        Self {
            width,
            left,
            right,
            right_save,
            quotient: negate_if(graph, differ, quotient),
            remainder: negate_if(graph, right, rest),
        }
    }

    /// The absolute operands.
    fn edge(&self, graph: &mut Graph, inputs: Operands) -> Operands {
        let top = self.width - 1;
        let left_sign = graph.slice(inputs.left, top, 1);
        let right_sign = graph.slice(inputs.right, top, 1);
        let left = negate_if(graph, left_sign, inputs.left);
        let right = negate_if(graph, right_sign, inputs.right);
        for (reg, value) in [
            (self.left, left_sign),
            (self.right, right_sign),
            (self.right_save, right),
        ] {
            let next = graph.mux(inputs.go, value, reg);
            graph.set(reg, next);
        }
        Operands {
            left,
            right,
            ..inputs
        }
    }
}

/// The state of `std_fp_div_pipe`.
#[derive(Clone, Copy)]
struct FixedDivider {
    width: u32,
    iterations: u32,
    quotient: NodeId,
    acc: NodeId,
    index: NodeId,
    running: NodeId,
    done: NodeId,
    quotient_out: NodeId,
    remainder: NodeId,
}

/// Bits to count to `count`, at least one.
fn clog2(count: u32) -> u32 {
    count.next_power_of_two().trailing_zeros().max(1)
}

impl FixedDivider {
    fn new(graph: &mut Graph, width: u32, frac: u32) -> Self {
        let iterations = width + frac;
        Self {
            width,
            iterations,
            quotient: graph.reg(width),
            acc: graph.reg(width + 1),
            index: graph.reg(clog2(iterations)),
            running: graph.reg(1),
            done: graph.reg(1),
            quotient_out: graph.reg(width),
            remainder: graph.reg(width),
        }
    }

    fn edge(
        &self,
        g: &mut Graph,
        Operands {
            reset,
            go,
            left,
            right,
        }: Operands,
    ) {
        let width = self.width;
        let zero = g.constant(0u8, width);
        let start = begins(g, self.running, go);
        let nothing = g.eq(left, zero);
        let dividend_is_zero = g.and(start, nothing);
        let (finished, next_index) = count(g, self.index, self.running, self.iterations);
        g.set(self.index, next_index);
        let ends = g.or(finished, dividend_is_zero);
        g.set(self.done, ends);
        set_running(g, self.running, reset, start, ends);

        let wide_right = g.resize(right, width + 1);
        let fits = g.le(wide_right, self.acc);
        let rest = g.sub(self.acc, wide_right);
        let acc = g.mux(fits, rest, self.acc);
        let acc = g.slice(acc, 0, width);
        let pair = g.cat(acc, self.quotient);
        let pair = g.cat(pair, fits);
        let acc_next = g.slice(pair, width, width + 1);
        let quotient_next = g.slice(pair, 0, width);

        let next = g.mux(finished, quotient_next, self.quotient_out);
        let next = g.mux(go, next, self.quotient_out);
        let next = g.mux(start, zero, next);
        set_or_reset(g, reset, self.quotient_out, next);

        let less = g.le(right, self.remainder);
        let rest = g.sub(self.remainder, right);
        let next = g.mux(less, rest, self.remainder);
        let next = g.mux(finished, self.remainder, next);
        let next = g.mux(go, next, self.remainder);
        let next = g.mux(start, left, next);
        set_or_reset(g, reset, self.remainder, next);

        // {acc, quotient} <= {{WIDTH{1'b0}}, left, 1'b0}
        let first = g.resize(left, 2 * width);
        let no = g.constant(0u8, 1);
        let first = g.cat(first, no);
        let first_acc = g.slice(first, width, width + 1);
        let first_quotient = g.slice(first, 0, width);
        let next = g.mux(start, first_acc, acc_next);
        set_or_reset(g, reset, self.acc, next);
        let next = g.mux(start, first_quotient, quotient_next);
        set_or_reset(g, reset, self.quotient, next);
    }
}

/// A counter that runs while `running`: whether it is at its last step, and its next value.
fn count(g: &mut Graph, index: NodeId, running: NodeId, iterations: u32) -> (NodeId, NodeId) {
    let width = g.width(index);
    let last = g.constant(iterations - 1, 32);
    let wide = g.resize(index, 32.max(width));
    let at_last = g.eq(wide, last);
    let finished = g.and(at_last, running);
    let one = g.constant(1u8, width);
    let more = g.add(index, one);
    let zero = g.constant(0u8, width);
    (finished, g.mux(running, more, zero))
}

fn fixed_divider(graph: &mut Graph, width: u32, frac: u32) -> Unit {
    let core = FixedDivider::new(graph, width, frac);
    Unit {
        outputs: vec![
            ("out_quotient", core.quotient_out),
            ("out_remainder", core.remainder),
            ("done", core.done),
        ],
        edge: Some(Box::new(move |g, i| {
            let inputs = Operands::of(g, i);
            core.edge(g, inputs);
        })),
        ..Unit::default()
    }
}

fn fixed_signed_divider(graph: &mut Graph, width: u32, frac: u32) -> Unit {
    let core = FixedDivider::new(graph, width, frac);
    let signs = Signs::new(graph, width, core.quotient_out, core.remainder);
    Unit {
        outputs: vec![
            ("out_quotient", signs.quotient),
            ("out_remainder", signs.remainder),
            ("done", core.done),
        ],
        edge: Some(Box::new(move |g, i| {
            let inputs = Operands::of(g, i);
            let absolute = signs.edge(g, inputs);
            core.edge(g, absolute);
        })),
        ..Unit::default()
    }
}

/// The unit, and its registers `out` and `done`.
fn square_root(graph: &mut Graph, width: u32, int: u32, frac: u32) -> (Unit, NodeId, NodeId) {
    let odd = int & 1;
    let ext = width + odd;
    let iterations = (ext + frac) >> 1;
    let index = graph.reg(clog2(iterations));
    let (x, quotient) = (graph.reg(ext), graph.reg(ext));
    let acc = graph.reg(ext + 2);
    let running = graph.reg(1);
    let (out, done) = (graph.reg(width), graph.reg(1));
    let unit = Unit {
        outputs: vec![("out", out), ("done", done)],
        edge: Some(Box::new(move |g, i| {
            let (reset, go) = (i.get(g, "reset"), i.get(g, "go"));
            let start = begins(g, running, go);
            let (finished, next_index) = count(g, index, running, iterations);
            g.set(index, next_index);
            set_running(g, running, reset, start, finished);

            let (one_of_two, none_of_two) = (g.constant(1u8, 2), g.constant(0u8, 2));
            let trial = g.cat(quotient, one_of_two);
            let tmp = g.sub(acc, trial);
            let negative = g.slice(tmp, ext + 1, 1);
            let kept = g.mux(negative, acc, tmp);
            let kept = g.slice(kept, 0, ext);
            let pair = g.cat(kept, x);
            let pair = g.cat(pair, none_of_two);
            let acc_next = g.slice(pair, ext, ext + 2);
            let x_next = g.slice(pair, 0, ext);
            let bit = g.not(negative);
            let quotient_next = g.cat(quotient, bit);
            let quotient_next = g.slice(quotient_next, 0, ext);

            // {acc, x} <= {{EXT_WIDTH + (INT_WIDTH & 1){1'b0}}, in, 2'b0}
            let value = i.get(g, "in");
            let first = g.cat(value, none_of_two);
            let first = g.resize(first, 2 * ext + 2);
            let first_acc = g.slice(first, ext, ext + 2);
            let first_x = g.slice(first, 0, ext);
            let zero = g.constant(0u8, ext);
            for (reg, first, next) in [
                (quotient, zero, quotient_next),
                (acc, first_acc, acc_next),
                (x, first_x, x_next),
            ] {
                let next = g.mux(start, first, next);
                g.set(reg, next);
            }

            g.set(done, finished);
            let nothing = g.constant(0u8, width);
            let result = g.resize(quotient_next, width);
            let next = g.mux(reset, nothing, out);
            let next = g.mux(finished, result, next);
            g.set(out, next);
        })),
        ..Unit::default()
    };
    (unit, out, done)
}

/// Registers in a row, each of which takes the value of the one before it.
fn delay(g: &mut Graph, first: NodeId, row: &[NodeId], reset: NodeId, holds: NodeId) {
    let mut next = first;
    for &reg in row {
        let kept = g.mux(holds, reg, next);
        set_or_reset(g, reset, reg, kept);
        next = reg;
    }
}

fn pipelined(graph: &mut Graph, width: u32) -> Unit {
    let row = [(); 4].map(|()| graph.reg(width));
    Unit {
        outputs: vec![("out", row[3])],
        edge: Some(Box::new(move |g, i| {
            let (left, right) = (i.get(g, "left"), i.get(g, "right"));
            let product = g.op(Op::Mul, width, &[left, right]);
            let (reset, never) = (i.get(g, "reset"), g.constant(0u8, 1));
            delay(g, product, &row, reset, never);
        })),
        ..Unit::default()
    }
}

fn pipelined_fixed(graph: &mut Graph, width: u32, int: u32) -> Unit {
    let (left, right) = (graph.reg(width), graph.reg(width));
    let row = [(); 3].map(|()| graph.reg(width));
    Unit {
        outputs: vec![("out", row[2])],
        edge: Some(Box::new(move |g, i| {
            let (reset, never) = (i.get(g, "reset"), g.constant(0u8, 1));
            for (reg, input) in [(left, "left"), (right, "right")] {
                let value = i.get(g, input);
                set_or_reset(g, reset, reg, value);
            }
            let l = g.op(Op::SignExtend, 2 * width, &[left]);
            let r = g.op(Op::SignExtend, 2 * width, &[right]);
            let product = g.op(Op::Mul, 2 * width, &[l, r]);
            let product = g.slice(product, width - int.min(width), width);
            delay(g, product, &row, reset, never);
        })),
        ..Unit::default()
    }
}

fn stallable(graph: &mut Graph, width: u32) -> Unit {
    let (left, right) = (graph.reg(width), graph.reg(width));
    let row = [(); 3].map(|()| graph.reg(width));
    Unit {
        outputs: vec![("out", row[2])],
        edge: Some(Box::new(move |g, i| {
            let (reset, stall) = (i.get(g, "reset"), i.get(g, "stall"));
            for (reg, input) in [(left, "left"), (right, "right")] {
                let value = i.get(g, input);
                let next = g.mux(stall, reg, value);
                set_or_reset(g, reset, reg, next);
            }
            let product = g.op(Op::Mul, width, &[left, right]);
            delay(g, product, &row, reset, stall);
        })),
        ..Unit::default()
    }
}

fn sync_register(graph: &mut Graph, width: u32) -> Unit {
    let full = graph.reg(1);
    let state = graph.reg(width);
    let peek = graph.reg(width);
    let arbiters = [(); 2].map(|()| graph.reg(1));
    let outs = [(); 2].map(|()| graph.reg(width));
    let write_done = [(); 2].map(|()| graph.reg(1));
    let read_done = [(); 2].map(|()| graph.reg(1));
    Unit {
        outputs: vec![
            ("out_0", outs[0]),
            ("out_1", outs[1]),
            ("write_done_0", write_done[0]),
            ("write_done_1", write_done[1]),
            ("read_done_0", read_done[0]),
            ("read_done_1", read_done[1]),
            ("peek", peek),
        ],
        edge: Some(Box::new(move |g, i| {
            let reset = i.get(g, "reset");
            let empty = g.not(full);
            // Who takes its turn, given who asks, while `ready`: both ports, and whether either.
            let arbitrate = |g: &mut Graph, names: [&str; 2], ready: NodeId, arbiter: NodeId| {
                let asks = names.map(|name| i.get(g, name));
                let asks = asks.map(|ask| g.and(ready, ask));
                let both = g.and(asks[0], asks[1]);
                let first_turn = g.not(arbiter);
                let others = [g.not(asks[1]), g.not(asks[0])];
                let free = [g.or(others[0], first_turn), g.or(others[1], arbiter)];
                let taken = [g.and(asks[0], free[0]), g.and(asks[1], free[1])];
                let next = g.xor(arbiter, both);
                set_or_reset(g, reset, arbiter, next);
                let any = g.or(asks[0], asks[1]);
                (taken, any)
            };
            let (writes, any_write) =
                arbitrate(g, ["write_en_0", "write_en_1"], empty, arbiters[0]);
            let (reads, any_read) = arbitrate(g, ["read_en_0", "read_en_1"], full, arbiters[1]);

            let still = g.not(any_read);
            let kept = g.and(full, still);
            let next = g.or(any_write, kept);
            set_or_reset(g, reset, full, next);

            let inputs = [i.get(g, "in_0"), i.get(g, "in_1")];
            // What nobody may look at is undefined.
            let nothing = g.constant(0u8, width);
            for (reg, kept) in [(state, g.mux(any_read, nothing, state)), (peek, peek)] {
                let next = g.mux(writes[1], inputs[1], kept);
                let next = g.mux(writes[0], inputs[0], next);
                set_or_reset(g, reset, reg, next);
            }
            for port in 0..2 {
                let next = g.mux(reads[port], state, nothing);
                set_or_reset(g, reset, outs[port], next);
                set_or_reset(g, reset, write_done[port], writes[port]);
                set_or_reset(g, reset, read_done[port], reads[port]);
            }
        })),
        ..Unit::default()
    }
}
