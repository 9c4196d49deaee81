//! Which statements are said to be independent: one small program for each part of the rule.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use petal_metadata::{Metadata, labels};
use petal_passes::{Library, Pipeline, Program, instrument};

const CELLS: &str =
    "a = std_reg(8); b = std_reg(8); c = std_reg(8); add = std_add(8); other = std_add(8);
    m = comb_mem_d1(8, 4, 2); s = seq_mem_d1(8, 4, 2); w = std_wire(8);";

/// Groups that set a register: `to_from`.
fn sets(text: &str) -> String {
    let mut groups = String::new();
    for name in text.split_whitespace() {
        let (to, from) = name.split_once('_').unwrap();
        let from = match from {
            "1" => "8'd1".to_owned(),
            "m" => "m.read_data".to_owned(),
            "s" => "s.read_data".to_owned(),
            cell => format!("{cell}.out"),
        };
        let _ = writeln!(
            groups,
            "group {name} {{ {to}.in = {from}; {to}.write_en = 1'd1; {name}[done] = {to}.done; }}"
        );
    }
    groups
}

fn metadata(cells: &str, wires: &str, control: &str, others: &str, passes: &str) -> Metadata {
    let imports = ["core", "sync", "memories/comb", "memories/seq"]
        .map(|file| format!("import \"primitives/{file}.futil\";\n"))
        .concat();
    // Calyx refuses a program with groups that nobody runs.
    let runs = |line: &&str| {
        let name = line.trim_start().strip_prefix("group ");
        let name = name.and_then(|rest| rest.split(' ').next());
        let mut words = control.split([' ', ';']);
        name.is_none_or(|name| words.any(|word| word == name))
    };
    let wires: Vec<&str> = wires.lines().filter(runs).collect();
    let wires = wires.join("\n");
    let source = format!(
        "{imports}{others}\ncomponent main() -> () {{
           cells {{ {CELLS} {cells} }} wires {{ {wires} }} control {{ {control} }} }}"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("design.futil");
    std::fs::write(&file, source).unwrap();
    let program = Program::read(&file, &Library::new(&[]).unwrap()).unwrap();
    let pipeline = Pipeline::parse(passes, &[]).unwrap();
    let (_, metadata) = instrument(program, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    metadata
}

/// What each step of each sequence of a component waits for.
fn render(metadata: &Metadata, name: &str) -> String {
    let component = metadata.components.iter().find(|c| c.name == name).unwrap();
    let names = labels::control_labels(metadata, component);
    let name = |node: petal_metadata::ControlId| {
        let label = match component.node(node).group {
            Some(group) => &component.group(group).name,
            None => &names[petal_metadata::Id::index(node)],
        };
        label.split('@').next().unwrap().to_owned()
    };
    let mut text = String::new();
    for sequence in &component.sequences {
        for step in &sequence.steps {
            let at = |at: u32| name(sequence.steps[at as usize].node);
            let _ = write!(text, "{}", name(step.node));
            for (before, word) in step.after.iter().zip(["after", "and"].iter().cycle()) {
                let _ = write!(text, " {word} {}", at(*before));
            }
            for contention in &step.contends {
                let _ = write!(
                    text,
                    ", contends with {} for {}",
                    at(contention.with),
                    contention.cell
                );
                if contention.cell != contention.other {
                    let _ = write!(text, " = {}", contention.other);
                }
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

#[track_caller]
fn check(cells: &str, wires: &str, control: &str, expected: &Expect) {
    expected.assert_eq(&render(
        &metadata(cells, wires, control, "", "no-opt"),
        "main",
    ));
}

#[test]
fn registers() {
    let wires = sets("a_1 b_1 b_a c_a c_b a_b");
    check(
        "",
        &wires,
        "seq { a_1; b_1; c_b; c_a; a_b; }",
        &expect![[r#"
            a_1
            b_1
            c_b after b_1
            c_a after a_1 and c_b
            a_b after c_a

        "#]],
    );
    // A chain says nothing.
    check("", &wires, "seq { a_1; b_a; c_b; }", &expect![""]);
}

#[test]
fn memories() {
    let wires = sets("a_m b_m c_1").replace("a.in", "m.addr0 = 2'd0; a.in").replace(
        "b.in",
        "m.addr0 = 2'd1; b.in",
    ) + "group store { m.addr0 = 2'd0; m.write_data = c.out; m.write_en = 1'd1; store[done] = m.done; }
         group load { s.addr0 = 2'd0; s.content_en = 1'd1; load[done] = s.done; }
         group take { b.in = s.read_data; b.write_en = 1'd1; take[done] = b.done; }";
    // Two reads need not wait for one another, but there is one address.
    check(
        "",
        &wires,
        "seq { a_m; b_m; store; }",
        &expect![[r#"
        a_m
        b_m, contends with a_m for m
        store after a_m and b_m

    "#]],
    );
    check(
        "",
        &wires,
        "seq { load; take; load; c_1; }",
        &expect![[r#"
            load
            take after load
            load after take
            c_1

        "#]],
    );
}

#[test]
fn combinational_cells() {
    let sum = |name: &str, add: &str, to: &str| {
        format!(
            "group {name} {{ {add}.left = c.out; {add}.right = 8'd1; {to}.in = {add}.out; {to}.write_en = 1'd1; \
             {name}[done] = {to}.done; }}\n"
        )
    };
    let wires = sum("x", "add", "a") + &sum("y", "add", "b") + &sum("z", "other", "b");
    check(
        "",
        &wires,
        "seq { x; y; }",
        &expect![[r#"
        x
        y, contends with x for add

    "#]],
    );
    check(
        "",
        &wires,
        "seq { x; z; }",
        &expect![[r#"
        x
        z

    "#]],
    );
    // The optimiser gives both the same adder.
    let shared = metadata("", &wires, "seq { x; z; }", "", "cell-share,no-opt");
    expect![[r#"
        x
        z, contends with x for b = a, contends with x for other = add

    "#]]
    .assert_eq(&render(&shared, "main"));
}

#[test]
fn continuous_assignments() {
    let wires = sets("a_1 b_w c_1 a_c b_c") + "w.in = a.out;";
    check(
        "",
        &wires,
        "seq { a_1; b_w; c_1; }",
        &expect![[r#"
        a_1
        b_w after a_1
        c_1

    "#]],
    );
    // A counter that runs by itself tells the time to whoever reads it.
    let wires = sets("a_1 b_c b_1")
        + "add.left = c.out; add.right = 8'd1; c.in = add.out; c.write_en = 1'd1;";
    check("", &wires, "seq { a_1; b_c; a_1; }", &expect![[r#""#]]);
    check(
        "",
        &wires,
        "seq { a_1; b_1; }",
        &expect![[r#"
        a_1
        b_1

    "#]],
    );
}

#[test]
fn statements_around_others() {
    let wires = sets("b_1 c_1 a_1");
    let cells = "lt = std_lt(8);";
    let wires = wires + "comb group less { lt.left = a.out; lt.right = 8'd1; }";
    check(
        cells,
        &wires,
        "seq { a_1; if lt.out with less { b_1; } c_1; while lt.out with less { c_1; } }",
        &expect![[r#"
            a_1
            if after a_1
            c_1
            while after a_1 and c_1, contends with if for lt

        "#]],
    );
}

#[test]
fn arms_that_race() {
    let wires = sets("a_1 b_1 c_a c_1");
    check(
        "",
        &wires,
        "par { seq { a_1; b_1; } c_1; }",
        &expect![[r#"
            a_1
            b_1

        "#]],
    );
    // The other arm sees which of both comes first.
    check(
        "",
        &wires,
        "par { seq { a_1; b_1; } c_a; }",
        &expect![[r#""#]],
    );
    check(
        "",
        &wires,
        "par { seq { a_1; @sync(1); b_1; } seq { c_1; @sync(1); } }",
        &expect![[r#""#]],
    );
}

#[test]
fn cells_of_components() {
    let others = "component sub(x: 8) -> (y: 8) {
        cells { ref p = std_reg(8); ref q = std_reg(8); ref t = std_reg(4); r = std_reg(8); }
        wires { group p_x { p.in = x; p.write_en = 1'd1; p_x[done] = p.done; }
                group q_x { q.in = x; q.write_en = 1'd1; q_x[done] = q.done; }
                group r_x { r.in = x; r.write_en = 1'd1; r_x[done] = r.done; }
                group t_1 { t.in = 4'd1; t.write_en = 1'd1; t_1[done] = t.done; } y = r.out; }
        control { seq { p_x; q_x; r_x; t_1; } } }";
    let cells = "one = sub(); two = sub(); t1 = std_reg(4); t2 = std_reg(4); d = std_reg(8);";
    let wires = sets("a_1 c_1") + "group y { d.in = one.y; d.write_en = 1'd1; y[done] = d.done; }";
    let control = "seq { invoke one[p = a, q = b, t = t1](x = 8'd1)(); invoke two[p = c, q = d, t = t2](x = 8'd2)(); y; a_1; c_1; }";
    let program = metadata(cells, &wires, control, others, "no-opt");
    // Whoever runs it gives it two registers for `p` and `q`.
    expect![[r#"
        p_x
        q_x
        r_x
        t_1

    "#]]
    .assert_eq(&render(&program, "sub"));
    expect![[r#"
        invoke
        invoke
        y after invoke and invoke
        a_1 after invoke
        c_1 after invoke

    "#]]
    .assert_eq(&render(&program, "main"));
    // One call hands over one register for both.
    let one = "seq { invoke one[p = a, q = b, t = t1](x = 8'd1)(); invoke two[p = c, q = c, t = t2](x = 8'd2)(); }";
    let program = metadata(cells, &wires, one, others, "no-opt");
    expect![[r#"
        p_x
        q_x after p_x
        r_x
        t_1

    "#]]
    .assert_eq(&render(&program, "sub"));
    // So does one that hands on what it was given.
    let between = format!(
        "{others} component between() -> () {{
            cells {{ ref p = std_reg(8); ref q = std_reg(8); ref t = std_reg(4); one = sub(); }} wires {{}}
            control {{ seq {{ invoke one[p = p, q = q, t = t](x = 8'd1)(); }} }} }}"
    );
    for (handed, waits) in [
        ("p = a, q = b", "q_x\n"),
        ("p = a, q = a", "q_x after p_x\n"),
    ] {
        let control = format!("seq {{ invoke both[{handed}, t = t1]()(); }}");
        let cells = "both = between(); t1 = std_reg(4);";
        let program = metadata(cells, "", &control, &between, "no-opt");
        let text = render(&program, "sub");
        assert!(text.contains(waits), "{handed}: {text}");
    }
    let racing = "par { invoke one[p = a, q = b, t = t1](x = 8'd1)(); a_1; }";
    let program = metadata(cells, &wires, racing, others, "no-opt");
    expect![[r#""#]].assert_eq(&render(&program, "sub"));
}
