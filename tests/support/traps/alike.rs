//! Arms of a `par` that drive the same logic, branches in them, and groups that wait for what logic makes of several `done`s.

use std::fmt::Write as _;

use super::Writer;

impl Writer<'_> {
    /// Arms with logic in common, and what comes before and after them.
    pub(super) fn alike(&mut self) -> Vec<String> {
        let mut steps = Vec::new();
        // Most programs hold to what is looked at.
        let is_odd = self.dice.one_in(3);
        for _ in 0..=self.dice.below(2) {
            let arms = 2 + self.dice.below(2);
            let common = self.common();
            let arms = (0..arms).map(|lane| self.arm(lane, &common, is_odd));
            let arms: Vec<String> = arms.collect();
            steps.push(format!("par {{ {} }}", arms.join(" ")));
        }
        for _ in 0..self.dice.below(3) {
            let waits = self.waits(is_odd);
            steps.push(if self.dice.one_in(3) {
                let count = 1 + self.dice.below(3);
                self.times(count, &waits)
            } else {
                waits
            });
        }
        steps
    }

    /// Logic, as text: what drives it.
    fn common(&mut self) -> [String; 2] {
        let n = self.number();
        let (a, b) = (self.register(), self.register());
        self.cell(&format!("less{n}"), "std_lt(8)");
        self.cell(&format!("mux{n}"), "std_mux(8)");
        self.cell(&format!("sum{n}"), "std_add(8)");
        let guard = match self.dice.below(6) {
            0 => format!("less{n}.out ? "),
            _ => String::new(),
        };
        let text = format!(
            "less{n}.left = {a}.out; less{n}.right = 8'd3; sum{n}.left = {a}.out; sum{n}.right = 8'd1; \
             mux{n}.cond = less{n}.out; mux{n}.tru = {guard}sum{n}.out; mux{n}.fal = {b}.out;"
        );
        [text, format!("mux{n}.out")]
    }

    /// An arm, with registers of its own, most of them.
    fn arm(&mut self, lane: usize, [drives, gives]: &[String; 2], is_odd: bool) -> String {
        let own = format!("own{lane}");
        self.result(&own);
        let mut steps = String::new();
        for _ in 0..=self.dice.below(3) {
            let n = self.number();
            let drives = match self.dice.below(6) {
                // It is driven otherwise, or only in part.
                0 if is_odd => drives.replace("8'd1", "8'd2"),
                1 if is_odd => {
                    let parts: Vec<&str> = drives.split_inclusive(';').collect();
                    parts[self.dice.below(3)..].concat()
                }
                _ => drives.clone(),
            };
            let to = if is_odd && self.dice.one_in(6) {
                self.register()
            } else {
                own.clone()
            };
            let step = match self.dice.below(4) {
                0 => {
                    let at = self.dice.below(2);
                    self.group(
                        &format!("static<2> group part{n}"),
                        &format!("{drives} {to}.in = {gives}; {to}.write_en = %{at} ? 1'd1;"),
                    );
                    format!("part{n};")
                }
                1 => self.product_of(lane, &drives, gives, &to),
                2 => {
                    let test = self.test(&own);
                    let then = self.write(&format!("part{n}"), &to, &drives, gives);
                    let m = self.number();
                    let other = self.write(&format!("part{m}"), &own, "", &format!("8'd{m}"));
                    let otherwise = self.dice.of(&["", "else"]);
                    if otherwise.is_empty() {
                        format!("if {test} {{ {then} }} {other}")
                    } else {
                        format!("if {test} {{ seq {{ {then} {other} }} }} else {{ {other} }}")
                    }
                }
                _ => self.write(&format!("part{n}"), &to, &drives, gives),
            };
            let _ = write!(steps, "{step} ");
        }
        format!("seq {{ {steps} }}")
    }

    /// A product of what the logic gives.
    fn product_of(&mut self, lane: usize, drives: &str, gives: &str, to: &str) -> String {
        let n = self.number();
        let m = format!("mul{lane}");
        self.cell(&m, "std_mult_pipe(8)");
        self.group(
            &format!("group part{n}"),
            &format!(
                "{drives} {m}.left = {gives}; {m}.right = 8'd3; {m}.go = !{m}.done ? 1'd1; {to}.in = {m}.out; \
                 {to}.write_en = {m}.done; part{n}[done] = {to}.done;"
            ),
        );
        format!("part{n};")
    }

    /// Starts something that takes a cycle or more, keeps two things of it, and when both are kept a third one.
    fn waits(&mut self, is_odd: bool) -> String {
        let n = self.number();
        let (from, other, to) = (self.register(), self.register(), self.register());
        let names = ["one", "two", "sum", "both"].map(|name| format!("{name}{n}"));
        let [one, two, sum, both] = &names;
        self.cell(one, "std_reg(8)");
        self.cell(two, "std_reg(8)");
        self.cell(sum, "std_add(8)");
        let logic = self.dice.of(&["std_and", "std_and", "std_and", "std_or"]);
        self.cell(both, &format!("{logic}(1)"));
        let m = format!("w{n}");
        let (of, more) = match self.dice.below(4) {
            0 => ("std_mult_pipe(8)", ""),
            // What nobody drives of these is 0.
            1 => ("std_addFN(3, 5, 8)", ""),
            2 => ("std_addFN(3, 5, 8)", "subOp = 1'd1;"),
            _ => ("std_mulFN(3, 5, 8)", ""),
        };
        let more = if more.is_empty() {
            String::new()
        } else {
            format!("{m}.{more}")
        };
        self.cell(&m, of);
        let second = match self.dice.below(4) {
            0 if is_odd => format!("{two}.in = {m}.out; {two}.write_en = 1'd1;"),
            1 if is_odd => format!("{two}.in = {other}.out; {two}.write_en = {one}.done;"),
            _ => format!("{two}.in = {m}.out; {two}.write_en = {m}.done;"),
        };
        self.group(
            &format!("group waits{n}"),
            &format!(
                "{m}.left = {from}.out; {m}.right = {other}.out; {more} {m}.go = !{m}.done ? 1'd1; \
                 {one}.in = {m}.out; {one}.write_en = {m}.done; {second} {sum}.left = {one}.out; {sum}.right = {two}.out; \
                 {both}.left = {one}.done; {both}.right = {two}.done; {to}.in = {sum}.out; {to}.write_en = {both}.out; \
                 waits{n}[done] = {to}.done;"
            ),
        );
        // Somebody else may have written one of them just before, or look at what was started once more.
        match self.dice.below(6) {
            0 if is_odd => {
                let head = self.dice.of(&["static<1> group", "group"]);
                let done = if head == "group" {
                    format!("just{n}[done] = {one}.done;")
                } else {
                    String::new()
                };
                self.group(
                    &format!("{head} just{n}"),
                    &format!("{one}.in = 8'd9; {one}.write_en = 1'd1; {done}"),
                );
                format!("just{n}; waits{n};")
            }
            1 if is_odd => {
                let look = self.write(&format!("look{n}"), &other, "", &format!("{m}.out"));
                format!("waits{n}; {look}")
            }
            2 => format!("waits{n}; waits{n};"),
            3 => {
                let plain = self.plain();
                format!("waits{n}; {plain} waits{n};")
            }
            _ => format!("waits{n};"),
        }
    }
}
