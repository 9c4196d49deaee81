//! Groups that wait for multipliers and memories, and arms of a cycle that read what others write.

use super::Writer;

impl Writer<'_> {
    /// Statements that use one multiplier, or two, and a memory that is read a cycle later.
    pub(super) fn chained(&mut self) -> Vec<String> {
        self.cell("@external late", "seq_mem_d1(8, 8, 3)");
        self.memories.insert("late".to_owned(), (8, 8));
        self.cell("wide", "std_slice(8, 3)");
        self.result("kept");
        let count = 2 + self.dice.below(4);
        (0..count).map(|_| self.chain()).collect()
    }

    /// A multiplier, and what starts it.
    fn product(&mut self) -> (String, String) {
        let (from, other) = (self.register(), self.register());
        let m = self.dice.of(&["m0", "m0", "m1"]);
        let of = self.dice.of(&[
            "std_mult_pipe(8)",
            "std_mult_pipe(8)",
            "std_smult_pipe(8)",
            "std_mulFN(3, 5, 8)",
            "std_addFN(3, 5, 8)",
        ]);
        let m = format!("{m}_{}", of.split('(').next().unwrap_or(of));
        self.cell(&m, of);
        let factor = match self.dice.below(3) {
            0 => format!("{other}.out"),
            1 => format!("8'd{}", 1 << self.dice.below(8)),
            _ => "8'd3".to_owned(),
        };
        let [left, right] = if self.dice.one_in(4) {
            [factor, format!("{from}.out")]
        } else {
            [format!("{from}.out"), factor]
        };
        // What goes on when it is done leaves nothing proved.
        let go = if self.dice.one_in(16) {
            "1'd1".to_owned()
        } else {
            format!("!{m}.done ? 1'd1")
        };
        let starts = format!("{m}.left = {left}; {m}.right = {right}; {m}.go = {go};");
        (m, starts)
    }

    /// A register of a bit that is given the `done` of another one.
    fn flag(&mut self) -> String {
        let n = self.number();
        let [first, second, flag] = ["first", "second", "flag"].map(|name| format!("{name}{n}"));
        self.cell(&first, "std_reg(8)");
        self.cell(&second, "std_reg(8)");
        self.cell(&flag, "std_reg(1)");
        self.cell(&format!("pad{n}"), "std_pad(1, 8)");
        self.result("kept");
        let of = self.dice.of(&[&first, &second]);
        self.group(
            &format!("group set{n}"),
            &format!("{flag}.in = 1'd1; {flag}.write_en = 1'd1; set{n}[done] = {flag}.done;"),
        );
        self.group(
            &format!("group flags{n}"),
            &format!(
                "{first}.in = 8'd3; {first}.write_en = 1'd1; {second}.in = {first}.out; {second}.write_en = {first}.done; \
                 {flag}.in = {of}.done; {flag}.write_en = 1'd1; flags{n}[done] = {second}.done & {flag}.done ? 1'd1;"
            ),
        );
        let pad = format!("pad{n}.in = {flag}.out;");
        let keep = self.write(&format!("flagged{n}"), "kept", &pad, &format!("pad{n}.out"));
        format!("set{n}; flags{n}; {keep}")
    }

    /// A quotient or remainder, and sometimes a look at what the divider has left.
    fn quotient(&mut self, to: &str, from: &str) -> String {
        let n = self.number();
        let d = self.dice.of(&["d0", "d0", "d1"]).to_owned();
        self.cell(&d, "std_div_pipe(8)");
        let by = match self.dice.below(6) {
            0 => "8'd3".to_owned(),
            _ => format!("8'd{}", 1 << self.dice.below(8)),
        };
        let [left, right] = if self.dice.one_in(8) {
            [by, "8'd5".to_owned()]
        } else {
            [format!("{from}.out"), by]
        };
        let gives = self.dice.of(&["out_quotient", "out_remainder"]).to_owned();
        let go = self
            .dice
            .of(&["!D.done ? 1'd1", "!D.done ? 1'd1", "!D.done ? 1'd1", "1'd1"]);
        let go = go.replace('D', &d);
        self.group(
            &format!("group divide{n}"),
            &format!(
                "{d}.left = {left}; {d}.right = {right}; {d}.go = {go}; {to}.in = {d}.{gives}; {to}.write_en = {d}.done; \
                 divide{n}[done] = {to}.done;"
            ),
        );
        if self.dice.one_in(4) {
            let register = self.register();
            let look = self.dice.of(&["out_quotient", "out_remainder"]);
            let value = format!("{d}.{look}");
            let look = self.write(&format!("left{n}"), &register, "", &value);
            return format!("divide{n}; {look}");
        }
        format!("divide{n};")
    }

    fn chain(&mut self) -> String {
        let n = self.number();
        let (to, from, other) = (self.register(), self.register(), self.register());
        let (m, multiplies) = self.product();
        match self.dice.below(13) {
            // The product goes to a register.
            0..=2 => {
                let more = self
                    .dice
                    .of(&["", "", "kept.in = 8'd5; kept.write_en = 1'd1;"]);
                let promises = ["", "", "", "", r#"<"promotable"=3>"#, r#"<"promotable"=4>"#];
                let promise = self.dice.of(&promises);
                self.group(
                    &format!("group multiply{n}{promise}"),
                    &format!(
                        "{multiplies} {more} {to}.in = {m}.out; {to}.write_en = {m}.done; multiply{n}[done] = {to}.done;"
                    ),
                );
                format!("multiply{n};")
            }
            // It stays in the multiplier.
            3 => {
                self.group(
                    &format!("group product{n}"),
                    &format!("{multiplies} product{n}[done] = {m}.done;"),
                );
                let take = self.write(&format!("take{n}"), &to, "", &format!("{m}.out"));
                if self.dice.one_in(3) {
                    return format!("product{n}; {take}");
                }
                let plain = self.plain();
                if self.dice.one_in(2) {
                    format!("product{n}; par {{ {take} {plain} }}")
                } else {
                    format!("product{n}; {plain} {take}")
                }
            }
            // A memory, and then a multiplier.
            4 if self.dice.one_in(3) => {
                self.group(
                    &format!("group far{n}"),
                    &format!(
                        "wide.in = {from}.out; late.addr0 = wide.out; late.content_en = 1'd1; \
                         {m}.left = late.read_data; {m}.right = 8'd3; {m}.go = late.done & !{m}.done ? 1'd1; \
                         {to}.in = {m}.out; {to}.write_en = {m}.done; far{n}[done] = {to}.done;"
                    ),
                );
                format!("far{n};")
            }
            4 | 5 => {
                let write = self.dice.of(&["", "late.write_en = 1'd0;"]);
                let value = self
                    .dice
                    .of(&["late.read_data", "late.done ? late.read_data"]);
                self.group(
                    &format!("group fetch{n}"),
                    &format!(
                        "wide.in = {from}.out; late.addr0 = wide.out; late.content_en = 1'd1; {write} \
                         {to}.in = {value}; {to}.write_en = late.done; fetch{n}[done] = {to}.done;"
                    ),
                );
                format!("fetch{n};")
            }
            6 => {
                self.group(
                    &format!("group put{n}"),
                    &format!(
                        "wide.in = {from}.out; late.addr0 = wide.out; late.content_en = 1'd1; late.write_en = 1'd1; \
                         late.write_data = {to}.out; put{n}[done] = late.done;"
                    ),
                );
                format!("put{n};")
            }
            // What another group may have left in it.
            8 => {
                let take = self.write(&format!("taken{n}"), &to, "", &format!("{m}.out"));
                if self.dice.one_in(2) {
                    return take;
                }
                self.group(
                    &format!("group multiply{n}"),
                    &format!(
                        "{multiplies} {to}.in = {m}.out; {to}.write_en = {m}.done; multiply{n}[done] = {to}.done;"
                    ),
                );
                format!("multiply{n}; {take}")
            }
            9 => self.flag(),
            11 | 12 => self.quotient(&to, &from),
            // Done with both.
            7 => {
                self.group(
                    &format!("group both{n}"),
                    &format!(
                        "{to}.in = {from}.out; {to}.write_en = 1'd1; kept.in = {other}.out; kept.write_en = 1'd1; \
                         both{n}[done] = {to}.done & kept.done ? 1'd1;"
                    ),
                );
                format!("both{n};")
            }
            // Each arm reads what the other one writes.
            _ => {
                let there = self.write(&format!("there{n}"), &to, "", &format!("{from}.out"));
                let back = self.write(&format!("back{n}"), &from, "", &format!("{to}.out"));
                format!("par {{ {there} {back} }}")
            }
        }
    }
}
