//! `petal advise`: what it advises saves what it says, and computes what the design computes.

use expect_test::{Expect, expect};
use petal_program::CALYX_VERSION;
use serde_json::Value;

use crate::kept_state::COUNTERS;
use crate::support::advice::{advice, patched, ran};
use crate::support::workshop::{Workshop, example, tells};

/// A workshop with an example as `design.futil`.
fn with(example: &str) -> Workshop {
    let workshop = Workshop::empty();
    workshop.edited("design.futil", example, &[]);
    workshop
}

#[test]
fn what_is_proved_is_shown_piece_by_piece() {
    let workshop = with("dot-product.futil");
    let json = ["advise", "design.futil", "--proved", "--format", "json"];
    let advice: Value = serde_json::from_str(&workshop.succeeds(&json)).unwrap();
    let proof = &advice["advice"][1]["proof"];
    assert_eq!((&proof["pieces"], &proof["equal"]), (&1.into(), &1.into()));
    let expected: Expect = expect![[r#"
        2  make the group `multiply` static: `static<2> group`

          rule: what it is done with follows, cycle by cycle, from what it starts in its first
          the piece that it changes comes to the same, run with unknown values

          main: the group `multiply`: the same, whatever the values
            - group multiply {
            -   a.addr0 = index.out;
            -   b.addr0 = index.out;
            -   mult.left = a.read_data;
            -   mult.right = b.read_data;
            -   mult.go = !mult.done ? 1'd1;
            -   multiply[done] = mult.done;
            - }
            + static<2> group multiply {
            +   a.addr0 = index.out;
            +   b.addr0 = index.out;
            +   mult.left = a.read_data;
            +   mult.right = b.read_data;
            +   mult.go = 1'd1;
            + }

        3  make the comb group `more` continuous

          rule: nothing else drives or reads the cells of the condition, and every register that it reads is written by groups that are done after that
          the piece that it changes comes to the same, run with unknown values

          main: a condition: the same, whatever the values
            - while lt.out with more
            - comb group more {
            -   lt.left = i.out;
            -   lt.right = 4'd8;
            - }
            + while lt.out

        4  start an iteration of this `while` every 2 cycles, while the one before it goes on

          rule: the same steps run as often, and any two of which one writes what the other one reads or writes in the same order, or in one cycle, in which it reads what was there before
          the piece that it changes comes to the same, run with unknown values

          main: these statements: the same, whatever the values
            - while lt.out { seq { multiply; par { accumulate; incr; } } }
            - group accumulate {
            -   add.left = sum.out;
            -   add.right = mult.out;
            -   sum.in = add.out;
            -   sum.write_en = 1'd1;
            -   accumulate[done] = sum.done;
            - }
            - group incr {
            -   next.left = i.out;
            -   next.right = 4'd1;
            -   i.in = next.out;
            -   i.write_en = 1'd1;
            -   incr[done] = i.done;
            - }
            - static<2> group multiply {
            -   a.addr0 = index.out;
            -   b.addr0 = index.out;
            -   mult.left = a.read_data;
            -   mult.right = b.read_data;
            -   mult.go = 1'd1;
            - }
            + multiply_to_incr_begin; repeat 7 { multiply_to_incr; } multiply_to_incr_end;
            + static<2> group multiply_to_incr {
            +   a.addr0 = index.out;
            +   b.addr0 = index.out;
            +   mult.left = a.read_data;
            +   mult.right = b.read_data;
            +   mult.go = 1'd1;
            +   add.left = %0 ? sum.out;
            +   add.right = %0 ? mult.out;
            +   sum.in = %0 ? add.out;
            +   sum.write_en = %0 ? 1'd1;
            +   next.left = %1 ? i.out;
            +   next.right = %1 ? 4'd1;
            +   i.in = %1 ? next.out;
            +   i.write_en = %1 ? 1'd1;
            + }
            + static<2> group multiply_to_incr_begin {
            +   a.addr0 = index.out;
            +   b.addr0 = index.out;
            +   mult.left = a.read_data;
            +   mult.right = b.read_data;
            +   mult.go = 1'd1;
            +   next.left = %1 ? i.out;
            +   next.right = %1 ? 4'd1;
            +   i.in = %1 ? next.out;
            +   i.write_en = %1 ? 1'd1;
            + }
            + static<1> group multiply_to_incr_end {
            +   add.left = sum.out;
            +   add.right = mult.out;
            +   sum.in = add.out;
            +   sum.write_en = 1'd1;
            + }

    "#]];
    expected.assert_eq(&workshop.read("petal-out/design/advice/proof.txt"));
    // The file goes with the advice.
    workshop.succeeds(&["advise", "design.futil", "--candidates", "1"]);
    assert!(!workshop.path("petal-out/design/advice/proof.txt").exists());
}

#[test]
fn a_switch_is_advised_to_be_one_if() {
    let workshop = with("switch-case-par.futil");
    let text = workshop.succeeds(&["advise", "design.futil", "--proved"]);
    let expected: Expect = expect![[r#"
        design: 9 cycles, with all advice 6 (-33.3 %)

        proved: the design computes the same, whatever its data are

           1  make one `if` with `else` of the 3 `if`s in this `par`
              saves 3 cycles (33.3 %)
              at main.if@L119 (design.futil:119)
              hardware: -6 registers, -14 register bits, -7 states
              A `par` waits for all of its arms, and adds a cycle to learn that they are
              done, although at most one of these has anything to do. It computes the
              same: their conditions exclude one another, and no branch writes what a
              condition reads.
              @@ -117,7 +117,3 @@
                     read;
              -      par {
              -        if eq_1.out { run_s1; }
              -        if eq_2.out { run_s2; }
              -        if eq_3.out { run_s3; }
              -      }
              +      if eq_1.out { run_s1; } else if eq_2.out { run_s2; } else if eq_3.out { run_s3; }
                     write;

        tried on: design.futil.data
        tried 12 changes in 21 runs; 9 saved nothing; 1 could not be compiled or did not
        end
        hardware is told without multiplexers

          petal-out/design/advice/ has a patch of each
          petal-out/design/report.html shows them in a browser

          next
          patch design.futil petal-out/design/advice/all.patch
          petal run design.futil                                profiles it then
    "#]];
    expected.assert_eq(&text);
    let markdown = ["advise", "design.futil", "--proved", "--format", "markdown"];
    let expected: Expect = expect![[r#"
        ### design: 9 cycles, with all advice 6 (-33.3 %)

        **proved: the design computes the same, whatever its data are**

        | | what to do | saves | alone | hardware |
        | ---: | --- | ---: | ---: | --- |
        | 1 | make one `if` with `else` of the 3 `if`s in this `par` (main.if@L119 (design.futil:119)) | 3 (33.3 %) | 3 | -6 registers, -14 register bits, -7 states |

        <details><summary>All of it as a patch</summary>

        ```diff
        --- a/design.futil
        +++ b/design.futil
        @@ -115,11 +115,7 @@
           control {
             seq {
               read;
        -      par {
        -        if eq_1.out { run_s1; }
        -        if eq_2.out { run_s2; }
        -        if eq_3.out { run_s3; }
        -      }
        +      if eq_1.out { run_s1; } else if eq_2.out { run_s2; } else if eq_3.out { run_s3; }
               write;
             }
           }
        ```

        </details>

        tried on: design.futil.data; tried 12 changes in 21 runs; 9 saved nothing; 1 could not be compiled or did not end

        hardware is told without multiplexers
    "#]];
    expected.assert_eq(&workshop.succeeds(&markdown));
}

#[test]
fn advice_is_applied_and_the_file_kept() {
    let workshop = with("switch-case-par.futil");
    let before = workshop.read("design.futil");
    let said = workshop.ends(0, &["advise", "design.futil", "--proved", "--apply"]);
    let changed = "design.futil is changed as advised; design.futil.orig is as it was";
    tells(&said, &[changed]);
    assert_eq!(workshop.read("design.futil.orig"), before);
    let (cycles, _) = ran(&workshop, "design.futil", &Value::Array(Vec::new()));
    assert_eq!(cycles, 6);
    let text = workshop.succeeds(&["advise", "design.futil", "--proved"]);
    let without = "without `--proved`, advice that is only checked is told, too";
    tells(&text, &["6 cycles; nothing found that saves any", without]);
    // The file that is kept is not lost.
    let said = workshop.ends(2, &["advise", "design.futil", "--apply"]);
    tells(
        &said,
        &["design.futil.orig is there already", "move it away"],
    );
    assert_eq!(workshop.read("design.futil.orig"), before);
    let said = workshop.ends(2, &["advise", "-", "--apply"]);
    tells(&said, &["give the design as one, not on standard input"]);
}

#[test]
fn a_limit_fails_while_proved_advice_saves_more() {
    let workshop = with("switch-case-par.futil");
    let limit = |limit| ["advise", "design.futil", "--proved", "--fail-above", limit];
    workshop.succeeds(&limit("34%"));
    workshop.succeeds(&limit("3cycles"));
    let said = workshop.ends(1, &limit("33%"));
    tells(
        &said,
        &["proved advice saves 3 of 9 cycles, more than the limit"],
    );
    workshop.ends(1, &limit("2cycles"));
}

#[test]
fn code_scanning_gets_lines_and_classes() {
    let workshop = with("switch-case-par.futil");
    let said = workshop.succeeds(&["advise", "design.futil", "--format", "sarif"]);
    let sarif: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "petal");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty());
    assert!(rules.iter().all(|rule| rule["help"]["text"].is_string()));
    for result in results {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]));
        let level = if result["properties"]["class"] == "proved" {
            "warning"
        } else {
            "note"
        };
        assert_eq!(result["level"], level);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "design.futil");
        assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
    }
}

#[test]
fn the_profile_has_the_advice_until_its_design_is_another() {
    let workshop = with("switch-case-par.futil");
    workshop.succeeds(&["advise", "design.futil", "--proved"]);
    let summary: Value =
        serde_json::from_str(&workshop.read("petal-out/design/summary.json")).unwrap();
    assert_eq!(summary["advice"]["with_proved"], 6);
    let report = workshop.read("petal-out/design/report.html");
    tells(&report, &["exclusive-branches"]);
    workshop.succeeds(&["report", "petal-out/design"]);
    assert!(workshop.read("petal-out/design/report.html") == report);
    workshop.succeeds(&["run", "design.futil"]);
    assert!(workshop.read("petal-out/design/report.html") == report);
    workshop.succeeds(&["run", "design.futil", "--passes", "no-opt"]);
    assert!(workshop.path("petal-out/design/advice/all.patch").exists());
    assert!(
        !workshop
            .read("petal-out/design/report.html")
            .contains("exclusive-branches")
    );
}

/// A loop over as many words as the data say, with a group that is done early if they say so.
const BY_DATA: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 4, 2);
    i = std_reg(8); s = std_reg(8); lt = std_lt(8); next = std_add(8); sum = std_add(8); n = std_reg(8);
  }
  wires {
    comb group more { lt.left = i.out; lt.right = n.out; }
    group load { m.addr0 = 2'd0; n.in = m.read_data; n.write_en = 1'd1; load[done] = n.done; }
    group add { sum.left = s.out; sum.right = i.out; s.in = sum.out; s.write_en = 1'd1; add[done] = s.done; }
    group incr { next.left = i.out; next.right = 8'd1; i.in = next.out; i.write_en = 1'd1; incr[done] = i.done; }
    group store { m.addr0 = 2'd1; m.write_data = s.out; m.write_en = 1'd1; store[done] = m.done; }
  }
  control {
    seq {
      load;
      while lt.out with more { seq { add; incr; } }
      store;
    }
  }
}
"#;

fn words(first: u64) -> String {
    format!(
        r#"{{"m": {{"data": [{first}, 0, 0, 0], "format": {{"numeric_type": "bitnum", "is_signed": false, "width": 8}}}}}}"#
    )
}

#[test]
fn more_data_refute_what_one_data_set_cannot() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", BY_DATA);
    workshop.write("a.json", words(3));
    workshop.write("b.json", words(5));
    let one = advice(&workshop, &["design.futil", "--data", "a.json"]);
    let kinds = |advice: &Value| -> Vec<String> {
        let items = advice["advice"].as_array().unwrap().iter();
        items
            .map(|item| item["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(
        kinds(&one).iter().any(|kind| kind == "fixed-iterations"),
        "{one:#}"
    );
    let both = ["design.futil", "--data", "a.json", "--data", "b.json"];
    let both = advice(&workshop, &both);
    assert!(
        !kinds(&both).iter().any(|kind| kind == "fixed-iterations"),
        "{both:#}"
    );
    // What is proved is the same, whatever the data are.
    let proved = |advice: &Value| {
        let items = advice["advice"].as_array().unwrap().iter();
        let proved = items.filter(|item| item["class"] == "proved");
        proved.map(|item| item["what"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(proved(&one), proved(&both));
    let names: Vec<&Value> = both["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|data| &data["name"])
        .collect();
    assert_eq!(names, ["a.json", "b.json"]);
    let cycles = |key: &str| {
        both["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|data| data[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(cycles("cycles"), both["cycles"].as_u64().unwrap());
    assert_eq!(cycles("with_all"), both["with_all"].as_u64().unwrap());
}

#[test]
fn what_the_compiler_gets_wrong_proves_nothing() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", COUNTERS);
    let advice = advice(&workshop, &["design.futil"]);
    // Where the compiler joins the counters, to keep them apart changes what they count: it is dropped, and no surprise.
    assert_eq!(advice["defects"], Value::Array(Vec::new()), "{advice:#}");
    let is_joined = CALYX_VERSION == "0.7.1";
    let different = advice["tried"]["different"].as_u64().unwrap();
    assert_eq!(different > 0, is_joined, "{advice:#}");
    let told = advice["not_advised"].as_array().unwrap().iter();
    let mut told = told.map(|of| of["why"].as_str().unwrap());
    let is_told = told.any(|why| why.starts_with("with it, ") && why.contains(" and not "));
    assert_eq!(is_told, is_joined, "{advice:#}");
    for item in advice["advice"].as_array().unwrap() {
        let in_counters = item["place"]
            .as_str()
            .is_some_and(|place| place.starts_with("counters"));
        assert!(
            !(in_counters && is_joined) || item["class"] == "checked",
            "{item:#}"
        );
    }
}

#[test]
fn what_the_passes_do_not_compile_is_not_advised() {
    let passes = ["--passes", "no-opt", "-d", "compile-static"];
    let args = [&["design.futil", "--proved"][..], &passes].concat();
    let advice = advice(&with("while-reg.futil"), &args);
    assert_eq!(advice["defects"], Value::Array(Vec::new()), "{advice:#}");
}

#[test]
fn what_is_as_good_as_it_gets_is_told_so() {
    let workshop = Workshop::empty();
    let program = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); }
  wires { group store { m.addr0 = 1'd0; m.write_data = 8'd7; m.write_en = 1'd1; store[done] = m.done; } }
  control { store; }
}
"#;
    let mut advise = workshop.command(&["advise", "-", "--quiet"]);
    advise.stdin(std::process::Stdio::piped());
    let mut child = advise.spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), program.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let expected: Expect = expect![[r#"
        stdin: 1 cycle; nothing found that saves any

        tried on: zeros
        tried 14 changes in 15 runs; 13 saved nothing; 1 could not be compiled or did
        not end
    "#]];
    expected.assert_eq(&String::from_utf8(output.stdout).unwrap());
}

#[test]
fn the_same_design_gets_the_same_advice() {
    let advise = ["advise", "design.futil", "--budget", "10m", "--quiet"];
    for example in ["distances.futil", "while-reg.futil"] {
        let with_jobs = |jobs: &str| {
            let workshop = with(example);
            let json = ["--format", "json", "--jobs", jobs];
            let said = workshop.succeeds(&[&advise[..], &json].concat());
            (said, workshop.read("petal-out/design/advice/all.patch"))
        };
        let one = with_jobs("1");
        assert!(one == with_jobs("1"), "{example}: another time");
        assert!(one == with_jobs("2"), "{example}: on two threads");
    }
}

#[test]
fn so_many_candidates_are_tried_wherever_it_runs() {
    let advised = |more: &[&str]| {
        let workshop = with("matmul.futil");
        let advise = ["advise", "design.futil", "--quiet", "--format", "json"];
        let said = workshop.succeeds(&[&advise[..], more].concat());
        (serde_json::from_str::<Value>(&said).unwrap(), said)
    };
    let few = ["--candidates", "20", "--search"];
    let (advice, said) = advised(&[&few[..], &["--jobs", "1"]].concat());
    assert_eq!(advice["tried"]["runs"], 20);
    assert!(
        advice["tried"]["not_tried"].as_u64() > Some(0),
        "{advice:#}"
    );
    assert!(advised(&[&few[..], &["--jobs", "3"]].concat()).1 == said);
    let (more, _) = advised(&["--candidates", "40"]);
    assert!(more["with_all"].as_u64() < advice["with_all"].as_u64());
    let both = ["advise", "x.futil", "--candidates", "9", "--budget", "9s"];
    let said = Workshop::empty().ends(2, &both);
    tells(&said, &["--candidates", "--budget"]);
}

#[test]
fn a_search_keeps_what_nothing_beats() {
    let workshop = with("while-comb.futil");
    let advice = advice(&workshop, &["design.futil", "--search"]);
    let front = advice["front"].as_array().unwrap();
    let of = |point: &Value, key: &str| point[key].as_u64().unwrap();
    assert!(front.len() > 1, "{advice:#}");
    let least = front.iter().map(|point| of(point, "cycles")).min().unwrap();
    assert!(least <= of(&advice, "with_all"));
    let data = workshop.read("design.futil.data");
    workshop.write("patched.futil.data", data);
    let (_, memories) = ran(&workshop, "design.futil", &Value::Array(Vec::new()));
    for point in front {
        let beaten = front.iter().any(|other| {
            other != point
                && ["cycles", "register_bits", "cells"]
                    .iter()
                    .all(|key| of(other, key) <= of(point, key))
        });
        assert!(!beaten, "{point:#}");
        match point["patch"].as_str() {
            Some(patch) => patched(&workshop, patch),
            None => workshop.write("patched.futil", workshop.read("design.futil")),
        }
        let after = ran(&workshop, "patched.futil", &point["arguments"]);
        assert_eq!(after, (of(point, "cycles"), memories.clone()), "{point:#}");
    }
}

#[test]
fn what_cannot_be_advised_is_told() {
    let workshop = Workshop::empty();
    workshop.write("broken.futil", "component main() -> () { cells {");
    let said = workshop.ends(1, &["advise", "broken.futil"]);
    tells(&said, &["broken.futil"]);
    assert!(!workshop.path("petal-out/broken").exists());
    let workshop = with("while-comb.futil");
    let said = workshop.ends(1, &["advise", "design.futil", "--cycle-limit", "5"]);
    tells(&said, &["nothing to compare with"]);
    let said = workshop.ends(2, &["advise", "design.futil", "--budget", "soon"]);
    tells(&said, &["write a time such as 60s, 5m or 1h"]);
}

/// What is not proved, or changes what the design computes, is told with the claim that nobody knows to be so.
#[test]
fn what_is_not_advised_is_told_why() {
    let workshop = Workshop::empty();
    let not_advised = |args: &[&str]| {
        let more = ["-q", "--out", "out", "--format", "json"];
        let told = workshop.succeeds(&[&["advise"], args, &more].concat());
        let advice: Value = serde_json::from_str(&told).unwrap();
        let told = advice["not_advised"].as_array().unwrap().iter();
        let told = told.map(|of| {
            let text = |key: &str| of[key].as_str().unwrap().to_owned();
            (
                text("kind"),
                text("place"),
                text("why"),
                of["saves"].as_u64(),
            )
        });
        told.collect::<Vec<_>>()
    };
    let design = example("invoke-ref.futil");
    let told = not_advised(&[&design, "--proved"]);
    let (kind, place, why, saves) = &told[0];
    assert_eq!(kind, "inline");
    assert_eq!(place, "main.invoke@L56");
    assert_eq!(*saves, Some(6));
    tells(
        why,
        &["not proved: what it keeps from one call to another is no longer one"],
    );
    // All of it is advised otherwise.
    assert!(not_advised(&[&design]).is_empty());
}
