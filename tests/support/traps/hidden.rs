//! Traps that are not in the statement that they are of: what it does is seen elsewhere, or later.

use std::fmt::Write as _;

use super::Writer;

impl Writer<'_> {
    /// Two cells of a component that keeps a sum where only continuous assignments read it.
    pub(super) fn wired(&mut self) -> Vec<String> {
        let (show, control) = if self.dice.one_in(2) {
            let show =
                "group show { o.in = r.out; o.write_en = 1'd1; show[done] = o.done; } out = o.out;";
            (show, "seq { up; show; }")
        } else {
            ("out = r.out;", "up;")
        };
        let _ = write!(
            self.components,
            "component sum(x: 8) -> (out: 8) {{\n  cells {{ r = std_reg(8); o = std_reg(8); add = std_add(8); }}\n  wires {{\n    \
             add.left = r.out; add.right = x; {show}\n    \
             group up {{ r.in = add.out; r.write_en = 1'd1; up[done] = r.done; }}\n  }}\n  \
             control {{ {control} }}\n}}\n"
        );
        let mut steps = Vec::new();
        for cell in ["s0", "s1"] {
            self.cell(cell, "sum()");
            self.result(&format!("of_{cell}"));
        }
        let order = [["s0", "s1", "s0"], ["s0", "s0", "s1"]][self.dice.below(2)];
        for cell in order {
            let x = self.register();
            steps.push(format!("invoke {cell}(x = {x}.out)();"));
            let n = self.number();
            let to = format!("of_{cell}");
            steps.push(self.write(&format!("take{n}"), &to, "", &format!("{cell}.out")));
        }
        steps
    }

    /// A static group that starts a division and does not wait for it.
    pub(super) fn running(&mut self) -> Vec<String> {
        let n = self.number();
        let (a, k) = (self.register(), 1 + self.dice.below(5));
        self.cell("quotient", "std_div_pipe(8)");
        self.result("divided");
        self.group(
            &format!("static<1> group start{n}"),
            "quotient.left = 8'd200; quotient.right = 8'd3; quotient.go = 1'd1;",
        );
        self.group(
            &format!("group divide{n}"),
            &format!(
                "quotient.left = {a}.out; quotient.right = 8'd{k}; quotient.go = !quotient.done ? 1'd1; \
                 divided.in = quotient.out_quotient; divided.write_en = quotient.done; divide{n}[done] = divided.done;"
            ),
        );
        let between = (0..3 + self.dice.below(4)).map(|_| self.plain());
        let mut steps = vec![format!("start{n};")];
        steps.extend(between);
        steps.push(format!("divide{n};"));
        steps
    }

    /// A loop that may not end, and behind it something that may stop the run without an address in a group.
    pub(super) fn stopping(&mut self) -> Vec<String> {
        let n = self.number();
        let (a, b) = (self.register(), self.register());
        self.result("late");
        self.cell(&format!("one{n}"), "std_eq(8)");
        self.group(
            &format!("comb group on{n}"),
            &format!("one{n}.left = {a}.out; one{n}.right = 8'd1;"),
        );
        let again = self.write(&format!("again{n}"), "late", "", "8'd6");
        let endless = format!("while one{n}.out with on{n} {{ {again} }}");
        let which = self.dice.below(3);
        let index = (which < 2).then(|| {
            self.memory("tab", 8, 5, 3);
            self.cell(&format!("at{n}"), "std_slice(8, 3)");
            self.cell(&format!("index{n}"), "std_reg(3)");
            let before = format!("at{n}.in = {b}.out;");
            let value = format!("at{n}.out");
            self.write(&format!("find{n}"), &format!("index{n}"), &before, &value)
        });
        match (which, index) {
            (0, Some(index)) => {
                let stops = format!("invoke tab(addr0 = index{n}.out, write_data = 8'd9)();");
                vec![index, endless, stops]
            }
            (_, Some(index)) => {
                self.wires.push(format!("tab.addr0 = index{n}.out;"));
                vec![endless, index]
            }
            (_, None) => {
                self.cell("quotient", "std_div_pipe(8)");
                self.result("divided");
                self.group(
                    &format!("group divide{n}"),
                    &format!(
                        "quotient.left = 8'd90; quotient.right = {b}.out; quotient.go = !quotient.done ? 1'd1; \
                         divided.in = quotient.out_quotient; divided.write_en = quotient.done; divide{n}[done] = divided.done;"
                    ),
                );
                vec![endless, format!("divide{n};")]
            }
        }
    }
}
