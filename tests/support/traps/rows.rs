//! Rows of groups of one cycle in a component that is run twice, with memories that may be one.

use std::fmt::Write as _;

use super::Writer;
use crate::support::dice::Dice;

/// What the component is made of.
struct Part<'a> {
    dice: &'a mut Dice,
    cells: Vec<String>,
    groups: Vec<String>,
    /// The groups so far, which may run once more.
    enables: Vec<String>,
    is_static: bool,
}

impl Writer<'_> {
    /// Two runs of a component, which are handed two memories or one.
    pub(super) fn rows(&mut self) -> Vec<String> {
        for name in ["a", "b"] {
            self.memory(name, 8, 8, 3);
        }
        for (name, of, words) in [
            ("late", "seq_mem_d1(8, 8, 3)", 8),
            ("later", "seq_mem_d1(8, 8, 3)", 8),
            ("grid", "comb_mem_d2(8, 4, 2, 2, 1)", 8),
        ] {
            self.cell(&format!("@external {name}"), of);
            self.memories.insert(name.to_owned(), (8, words));
        }
        let mostly = self.dice.below(3);
        let part = Part {
            dice: self.dice,
            cells: Vec::new(),
            groups: Vec::new(),
            enables: Vec::new(),
            is_static: mostly == 0,
        };
        self.components += &part.text();
        let cells: &[&str] = if self.dice.one_in(2) {
            &["part0"]
        } else {
            &["part0", "part1"]
        };
        let count = 1 + self.dice.below(3);
        let calls = (0..count).map(|_| {
            let cell = self.dice.of(cells);
            self.cell(cell, "part()");
            let [a, b] = if self.dice.one_in(3) {
                [self.dice.of(&["a", "b"]); 2]
            } else {
                ["a", "b"]
            };
            let [late, later] = if self.dice.one_in(3) {
                ["late", "late"]
            } else {
                ["late", "later"]
            };
            let x = self.register();
            format!(
                "invoke {cell}[a = {a}, b = {b}, late = {late}, later = {later}, grid = grid](x = {x}.out)();"
            )
        });
        calls.collect()
    }
}

impl Part<'_> {
    fn text(mut self) -> String {
        for at in 0..4 {
            self.cell(&format!("p{at}"), "std_reg(8)");
        }
        self.cell("flag", "std_reg(1)");
        self.cell("other_flag", "std_reg(1)");
        let mut control = String::new();
        // It keeps nothing from one run to the next, most times.
        for at in 0..4 {
            if !self.dice.one_in(16) {
                let value = self.dice.of(&["x", "x", "8'd5", "a.read_data"]);
                let address = if value == "a.read_data" {
                    format!("a.addr0 = 3'd{at};")
                } else {
                    String::new()
                };
                let body = format!("{address} p{at}.in = {value}; p{at}.write_en = 1'd1;");
                control += &self.short("load", &body, &format!("p{at}"));
            }
        }
        for flag in ["flag", "other_flag"] {
            let value = self.dice.of(&["1'd0", "1'd1"]);
            let body = format!("{flag}.in = {value}; {flag}.write_en = 1'd1;");
            control += &self.short("lower", &body, flag);
        }
        control += &self.steps(2);
        for at in 0..4 {
            let into = self.dice.of(&["a", "b"]);
            let body = format!(
                "{into}.addr0 = 3'd{at}; {into}.write_data = p{at}.out; {into}.write_en = 1'd1;"
            );
            control += &self.short("store", &body, into);
        }
        let wires = if self.dice.one_in(4) {
            let of = self.register();
            self.cell("wired", "std_not(8)");
            format!("wired.in = {of}.out;")
        } else {
            String::new()
        };
        let mut text = String::new();
        let _ = write!(
            text,
            "component part(x: 8) -> () {{\n  cells {{\n    ref a = comb_mem_d1(8, 8, 3);\n    ref b = comb_mem_d1(8, 8, 3);\n    \
             ref late = seq_mem_d1(8, 8, 3);\n    ref later = seq_mem_d1(8, 8, 3);\n    ref grid = comb_mem_d2(8, 4, 2, 2, 1);\n    \
             {}\n  }}\n  wires {{\n    {wires}\n    {}\n  }}\n  control {{ seq {{ {control} }} }}\n}}\n",
            self.cells.join("\n    "),
            self.groups.join("\n    "),
        );
        text
    }

    fn cell(&mut self, name: &str, prototype: &str) {
        let line = format!("{name} = {prototype};");
        if !self.cells.contains(&line) {
            self.cells.push(line);
        }
    }

    fn register(&mut self) -> String {
        format!("p{}", self.dice.below(4))
    }

    /// A group of one cycle.
    fn short(&mut self, name: &str, body: &str, done: &str) -> String {
        let n = self.groups.len();
        let is_static = self.is_static != self.dice.one_in(8);
        self.groups.push(if is_static {
            format!("static<1> group {name}{n} {{ {body} }}")
        } else {
            format!("group {name}{n} {{ {body} {name}{n}[done] = {done}.done; }}")
        });
        let enable = format!("{name}{n}; ");
        self.enables.push(enable.clone());
        enable
    }

    fn steps(&mut self, depth: usize) -> String {
        let count = 2 + self.dice.below(5);
        (0..count).map(|_| self.step(depth)).collect()
    }

    fn step(&mut self, depth: usize) -> String {
        if depth == 0 || !self.dice.one_in(8) {
            return self.leaf();
        }
        match self.dice.below(5) {
            0 => format!(
                "repeat {} {{ seq {{ {} }} }} ",
                1 + self.dice.below(3),
                self.steps(depth - 1)
            ),
            1 => {
                let [first, second] = [self.steps(depth - 1), self.steps(depth - 1)];
                format!("if flag.out {{ seq {{ {first} }} }} else {{ seq {{ {second} }} }} ")
            }
            2 => {
                let n = self.groups.len();
                let (from, other) = (self.register(), self.register());
                self.cell(&format!("test{n}"), "std_lt(8)");
                self.groups.push(format!(
                    "comb group is{n} {{ test{n}.left = {from}.out; test{n}.right = {other}.out; }}"
                ));
                let body = self.steps(depth - 1);
                let set = self.leaf();
                format!("if test{n}.out with is{n} {{ seq {{ {body} }} }} else {{ {set} }} ")
            }
            3 => format!("seq {{ {} }} ", self.steps(depth - 1)),
            _ => format!("par {{ {} seq {{ {} }} }} ", self.leaf(), self.leaf()),
        }
    }

    fn leaf(&mut self) -> String {
        if self.dice.one_in(5) {
            let at = self.dice.below(self.enables.len());
            return self.enables[at].clone();
        }
        let (to, from, other) = (self.register(), self.register(), self.register());
        let writes = |value: &str| format!("{to}.in = {value}; {to}.write_en = 1'd1;");
        match self.dice.below(12) {
            0 | 1 => {
                let of = self.dice.of(&[
                    "std_add", "std_sub", "std_sadd", "std_and", "std_lsh", "std_rsh", "std_srsh",
                ]);
                self.cell(of.replace("std_", "one_").as_str(), &format!("{of}(8)"));
                let cell = of.replace("std_", "one_");
                let value = self.dice.of(&["8'd3", "8'd255"]).to_owned();
                let right = if self.dice.one_in(3) {
                    value
                } else {
                    format!("{other}.out")
                };
                let body = format!(
                    "{cell}.left = {from}.out; {cell}.right = {right}; {}",
                    writes(&format!("{cell}.out"))
                );
                self.short("compute", &body, &to)
            }
            2 => {
                let value = self.dice.of(&["x", "8'd9"]).to_owned();
                let value = if self.dice.one_in(2) {
                    value
                } else {
                    format!("{from}.out")
                };
                self.short("move", &writes(&value), &to)
            }
            3 => {
                let memory = self.dice.of(&["a", "b"]);
                let at = self.at(memory, &from);
                let body = format!("{at} {}", writes(&format!("{memory}.read_data")));
                self.short("look", &body, &to)
            }
            4 => {
                let memory = self.dice.of(&["a", "b"]);
                let at = self.at(memory, &from);
                let body =
                    format!("{at} {memory}.write_data = {other}.out; {memory}.write_en = 1'd1;");
                self.short("put", &body, memory)
            }
            5 => {
                let memory = self.dice.of(&["late", "later"]);
                let at = self.at(memory, &from);
                let write = self.dice.of(&["", "1"]);
                let write = if write.is_empty() {
                    String::new()
                } else {
                    format!("{memory}.write_data = {other}.out; {memory}.write_en = 1'd1;")
                };
                let body = format!("{at} {memory}.content_en = 1'd1; {write}");
                self.short("ask", &body, memory)
            }
            6 => {
                let memory = self.dice.of(&["late", "later"]);
                self.short("take", &writes(&format!("{memory}.read_data")), &to)
            }
            7 => self.test(&from, &other),
            8 => self.choose(&to, &from, &other),
            9 => {
                self.cell("wide", "std_reg(16)");
                self.cell("pad", "std_pad(8, 16)");
                self.cell("double", "std_lsh(16)");
                let body = format!(
                    "pad.in = {from}.out; double.left = pad.out; double.right = 16'd1; wide.in = double.out; wide.write_en = 1'd1;"
                );
                let widen = self.short("widen", &body, "wide");
                self.cell("low", "std_slice(16, 8)");
                let body = format!("low.in = wide.out; {}", writes("low.out"));
                format!("{widen}{}", self.short("narrow", &body, &to))
            }
            10 => {
                self.cell("row", "std_slice(8, 2)");
                self.cell("column", "std_slice(8, 1)");
                let at = format!(
                    "row.in = {from}.out; grid.addr0 = row.out; column.in = {other}.out; grid.addr1 = column.out;"
                );
                if self.dice.one_in(2) {
                    let body = format!("{at} grid.write_data = {to}.out; grid.write_en = 1'd1;");
                    self.short("fill", &body, "grid")
                } else {
                    let body = format!("{at} {}", writes("grid.read_data"));
                    self.short("see", &body, &to)
                }
            }
            _ => {
                let value = self.dice.of(&["wired.out", "x"]);
                let is_there = self.cells.iter().any(|line| line.starts_with("wired"));
                let value = if is_there { value } else { "x" };
                self.short("wire", &writes(value), &to)
            }
        }
    }

    /// A condition kept in a flag.
    fn test(&mut self, from: &str, other: &str) -> String {
        let flag = self.dice.of(&["flag", "other_flag"]);
        let body = match self.dice.below(3) {
            0 => {
                self.cell("less", "std_slt(8)");
                format!("less.left = {from}.out; less.right = {other}.out; {flag}.in = less.out;")
            }
            1 => {
                self.cell("bit", "std_slice(8, 1)");
                format!("bit.in = {from}.out; {flag}.in = bit.out;")
            }
            _ => {
                self.cell("turn", "std_not(1)");
                format!("turn.in = flag.out; {flag}.in = turn.out;")
            }
        };
        self.short("test", &format!("{body} {flag}.write_en = 1'd1;"), flag)
    }

    /// A value that guards choose.
    fn choose(&mut self, to: &str, from: &str, other: &str) -> String {
        let guard = match self.dice.below(4) {
            0 => "flag.out".to_owned(),
            1 => "(flag.out & !other_flag.out)".to_owned(),
            2 => "(flag.out | other_flag.out)".to_owned(),
            _ => format!("({to}.out < {other}.out)"),
        };
        let body = format!(
            "{to}.in = {guard} ? {from}.out; {to}.in = !{guard} ? {other}.out; {to}.write_en = 1'd1;"
        );
        self.short("choose", &body, to)
    }

    /// What gives a memory the address that a register has.
    fn at(&mut self, memory: &str, register: &str) -> String {
        let cell = if self.dice.one_in(2) {
            format!("at_{register}")
        } else {
            format!("{memory}_{register}")
        };
        self.cell(&cell, "std_slice(8, 3)");
        format!("{cell}.in = {register}.out; {memory}.addr0 = {cell}.out;")
    }
}
