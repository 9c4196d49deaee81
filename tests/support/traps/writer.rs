//! Writes the statements that every program with traps has, and the program around them. Knows no trap.

use std::fmt::Write as _;

use super::{Memories, Program};
use crate::support::dice::Dice;

/// How many registers of main there are to compute with.
const REGISTERS: usize = 4;

pub(super) struct Writer<'a> {
    pub dice: &'a mut Dice,
    cells: Vec<String>,
    pub wires: Vec<String>,
    pub components: String,
    pub memories: Memories,
    /// Registers beside the four, which are written to the memory at the end.
    results: Vec<String>,
    count: usize,
}

impl<'a> Writer<'a> {
    pub fn new(dice: &'a mut Dice) -> Self {
        Self {
            dice,
            cells: Vec::new(),
            wires: Vec::new(),
            components: String::new(),
            memories: Memories::new(),
            results: Vec::new(),
            count: 0,
        }
    }

    pub fn cell(&mut self, name: &str, prototype: &str) {
        let line = format!("{name} = {prototype};");
        if !self.cells.contains(&line) {
            self.cells.push(line);
        }
    }

    pub fn memory(&mut self, name: &str, width: u32, size: u64, index: u32) {
        self.cell(
            &format!("@external {name}"),
            &format!("comb_mem_d1({width}, {size}, {index})"),
        );
        self.memories.insert(name.to_owned(), (width, size));
    }

    pub fn group(&mut self, head: &str, body: &str) {
        self.wires.push(format!("{head} {{ {body} }}"));
    }

    /// A group that writes a register in its first cycle.
    pub fn write(&mut self, name: &str, register: &str, before: &str, value: &str) -> String {
        self.group(
            &format!("group {name}"),
            &format!(
                "{before} {register}.in = {value}; {register}.write_en = 1'd1; {name}[done] = {register}.done;"
            ),
        );
        format!("{name};")
    }

    pub fn number(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    pub fn register(&mut self) -> String {
        format!("r{}", self.dice.below(REGISTERS))
    }

    /// A register that holds a result.
    pub fn result(&mut self, name: &str) {
        self.cell(name, "std_reg(8)");
        self.results.push(name.to_owned());
    }

    /// A statement with nothing special in it.
    pub fn plain(&mut self) -> String {
        let n = self.number();
        let (to, from, other) = (self.register(), self.register(), self.register());
        let k = self.dice.below(4);
        match self.dice.below(5) {
            0 => self.write(&format!("set{n}"), &to, "", &format!("8'd{k}")),
            1 => self.write(&format!("copy{n}"), &to, "", &format!("{from}.out")),
            2 | 3 => {
                let adder = format!("add{n}");
                self.cell(&adder, "std_add(8)");
                let before = format!("{adder}.left = {from}.out; {adder}.right = {other}.out;");
                self.write(&format!("sum{n}"), &to, &before, &format!("{adder}.out"))
            }
            _ => {
                let test = self.test(&from);
                let then = self.write(&format!("then{n}"), &to, "", &format!("8'd{k}"));
                format!("if {test} {{ {then} }}")
            }
        }
    }

    /// A condition on a register, with a comb group.
    pub fn test(&mut self, register: &str) -> String {
        let n = self.number();
        let of = self.dice.of(&["std_lt", "std_eq", "std_neq", "std_gt"]);
        let k = self.dice.below(4);
        self.cell(&format!("cmp{n}"), &format!("{of}(8)"));
        self.group(
            &format!("comb group is{n}"),
            &format!("cmp{n}.left = {register}.out; cmp{n}.right = 8'd{k};"),
        );
        format!("cmp{n}.out with is{n}")
    }

    /// A loop that runs so often, with this in it.
    pub fn times(&mut self, count: usize, body: &str) -> String {
        let n = self.number();
        self.cell(&format!("i{n}"), "std_reg(3)");
        self.cell(&format!("less{n}"), "std_lt(3)");
        self.cell(&format!("next{n}"), "std_add(3)");
        self.group(
            &format!("comb group more{n}"),
            &format!("less{n}.left = i{n}.out; less{n}.right = 3'd{count};"),
        );
        // After the reset it is 0.
        let zero = if self.dice.one_in(5) {
            String::new()
        } else {
            self.write(&format!("zero{n}"), &format!("i{n}"), "", "3'd0")
        };
        let step = self.write(
            &format!("step{n}"),
            &format!("i{n}"),
            &format!("next{n}.left = i{n}.out; next{n}.right = 3'd1;"),
            &format!("next{n}.out"),
        );
        format!("{zero} while less{n}.out with more{n} {{ seq {{ {body} {step} }} }}")
    }

    /// These statements in their order, most of them one after the other.
    fn arranged(&mut self, steps: &[String]) -> String {
        let mut text = String::new();
        let mut at = 0;
        while at < steps.len() {
            let left = steps.len() - at;
            let taken = 1 + self.dice.below(left.min(4));
            let part = steps[at..at + taken].join(" ");
            at += taken;
            let next = match self.dice.below(8) {
                0 if taken > 1 => format!("par {{ {part} }}"),
                1 => {
                    let register = self.register();
                    let test = self.test(&register);
                    format!("if {test} {{ seq {{ {part} }} }}")
                }
                2 => {
                    let count = 1 + self.dice.below(3);
                    self.times(count, &part)
                }
                3 if taken > 1 => format!("seq {{ {part} }}"),
                _ => part,
            };
            let _ = write!(text, "{next} ");
        }
        text
    }

    /// A statement with an adder, which may share its hardware with another.
    pub fn plain_adder(&mut self) -> String {
        let n = self.number();
        self.cell(&format!("add{n}"), "std_add(8)");
        let (to, from) = (self.register(), self.register());
        let before = format!("add{n}.left = {from}.out; add{n}.right = 8'd{n};");
        self.write(&format!("more{n}"), &to, &before, &format!("add{n}.out"))
    }

    /// The program with these statements of a trap, and plain ones between them.
    pub fn finish(mut self, special: Vec<String>) -> Program {
        let mut steps = Vec::new();
        for step in special {
            for _ in 0..self.dice.below(2) {
                steps.push(self.plain());
            }
            steps.push(step);
        }
        for _ in 0..self.dice.below(3) {
            steps.push(self.plain());
        }
        let body = self.arranged(&steps);
        self.memory("data", 8, 8, 3);
        self.memory("out", 8, 16, 4);
        let mut begin = String::new();
        for at in 0..REGISTERS {
            self.cell(&format!("r{at}"), "std_reg(8)");
            let before = format!("data.addr0 = 3'd{at};");
            begin += &self.write(
                &format!("load{at}"),
                &format!("r{at}"),
                &before,
                "data.read_data",
            );
            begin.push(' ');
        }
        let mut end = String::new();
        let mut stored: Vec<String> = (0..REGISTERS).map(|at| format!("r{at}")).collect();
        stored.append(&mut self.results);
        for (at, register) in stored.iter().enumerate() {
            self.group(
                &format!("group store{at}"),
                &format!(
                    "out.addr0 = 4'd{at}; out.write_data = {register}.out; out.write_en = 1'd1; store{at}[done] = out.done;"
                ),
            );
            let _ = write!(end, "store{at}; ");
        }
        let floats = ["addFN", "mulFN"].map(|name| {
            let is_used = self.cells.iter().any(|cell| cell.contains(name));
            is_used.then(|| format!("import \"primitives/float/{name}.futil\";\n"))
        });
        let text = format!(
            "{HEAD}{}{}component main() -> () {{\n  cells {{\n    {}\n  }}\n  wires {{\n    {}\n  }}\n  control {{ seq {{ {begin}{body}{end}}} }}\n}}\n",
            floats.into_iter().flatten().collect::<String>(),
            self.components,
            self.cells.join("\n    "),
            self.wires.join("\n    "),
        );
        Program {
            text,
            memories: self.memories,
        }
    }
}

const HEAD: &str = "import \"primitives/core.futil\";
import \"primitives/binary_operators.futil\";
import \"primitives/memories/comb.futil\";
import \"primitives/memories/seq.futil\";
";
