//! Registers that copy what a memory or multiplier gives, and all that may read them.

use super::Writer;

/// How many copies there are at most.
const COPIES: usize = 3;

/// What a copy is taken of.
struct Copy {
    register: String,
    cell: &'static str,
    output: &'static str,
}

impl Writer<'_> {
    /// Statements that take copies and read them, in any order.
    pub(super) fn copied(&mut self) -> Vec<String> {
        self.cell("@external late", "seq_mem_d1(8, 8, 3)");
        self.cell("@external other", "seq_mem_d1(8, 8, 3)");
        self.memories.insert("late".to_owned(), (8, 8));
        self.memories.insert("other".to_owned(), (8, 8));
        self.cell("wide", "std_slice(8, 3)");
        self.cell("mul", "std_mult_pipe(8)");
        self.cell("product", "std_mult_pipe(8)");
        self.result("kept");
        let cells = [
            ("late", "read_data"),
            ("other", "read_data"),
            ("mul", "out"),
            ("product", "out"),
        ];
        let count = 1 + self.dice.below(COPIES);
        let copies = (0..count).map(|at| {
            let (cell, output) = cells[self.dice.below(cells.len())];
            let register = format!("c{at}");
            self.cell(&register, "std_reg(8)");
            Copy {
                register,
                cell,
                output,
            }
        });
        let copies: Vec<Copy> = copies.collect();
        let mut groups = Vec::new();
        for (at, of) in copies.iter().enumerate() {
            let from = if at > 0 && self.dice.one_in(2) {
                copies[self.dice.below(at)].register.clone()
            } else {
                self.register()
            };
            groups.push(self.take(of, &from));
        }
        let mut steps = Vec::new();
        for at in 0..count {
            steps.push(groups[at].clone());
            for _ in 0..=self.dice.below(2) {
                steps.push(self.around(&copies, &groups, 2));
            }
        }
        steps
    }

    /// A group that takes a copy, as a program has it or as it is when its time is known.
    fn take(&mut self, of: &Copy, from: &str) -> String {
        let n = self.number();
        let Copy {
            register,
            cell,
            output,
        } = of;
        let is_memory = *output == "read_data";
        let (inputs, start) = if is_memory {
            (
                format!("wide.in = {from}.out; {cell}.addr0 = wide.out;"),
                "content_en",
            )
        } else {
            let other = self.register();
            (
                format!("{cell}.left = {from}.out; {cell}.right = {other}.out;"),
                "go",
            )
        };
        let takes = if is_memory { 1 } else { 2 };
        let copies = format!("{register}.in = {cell}.{output};");
        if self.dice.one_in(3) {
            self.group(
                &format!("static<{}> group take{n}", takes + 1),
                &format!(
                    "{inputs} {cell}.{start} = %[0:{takes}] ? 1'd1; {copies} {register}.write_en = %{takes} ? 1'd1;"
                ),
            );
        } else {
            let go = if is_memory {
                "1'd1".to_owned()
            } else {
                format!("!{cell}.done ? 1'd1")
            };
            self.group(
                &format!("group take{n}"),
                &format!(
                    "{inputs} {cell}.{start} = {go}; {copies} {register}.write_en = {cell}.done; take{n}[done] = {register}.done;"
                ),
            );
        }
        format!("take{n};")
    }

    /// Statements that may read copies, take them again, or use what is copied for something else.
    fn around(&mut self, copies: &[Copy], groups: &[String], depth: usize) -> String {
        let n = self.number();
        let of = &copies[self.dice.below(copies.len())];
        let register = &of.register;
        let other = self.register();
        let inner = |writer: &mut Self| writer.around(copies, groups, depth - 1);
        match self.dice.below(if depth > 0 { 12 } else { 7 }) {
            0 | 1 => self.write(&format!("use{n}"), &other, "", &format!("{register}.out")),
            2 => self.write(&format!("keep{n}"), "kept", "", &format!("{register}.out")),
            3 => groups[self.dice.below(groups.len())].clone(),
            4 => {
                let into = self.dice.of(&["late", "other"]);
                self.group(
                    &format!("group put{n}"),
                    &format!(
                        "wide.in = {other}.out; {into}.addr0 = wide.out; {into}.write_data = {register}.out; {into}.write_en = 1'd1; \
                         {into}.content_en = 1'd1; put{n}[done] = {into}.done;"
                    ),
                );
                format!("put{n};")
            }
            5 => {
                let m = self.dice.of(&["mul", "product"]);
                self.group(
                    &format!("group again{n}"),
                    &format!(
                        "{m}.left = {register}.out; {m}.right = 8'd3; {m}.go = !{m}.done ? 1'd1; kept.in = {m}.out; kept.write_en = {m}.done; \
                         again{n}[done] = kept.done;"
                    ),
                );
                format!("again{n};")
            }
            6 => self.plain(),
            7 => {
                let [first, second] = [inner(self), inner(self)];
                format!("par {{ {first} {second} }}")
            }
            8 => {
                let [first, second] = [inner(self), inner(self)];
                format!("seq {{ {first} {second} }}")
            }
            9 => {
                let looked = self.dice.of(&[register, &other]).to_owned();
                let test = self.test(&looked);
                let [first, second] = [inner(self), inner(self)];
                format!("if {test} {{ {first} }} else {{ {second} }}")
            }
            10 => {
                let body = inner(self);
                let count = 1 + self.dice.below(3);
                if self.dice.one_in(2) {
                    format!("repeat {count} {{ {body} }}")
                } else {
                    self.times(count, &body)
                }
            }
            _ => {
                let [first, second, third] = [inner(self), inner(self), inner(self)];
                format!("par {{ {first} seq {{ {second} {third} }} }}")
            }
        }
    }
}
