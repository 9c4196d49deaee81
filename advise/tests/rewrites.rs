//! Which edits are proved: for each kind what it does, and what it leaves to runs.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use petal_advise::{Certainty, Observed, Rewrite, RewriteKind, rewrites};
use petal_program::{Library, Program};

#[path = "rewrites/chains.rs"]
mod chains;
#[path = "rewrites/conditions.rs"]
mod conditions;
#[path = "rewrites/copies.rs"]
mod copies;
#[path = "rewrites/groups.rs"]
mod groups;
#[path = "rewrites/invariant.rs"]
mod invariant;
#[path = "rewrites/pipelined.rs"]
mod pipelined;

const CELLS: &str =
    "a = std_reg(8); b = std_reg(8); c = std_reg(8); d = std_reg(8); add = std_add(8);
    eq = std_eq(8); other = std_eq(8);";

/// Groups that set a register: `to_from`.
fn sets(names: &str) -> String {
    let mut groups = String::new();
    for name in names.split_whitespace() {
        let (to, from) = name.split_once('_').unwrap();
        let from = match from {
            "1" => "8'd1".to_owned(),
            "x" => "x".to_owned(),
            cell => format!("{cell}.out"),
        };
        let _ = writeln!(
            groups,
            "group {name} {{ {to}.in = {from}; {to}.write_en = 1'd1; {name}[done] = {to}.done; }}"
        );
    }
    groups
}

fn component(signature: &str, cells: &str, wires: &str, control: &str) -> String {
    format!(
        "component {signature} {{\ncells {{ {cells} }}\nwires {{\n{wires}}}\ncontrol {{\n{control}\n}}\n}}\n"
    )
}

/// A program of the groups of `wires`, one a line, that its control runs.
fn program(imports: &str, cells: &str, wires: &str, control: &str) -> String {
    let is_run = |line: &&str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "group");
        let name = words.nth(1).expect("each line is a group");
        let mut run = control.split(|of: char| !(of.is_alphanumeric() || of == '_'));
        run.any(|word| word == name)
    };
    let wires: String = wires.split_inclusive('\n').filter(is_run).collect();
    imports.to_owned() + &component("main() -> ()", cells, &wires, control)
}

/// With hardware of its own for each cell.
fn apart() -> Observed {
    Observed {
        is_apart: true,
        ..Observed::default()
    }
}

/// The edits of a program: how certain each is, what to do, and why.
fn render(source: &str) -> String {
    render_of(source, &Observed::default())
}

fn render_of(source: &str, observed: &Observed) -> String {
    let mut text = String::new();
    let is_of_run = |rewrite: &&Rewrite| {
        // Most programs here never ran; what is certain of groups is in tests of its own.
        rewrite.kind != RewriteKind::FixedLatency || !observed.latencies.is_empty()
    };
    for rewrite in of(source, observed).1.iter().filter(is_of_run) {
        let certainty = match rewrite.certainty {
            Certainty::Proved => "proved",
            Certainty::Checked => "checked",
        };
        let _ = writeln!(text, "{certainty}: {}: {}", rewrite.what, rewrite.premise);
    }
    text
}

/// The text of a program with its imports, and its edits.
fn of(source: &str, observed: &Observed) -> (String, Vec<Rewrite>) {
    let imports =
        ["core", "memories/comb"].map(|file| format!("import \"primitives/{file}.futil\";\n"));
    let source = imports.concat() + source;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("design.futil");
    std::fs::write(&file, &source).unwrap();
    let program = Program::read(&file, &Library::new(&[]).unwrap()).unwrap();
    let rewrites = rewrites(program, observed).unwrap_or_else(|error| panic!("{error}"));
    (source, rewrites)
}

/// The lines that an edit changes: those that go, and those that come.
fn changed(source: &str, observed: &Observed, what: &str) -> String {
    let (text, rewrites) = of(source, observed);
    let rewrite = rewrites.iter().find(|rewrite| rewrite.what.contains(what));
    let rewrite = rewrite.unwrap_or_else(|| panic!("nothing is to {what}"));
    let mut after = String::new();
    let mut at = 0;
    for edit in &rewrite.edits {
        after += &text[at..edit.range.start];
        after += &edit.text;
        at = edit.range.end;
    }
    after += &text[at..];
    let diff = similar::TextDiff::from_lines(&text, &after);
    let mut lines = String::new();
    for change in diff.iter_all_changes() {
        if change.tag() != similar::ChangeTag::Equal {
            let _ = write!(lines, "{}{change}", change.tag());
        }
    }
    lines
}

#[track_caller]
fn check(cells: &str, wires: &str, control: &str, expected: &Expect) {
    let main = component("main() -> ()", &format!("{CELLS} {cells}"), wires, control);
    expected.assert_eq(&render(&main));
}

/// A component `p` with an input `x`, and a main that runs it.
#[track_caller]
fn check_with(p: (&str, &str, &str), main: (&str, &str, &str), expected: &Expect) {
    let (cells, wires, control) = p;
    let p = component(
        "p(x: 8) -> (out: 8)",
        &format!("{CELLS} {cells}"),
        wires,
        control,
    );
    let (cells, wires, control) = main;
    let main = component(
        "main() -> ()",
        &format!("{CELLS} p = p(); {cells}"),
        wires,
        control,
    );
    expected.assert_eq(&render(&(p + &main)));
}

const IS_1: &str = "comb group is_1 { eq.left = a.out; eq.right = 8'd1; }\n";
const IS_2: &str = "comb group is_2 { other.left = a.out; other.right = 8'd2; }\n";

#[test]
fn exclusive_branches() {
    let wires = sets("b_1 b_c") + IS_1 + IS_2;
    check(
        "",
        &wires,
        "par { if eq.out with is_1 { b_1; } if other.out with is_2 { b_c; } }",
        &expect![[r#"
            proved: make the comb group `is_1` continuous: nothing else drives or reads the cells of the condition, and every register that it reads is written by groups that are done after that
            proved: make the comb group `is_2` continuous: nothing else drives or reads the cells of the condition, and every register that it reads is written by groups that are done after that
            proved: make one `if` with `else` of the 2 `if`s in this `par`, and their comb groups continuous: their conditions exclude one another, and no branch writes what a condition reads
        "#]],
    );
    // A condition reads what a branch writes.
    let wires = sets("a_1 b_c") + IS_1 + IS_2;
    check(
        "",
        &wires,
        "par { if eq.out with is_1 { a_1; } if other.out with is_2 { b_c; } }",
        &expect![[r#"
            checked: make the comb group `is_1` continuous: results may depend on how long something takes, for what runs beside it or by itself
            checked: make the comb group `is_2` continuous: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one `if` with `else` of the 2 `if`s in this `par`, and their comb groups continuous: a branch writes what a condition reads
        "#]],
    );
}

#[test]
fn steps() {
    check(
        "",
        &sets("a_1 b_1"),
        "seq { a_1; b_1; }",
        &expect![[r#"
            proved: run `a_1` and `b_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: make one group of `a_1` and `b_1`: each takes one cycle, and none of them writes what another one reads or writes
        "#]],
    );
    // Arms of a cycle see what was there before.
    check(
        "",
        &sets("a_1 b_1 c_1 d_c"),
        "seq { a_1; b_1; par { c_1; d_c; } }",
        &expect![[r#"
            proved: run `a_1`, `b_1` and `par` at once, in a `par`: none of them writes what another one reads or writes
            proved: run `a_1` and `b_1` to `par` at once, in a `par`: none of them writes what another one reads or writes
            proved: run `a_1` to `b_1` and `par` at once, in a `par`: none of them writes what another one reads or writes
            proved: run `a_1` and `b_1` at once, in a `par`: none of them writes what another one reads or writes
            proved: make one group of `a_1` and `b_1`: each takes one cycle, and none of them writes what another one reads or writes
            proved: run `b_1` and `par` at once, in a `par`: none of them writes what another one reads or writes
        "#]],
    );
    // Elsewhere arms of a `par` race: which of them is first may depend on what becomes static.
    check(
        "",
        &sets("a_1 b_1 c_1 d_c d_1"),
        "seq { a_1; b_1; par { c_1; seq { d_1; d_c; } } }",
        &expect![[r#"
            checked: run `a_1`, `b_1` and `par` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: run `a_1` and `b_1` to `par` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: run `a_1` to `b_1` and `par` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: run `a_1` and `b_1` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one group of `a_1` and `b_1`: results may depend on how long something takes, for what runs beside it or by itself
            checked: run `b_1` and `par` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one group of `d_1` and `d_c`, which reads what goes into registers: results may depend on how long something takes, for what runs beside it or by itself
        "#]],
    );
}

#[test]
fn arms() {
    check(
        "",
        &sets("a_1 b_1"),
        "par { a_1; b_1; }",
        &expect![[r#"
            proved: run the arms of this `par` one after the other, in a `seq`: no arm writes what another one reads or writes
            proved: make one group of `a_1` and `b_1`: each takes one cycle, and none of them writes what another one reads or writes
        "#]],
    );
    // Both drive an adder at once, which gives neither's sum.
    let wires = "group one { add.left = 8'd1; add.right = 8'd1; a.in = add.out; a.write_en = 1'd1; one[done] = a.done; }
        group two { add.left = 8'd2; add.right = 8'd2; b.in = add.out; b.write_en = 1'd1; two[done] = b.done; }\n";
    check("", wires, "par { one; two; }", &expect![""]);
}

#[test]
fn what_tells_the_time() {
    let control = "seq { a_1; b_1; }";
    // A counter that always runs.
    check(
        "",
        &(sets("a_1 b_1")
            + "d.in = add.out; d.write_en = 1'd1; add.left = d.out; add.right = 8'd1;\n"),
        control,
        &expect![[r#"
            checked: run `a_1` and `b_1` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one group of `a_1` and `b_1`: results may depend on how long something takes, for what runs beside it or by itself
        "#]],
    );
    // A register that was written a cycle ago.
    let late = "group late { c.in = a.done ? 8'd1; c.write_en = 1'd1; late[done] = c.done; }\n";
    check(
        "",
        &(sets("a_1 b_1") + late),
        "seq { a_1; b_1; late; }",
        &expect![[r#"
            checked: run `a_1` and `b_1` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one group of `a_1` and `b_1`: results may depend on how long something takes, for what runs beside it or by itself
            checked: run `b_1` and `late` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one group of `b_1` and `late`: results may depend on how long something takes, for what runs beside it or by itself
        "#]],
    );
    // Whether something else wrote the register a cycle ago.
    for late in [
        "group late { a.in = a.done ? 8'd1; a.write_en = 1'd1; late[done] = a.done; }\n",
        "group late { a.in = 8'd1; a.write_en = !a.done ? 1'd1; late[done] = a.done; }\n",
        "group late { a.in = c.out; a.write_en = !a.done ? 1'd1; d.in = a.out; d.write_en = a.done; late[done] = d.done; }\n",
        "group late { a.in = c.out; a.write_en = 1'd1; add.left = d.out; add.right = a.out; d.in = add.out; d.write_en = a.done; late[done] = d.done; }\n",
    ] {
        let text = render(&main(
            "",
            &(sets("a_1 b_1") + late),
            "seq { a_1; b_1; late; }",
        ));
        assert!(!text.contains("proved"), "{late}: {text}");
    }
    // The same through an adder, and by a register that it does not write at once.
    for late in [
        "group late { a.in = c.out; a.write_en = 1'd1; add.left = a.done ? c.out; add.right = c.out; d.in = add.out; d.write_en = 1'd1; late[done] = d.done; }\n",
        "group late { a.in = c.out; a.write_en = eq.out ? 1'd1; eq.left = c.out; eq.right = 8'd1; d.in = c.out; d.write_en = a.done; late[done] = d.done; }\n",
    ] {
        let text = render(&main(
            "",
            &(sets("a_1 b_1") + late),
            "seq { a_1; b_1; late; }",
        ));
        assert!(!text.contains("proved"), "{late}: {text}");
    }
    // What it writes once too often, it writes again.
    let read = |name: &str, at: &str| {
        format!(
            "group {name} {{ s.addr0 = 1'd{at}; s.content_en = 1'd1; c.in = s.done ? s.read_data; c.write_en = s.done ? 1'd1; {name}[done] = c.done; }}\n"
        )
    };
    let source = "import \"primitives/memories/seq.futil\";\n".to_owned()
        + &main(
            "s = seq_mem_d1(8, 2, 1);",
            &(sets("a_1 b_1") + &read("one", "0") + &read("two", "1")),
            "seq { a_1; b_1; one; two; }",
        );
    assert!(render(&source).contains("proved: make one group of `a_1` and `b_1`"));
    // A latency that was promised.
    check(
        "",
        &sets("a_1 b_1 c_1"),
        "seq { @promotable(2) seq { a_1; b_1; } c_1; }",
        &expect![[r#"
            checked: run `seq` and `c_1` at once, in a `par`: the program says how long a part of it takes, or how often a loop runs, and petal can't be sure of that
        "#]],
    );
}

#[test]
fn components() {
    let body = sets("a_1 b_x") + "out = a.out;\n";
    let p = ("", &*body, "seq { a_1; b_x; }");
    // Nothing of it is seen before it is done.
    check_with(
        p,
        ("", "", "invoke p(x = c.out)();"),
        &expect![[r#"
            proved: run `a_1` and `b_x` at once, in a `par`: none of them writes what another one reads or writes
            proved: make one group of `a_1` and `b_x`: each takes one cycle, and none of them writes what another one reads or writes
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
        "#]],
    );
    // What it writes is what it is given.
    check_with(
        p,
        ("", "", "invoke p(x = p.out)();"),
        &expect![[r#"
            checked: run `a_1` and `b_x` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one group of `a_1` and `b_x`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
        "#]],
    );
    let with_ref = sets("r_1 b_x");
    let with_ref = ("ref r = std_reg(8);", &*with_ref, "seq { r_1; b_x; }");
    check_with(
        with_ref,
        ("", "", "invoke p[r = c](x = c.out)();"),
        &expect![[r#"
            checked: run `r_1` and `b_x` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
        "#]],
    );
    // The register follows it while it runs.
    let follow = |enable: &str| {
        format!(
            "group follow {{ p.x = 8'd1; p.go = 1'd1; c.in = p.out; c.write_en = {enable}; follow[done] = p.done; }}\n"
        )
    };
    check_with(
        p,
        ("", &follow("1'd1"), "follow;"),
        &expect![[r#"
            checked: run `a_1` and `b_x` at once, in a `par`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make one group of `a_1` and `b_x`: results may depend on how long something takes, for what runs beside it or by itself
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
        "#]],
    );
    check_with(
        p,
        ("", &follow("p.done"), "follow;"),
        &expect![[r#"
            checked: run `a_1` and `b_x` at once, in a `par`: some group of the program may be done before all that it writes is written
            checked: make one group of `a_1` and `b_x`: some group of the program may be done before all that it writes is written
            checked: make the cell `p` a part of `main`: `@inline`: the compiler may share what was apart while `p` was a component
        "#]],
    );
}

/// Two arms that run the same component with one register; at most one of them is taken if the numbers are two.
fn arms_with(numbers: [u8; 2]) -> String {
    let p = component(
        "p() -> ()",
        "ref r = std_reg(8); k = std_reg(8); j = std_reg(8);",
        &sets("k_1 j_1 r_1"),
        "seq { k_1; j_1; r_1; }",
    );
    let [one, other] = numbers;
    let wires = format!(
        "eq.left = a.out; eq.right = 8'd{one}; other.left = a.out; other.right = 8'd{other};"
    );
    p + &component(
        "main() -> ()",
        &format!("{CELLS} one = p(); two = p();"),
        &wires,
        "par { if eq.out { invoke one[r = b]()(); } if other.out { invoke two[r = b]()(); } }",
    )
}

#[test]
fn arms_of_which_one_is_taken_do_not_race() {
    let is_apart = Observed {
        is_apart: true,
        ..Observed::default()
    };
    let steps = |numbers| {
        let text = render_of(&arms_with(numbers), &is_apart);
        let of_steps = text.lines().find(|line| line.contains("make one group of"));
        of_steps.map(|line| line.starts_with("proved"))
    };
    assert_eq!([steps([1, 2]), steps([1, 1])], [Some(true), None]);
}

/// Why a cell becomes a part of `main`, and how certain that is: of a component with this signature and control, run by this.
fn of_inline(signature: &str, control: &str, main: &str, is_apart: bool) -> String {
    let p = component(
        signature,
        "ref r = std_reg(8); k = std_reg(8); lt = std_lt(8); n = std_add(8);",
        &(sets("k_1 r_k")
            + "lt.left = k.out; lt.right = 8'd9;
            group up { n.left = k.out; n.right = 8'd1; k.in = n.out; k.write_en = 1'd1; up[done] = k.done; }"),
        control,
    );
    let main = component(
        "main() -> ()",
        &format!("{CELLS} p = p();"),
        &sets("a_1"),
        main,
    );
    let observed = Observed {
        is_apart,
        ..Observed::default()
    };
    let text = render_of(&(p + &main), &observed);
    let line = text.lines().find(|line| line.contains("@inline"));
    line.unwrap().split(':').next().unwrap().to_owned()
}

#[test]
fn a_cell_becomes_a_part() {
    let (plain, run) = ("p() -> ()", "seq { a_1; invoke p[r = a]()(); }");
    let body = "seq { k_1; r_k; }";
    assert_eq!(of_inline(plain, body, run, true), "proved");
    assert_eq!(
        of_inline(plain, body, "invoke p[r = a]()();", true),
        "proved"
    );
    for (signature, body, run, is_apart) in [
        (plain, body, run, false),
        (
            "p(x: 8) -> ()",
            body,
            "seq { a_1; invoke p[r = a](x = 8'd1)(); }",
            true,
        ),
        ("p() -> (out: 8)", body, run, true),
        (plain, "while lt.out { up; }", run, true),
        (plain, body, "par { a_1; invoke p[r = b]()(); }", true),
        (
            plain,
            body,
            "seq { a_1; repeat 2 { invoke p[r = a]()(); } }",
            true,
        ),
        (
            plain,
            body,
            "seq { invoke p[r = a]()(); invoke p[r = b]()(); }",
            true,
        ),
    ] {
        let certainty = of_inline(signature, body, run, is_apart);
        assert_eq!(certainty, "checked", "{signature} {body} {run} {is_apart}");
    }
}

fn main(cells: &str, wires: &str, control: &str) -> String {
    component("main() -> ()", &format!("{CELLS} {cells}"), wires, control)
}
