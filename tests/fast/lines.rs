//! What is shown of a front end's lines.

mod random;

use std::fmt::Write as _;
use std::fs;

use expect_test::expect;
use petal_metadata::Metadata;

use crate::support::root;
use crate::support::workshop::{Workshop, said, succeeds, tells};

/// A folder with a design, the Python file that wrote it, and not the other one.
fn written_by_python() -> Workshop {
    let workshop = Workshop::empty();
    for ending in ["", ".data"] {
        workshop.copy(
            root()
                .join(format!("tests/corpus/struct-positions.futil{ending}"))
                .to_str()
                .unwrap(),
            &format!("design.futil{ending}"),
        );
    }
    let mut text = String::new();
    for line in 1..=14 {
        let _ = writeln!(text, "statement_{line}()");
    }
    workshop.write("demo.py", text);
    workshop
}

#[test]
fn a_profile_shows_the_lines_of_the_front_end() {
    let workshop = written_by_python();
    let output = workshop.petal(&["run", "design.futil", "--out", "out"]);
    tells(
        &said(&output),
        &["note: lib/step.py: not found", "--source-root"],
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(!printed.contains("@pos"), "{printed}");
    expect![[r#"
        file,line,text,times entered,cycles,own,useful,overhead,FSM update,par-done update,FSM and par-done update,static wait,barrier,start/finish,other
        step.py,1,,1,1,0.00,1,0,0,0,0,0,0,0,0
        step.py,4,,1,1,1.00,1,0,0,0,0,0,0,0,0
        step.py,5,,1,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,1,statement_1(),1,16,0.00,12,0,0,0,0,0,0,0,0
        demo.py,4,statement_4(),1,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,5,statement_5(),3,3,3.00,3,0,0,0,0,0,0,0,0
        demo.py,6,statement_6(),1,11,5.00,10,1,1,0,0,0,0,0,0
        demo.py,7,statement_7(),1,1,1.00,1,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),3,3,3.00,3,0,0,0,0,0,0,0,0
        demo.py,10,statement_10(),1,16,3.00,12,3,3,0,0,0,0,0,0
        (no line),,,3,6,0.00,6,0,0,0,0,0,0,0,0
    "#]].assert_eq(&workshop.read("out/stats/lines.csv"));
    expect![[r#"
        demo.py:1 component main;demo.py:10 seq;(overhead: FSM update) 3
        demo.py:1 component main;demo.py:10 seq;demo.py:4 invoke;step.py:1 component step;step.py:5 enable add_one;step.py:4 group add_one 1
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while 4
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while;(no line) seq;demo.py:10 par;demo.py:8 enable put_double 1.5
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while;(no line) seq;demo.py:10 par;demo.py:8 enable put_single 1.5
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while;(no line) seq;demo.py:5 enable go_on 3
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while;(overhead: FSM update) 1
        demo.py:1 component main;demo.py:10 seq;demo.py:7 enable put_sum 1
    "#]].assert_eq(&workshop.read("out/flame-adl.folded"));
    expect![[r#"
        cycles  useful %  overhead  costs |    |
            16      75.0                  |  1 | statement_1()
                                          |  2 | statement_2()
                                          |  3 | statement_3()
             1     100.0                  |  4 | statement_4()
             3     100.0                  |  5 | statement_5()
            11      90.9         1      5 |  6 | statement_6()
             1     100.0                  |  7 | statement_7()
             3     100.0                  |  8 | statement_8()
                                          |  9 | statement_9()
            16      75.0         3      3 | 10 | statement_10()
                                          | 11 | statement_11()
                                          | 12 | statement_12()
                                          | 13 | statement_13()
                                          | 14 | statement_14()
    "#]]
    .assert_eq(&workshop.succeeds(&["annotate", "out", "--file", "demo.py"]));
    let said = workshop.ends(1, &["annotate", "out", "--file", "other.py"]);
    tells(
        &said,
        &["no file other.py", "step.py, demo.py, design.futil"],
    );
    workshop.succeeds(&["flame", "out", "--frames", "both"]);
    let folded = workshop.read("out/flame.folded");
    assert!(folded.starts_with("main {demo.py"), "{folded}");
    let table = workshop.succeeds(&["stats", "out", "lines"]);
    assert!(table.contains("statement_6()"), "{table}");
    let each = ["stats", "out", "lines", "--per-instance", "--format", "csv"];
    expect![[r#"
        file,line,text,cell,statement,cycles,own,useful,overhead,FSM update,par-done update,FSM and par-done update,static wait,barrier,start/finish,other
        step.py,1,,main.s,component step,1,0.00,1,0,0,0,0,0,0,0,0
        step.py,4,,main.s,group add_one,1,1.00,1,0,0,0,0,0,0,0,0
        step.py,5,,main.s,add_one@L20,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,1,statement_1(),main,component main,16,0.00,12,0,0,0,0,0,0,0,0
        demo.py,4,statement_4(),main,invoke@L57,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,4,statement_4(),main.s,cell s,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,5,statement_5(),main,go_on@L61,3,0.00,3,0,0,0,0,0,0,0,0
        demo.py,5,statement_5(),main,group go_on,3,3.00,3,0,0,0,0,0,0,0,0
        demo.py,6,statement_6(),main,while@L59,11,1.00,10,1,1,0,0,0,0,0,0
        demo.py,6,statement_6(),main,group is_more,4,4.00,4,0,0,0,0,0,0,0,0
        demo.py,7,statement_7(),main,put_sum@L58,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,7,statement_7(),main,group put_sum,1,1.00,1,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),main,put_single@L63,3,0.00,3,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),main,put_double@L64,3,0.00,3,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),main,group put_single,3,1.50,3,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),main,group put_double,3,1.50,3,0,0,0,0,0,0,0,0
        demo.py,10,statement_10(),main,seq@L56,16,3.00,12,3,3,0,0,0,0,0,0
        demo.py,10,statement_10(),main,par@L62,3,0.00,3,0,0,0,0,0,0,0,0
        (no line),,,main,seq@L60,6,0.00,6,0,0,0,0,0,0,0,0
    "#]]
    .assert_eq(&workshop.succeeds(&each));
}

#[test]
fn texts_are_taken_from_where_they_may_be() {
    let workshop = written_by_python();
    fs::create_dir(workshop.path("elsewhere")).unwrap();
    workshop.write("elsewhere/step.py", "one\ntwo\n");
    workshop.write("secret.py", "key = 1\n");
    let text = |args: &[&str]| {
        let run = ["run", "design.futil", "--out", "out", "-q"];
        workshop.succeeds(&[&run[..], args].concat());
        let metadata = Metadata::read(&workshop.path("out/metadata.json")).unwrap();
        let mut files = metadata.front_end.files.into_iter();
        files.find(|file| file.path == "lib/step.py").unwrap().text
    };
    assert_eq!(text(&[]), None);
    for root in ["elsewhere", "lib=elsewhere"] {
        assert_eq!(
            text(&["--source-root", root]).as_deref(),
            Some("one\ntwo\n")
        );
    }
    // A link out of the folder leads to what may not be taken.
    fs::create_dir(workshop.path("lib")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", workshop.path("lib/step.py")).unwrap();
    assert_eq!(text(&[]), None);
    // All is below the topmost folder, so that it allows nothing although it is the current one.
    let [design, out] = ["design.futil", "out"].map(|name| workshop.path(name));
    let args = [
        "run",
        design.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "-q",
    ];
    succeeds(workshop.command(&args).current_dir("/"));
    let metadata = Metadata::read(&workshop.path("out/metadata.json")).unwrap();
    let mut files = metadata.front_end.files.into_iter();
    let linked = files.find(|file| file.path == "lib/step.py").unwrap();
    assert_eq!(linked.text, None);
    let elsewhere = text(&["--source-root", "elsewhere"]);
    assert_eq!(elsewhere.as_deref(), Some("one\ntwo\n"));
    let said = workshop.ends(1, &["run", "design.futil", "--source-root", "gone"]);
    tells(&said, &["--source-root", "gone"]);
}

#[test]
fn a_design_without_positions_has_no_lines() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "--out", "out", "-q"]);
    assert!(!workshop.path("out/stats/lines.csv").exists());
    assert!(!workshop.path("out/flame-adl.svg").exists());
    for args in [
        &["stats", "out", "lines"][..],
        &["flame", "out", "--frames", "adl"],
    ] {
        tells(&workshop.ends(1, args), &["names no lines of a front end"]);
    }
}

/// What a front end makes of this program: a register that grows by 1 with each `bump`, and by itself with each
/// `double`. It numbers its positions as they come.
fn compiled(program: &str) -> String {
    let mut control = String::new();
    let mut positions = String::new();
    let words = program.lines().map(|line| line.trim().split('(').next());
    let placed = words
        .zip(1..)
        .filter_map(|(word, line)| Some((word?, line)));
    let statements = placed.filter(|(word, _)| ["def main", "bump", "double"].contains(word));
    for ((word, line), position) in statements.zip(0..) {
        let _ = writeln!(positions, "  {position}: 0 {line}");
        let _ = match word {
            "def main" => writeln!(control, "    @pos{{{position}}} seq {{"),
            enable => writeln!(control, "      @pos{{{position}}} {enable};"),
        };
    }
    format!(
        r#"import "primitives/core.futil";
component main<"pos"={{0}}>() -> () {{
  cells {{ r = std_reg(32); add = std_add(32); }}
  wires {{
    group bump {{
      add.left = r.out; add.right = 32'd1; r.in = add.out; r.write_en = 1'd1; bump[done] = r.done;
    }}
    group double {{
      add.left = r.out; add.right = r.out; r.in = add.out; r.write_en = 1'd1; double[done] = r.done;
    }}
  }}
  control {{
{control}    }}
  }}
}}
sourceinfo #{{
FILES
  0: grow.py
POSITIONS
{positions}}}#
"#
    )
}

#[test]
fn statements_are_the_same_after_an_edit_of_the_front_end() {
    let workshop = Workshop::empty();
    let before = "def main():\n  bump()  # first\n  bump()  # second\n  double()\n";
    let after = "# What grows.\n\ndef main():\n  bump()  # zeroth\n  bump()  # first\n  double()\n  bump()  # second\n";
    for (out, program) in [("before", before), ("after", after)] {
        workshop.write("grow.py", program);
        workshop.write("grow.futil", compiled(program));
        workshop.succeeds(&["run", "-q", "--out", out, "grow.futil"]);
    }
    expect![[r#"
        grow

        run            before  after  delta      %
        cycles              3      4     +1  +33.3
        useful              3      4     +1  +33.3
          computation       3      4     +1  +33.3
          conditions        0      0
        overhead            0      0

        changed by itself  cycles  delta  what changed
        main.bump           2 → 3     +1  computation 2 → 3

        statement        cycles  delta      %  overhead  delta  what changed  source  front end
        main.seq@L13      3 → 4     +1  +33.3         0                       seq     grow.py:3 def main():
        main.bump@L14     0 → 1     +1    new         0         new           bump    grow.py:4 bump()  # zeroth
        main.bump@L15         1                       0                       bump    grow.py:5 bump()  # first
        main.double@L16       1                       0                       double  grow.py:6 double()
        main.bump@L17         1                       0                       bump    grow.py:7 bump()  # second

        group        cycles  delta      %  times active  what changed
        main.bump     2 → 3     +1  +50.0         2 → 3
        main.double       1                           1

        cell  cycles  delta      %   busy  control  times active  what changed
        main   3 → 4     +1  +33.3  3 → 4        0             1
    "#]]
    .assert_eq(&workshop.succeeds(&["compare", "before", "after", "--all"]));
    // A baseline has what that needs, and an older one has no lines.
    let baseline = workshop.succeeds(&["baseline", "before"]);
    workshop.write("before.json", &baseline);
    let json = |before: &str| workshop.succeeds(&["compare", before, "after", "--format", "json"]);
    assert_eq!(json("before.json"), json("before"));
    assert!(json("before").contains(r#""front_end": "grow.py:5 bump()  # first""#));
    let mut older: serde_json::Value = serde_json::from_str(&baseline).unwrap();
    for statement in older["statements"].as_array_mut().unwrap() {
        statement
            .as_object_mut()
            .unwrap()
            .remove("front_end")
            .unwrap();
    }
    workshop.write("older.json", older.to_string());
    assert_ne!(json("older.json"), json("before"));
}
