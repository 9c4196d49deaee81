//! What the command says when the Calyx compiler refuses a design: the place to the column, the line with a mark below the
//! name, and the names that may be meant.

use petal_program::CALYX_VERSION;

use crate::support::workshop::{Workshop, example, tells};

const DESIGN: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component sub(in_value: 8) -> (out: 8) {
  cells { ref kept = std_reg(8); r = std_reg(8); }
  wires { out = r.out; group load { r.in = in_value; r.write_en = 1'd1; load[done] = r.done; } }
  control { load; }
}
component main() -> () {
  cells { @external mem = comb_mem_d1(8, 2, 1); counter = std_reg(8); s = sub(); lt = std_lt(8); }
  wires {
    comb group cond { lt.left = counter.out; lt.right = 8'd1; }
    group put { mem.addr0 = 1'd1; mem.write_data = 8'd5; mem.write_en = 1'd1; put[done] = mem.done; }
  }
  control { seq { put; while lt.out with cond { put; } invoke s[kept = counter](in_value = 8'd1)(); } }
}
"#;

/// What is said of the design with `to` in the place of `from`.
fn said(from: &str, to: &str) -> String {
    assert_eq!(DESIGN.matches(from).count(), 1, "{from}");
    let workshop = Workshop::empty();
    workshop.write("design.futil", DESIGN.replace(from, to));
    workshop.fails(&["run", "design.futil", "--out", "out"])
}

/// Checks the first line of an error behind its head, and that the mark is below the whole of `name`.
fn check(from: &str, to: &str, name: &str, expected: &str) {
    let said = said(from, to);
    tells(&said, &["the Calyx compiler refuses the design", expected]);
    let lines: Vec<&str> = said.lines().collect();
    let mark = lines
        .iter()
        .position(|line| line.trim_start().starts_with("| "))
        .expect(&said);
    let at = lines[mark].find('^').expect(&said);
    let length = lines[mark].matches('^').count();
    assert_eq!(&lines[mark - 1][at..at + length], name, "{said}");
}

#[test]
fn names_that_are_not_there() {
    for (from, to, name, expected) in [
        (
            "mem.write_data =",
            "meme.write_data =",
            "meme",
            "design.futil:12:35: Undefined cell name: meme; is it `mem`?",
        ),
        (
            "mem.write_data =",
            "mem.write_date =",
            "write_date",
            "design.futil:12:39: Undefined port name: write_date; is it `write_data` or `write_en`?",
        ),
        (
            "r.in = in_value;",
            "r.in = in_valu;",
            "in_valu",
            "design.futil:5:44: Undefined component port name: in_valu; is it `in_value`?",
        ),
        (
            "put; while",
            "putt; while",
            "putt",
            "design.futil:14:19: Undefined group name: putt; is it `put`?",
        ),
        (
            "with cond {",
            "with conds {",
            "conds",
            "design.futil:14:42: Undefined combinational group name: conds; is it `cond`?",
        ),
        (
            "s = sub();",
            "s = subb();",
            "subb",
            "design.futil:9:75: Undefined primitive or component name: subb; is it `sub`?",
        ),
        (
            "invoke s[",
            "invoke ss[",
            "ss",
            "design.futil:14:63: Undefined cell name: ss; is it `s`?",
        ),
        (
            "(in_value = 8",
            "(in_valu = 8",
            "in_valu",
            "does not have port named `in_valu`; is it `in_value`?",
        ),
        // The compiler itself has no place for these.
        (
            "kept = counter]",
            "kept = countr]",
            "countr",
            "design.futil:14:72: Undefined cell name: countr; is it `counter`?",
        ),
        (
            "[kept = counter]",
            "[kep = counter]",
            "kep",
            "design.futil:14:65: Malformed Control: sub does not have ref cell named kep; is it `kept`?",
        ),
        (
            "while lt.out",
            "while lt.oot",
            "oot",
            "design.futil:14:33: Undefined port name: oot; is it `out`?",
        ),
        // Nothing is near.
        (
            "put; while",
            "xyzzy; while",
            "xyzzy",
            "design.futil:14:19: Undefined group name: xyzzy\n",
        ),
    ] {
        // Upstream's compiler knows `fsm`s.
        let expected = match CALYX_VERSION {
            "0.7.1" => expected.to_owned(),
            _ => expected.replace("Undefined group name", "Undefined group or fsm name"),
        };
        check(from, to, name, &expected);
    }
    tells(
        &said("lt = std_lt(8);", "lt = std_lx(8);"),
        &["Undefined primitive or component name: std_lx; is it `std_l"],
    );
}

#[test]
fn other_errors_have_their_place() {
    check(
        "mem.write_data = 8'd5;",
        "mem.write_data = 4'd5;",
        "mem.write_data = 4'd5;",
        "design.futil:12:35: Malformed Structure: Mismatched port widths",
    );
    // A pass finds this one.
    check(
        "counter = std_reg(8);",
        "counter = std_reg(8); reg = std_reg(8);",
        "reg = std_reg(8)",
        "design.futil:9:71: Use of reserved keyword: reg",
    );
    let twice = said(
        "counter = std_reg(8);",
        "counter = std_reg(8); lt = std_reg(8);",
    );
    tells(
        &twice,
        &["Name `lt' already bound by cell", "Previous definition"],
    );
}

#[test]
fn what_is_missing_is_told_where_it_is() {
    for (from, to, expected) in [
        (
            "mem.write_en = 1'd1;",
            "mem.write_en = 1'd1",
            "`;` is missing",
        ),
        ("load; }\n}", "load }\n}", "`;` is missing"),
        (
            "comb.futil\";\ncomponent",
            "comb.futil\"\ncomponent",
            "`;` is missing",
        ),
    ] {
        tells(&said(from, to), &["design.futil:", expected]);
    }
    // Without the `}` of a group, of `wires` and of a `par`, the parser stops elsewhere.
    let workshop = Workshop::empty();
    let text = std::fs::read_to_string(example("while-comb.futil")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for (line, expected) in [
        (
            20,
            "design.futil:19:26: a `}` is missing behind this: the `{` of line 16 has none",
        ),
        (
            51,
            "design.futil:50:5: a `}` is missing behind this: the `{` of line 15 has none",
        ),
        (
            59,
            "design.futil:58:15: a `}` is missing behind this: the `{` of line 56 has none",
        ),
    ] {
        assert_eq!(lines[line - 1].trim(), "}");
        let without = [&lines[..line - 1], &lines[line..]].concat().join("\n");
        workshop.write("design.futil", without);
        let said = workshop.fails(&["run", "design.futil", "--out", "out"]);
        tells(&said, &[expected]);
    }
    workshop.write(
        "design.futil",
        lines.join("\n").replace("incr[done]", "incr[don]"),
    );
    let said = workshop.fails(&["run", "design.futil", "--out", "out"]);
    tells(&said, &["Undefined hole name: ", "don; is it `done`?"]);
    workshop.write(
        "design.futil",
        text.replace("import \"primitives/core.futil\";", ""),
    );
    let said = workshop.fails(&["run", "design.futil", "--out", "out"]);
    tells(
        &said,
        &["std_reg; `import \"primitives/core.futil\";` at the beginning"],
    );
    workshop.write("design.futil", text.replace("/core.futil", "/cor.futil"));
    let said = workshop.fails(&["run", "design.futil", "--out", "out"]);
    tells(&said, &["is not there", "is it `primitives/core.futil`"]);
}

#[test]
fn columns_count_characters() {
    let workshop = Workshop::empty();
    let design = DESIGN.replace("group put {", "/* höhe */ group put {");
    workshop.write(
        "design.futil",
        design.replace("mem.write_data =", "meme.write_data ="),
    );
    let said = workshop.fails(&["run", "design.futil", "--out", "out"]);
    tells(&said, &["design.futil:12:46: Undefined cell name: meme"]);
}

#[test]
fn what_a_pass_would_unroll_without_end_is_refused() {
    let design = r#"import "primitives/core.futil";
component main() -> () {
  cells { @external a = std_reg(32); b = std_reg(32); }
  wires {
    static<1> group g { a.in = 32'd1; a.write_en = 1'd1; }
    static<1> group h { b.in = 32'd1; b.write_en = 1'd1; }
  }
  control { static par { static repeat TIMES { g; } static par { static repeat TIMES { h; } } } }
}
"#;
    let workshop = Workshop::empty();
    let run = [
        "run",
        "design.futil",
        "--out",
        "out",
        "--cycle-limit",
        "100000",
    ];
    // The compiler removes registers that nobody reads, so that there may be no cell.
    let without = design.replace("@external ", "");
    for design in [
        design.replace("TIMES", "4294967295"),
        design.replace("TIMES", "100000000"),
        without.replace("TIMES", "4294967295"),
    ] {
        workshop.write("design.futil", design);
        let began = std::time::Instant::now();
        let said = workshop.ends(1, &run);
        tells(
            &said,
            &[
                "component main",
                "`cell-share`",
                "--disable-pass cell-share",
            ],
        );
        assert!(began.elapsed() < std::time::Duration::from_secs(20));
    }
    workshop.write("design.futil", design.replace("TIMES", "50000"));
    workshop.succeeds(&run);
}
