//! What may happen in a run: its length, circles of wires, wide values, conflicts, limits and interruptions;
//! programs that cannot be simulated; and waveforms.

mod support;

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use calyx_ir::Context;
use expect_test::expect;
use num_bigint::BigUint;
use petal_compiler::CONFLICTS_FAIL_AT_EDGE;
use petal_embedded::{Options, Simulation, Stopped, WaveformFile};
use petal_reconstruct::ProbeSource;
use support::{port, program, run};

/// A program of one component, whose run takes two cycles if nothing else is said.
fn main_with(cells: &str, wires: &str) -> Context {
    program(
        "",
        &format!(
            "component main() -> () {{
               cells {{ {cells} went = std_reg(1); }}
               wires {{ {wires} went.in = 1'd1; went.write_en = go; went.reset = reset; done = went.done; }}
               control {{}}
             }}"
        ),
    )
}

#[test]
fn a_run_begins_with_go_and_ends_before_done() {
    let program = main_with("", "");
    let cycles = run(&program, &["go", "done", "went_out"]).unwrap();
    assert_eq!(cycles, [[1, 0, 0]]);
}

#[test]
fn instances_are_parts_of_their_parent() {
    let program = program(
        "",
        "component twice(in: 8) -> (out: 8) {
           cells { add = std_add(8); }
           wires { add.left = in; add.right = in; out = add.out; }
           control {}
         }
         component main() -> () {
           cells { a = twice(); b = twice(); at = std_reg(8); next = std_add(8); }
           wires {
             next.left = at.out; next.right = 8'd1; at.in = next.out; at.write_en = go;
             a.in = at.out; b.in = a.out;
             done = at.out == 8'd3 ? 1'd1;
           }
           control {}
         }",
    );
    let cycles = run(&program, &["at_out", "b_out"]).unwrap();
    assert_eq!(cycles, [[0, 0], [1, 4], [2, 8]]);
    let mut inside = port("add_out");
    inside.scope.push("b".to_owned());
    let mut simulation = Simulation::new(&program, &[inside], Options::default()).unwrap();
    let mut seen = Vec::new();
    while simulation.next_cycle().unwrap() {
        seen.extend(simulation.changes().iter().map(|change| change.value));
    }
    assert_eq!(seen, [4, 8]);
}

#[test]
fn guards_choose_what_is_assigned() {
    let program = main_with(
        "x = std_wire(8); n = std_reg(8); add = std_add(8);",
        "add.left = n.out; add.right = 8'd1; n.in = add.out; n.write_en = go;
         x.in = n.out == 8'd0 & !(went.out | went.done) ? 8'd7;
         x.in = (n.out > 8'd0 & n.out < 8'd9) & (n.out >= 8'd1 & n.out <= 8'd1) & n.out != 8'd5 ? 8'd9;",
    );
    let mut simulation = Simulation::new(&program, &[port("x_out")], Options::default()).unwrap();
    let mut seen = Vec::new();
    loop {
        let runs = simulation.next_cycle().unwrap();
        seen.extend(simulation.changes().iter().map(|change| change.value));
        if !runs {
            break;
        }
    }
    assert_eq!(seen, [7, 9]);
}

#[test]
fn two_assignments_at_once_stop_the_design() {
    let program = main_with(
        "x = std_wire(8);",
        "x.in = go ? 8'd1; x.in = !went.out ? 8'd2;",
    );
    let error = run(&program, &["x_out"]).unwrap_err();
    let cycle = u64::from(CONFLICTS_FAIL_AT_EDGE);
    let expected = format!("in cycle {cycle}:\nmultiple assignments to port `main.x_in`");
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn a_circle_that_settles_is_evaluated_until_it_has() {
    // A latch: `q` stays high once `set` was.
    let program = main_with("q = std_or(1);", "q.left = q.out; q.right = went.out;");
    let simulation = Simulation::new(&program, &[], Options::default()).unwrap();
    let [circle] = simulation.loops() else {
        panic!("{:?}", simulation.loops());
    };
    assert!(circle.contains(&"main.q_out".to_owned()), "{circle:?}");
    assert_eq!(run(&program, &["q_out"]).unwrap(), [[0]]);
}

#[test]
fn a_circle_that_does_not_settle_stops_the_design() {
    let program = main_with("q = std_not(70);", "q.in = q.out;");
    let error = run(&program, &["done"]).unwrap_err();
    for part in [
        "does not settle while it was being reset",
        "in a circle",
        "main.q_in",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

/// The sums, products and so on of two wide words of memories, by operator.
#[test]
fn wide_values_are_computed_like_narrow_ones() {
    let one = || BigUint::from(1u8);
    let (a, b) = ((one() << 99u32) + 12345u32, (one() << 70u32) - 3u32);
    let modulus = one() << 100u32;
    let bit = |value: bool| BigUint::from(u8::from(value));
    let cases: Vec<(&str, u32, BigUint)> = vec![
        ("std_add", 100, &a + &b),
        ("std_sub", 100, &a - &b),
        ("std_and", 100, &a & &b),
        ("std_or", 100, &a | &b),
        ("std_xor", 100, &a ^ &b),
        ("std_lsh", 100, BigUint::ZERO),
        ("std_srsh", 100, &modulus - 1u8),
        ("std_eq", 1, bit(false)),
        ("std_lt", 1, bit(false)),
        ("std_slt", 1, bit(true)),
    ];
    for (operator, out, expected) in cases {
        let resize = if out == 1 {
            "std_pad(1, 100)"
        } else {
            "std_wire(100)"
        };
        let program = program(
            "",
            &format!(
                "component main() -> () {{
                   cells {{
                     @external a = comb_mem_d1(100, 1, 1);
                     @external b = comb_mem_d1(100, 1, 1);
                     @external to = comb_mem_d1(100, 1, 1);
                     p = {operator}(100); wide = {resize};
                   }}
                   wires {{
                     a.addr0 = 1'd0; b.addr0 = 1'd0; to.addr0 = 1'd0;
                     p.left = a.read_data; p.right = b.read_data;
                     wide.in = p.out;
                     to.write_data = wide.out; to.write_en = go;
                     done = to.done;
                   }}
                   control {{}}
                 }}"
            ),
        );
        let mut simulation = Simulation::new(&program, &[], Options::default()).unwrap();
        simulation.write_memory("a", &BTreeMap::from([(0, a.clone())]));
        simulation.write_memory("b", &BTreeMap::from([(0, b.clone())]));
        while simulation.next_cycle().unwrap() {}
        let result = simulation.read_memory("to").unwrap();
        let result = result.get(&0).cloned().unwrap_or_default();
        assert_eq!(result, expected % &modulus, "{operator}");
    }
}

#[test]
fn a_run_ends_at_its_limit_or_when_it_is_interrupted() {
    let endless = program(
        "",
        "component main() -> () {
           cells { n = std_reg(64); plus = std_add(64); }
           wires { plus.left = n.out; plus.right = 64'd1; n.in = plus.out; n.write_en = 1'd1; }
           control {}
         }",
    );
    let options = |limit: u64, interrupt: &Arc<AtomicBool>, partial: bool| Options {
        cycle_limit: limit,
        interrupt: Arc::clone(interrupt),
        partial,
        ..Options::default()
    };
    let flag = Arc::new(AtomicBool::new(false));
    let cycles = |simulation: &mut Simulation| {
        let mut cycles = 0;
        loop {
            match simulation.next_cycle() {
                Ok(true) => cycles += 1,
                Ok(false) => return Ok(cycles),
                Err(error) => return Err((cycles, error.to_string())),
            }
        }
    };
    let mut simulation = Simulation::new(&endless, &[], options(5, &flag, false)).unwrap();
    let (ran, error) = cycles(&mut simulation).unwrap_err();
    assert_eq!(ran, 5);
    assert!(error.contains("had not finished after 5 cycles"), "{error}");
    // What ran may also count as a run.
    let mut simulation = Simulation::new(&endless, &[], options(5, &flag, true)).unwrap();
    assert_eq!(cycles(&mut simulation), Ok(5));
    assert_eq!(
        simulation.stopped(),
        Some(&Stopped::CycleLimit { limit: 5 })
    );
    let mut simulation = Simulation::new(&endless, &[], options(u64::MAX, &flag, true)).unwrap();
    assert!(simulation.next_cycle().unwrap());
    flag.store(true, Ordering::Relaxed);
    assert!(!simulation.next_cycle().unwrap());
    assert_eq!(
        simulation.stopped(),
        Some(&Stopped::Interrupted { cycle: 1 })
    );
}

/// After how many cycles the state of a program without `done` repeats, if that is seen within `limit` cycles.
fn period(cells: &str, wires: &str, limit: u64) -> Option<u64> {
    let main = format!(
        "component main() -> () {{
           cells {{ {cells} at = std_reg(8); next = std_add(8); }}
           wires {{ next.left = at.out; next.right = 8'd1; at.in = next.out; {wires} }}
           control {{}}
         }}"
    );
    let options = Options {
        cycle_limit: limit,
        partial: true,
        ..Options::default()
    };
    let mut simulation = Simulation::new(&program("", &main), &[], options).unwrap();
    while simulation.next_cycle().unwrap() {}
    match simulation.stopped() {
        Some(Stopped::Endless { period, .. }) => Some(*period),
        Some(Stopped::CycleLimit { .. }) => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_whose_state_repeats_never_ends() {
    assert_eq!(period("", "", 5000), Some(1));
    assert_eq!(period("", "at.write_en = 1'd1;", 5000), Some(256));
    // A memory that is written and keeps its contents, one that takes two passes to come back, and one that
    // counts; in words of 8 and of 100 bits.
    let cells = "@external m = comb_mem_d1(W, 256, 8); add = std_add(W); not = std_not(W); one = std_pad(1, W);";
    let wires = "at.write_en = 1'd1; m.addr0 = at.out; m.write_en = 1'd1; not.in = m.read_data; \
                 add.left = m.read_data; add.right = one.out; one.in = 1'd1; m.write_data = ";
    for (width, data, limit, expected) in [
        ("8", "one.out", 5000, Some(256)),
        ("8", "not.out", 5000, Some(512)),
        ("8", "add.out", 400_000, Some(65_536)),
        ("100", "one.out", 5000, Some(256)),
        ("100", "not.out", 5000, Some(512)),
        ("100", "add.out", 5000, None),
    ] {
        let cells = cells.replace('W', width);
        let wires = format!("{wires}{data};").replace('W', width);
        assert_eq!(
            period(&cells, &wires, limit),
            expected,
            "{data} of {width} bits"
        );
    }
}

/// Why a program cannot be simulated.
fn refused(program: &Context, ports: &[&str]) -> String {
    run(program, ports).unwrap_err()
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let own = program(
        "comb primitive mine[W](@data in: W) -> (out: W) { assign out = in + 1; };\n",
        "component main() -> () { cells { x = mine(8); } wires { done = go; } control {} }",
    );
    let error = refused(&own, &[]);
    assert!(
        error.contains("`mine` (cell main.x): it is Verilog of the design's own"),
        "{error}"
    );
    let wide = main_with("x = std_wire(70000);", "");
    let error = refused(&wide, &[]);
    assert!(error.contains("a port of it has 70000 bits"), "{error}");
    let error = refused(&main_with("", ""), &["nobody"]);
    assert!(
        error.contains("no signal `toplevel.main.nobody`"),
        "{error}"
    );
}

#[test]
fn a_primitive_without_a_body_does_nothing() {
    let idle = program(
        "primitive probe(in: 1) -> () { };\n",
        "component main() -> () { cells { @external x = probe(); } wires { x.in = go; done = go; } control {} }",
    );
    assert_eq!(run(&idle, &["x_in"]).unwrap(), Vec::<Vec<u64>>::new());
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_waveform_has_the_scopes_and_names_of_the_verilog() {
    let program = program(
        "",
        "component main() -> () {
           cells { n = std_reg(2); add = std_add(2); }
           wires {
             n.clk = clk; n.reset = reset;
             add.left = n.out; add.right = 2'd1; n.in = add.out; n.write_en = go;
             done = n.out == 2'd2 ? 1'd1;
           }
           control {}
         }",
    );
    let vcd = Shared::default();
    let options = Options {
        waveforms: vec![WaveformFile::Vcd(Box::new(vcd.clone()))],
        ..Options::default()
    };
    let mut simulation = Simulation::new(&program, &[], options).unwrap();
    while simulation.next_cycle().unwrap() {}
    simulation.finish_waveform().unwrap();
    let written = String::from_utf8(vcd.0.lock().unwrap().clone()).unwrap();
    expect![[r#"
        $timescale 1 ns $end
        $scope module toplevel $end
        $scope module main $end
        $var wire 1 " go $end
        $var wire 1 ! clk $end
        $var wire 1 # reset $end
        $var wire 1 $ done $end
        $var wire 2 % n_in [1:0] $end
        $var wire 1 " n_write_en $end
        $var wire 1 ! n_clk $end
        $var wire 1 # n_reset $end
        $var wire 2 & n_out [1:0] $end
        $var wire 1 ' n_done $end
        $var wire 2 & add_left [1:0] $end
        $var wire 2 ( add_right [1:0] $end
        $var wire 2 % add_out [1:0] $end
        $var wire 2 ) _1_2_out [1:0] $end
        $var wire 1 * _1_1_out $end
        $var wire 2 ) _2_2_out [1:0] $end
        $upscope $end
        $upscope $end
        $enddefinitions $end
        #0
        0"
        1#
        0$
        b01 %
        b00 &
        0'
        b01 (
        b00 )
        0*
        0!
        #5
        1!
        #10
        0!
        #15
        1!
        #20
        0!
        #25
        1!
        1"
        0#
        #30
        0!
        #35
        1!
        b10 %
        b01 &
        1'
        #40
        0!
        #45
        1!
        1$
        b11 %
        b10 &
        #50
        0!
        #55
        1!
    "#]]
    .assert_eq(&written);
}

#[test]
fn a_waveform_that_cannot_be_written_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let options = Options {
        waveforms: vec![WaveformFile::Vcd(Box::new(Full))],
        ..Options::default()
    };
    let error = Simulation::new(&main_with("", ""), &[], options)
        .err()
        .unwrap();
    assert!(
        error.to_string().starts_with("cannot write the waveform"),
        "{error}"
    );
}
