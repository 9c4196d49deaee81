//! `petal compare` and `petal baseline`: what they tell of real runs, that it adds up, and what they
//! say of input that makes no sense.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::expect;
use serde_json::Value;
use tempfile::TempDir;

mod support;

fn example(name: &str) -> String {
    let path = support::root().join("calyx-examples").join(name);
    path.to_string_lossy().into_owned()
}

/// A folder in which petal runs.
struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn petal(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_petal"))
            .args(args)
            .current_dir(self.dir.path())
            .output()
            .unwrap()
    }

    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.petal(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "petal {args:?} said:\n{said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs petal, which must end with this exit code, and returns what it says.
    fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.petal(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            output.status.code(),
            Some(code),
            "petal {args:?} said:\n{said}"
        );
        assert!(!said.contains("panicked"), "petal {args:?} said:\n{said}");
        said
    }

    fn compare(&self, args: &[&str]) -> Value {
        let args = [&["compare", "--format", "json"], args].concat();
        serde_json::from_str(&self.succeeds(&args)).unwrap()
    }

    /// Writes an example with edits: each must change something.
    fn edited(&self, name: &str, example: &str, edits: &[(&str, &str)]) {
        let design = support::root().join("calyx-examples").join(example);
        let mut text = fs::read_to_string(&design).unwrap();
        for (from, to) in edits {
            assert!(text.contains(from), "{example} has no {from}");
            text = text.replace(from, to);
        }
        fs::write(self.path(name), text).unwrap();
        fs::copy(
            format!("{}.data", design.display()),
            self.path(&format!("{name}.data")),
        )
        .unwrap();
    }
}

fn figure(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn rows<'a>(comparison: &'a Value, table: &str) -> &'a Vec<Value> {
    comparison[table].as_array().expect("it is a table")
}

/// Everything that must add up in a comparison of any two runs.
fn adds_up(comparison: &Value) {
    for side in ["before", "after", "delta"] {
        let of = |value: &Value| figure(&value[side]);
        let kinds = comparison["overhead_by_kind"].as_object().unwrap();
        assert_eq!(
            of(&comparison["overhead"]),
            kinds.values().map(of).sum::<i64>()
        );
        assert_eq!(
            of(&comparison["cycles"]),
            of(&comparison["useful"]) + of(&comparison["overhead"])
        );
        let charged = rows(comparison, "statements")
            .iter()
            .map(|row| of(&row["overhead"]));
        assert_eq!(
            of(&comparison["overhead"]),
            charged.sum::<i64>() + of(&comparison["unplaced"])
        );
        for cell in rows(comparison, "cells") {
            assert_eq!(
                of(&cell["cycles"]),
                of(&cell["useful"]) + of(&cell["overhead"])
            );
        }
        assert_eq!(
            of(&comparison["cycles"]),
            of(&rows(comparison, "cells")[0]["cycles"])
        );
    }
}

/// The figures of one side are those of the tables of its profile.
fn is_of_the_profile(bench: &Bench, comparison: &Value, side: &str, folder: &str) {
    let table = |name: &str| -> Vec<Value> {
        let json = bench.succeeds(&["stats", folder, name, "--format", "json"]);
        serde_json::from_str(&json).unwrap()
    };
    let sum =
        |rows: &[Value], column: &str| -> i64 { rows.iter().map(|row| figure(&row[column])).sum() };
    let compared = |name: &str, of: &str| -> i64 {
        let rows = rows(comparison, name).iter();
        rows.map(|row| figure(&row[of][side])).sum()
    };
    let groups: Vec<Value> = table("groups")
        .into_iter()
        .filter(|row| row["origin"] != "compiler")
        .collect();
    let control = table("control");
    assert_eq!(compared("groups", "cycles"), sum(&groups, "total cycles"));
    assert_eq!(compared("groups", "times"), sum(&groups, "times active"));
    assert_eq!(compared("statements", "cycles"), sum(&control, "cycles"));
    assert_eq!(
        compared("statements", "overhead"),
        sum(&control, "overhead")
    );
    assert_eq!(compared("cells", "cycles"), sum(&table("cells"), "cycles"));
}

#[test]
fn everything_adds_up_for_both_builds_of_every_design() {
    let bench = Bench::new();
    let mut compared = 0;
    for design in [
        support::designs("calyx-examples"),
        support::designs("tests/corpus"),
    ]
    .concat()
    {
        let expected = support::Expected::of(&design).cycles;
        let verilog = fs::read_to_string(&design).unwrap().contains("extern \"");
        let (Some(&base), Some(&new)) = (expected.get("no-opt"), expected.get("all")) else {
            continue;
        };
        // Verilator, and runs of a million cycles, would show nothing more.
        if verilog || base > 100_000 {
            continue;
        }
        let design = design.to_string_lossy();
        for passes in ["no-opt", "all"] {
            let run = ["run", &design, "--passes", passes, "--out", passes, "-q"];
            bench.succeeds(&run);
        }
        let comparison = bench.compare(&["no-opt", "all"]);
        assert_eq!(comparison["cycles"]["before"], base, "{design}");
        assert_eq!(comparison["cycles"]["after"], new, "{design}");
        adds_up(&comparison);
        is_of_the_profile(&bench, &comparison, "before", "no-opt");
        is_of_the_profile(&bench, &comparison, "after", "all");
        // Both are builds of the same source, so nothing can have moved or changed.
        for table in ["groups", "statements"] {
            for row in rows(&comparison, table) {
                let fate = row["fate"].as_str().unwrap();
                let unused = |side: &str| row["cycles"][side] == 0;
                let gone =
                    fate == "vanished" && unused("before") || fate == "new" && unused("after");
                assert!(fate == "same" || gone, "{design}: {row}");
            }
        }
        compared += 1;
    }
    assert!(compared > 60, "only {compared} designs were compared");
}

#[test]
fn two_builds_as_text() {
    let design = example("while-comb.futil");
    let args = ["compare", &design, "--passes", "no-opt", "--passes", "all"];
    expect![[r#"
        while-comb (no-opt) → while-comb (all)

        note: compiled only before with compile-sync

        note: compiled only after with 14 passes

        run                before  after  delta       %
        cycles                 34     17    -17   -50.0
        useful                 14     14
          only conditions       4      4
        control overhead       20      3    -17   -85.0
          FSM update           11      3     -8   -72.7
          both                  9      0     -9  -100.0

        statement        cycles  delta      %  overhead  delta  what changed  source
        main.seq@L57     18 → 9     -9  -50.0     9 → 0     -9                seq
        main.while@L55  31 → 14    -17  -54.8     6 → 1     -5                while lt.out with cond
        main.par@L56     21 → 9    -12  -57.1     3 → 0     -3                par
        main.seq@L53    34 → 17    -17  -50.0         2                       seq
        5 statements unchanged (`--all` shows them)

        group        cycles  delta  %  times active  what changed
        main.incr         3                       3  now promoted, merged
        main.read         3                       3  now promoted, merged
        main.update       3                       3  now promoted, merged
        main.write        3                       3  now promoted, merged
        2 groups unchanged (`--all` shows them)

        cell   cycles  delta      %  useful  overhead  times active  what changed
        main  34 → 17    -17  -50.0      14    20 → 3             1
    "#]]
    .assert_eq(&Bench::new().succeeds(&args));
}

#[test]
fn two_designs_as_markdown() {
    let designs = ["switch-case-par.futil", "switch-case-if.futil"].map(example);
    let args = ["compare", &designs[0], &designs[1], "--format", "markdown"];
    expect![[r#"
        ## switch-case-par → switch-case-if

        | run | before | after | delta | % |
        | --- | ---: | ---: | ---: | ---: |
        | cycles | 9 | 6 | -3 | -33.3 |
        | useful | 3 | 3 |  |  |
        |   only conditions | 0 | 0 |  |  |
        | control overhead | 6 | 3 | -3 | -50.0 |
        |   FSM update | 4 | 3 | -1 | -25.0 |
        |   both | 2 | 0 | -2 | -100.0 |

        ### Statements

        | statement | cycles | delta | % | overhead | delta | what changed | source |
        | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |
        | main.if@L118 | 3 → 1 | -2 | -66.7 | 2 → 0 | -2 |  | if eq_1.out |
        | main.par@L118 | 4 → 0 | -4 | -100.0 | 1 → 0 | -1 | vanished | par |
        | main.seq@L116 | 9 → 6 | -3 | -33.3 | 3 |  |  | seq |
        | main.if@L121 | 1 → 0 | -1 | -100.0 | 0 |  |  | if eq_2.out |
        | main.if@L124 | 1 → 0 | -1 | -100.0 | 0 |  |  | if eq_3.out |

        8 statements unchanged (`--all` shows them)

        ### Groups

        8 groups unchanged (`--all` shows them)

        ### Component cells

        | cell | cycles | delta | % | useful | overhead | times active | what changed |
        | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
        | main | 9 → 6 | -3 | -33.3 | 3 | 6 → 3 | 1 |  |

        1 component cell unchanged (`--all` shows them)
    "#]]
    .assert_eq(&Bench::new().succeeds(&args));
}

#[test]
fn edits_of_the_source_are_told() {
    let bench = Bench::new();
    bench.edited(
        "edited.futil",
        "matmul.futil",
        &[
            // A group with another name, a line more above everything, a statement more, one less,
            // another order, and a condition that is now another one.
            ("accumulate", "add_product"),
            (
                "import \"primitives/core.futil\";",
                "\nimport \"primitives/core.futil\";",
            ),
            (
                "    seq {\n      first_row;",
                "    seq {\n      store;\n      first_row;",
            ),
            ("par { store; next_column; }", "par { next_column; store; }"),
            ("par { first_term; clear; }", "first_term;"),
            (
                "group clear { sum.in = 32'd0; sum.write_en = 1'd1; clear[done] = sum.done; }",
                "",
            ),
            ("while i_lt.out with more_rows", "while i_lt.out"),
            (
                "comb group more_rows { i_lt.left = i.out; i_lt.right = 3'd4; }",
                "i_lt.left = i.out; i_lt.right = 3'd4;",
            ),
        ],
    );
    let printed = bench.succeeds(&["compare", &example("matmul.futil"), "edited.futil", "--all"]);
    expect![[r#"
        matmul → edited

        run                before  after  delta     %
        cycles                612    603     -9  -1.5
        useful                338    334     -4  -1.2
          only conditions     105    100     -5  -4.8
        control overhead      274    269     -5  -1.8
          FSM update          274    269     -5  -1.8

        statement                 cycles  delta       %  overhead  delta  what changed                               source
        main.while@L83         609 → 599    -10    -1.6     8 → 3     -5  edited, was while i_lt.out with more_rows  while i_lt.out
        main.par@L86              16 → 0    -16  -100.0         0         vanished                                   par
        main.clear@L86            16 → 0    -16  -100.0         0         vanished                                   clear
        main.seq@L80           612 → 603     -9    -1.5         2                                                    seq
        main.store@L81             0 → 1     +1     new         0         new                                        store
        main.first_row@L82             1                        0                                                    first_row
        main.seq@L84                 596                        8                                                    seq
        main.first_column@L85          4                        0                                                    first_column
        main.while@L86               580                       32                                                    while j_lt.out with more_columns
        main.seq@L87                 528                       32                                                    seq
        main.first_term@L88           16                        0                                                    first_term
        main.while@L89               464                      128                                                    while k_lt.out with more_terms
        main.seq@L90                 256                       64                                                    seq
        main.multiply@L91            128                        0                                                    multiply
        main.par@L92                  64                        0                                                    par
        main.add_product@L92          64                        0                                                    add_product
        main.next_term@L92            64                        0                                                    next_term
        main.par@L95                  16                        0                                                    par
        main.next_column@L95          16                        0                                                    next_column
        main.store@L95                16                        0                                                    store
        main.next_row@L98              4                        0                                                    next_row

        group               cycles  delta       %  times active  what changed
        main.clear          16 → 0    -16  -100.0        16 → 0  vanished
        main.more_rows       5 → 0     -5  -100.0         5 → 0  vanished
        main.store         16 → 17     +1    +6.2       16 → 17
        main.add_product        64                           64  renamed from accumulate
        main.first_column        4                            4
        main.first_row           1                            1  now promoted, merged
        main.first_term         16                           16  no longer promoted, merged
        main.more_columns       20                           20  no longer shares j_lt in i_lt
        main.more_terms         80                           80  now shares k_lt in j_lt; no longer shares k_lt in i_lt
        main.multiply          128                           64
        main.next_column        16                           16
        main.next_row            4                            4
        main.next_term          64                           64

        cell     cycles  delta     %     useful   overhead  times active  what changed
        main  612 → 603     -9  -1.5  338 → 334  274 → 269             1
    "#]].assert_eq(&printed);
    adds_up(&bench.compare(&[&example("matmul.futil"), "edited.futil"]));
}

#[test]
fn all_kinds_of_sides_tell_the_same() {
    let bench = Bench::new();
    bench.edited("design.futil", "nested-components.futil", &[]);
    bench.succeeds(&["run", "design.futil", "--out", "design", "-q"]);
    bench.succeeds(&["baseline", "design", "--out", "baseline.json"]);
    let printed = bench.succeeds(&["baseline", "design"]);
    assert_eq!(printed, bench.read("baseline.json"));
    let sides = ["design.futil", "design", "baseline.json"];
    let expected = bench.succeeds(&["compare", "design", "design", "--all", "--format", "json"]);
    for base in sides {
        for new in sides {
            let args = ["compare", base, new, "--all", "--format", "json"];
            assert_eq!(bench.succeeds(&args), expected, "{base} and {new}");
        }
    }
    let same: Value = serde_json::from_str(&expected).unwrap();
    for table in ["cells", "groups", "statements"] {
        for row in rows(&same, table) {
            assert_eq!(row["fate"], "same", "{row}");
            assert_eq!(row["cycles"]["delta"], 0, "{row}");
        }
    }
}

#[test]
fn a_baseline_is_small_and_the_same_wherever_the_design_lies() {
    let bench = Bench::new();
    let mut texts = Vec::new();
    for folder in ["one", "two/deeper"] {
        fs::create_dir_all(bench.path(folder)).unwrap();
        let design = format!("{folder}/design.futil");
        bench.edited(&design, "neural-layer.futil", &[]);
        let out = format!("{folder}/profile");
        bench.succeeds(&["run", &design, "--out", &out, "-q"]);
        texts.push(bench.succeeds(&["baseline", &out]));
    }
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0].len() < 20_000, "{} bytes", texts[0].len());
}

#[test]
fn a_run_that_got_longer_fails_and_names_the_culprit() {
    let bench = Bench::new();
    let design = example("while-comb.futil");
    let compare = |passes: [&str; 2], limit: &str| {
        let mut args = vec![
            "compare",
            &design,
            "--fail-above",
            limit,
            "--format",
            "json",
        ];
        args.extend(["--passes", passes[0], "--passes", passes[1]]);
        let output = bench.petal(&args);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["limit"], limit);
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), json["regressed"].clone(), said)
    };
    // 17 cycles against 34.
    for limit in ["100%", "17cycles"] {
        let (code, regressed, _) = compare(["all", "no-opt"], limit);
        assert_eq!((code, regressed), (Some(0), Value::Bool(false)), "{limit}");
    }
    assert_eq!(compare(["no-opt", "all"], "0%").0, Some(0));
    for limit in ["99.999999%", "16cycles"] {
        let (code, regressed, said) = compare(["all", "no-opt"], limit);
        assert_eq!((code, regressed), (Some(1), Value::Bool(true)), "{limit}");
        assert!(
            said.contains("main.seq@L57 (+9 cycles of overhead)"),
            "{said}"
        );
        assert!(
            said.contains(&format!("above the limit of {limit}")),
            "{said}"
        );
    }
}

#[test]
fn trackers_get_what_they_take() {
    let bench = Bench::new();
    let designs = ["while-comb.futil", "while-reg.futil"].map(example);
    let print =
        |format: &str| bench.succeeds(&["compare", &designs[0], &designs[1], "--format", format]);
    expect![[r#"
        [
          {
            "extra": "-1 against 17 of while-comb",
            "name": "while-reg: cycles",
            "unit": "cycles",
            "value": 16
          },
          {
            "extra": "+0 against 14 of while-comb",
            "name": "while-reg: useful cycles",
            "unit": "cycles",
            "value": 14
          },
          {
            "extra": "-1 against 3 of while-comb",
            "name": "while-reg: control overhead",
            "unit": "cycles",
            "value": 2
          }
        ]
    "#]]
    .assert_eq(&print("github-action-benchmark"));
    expect![[r#"
        {
          "while-reg": {
            "control-overhead": {
              "value": 2
            },
            "cycles": {
              "value": 16
            },
            "useful-cycles": {
              "value": 14
            }
          }
        }
    "#]]
    .assert_eq(&print("bencher"));
}

#[test]
fn the_differential_flame_graph_is_an_image() {
    let bench = Bench::new();
    let design = example("while-comb.futil");
    for name in ["one.svg", "two.svg"] {
        let mut args = vec!["compare", design.as_str(), "--flame", name];
        args.extend(["--passes", "all", "--passes", "no-opt"]);
        bench.succeeds(&args);
    }
    let image = bench.read("one.svg");
    assert_eq!(image, bench.read("two.svg"));
    roxmltree::Document::parse_with_options(
        &image,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            ..roxmltree::ParsingOptions::default()
        },
    )
    .unwrap();
    assert!(
        image.contains("seq@L57 (21 cycles, 44.68%; +19.15%)"),
        "{image}"
    );
    assert!(image.contains("read (3 cycles, 6.38%; 0.00%)"), "{image}");
}

#[test]
fn hostile_sources_say_nothing_in_markdown_or_the_image() {
    let bench = Bench::new();
    let hostile = "while /* \u{1b}[31m <img src=x onerror=alert(1)> | `c` */ lt.out";
    bench.edited(
        "<b>&.futil",
        "while-comb.futil",
        &[("while lt.out", hostile)],
    );
    let design = example("while-comb.futil");
    let markdown = bench.succeeds(&[
        "compare",
        &design,
        "<b>&.futil",
        "--all",
        "--format",
        "markdown",
        "--flame",
        "f.svg",
    ]);
    assert!(
        markdown.contains(r"\[31m &lt;img src=x onerror=alert"),
        "{markdown}"
    );
    assert!(
        !markdown.contains('<') && !markdown.contains('\u{1b}'),
        "{markdown}"
    );
    assert!(
        markdown.starts_with("## while-comb → &lt;b&gt;&amp;"),
        "{markdown}"
    );
    let image = bench.read("f.svg");
    assert!(
        image.contains("&lt;b&gt;&amp;") && !image.contains("<b>"),
        "{image}"
    );
}

#[test]
fn a_partial_run_is_told_and_not_judged() {
    let bench = Bench::new();
    let design = example("while-comb.futil");
    bench.succeeds(&["run", &design, "--out", "whole", "-q"]);
    let mut partial = vec!["run", design.as_str(), "--out", "partial", "-q"];
    partial.extend(["--partial", "--cycle-limit", "10"]);
    bench.succeeds(&partial);
    let comparison = bench.compare(&["whole", "partial"]);
    adds_up(&comparison);
    let note = comparison["notes"][0].as_str().unwrap();
    assert!(note.contains("the run after is a partial one"), "{note}");
    let said = bench.fails(1, &["compare", "whole", "partial", "--fail-above", "0%"]);
    assert!(said.contains("--fail-above"), "{said}");
}

#[test]
fn bad_sides_are_refused_with_the_way_out() {
    let bench = Bench::new();
    let design = example("while-comb.futil");
    bench.succeeds(&["run", &design, "--out", "good", "-q"]);
    let baseline = bench.succeeds(&["baseline", "good"]);
    let write = |text: &str| fs::write(bench.path("bad.json"), text).unwrap();
    let said = || bench.fails(1, &["compare", "bad.json", "good", "--flame", "f.svg"]);

    assert!(said().contains("cannot read bad.json"));
    write("not JSON");
    assert!(said().contains("bad.json is not a petal baseline"));
    write(&bench.read("good/summary.json"));
    assert!(said().contains("write one with `petal baseline`"));
    write(&baseline[..baseline.len() / 2]);
    assert!(said().contains("bad.json is not a petal baseline"));
    for (from, to, problem) in [
        (
            "\"petal-baseline\": 1",
            "\"petal-baseline\": 99",
            "version 99",
        ),
        (
            "\"cycles\": 17",
            "\"cycles\": 18",
            "its cycles do not add up",
        ),
        (
            "\"unplaced\": 0",
            "\"unplaced\": 1",
            "overhead of its statements does not add up",
        ),
        (
            "\"times\":1",
            "\"times\":18446744073709551615",
            "no run is as long",
        ),
        ("\"file\":0", "\"file\":7", "is out of place"),
        ("\"parent\":0", "\"parent\":77", "is out of place"),
        ("[0,14,0]", "[1,14,0]", "loose node"),
        ("[0,14,0]", "[0,99,0]", "loose node"),
        ("{\"group\":0}", "{\"group\":99}", "names what is not there"),
        (
            "\"name\":\"init\"",
            "\"name\":\"incr\"",
            "names a cell or group twice",
        ),
        (
            "\"fsm-update\":1",
            "\"fsm-update\":1,\"naps\":1",
            "`naps` is no kind of overhead",
        ),
    ] {
        assert!(baseline.contains(from), "{baseline}");
        write(&baseline.replace(from, to));
        let said = said();
        assert!(
            said.contains(problem) && said.contains("bad.json"),
            "{said}"
        );
    }
    bench.succeeds(&["run", &design, "--out", "torn", "-q"]);
    fs::write(bench.path("torn/summary.json"), "{").unwrap();
    let said = bench.fails(1, &["compare", "good", "torn"]);
    assert!(said.contains("torn/summary.json is damaged"), "{said}");
    fs::create_dir(bench.path("empty")).unwrap();
    let said = bench.fails(1, &["compare", "good", "empty"]);
    assert!(said.contains("empty holds no whole profile"), "{said}");
    bench.fails(1, &["baseline", "empty", "--out", "b.json"]);
    assert!(!bench.path("f.svg").exists() && !bench.path("b.json").exists());
}

#[test]
fn designs_with_nothing_in_common_are_refused() {
    let bench = Bench::new();
    let long = example("dot-product.futil");
    let short = example("switch-case-par.futil");
    for more in [&[][..], &["--fail-above", "0%"], &["--flame", "f.svg"]] {
        let said = bench.fails(2, &[&["compare", &long, &short], more].concat());
        for part in [
            "dot-product and switch-case-par",
            "nothing in common",
            "--force",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
    assert!(!bench.path("f.svg").exists());
    bench.succeeds(&["compare", &long, &short, "--force", "--fail-above", "0%"]);
    bench.fails(
        1,
        &["compare", &short, &long, "--force", "--fail-above", "0%"],
    );

    // A renamed file, other passes, and two ways to write one program.
    fs::copy(&long, bench.path("other.futil")).unwrap();
    fs::copy(format!("{long}.data"), bench.path("other.futil.data")).unwrap();
    bench.succeeds(&["compare", &long, "other.futil"]);
    bench.succeeds(&["compare", &long, "--passes", "no-opt", "--passes", "all"]);
    for (one, other) in [
        ("switch-case-par", "switch-case-if"),
        ("while-comb", "while-reg"),
        ("while-comb", "while-par"),
    ] {
        let [one, other] = [one, other].map(|name| example(&format!("{name}.futil")));
        bench.succeeds(&["compare", &one, &other]);
    }
}

#[test]
fn arguments_that_make_no_sense_together_are_refused() {
    let bench = Bench::new();
    let design = example("while-comb.futil");
    let design = design.as_str();
    for (args, problem) in [
        (&["good"][..], "name two sides"),
        (&[design], "name two sides"),
        (&[design, "--passes", "all"], "name two sides"),
        (
            &["a.json", "b.json", "--passes", "all"],
            "nothing is compiled",
        ),
        (&["a.json", "b.json", "-d", "inline"], "nothing is compiled"),
        (
            &[design, "b.json", "--passes", "all", "--passes", "no-opt"],
            "both sides are Calyx programs",
        ),
        (
            &[
                design, design, "--passes", "all", "--passes", "all", "--passes", "all",
            ],
            "twice at most",
        ),
        (
            &["a.json", "b.json", "--fail-above", "2"],
            "write a limit such as",
        ),
    ] {
        let said = bench.fails(2, &[&["compare"], args].concat());
        assert!(said.contains(problem), "{said}");
    }
}

#[test]
fn a_data_file_and_a_pass_can_be_chosen() {
    let bench = Bench::new();
    let design = Path::new(&example("while-comb.futil")).to_owned();
    fs::copy(&design, bench.path("bare.futil")).unwrap();
    let data = format!("{}.data", design.display());
    let design = design.to_string_lossy();
    let args = ["compare", "bare.futil", &design, "--data", &data];
    let output = bench.petal(&args);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let comparison = bench.compare(&["bare.futil", &design, "-d", "static-promotion"]);
    assert_eq!(comparison["cycles"]["before"], 34);
}
