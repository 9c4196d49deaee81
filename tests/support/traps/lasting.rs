//! Groups that go on when what they started is done, and so may do it once more.

use super::Writer;

impl Writer<'_> {
    /// Statements of groups that count in a register or memory, or read a word, and then wait for something else.
    pub(super) fn lasting(&mut self) -> Vec<String> {
        self.cell("@external late", "seq_mem_d1(8, 8, 3)");
        self.memories.insert("late".to_owned(), (8, 8));
        self.memory("words", 8, 8, 3);
        self.result("kept");
        self.cell("copy", "std_reg(8)");
        let count = 1 + self.dice.below(3);
        let steps = (0..count).map(|_| {
            let lasts = self.last();
            let look = self.look();
            format!("{lasts} {look}")
        });
        steps.collect()
    }

    /// What starts in the first cycle: its assignments, its `done`, and what it gives.
    fn first(&mut self) -> (String, &'static str, String) {
        let n = self.number();
        let (from, other) = (self.register(), self.register());
        self.cell(&format!("cut{n}"), "std_slice(8, 3)");
        self.cell(&format!("next{n}"), "std_add(8)");
        let adds = |of: &str| format!("next{n}.left = {of}; next{n}.right = 8'd1;");
        match self.dice.below(4) {
            0 => {
                let of = self.dice.of(&["kept", "copy", &other]).to_owned();
                let adds = adds(&format!("{of}.out"));
                let text = format!("{adds} kept.in = next{n}.out; kept.write_en = 1'd1;");
                (text, "kept", "kept.out".to_owned())
            }
            1 => {
                let value = self.dice.of(&["words.read_data", "copy.out"]);
                let text = format!(
                    "cut{n}.in = {from}.out; words.addr0 = cut{n}.out; {} words.write_data = next{n}.out; words.write_en = 1'd1;",
                    adds(value),
                );
                (text, "words", "words.read_data".to_owned())
            }
            _ => {
                let at = self
                    .dice
                    .of(&["late.read_data", "copy.out", &from, "kept.out"]);
                let at = if at.contains('.') {
                    at.to_owned()
                } else {
                    format!("{at}.out")
                };
                let text =
                    format!("cut{n}.in = {at}; late.addr0 = cut{n}.out; late.content_en = 1'd1;");
                (text, "late", "late.read_data".to_owned())
            }
        }
    }

    fn last(&mut self) -> String {
        let n = self.number();
        let (first, cell, gives) = self.first();
        let other = self.register();
        let value = self.dice.of(&[&gives, &gives, "kept.out", "copy.out"]);
        let value = value.to_owned();
        let copies = format!("copy.in = {value};");
        if cell == "late" && self.dice.one_in(4) {
            let until = self.dice.of(&["1'd1", "%[0:2] ? 1'd1", "%0 ? 1'd1"]);
            let first = first.replace("content_en = 1'd1", &format!("content_en = {until}"));
            let at = 1 + self.dice.below(2);
            self.group(
                &format!("static<{}> group last{n}", at + 1),
                &format!("{first} {copies} copy.write_en = %{at} ? 1'd1;"),
            );
            return format!("last{n};");
        }
        let (more, end) = if self.dice.one_in(3) {
            self.cell("third", "std_reg(8)");
            let from = self.dice.of(&[&other, "copy", &other]).to_owned();
            let more = format!("third.in = {from}.out; third.write_en = copy.done;");
            (more, "third")
        } else {
            (String::new(), "copy")
        };
        self.group(
            &format!("group last{n}"),
            &format!(
                "{first} {copies} copy.write_en = {cell}.done; {more} last{n}[done] = {end}.done;"
            ),
        );
        let promise = self.dice.of(&["", "", "", "@promotable(2) "]);
        format!("{promise}last{n};")
    }

    /// Reads what a group has left.
    fn look(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..=self.dice.below(2) {
            let n = self.number();
            let to = self.register();
            let what = self
                .dice
                .of(&["late.read_data", "copy.out", "copy.out", "kept.out"]);
            text += &self.write(&format!("look{n}"), &to, "", what);
            text.push(' ');
        }
        text
    }
}
