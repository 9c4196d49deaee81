//! What the groups of random programs do.

use super::shapes::{Act, ODD, OPS, REGISTERS};
use super::writer::Writer;

impl Writer<'_> {
    #[allow(clippy::too_many_lines, reason = "a list of what groups do")]
    pub fn act(&mut self, act: &Act) {
        let Act {
            kind,
            to,
            from,
            with,
        } = *act;
        let kind = if self.odd { kind } else { kind % ODD };
        let in_lane = !self.lane.is_empty();
        let kind = if in_lane && [4, 5, 7, 12, 13, 14, 16].contains(&kind) {
            1
        } else {
            kind
        };
        let to = (to..to + REGISTERS)
            .find(|at| !self.kept.contains(&(at % REGISTERS)))
            .unwrap_or(to);
        let lane = self.lane.clone();
        let name = format!("g{kind}_{to}_{from}_{with}{lane}");
        let t = self.register(to);
        let value = self.value(from);
        let write = |enable: &str| {
            vec![
                format!("{t}.write_en = {enable};"),
                format!("{name}[done] = {t}.done;"),
            ]
        };
        let always = write("1'd1");
        let mut body = Vec::new();
        match kind {
            0 => {
                body.push(format!("{t}.in = {value};"));
                body.extend(always);
            }
            1 | 2 => {
                let adder = format!("add{with}{lane}");
                self.cell(&adder, "std_add(8)");
                let other = if kind == 1 {
                    format!("8'd{with}")
                } else {
                    self.value(with)
                };
                body.push(format!(
                    "{adder}.left = {value}; {adder}.right = {other}; {t}.in = {adder}.out;"
                ));
                body.extend(always);
            }
            3 => {
                body.push(format!("data.addr0 = 3'd{with}; {t}.in = data.read_data;"));
                if self.is_main {
                    body.extend(always);
                } else {
                    body = vec![format!("{t}.in = {value};")];
                    body.extend(always);
                }
            }
            4 => {
                let m = self.memory();
                body.push(format!("{m}.addr0 = 3'd{with}; {t}.in = {m}.read_data;"));
                body.extend(always);
            }
            5 => {
                let m = self.memory();
                body.push(format!(
                    "{m}.addr0 = 3'd{with}; {m}.write_data = {value}; {m}.write_en = 1'd1; {name}[done] = {m}.done;"
                ));
            }
            6 => {
                let mul = format!("mul{}{lane}", with % 3);
                self.cell(&mul, "std_mult_pipe(8)");
                let other = self.value(with);
                let go = if with % 2 == 0 {
                    format!("!{mul}.done ? 1'd1")
                } else {
                    "1'd1".to_owned()
                };
                body.push(format!(
                    "{mul}.left = {value}; {mul}.right = {other}; {mul}.go = {go}; {t}.in = {mul}.out;"
                ));
                body.extend(write(&format!("{mul}.done")));
            }
            7 => {
                let m = self.memory();
                let index = self.register(with);
                self.cell(&format!("s{with}"), "std_slice(8, 3)");
                body.push(format!(
                    "s{with}.in = {index}.out; {m}.addr0 = s{with}.out; {t}.in = {m}.read_data;"
                ));
                body.extend(always);
            }
            // Guarded.
            8 => {
                let cmp = format!("cmp{with}{lane}");

                self.cells.insert(cmp.clone(), format!("{}(8)", OPS[with]));
                body.push(format!(
                    "{cmp}.left = {value}; {cmp}.right = 8'd2; {t}.in = {cmp}.out ? {value}; {t}.in = !{cmp}.out ? 8'd9;"
                ));
                body.extend(always);
            }
            // Done at once if there is nothing to do.
            9 => {
                let cmp = format!("cmp{with}{lane}");
                self.cell(&cmp, &format!("{}(8)", OPS[with]));
                self.cell(&format!("not{with}{lane}"), "std_not(1)");
                self.cell(&format!("or{with}{lane}"), "std_or(1)");
                body.push(format!(
                    "{cmp}.left = {value}; {cmp}.right = 8'd2; {t}.in = 8'd{with}; {t}.write_en = {cmp}.out ? 1'd1; \
                     not{with}{lane}.in = {cmp}.out; or{with}{lane}.left = not{with}{lane}.out; or{with}{lane}.right = {t}.done; \
                     {name}[done] = or{with}{lane}.out;"
                ));
            }
            // One after the other.
            10 => {
                let u = self.register(to + 1);
                body.push(format!(
                    "{t}.in = {value}; {t}.write_en = !{t}.done ? 1'd1; {u}.in = {t}.out; {u}.write_en = {t}.done; \
                     {name}[done] = {u}.done;"
                ));
            }
            // Both at once, done with one of them.
            11 => {
                let u = self.register(to + 1);
                body.push(format!(
                    "{t}.in = {value}; {t}.write_en = 1'd1; {u}.in = 8'd{with}; {u}.write_en = 1'd1; {name}[done] = {u}.done;"
                ));
            }
            12 => {
                let s = "s_in";
                let when = if from % 2 == 0 { "s_in.done ? " } else { "" };
                self.cell(s, "seq_mem_d1(8, 8, 3)");
                body.push(format!(
                    "{s}.addr0 = 3'd{with}; {s}.content_en = 1'd1; {t}.in = {when}{s}.read_data; {t}.write_en = {s}.done; \
                     {name}[done] = {t}.done;"
                ));
            }
            13 => {
                let s = "s_in";
                self.cell(s, "seq_mem_d1(8, 8, 3)");
                body.push(format!(
                    "{s}.addr0 = 3'd{with}; {s}.content_en = 1'd1; {s}.write_en = 1'd1; {s}.write_data = {value}; \
                     {name}[done] = {s}.done;"
                ));
            }
            // What was read last.
            14 => {
                let s = "s_in";
                self.cell(s, "seq_mem_d1(8, 8, 3)");
                body.push(format!("{t}.in = {s}.read_data;"));
                body.extend(always);
            }
            // A result that stays.
            15 => {
                let mul = format!("mul{}{lane}", with % 3);
                self.cell(&mul, "std_mult_pipe(8)");
                if with < 5 {
                    body.push(format!(
                        "{mul}.left = {value}; {mul}.right = 8'd{with}; {mul}.go = !{mul}.done ? 1'd1; {name}[done] = {mul}.done;"
                    ));
                } else {
                    body.push(format!("{t}.in = {mul}.out;"));
                    body.extend(always);
                }
            }
            // A component, called by a group.
            16 => return self.called(act, &name, &t, &value),
            // A group that is run by another one.
            17 => {
                let inner = format!("a_{name}");
                self.group(
                    "group",
                    &inner,
                    &[format!(
                        "{t}.in = {value}; {t}.write_en = !{t}.done ? 1'd1; {inner}[done] = {t}.done;"
                    )],
                );
                body.push(format!(
                    "{inner}[go] = !{inner}[done] ? 1'd1; {name}[done] = {inner}[done];"
                ));
            }
            // Written in the cycle in which the group is done, if at all.
            18 => {
                let u = self.register(to + 1);
                body.push(format!(
                    "{u}.in = {value}; {u}.write_en = 1'd1; {t}.in = {u}.out; {t}.write_en = {u}.done; {name}[done] = {u}.done;"
                ));
            }
            // Through a wire that is driven all the time.
            19 => {
                let wire = format!("w{from}{lane}");
                self.cell(&wire, "std_wire(8)");
                self.groups
                    .insert(wire.clone(), format!("    {wire}.in = {value};\n"));
                body.push(format!("{t}.in = {wire}.out;"));
                body.extend(always);
            }
            // When it was written.
            20 => {
                let other = self.register(from);
                body.push(format!(
                    "{t}.in = {other}.done ? 8'd7; {t}.in = !{other}.done ? 8'd1;"
                ));
                body.extend(always);
            }
            // What runs by itself.
            21 => {
                self.cell("tick", "std_reg(8)");
                self.cell("ticks", "std_add(8)");
                let text = "    ticks.left = tick.out; ticks.right = 8'd1; tick.in = ticks.out; tick.write_en = 1'd1;\n";
                self.groups.insert("tick".to_owned(), text.to_owned());
                body.push(format!("{t}.in = tick.out;"));
                body.extend(always);
            }
            // What comes a cycle later.
            22 => {
                let late = format!("late{from}{lane}");
                self.cell(&late, "std_reg(8)");
                self.groups.insert(
                    late.clone(),
                    format!("    {late}.in = {value}; {late}.write_en = 1'd1;\n"),
                );
                body.push(format!("{t}.in = {late}.out;"));
                body.extend(always);
            }
            // With an address that is driven all the time.
            _ => {
                self.cell("fixed", "comb_mem_d1(8, 8, 3)");
                self.cell("at", "std_slice(8, 3)");
                let index = self.register(0);
                self.groups.insert(
                    "fixed".to_owned(),
                    format!("    at.in = {index}.out; fixed.addr0 = at.out;\n"),
                );
                if with < 4 {
                    body.push(format!("{t}.in = fixed.read_data;"));
                    body.extend(always);
                } else {
                    body.push(format!(
                        "fixed.write_data = {value}; fixed.write_en = 1'd1; {name}[done] = fixed.done;"
                    ));
                }
            }
        }
        self.enable(&name, &body);
    }

    /// Runs a component by its `go` and `done`.
    fn called(&mut self, act: &Act, name: &str, t: &str, value: &str) {
        let plain = (0..self.formals.len()).find(|at| self.formals[*at].is_empty());
        let Some(component) = plain else {
            return self.act(&Act {
                kind: 1,
                ..act.clone()
            });
        };
        let cell = format!("c{component}_{}", act.with % 2);
        self.cell(&cell, &format!("p{component}()"));
        let x = match act.with / 2 {
            0 => value.to_owned(),
            1 => format!("{t}.out"),
            2 => format!("{cell}.out"),
            _ => "8'd3".to_owned(),
        };
        let (write, done) = match act.with % 3 {
            0 => (format!("{cell}.done"), format!("{t}.done")),
            1 => ("1'd1".to_owned(), format!("{cell}.done")),
            _ => (String::new(), format!("{cell}.done")),
        };
        let mut body = vec![format!(
            "{cell}.x = {x}; {cell}.y = 8'd1; {cell}.go = !{cell}.done ? 1'd1;"
        )];
        if !write.is_empty() {
            body.push(format!("{t}.in = {cell}.out; {t}.write_en = {write};"));
        }
        body.push(format!("{name}[done] = {done};"));
        self.enable(name, &body);
    }
}
