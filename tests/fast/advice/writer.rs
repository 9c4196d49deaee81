//! Random programs made for edits, as text.
//!
//! Owns what the programs consist of. Every program writes all of its registers to a memory at the end, and every loop
//! has a counter of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::shapes::{Act, Call, REGISTERS, Random, Shape, Test};

impl Random {
    pub fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        let mut formals = Vec::new();
        for (at, shape) in self.bodies.iter().enumerate() {
            let is_main = at + 1 == self.bodies.len();
            let mut writer = Writer {
                formals: &formals,
                is_main,
                layout: self.layout,
                odd: self.odd,
                tidy: self.tidy,
                lane: String::new(),
                kept: Vec::new(),
                cells: BTreeMap::new(),
                groups: BTreeMap::new(),
                own_formals: BTreeSet::new(),
                loops: 0,
                control: Vec::new(),
                depth: 1,
            };
            writer.begin();
            writer.shape(shape);
            let name = if is_main {
                "main".to_owned()
            } else {
                format!("p{at}")
            };
            let (component, own_formals) = writer.finish(&name);
            formals.push(own_formals);
            text.push_str(&component);
        }
        text
    }
}

/// Writes one component down.
pub(super) struct Writer<'a> {
    /// The `ref` cells of the components before it.
    pub formals: &'a [BTreeSet<&'static str>],
    pub is_main: bool,
    pub layout: usize,
    pub odd: bool,
    pub tidy: bool,
    /// What the names of cells end with in an arm that has its own.
    pub lane: String,
    /// Registers that are not to be written.
    pub kept: Vec<usize>,
    /// Names of cells, with their prototypes.
    pub cells: BTreeMap<String, String>,
    /// What stands in `wires`, by name.
    pub groups: BTreeMap<String, String>,
    pub own_formals: BTreeSet<&'static str>,
    pub loops: usize,
    pub control: Vec<(usize, String)>,
    pub depth: usize,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.control.push((self.depth, text.to_owned()));
    }

    fn block(&mut self, head: &str, write: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        write(self);
        self.depth -= 1;
        self.line("}");
    }

    pub fn cell(&mut self, name: &str, prototype: &str) {
        self.cells.insert(name.to_owned(), prototype.to_owned());
    }

    /// A register of 8 bits. The last two of a component are its caller's.
    pub fn register(&mut self, at: usize) -> String {
        let at = at % REGISTERS;
        if !self.is_main && at >= 4 && self.lane.is_empty() {
            let name = ["q0", "q1"][at - 4];
            self.own_formals.insert(name);
            return name.to_owned();
        }
        let name = format!("r{at}{}", self.lane);
        self.cell(&name, "std_reg(8)");
        name
    }

    /// The memory `m`, or the one of the caller.
    pub fn memory(&mut self) -> &'static str {
        if self.is_main {
            "m"
        } else {
            self.own_formals.insert("qm");
            "qm"
        }
    }

    /// What a number gives: a register, an input or a constant.
    pub fn value(&mut self, at: usize) -> String {
        match at {
            0..REGISTERS => format!("{}.out", self.register(at)),
            REGISTERS if !self.is_main => "x".to_owned(),
            7 if !self.is_main => "y".to_owned(),
            _ => format!("8'd{at}"),
        }
    }

    /// Puts a group in wires, on one line or several.
    pub fn group(&mut self, head: &str, name: &str, body: &[String]) {
        let text = match self.layout {
            0 | 2 => format!("    {head} {name} {{ {} }}\n", body.join(" ")),
            1 => format!(
                "    {head} {name} {{\n      {}\n    }}\n",
                body.join("\n      ")
            ),
            _ => format!(
                "    {head} {name} {{ // {name}\n      {} // the end\n    }}\n",
                body.join("\n      ")
            ),
        };
        self.groups.insert(name.to_owned(), text);
    }

    pub fn enable(&mut self, name: &str, body: &[String]) {
        self.group("group", name, body);
        self.line(&format!("{name};"));
    }

    /// Loads what the program computes with.
    fn begin(&mut self) {
        if !self.is_main {
            return;
        }
        self.block("seq", |writer| {
            for at in 0..4 {
                let register = writer.register(at);
                writer.enable(
                    &format!("load{at}"),
                    &[
                        format!("data.addr0 = 3'd{at};"),
                        format!("{register}.in = data.read_data;"),
                        format!("{register}.write_en = 1'd1;"),
                        format!("load{at}[done] = {register}.done;"),
                    ],
                );
            }
        });
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Act(act) => self.act(act),
            Shape::Seq(parts) => self.block("seq", |writer| {
                for part in parts {
                    writer.shape(part);
                }
            }),
            Shape::Par(arms) => self.block("par", |writer| {
                let outer = writer.lane.clone();
                for (at, arm) in arms.iter().enumerate() {
                    if writer.tidy {
                        writer.lane = format!("{outer}_{at}");
                    }
                    writer.shape(arm);
                }
                writer.lane = outer;
            }),
            Shape::If(test, then, otherwise) => {
                self.branches("if", test, then, otherwise.as_deref());
            }
            Shape::While(times, test, continuous, beside, body) => {
                self.repeated(*times, test.as_ref(), *continuous, *beside, body);
            }
            Shape::Switch(test, arms) => self.block("par", |writer| {
                writer.kept.push(test.left);
                for (at, (op, right, body)) in arms.iter().enumerate() {
                    let test = Test {
                        op: if *op < 8 { 0 } else { *op },
                        left: test.left % REGISTERS,
                        right: if *op < 8 { at } else { *right },
                        mode: test.mode,
                        form: if *op == 8 { test.form } else { 0 },
                    };
                    let condition = writer.test(&test);
                    writer.block(&format!("if {condition}"), |writer| writer.shape(body));
                }
                writer.kept.pop();
            }),
            Shape::Sync(arms) => self.block("par", |writer| {
                let outer = writer.lane.clone();
                for (at, (before, after)) in arms.iter().enumerate() {
                    if writer.tidy {
                        writer.lane = format!("{outer}_{at}");
                    }
                    writer.block("seq", |writer| {
                        writer.shape(before);
                        writer.line("@sync(1);");
                        writer.shape(after);
                    });
                }
                writer.lane = outer;
            }),
            Shape::Invoke(call) => self.invoke(call),
            Shape::Static(par, acts) => {
                let head = if *par { "static par" } else { "static seq" };
                self.block(head, |writer| {
                    for (at, Act { to, from, with, .. }) in acts.iter().enumerate() {
                        let outer = writer.lane.clone();
                        if *par && writer.tidy {
                            writer.lane = format!("{outer}_{at}");
                        }
                        let name = format!("st{to}_{from}{}", writer.lane);
                        let t = writer.register(*to);
                        let value = writer.value(*from);
                        let body = [format!(
                            "{t}.in = {value}; {t}.write_en = %{} ? 1'd1;",
                            with % 2
                        )];
                        writer.group("static<2> group", &format!("{name}_{}", with % 2), &body);
                        writer.line(&format!("{name}_{};", with % 2));
                        writer.lane = outer;
                    }
                });
            }
        }
    }

    /// An `if`, with `else if` for each that is the `else` of the one before.
    fn branches(&mut self, head: &str, test: &Test, then: &Shape, otherwise: Option<&Shape>) {
        let condition = self.test(test);
        self.block(&format!("{head} {condition}"), |writer| writer.shape(then));
        match otherwise {
            Some(Shape::If(test, then, otherwise)) => {
                self.branches("else if", test, then, otherwise.as_deref());
            }
            Some(otherwise) => self.block("else", |writer| writer.shape(otherwise)),
            None => {}
        }
    }

    fn repeated(
        &mut self,
        times: u64,
        test: Option<&Test>,
        continuous: bool,
        beside: bool,
        body: &Shape,
    ) {
        let at = self.loops;
        self.loops += 1;
        let k = format!("k{at}");
        self.cell(&k, "std_reg(3)");
        self.cell(&format!("{k}_lt"), "std_lt(3)");
        self.cell(&format!("{k}_add"), "std_add(3)");
        let mut wires = vec![format!("{k}_lt.left = {k}.out; {k}_lt.right = 3'd{times};")];
        let mut port = format!("{k}_lt.out");
        if let Some(test) = test {
            let left = self.register(test.left);
            self.cell(&format!("{k}_neq"), "std_neq(8)");
            self.cell(&format!("{k}_and"), "std_and(1)");
            wires.push(format!(
                "{k}_neq.left = {left}.out; {k}_neq.right = 8'd{}; {k}_and.left = {k}_lt.out; {k}_and.right = {k}_neq.out;",
                test.right
            ));
            port = format!("{k}_and.out");
        }
        let condition = if continuous {
            self.groups
                .insert(format!("{k}_is"), format!("    {}\n", wires.join(" ")));
            port
        } else {
            self.group("comb group", &format!("{k}_is"), &wires);
            format!("{port} with {k}_is")
        };
        self.block("seq", |writer| {
            writer.enable(
                &format!("{k}_zero"),
                &[format!("{k}.in = 3'd0; {k}.write_en = 1'd1; {k}_zero[done] = {k}.done;")],
            );
            writer.block(&format!("while {condition}"), |writer| {
                writer.block(if beside { "par" } else { "seq" }, |writer| {
                    writer.shape(body);
                    writer.enable(
                        &format!("{k}_more"),
                        &[format!(
                            "{k}_add.left = {k}.out; {k}_add.right = 3'd1; {k}.in = {k}_add.out; {k}.write_en = 1'd1; \
                             {k}_more[done] = {k}.done;"
                        )],
                    );
                });
            });
        });
    }

    fn invoke(&mut self, call: &Call) {
        if self.formals.is_empty() || !self.lane.is_empty() {
            return self.act(&Act {
                kind: 1,
                to: call.input % 6,
                from: call.cell,
                with: 1,
            });
        }
        let component = call.component % self.formals.len();
        let is_plain = component == 0 && self.formals[0].is_empty();
        let cell = if !self.is_main && is_plain && call.cell == 1 {
            self.own_formals.insert("qc");
            "qc".to_owned()
        } else {
            let cell = format!("c{component}_{}", call.cell);
            self.cell(&cell, &format!("p{component}()"));
            cell
        };
        let mut refs = Vec::new();
        for formal in &self.formals[component] {
            let actual = match *formal {
                "q0" => self.register(call.actuals[0]),
                "q1" => self.register(call.actuals[1]),
                "qc" => {
                    self.cell("c0_0", "p0()");
                    "c0_0".to_owned()
                }
                _ if self.is_main && call.actuals[2] == 1 => "data".to_owned(),
                _ => self.memory().to_owned(),
            };
            refs.push(format!("{formal} = {actual}"));
        }
        let refs = if refs.is_empty() {
            String::new()
        } else {
            format!("[{}]", refs.join(", "))
        };
        let input = match call.input {
            8 => format!("{cell}.out"),
            9 => format!("{}.out", self.register(call.actuals[0])),
            at => self.value(at),
        };
        let y = if call.input == 10 {
            self.cell("w_add", "std_add(8)");
            let left = self.register(call.actuals[1]);
            self.group(
                "comb group",
                &format!("to_{left}"),
                &[format!("w_add.left = {left}.out; w_add.right = 8'd1;")],
            );
            return self.line(&format!(
                "invoke {cell}{refs}(x = w_add.out, y = 8'd2)() with to_{left};"
            ));
        } else {
            "8'd1"
        };
        self.line(&format!("invoke {cell}{refs}(x = {input}, y = {y})();"));
    }

    /// The component as a whole, and the `ref` cells that it has.
    fn finish(mut self, name: &str) -> (String, BTreeSet<&'static str>) {
        let mut cells = String::new();
        let state: Vec<String> = self
            .cells
            .iter()
            .filter(|(_, of)| of.starts_with("std_reg(8)") || of.starts_with('p'))
            .map(|(cell, _)| format!("{cell}.out"))
            .collect();
        if self.is_main {
            self.cell("m", "comb_mem_d1(8, 8, 3)");
            self.cell("data", "comb_mem_d1(8, 8, 3)");
            self.cell("results", "comb_mem_d1(8, 128, 7)");
        }
        let externals = ["m", "data", "results", "s_in", "fixed"];
        for (cell, of) in &self.cells {
            let external = if self.is_main && externals.contains(&cell.as_str()) {
                "@external "
            } else {
                ""
            };
            let _ = writeln!(cells, "    {external}{cell} = {of};");
        }
        for formal in &self.own_formals {
            let of = match *formal {
                "qm" => "comb_mem_d1(8, 8, 3)",
                "qc" => "p0()",
                _ => "std_reg(8)",
            };
            let _ = writeln!(cells, "    ref {formal} = {of};");
        }
        let mut wires: String = std::mem::take(&mut self.groups).into_values().collect();
        let ports = if self.is_main {
            self.block("seq", |writer| {
                for (at, value) in state.iter().enumerate() {
                    let body = format!(
                        "results.addr0 = 7'd{at}; results.write_data = {value}; results.write_en = 1'd1; \
                         store{at}[done] = results.done;"
                    );
                    writer.enable(&format!("store{at}"), &[body]);
                }
            });
            wires.extend(std::mem::take(&mut self.groups).into_values());
            "() -> ()"
        } else {
            let mut sum = "x".to_owned();
            // The compiler never shares what a continuous assignment reads.
            let step = 1 + self.layout % 2;
            let state: Vec<String> = state.into_iter().step_by(step).collect();
            for (at, value) in state.iter().enumerate() {
                let _ = writeln!(cells, "    sum{at} = std_xor(8);");
                let _ = writeln!(wires, "    sum{at}.left = {sum}; sum{at}.right = {value};");
                sum = format!("sum{at}.out");
            }
            let of = if state.is_empty() {
                "8'd0".to_owned()
            } else {
                sum
            };
            let of = if of == "x" { "8'd0" } else { &of };
            let _ = writeln!(wires, "    out = {of};");
            "(x: 8, y: 8) -> (out: 8)"
        };
        let mut control = String::new();
        let lines = self.control.iter().enumerate();
        for (at, (depth, line)) in lines {
            let _ = match self.layout {
                0 => write!(control, " {line}"),
                1 => writeln!(control, "    {}{line}", "  ".repeat(*depth)),
                2 => writeln!(control, "{line}"),
                _ if at % 3 == 1 => writeln!(control, "{}{line} // {at}", "  ".repeat(*depth)),
                _ if at % 5 == 1 => writeln!(control, "{} /* {at} */ {line}", "\t".repeat(*depth)),
                _ => writeln!(control, "{}{line}", "\t".repeat(*depth)),
            };
        }
        let text = format!(
            "component {name}{ports} {{\n  cells {{\n{cells}  }}\n  wires {{\n{wires}  }}\n  control {{\n    seq {{\n\
             {control}\n    }}\n  }}\n}}\n"
        );
        (text, self.own_formals)
    }
}

/// What all programs begin with.
const HEAD: &str = "import \"primitives/core.futil\";
import \"primitives/binary_operators.futil\";
import \"primitives/memories/comb.futil\";
import \"primitives/memories/seq.futil\";
import \"primitives/sync.futil\";
";
