//! Loops of which iterations may overlap: of steps that take a fixed number of cycles, first in a component or not, with addresses that may
//! leave their bounds, multipliers, and registers that are needed after the loop.

use std::fmt::Write as _;

use super::Writer;

impl Writer<'_> {
    /// Runs of a component that loops.
    pub(super) fn pipelined(&mut self) -> Vec<String> {
        self.memory("a", 8, 8, 3);
        for (name, words) in [("late", 8), ("few", 5)] {
            let of = format!("seq_mem_d1(8, {words}, 3)");
            self.cell(&format!("@external {name}"), &of);
            self.memories.insert(name.to_owned(), (8, words));
        }
        let mut groups = Vec::new();
        // What comes first may be driven once more when all is done.
        let begins = !self.dice.one_in(3);
        let mut control = String::new();
        for at in (0..6).filter(|_| begins) {
            let value = self.dice.of(&["x", "8'd1", "8'd0"]);
            let body = format!("p{at}.in = {value}; p{at}.write_en = 1'd1;");
            control += &one(&mut groups, &body);
        }
        let count = 2 + self.dice.below(5);
        let inner = self.overlapping(&mut groups, count);
        let inner = if self.dice.one_in(3) {
            let step = self.overlapping_step(&mut groups);
            format!("repeat 2 {{ seq {{ {step} {inner} }} }} ")
        } else {
            inner
        };
        control += &inner;
        if self.dice.one_in(2) {
            let count = 1 + self.dice.below(3);
            control += &self.overlapping(&mut groups, count);
        }
        for at in 0..6 {
            let body = format!("a.addr0 = 3'd{at}; a.write_data = p{at}.out; a.write_en = 1'd1;");
            control += &one(&mut groups, &body);
        }
        let _ = write!(
            self.components,
            "component overlapper(x: 8) -> () {{\n  cells {{\n    ref a = comb_mem_d1(8, 8, 3);\n    ref late = seq_mem_d1(8, 8, 3);\n    \
             ref few = seq_mem_d1(8, 5, 3);\n    p0 = std_reg(8);\n    p1 = std_reg(8);\n    p2 = std_reg(8);\n    p3 = std_reg(8);\n    \
             p4 = std_reg(8);\n    p5 = std_reg(8);\n    sum0 = std_add(8);\n    sum1 = std_add(8);\n    sum2 = std_add(8);\n    cut = std_slice(8, 3);\n    cut2 = std_slice(8, 3);\n    mul = std_mult_pipe(8);\n  }}\n  wires {{\n    {}\n  }}\n  \
             control {{ seq {{ {control} }} }}\n}}\n",
            groups.join("\n    "),
        );
        self.cell("overlapper0", "overlapper()");
        let count = 1 + self.dice.below(2);
        let calls = (0..count).map(|_| {
            let x = self.register();
            format!("invoke overlapper0[a = a, late = late, few = few](x = {x}.out)();")
        });
        calls.collect()
    }

    /// A loop of so many steps, some of them at once.
    fn overlapping(&mut self, groups: &mut Vec<String>, count: usize) -> String {
        let times = 3 + self.dice.below(3);
        let is_product = self.dice.one_in(2);
        let count = if is_product {
            self.dice.below(2)
        } else {
            count
        };
        let mut all: Vec<String> = (0..=count)
            .map(|_| {
                let step = self.overlapping_step(groups);
                if self.dice.one_in(8) {
                    let other = self.overlapping_step(groups);
                    format!("seq {{ {step}{other}}} ")
                } else {
                    step
                }
            })
            .collect();
        if is_product {
            // A sum of products, with others in between.
            let n = groups.len();
            groups.push(format!(
                "static<2> group two{n} {{ mul.left = late.read_data; mul.right = late.read_data; mul.go = %[0:2] ? 1'd1; }}"
            ));
            let product = [
                one(
                    groups,
                    "cut.in = p0.out; late.addr0 = cut.out; late.content_en = 1'd1;",
                ),
                format!("two{n}; "),
                one(
                    groups,
                    "sum0.left = p1.out; sum0.right = mul.out; p1.in = sum0.out; p1.write_en = 1'd1;",
                ),
                one(
                    groups,
                    "sum1.left = p0.out; sum1.right = 8'd1; p0.in = sum1.out; p0.write_en = 1'd1;",
                ),
            ];
            let mut at = 0;
            for step in product {
                at += self.dice.below(2);
                all.insert(at.min(all.len()), step);
                at += 1;
            }
        }
        let steps = all.concat();
        format!("repeat {times} {{ seq {{ {steps}}} }} ")
    }

    /// A group that reads a word and copies it.
    pub(super) fn copied_word(
        &mut self,
        groups: &mut Vec<String>,
        memory: &str,
        read: &str,
        to: &str,
    ) -> String {
        let n = groups.len();
        let writes = self.dice.of(&["", "", "WORDS.write_en = 1'd0; "]);
        let writes = writes.replace("WORDS", memory);
        groups.push(if self.dice.one_in(4) {
            let when = self.dice.of(&["", "%0 ? ", "%[0:2] ? "]);
            format!(
                "static<2> group word{n} {{ {read} {writes}{memory}.content_en = {when}1'd1; {to}.in = {memory}.read_data; {to}.write_en = %1 ? 1'd1; }}"
            )
        } else {
            let done = self.dice.of(&["WORDS.done", "WORDS.done ? 1'd1"]);
            let done = done.replace("WORDS", memory);
            format!(
                "group word{n} {{ {read} {writes}{memory}.content_en = 1'd1; {to}.in = {memory}.read_data; {to}.write_en = {done}; word{n}[done] = {to}.done; }}"
            )
        });
        format!("word{n}; ")
    }

    fn overlapping_step(&mut self, groups: &mut Vec<String>) -> String {
        let n = groups.len();
        let [to, from, other] = [(); 3].map(|()| format!("p{}", self.dice.below(6)));
        let sum = format!("sum{}", self.dice.below(3));
        let keeps = |value: &str| format!("{to}.in = {value}; {to}.write_en = 1'd1;");
        let body = match self.dice.below(11) {
            9 | 10 => {
                let memory = self.dice.of(&["late", "late", "few"]);
                let cut = self.dice.of(&["cut", "cut2"]);
                let read = format!("{cut}.in = {from}.out; {memory}.addr0 = {cut}.out;");
                return self.copied_word(groups, memory, &read, &to);
            }
            0 | 1 => format!(
                "{sum}.left = {from}.out; {sum}.right = {other}.out; {}",
                keeps(&format!("{sum}.out"))
            ),
            2 => format!(
                "{sum}.left = {from}.out; {sum}.right = 8'd1; {}",
                keeps(&format!("{sum}.out"))
            ),
            3 => {
                let memory = self.dice.of(&["late", "late", "few"]);
                format!(
                    "cut.in = {from}.out; {memory}.addr0 = cut.out; {memory}.content_en = 1'd1;"
                )
            }
            4 => {
                let memory = self.dice.of(&["late", "late", "few"]);
                keeps(&format!("{memory}.read_data"))
            }
            5 => format!(
                "cut.in = {from}.out; a.addr0 = cut.out; a.write_data = {other}.out; a.write_en = 1'd1;"
            ),
            6 => keeps("mul.out"),
            7 => {
                groups.push(format!(
                    "static<2> group two{n} {{ mul.left = {from}.out; mul.right = late.read_data; mul.go = 1'd1; }}"
                ));
                return format!("two{n}; ");
            }
            _ => {
                groups.push(format!(
                    "group one{n} {{ {} one{n}[done] = {to}.done; }}",
                    keeps(&format!("{other}.out"))
                ));
                return format!("one{n}; ");
            }
        };
        one(groups, &body)
    }
}

/// A static group of one cycle.
fn one(groups: &mut Vec<String>, body: &str) -> String {
    let n = groups.len();
    groups.push(format!("static<1> group one{n} {{ {body} }}"));
    format!("one{n}; ")
}
