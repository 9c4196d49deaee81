//! What each primitive of the standard library does, by examples. That all of them do what their Verilog
//! does, in any width, the repository's end-to-end tests check with Verilator.

mod support;

use support::Cell;

/// The output of an operator on these operands of `width` bits, one pair in each cycle.
fn binary(primitive: &str, width: u32, pairs: &[(u64, u64)]) -> Vec<u64> {
    let (left, right): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
    let cell = Cell {
        primitive: &format!("{primitive}({width})"),
        inputs: &[("left", width, &left), ("right", width, &right)],
    };
    cell.output("out", pairs.len())
}

/// Operands of 8 bits, as numbers from 0 to 255: all kinds of signs, and shifts that are too far.
const PAIRS: [(u64, u64); 8] = [
    (0, 0),
    (7, 3),
    (3, 7),
    (200, 100),
    (100, 200),
    (255, 1),
    (128, 255),
    (130, 9),
];

type Operator = fn(u64, u64) -> u64;

fn signed(value: u64) -> i64 {
    i64::from(u8::try_from(value).expect("it has 8 bits").cast_signed())
}

#[test]
fn operators_compute_what_verilog_does() {
    let operators: [(&str, Operator); 24] = [
        ("std_add", |a, b| a + b),
        ("std_sub", |a, b| a.wrapping_sub(b)),
        ("std_and", |a, b| a & b),
        ("std_or", |a, b| a | b),
        ("std_xor", |a, b| a ^ b),
        ("std_lsh", |a, b| if b < 8 { a << b } else { 0 }),
        ("std_rsh", |a, b| if b < 8 { a >> b } else { 0 }),
        ("std_eq", |a, b| u64::from(a == b)),
        ("std_neq", |a, b| u64::from(a != b)),
        ("std_lt", |a, b| u64::from(a < b)),
        ("std_gt", |a, b| u64::from(a > b)),
        ("std_le", |a, b| u64::from(a <= b)),
        ("std_ge", |a, b| u64::from(a >= b)),
        ("std_sadd", |a, b| a + b),
        ("std_ssub", |a, b| a.wrapping_sub(b)),
        ("std_slsh", |a, b| if b < 8 { a << b } else { 0 }),
        ("std_srsh", |a, b| (signed(a) >> b.min(7)).cast_unsigned()),
        ("std_seq", |a, b| u64::from(a == b)),
        ("std_sneq", |a, b| u64::from(a != b)),
        ("std_slt", |a, b| u64::from(signed(a) < signed(b))),
        ("std_sgt", |a, b| u64::from(signed(a) > signed(b))),
        ("std_sle", |a, b| u64::from(signed(a) <= signed(b))),
        ("std_sge", |a, b| u64::from(signed(a) >= signed(b))),
        ("std_fp_gt", |a, b| u64::from(a > b)),
    ];
    for (primitive, operator) in operators {
        let parameters = match primitive {
            "std_fp_gt" => "8, 4, 4".to_owned(),
            _ => "8".to_owned(),
        };
        let (left, right): (Vec<u64>, Vec<u64>) = PAIRS.into_iter().unzip();
        let cell = Cell {
            primitive: &format!("{primitive}({parameters})"),
            inputs: &[("left", 8, &left), ("right", 8, &right)],
        };
        let expected: Vec<u64> = PAIRS.map(|(a, b)| operator(a, b) & 0xff).to_vec();
        assert_eq!(cell.output("out", PAIRS.len()), expected, "{primitive}");
    }
}

#[test]
fn operators_are_right_at_the_width_of_a_machine_word() {
    let (most, top) = (u64::MAX, 1 << 63);
    let half = most >> 1;
    let pairs = [(half, 1), (half, 63), (5, 64), (half, half)];
    assert_eq!(binary("std_add", 64, &pairs), [top, top + 62, 69, most - 1]);
    assert_eq!(
        binary("std_sub", 64, &pairs),
        [half - 1, half - 63, most - 58, 0]
    );
    assert_eq!(binary("std_lsh", 64, &pairs), [most - 1, top, 0, 0]);
    assert_eq!(binary("std_rsh", 64, &pairs), [half >> 1, 0, 0, 0]);
    assert_eq!(binary("std_slt", 64, &pairs), [0, 0, 1, 0]);
}

#[test]
fn values_are_cut_padded_and_put_together() {
    let unary = |primitive: &str, width: u32, value: u64| {
        let cell = Cell {
            primitive,
            inputs: &[("in", width, &[value])],
        };
        cell.output("out", 1)[0]
    };
    assert_eq!(unary("std_wire(8)", 8, 0x5a), 0x5a);
    assert_eq!(unary("std_not(8)", 8, 0x5a), 0xa5);
    assert_eq!(unary("std_slice(8, 4)", 8, 0x5a), 0xa);
    assert_eq!(unary("std_pad(4, 8)", 4, 0xa), 0xa);
    assert_eq!(unary("std_signext(4, 8)", 4, 0xa), 0xfa);
    assert_eq!(unary("std_bit_slice(8, 2, 5, 4)", 8, 0x5a), 0x6);
    let cat = Cell {
        primitive: "std_cat(4, 8, 12)",
        inputs: &[("left", 4, &[0xa]), ("right", 8, &[0x5c])],
    };
    assert_eq!(cat.output("out", 1), [0xa5c]);
    let mux = Cell {
        primitive: "std_mux(8)",
        inputs: &[
            ("cond", 1, &[1, 0]),
            ("tru", 8, &[3, 3]),
            ("fal", 8, &[4, 4]),
        ],
    };
    assert_eq!(mux.output("out", 2), [3, 4]);
    let constant = Cell {
        primitive: "std_const(8, 77)",
        inputs: &[],
    };
    assert_eq!(constant.output("out", 1), [77]);
    let undefined = Cell {
        primitive: "undef(8)",
        inputs: &[],
    };
    assert_eq!(undefined.output("out", 1), [0]);
}

#[test]
fn widths_that_do_not_fit_stop_the_design() {
    for (primitive, message) in [
        ("std_slice(4, 8)", "Input width less than output width"),
        ("std_pad(8, 4)", "Output width less than input width"),
        ("std_signext(8, 4)", "Output width less than input width"),
        (
            "std_cat(4, 4, 9)",
            "Output width must equal sum of input widths",
        ),
        ("std_bit_slice(8, 2, 8, 6)", "Slice range out of bounds"),
    ] {
        let cell = Cell {
            primitive,
            inputs: &[],
        };
        let error = cell.run(&["out"], 2).unwrap_err();
        assert!(error.contains(message), "{primitive}: {error}");
        assert!(error.contains("main.p"), "{primitive}: {error}");
    }
}

#[test]
fn a_register_takes_its_input_at_the_edge() {
    let cell = Cell {
        primitive: "std_reg(8)",
        inputs: &[("in", 8, &[5, 6, 7]), ("write_en", 1, &[1, 0, 1])],
    };
    let expected = [[0, 0], [5, 1], [5, 0], [7, 1], [7, 0]];
    assert_eq!(cell.outputs(&["out", "done"], 5), expected);
}

/// The outputs in the first cycle in which `done` is high while `go` is, and that cycle.
fn pipe(primitive: &str, width: u32, left: u64, right: u64, outputs: &[&str]) -> (usize, Vec<u64>) {
    const CYCLES: usize = 40;
    let always = [1; CYCLES];
    let cell = Cell {
        primitive,
        inputs: &[
            ("go", 1, &always),
            ("left", width, &[left; CYCLES]),
            ("right", width, &[right; CYCLES]),
        ],
    };
    let names = [&["done"], outputs].concat();
    let cycles = cell.outputs(&names, CYCLES);
    let at = cycles.iter().position(|values| values[0] == 1);
    let at = at.expect("the unit is done some time");
    (at, cycles[at][1..].to_vec())
}

#[test]
fn multipliers_take_two_cycles_and_one_to_show_the_result() {
    let signed = |value: i8| u64::from(value.cast_unsigned());
    assert_eq!(pipe("std_mult_pipe(8)", 8, 7, 9, &["out"]), (2, vec![63]));
    let (at, out) = pipe("std_smult_pipe(8)", 8, signed(-7), 9, &["out"]);
    assert_eq!((at, out), (2, vec![signed(-63)]));
    // 1.5 · 2.25 = 3.375 with four bits before and four behind the point.
    let (at, out) = pipe("std_fp_mult_pipe(8, 4, 4)", 8, 0x18, 0x24, &["out"]);
    assert_eq!((at, out), (2, vec![0x36]));
    let (_, out) = pipe(
        "std_fp_smult_pipe(8, 4, 4)",
        8,
        signed(-0x18),
        0x24,
        &["out"],
    );
    assert_eq!(out, [signed(-0x36)]);
}

const QUOTIENT: [&str; 2] = ["out_quotient", "out_remainder"];

#[test]
fn dividers_divide() {
    let signed = |value: i8| u64::from(value.cast_unsigned());
    let (cycles, out) = pipe("std_div_pipe(8)", 8, 200, 7, &QUOTIENT);
    assert_eq!(out, [28, 4]);
    assert!(cycles > 8, "{cycles}");
    // Nothing to do.
    assert_eq!(pipe("std_div_pipe(8)", 8, 0, 7, &QUOTIENT), (1, vec![0, 0]));
    let (_, out) = pipe("std_sdiv_pipe(8)", 8, signed(-100), 7, &QUOTIENT);
    // The remainder has the sign of the divisor.
    assert_eq!(out, [signed(-14), 5]);
    // 6.5 / 2.0 = 3.25 with four bits before and four behind the point.
    let (_, out) = pipe("std_fp_div_pipe(8, 4, 4)", 8, 0x68, 0x20, &QUOTIENT[..1]);
    assert_eq!(out, [0x34]);
    let (_, out) = pipe(
        "std_fp_sdiv_pipe(8, 4, 4)",
        8,
        signed(-0x68),
        0x20,
        &QUOTIENT[..1],
    );
    assert_eq!(out, [signed(-0x34)]);
}

#[test]
fn square_roots_are_taken() {
    let root = |primitive: &str, value: u64| {
        const CYCLES: usize = 20;
        let cell = Cell {
            primitive,
            inputs: &[("go", 1, &[1; CYCLES]), ("in", 8, &[value; CYCLES])],
        };
        let cycles = cell.outputs(&["done", "out"], CYCLES);
        let done = cycles.iter().find(|values| values[0] == 1);
        done.expect("the unit is done some time")[1]
    };
    assert_eq!(root("sqrt(8)", 200), 14);
    assert_eq!(root("sqrt(8)", 225), 15);
    // √2.25 = 1.5 with four bits before and four behind the point.
    assert_eq!(root("fp_sqrt(8, 4, 4)", 0x24), 0x18);
}

#[test]
fn pipelined_multipliers_take_new_operands_in_every_cycle() {
    let inputs: &[(&str, u32, &[u64])] = &[("left", 8, &[2, 3, 4]), ("right", 8, &[5, 5, 5])];
    let cell = Cell {
        primitive: "pipelined_mult(8)",
        inputs,
    };
    assert_eq!(cell.output("out", 8), [0, 0, 0, 0, 10, 15, 20, 0]);
    let cell = Cell {
        primitive: "pipelined_fp_smult(8, 4, 4)",
        inputs: &[("left", 8, &[0x18]), ("right", 8, &[0x24])],
    };
    assert_eq!(cell.output("out", 6), [0, 0, 0, 0, 0x36, 0]);
    let stalled = Cell {
        primitive: "stallable_mult(8)",
        inputs: &[inputs[0], inputs[1], ("stall", 1, &[0, 1, 0])],
    };
    // What comes in while the unit stalls is lost, and all else comes a cycle later.
    assert_eq!(stalled.output("out", 8), [0, 0, 0, 0, 0, 10, 20, 0]);
}

#[test]
fn two_writers_and_two_readers_take_turns_at_a_synchronous_register() {
    let cell = Cell {
        primitive: "std_sync_reg(8)",
        inputs: &[
            ("in_0", 8, &[5, 5, 5, 5, 5]),
            ("in_1", 8, &[6, 6, 6, 6, 6]),
            ("write_en_0", 1, &[1, 1, 1, 1, 1]),
            ("write_en_1", 1, &[1, 1, 1, 1, 1]),
            ("read_en_0", 1, &[0, 1, 0, 1, 0]),
        ],
    };
    let outputs = [
        "write_done_0",
        "write_done_1",
        "read_done_0",
        "out_0",
        "peek",
    ];
    assert_eq!(
        cell.outputs(&outputs, 5),
        [
            [0, 0, 0, 0, 0],
            [1, 0, 0, 0, 5],
            [0, 0, 1, 5, 5],
            [0, 1, 0, 0, 6],
            [0, 0, 1, 6, 6],
        ]
    );
}
