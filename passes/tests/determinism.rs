//! The same program is compiled to the same texts in every run: here in many threads, each of which
//! has hash maps of another order.

use petal_passes::{Library, Pipeline, Program, STACK, compile, instrument};

const RUNS: usize = 8;

/// Compiles a program in a thread of its own: the plain design, the instrumented one and its metadata.
fn texts(source: &str, passes: &str) -> [String; 3] {
    let compile = || {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("design.futil");
        std::fs::write(&file, source).unwrap();
        let library = Library::new(&[]).unwrap();
        let pipeline = Pipeline::parse(passes, &[]).unwrap();
        let program = || Program::read(&file, &library).unwrap();
        let plain = compile(program(), &pipeline).unwrap_or_else(|error| panic!("{error}"));
        let (probed, metadata) =
            instrument(program(), &pipeline).unwrap_or_else(|error| panic!("{error}"));
        [
            plain.verilog().unwrap(),
            probed.verilog().unwrap(),
            metadata.to_json(),
        ]
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn_scoped(scope, compile).unwrap();
        thread.join().unwrap()
    })
}

fn check(source: &str) {
    for passes in ["all", "no-opt"] {
        let first = texts(source, passes);
        for run in 1..RUNS {
            let again = texts(source, passes);
            for ((first, again), what) in first
                .iter()
                .zip(&again)
                .zip(["plain", "probed", "metadata"])
            {
                let differs = first.lines().zip(again.lines()).find(|(a, b)| a != b);
                assert_eq!(differs, None, "{passes}, {what}, run {run}");
                assert_eq!(first.len(), again.len(), "{passes}, {what}, run {run}");
            }
        }
    }
}

#[test]
fn barriers() {
    check(
        r#"import "primitives/core.futil";
import "primitives/sync.futil";
component main() -> () {
  cells { a = std_reg(8); b = std_reg(8); @external r = std_reg(8); add = std_add(8); }
  wires {
    group wa { a.in = 8'd1; a.write_en = 1'd1; wa[done] = a.done; }
    group wb { b.in = 8'd2; b.write_en = 1'd1; wb[done] = b.done; }
    group sum { add.left = a.out; add.right = b.out; r.in = add.out; r.write_en = 1'd1; sum[done] = r.done; }
  }
  control {
    seq {
      par {
        seq { wa; @sync(1); wa; @sync(2); wa; @sync(3); wa; @sync(4); wa; @sync(5); }
        seq { @sync(1); wb; @sync(2); wb; @sync(3); wb; @sync(4); @sync(5); wb; }
      }
      sum;
    }
  }
}
"#,
    );
}

#[test]
fn references_in_references() {
    check(
        r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component leaf(x: 8) -> () {
  cells { ref m = comb_mem_d1(8, 4, 2); ref q = std_reg(8); ref add = std_add(8); r = std_reg(8); }
  wires {
    group g { add.left = x; add.right = 8'd1; r.in = add.out; r.write_en = 1'd1; g[done] = r.done; }
    group h { m.addr0 = 2'd1; m.write_data = r.out; m.write_en = 1'd1; h[done] = m.done; }
    group k { q.in = r.out; q.write_en = 1'd1; k[done] = q.done; }
  }
  control { seq { g; h; k; } }
}
component middle(y: 8) -> () {
  cells { ref l = leaf(); ref m = comb_mem_d1(8, 4, 2); ref q = std_reg(8); ref add = std_add(8); }
  wires { }
  control { seq { invoke l[m = m, q = q, add = add](x = y)(); } }
}
component outer(y: 8) -> () {
  cells { ref d = middle(); ref l = leaf(); ref m = comb_mem_d1(8, 4, 2); ref q = std_reg(8); ref add = std_add(8); }
  wires { }
  control { seq { invoke d[l = l, m = m, q = q, add = add](y = y)(); } }
}
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 4, 2); o = outer(); d = middle(); l = leaf(); q = std_reg(8); add = std_add(8);
  }
  wires { }
  control {
    seq {
      invoke o[d = d, l = l, m = m, q = q, add = add](y = 8'd4)();
      invoke d[l = l, m = m, q = q, add = add](y = 8'd9)();
    }
  }
}
"#,
    );
}
