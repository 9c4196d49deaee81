//! Memories: reading, writing, several dimensions, wide words, and addresses that are out of bounds.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use num_bigint::BigUint;
use petal_embedded::{Compiled, Error, Options, Simulation, Visible, WaveformFile};
use petal_reconstruct::ProbeSource;
use support::{Cell, program};

#[test]
fn a_combinational_memory_shows_a_word_in_the_same_cycle() {
    let cell = Cell {
        primitive: "comb_mem_d1(8, 4, 2)",
        inputs: &[
            ("addr0", 2, &[3, 3, 1, 3]),
            ("write_en", 1, &[1]),
            ("write_data", 8, &[9]),
        ],
    };
    let expected = [[0, 0], [9, 1], [0, 0], [9, 0]];
    assert_eq!(cell.outputs(&["read_data", "done"], 4), expected);
}

#[test]
fn a_sequential_memory_shows_a_word_after_the_edge() {
    let cell = Cell {
        primitive: "seq_mem_d1(8, 4, 2)",
        inputs: &[
            ("addr0", 2, &[3, 3, 1]),
            ("content_en", 1, &[1, 1, 1]),
            ("write_en", 1, &[1]),
            ("write_data", 8, &[9]),
        ],
    };
    let expected = [[0, 0], [0, 1], [9, 1], [0, 1], [0, 0]];
    assert_eq!(cell.outputs(&["read_data", "done"], 5), expected);
}

#[test]
fn an_address_out_of_bounds_stops_the_design() {
    let comb = Cell {
        primitive: "comb_mem_d2(8, 2, 3, 2, 2)",
        inputs: &[("addr0", 2, &[1, 1]), ("addr1", 2, &[2, 3])],
    };
    let error = comb.run(&["read_data"], 4).unwrap_err();
    for part in [
        "in cycle 1",
        "main.p",
        "addr1 must be less than 3",
        "index: 3",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let seq = Cell {
        primitive: "seq_mem_d1(8, 3, 2)",
        inputs: &[("addr0", 2, &[2, 3]), ("content_en", 1, &[1, 1])],
    };
    let error = seq.run(&["read_data"], 4).unwrap_err();
    assert!(error.contains("the address must be less than 3"), "{error}");
}

/// A program that copies word `at` of a memory to word 0 of another one of the same kind.
fn copying(
    kind: &str,
    parameters: &str,
    addresses: &[(u64, u32)],
    width: u32,
) -> calyx_ir::Context {
    let mut address = String::new();
    for (dim, (at, bits)) in addresses.iter().enumerate() {
        writeln!(
            address,
            "from.addr{dim} = {bits}'d{at}; to.addr{dim} = {bits}'d0;"
        )
        .unwrap();
    }
    let enable = match kind {
        "seq" | "dyn" => "from.content_en = go; to.content_en = went.out;",
        _ => "",
    };
    program(
        "",
        &format!(
            "component main() -> () {{
               cells {{
                 @external from = {kind}_mem_d{dims}({width}, {parameters});
                 @external to = {kind}_mem_d{dims}({width}, {parameters});
                 went = std_reg(1);
               }}
               wires {{
                 {address} {enable}
                 to.write_data = from.read_data;
                 to.write_en = went.out;
                 went.in = 1'd1; went.write_en = go;
                 done = to.done;
               }}
               control {{}}
             }}",
            dims = addresses.len()
        ),
    )
}

fn words(words: &[(u64, BigUint)]) -> BTreeMap<u64, BigUint> {
    words.iter().cloned().collect()
}

#[test]
fn words_of_any_width_and_dimension_are_copied() {
    // A number with ones in all of its words.
    let ones = |width: u32| (BigUint::from(1u8) << width) - 1u8;
    for kind in ["comb", "seq", "dyn"] {
        for width in [1, 8, 64, 65, 130] {
            for (parameters, addresses, index) in [
                ("5, 3", &[(4, 3)][..], 4),
                ("2, 3, 1, 2", &[(1, 1), (2, 2)], 5),
                ("2, 3, 2, 1, 2, 1", &[(1, 1), (2, 2), (1, 1)], 11),
                (
                    "2, 2, 2, 2, 1, 1, 1, 1",
                    &[(1, 1), (0, 1), (1, 1), (1, 1)],
                    11,
                ),
            ] {
                let program = copying(kind, parameters, addresses, width);
                let mut simulation = Simulation::new(&program, &[], Options::default()).unwrap();
                let given = words(&[(0, BigUint::from(1u8)), (index, ones(width))]);
                simulation.write_memory("from", &given);
                while simulation.next_cycle().unwrap() {}
                assert_eq!(simulation.read_memory("from"), Some(given));
                let copied = words(&[(0, ones(width))]);
                let case = format!("{kind}, {width} bits, {parameters}");
                assert_eq!(simulation.read_memory("to"), Some(copied), "{case}");
                assert_eq!(simulation.read_memory("went"), None);
            }
        }
    }
}

#[test]
fn a_design_that_is_compiled_once_runs_many_times_at_once() {
    let program = copying("seq", "5, 3", &[(2, 3)], 65);
    let compiled = Compiled::new(&program, &[], Visible::Probes).unwrap();
    std::thread::scope(|scope| {
        for number in 1..=8_u64 {
            let compiled = &compiled;
            scope.spawn(move || {
                for word in [number, 0, number << 40] {
                    let mut simulation = compiled.simulation(Options::default()).unwrap();
                    let given: BTreeMap<u64, BigUint> =
                        (0..3).map(|at| (at, BigUint::from(word + at))).collect();
                    simulation.write_memory("from", &given);
                    while simulation.next_cycle().unwrap() {}
                    let copied = words(&[(0, BigUint::from(word + 2))]);
                    assert_eq!(simulation.read_memory("to"), Some(copied));
                }
            });
        }
    });
    let options = Options {
        waveforms: vec![WaveformFile::Vcd(Box::new(Vec::new()))],
        ..Options::default()
    };
    let refused = compiled.simulation(options).err();
    assert!(matches!(refused, Some(Error::NotVisible)));
}

#[test]
fn a_memory_that_there_is_no_room_for_is_an_error() {
    let cell = Cell {
        primitive: "seq_mem_d1(65536, 1000000000000000000, 64)",
        inputs: &[],
    };
    let error = cell.run(&["done"], 1).unwrap_err();
    assert!(error.contains("no room for a memory"), "{error}");
}
