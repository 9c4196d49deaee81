//! Loops with steps that seem to do the same in each iteration: what they read may be written elsewhere in the loop, what they write looked at before, the
//! loop may not run at all, and they may leave the bounds of a memory, divide by zero or never end.

use std::fmt::Write as _;

use super::Writer;

impl Writer<'_> {
    /// Runs of a component that loops.
    pub(super) fn hoisted(&mut self) -> Vec<String> {
        self.memory("a", 8, 8, 3);
        self.memory("few", 8, 5, 3);
        let mut groups = Vec::new();
        let mut control = String::new();
        for at in (0..4).filter(|_| self.dice.one_in(2)).collect::<Vec<_>>() {
            let value = self.dice.of(&["x", "8'd1", "8'd6"]);
            control += &short(
                &mut groups,
                &format!("p{at}"),
                &format!("p{at}.in = {value};"),
            );
        }
        control += &self.hoisting(&mut groups, 2);
        if self.dice.one_in(2) {
            control += &self.hoisting_step(&mut groups, 0);
        }
        for at in 0..4 {
            groups.push(format!(
                "group out{at} {{ a.addr0 = 3'd{at}; a.write_data = p{at}.out; a.write_en = 1'd1; out{at}[done] = a.done; }}"
            ));
            let _ = write!(control, "out{at}; ");
        }
        let _ = write!(
            self.components,
            "component looper(x: 8) -> () {{\n  cells {{\n    ref a = comb_mem_d1(8, 8, 3);\n    ref b = comb_mem_d1(8, 8, 3);\n    \
             ref few = comb_mem_d1(8, 5, 3);\n    p0 = std_reg(8);\n    p1 = std_reg(8);\n    p2 = std_reg(8);\n    p3 = std_reg(8);\n    \
             i1 = std_reg(8);\n    i2 = std_reg(8);\n    next = std_add(8);\n    sum = std_add(8);\n    cut = std_slice(8, 3);\n    mul = std_mult_pipe(8);\n    \
             div = std_div_pipe(8);\n    test1 = std_lt(8);\n    test2 = std_lt(8);\n    odd = std_slice(8, 1);\n    wired = std_add(8);\n    two = std_slice(8, 2);\n    some = std_pad(2, 8);\n  }}\n  wires {{\n    \
             wired.left = p3.out;\n    wired.right = 8'd1;\n    two.in = p0.out;\n    some.in = two.out;\n    {}\n  }}\n  control {{ seq {{ {control} }} }}\n}}\n",
            groups.join("\n    "),
        );
        self.cell("looper0", "looper()");
        let count = 1 + self.dice.below(2);
        let b = self.dice.of(&["a", "other"]);
        self.memory("other", 8, 8, 3);
        let calls = (0..count).map(|_| {
            let x = self.register();
            format!("invoke looper0[a = a, b = {b}, few = few](x = {x}.out)();")
        });
        calls.collect()
    }

    /// A loop, with others in it up to a depth.
    fn hoisting(&mut self, groups: &mut Vec<String>, depth: usize) -> String {
        let mut steps = String::new();
        for _ in 0..2 + self.dice.below(3) {
            steps += &self.hoisting_step(groups, depth - 1);
        }
        let n = groups.len();
        if self.dice.one_in(3) {
            return format!("repeat {} {{ seq {{ {steps}}} }} ", 1 + self.dice.below(3));
        }
        let (first, limit) = (
            self.dice.below(3),
            self.dice.of(&["8'd3", "8'd3", "some.out", "8'd1"]),
        );
        // It may not count, but then it may not run.
        let from = self.dice.of(&["8'd1", "8'd1", "8'd2"]);
        groups.push(format!(
            "group zero{n} {{ i{depth}.in = 8'd{first}; i{depth}.write_en = 1'd1; zero{n}[done] = i{depth}.done; }}"
        ));
        groups.push(format!(
            "group count{n} {{ next.left = i{depth}.out; next.right = {from}; i{depth}.in = next.out; i{depth}.write_en = 1'd1; count{n}[done] = i{depth}.done; }}"
        ));
        groups.push(format!(
            "comb group more{n} {{ test{depth}.left = i{depth}.out; test{depth}.right = {limit}; }}"
        ));
        format!("zero{n}; while test{depth}.out with more{n} {{ seq {{ {steps}count{n}; }} }} ")
    }

    fn hoisting_step(&mut self, groups: &mut Vec<String>, depth: usize) -> String {
        let n = groups.len();
        let [to, from, other] = [(); 3].map(|()| format!("p{}", self.dice.below(4)));
        let body = match self.dice.below(14) {
            0 => format!("{to}.in = 8'd{};", self.dice.below(4)),
            1 | 2 => format!("{to}.in = {from}.out;"),
            3 | 4 => format!("sum.left = {from}.out; sum.right = {other}.out; {to}.in = sum.out;"),
            5 => {
                let memory = self.dice.of(&["a", "b", "few"]);
                format!(
                    "cut.in = {from}.out; {memory}.addr0 = cut.out; {to}.in = {memory}.read_data;"
                )
            }
            6 => format!("{to}.in = wired.out;"),
            7 => {
                let (memory, at) = (self.dice.of(&["a", "b"]), self.dice.below(6));
                groups.push(format!(
                    "group put{n} {{ {memory}.addr0 = 3'd{at}; {memory}.write_data = {from}.out; {memory}.write_en = 1'd1; put{n}[done] = {memory}.done; }}"
                ));
                return format!("put{n}; ");
            }
            8 | 9 => {
                groups.push(format!(
                    "group mul{n} {{ mul.left = {from}.out; mul.right = {other}.out; mul.go = !mul.done ? 1'd1; {to}.in = mul.out; \
                     {to}.write_en = mul.done; mul{n}[done] = {to}.done; }}"
                ));
                return format!("mul{n}; ");
            }
            10 => {
                groups.push(format!(
                    "group div{n} {{ div.left = {from}.out; div.right = {other}.out; div.go = !div.done ? 1'd1; {to}.in = div.out_quotient; \
                     {to}.write_en = div.done; div{n}[done] = {to}.done; }}"
                ));
                return format!("div{n}; ");
            }
            11 => {
                let [one, two] = [(); 2].map(|()| self.hoisting_step(groups, 0));
                return format!("par {{ {one}{two}}} ");
            }
            12 if depth > 0 => return self.hoisting(groups, depth),
            12 => {
                groups.push(format!("comb group some{n} {{ odd.in = {from}.out; }}"));
                let then = short(groups, &to, &format!("{to}.in = {other}.out;"));
                return format!("if odd.out with some{n} {{ {then}}} ");
            }
            _ => {
                // It may never be done.
                groups.push(format!(
                    "group wait{n} {{ odd.in = {from}.out; {to}.in = {other}.out; {to}.write_en = odd.out; wait{n}[done] = {to}.done; }}"
                ));
                return if self.dice.one_in(3) {
                    format!("wait{n}; ")
                } else {
                    groups.pop();
                    short(groups, &to, &format!("{to}.in = x;"))
                };
            }
        };
        short(groups, &to, &body)
    }
}

/// A group of one cycle, static or not.
fn short(groups: &mut Vec<String>, to: &str, body: &str) -> String {
    let n = groups.len();
    groups.push(if n.is_multiple_of(2) {
        format!("static<1> group s{n} {{ {body} {to}.write_en = 1'd1; }}")
    } else {
        format!("group s{n} {{ {body} {to}.write_en = 1'd1; s{n}[done] = {to}.done; }}")
    });
    format!("s{n}; ")
}
