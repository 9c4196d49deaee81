//! Whatever the public functions are given: nothing is read or written outside of a design's own memories.
//!
//! Here what can be seen without help is compared. `tests/slow/safety.rs` runs the same under a memory checker, which sees the
//! rest.

mod support;

use std::collections::BTreeMap;

use num_bigint::BigUint;
use petal_embedded::{Compiled, Latencies, Options, StateCode, Visible, WaveformFile};
use petal_reconstruct::{Batch, ProbeSource, Value, ValueOp};
use proptest::prelude::*;
use support::{port, program};

/// A memory: what it is, bits of a word, words, bits of an address.
#[derive(Debug, Clone)]
struct Memory {
    kind: &'static str,
    width: u32,
    size: u64,
    index: u32,
}

impl Memory {
    fn cell(&self) -> String {
        let Self {
            kind,
            width,
            size,
            index,
        } = self;
        format!("{kind}_mem_d1({width}, {size}, {index})")
    }
}

/// A design that goes on for ever: `from` is read at a counter, what comes out is an address of `to`, and what is there comes
/// back into `from`.
fn chasing(from: &Memory, to: &Memory) -> String {
    let cut = |width: u32, to: u32, name: &str, input: &str| {
        let cell = if width < to { "std_pad" } else { "std_slice" };
        (
            format!("{name} = {cell}({width}, {to});"),
            format!("{name}.in = {input};"),
        )
    };
    let (at, at_wire) = cut(8, from.index, "at", "now.out");
    let (address, address_wire) = cut(from.width, to.index, "address", "from.read_data");
    let (back, back_wire) = cut(to.width, from.width, "back", "to.read_data");
    let enables = |name: &str, memory: &Memory, writes: &str| match memory.kind {
        "comb" => format!("{name}.write_en = {writes};"),
        _ => format!("{name}.write_en = {writes}; {name}.content_en = go;"),
    };
    format!(
        "component main() -> () {{
           cells {{
             @external from = {}; @external to = {};
             now = std_reg(8); next = std_add(8); odd = std_slice(8, 1); phase = std_reg(2); more = std_add(2); {at} {address} {back}
           }}
           wires {{
             {at_wire} {address_wire} {back_wire}
             next.left = now.out; next.right = 8'd1; now.in = next.out; now.write_en = go;
             more.left = phase.out; more.right = 2'd1; phase.in = more.out; phase.write_en = go;
             odd.in = now.out;
             from.addr0 = at.out; from.write_data = back.out; {}
             to.addr0 = address.out; to.write_data = to.read_data; {}
           }}
           control {{}}
         }}",
        from.cell(),
        to.cell(),
        enables("from", from, "odd.out"),
        enables("to", to, "1'd0"),
    )
}

fn memory() -> impl Strategy<Value = Memory> {
    let kinds = prop::sample::select(vec!["seq", "seq", "comb", "dyn"]);
    let widths = prop_oneof![
        1..10_u32,
        prop::sample::select(vec![31, 32, 63, 64, 65, 130])
    ];
    (kinds, widths, 1..20_u64, 0..8_u32).prop_map(|(kind, width, size, more)| Memory {
        kind,
        width,
        size,
        // Often just as many bits as the words need, so that nothing is left to check.
        index: (size.next_power_of_two().trailing_zeros() + more / 4).max(1),
    })
}

/// Bits of a value, mostly of one that can be.
fn bits() -> impl Strategy<Value = u32> {
    prop_oneof![30 => 1..65_u32, 1 => 0..70_u32]
}

/// An operation with its operands, mostly as many as it has.
fn operation(operands: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    use ValueOp::{Add, And, Div, Eq, Lt, Mul, Mux, Not, Or, Pad, Rem, Shl, Shr, Slice, Sub, Xor};
    let binary = vec![And, Or, Xor, Add, Sub, Mul, Div, Rem, Eq, Lt, Shl, Shr];
    let ops = prop_oneof![
        (0..130_u32).prop_map(|low| (Slice(low), 1)),
        prop::sample::select(vec![(Not, 1), (Pad, 1), (Mux, 3)]),
        prop::sample::select(binary).prop_map(|op| (op, 2)),
    ];
    let counts = prop_oneof![30 => Just(0), 1 => 1..3_usize];
    let operands = prop::collection::vec(operands, 5);
    (ops, counts, bits(), operands).prop_map(|((op, count), more, bits, mut operands)| {
        operands.truncate(count + more);
        Value::Op(op, bits, operands)
    })
}

/// What may be asked to be observed, whether it makes sense or not.
fn value() -> impl Strategy<Value = Value> {
    let mut names = ["now_out", "from_read_data", "to_read_data", "address_out"].repeat(8);
    names.push("nothing");
    let leaf = prop_oneof![
        3 => (prop::sample::select(names), bits())
            .prop_map(|(name, bits)| Value::Signal(port(name), bits)),
        1 => (any::<u64>(), bits()).prop_map(|(value, bits)| Value::Constant(value, bits)),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let memories = prop::sample::select(vec!["from", "to"]);
        let word = (memories, inner.clone(), bits()).prop_map(|(name, index, width)| {
            let memory = port(name);
            let index = Box::new(index);
            Value::Word {
                memory,
                index,
                width,
            }
        });
        prop_oneof![word, operation(inner)]
    })
}

/// Numbers of any size.
fn number() -> impl Strategy<Value = BigUint> {
    prop::collection::vec(any::<u32>(), 0..6).prop_map(BigUint::new)
}

/// What is done with a run.
#[derive(Debug, Clone)]
enum Step {
    Cycle,
    Cycles,
    Write(&'static str, BTreeMap<u64, BigUint>),
    Read(&'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let name = prop::sample::select(vec!["from", "to", "neither"]);
    let index = prop_oneof![0..25_u64, any::<u64>(), Just(u64::MAX)];
    let words = prop::collection::btree_map(index, number(), 0..20);
    prop_oneof![
        4 => Just(Step::Cycle),
        2 => Just(Step::Cycles),
        2 => (name.clone(), words).prop_map(|(name, words)| Step::Write(name, words)),
        1 => name.prop_map(Step::Read),
    ]
}

proptest! {
    // What is left of a failure is in its message.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_but_the_memories_is_read_or_written(
        (from, to) in (memory(), memory()),
        values in prop::collection::vec(value(), 0..4),
        steps in prop::collection::vec(step(), 1..40),
        (all, soon) in any::<(bool, bool)>(),
    ) {
        let program = program("", &chasing(&from, &to));
        let visible = if all { Visible::All } else { Visible::Probes };
        let probes = [port("now_out")];
        let compiled = Compiled::observing(&program, &Latencies::new(), &probes, &values, visible)
            .or_else(|_| Compiled::new(&program, &probes, visible))
            .unwrap();
        let waveforms = all.then(|| WaveformFile::Vcd(Box::new(Vec::new())));
        let waveforms = waveforms.into_iter().collect();
        let states = if soon { StateCode::Soon } else { StateCode::WhenWorth };
        let options = Options { waveforms, partial: true, states, ..Options::default() };
        let mut simulation = compiled.simulation(options).unwrap();
        let mut batch = Batch::default();
        for step in &steps {
            match step {
                Step::Cycle => {
                    // A memory may stop it in the reset, too.
                    if !simulation.next_cycle().is_ok_and(|runs| runs) {
                        break;
                    }
                    prop_assert!(simulation.changes().len() <= 1 + values.len());
                }
                Step::Cycles => {
                    if !batch.refill(&mut simulation).is_ok_and(|runs| runs) {
                        break;
                    }
                    prop_assert!(batch.own_changes() <= batch.len() * (1 + values.len()));
                }
                Step::Write(name, words) => simulation.write_memory(name, words),
                Step::Read(name) => {
                    let memory = match *name {
                        "from" => &from,
                        "to" => &to,
                        _ => {
                            prop_assert_eq!(simulation.read_memory(name), None);
                            continue;
                        }
                    };
                    for (index, word) in simulation.read_memory(name).unwrap() {
                        prop_assert!(index < memory.size && word.bits() <= u64::from(memory.width));
                    }
                }
            }
        }
    }
}

#[test]
fn a_word_that_is_too_wide_is_cut_before_it_is_an_address() {
    let narrow = Memory {
        kind: "comb",
        width: 3,
        size: 8,
        index: 3,
    };
    let table = Memory {
        kind: "seq",
        width: 32,
        size: 8,
        index: 3,
    };
    let program = program("", &chasing(&narrow, &table));
    let compiled = Compiled::new(&program, &[port("to_read_data")], Visible::Probes).unwrap();
    let mut simulation = compiled.simulation(Options::default()).unwrap();
    let ten = BTreeMap::from([(0, BigUint::from(10_u32))]);
    simulation.write_memory("from", &ten);
    let table = (0..8).map(|at| (at, BigUint::from(100 + at)));
    simulation.write_memory("to", &table.collect());
    assert_eq!(
        simulation.read_memory("from").unwrap()[&0],
        BigUint::from(2_u32)
    );
    simulation.next_cycle().unwrap();
    simulation.next_cycle().unwrap();
    assert_eq!(simulation.changes()[0].value, 102);
}
