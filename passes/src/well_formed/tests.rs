//! Programs that the pass takes or refuses, with all of their assignments and without.

use std::path::Path;

use petal_program::{Library, Program, guarded};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::*;

/// A program with some of everything that the pass looks at.
const RICH: &str = r#"
import "primitives/core.futil";
import "primitives/memories/comb.futil";
static<1> primitive fast[WIDTH](left: WIDTH) -> (out: WIDTH) { assign out = left; };
comb component twice(x: 8) -> (y: 8) {
  cells { plus = std_add(8); }
  wires { plus.left = x; plus.right = x; y = plus.out; }
  control { }
}
static<2> component fixed(x: 8) -> (out: 8) {
  cells { r = std_reg(8); }
  wires { out = r.out; static<1> group load { r.in = x; r.write_en = 1'd1; } }
  control { static seq { load; load; } }
}
component callee(x: 8) -> (out: 8) {
  cells { ref total = std_reg(8); ref sum = std_add(8); r = std_reg(8); less = std_lt(8); }
  wires {
    out = r.out;
    group keep { r.in = x; r.write_en = 1'd1; keep[done] = r.done; }
    group more { sum.left = total.out; sum.right = x; total.in = sum.out; total.write_en = 1'd1; more[done] = total.done; }
    comb group is_less { less.left = x; less.right = 8'd3; }
  }
  control { if less.out with is_less { seq { keep; more; } } else { more; } }
}
component main() -> () {
  cells {
    @external memory = comb_mem_d1(8, 4, 2);
    a = std_reg(8); b = std_reg(8); on = std_reg(1); i = std_reg(8);
    plus = std_add(8); next = std_add(8); less = std_lt(8); more = std_lt(8); f = fast(8);
    c = callee(); d = fixed(); t = twice(); total = std_reg(8); sum = std_add(8);
  }
  wires {
    t.x = a.out; next.left = i.out; next.right = 8'd1; on.in = 1'd1; on.write_en = less.out ? 1'd1;
    comb group is_less { less.left = i.out; less.right = 8'd3; }
    comb group is_more { more.left = i.out; more.right = 8'd1; }
    group count { i.in = next.out; i.write_en = 1'd1; count[done] = i.done; }
    group inner { b.in = t.y; b.write_en = !b.done ? 1'd1; inner[done] = b.done; }
    group outer { inner[go] = !inner[done] ? 1'd1; outer[done] = inner[done]; }
    group store { memory.addr0 = 2'd0; memory.write_data = a.out; memory.write_en = 1'd1; store[done] = memory.done; }
    static<2> group add { plus.left = a.out; plus.right = b.out; a.in = plus.out; a.write_en = %[0:1] ? 1'd1; }
    static<1> group set { f.left = b.out; b.in = f.out; b.write_en = %0 ? 1'd1; }
  }
  control {
    seq {
      while less.out with is_less {
        seq { count; if more.out with is_more { par { outer; add; } } else { static seq { add; set; } } }
      }
      if more.out with is_more { invoke c[total = total, sum = sum](x = a.out)(); }
      static invoke d(x = a.out)();
      store;
    }
  }
}
"#;

/// A change of `RICH` for each rule of the pass, and what it says then.
const REFUSED: [(&str, &str, &str); 30] = [
    (
        "@external memory",
        "reg = std_reg(1); @external memory",
        "reserved",
    ),
    ("control { }", "control { par { } }", "non-empty control"),
    (
        "wires { plus.left",
        "wires { group g { g[done] = 1'd1; } plus.left",
        "contains a group",
    ),
    (
        "cells { plus = std_add(8); }",
        "cells { plus = std_add(8); r = std_reg(8); }",
        "non-combinational cell",
    ),
    (
        "callee(x: 8)",
        "callee(x: 8, @interval(2) @go go: 1)",
        "dynamic control",
    ),
    (
        "fixed(x: 8)",
        "fixed(x: 8, @interval(3) @go go: 1)",
        "expected @interval 3",
    ),
    (
        "count[done] = i.done;",
        "count[done] = i.done; count[done] = i.done;",
        "multiple done",
    ),
    (
        "{ inner[go]",
        "{ inner[done] = 1'd1; inner[go]",
        "done condition of another group",
    ),
    ("count[done] = i.done;", "", "No writes to the `done' hole"),
    (
        "{ i.in = next.out;",
        "{ f.left = a.out; i.in = next.out;",
        "Static cell `f`",
    ),
    (
        "{ more.left",
        "{ f.left = a.out; more.left",
        "Static cell `f`",
    ),
    ("%[0:1]", "%[1:1]", "improper interval"),
    ("%[0:1]", "%[0:4]", "out of bounds"),
    (
        "t.x = a.out;",
        "t.x = a.out; t.x = b.out;",
        "Obviously conflicting",
    ),
    (
        "{ more.left",
        "{ next.left = a.out; more.left",
        "Obviously conflicting",
    ),
    (
        "{ i.in = next.out;",
        "{ t.x = a.out; i.in = next.out;",
        "activated by group enable",
    ),
    (
        "{ i.in = next.out;",
        "{ less.left = a.out; i.in = next.out;",
        "activated by group enable",
    ),
    (
        "{ i.in = next.out;",
        "{ i.in = a.out; i.in = next.out;",
        "activated by group enable",
    ),
    (
        "{ plus.left = a.out;",
        "{ t.x = a.out; plus.left = a.out;",
        "activated by group enable",
    ),
    (
        "{ plus.left = a.out;",
        "{ more.left = a.out; plus.left = a.out;",
        "activated by group enable",
    ),
    (
        "{ plus.left = a.out;",
        "{ plus.left = b.out; plus.left = a.out;",
        "activated by group enable",
    ),
    (
        "{ more.left",
        "{ less.left = a.out; more.left",
        "Assignments from `is_more'",
    ),
    (
        "if more.out with is_more { par",
        "if less.out with is_less { par",
        "Assignments from `is_less'",
    ),
    (
        "count[done] = i.done;",
        "count[done] = 1'd1;",
        "constant done",
    ),
    (
        "group store {",
        "group store<\"promotable\"=0> {",
        "\"promotable\"=0",
    ),
    (", sum = sum]", "]", "unmentioned ref cell"),
    (
        "sum = sum]",
        "sum = sum, sun = sum]",
        "does not have ref cell",
    ),
    (
        "total = total,",
        "total = sum,",
        "Unexpected type for ref cell",
    ),
    ("      store;\n", "", "Unused group"),
    (
        "@external memory",
        "ref memory",
        "ref cells are not allowed for main",
    ),
];

/// What may come before a word or in its place.
const SPICES: [&str; 14] = [
    "ref",
    "@external",
    "comb",
    "static",
    "static<3>",
    "%[1:1] ?",
    "%[0:4] ?",
    "1'd1 ?",
    "1'd1",
    "@promotable(0)",
    "@interval(2)",
    "with is_less",
    "with is_more",
    "",
];

struct Random(TestRng);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.next_u64() % end as u64).unwrap()
    }

    /// One to three changes of the statements of `RICH`.
    fn program(&mut self) -> String {
        let mut statements: Vec<String> = RICH
            .split_inclusive([';', '{', '}'])
            .map(str::to_owned)
            .collect();
        for _ in 0..=self.below(2) {
            let at = self.below(statements.len());
            // Near enough to be of the same component, mostly.
            let other = (at + self.below(40))
                .saturating_sub(20)
                .min(statements.len() - 1);
            match self.below(6) {
                0 => statements.insert(at, statements[other].clone()),
                1 if statements[at].ends_with(';') => drop(statements.remove(at)),
                2 => statements.swap(at, other),
                3 => {
                    if let (Some((dst, _)), Some((_, src))) = (
                        statements[other].split_once('='),
                        statements[at].split_once('='),
                    ) {
                        statements[at] = format!("{dst}={src}");
                    }
                }
                4 => {
                    if let (Some((dst, _)), Some((_, src))) = (
                        statements[at].split_once('='),
                        statements[at].split_once('?'),
                    ) {
                        statements[at] = format!("{dst}={src}");
                    }
                }
                _ => {
                    let mut words: Vec<&str> = statements[at].split(' ').collect();
                    let place = self.below(words.len());
                    let spice = SPICES[self.below(SPICES.len())];
                    if self.below(2) == 0 {
                        words.insert(place, spice);
                    } else {
                        words[place] = spice;
                    }
                    statements[at] = words.join(" ");
                }
            }
        }
        statements.concat()
    }
}

fn printed(ctx: &ir::Context) -> String {
    let mut text = Vec::new();
    for component in &ctx.components {
        ir::Printer::write_component(component, &mut text).unwrap();
    }
    String::from_utf8(text).unwrap()
}

/// What the pass says of a program, and the program afterwards.
fn verdict(
    mut program: Program,
    pass: impl FnOnce(&mut ir::Context) -> CalyxResult<()>,
) -> Result<String, String> {
    guarded(&program.path, "well-formed", || pass(&mut program.ctx))
        .map(|()| printed(&program.ctx))
        .map_err(|error| error.to_string())
}

/// The verdict on a program, if it is one; fails where petal's way makes a difference.
fn compare(file: &Path, library: &Library) -> Option<Result<String, String>> {
    let manager = petal_compiler::default_passes().unwrap();
    let stock = |ctx: &mut ir::Context| petal_compiler::run_pass(&manager, ctx, "well-formed");
    let expected = verdict(Program::read(file, library).ok()?, stock);
    let verdict_here = verdict(Program::read(file, library).unwrap(), |ctx| {
        check(ctx, stock)
    });
    let unused = |verdict: &Result<String, String>| {
        let message = verdict.as_ref().err();
        message.is_some_and(|message| message.contains("Unused "))
    };
    // Of several unused groups, the pass reports any; so does upstream's of several ways to run a group.
    let told = |verdict: &Result<String, String>| {
        let told = verdict.clone();
        told.map_err(|message| {
            message
                .split("\n...\n")
                .next()
                .unwrap_or_default()
                .to_owned()
        })
    };
    if !(unused(&expected) && unused(&verdict_here)) {
        assert_eq!(told(&verdict_here), told(&expected));
    }
    Some(expected)
}

/// One test, because threads must not share the Calyx crates' table of positions.
#[test]
fn verdicts_and_programs_are_those_of_the_stock_pass() {
    let library = Library::new(&[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("design.futil");
    let compare = |program: &str| {
        std::fs::write(&file, program).unwrap();
        compare(&file, &library)
    };
    assert!(matches!(compare(RICH), Some(Ok(_))));
    let mut rich = Program::read(&file, &library).unwrap();
    check(&mut rich.ctx, |ctx| {
        let main = ctx.components.iter().find(|c| c.name == "main").unwrap();
        assert!(main.continuous_assignments.is_empty());
        let add = main.find_static_group("add").unwrap();
        assert_eq!(
            add.borrow().assignments.len(),
            1,
            "the one with a condition"
        );
        Ok(())
    })
    .unwrap();
    for (old, new, message) in REFUSED {
        assert!(RICH.contains(old), "{old}");
        match compare(&RICH.replacen(old, new, 1)) {
            // Upstream's compiler has other words.
            Some(Err(error)) => assert!(
                error.contains(message) || petal_program::CALYX_VERSION != "0.7.1",
                "{new}: {error}"
            ),
            // It takes one of these, too.
            Some(Ok(_)) if petal_program::CALYX_VERSION != "0.7.1" => {}
            other => panic!("{old} -> {new}: {other:?}"),
        }
    }
    let mut random = Random(TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let verdicts = (0..1000).filter_map(|_| compare(&random.program()));
    let (fine, refused): (Vec<_>, Vec<_>) = verdicts.partition(Result::is_ok);
    assert!(
        fine.len() > 100 && refused.len() > 20,
        "{} {}",
        fine.len(),
        refused.len()
    );
}
