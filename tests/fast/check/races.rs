//! Races in programs made by hand: each a part of what `docs/check.md` says a race is.

use std::fmt::Write as _;

use crate::support::workshop::Workshop;

use super::{design, found, races, set};

#[test]
fn accesses_in_the_same_cycle_are_marked() {
    let cells = "r = std_reg(8); w = std_reg(8); d = std_reg(1);";
    let wires = [
        set("put", "r", "8'd5"),
        set("get", "w", "r.out"),
        set("wait", "d", "1'd0"),
    ];
    // The first time they are two cycles apart.
    let control =
        "    seq {\n      par { seq { wait; get; } put; }\n      par { get; put; }\n    }";
    let text = design(cells, &wires.concat(), control);
    let found = races(&text, &[("main.r", ["get", "put"])]);
    let all = found["races"].as_array().unwrap().iter();
    let marks: Vec<bool> = all
        .map(|race| race["same_cycle"].as_bool().unwrap())
        .collect();
    assert_eq!(marks, [false, true]);
}

/// A register that one arm sets, and what the other does with it.
fn with_reader(cells: &str, wires: &str, arm: &str) -> String {
    let cells = format!("r = std_reg(8); on = std_reg(1); w = std_reg(8); {cells}");
    let wires = [
        set("put", "r", "8'd5"),
        set("switch", "on", "1'd1"),
        wires.to_owned(),
    ]
    .concat();
    design(
        &cells,
        &wires,
        &format!("    par {{\n      seq {{ put; switch; }}\n      {arm}\n    }}"),
    )
}

#[test]
fn values_are_read_by_assignments_guards_and_through_wires() {
    let through = "    add.left = r.out; add.right = 8'd1;\n    group get { w.in = add.out; w.write_en = 1'd1; get[done] = w.done; }\n";
    let guard = "    group get { w.in = on.out ? 8'd1; w.write_en = 1'd1; get[done] = w.done; }\n";
    for (cells, wires, cell) in [
        ("", set("get", "w", "r.out"), "main.r"),
        ("add = std_add(8);", through.to_owned(), "main.r"),
        ("", guard.to_owned(), "main.on"),
    ] {
        let writer = if cell == "main.r" { "put" } else { "switch" };
        races(
            &with_reader(cells, &wires, "get;"),
            &[(cell, ["get", writer])],
        );
    }
    // A group that only reads what others set races with nobody.
    races(
        &with_reader("x = std_reg(8);", &set("get", "w", "x.out"), "get;"),
        &[],
    );
}

#[test]
fn what_a_guard_or_a_multiplexer_decides_is_no_finding_but_told() {
    let guarded = "    group get { w.in = on.done ? r.out; w.in = !on.done ? 8'd1; w.write_en = 1'd1; get[done] = w.done; }\n";
    let mux = "    mux.cond = 1'd0; mux.tru = r.out; mux.fal = 8'd1;\n    group get { w.in = mux.out; w.write_en = 1'd1; get[done] = w.done; }\n";
    for (cells, wires) in [("", guarded), ("mux = std_mux(8);", mux)] {
        let workshop = Workshop::empty();
        workshop.write("design.futil", with_reader(cells, wires, "get;"));
        let (code, found) = found(&workshop, &["design.futil"]);
        assert_eq!(found["races"][0]["doubt"], "guard", "{found:#}");
        assert_eq!(code, 0);
    }
}

#[test]
fn conditions_are_read_by_their_statement() {
    let wires = [set("a", "w", "8'd1"), set("b", "w", "8'd2")].concat();
    for (arm, statement) in [
        ("if on.out { a; } else { b; }", "if@L16"),
        // Nothing is taken.
        ("if on.out { a; }", "if@L15"),
        ("seq { b; if on.out { a; } }", "if@L16:16"),
    ] {
        let expected = [("main.on", [statement, "switch"])];
        races(&with_reader("", &wires, arm), &expected);
    }
}

#[test]
fn a_comb_group_reads_for_its_condition_and_not_for_what_the_condition_guards() {
    // The loop's condition reads the counter that an arm of its body sets, and the other arm names a wire of the condition.
    let cells = "i = std_reg(4); lt = std_lt(4); add = std_add(4); net = std_wire(1); other = std_wire(1); w = std_reg(8);";
    let wires = "    comb group cond { lt.left = i.out; lt.right = 4'd3; net.in = lt.out; }
    group next { add.left = i.out; add.right = 4'd1; i.in = add.out; i.write_en = 1'd1; next[done] = i.done; }
    group work { other.in = net.out; w.in = 8'd1; w.write_en = 1'd1; work[done] = w.done; }\n";
    let control = "    while lt.out with cond { par { work; next; } }";
    races(&design(cells, wires, control), &[]);
    // Beside a loop that looks at it, it races.
    let control = "    par {\n      next;\n      if lt.out with cond { work; }\n    }";
    races(
        &design(cells, wires, control),
        &[("main.i", ["cond", "next"])],
    );
}

#[test]
fn other_runs_of_a_par_and_other_branches_do_not_race() {
    let cells = "r = std_reg(8); odd = std_reg(1); no = std_not(1);";
    let wires = [
        set("one", "r", "8'd1"),
        set("two", "r", "8'd2"),
        set("flip", "odd", "no.out"),
        "    no.in = odd.out;\n".to_owned(),
    ];
    let turns = "    repeat 4 { seq { par { if odd.out { one; } if no.out { two; } } flip; } }";
    races(&design(cells, &wires.concat(), turns), &[]);
    let after = "    seq { par { one; flip; } par { two; flip; } }";
    races(&design(cells, &wires.concat(), after), &[]);
}

#[test]
fn the_arms_of_a_static_par_have_a_schedule() {
    let cells = "r = std_reg(8); w = std_reg(8);";
    let wires = "    static<1> group put { r.in = 8'd5; r.write_en = 1'd1; }
    static<1> group get { w.in = r.out; w.write_en = 1'd1; }
    static<2> group late { w.in = %1 ? r.out; w.write_en = %1 ? 1'd1; }\n";
    for (control, is_race) in [
        ("static par { put; late; }", false),
        ("par { put; late; }", true),
        ("par { static seq { put; put; } get; }", true),
    ] {
        let who = if control.contains("get") {
            "get"
        } else {
            "late"
        };
        let expected = [("main.r", [who, "put"])];
        let expected = if is_race { &expected[..] } else { &[] };
        races(&design(cells, wires, control), expected);
    }
}

#[test]
fn what_a_barrier_puts_into_an_order_does_not_race() {
    let cells = "r = std_reg(8); w = std_reg(8); v = std_reg(8); d = std_reg(1); e = std_reg(1);";
    let wires = [
        set("put", "r", "8'd5"),
        set("get", "w", "r.out"),
        set("look", "v", "r.out"),
        set("wait", "d", "1'd0"),
        set("rest", "e", "1'd0"),
    ];
    for (first, second, expected) in [
        ("put; @sync(1); wait;", "rest; @sync(1); get;", &[][..]),
        ("wait; @sync(1); put;", "rest; @sync(1); get;", &["get"]),
        ("put; @sync(1); put;", "rest; @sync(1); get;", &["get"]),
        (
            "@sync(1); put; @sync(2); wait;",
            "get; @sync(1); rest; @sync(2); look;",
            &[],
        ),
    ] {
        let control = format!("    par {{ seq {{ {first} }} seq {{ {second} }} }}");
        let expected: Vec<_> = expected
            .iter()
            .map(|who| ("main.r", [*who, "put"]))
            .collect();
        races(&design(cells, &wires.concat(), &control), &expected);
    }
    // Each round of a loop has its own meetings.
    let mut looping = (cells.to_owned(), wires.concat());
    for i in ["i", "j"] {
        let _ = write!(
            looping.0,
            "{i} = std_reg(4); {i}_lt = std_lt(4); {i}_add = std_add(4);"
        );
        let _ = writeln!(
            looping.1,
            "    {i}_lt.left = {i}.out; {i}_lt.right = 4'd3; {i}_add.left = {i}.out; {i}_add.right = 4'd1;"
        );
        looping.1 += &set(&format!("{i}_next"), i, &format!("{i}_add.out"));
    }
    for (first, second, expected) in [
        (
            "put; @sync(1); wait; @sync(2);",
            "@sync(1); get; @sync(2);",
            &[][..],
        ),
        (
            "put; @sync(1); wait; @sync(2);",
            "@sync(1); rest; @sync(2); get;",
            &[("main.r", ["get", "put"])],
        ),
    ] {
        let control = format!(
            "    par {{
      while i_lt.out {{ seq {{ {first} i_next; }} }}
      while j_lt.out {{ seq {{ {second} j_next; }} }}
    }}"
        );
        races(&design(&looping.0, &looping.1, &control), expected);
    }
    // What one arm tells the second, and the second the third.
    let control = "    par {
      seq { put; @sync(1); }
      seq { @sync(1); wait; @sync(2); }
      seq { @sync(2); get; }
    }";
    races(&design(cells, &wires.concat(), control), &[]);
}

#[test]
fn a_word_is_raced_for_and_not_its_neighbours() {
    for memory in ["comb_mem_d1", "seq_mem_d1"] {
        let enable = if memory == "seq_mem_d1" {
            "m.content_en = 1'd1;"
        } else {
            ""
        };
        let put = |name: &str, word: usize| {
            format!(
                "    group {name} {{ m.addr0 = 2'd{word}; m.write_data = 8'd{word}; m.write_en = 1'd1; {enable} {name}[done] = m.done; }}\n"
            )
        };
        let wires = [
            put("one", 1),
            put("two", 2),
            put("again", 1),
            set("wait", "d", "1'd0"),
            set("rest", "e", "1'd0"),
        ]
        .concat();
        let cells = format!("@external m = {memory}(8, 4, 2); d = std_reg(1); e = std_reg(1);");
        let control = "    par {\n      one;\n      seq { wait; wait; two; }\n      seq { rest; rest; rest; rest; again; }\n    }";
        let found = races(
            &design(&cells, &wires, control),
            &[("main.m", ["again", "one"])],
        );
        assert_eq!(found["races"][0]["word"], 1);
    }
}

#[test]
fn components_race_for_what_they_are_handed_and_for_their_own() {
    let part = "component part() -> (out: 8) {
  cells { ref c = std_reg(8); own = std_reg(8); }
  wires {
    out = own.out;
    group put { c.in = 8'd1; c.write_en = 1'd1; put[done] = c.done; }
    group keep { own.in = c.out; own.write_en = 1'd1; keep[done] = own.done; }
  }
  control { seq { put; keep; } }
}
";
    let cells =
        "p = part(); q = part(); r = std_reg(8); s = std_reg(8); w = std_reg(8); v = std_reg(8);";
    let wires = set("get", "w", "p.out") + &set("look", "v", "r.out");
    let text = |control: &str| {
        let text = design(cells, &wires, control);
        text.replace("component main", &format!("{part}component main"))
    };
    races(
        &text("par { invoke p[c = r]()(); invoke q[c = s]()(); }"),
        &[],
    );
    races(
        &text("par { invoke p[c = r]()(); look; }"),
        &[("main.r", ["look", "put"])],
    );
    races(
        &text("par { invoke p[c = r]()(); get; }"),
        &[("main.p.own", ["get", "keep"])],
    );
    races(&text("seq { invoke p[c = r]()(); get; }"), &[]);
}

#[test]
fn what_continuous_assignments_set_is_in_no_order() {
    let cells = "@external m = comb_mem_d1(8, 4, 2); v = std_reg(8); add = std_add(8);";
    let wires = "    add.left = v.out; add.right = 8'd1; v.in = add.out; v.write_en = 1'd1;
    group store { m.addr0 = 2'd0; m.write_data = v.out; m.write_en = 1'd1; store[done] = m.done; }\n";
    races(
        &design(cells, wires, "repeat 3 { store; }"),
        &[("main.v", ["continuous assignments", "store"])],
    );
    // That they read something is no moment: who takes what they give reads it.
    let wires = [
        set("put", "v", "8'd1"),
        "    add.left = v.out; add.right = v.out;\n".to_owned(),
    ];
    races(&design(cells, &wires.concat(), "seq { put; put; }"), &[]);
}
