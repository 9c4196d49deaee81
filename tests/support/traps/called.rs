//! Components that multiply, run again and again, at times at once: what they give is looked at after they ran, while they run, or through wires.

use std::fmt::Write as _;

use super::Writer;

impl Writer<'_> {
    /// Runs of two cells of a component that multiplies.
    pub(super) fn called(&mut self) -> Vec<String> {
        self.worker();
        self.result("seen");
        self.cell("w0", "worker()");
        self.cell("w1", "worker()");
        let steps = 3 + self.dice.below(4);
        let mut steps: Vec<String> = (0..steps).map(|_| self.call()).collect();
        if self.dice.one_in(8) {
            self.memory("tab", 8, 8, 3);
            self.cell("at", "std_slice(8, 3)");
            self.wires.push("at.in = w0.out;".to_owned());
            self.wires.push("tab.addr0 = at.out;".to_owned());
            let look = self.write("look_up", "seen", "", "tab.read_data");
            steps.push(look);
        }
        steps
    }

    fn worker(&mut self) {
        let unit = self.dice.of(&[
            "std_mult_pipe(8)",
            "std_mult_pipe(8)",
            "std_smult_pipe(8)",
            "std_fp_mult_pipe(8, 6, 2)",
        ]);
        let multiplies = "m.left = x; m.right = y; m.go = !m.done ? 1'd1;";
        let group = match self.dice.below(4) {
            0 => {
                format!("{multiplies} r.in = m.out; r.write_en = m.done; multiply[done] = r.done;")
            }
            // It may be shorter than that.
            1 => format!("{multiplies} r.in = m.out; r.write_en = 1'd1; multiply[done] = m.done;"),
            _ => format!("{multiplies} multiply[done] = m.done;"),
        };
        let head = if self.dice.one_in(6) {
            let group = group.replace("!m.done ? ", "%[0:2] ? ");
            let group = group.replace("r.write_en = m.done", "r.write_en = %2 ? 1'd1");
            let (body, _) = group
                .rsplit_once(" multiply[done]")
                .expect("the group is done at some time");
            let latency = if body.contains("%2") { 3 } else { 2 };
            format!("static<{latency}> group multiply {{ {body} }}")
        } else {
            format!("group multiply {{ {group} }}")
        };
        let shows = self.dice.of(&[
            "out = m.out;",
            "out = m.out;",
            "out = m.out;",
            "out = r.out;",
            "sum.left = m.out; sum.right = r.out; out = sum.out;",
            "out = k.out == 8'd0 ? m.out; out = k.out != 8'd0 ? r.out;",
        ]);
        let control = self.dice.of(&[
            "multiply;",
            "multiply;",
            "seq { multiply; }",
            "seq { multiply; keep; }",
            "seq { keep; multiply; }",
            "seq { multiply; multiply; }",
            "repeat 2 { multiply; }",
            "repeat 2 { seq { multiply; keep; } }",
            "seq { again; multiply; }",
            "seq { multiply; again; keep; }",
            "repeat 2 { seq { multiply; again; } }",
            "if some.out with odd { multiply; } else { again; }",
            "if some.out with odd { multiply; }",
            "if some.out with odd { multiply; } else { keep; }",
        ]);
        let again = format!(
            "group again {{ {} again[done] = m.done; }}",
            multiplies.replace("m.left = x", "m.left = y")
        );
        let others = [
            ("again", &*again),
            ("odd", "comb group odd { some.in = x; }"),
            (
                "keep",
                "group keep { r.in = m.out; r.write_en = 1'd1; keep[done] = r.done; }",
            ),
        ];
        let others = others
            .into_iter()
            .filter(|(name, _)| control.contains(name));
        let others: Vec<&str> = others.map(|(_, group)| group).collect();
        let _ = write!(
            self.components,
            "component worker(x: 8, y: 8) -> (out: 8) {{\n  cells {{\n    m = {unit}; r = std_reg(8); k = std_reg(8); sum = std_add(8); some = std_slice(8, 1);\n  }}\n  wires {{\n    \
             {head}\n    {}\n    {shows}\n  }}\n  control {{ {control} }}\n}}\n",
            others.join("\n    "),
        );
    }

    /// A statement that runs the component, or looks at what it gives.
    fn call(&mut self) -> String {
        let n = self.number();
        let (a, b) = (self.register(), self.register());
        let [cell, other] = [(); 2].map(|()| self.dice.of(&["w0", "w1"]));
        let invoke = format!("invoke {cell}(x = {a}.out, y = {b}.out)();");
        let again = format!("invoke {other}(x = {b}.out, y = 8'd3)();");
        match self.dice.below(12) {
            0..=2 => invoke,
            3 => format!("{invoke} {again}"),
            4 => format!("repeat 2 {{ {invoke} }}"),
            5 => self.times(2, &invoke),
            6 if cell != other => format!("par {{ {invoke} {again} }}"),
            7 => {
                // By a group, which looks at what it gives in each cycle, or in the last one.
                let when = if self.dice.one_in(4) {
                    "1'd1".to_owned()
                } else {
                    format!("{cell}.done")
                };
                let until = if self.dice.one_in(4) {
                    String::new()
                } else {
                    format!("!{cell}.done ? ")
                };
                let done = self.dice.of(&["seen", "seen", "seen", cell]);
                self.group(
                    &format!("group run{n}"),
                    &format!(
                        "{cell}.x = {a}.out; {cell}.y = {b}.out; {cell}.go = {until}1'd1; seen.in = {cell}.out; \
                         seen.write_en = {when}; run{n}[done] = {done}.done;"
                    ),
                );
                format!("run{n};")
            }
            8 => {
                self.cell(&format!("small{n}"), "std_lt(8)");
                self.group(
                    &format!("comb group less{n}"),
                    &format!("small{n}.left = {cell}.out; small{n}.right = 8'd4;"),
                );
                let set = self.write(&format!("set{n}"), &a, "", "8'd5");
                format!("if small{n}.out with less{n} {{ {set} }}")
            }
            9 if self.dice.one_in(3) => {
                let take = self.write(&format!("take{n}"), &b, "", &format!("{cell}.out"));
                format!("par {{ {invoke} {take} }}")
            }
            _ => {
                let to = if self.dice.one_in(2) {
                    "seen".to_owned()
                } else {
                    a
                };
                self.write(&format!("take{n}"), &to, "", &format!("{cell}.out"))
            }
        }
    }
}
