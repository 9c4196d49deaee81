//! Premises of proofs, each with a program in which one does not hold.

use petal_program::CALYX_VERSION;
use serde_json::Value;

use crate::support::advice::advice;
use crate::support::root;
use crate::support::workshop::Workshop;

/// What is advised for a program under some passes: for each change what to do, and whether that is proved.
fn advised(program: &str, more: &[&str]) -> Vec<(String, bool)> {
    let folder = root().join("tests/fast/advice/premises");
    let workshop = Workshop::empty();
    let text = std::fs::read(folder.join(format!("{program}.futil"))).unwrap();
    workshop.write("design.futil", text);
    if let Ok(data) = std::fs::read(folder.join(format!("{program}.json"))) {
        workshop.write("design.futil.data", data);
    }
    let advice = advice(&workshop, &[&["design.futil"], more].concat());
    let items = advice["advice"].as_array().unwrap().iter();
    let items = items.map(|item| {
        let what = item["what"].as_str().unwrap().to_owned();
        (what, item["class"] == "proved")
    });
    items.collect()
}

#[test]
fn nothing_is_proved_where_a_premise_does_not_hold() {
    for (program, passes) in [
        ("undriven-comparison", "all"),
        ("undriven-comparison", "no-opt"),
        ("undriven-adder", "all"),
        ("undriven-adder", "no-opt"),
        ("bypass-register", "all"),
        ("bypass-register", "no-opt"),
        ("go-read-by-wires", "no-opt"),
        ("done-read-by-wires", "no-opt"),
        ("state-behind-wires", "no-opt"),
        ("nested-state", "no-opt"),
        ("inlined-state", "no-opt"),
        ("inlined-undriven", "all"),
        ("inlined-undriven", "no-opt"),
        ("handed-register", "no-opt"),
        ("static-start", "no-opt"),
        ("static-call", "all"),
        ("address-when-done", "no-opt"),
        ("stale-done", "all"),
        ("promised-group", "all"),
        ("stable-output", "all"),
        ("write-enable-data", "all"),
        ("named-like-memory", "all"),
        ("untrue-bound", "all"),
        ("untrue-bound", "no-opt"),
        ("called-group", "all"),
        ("written-sometimes", "all"),
        ("writing-condition", "all"),
        ("cut-constant", "all"),
        ("cut-constant", "no-opt"),
        ("cut-bound", "all"),
        ("falling-loop", "no-opt"),
        ("falling-par", "no-opt"),
        ("wire-slice", "all"),
        ("wire-guarded", "all"),
        ("other-latency", "all"),
        ("dead-memory", "all"),
        ("component-of-one-loop", "all"),
        ("component-of-one-static-loop", "all"),
        ("component-of-one-static-loop", "no-opt"),
        ("address-after-loop", "all"),
        ("unread-memory", "all"),
        ("unread-log", "all"),
        ("compacted-address", "all"),
        ("part-in-par", "all"),
        ("promise-without-rest", "all"),
        ("product-lost", "all"),
        ("promised-product-lost", "all"),
        ("counted-twice", "all"),
        ("read-on", "all"),
        ("address-without-wait", "all"),
        ("product-while-running", "all"),
        ("lost-logic", "all"),
        ("lost-logic-in-loop", "all"),
        ("loops-free-in-callee", "all"),
        ("product-looked-at-early", "all"),
        ("product-without-rest", "all"),
        ("product-of-three-cycles", "all"),
        ("multiplier-handed-over", "all -d cell-share"),
        ("named-like-component", "all"),
        ("words-of-72-bits", "all"),
        ("arms-of-72-bits", "all"),
    ] {
        let passes: Vec<&str> = passes.split(' ').collect();
        let proved = advised(program, &[&["--passes"], &*passes, &["--proved"]].concat());
        assert_eq!(proved, [], "{program} under {passes:?}");
    }
}

#[test]
fn what_does_not_fit_becomes_no_part() {
    for program in ["wires-drive-memory", "part-hands-on", "part-clashes"] {
        let proved = advised(program, &["--proved", "-d", "cell-share"]);
        let part = proved
            .iter()
            .find(|(what, _)| what.contains("a part of `main`"));
        assert_eq!(part, None, "{program}");
    }
}

#[test]
fn what_others_look_at_is_neither_taken_away_nor_left_open() {
    for (program, taken) in [
        // The product is read once more.
        ("product-read-later", "shift by"),
        // Wires make an address of it while it runs.
        ("wired-output", "before this `repeat`"),
        // A `done` is data: nobody drives these in the other cycles.
        ("done-as-data", "`g`"),
    ] {
        let proved = advised(program, &["--proved"]);
        let mut whats = proved.iter().map(|(what, _)| what);
        assert!(!whats.any(|what| what.contains(taken)), "{program}");
    }
}

#[test]
fn products_and_words_are_read_where_they_are() {
    for (program, moved) in [
        // Nothing would start it.
        ("product-read-elsewhere", &[][..]),
        ("product-kept", &["`pipelined_mult`", "the word of `s`"]),
        ("two-words-kept", &["the word of `a`", "the word of `s`"]),
    ] {
        let proved = advised(program, &["--proved", "-d", "cell-share"]);
        let mut whats = proved.iter().map(|(what, _)| what.as_str());
        let each = whats.find(|what| what.contains("in each cycle, while those"));
        assert_eq!(each.is_some(), !moved.is_empty(), "{program}: {proved:?}");
        let said = each.unwrap_or_default();
        assert!(moved.iter().all(|part| said.contains(part)), "{said}");
    }
}

/// That it is to be compiled with each cell apart.
const APART: &str = "compile it with `-d cell-share`";

#[test]
fn what_sharing_may_lose_is_proved_without_it_alone() {
    for (program, pieces) in [
        ("state-behind-wires", 2),
        ("value-after-loop", 2),
        ("value-after-repeat", 2),
        ("nested-state", 2),
        ("inlined-state", 3),
        ("branches-in-par", 2),
    ] {
        let proved = advised(program, &["--proved"]);
        let whats: Vec<&str> = proved.iter().map(|(what, _)| what.as_str()).collect();
        assert_eq!(
            (whats[0], whats.len()),
            (APART, pieces),
            "{program}: {whats:?}"
        );
    }
}

#[test]
fn what_is_handed_over_may_be_driven_by_others() {
    let apart = ["--proved", "--passes", "no-opt", "-d", "cell-share"];
    assert_eq!(advised("handed-adder", &apart), []);
}

#[test]
fn what_arms_have_in_common_stays_alike() {
    let folder = root().join("tests/fast/advice/premises");
    let text = std::fs::read_to_string(folder.join("common-logic.futil")).unwrap();
    let proved = |text: &str| {
        let workshop = Workshop::empty();
        workshop.write("design.futil", text);
        let advice = advice(&workshop, &["design.futil", "--proved"]);
        let items = advice["advice"].as_array().unwrap().iter();
        let kinds = items.map(|item| item["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>()
    };
    assert_eq!(proved(&text), ["continuous-condition"]);
    // One arm drives it otherwise.
    let other = text.replacen("sum.right = 8'd1", "sum.right = 8'd2", 1);
    assert_ne!(other, text);
    assert_eq!(proved(&other), [""; 0]);
}

#[test]
fn a_done_that_logic_looks_at_may_be_that_of_another_cell() {
    let said = advised("done-by-logic", &["--proved"]);
    assert_eq!(said.first().map(|(what, _)| what.as_str()), Some(APART));
    let apart = advised("done-by-logic", &["--proved", "-d", "cell-share"]);
    assert!(!apart.is_empty(), "{apart:?}");
    // Whoever hands a register over may have written it just before.
    let handed = advised("handed-done", &["--proved", "-d", "cell-share"]);
    assert_eq!(handed, []);
}

#[test]
fn what_is_said_and_true_keeps_nothing_from_a_proof() {
    for (program, untrue, is_so) in [
        ("untrue-bound", "@bound(5)", "@bound(3)"),
        (
            "promised-group",
            r#""promotable"=3> { ad.left = x.out; ad.right = 8'd1; x.in = ad.out; x.write_en = !x.done ?"#,
            r#""promotable"=1> { ad.left = x.out; ad.right = 8'd1; x.in = ad.out; x.write_en ="#,
        ),
    ] {
        let folder = root().join("tests/fast/advice/premises");
        let workshop = Workshop::empty();
        let text = std::fs::read_to_string(folder.join(format!("{program}.futil"))).unwrap();
        assert!(text.contains(untrue), "{program}");
        workshop.write("design.futil", text.replace(untrue, is_so));
        let advice = advice(&workshop, &["design.futil", "--proved"]);
        assert_ne!(advice["advice"].as_array().unwrap().len(), 0, "{program}");
    }
}

#[test]
fn a_bound_around_a_read_is_not_lost() {
    let advised = advised("guarded-read", &[]);
    let class = |group: &str| {
        let mut of_group = advised.iter().filter(|(what, _)| what.contains(group));
        of_group.next().map(|(_, is_proved)| *is_proved)
    };
    assert_eq!(class("`in_range`"), Some(true), "{advised:?}");
    assert_ne!(class("`is_zero`"), Some(true), "{advised:?}");
}

#[test]
fn what_may_stop_the_run_stays_behind_a_loop() {
    for (program, passes) in [
        ("invoked-address", "all"),
        ("continuous-address", "all"),
        ("output-address", "no-opt"),
        ("sequential-address", "all"),
        ("division", "all"),
        ("dynamic-memory", "all"),
    ] {
        let proved = advised(program, &["--passes", passes, "--proved"]);
        let mut of_loop = proved.iter().filter(|(what, _)| what.contains("while"));
        assert_eq!(of_loop.next(), None, "{program} under {passes}");
    }
}

#[test]
fn a_kernel_becomes_a_part_of_what_runs_it() {
    // Its memories have no word for each address, and what is only read there is not written.
    let kernel = advised("kernel", &["--proved"]);
    let whats: Vec<&str> = kernel.iter().map(|(what, _)| what.as_str()).collect();
    let part = "make the cell `all` a part of `main`: `@inline`";
    let copy = "read `from.read_data` itself, and leave out its copy in the register `word`";
    assert_eq!(whats, [APART, part, copy]);
}

#[test]
fn what_became_a_part_is_advised_too() {
    let proved = advised("inlined-chain", &["--proved", "-d", "cell-share"]);
    let chain = "make one group of `take`, `put` and `step`, which reads what goes into registers";
    assert_eq!(proved, [(chain.to_owned(), true)]);
}

#[test]
fn what_a_run_keeps_is_not_lost_whatever_the_passes() {
    for (what, is_proved) in advised("run-keeps-register", &["--passes", "no-opt"]) {
        let is_of_caller = what.contains("`load`");
        assert!(is_of_caller || !is_proved, "{what}");
    }
    let advised = advised("run-keeps-register", &[]);
    assert_eq!(advised[0], (APART.to_owned(), true));
}

/// Registers of a primitive that is the library's `std_bypass_reg` but for its declaration: what is said of its ports `write_en`
/// and `out`.
fn with_declaration(write_en: &str, out: &str) -> Vec<String> {
    let workshop = Workshop::empty();
    workshop.write(
        "design.futil",
        format!(
            r#"import "primitives/compile.futil";
import "primitives/memories/comb.futil";
primitive std_bypass_reg[WIDTH](
  @write_together(1) @data in: WIDTH, @write_together(1) {write_en} @go write_en: 1, @clk clk: 1, @reset reset: 1
) -> ({out} out: WIDTH, @done done: 1) {{
  logic [WIDTH-1:0] value;
  assign out = write_en ? in : value;
  always_ff @(posedge clk) begin
    done <= ~reset & write_en;
    if (reset) value <= 0;
    else if (write_en) value <= in;
  end
}}
component main() -> () {{
  cells {{ @external m = comb_mem_d1(8, 2, 1); a = std_reg(8); b = std_reg(8); s = std_add(8); c = std_bypass_reg(8); }}
  wires {{
    group first {{ a.in = 8'd1; a.write_en = 1'd1; first[done] = a.done; }}
    group second {{ b.in = 8'd2; b.write_en = 1'd1; second[done] = b.done; }}
    group third {{ c.in = 8'd3; c.write_en = 1'd1; third[done] = c.done; }}
    group store {{
      s.left = a.out; s.right = b.out; m.addr0 = 1'd0; m.write_data = s.out; m.write_en = 1'd1; store[done] = m.done;
    }}
  }}
  control {{ seq {{ first; second; third; store; }} }}
}}
"#
        ),
    );
    let advice = advice(
        &workshop,
        &["design.futil", "--proved", "--passes", "no-opt"],
    );
    let items = advice["advice"].as_array().unwrap().iter();
    let kinds = items.map(|item| item["kind"].as_str().unwrap().to_owned());
    kinds.collect()
}

#[test]
fn declarations_are_not_believed() {
    // Upstream's library declares it otherwise.
    let known = match CALYX_VERSION {
        "0.7.1" => with_declaration("@interval(1)", ""),
        _ => with_declaration("", "@stable"),
    };
    assert_ne!(known, [""; 0]);
    assert_eq!(with_declaration("@interval(1)", "@stable"), [""; 0]);
}

#[test]
fn new_groups_of_a_loop_do_what_its_steps_do() {
    // What the first user of a memory finds in it, what comes first now, and logic of several words.
    for (program, what, is_offered) in [
        ("window-seen", "of the iteration before", false),
        ("window-first", "of the iteration before", false),
        ("window-first", "start an iteration", true),
        ("window-first-nested", "of the iteration before", false),
        ("window-first-in-par", "of the iteration before", false),
        ("read-first", "start an iteration", false),
        // One group waits as a whole.
        ("address-runs-ahead", "start an iteration", true),
        // The arms of a `par` need not wait as that does.
        ("arm-first", "run the arms", false),
        ("window-logic", "of the iteration before", false),
        ("window-logic", "start an iteration", true),
    ] {
        let proved = advised(program, &["--proved", "-d", "cell-share"]);
        let is_proved = proved.iter().any(|(of, _)| of.contains(what));
        assert_eq!(is_proved, is_offered, "{program}: {proved:?}");
    }
    let proved = advised("comment-before-step", &["--proved"]);
    assert!(
        proved.iter().any(|(of, _)| of.contains("`g1`")),
        "{proved:?}"
    );
}

#[test]
fn with_proved_nothing_checked_is_applied() {
    let folder = root().join("tests/fast/advice/premises");
    let workshop = Workshop::empty();
    let text = std::fs::read_to_string(folder.join("run-keeps-register.futil")).unwrap();
    workshop.write("design.futil", &text);
    let data = std::fs::read(folder.join("run-keeps-register.json")).unwrap();
    workshop.write("design.futil.data", data);
    let said = workshop.succeeds(&[
        "advise",
        "design.futil",
        "--proved",
        "--apply",
        "--passes",
        "no-opt",
    ]);
    assert!(!said.contains("checked:"), "{said}");
    let summary: Value =
        serde_json::from_str(&workshop.read("petal-out/design/summary.json")).unwrap();
    let items = summary["advice"]["advice"].as_array().unwrap();
    assert!(items.iter().all(|item| item["class"] == "proved"), "{said}");
    // The component that keeps a register is as it was.
    let component = |text: &str| text[..text.find("component main").unwrap()].to_owned();
    assert_eq!(component(&workshop.read("design.futil")), component(&text));
}
