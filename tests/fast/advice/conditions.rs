//! The conditions of random programs.

use super::shapes::{OPS, REGISTERS, Test};
use super::writer::Writer;

impl Writer<'_> {
    /// The port of a condition, and how to ask for it.
    pub fn test(&mut self, test: &Test) -> String {
        let Test {
            op,
            left,
            right,
            mode,
            form,
        } = *test;
        let mut name = format!("{}_{left}_{right}{}", OPS[op], self.lane);
        let left_value = match left {
            0..REGISTERS => format!("{}.out", self.register(left)),
            REGISTERS if !self.is_main => "x".to_owned(),
            7 if mode != 1 && self.lane.is_empty() => {
                let m = self.memory();
                format!("{m}.read_data")
            }
            8 if self.lane.is_empty() && !self.formals.is_empty() && self.formals[0].is_empty() => {
                self.cell("c0_0", "p0()");
                "c0_0.out".to_owned()
            }
            9 if mode == 1 => {
                let register = self.register(right);
                return format!("{register}.done");
            }
            _ => format!("{}.out", self.register(0)),
        };
        let right_value = if right < 6 {
            format!("8'd{right}")
        } else {
            self.value(right - 6)
        };
        let shares = mode == 2 || mode == 3 && op < 8;
        let mut cell = if shares && mode == 3 {
            // As groups call theirs.
            format!("cmp{op}{}", self.lane)
        } else if shares {
            format!("shared_{}{}", OPS[op], self.lane)
        } else {
            format!("cell_{name}")
        };
        if mode == 1 {
            cell = format!("cont_{name}");
            name = format!("cont_{name}");
        } else if shares {
            name = format!("shared{mode}_{name}");
        }
        self.cell(&cell, &format!("{}(8)", OPS[op]));
        let mut body = vec![format!(
            "{cell}.left = {left_value}; {cell}.right = {right_value};"
        )];
        if left == 7 && mode != 1 && self.lane.is_empty() {
            let m = self.memory();
            body.push(format!("{m}.addr0 = 3'd{};", right % 8));
        }
        let mut port = format!("{cell}.out");
        match form {
            1 => {
                name = format!("not_{name}");
                let not = format!("n_{name}");
                self.cell(&not, "std_not(1)");
                body.push(format!("{not}.in = {port};"));
                port = format!("{not}.out");
            }
            2 | 3 => {
                let op = ["std_lt", "std_neq"][form - 2];
                name = format!("and{form}_{name}");
                let (and, second) = (format!("a_{name}"), format!("b_{name}"));
                self.cell(&and, "std_and(1)");
                self.cell(&second, &format!("{op}(8)"));
                let other = self.register(right);
                body.push(format!(
                    "{second}.left = {other}.out; {second}.right = 8'd5; {and}.left = {port}; {and}.right = {second}.out;"
                ));
                port = format!("{and}.out");
            }
            _ => {}
        }
        if mode == 1 {
            // One list of assignments for each cell, whatever they are for.
            for part in body {
                let key = part.split('.').next().unwrap_or_default().to_owned();
                self.groups.insert(key, format!("    {part}\n"));
            }
            return port;
        }
        self.group("comb group", &format!("is_{name}"), &body);
        format!("{port} with is_{name}")
    }
}
