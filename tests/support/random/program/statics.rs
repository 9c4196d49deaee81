//! How static statements are written, and what they do in each of their cycles.

use std::fmt::Write as _;

use super::{Code, Cycle, Program, StatementId};
use crate::support::random::shapes::StaticShape;

impl Program {
    /// `runs` tells how often the part runs in one run of the whole static program.
    pub(super) fn write_static(
        &mut self,
        shape: &StaticShape,
        parent: StatementId,
        runs: u64,
    ) -> Vec<Cycle> {
        let idle = |charge| Cycle {
            charge,
            ..Cycle::default()
        };
        match shape {
            StaticShape::Group(cycles) | StaticShape::Idle(cycles) => {
                let name = self.name("s");
                let _ = writeln!(self.cells, "    {name}_reg = std_reg(1);");
                let _ = writeln!(
                    self.wires,
                    "    static<{cycles}> group {name} {{ {name}_reg.in = 1'd1; \
                     {name}_reg.write_en = 1'd1; }}"
                );
                // What nobody can read, the compiler removes.
                if matches!(shape, StaticShape::Group(_)) {
                    let _ = writeln!(self.wires, "    {name}_out = {name}_reg.out;");
                    self.outputs.push(format!("{name}_out: 1"));
                }
                self.line(&format!("{name};"));
                let Code::Cycles(_, _, cycles, _) = self.enable(parent, name, *cycles) else {
                    unreachable!("an enable has cycles");
                };
                cycles
            }
            StaticShape::Seq(parts) => {
                let id = self.statement("static seq", Some(parent));
                self.static_runs.push((id, runs, 0));
                self.line("static seq {");
                let cycles = parts
                    .iter()
                    .flat_map(|part| self.write_static(part, id, runs))
                    .collect();
                self.line("}");
                cycles
            }
            StaticShape::Par(arms) => {
                let id = self.statement("static par", Some(parent));
                self.static_runs.push((id, runs, 0));
                self.line("static par {");
                let arms: Vec<Vec<Cycle>> = arms
                    .iter()
                    .map(|arm| self.write_static(arm, id, runs))
                    .collect();
                self.line("}");
                let length = arms.iter().map(Vec::len).max().unwrap_or(0);
                (0..length)
                    .map(|at| {
                        let running: Vec<&Cycle> =
                            arms.iter().filter_map(|arm| arm.get(at)).collect();
                        let mut cycle = idle(match running[..] {
                            [only] => only.charge,
                            _ => id,
                        });
                        cycle.groups = running
                            .iter()
                            .flat_map(|cycle| cycle.groups.clone())
                            .collect();
                        cycle
                    })
                    .collect()
            }
            StaticShape::If(test, then, otherwise) => {
                let id = self.statement("static if", Some(parent));
                self.static_runs.push((id, runs, 0));
                let port = if *test { "yes.out" } else { "no.out" };
                self.line(&format!("static if {port} {{"));
                let then = self.write_static(then, id, if *test { runs } else { 0 });
                let otherwise = otherwise.as_ref().map_or_else(Vec::new, |otherwise| {
                    self.line("} else {");
                    self.write_static(otherwise, id, if *test { 0 } else { runs })
                });
                self.line("}");
                let length = then.len().max(otherwise.len());
                let mut cycles = if *test { then } else { otherwise };
                cycles.resize(length, idle(id));
                // Nobody can tell from the time alone which branch runs.
                for cycle in &mut cycles {
                    cycle.charge = id;
                }
                cycles
            }
            StaticShape::Repeat(times, body) => {
                let id = self.statement("static repeat", Some(parent));
                self.static_runs.push((id, runs, runs * times));
                self.line(&format!("static repeat {times} {{"));
                let body = self.write_static(body, id, runs * times);
                self.line("}");
                let times = usize::try_from(*times).expect("a few");
                (0..times).flat_map(|_| body.clone()).collect()
            }
        }
    }
}
