//! Copies of what memories, multipliers and dividers give, in a row of statements of all kinds that look at them.

use super::Writer;

/// What copies are taken of: the cell, what it is made of, what it gives, and what starts it.
const SOURCES: [(&str, &str, &str, &str); 7] = [
    ("late", "seq_mem_d1(8, 8, 3)", "read_data", "content_en"),
    ("other", "seq_mem_d1(8, 8, 3)", "read_data", "content_en"),
    (
        "plane",
        "seq_mem_d2(8, 4, 2, 2, 1)",
        "read_data",
        "content_en",
    ),
    ("mul", "std_smult_pipe(8)", "out", "go"),
    ("fixed", "std_fp_mult_pipe(8, 4, 4)", "out", "go"),
    ("quotient", "std_div_pipe(8)", "out_quotient", "go"),
    ("rest", "std_sdiv_pipe(8)", "out_remainder", "go"),
];

impl Writer<'_> {
    /// Statements that take one copy or two, each of another cell most times, and look at them.
    pub(super) fn taken(&mut self) -> Vec<String> {
        self.result("kept");
        self.components += "component twice(x: 8) -> (out: 8) {\n  cells { t = std_reg(8); sum = std_add(8); }\n  wires {\n    out = t.out;\n    \
            group double { sum.left = x; sum.right = x; t.in = sum.out; t.write_en = 1'd1; double[done] = t.done; }\n  }\n  \
            control { seq { double; double; } }\n}\n";
        let count = 1 + self.dice.below(2);
        let mut text = String::new();
        let mut copies = Vec::new();
        for at in 0..count {
            let (cell, of, output, start) = SOURCES[self.dice.below(SOURCES.len())];
            let external = if of.contains("mem") { "@external " } else { "" };
            self.cell(&format!("{external}{cell}"), of);
            if of.contains("mem") {
                self.memories.insert(cell.to_owned(), (8, 8));
            }
            let copy = format!("c{at}");
            self.cell(&copy, "std_reg(8)");
            let take = self.take_of(&copy, (cell, output, start), &copies);
            text += &take;
            copies.push(copy);
            for _ in 0..=self.dice.below(3) {
                text += &self.looks(&copies, &take, 2);
            }
        }
        vec![text]
    }

    fn take_of(&mut self, copy: &str, of: (&str, &str, &str), copies: &[String]) -> String {
        let n = self.number();
        let (cell, output, start) = of;
        let from = if !copies.is_empty() && self.dice.one_in(2) {
            copies[0].clone()
        } else {
            self.register()
        };
        let other = self.register();
        self.cell("cut", "std_slice(8, 3)");
        self.cell("row", "std_slice(8, 2)");
        self.cell("column", "std_slice(8, 1)");
        let (inputs, takes) = match cell {
            "plane" => (
                format!(
                    "row.in = {from}.out; plane.addr0 = row.out; column.in = {other}.out; plane.addr1 = column.out;"
                ),
                Some(1),
            ),
            "late" | "other" => (
                format!("cut.in = {from}.out; {cell}.addr0 = cut.out;"),
                Some(1),
            ),
            "mul" | "fixed" => (
                format!("{cell}.left = {from}.out; {cell}.right = {other}.out;"),
                Some(2),
            ),
            _ => (
                format!("{cell}.left = {from}.out; {cell}.right = 8'd3;"),
                None,
            ),
        };
        let keeps = format!("{copy}.in = {cell}.{output};");
        if let Some(takes) = takes
            && self.dice.one_in(3)
        {
            let until = if takes == 1 && self.dice.one_in(2) {
                "1'd1".to_owned()
            } else {
                format!("%[0:{takes}] ? 1'd1")
            };
            self.group(
                &format!("static<{}> group take{n}", takes + 1),
                &format!(
                    "{inputs} {cell}.{start} = {until}; {keeps} {copy}.write_en = %{takes} ? 1'd1;"
                ),
            );
        } else {
            let go = if takes == Some(1) {
                "1'd1".to_owned()
            } else {
                format!("!{cell}.done ? 1'd1")
            };
            let enables = self.dice.of(&["D", "D ? 1'd1"]);
            let enables = enables.replace('D', &format!("{cell}.done"));
            self.group(
                &format!("group take{n}"),
                &format!("{inputs} {cell}.{start} = {go}; {keeps} {copy}.write_en = {enables}; take{n}[done] = {copy}.done;"),
            );
        }
        format!("take{n}; ")
    }

    /// A statement that looks at a copy, or takes it once more.
    fn looks(&mut self, copies: &[String], take: &str, depth: usize) -> String {
        let n = self.number();
        let at = self.dice.below(copies.len());
        let (copy, other) = (copies[at].clone(), self.register());
        let kinds = if depth > 0 { 12 } else { 7 };
        match self.dice.below(kinds) {
            0 => self.write(&format!("use{n}"), &other, "", &format!("{copy}.out")),
            1 => {
                self.cell(&format!("sum{n}"), "std_sadd(8)");
                let adds = format!("sum{n}.left = {copy}.out; sum{n}.right = {other}.out;");
                self.write(&format!("add{n}"), "kept", &adds, &format!("sum{n}.out"))
            }
            2 => format!("invoke {other}(in = {copy}.out)(); "),
            3 => {
                self.cell("twice0", "twice()");
                let read = self.write(&format!("read{n}"), "kept", "", "twice0.out");
                format!("invoke twice0(x = {copy}.out)(); {read}")
            }
            4 => {
                self.group(
                    &format!("static<2> group wait{n}"),
                    &format!("kept.in = {copy}.out; kept.write_en = %1 ? 1'd1;"),
                );
                format!("wait{n}; ")
            }
            5 => self.plain(),
            6 => {
                self.cell("@external log", "seq_mem_d1(8, 8, 3)");
                self.memories.insert("log".to_owned(), (8, 8));
                self.group(
                    &format!("group log{n}"),
                    &format!("log.addr0 = 3'd{}; log.content_en = 1'd1; log.write_en = 1'd1; log.write_data = {copy}.out; log{n}[done] = log.done;", n % 8),
                );
                format!("log{n}; ")
            }
            7 => {
                let test = self.test(&copy);
                let [first, second] = [
                    self.looks(copies, take, depth - 1),
                    self.looks(copies, take, depth - 1),
                ];
                format!("if {test} {{ seq {{ {first} }} }} else {{ seq {{ {second} }} }} ")
            }
            8 => {
                let [first, second] = [
                    self.looks(copies, take, depth - 1),
                    self.looks(copies, take, depth - 1),
                ];
                format!(
                    "repeat {} {{ seq {{ {first}{second}}} }} ",
                    1 + self.dice.below(3)
                )
            }
            9 => take.to_owned(),
            10 => {
                let test = self.test(&copy);
                let body = self.looks(copies, take, 0);
                // It ends, since the body gives it up.
                self.times(
                    1,
                    &format!("if {test} {{ seq {{ {body} }} }} else {{ seq {{ {body} }} }} "),
                )
            }
            _ => {
                let [first, second] = [self.looks(copies, take, depth - 1), self.plain()];
                format!("par {{ seq {{ {first}}} seq {{ {second} }} }} ")
            }
        }
    }
}
