//! Runs with tapes for states, from the first cycles on or when they are worth it, held against the general code's in every cycle.

mod support;

use std::collections::BTreeMap;

use num_bigint::BigUint;
use petal_compiler::CONFLICTS_FAIL_AT_EDGE;
use petal_embedded::{Compiled, Options, Simulation, StateCode, Visible};
use petal_reconstruct::{Ahead, Batch, Id as _, ProbeSource};
use support::{port, program};

/// All that a run tells: the values of these ports in each cycle, what it warns of, how it ends, and a memory afterwards. Cycle by cycle, and
/// many at once.
fn runs(text: &str, ports: &[&str], memory: &str) -> [Vec<String>; 6] {
    let program = program("", text);
    let signals: Vec<_> = ports.iter().map(|name| port(name)).collect();
    let compiled = Compiled::new(&program, &signals, Visible::Probes).unwrap();
    let simulation = |states| {
        let options = Options {
            cycle_limit: 100_000,
            states,
            ..Options::default()
        };
        let mut simulation: Simulation = compiled.simulation(options).unwrap();
        let words: BTreeMap<u64, BigUint> = (0..4).map(|at| (at, (at + 3).into())).collect();
        simulation.write_memory(memory, &words);
        simulation
    };
    let codes = [StateCode::Never, StateCode::WhenWorth, StateCode::Soon];
    let one_by_one = codes.map(|states| {
        let mut simulation = simulation(states);
        let mut told = follow(&mut simulation, ports.len());
        told.push(format!("{:?}", simulation.read_memory(memory)));
        told
    });
    let at_once = codes.map(|states| {
        let mut ahead = Ahead::new(simulation(states));
        let mut told = follow(&mut ahead, ports.len());
        let simulation = ahead.into_inner();
        told.push(format!("{:?}", simulation.read_memory(memory)));
        told
    });
    let mut all = one_by_one.into_iter().chain(at_once);
    std::array::from_fn(|_| all.next().expect("there are six"))
}

fn follow(source: &mut impl ProbeSource, ports: usize) -> Vec<String> {
    let mut now = vec![0; ports];
    let mut told = Vec::new();
    loop {
        let next = source.next_cycle();
        if next.is_ok() {
            for change in source.changes() {
                now[change.slot.index()] = change.value;
            }
            told.push(format!("{now:?}"));
            let warnings = source.take_warnings();
            told.extend(warnings.iter().map(|warning| format!("{warning:?}")));
        }
        match next {
            Ok(true) => {}
            Ok(false) => return told,
            Err(error) => {
                told.push(error.to_string());
                return told;
            }
        }
    }
}

/// A design that goes round through three states, counts, and writes to a memory; `wires` and `cells` are added.
fn rounds(cells: &str, wires: &str, done: &str) -> String {
    format!(
        "component main() -> () {{
           cells {{
             @external m = comb_mem_d1(32, 4, 3);
             s = std_reg(2); n = std_reg(32); plus = std_add(32); sum = std_reg(32); add = std_add(32);
             {cells}
           }}
           wires {{
             s.clk = clk; s.reset = reset; n.clk = clk; n.reset = reset; sum.clk = clk; sum.reset = reset;
             s.in = s.out == 2'd0 ? 2'd1; s.in = s.out == 2'd1 ? 2'd2; s.in = s.out == 2'd2 ? 2'd0;
             s.write_en = go;
             plus.left = n.out; plus.right = 32'd1; n.in = plus.out; n.write_en = s.out == 2'd2 ? 1'd1;
             m.clk = clk; m.reset = reset;
             add.left = sum.out; add.right = m.read_data;
             sum.in = add.out; sum.write_en = s.out == 2'd0 ? 1'd1;
             m.write_data = sum.out; m.write_en = s.out == 2'd1 ? 1'd1;
             {wires}
             done = {done} ? 1'd1;
           }}
           control {{}}
         }}"
    )
}

const PORTS: [&str; 7] = [
    "s_out",
    "n_out",
    "sum_out",
    "m_read_data",
    "m_write_en",
    "add_out",
    "done",
];

fn same(text: &str) -> Vec<String> {
    let [never, others @ ..] = runs(text, &PORTS, "m");
    for (at, other) in others.into_iter().enumerate() {
        assert!(never == other, "{at} of the other ways");
    }
    never
}

#[test]
fn a_long_run_is_the_same_with_tapes() {
    let told = same(&rounds("", "m.addr0 = 3'd1;", "n.out == 32'd20000"));
    assert_eq!(told.len(), 60_002);
}

#[test]
fn loops_of_any_length_get_code_soon() {
    for length in 2..=12 {
        let last = length - 1;
        let text = rounds(
            "t = std_reg(4); next = std_add(4);",
            "m.addr0 = 3'd1;",
            "n.out == 32'd20000",
        )
        .replace("s = std_reg(2)", "s = std_wire(2)")
        .replace(
            "s.clk = clk; s.reset = reset;",
            "t.clk = clk; t.reset = reset;",
        )
        .replace(
            "s.write_en = go;",
            "t.write_en = go; next.left = t.out; next.right = 4'd1;",
        )
        .replace(
            "s.out == 2'd0 ? 2'd1;",
            &format!("t.out == 4'd{last} ? 2'd2;"),
        )
        .replace(
            "s.in = s.out == 2'd1 ? 2'd2;",
            &format!("t.in = t.out != 4'd{last} ? next.out;"),
        )
        .replace("s.in = s.out == 2'd2 ? 2'd0;", "");
        let program = program("", &text);
        let compiled = Compiled::new(&program, &[port("t_out")], Visible::Probes).unwrap();
        let simulation = compiled.simulation(Options::default()).unwrap();
        let mut ahead = Ahead::new(simulation);
        let (mut cycles, mut by_code) = (0, 0);
        while ahead.next_cycle().unwrap() {
            cycles += 1;
            // Only the code of states hands over lists.
            by_code += u32::from(ahead.list().is_some());
        }
        assert_eq!(cycles, 20_000 * length);
        assert!(by_code * 2 > cycles, "{by_code} of {cycles}, by {length}");
    }
}

#[test]
fn an_address_beyond_a_memory_stops_the_design_in_the_same_cycle() {
    let told = same(&rounds(
        "",
        "m.addr0 = n.out != 32'd15000 ? 3'd1; m.addr0 = n.out == 32'd15000 ? 3'd5;",
        "n.out == 32'd20000",
    ));
    let end = &told[told.len() - 2];
    assert!(end.contains("in cycle 4500"), "{end}");
}

#[test]
fn a_conflict_stops_the_design_in_the_same_cycle() {
    let told = same(&rounds(
        "x = std_wire(8);",
        "m.addr0 = 3'd1; x.in = s.out == 2'd1 ? 8'd1; x.in = n.out == 32'd15000 ? 8'd2;",
        "n.out == 32'd20000",
    ));
    let end = &told[told.len() - 2];
    let cycle = 45_001 + u64::from(CONFLICTS_FAIL_AT_EDGE);
    assert!(end.contains(&format!("in cycle {cycle}")), "{end}");
}

#[test]
fn a_run_without_end_is_proved_to_be_one() {
    let text = rounds("", "m.addr0 = 3'd1;", "s.out == 2'd3");
    let told = same(&text);
    assert!(told[told.len() - 2].contains("had not finished"));
    // From cycle 60,000 on nothing but the state moves.
    let counts = "n.write_en = s.out == 2'd2 ";
    let stays = text.replace(counts, &format!("{counts} & n.out != 32'd20000 "));
    let told = same(&stays);
    let end = &told[told.len() - 2];
    assert!(end.contains("never ends"), "{end}");
}

#[test]
fn what_is_written_from_outside_between_batches_counts_from_the_same_cycle_on() {
    let program = program("", &rounds("", "m.addr0 = 3'd1;", "n.out == 32'd20000"));
    let compiled = Compiled::new(&program, &[port("sum_out")], Visible::Probes).unwrap();
    let [never, when_worth, soon] =
        [StateCode::Never, StateCode::WhenWorth, StateCode::Soon].map(|states| {
            let options = Options {
                states,
                ..Options::default()
            };
            let mut simulation: Simulation = compiled.simulation(options).unwrap();
            let mut batch = Batch::default();
            let (mut cycles, mut told) = (0, Vec::new());
            while batch.refill(&mut simulation).unwrap() {
                cycles += batch.len() as u64;
                told.push(format!("{:?}", simulation.read_memory("m")));
                let words = BTreeMap::from([(1, BigUint::from(cycles))]);
                simulation.write_memory("m", &words);
            }
            told.push(format!("{:?} {}", simulation.read_memory("m"), batch.len()));
            told
        });
    assert!(never == when_worth && never == soon);
    assert_eq!(never.len(), 60_001_usize.div_ceil(Batch::CYCLES));
}
