//! Groups of one cycle that read what those before them write, in registers, memories and wires.

use super::Writer;

impl Writer<'_> {
    /// Statements that depend on one another, in a row.
    pub(super) fn forwarded(&mut self) -> Vec<String> {
        self.cell("@external late", "seq_mem_d1(8, 8, 3)");
        self.memory("words", 8, 8, 3);
        self.memories.insert("late".to_owned(), (8, 8));
        self.result("kept");
        self.cell("flag", "std_reg(1)");
        self.cell("pad", "std_pad(1, 8)");
        self.cell("wired", "std_not(8)");
        let of = self.register();
        self.wires.push(format!("wired.in = {of}.out;"));
        let raise = self.dice.below(2);
        self.group(
            "group flag_first",
            &format!("flag.in = 1'd{raise}; flag.write_en = 1'd1; flag_first[done] = flag.done;"),
        );
        let mostly = self.dice.below(4);
        let count = 3 + self.dice.below(6);
        let steps = (0..count).map(|_| {
            let is_static = mostly == 0 || mostly == 1 && self.dice.one_in(2);
            self.forward(is_static)
        });
        let steps: Vec<String> = steps.collect();
        vec!["flag_first;".to_owned(), steps.concat()]
    }

    fn short(&mut self, name: &str, is_static: bool, body: &str, done: &str) -> String {
        let n = self.number();
        if is_static {
            self.group(&format!("static<1> group {name}{n}"), body);
        } else {
            let body = format!("{body} {name}{n}[done] = {done}.done;");
            self.group(&format!("group {name}{n}"), &body);
        }
        format!("{name}{n};")
    }

    fn forward(&mut self, is_static: bool) -> String {
        let (to, from, other) = (self.register(), self.register(), self.register());
        let to = self.dice.of(&[&to, &to, "kept"]).to_owned();
        let writes = |value: &str| format!("{to}.in = {value}; {to}.write_en = 1'd1;");
        match self.dice.below(12) {
            // An adder that others use, too.
            0..=2 => {
                let of = self.dice.below(3);
                self.cell(&format!("shared{of}"), "std_add(8)");
                let adds = format!("shared{of}.left = {from}.out; shared{of}.right = {other}.out;");
                let body = format!("{adds} {}", writes(&format!("shared{of}.out")));
                self.short("add", is_static, &body, &to)
            }
            3 => {
                let from = self.dice.of(&[&from, "wired"]);
                self.short("move", is_static, &writes(&format!("{from}.out")), &to)
            }
            4 => self.short("set", is_static, &writes("8'd3"), &to),
            5 | 6 => {
                let at = self.at(&from);
                let body = format!("{at} {}", writes("words.read_data"));
                self.short("look", is_static, &body, &to)
            }
            7 => {
                let at = self.at(&from);
                let body = format!("{at} words.write_data = {other}.out; words.write_en = 1'd1;");
                self.short("put", is_static, &body, "words")
            }
            8 => {
                let n = self.number();
                self.cell(&format!("index{n}"), "std_slice(8, 3)");
                let write = self.dice.of(&["", "", "late.write_en = 1'd1;"]);
                let body = format!(
                    "index{n}.in = {from}.out; late.addr0 = index{n}.out; late.content_en = 1'd1; late.write_data = {other}.out; {write}"
                );
                self.short("ask", is_static, &body, "late")
            }
            9 => self.short("take", is_static, &writes("late.read_data"), &to),
            // A condition, and who looks at it.
            10 => {
                let n = self.number();
                self.cell(&format!("is{n}"), "std_lt(8)");
                let body = format!(
                    "is{n}.left = {from}.out; is{n}.right = {other}.out; flag.in = is{n}.out; flag.write_en = 1'd1;"
                );
                self.short("test", is_static, &body, "flag")
            }
            _ => {
                let body = format!(
                    "{to}.in = flag.out ? {from}.out; {to}.in = !flag.out ? {other}.out; {to}.write_en = 1'd1;"
                );
                self.short("choose", is_static, &body, &to)
            }
        }
    }

    /// What gives `words` the address that a register has: the same cell for one register, or another one each time.
    fn at(&mut self, register: &str) -> String {
        let name = if self.dice.one_in(2) {
            format!("at_{register}")
        } else {
            format!("at{}", self.number())
        };
        self.cell(&name, "std_slice(8, 3)");
        format!("{name}.in = {register}.out; words.addr0 = {name}.out;")
    }
}
