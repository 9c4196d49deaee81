//! Loops that seem to run a fixed number of times: their counter may be set, counted or written elsewhere, or not surely.

use std::fmt::Write as _;

use super::Writer;

impl Writer<'_> {
    /// A loop with a counter, in a component that is called.
    pub(super) fn counted(&mut self) -> Vec<String> {
        self.memory("a", 8, 8, 3);
        self.memory("few", 8, 5, 3);
        let (mut groups, of) = self.counting();
        let text = self.counted_loop();
        let is_run = |group: &String| {
            let name = group
                .split(" {")
                .next()
                .and_then(|head| head.split(' ').next_back());
            let mut words = text.split([' ', ';']);
            name.is_some_and(|name| words.any(|word| word == name))
        };
        groups.retain(is_run);
        let _ = write!(
            self.components,
            "component counter(x: 8) -> () {{\n  cells {{\n    ref a = comb_mem_d1(8, 8, 3);\n    ref few = comb_mem_d1(8, 5, 3);\n    \
             i = std_reg(8);\n    p = std_reg(8);\n    q = std_reg(8);\n    next = std_add(8);\n    sum = std_add(8);\n    \
             cut = std_slice(8, 3);\n    odd = std_slice(8, 1);\n    test = {of}(8);\n    goes = std_reg(1);\n  }}\n  wires {{\n    {}\n  }}\n  \
             control {{ seq {{ {text} }} }}\n}}\n",
            groups.join("\n    "),
        );
        self.cell("counter0", "counter()");
        let x = self.register();
        vec![format!("invoke counter0[a = a, few = few](x = {x}.out)();")]
    }

    /// The control: a loop, and what is around it.
    fn counted_loop(&mut self) -> String {
        let before = self.dice.of(&[
            "zero;",
            "zero;",
            "zero;",
            "zero; other;",
            "other; zero;",
            "par { zero; reach; }",
            "if odd.out with some { zero; }",
            "zero; if odd.out with some { step; }",
            "reach; zero;",
            "",
        ]);
        let counts = self.dice.of(&[
            "step;",
            "step;",
            "step;",
            "par { step; work; }",
            "if odd.out with some { step; } else { step; }",
            "step; step;",
            "repeat 2 { step; }",
            "step; if odd.out with some { other; }",
        ]);
        let more = self
            .dice
            .of(&["work;", "work; reach;", "other;", "reach; work;", ""]);
        let text = if self.dice.one_in(3) {
            let body = self.dice.of(&[
                "$more $counts look;",
                "$more $counts look;",
                "$more look; $counts",
                "par { $counts look; } $more",
                "$counts if odd.out with some { look; }",
            ]);
            let body = body.replace("$more", more).replace("$counts", counts);
            let look = self.dice.of(&["look;", "look;", "look;", ""]);
            format!("{before} {look} while goes.out {{ seq {{ {body} }} }}")
        } else {
            format!("{before} while test.out with more {{ seq {{ {more} {counts} }} }}")
        };
        let text = match self.dice.below(4) {
            0 => format!("repeat 2 {{ seq {{ {text} work; }} }}"),
            1 => format!("{text} {text}"),
            _ => text,
        };
        let text = format!("{text} other; work; reach; step; zero; keep; show; tell;");
        if self.dice.one_in(2) {
            text.replace(" step; zero; ", " ")
        } else {
            text
        }
    }

    /// The groups, and what compares the counter.
    fn counting(&mut self) -> (Vec<String>, String) {
        let is_static = !self.dice.one_in(3);
        let (first, step) = (self.dice.below(3), 1 + self.dice.below(2));
        let from = self.dice.of(&["i.out", "i.out", "i.out", "p.out"]);
        let other = self.dice.of(&["p", "p", "i"]);
        let short = |(name, done, body): (&str, &str, &str)| {
            if is_static {
                format!("static<1> group {name} {{ {body} }}")
            } else {
                format!("group {name} {{ {body} {name}[done] = {done}.done; }}")
            }
        };
        let zero = format!("i.in = 8'd{first}; i.write_en = 1'd1;");
        let next = format!(
            "next.left = {from}; next.right = 8'd{step}; i.in = next.out; i.write_en = 1'd1;"
        );
        let writes = format!("{other}.in = x; {other}.write_en = 1'd1;");
        let last = first + step * self.dice.below(5);
        let test = format!("test.left = i.out; test.right = 8'd{last};");
        let look = format!("{test} goes.in = test.out; goes.write_en = 1'd1;");
        let all = [
            ("look", "goes", look.as_str()),
            ("zero", "i", zero.as_str()),
            ("step", "i", &next),
            ("other", other, &writes),
            (
                "work",
                "p",
                "sum.left = p.out; sum.right = i.out; p.in = sum.out; p.write_en = 1'd1;",
            ),
            (
                "reach",
                "q",
                "cut.in = p.out; few.addr0 = cut.out; q.in = few.read_data; q.write_en = 1'd1;",
            ),
            (
                "keep",
                "a",
                "a.addr0 = 3'd1; a.write_data = p.out; a.write_en = 1'd1;",
            ),
            (
                "show",
                "a",
                "a.addr0 = 3'd2; a.write_data = q.out; a.write_en = 1'd1;",
            ),
            (
                "tell",
                "a",
                "a.addr0 = 3'd3; a.write_data = i.out; a.write_en = 1'd1;",
            ),
        ];
        let mut groups: Vec<String> = all.into_iter().map(short).collect();
        let of = self
            .dice
            .of(&["std_lt", "std_lt", "std_neq", "std_le", "std_slt"]);
        groups.push(format!("comb group more {{ {test} }}"));
        groups.push("comb group some { odd.in = x; }".to_owned());
        (groups, of.to_owned())
    }
}
