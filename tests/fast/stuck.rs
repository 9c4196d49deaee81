//! Designs that never end: what petal says of them, and what it leaves.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::support::workshop::{Workshop, tells};

/// A program of these groups and this control; `sub` waits for what never comes.
fn program(groups: &str, control: &str) -> String {
    format!(
        r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component sub() -> () {{
  cells {{ t = std_reg(8); never = std_reg(1); }}
  wires {{
    group ask {{ t.in = 8'd1; t.write_en = never.out; ask[done] = t.done; }}
  }}
  control {{ seq {{ ask; }} }}
}}
component main() -> () {{
  cells {{
    @external mem = comb_mem_d1(8, 2, 1);
    i = std_reg(8); lt = std_lt(8); inv = std_not(8); n = std_reg(64); plus = std_add(64);
    s = sub();
  }}
  wires {{
    comb group below {{ lt.left = i.out; lt.right = 8'd10; }}
    group set {{ i.in = 8'd3; i.write_en = 1'd1; set[done] = i.done; }}
{groups}
  }}
  control {{
    seq {{
      set;
{control}
    }}
  }}
}}
"#
    )
}

const COUNT: &str = "    group count { plus.left = n.out; plus.right = 64'd1; n.in = plus.out; n.write_en = 1'd1; count[done] = n.done; }";
const FLIP: &str = "    group flip { mem.addr0 = 1'd1; inv.in = mem.read_data; mem.write_data = inv.out; mem.write_en = 1'd1; flip[done] = mem.done; }";
const LOST: &str = "    group lost { i.in = 8'd1; i.write_en = lt.out; lost[done] = i.done; }";
const DATA: &str = r#"{"mem": {"data": [1, 2], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 8}}}"#;

/// Compares what petal says of a program without optimisations. It must exit with 1 and leave a partial
/// profile, which all commands can read.
fn check(program: &str, args: &[&str], expected: &Expect) {
    let workshop = Workshop::empty();
    workshop.write("design.futil", program);
    workshop.write("design.futil.data", DATA);
    let run = ["run", "design.futil", "--passes", "no-opt", "--out", "out"];
    let said = workshop.ends(1, &[&run[..], args].concat());
    expected.assert_eq(&said);
    let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
    let stopped = summary["stopped"]
        .as_str()
        .expect("it is a partial profile");
    tells(&said, &[stopped]);
    assert_eq!(
        summary["ending"]["cycle"],
        summary["cycles"].as_u64().unwrap() - 1
    );
    let report = workshop.read("out/report.html");
    tells(&report, &[stopped]);
    for wait in summary["ending"]["waits"].as_array().unwrap() {
        tells(&report, &[wait.as_str().unwrap()]);
        tells(&said, &[wait.as_str().unwrap()]);
    }
    // What a command writes again tells it, too.
    workshop.succeeds(&["report", "out"]);
    assert!(workshop.read("out/report.html") == report);
    let trace = ["trace", "out", "--cycles"];
    let last = summary["ending"]["cycle"].to_string();
    let tree = workshop.succeeds(&[&trace[..], &[&format!("{last}..")]].concat());
    for node in summary["ending"]["active"].as_array().unwrap() {
        tells(&tree, &[node["label"].as_str().unwrap()]);
    }
}

#[test]
fn a_condition_that_never_gets_false() {
    let control = "      while lt.out with below { seq { flip; set; } }";
    check(
        &program(FLIP, control).replace("s = sub();", ""),
        &[],
        &expect![[r#"
            error: the design never ends: from cycle 43 on the same 12 cycles repeat for ever
              active in cycle 54, each with its first cycle:
               0  main
               0    seq@L22
               2      while@L24:7
              52        seq@L24:33
              54          set
              54            i (primitive)
              main.while@L24:7 (design.futil:24) never ends, as its condition never gets false: while lt.out with below { seq { flip; set; } }
              out holds the profile up to there, a partial one
        "#]],
    );
}

#[test]
fn a_done_that_never_comes() {
    let groups = format!("{LOST}\n    lt.left = i.out; lt.right = 8'd2;");
    let program = program(&groups, "      lost;").replace(
        "    comb group below { lt.left = i.out; lt.right = 8'd10; }\n",
        "",
    );
    check(
        &program,
        &[],
        &expect![[r#"
            error: the design never ends: from cycle 4 on nothing changes any more
              active in cycle 4, each with its first cycle:
              0  main
              0    seq@L22
              2      lost
              group main.lost (design.futil:18) waits for its `done`, `i.done`: i.write_en = lt.out, which is 0
              out holds the profile up to there, a partial one
        "#]],
    );
}

#[test]
fn a_par_with_an_arm_that_is_stuck() {
    let control = "      par { invoke s()(); seq { set; while lt.out with below { set; } } }";
    check(
        &program("", control),
        &[],
        &expect![[r#"
            error: the design never ends: from cycle 19 on the same 4 cycles repeat for ever
              active in cycle 22, each with its first cycle:
               0  main
               0    seq@L22
               2      par@L24:7
               2        invoke@L24:13
               2          invoke0 (compiler)
               2            s [sub]
               2              seq@L8
               2                ask
               2        seq@L24:27
               4          while@L24:38
              22            set
              22              i (primitive)
              group main.s.ask (design.futil:6) waits for its `done`, `t.done`: t.write_en = never.out, which is 0
              main.while@L24:38 (design.futil:24) never ends, as its condition never gets false: par { invoke s()(); seq { set; while lt.out with below { set; } } }
              out holds the profile up to there, a partial one
        "#]],
    );
    let control = "      par { invoke s()(); if lt.out with below { set; } }";
    check(
        &program("", control),
        &[],
        &expect![[r#"
            error: the design never ends: from cycle 16 on nothing changes any more
              active in cycle 16, each with its first cycle:
              0  main
              0    seq@L22
              2      par@L24:7
              2        invoke@L24:13
              2          invoke0 (compiler)
              2            s [sub]
              2              seq@L8
              2                ask
              group main.s.ask (design.futil:6) waits for its `done`, `t.done`: t.write_en = never.out, which is 0
              out holds the profile up to there, a partial one
        "#]],
    );
}

#[test]
fn a_counter_that_runs_on_is_no_proof() {
    let control = "      while lt.out with below { seq { count; set; } }";
    check(
        &program(COUNT, control),
        &["--cycle-limit", "1000"],
        &expect![[r#"
            error: the design had not finished after 1000 cycles: raise the cycle limit if it needs more, or look for a loop that never ends or a group whose done never comes
              active in cycle 999, each with its first cycle:
              0  main
              0    seq@L22
              2      while@L24:7
              out holds the profile up to there, a partial one
        "#]],
    );
    let control = "      while lt.out with below { invoke s()(); }";
    check(
        &program("", control),
        &["--cycle-limit", "6"],
        &expect![[r#"
            error: the design had not finished after 6 cycles: raise the cycle limit if it needs more, or look for a loop that never ends or a group whose done never comes
              active in cycle 5, each with its first cycle:
              0  main
              0    seq@L22
              2      while@L24:7
              4        invoke@L24:33
              4          invoke0 (compiler)
              4            s [sub]
              4              seq@L8
              4                ask
              group main.s.ask (design.futil:6) waits for its `done`, `t.done`: t.write_en = never.out, which is 0
              out holds the profile up to there, a partial one
        "#]],
    );
}

#[test]
fn a_component_without_control_that_never_sets_its_done() {
    let program = r#"import "primitives/core.futil";
component main() -> () {
  cells { r = std_reg(8); }
  wires { r.in = 8'd1; r.write_en = 1'd1; done = 1'd0; }
  control {}
}
"#;
    let workshop = Workshop::empty();
    workshop.write("design.futil", program);
    expect![[r#"
        error: the design never ends: from cycle 1 on nothing changes any more
          active in cycle 1, each with its first cycle:
          0  main
          component main (design.futil:2) has not set its `done`
          out holds the profile up to there, a partial one
    "#]]
    .assert_eq(&workshop.ends(1, &["run", "design.futil", "--out", "out", "-q"]));
    let said = workshop.ends(
        1,
        &[
            "compare",
            "design.futil",
            "--passes",
            "all",
            "--passes",
            "no-opt",
        ],
    );
    tells(&said, &["design.futil: the design never ends"]);
}

#[test]
fn a_partial_run_that_is_asked_for_is_no_failure() {
    let workshop = Workshop::endless();
    let run = [
        "run",
        "design.futil",
        "--out",
        "out",
        "--cycle-limit",
        "100",
    ];
    let output = workshop.petal(&[&run[..], &["--partial"]].concat());
    assert!(output.status.success());
    let said = crate::support::workshop::said(&output);
    tells(
        &said,
        &[
            "note: the design had not finished after 100 cycles",
            "active in cycle 99",
        ],
    );
    assert_eq!(
        workshop.succeeds(&[&run[..], &["--partial", "-q"]].concat()),
        ""
    );
}

#[test]
fn what_drives_the_port_that_is_waited_for() {
    // The compiler splits this group; what waits is told as it is written, with the value that keeps it from ending.
    let chain = r#"import "primitives/core.futil";
import "primitives/memories/seq.futil";
component main() -> () {
  cells { @external mem = seq_mem_d1(8, 2, 1); r = std_reg(8); lt = std_lt(8); plus = std_add(8); }
  wires {
    group load {
      mem.addr0 = 1'd0; mem.content_en = lt.out;
      r.in = mem.read_data; r.write_en = mem.done; load[done] = r.done;
    }
    group inc { plus.left = r.out; plus.right = 8'd1; r.in = plus.out; r.write_en = 1'd1; inc[done] = r.done; }
    lt.left = r.out; lt.right = 8'd0;
  }
  control { seq { inc; load; inc; } }
}
"#;
    for passes in ["all", "no-opt"] {
        let workshop = Workshop::empty();
        workshop.write("design.futil", chain);
        let said = workshop.ends(1, &["run", "design.futil", "--passes", passes, "-q"]);
        tells(
            &said,
            &[
                "group main.load (design.futil:6) waits for its `done`, `r.done`: \
               r.write_en = mem.done, and mem.content_en = lt.out, which is 0\n",
            ],
        );
    }
}
