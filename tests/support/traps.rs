//! Random programs made to break what proofs of advice rest on.
//!
//! Owns what the programs consist of: each has one trap, among statements that there is something to advise about. Every program
//! writes what it computed to the memory `out`.

mod alike;
mod called;
mod chained;
mod copied;
mod counted;
mod forwarded;
mod hidden;
mod hoisted;
mod lasting;
mod pipelined;
mod rows;
mod streamed;
mod taken;
mod writer;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::writer::Writer;
use super::dice::Dice;

/// What a program does that a proof might overlook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trap {
    /// A component keeps a register from one run to the next.
    Kept,
    /// A combinational cell is read where nobody drives it.
    Undriven,
    /// One is driven under a guard, and read beside it.
    Guarded,
    /// A register shows what is written to it in the same cycle.
    Bypass,
    /// A continuous assignment reads whether a group runs.
    Go,
    /// A continuous assignment reads whether a group is done.
    Done,
    /// A condition keeps an address within its bounds.
    Bound,
    /// Memories by `ref`, which may be the same one.
    References,
    /// A cell that several arms of a `par` use.
    Shared,
    /// A group that may never be done.
    Endless,
    /// Conditions on parts of a word.
    Slices,
    /// A value that nobody defined.
    Undefined,
    /// Names that look like those that Verilog or petal makes.
    Names,
    /// A component keeps what only continuous assignments read.
    Wired,
    /// A static group does not wait for what it starts.
    Running,
    /// A division, or an address that no group drives, behind a loop.
    Stopping,
    /// Groups that wait for multipliers and memories.
    Chained,
    /// Registers that copy what a memory or multiplier gives.
    Copied,
    /// Groups of one cycle, each of which reads what another one writes.
    Forwarded,
    /// Groups that go on when what they started is done.
    Lasting,
    /// Groups of one cycle in a component that runs twice, with `ref` memories that may be one.
    Rows,
    /// Copies of what memories, multipliers and dividers give, and what looks at them.
    Taken,
    /// Loops of fixed steps, of which iterations may overlap.
    Pipelined,
    /// Loops with steps that may run before them.
    Hoisted,
    /// Loops with a counter that may be written elsewhere.
    Counted,
    /// Arms of a `par` that drive the same logic, and groups that wait for logic of `done`s.
    Alike,
    /// Loops of which an iteration may start in each cycle.
    Streamed,
    /// A component that multiplies, run at once after it ran, and what looks at it.
    Called,
}

pub const TRAPS: [Trap; 28] = [
    Trap::Kept,
    Trap::Undriven,
    Trap::Guarded,
    Trap::Bypass,
    Trap::Go,
    Trap::Done,
    Trap::Bound,
    Trap::References,
    Trap::Shared,
    Trap::Endless,
    Trap::Slices,
    Trap::Undefined,
    Trap::Names,
    Trap::Wired,
    Trap::Running,
    Trap::Stopping,
    Trap::Chained,
    Trap::Copied,
    Trap::Forwarded,
    Trap::Lasting,
    Trap::Rows,
    Trap::Taken,
    Trap::Pipelined,
    Trap::Hoisted,
    Trap::Counted,
    Trap::Alike,
    Trap::Streamed,
    Trap::Called,
];

/// The memories that a program begins with: widths and words by name.
pub type Memories = BTreeMap<String, (u32, u64)>;

/// A program, and its memories.
pub struct Program {
    pub text: String,
    pub memories: Memories,
}

impl Program {
    /// The same with all that `main` does in a component that gets the memories, as CIRCT makes kernels.
    pub fn as_kernel(&self) -> String {
        let main = "component main() -> () {\n";
        let start = self.text.find(main).expect("a program has a `main`");
        let (before, rest) = self.text.split_at(start);
        let is_external = |line: &&str| line.trim_start().starts_with("@external ");
        let external: Vec<&str> = rest.lines().filter(is_external).collect();
        let names = external.iter().map(|line| {
            let name = line.trim_start().strip_prefix("@external ");
            let name = name.and_then(|line| line.split_once(" = "));
            name.expect("a memory has a name").0
        });
        let handed: Vec<String> = names.map(|name| format!("{name} = {name}")).collect();
        let kernel = rest.replacen(main, "component kernel() -> () {\n", 1);
        format!(
            "{before}{}\n{main}  cells {{\n{}\n    all_of_it = kernel();\n  }}\n  wires {{}}\n  control {{ seq {{ invoke all_of_it[{}]()(); }} }}\n}}\n",
            kernel.replace("@external ", "ref "),
            external.join("\n"),
            handed.join(", "),
        )
    }
}

/// Contents of memories: numbers, most of them small.
pub fn words(memories: &Memories, dice: &mut Dice) -> Vec<(String, Vec<u64>)> {
    let mut word = |width: u32| {
        let most = if dice.one_in(4) { 256 } else { 7 };
        dice.next() % most % (1 << width)
    };
    let memories = memories.iter();
    memories
        .map(|(name, (width, size))| (name.clone(), (0..*size).map(|_| word(*width)).collect()))
        .collect()
}

/// The same as a data file.
pub fn data(memories: &Memories, dice: &mut Dice) -> String {
    let contents = words(memories, dice).into_iter().map(|(name, words)| {
        let format = serde_json::json!({"numeric_type": "bitnum", "is_signed": false, "width": memories[&name].0});
        (name, serde_json::json!({"data": words, "format": format}))
    });
    let contents: serde_json::Map<String, serde_json::Value> = contents.collect();
    serde_json::Value::Object(contents).to_string()
}

/// A program with a trap.
pub fn program(trap: Trap, dice: &mut Dice) -> Program {
    let mut writer = Writer::new(dice);
    let special = writer.trap(trap);
    writer.finish(special)
}

impl Writer<'_> {
    /// The statements of a trap.
    #[allow(
        clippy::too_many_lines,
        clippy::many_single_char_names,
        reason = "a list of traps"
    )]
    fn trap(&mut self, trap: Trap) -> Vec<String> {
        let n = self.number();
        let (a, b) = (self.register(), self.register());
        match trap {
            Trap::Kept => self.kept(),
            Trap::Undriven => {
                let of = self.dice.of(&["std_add", "std_sub", "std_xor"]);
                self.cell(&format!("u{n}"), &format!("{of}(8)"));
                self.result("seen");
                let drives = format!("u{n}.left = {a}.out; u{n}.right = 8'd3;");
                let first = self.write(&format!("drive{n}"), &a, &drives, &format!("u{n}.out"));
                if self.dice.one_in(2) {
                    self.cell(&format!("ult{n}"), "std_lt(8)");
                    self.cell(&format!("pad{n}"), "std_pad(1, 8)");
                    self.group(
                        &format!("comb group c{n}"),
                        &format!("ult{n}.left = {b}.out; ult{n}.right = 8'd2;"),
                    );
                    let pad = format!("pad{n}.in = ult{n}.out;");
                    let read =
                        self.write(&format!("pads{n}"), "seen", &pad, &format!("pad{n}.out"));
                    return vec![format!("if ult{n}.out with c{n} {{ {first} }}"), read];
                }
                let read = self.write(&format!("read{n}"), "seen", "", &format!("u{n}.out"));
                if self.dice.one_in(2) {
                    vec![self.times(2, &first), read]
                } else {
                    vec![first, read]
                }
            }
            Trap::Guarded => {
                self.cell(&format!("g{n}"), "std_lt(8)");
                self.cell(&format!("u{n}"), "std_add(8)");
                self.result("seen");
                let otherwise = if self.dice.one_in(2) {
                    format!("u{n}.left = !g{n}.out ? {b}.out;")
                } else {
                    String::new()
                };
                let before = format!(
                    "g{n}.left = {a}.out; g{n}.right = 8'd2; u{n}.left = g{n}.out ? {a}.out; {otherwise} u{n}.right = 8'd1;"
                );
                let guarded = self.write(
                    &format!("guarded{n}"),
                    "seen",
                    &before,
                    &format!("u{n}.out"),
                );
                vec![guarded, self.plain_adder()]
            }
            Trap::Bypass => {
                self.cell(&format!("y{n}"), "std_bypass_reg(8)");
                self.result("k");
                self.cell(&format!("lt{n}"), "std_lt(8)");
                self.cell(&format!("nx{n}"), "std_add(8)");
                self.group(
                    &format!("comb group c{n}"),
                    &format!("lt{n}.left = y{n}.out; lt{n}.right = 8'd4;"),
                );
                for (name, value, more) in [("up", 9, 1), ("down", 2, 77)] {
                    let head = if self.dice.one_in(2) {
                        format!("static<1> group {name}{n}")
                    } else {
                        format!("group {name}{n}")
                    };
                    let done = if head.starts_with("static") {
                        String::new()
                    } else {
                        format!("{name}{n}[done] = k.done;")
                    };
                    self.group(
                        &head,
                        &format!(
                            "nx{n}.left = k.out; nx{n}.right = 8'd{more}; k.in = nx{n}.out; k.write_en = 1'd1; \
                             y{n}.in = 8'd{value}; y{n}.write_en = 1'd1; {done}"
                        ),
                    );
                }
                let (up, down) = (format!("up{n};"), format!("down{n};"));
                vec![
                    up.clone(),
                    format!(
                        "if lt{n}.out with c{n} {{ seq {{ {up} {up} }} }} else {{ seq {{ {down} {up} }} }}"
                    ),
                ]
            }
            Trap::Go | Trap::Done => {
                let hole = if trap == Trap::Go { "go" } else { "done" };
                self.result("seen");
                self.result("other");
                self.cell(&format!("w{n}"), "std_wire(8)");
                let run = self.write(&format!("run{n}"), "other", "", "8'd7");
                self.wires.push(format!("w{n}.in = run{n}[{hole}] ? 8'd5;"));
                if self.dice.one_in(2) {
                    let look = self.write(&format!("look{n}"), "seen", "", &format!("w{n}.out"));
                    return if self.dice.one_in(2) {
                        vec![look, run]
                    } else {
                        vec![run, look]
                    };
                }
                self.cell(&format!("eq{n}"), "std_eq(8)");
                self.group(
                    &format!("comb group c{n}"),
                    &format!("eq{n}.left = w{n}.out; eq{n}.right = 8'd5;"),
                );
                let yes = self.write(&format!("yes{n}"), "seen", "", "8'd4");
                let no = self.write(&format!("no{n}"), "seen", "", "8'd9");
                vec![
                    run,
                    format!("if eq{n}.out with c{n} {{ {yes} }} else {{ {no} }}"),
                ]
            }
            Trap::Bound => {
                let size = 5 + self.dice.below(4) as u64;
                self.memory("tab", 8, size, 4);
                self.cell(&format!("at{n}"), "std_reg(4)");
                self.cell(&format!("cut{n}"), "std_slice(8, 4)");
                self.cell(&format!("in{n}"), "std_lt(4)");
                self.cell(&format!("hit{n}"), "std_lt(8)");
                self.result("found");
                let index = self.write(
                    &format!("index{n}"),
                    &format!("at{n}"),
                    &format!("cut{n}.in = {a}.out;"),
                    &format!("cut{n}.out"),
                );
                self.group(
                    &format!("comb group bound{n}"),
                    &format!("in{n}.left = at{n}.out; in{n}.right = 4'd{size};"),
                );
                let inner = if self.dice.one_in(3) {
                    let before = format!("tab.addr0 = at{n}.out;");
                    self.write(&format!("look{n}"), "found", &before, "tab.read_data")
                } else {
                    self.group(
                        &format!("comb group small{n}"),
                        &format!("tab.addr0 = at{n}.out; hit{n}.left = tab.read_data; hit{n}.right = 8'd4;"),
                    );
                    let set = self.write(&format!("found{n}"), "found", "", "8'd4");
                    format!("if hit{n}.out with small{n} {{ {set} }}")
                };
                vec![index, format!("if in{n}.out with bound{n} {{ {inner} }}")]
            }
            Trap::References => self.references(),
            Trap::Shared => {
                self.cell(&format!("add{n}"), "std_add(8)");
                let arm = |writer: &mut Self, to: &str| {
                    let m = writer.number();
                    let before = format!("add{n}.left = {to}.out; add{n}.right = 8'd{m};");
                    writer.write(&format!("arm{m}"), to, &before, &format!("add{n}.out"))
                };
                let first = arm(self, "r0");
                let second = arm(self, "r1");
                let third = self.write(&format!("third{n}"), "r2", "", "r3.out");
                match self.dice.below(3) {
                    0 => vec![format!("par {{ seq {{ {third} {first} }} {second} }}")],
                    1 => vec![format!("par {{ {first} {third} }}"), second],
                    _ => vec![first, second, third],
                }
            }
            Trap::Endless => {
                self.result("late");
                self.memory("tab", 8, 5, 3);
                self.cell(&format!("at{n}"), "std_slice(8, 3)");
                self.cell(&format!("zero{n}"), "std_eq(8)");
                let never = if self.dice.one_in(2) {
                    self.group(
                        &format!("group never{n}"),
                        &format!(
                            "zero{n}.left = {a}.out; zero{n}.right = 8'd1; late.in = 8'd6; late.write_en = !zero{n}.out ? 1'd1; \
                             never{n}[done] = late.done;"
                        ),
                    );
                    format!("never{n};")
                } else {
                    self.group(
                        &format!("comb group on{n}"),
                        &format!("zero{n}.left = {a}.out; zero{n}.right = 8'd1;"),
                    );
                    let again = self.write(&format!("again{n}"), "late", "", "8'd6");
                    format!("while zero{n}.out with on{n} {{ {again} }}")
                };
                self.result("seen");
                let read = self.write(
                    &format!("read{n}"),
                    "seen",
                    &format!("at{n}.in = {b}.out; tab.addr0 = at{n}.out;"),
                    "tab.read_data",
                );
                match self.dice.below(3) {
                    0 => vec![format!("par {{ {never} {read} }}")],
                    1 => vec![read, never],
                    _ => vec![never, read],
                }
            }
            Trap::Slices => {
                self.result("part");
                let mut arms = String::new();
                let width = 1 + self.dice.below(3);
                for at in 0..2 + self.dice.below(2) {
                    let m = self.number();
                    self.cell(&format!("cut{m}"), &format!("std_slice(8, {width})"));
                    self.cell(&format!("eq{m}"), &format!("std_eq({width})"));
                    let k = at % (1 << width);
                    self.group(
                        &format!("comb group part{m}"),
                        &format!("cut{m}.in = {a}.out; eq{m}.left = cut{m}.out; eq{m}.right = {width}'d{k};"),
                    );
                    let to = if self.dice.one_in(2) {
                        "part".to_owned()
                    } else {
                        self.register()
                    };
                    let set = self.write(&format!("part_is{m}"), &to, "", &format!("8'd{m}"));
                    let _ = write!(arms, "if eq{m}.out with part{m} {{ {set} }} ");
                }
                vec![format!("par {{ {arms}}}")]
            }
            Trap::Undefined => {
                self.cell(&format!("un{n}"), "undef(8)");
                self.result("seen");
                let copy = self.write(&format!("copy{n}"), "seen", "", &format!("un{n}.out"));
                vec![copy, self.plain_adder()]
            }
            Trap::Names => self.names(),
            Trap::Wired => self.wired(),
            Trap::Chained => self.chained(),
            Trap::Copied => self.copied(),
            Trap::Forwarded => self.forwarded(),
            Trap::Lasting => self.lasting(),
            Trap::Rows => self.rows(),
            Trap::Taken => self.taken(),
            Trap::Pipelined => self.pipelined(),
            Trap::Hoisted => self.hoisted(),
            Trap::Counted => self.counted(),
            Trap::Alike => self.alike(),
            Trap::Called => self.called(),
            Trap::Streamed => self.streamed(),
            Trap::Running => self.running(),
            Trap::Stopping => self.stopping(),
        }
    }

    fn kept(&mut self) -> Vec<String> {
        let control = self.dice.of(&[
            "par { seq { use; keep; } if f { seq { temp; put; } } }",
            "par { seq { use; keep; } seq { temp; put; } }",
            "seq { use; par { keep; seq { temp; put; } } }",
            "seq { use; if f { seq { temp; put; } } keep; }",
        ]);
        let _ = write!(
            self.components,
            "component keeper(x: 8, f: 1) -> () {{\n  cells {{\n    ref n = comb_mem_d1(8, 8, 3);\n    ref k = comb_mem_d1(8, 8, 3);\n    \
             a = std_reg(8);\n    t = std_reg(8);\n    p = std_add(8);\n  }}\n  wires {{\n    \
             group use {{ n.addr0 = 3'd1; n.write_data = a.out; n.write_en = 1'd1; use[done] = n.done; }}\n    \
             group keep {{ a.in = x; a.write_en = 1'd1; keep[done] = a.done; }}\n    \
             group temp {{ p.left = x; p.right = 8'd1; t.in = p.out; t.write_en = 1'd1; temp[done] = t.done; }}\n    \
             group put {{ k.addr0 = 3'd2; k.write_data = t.out; k.write_en = 1'd1; put[done] = k.done; }}\n  }}\n  \
             control {{ {control} }}\n}}\n"
        );
        self.memory("n", 8, 8, 3);
        self.memory("k", 8, 8, 3);
        self.cell("c0", "keeper()");
        self.cell("flag", "std_reg(1)");
        self.cell("bit", "std_slice(8, 1)");
        let from = self.register();
        let flag = self.write("flags", "flag", &format!("bit.in = {from}.out;"), "bit.out");
        let calls = (0..2).map(|_| {
            let x = self.register();
            format!("invoke c0[n = n, k = k](x = {x}.out, f = flag.out)();")
        });
        let calls: Vec<String> = calls.collect();
        [vec![flag], calls].concat()
    }

    fn references(&mut self) -> Vec<String> {
        let control = self.dice.of(&[
            "seq { write; read; again; }",
            "seq { read; write; again; }",
            "seq { read; again; write; }",
        ]);
        let _ = write!(
            self.components,
            "component mover(x: 8) -> () {{\n  cells {{\n    ref p = comb_mem_d1(8, 8, 3);\n    ref q = comb_mem_d1(8, 8, 3);\n    \
             t = std_reg(8);\n    s = std_add(8);\n    z = std_add(8);\n  }}\n  wires {{\n    \
             group read {{ p.addr0 = 3'd1; s.left = p.read_data; s.right = x; t.in = s.out; t.write_en = 1'd1; read[done] = t.done; }}\n    \
             group write {{ q.addr0 = 3'd1; q.write_data = x; q.write_en = 1'd1; write[done] = q.done; }}\n    \
             group again {{ q.addr0 = 3'd2; z.left = t.out; z.right = 8'd1; q.write_data = z.out; q.write_en = 1'd1; again[done] = q.done; }}\n  }}\n  \
             control {{ {control} }}\n}}\n"
        );
        self.memory("n", 8, 8, 3);
        self.memory("k", 8, 8, 3);
        let mut calls = Vec::new();
        for _ in 0..2 + self.dice.below(2) {
            let cell = self.dice.of(&["m0", "m1"]);
            self.cell(cell, "mover()");
            let [p, q] = [self.dice.of(&["n", "k"]), self.dice.of(&["n", "k"])];
            let x = self.register();
            calls.push(format!("invoke {cell}[p = {p}, q = {q}](x = {x}.out)();"));
        }
        calls
    }

    /// Two groups, a shared adder and a condition, beside cells that have the names that first come to mind for what is
    /// made of them.
    fn names(&mut self) -> Vec<String> {
        for _ in 0..4 {
            let name = self.dice.of(&[
                "v_out",
                "v_apart",
                "v_apart_in",
                "v_in",
                "e_for_is",
                "e_for_is_out",
                "e_left",
                "one_and_two",
                "one_and_two_go",
                "one_and_two_go_in",
                "w_apart",
                "w_apart_out",
                "one_go",
            ]);
            self.cell(name, "std_reg(8)");
        }
        self.cell("v", "std_add(8)");
        self.cell("w", "std_add(8)");
        self.cell("e", "std_eq(8)");
        let one = self.write("one", "r0", "v.left = r1.out; v.right = 8'd1;", "v.out");
        let two = self.write("two", "r2", "w.left = r3.out; w.right = 8'd2; ", "w.out");
        self.group("comb group is", "e.left = r0.out; e.right = 8'd3;");
        let three = self.write("three", "r3", "w.left = r2.out; w.right = 8'd5;", "w.out");
        vec![one, two, format!("if e.out with is {{ {three} }}")]
    }
}
