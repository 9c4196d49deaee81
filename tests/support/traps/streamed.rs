//! Loops of which an iteration may start in each cycle: steps with logic of their own, products, words of memories that each iteration reads and
//! writes, values that are needed later than the next iteration has others, and what stands in the way of each.

use std::fmt::Write as _;

use super::Writer;

/// A component with such loops, while it is written.
#[derive(Default)]
struct Streamer {
    cells: String,
    groups: Vec<String>,
    /// The registers that steps of the loop write.
    written: Vec<usize>,
    /// The memories that they use.
    used: Vec<&'static str>,
}

impl Writer<'_> {
    /// Runs of a component that loops.
    pub(super) fn streamed(&mut self) -> Vec<String> {
        self.memory("a", 8, 8, 3);
        for (name, words) in [("late", 8), ("few", 5), ("word", 8)] {
            let of = format!("seq_mem_d1(8, {words}, 3)");
            self.cell(&format!("@external {name}"), &of);
            self.memories.insert(name.to_owned(), (8, words));
        }
        let mut of = Streamer::default();
        let mut control = String::new();
        for at in (0..6).filter(|_| !self.dice.one_in(4)).collect::<Vec<_>>() {
            let value = self.dice.of(&["x", "8'd1", "8'd0"]);
            control += &of.one(&format!("p{at}.in = {value}; p{at}.write_en = 1'd1;"));
        }
        control += &self.stream(&mut of);
        if self.dice.one_in(3) {
            control += &self.stream(&mut of);
        }
        if self.dice.one_in(3) {
            control += &self.streamed_step(&mut of);
        }
        for at in 0..6 {
            let body = format!("a.addr0 = 3'd{at}; a.write_data = p{at}.out; a.write_en = 1'd1;");
            control += &of.one(&body);
        }
        let Streamer { cells, groups, .. } = of;
        let _ = write!(
            self.components,
            "component streamer(x: 8) -> () {{\n  cells {{\n    ref a = comb_mem_d1(8, 8, 3);\n    ref late = seq_mem_d1(8, 8, 3);\n    \
             ref few = seq_mem_d1(8, 5, 3);\n    ref word = seq_mem_d1(8, 8, 3);\n    ref other = seq_mem_d1(8, 8, 3);\n    p0 = std_reg(8);\n    p1 = std_reg(8);\n    p2 = std_reg(8);\n    p3 = std_reg(8);\n    \
             p4 = std_reg(8);\n    p5 = std_reg(8);\n    {cells}wired = std_add(8);\n    cut = std_slice(8, 3);\n  }}\n  wires {{\n    wired.left = p3.out;\n    wired.right = 8'd1;\n    {}\n  }}\n  \
             control {{ seq {{ {control} }} }}\n}}\n",
            groups.join("\n    "),
        );
        self.cell("streamer0", "streamer()");
        // It may be one of the others.
        let other = self
            .dice
            .of(&["spare", "spare", "spare", "spare", "word", "late"]);
        self.cell("@external spare", "seq_mem_d1(8, 8, 3)");
        self.memories.insert("spare".to_owned(), (8, 8));
        let count = 1 + self.dice.below(2);
        let calls = (0..count).map(|_| {
            let x = self.register();
            format!(
                "invoke streamer0[a = a, late = late, few = few, word = word, other = {other}](x = {x}.out)();"
            )
        });
        calls.collect()
    }

    /// A loop, with what it needs before it.
    fn stream(&mut self, of: &mut Streamer) -> String {
        of.written.clear();
        of.used.clear();
        let mut steps = Vec::new();
        let count = 1 + self.dice.below(4);
        for _ in 0..count {
            steps.push(self.streamed_step(of));
        }
        let mut more = Vec::new();
        if !self.dice.one_in(3) {
            more.push(self.streamed_word(of));
        }
        if self.dice.one_in(2) {
            more.push(self.streamed_product(of));
        }
        if self.dice.one_in(2) {
            more.push(self.streamed_window(of));
        }
        for all in more {
            // They stay in their order.
            let mut at = 0;
            for step in all {
                at += self.dice.below(2);
                steps.insert(at.min(steps.len()), step);
                at += 1;
            }
        }
        let times = 3 + self.dice.below(3);
        if self.dice.one_in(2) {
            return format!("repeat {times} {{ seq {{ {} }} }} ", steps.concat());
        }
        let n = of.groups.len();
        let _ = write!(
            of.cells,
            "i{n} = std_reg(8);\n    more{n} = std_add(8);\n    less{n} = std_lt(8);\n    "
        );
        let zero = of.one(&format!("i{n}.in = 8'd0; i{n}.write_en = 1'd1;"));
        let next = of.one(&format!(
            "more{n}.left = i{n}.out; more{n}.right = 8'd1; i{n}.in = more{n}.out; i{n}.write_en = 1'd1;"
        ));
        let at = self.dice.below(steps.len() + 1);
        steps.insert(at, next);
        let with = if self.dice.one_in(2) {
            of.groups.push(format!(
                "comb group test{n} {{ less{n}.left = i{n}.out; less{n}.right = 8'd{times}; }}"
            ));
            format!(" with test{n}")
        } else {
            of.groups.push(format!(
                "less{n}.left = i{n}.out;\n    less{n}.right = 8'd{times};"
            ));
            String::new()
        };
        let bound = if self.dice.one_in(4) {
            format!("@bound({times}) ")
        } else {
            String::new()
        };
        format!(
            "{zero}{bound}while less{n}.out{with} {{ seq {{ {} }} }} ",
            steps.concat()
        )
    }

    /// A register that no step of the loop writes, but for some.
    fn streamed_target(&mut self, of: &mut Streamer) -> String {
        let free: Vec<usize> = (0..6).filter(|at| !of.written.contains(at)).collect();
        let at = if free.is_empty() || self.dice.one_in(20) {
            self.dice.below(6)
        } else {
            free[self.dice.below(free.len())]
        };
        of.written.push(at);
        format!("p{at}")
    }

    /// Something that a step may look at.
    fn streamed_value(&mut self) -> String {
        match self.dice.below(8) {
            0 => "late.read_data".to_owned(),
            1 => "word.read_data".to_owned(),
            2 => self
                .dice
                .of(&["few.read_data", "wired.out", "x"])
                .to_owned(),
            _ => format!("p{}.out", self.dice.below(6)),
        }
    }

    /// A word that is read and written again, at what may be the same address.
    fn streamed_word(&mut self, of: &mut Streamer) -> Vec<String> {
        let n = of.groups.len();
        let memory = self.dice.of(&["word", "word", "word", "word", "other"]);
        let _ = write!(
            of.cells,
            "at{n} = std_slice(8, 3);\n    to{n} = std_slice(8, 3);\n    sum{n} = std_add(8);\n    "
        );
        let from = self.dice.below(6);
        let again = if self.dice.one_in(6) {
            self.dice.below(6)
        } else {
            from
        };
        let read = of.one(&format!(
            "at{n}.in = p{from}.out; {memory}.addr0 = at{n}.out; {memory}.content_en = 1'd1;"
        ));
        let value = self.streamed_value();
        let write = of.one(&format!(
            "to{n}.in = p{again}.out; {memory}.addr0 = to{n}.out; {memory}.content_en = 1'd1; {memory}.write_en = 1'd1; \
             sum{n}.left = {memory}.read_data; sum{n}.right = {value}; {memory}.write_data = sum{n}.out;"
        ));
        let mut all = vec![read];
        if self.dice.one_in(3) {
            let to = self.streamed_target(of);
            all.push(of.one(&format!(
                "{to}.in = {memory}.read_data; {to}.write_en = 1'd1;"
            )));
        }
        all.push(write);
        all
    }

    /// Words at addresses one behind the other, which go on by one in each iteration, or nearly so.
    fn streamed_window(&mut self, of: &mut Streamer) -> Vec<String> {
        let memory = self.dice.of(&["late", "late", "few", "other"]);
        let at = self.dice.below(6);
        of.written.push(at);
        let first = self.dice.below(2);
        let mut all = Vec::new();
        for word in 0..2 + self.dice.below(2) {
            let n = of.groups.len();
            let _ = write!(
                of.cells,
                "sum{n} = std_add(8);\n    cut{n} = std_slice(8, 3);\n    "
            );
            let offset = if self.dice.one_in(10) {
                3
            } else {
                first + word
            };
            let read = format!(
                "sum{n}.left = p{at}.out; sum{n}.right = 8'd{offset}; cut{n}.in = sum{n}.out; {memory}.addr0 = cut{n}.out;"
            );
            let to = self.streamed_target(of);
            all.push(self.copied_word(&mut of.groups, memory, &read, &to));
        }
        let n = of.groups.len();
        let _ = write!(of.cells, "sum{n} = std_add(8);\n    ");
        let by = self.dice.of(&["8'd1", "8'd1", "8'd1", "8'd2", "x"]);
        let next = of.one(&format!(
            "sum{n}.left = p{at}.out; sum{n}.right = {by}; p{at}.in = sum{n}.out; p{at}.write_en = 1'd1;"
        ));
        let place = if self.dice.one_in(4) {
            self.dice.below(all.len())
        } else {
            all.len()
        };
        all.insert(place, next);
        all
    }

    /// A product, and a step or two that take it.
    fn streamed_product(&mut self, of: &mut Streamer) -> Vec<String> {
        let n = of.groups.len();
        let mul = self.dice.of(&["std_mult_pipe", "std_smult_pipe"]);
        let _ = write!(
            of.cells,
            "mul{n} = {mul}(8);\n    sum{n} = std_add(8);\n    "
        );
        let (left, right) = (self.streamed_value(), self.streamed_value());
        let when = self.dice.of(&["", "%[0:2] ? "]);
        of.groups.push(format!(
            "static<2> group two{n} {{ mul{n}.left = {left}; mul{n}.right = {right}; mul{n}.go = {when}1'd1; }}"
        ));
        let to = self.streamed_target(of);
        let add = of.one(&format!(
            "sum{n}.left = {to}.out; sum{n}.right = mul{n}.out; {to}.in = sum{n}.out; {to}.write_en = 1'd1;"
        ));
        let mut all = vec![format!("two{n}; "), add];
        if self.dice.one_in(3) {
            let to = self.streamed_target(of);
            all.push(of.one(&format!("{to}.in = mul{n}.out; {to}.write_en = 1'd1;")));
        }
        if self.dice.one_in(8) {
            all.swap(0, 1);
        }
        all
    }

    fn streamed_step(&mut self, of: &mut Streamer) -> String {
        let n = of.groups.len();
        let mut kind = self.dice.below(10);
        let memory = match kind {
            0 | 1 | 8 | 9 => self.dice.of(&["late", "late", "late", "few", "other"]),
            _ => "a",
        };
        if !(3..8).contains(&kind) {
            if of.used.contains(&memory) && !self.dice.one_in(12) {
                kind = 7;
            }
            of.used.push(memory);
        }
        let _ = write!(
            of.cells,
            "sum{n} = std_add(8);\n    cut{n} = std_slice(8, 3);\n    odd{n} = std_slice(8, 1);\n    "
        );
        if kind > 7 {
            let (from, to) = (self.dice.below(6), self.streamed_target(of));
            let cut = self.dice.of(&["CUT", "CUT", "cut"]);
            let cut = cut.replace("CUT", &format!("cut{n}"));
            let read = format!("{cut}.in = p{from}.out; {memory}.addr0 = {cut}.out;");
            return self.copied_word(&mut of.groups, memory, &read, &to);
        }
        let (from, other) = (self.streamed_value(), self.streamed_value());
        let body = match kind {
            0 | 1 => {
                let from = self.dice.below(6);
                format!(
                    "cut{n}.in = p{from}.out; {memory}.addr0 = cut{n}.out; {memory}.content_en = 1'd1;"
                )
            }
            2 => {
                format!(
                    "cut{n}.in = {from}; a.addr0 = cut{n}.out; sum{n}.left = a.read_data; sum{n}.right = {other}; a.write_data = sum{n}.out; a.write_en = 1'd1;"
                )
            }
            3 if self.dice.one_in(6) => {
                let to = self.streamed_target(of);
                format!("{to}.in = {from}; odd{n}.in = {other}; {to}.write_en = odd{n}.out;")
            }
            3 | 4 => {
                let to = self.streamed_target(of);
                format!(
                    "odd{n}.in = {from}; {to}.in = odd{n}.out ? {other}; {to}.in = !odd{n}.out ? 8'd7; {to}.write_en = 1'd1;"
                )
            }
            5 => {
                let to = self.streamed_target(of);
                of.groups.push(format!(
                    "group one{n} {{ {to}.in = {from}; {to}.write_en = 1'd1; one{n}[done] = {to}.done; }}"
                ));
                return format!("one{n}; ");
            }
            _ => {
                let to = self.streamed_target(of);
                let from = if self.dice.one_in(2) {
                    from
                } else {
                    format!("{to}.out")
                };
                format!(
                    "sum{n}.left = {from}; sum{n}.right = {other}; {to}.in = sum{n}.out; {to}.write_en = 1'd1;"
                )
            }
        };
        of.one(&body)
    }
}

impl Streamer {
    /// A static group of one cycle.
    fn one(&mut self, body: &str) -> String {
        let n = self.groups.len();
        self.groups
            .push(format!("static<1> group one{n} {{ {body} }}"));
        format!("one{n}; ")
    }
}
