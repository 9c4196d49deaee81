//! What Calyx's control semantics say that a program does, cycle by cycle.

use super::program::{Arm, Body, Code, Cycle, Program, StatementId, Step};
use super::shapes::Test;

impl Program {
    /// The steps of a program in the order in which they run.
    pub fn run(&mut self, code: &Code, odd: bool, steps: &mut Vec<Step>) {
        let tests = |statement: StatementId, order: usize, name: &str| Step {
            statement,
            order,
            body: Body::Cycles(vec![Cycle {
                groups: [(name.to_owned(), statement)].into(),
                charge: statement,
                ..Cycle::default()
            }]),
        };
        match code {
            Code::Cycles(statement, order, cycles, runs) => {
                self.count(cycles, runs);
                steps.push(Step {
                    statement: *statement,
                    order: *order,
                    body: Body::Cycles(cycles.clone()),
                });
            }
            Code::Seq(statement, parts) => {
                self.statements[*statement].times += 1;
                for part in parts {
                    self.run(part, odd, steps);
                }
            }
            Code::Par(statement, order, arms) => {
                self.statements[*statement].times += 1;
                let arms = arms
                    .iter()
                    .map(|(own, code)| match code {
                        Code::Cycles(_, _, cycles, runs) => {
                            self.count(cycles, runs);
                            Arm::Group(cycles.clone())
                        }
                        _ => {
                            let mut steps = Vec::new();
                            self.run(code, odd, &mut steps);
                            Arm::Machine(*own, steps)
                        }
                    })
                    .collect();
                steps.push(Step {
                    statement: *statement,
                    order: *order,
                    body: Body::Par(arms),
                });
            }
            Code::If {
                statement,
                with,
                test,
                then,
                otherwise,
            } => {
                self.statements[*statement].times += 1;
                if let Some((order, name)) = with {
                    steps.push(tests(*statement, *order, name));
                }
                let taken = match test {
                    Test::Always(taken) => *taken,
                    Test::Odd => odd,
                };
                if let Some(branch) = if taken { then } else { otherwise } {
                    self.run(branch, odd, steps);
                }
            }
            Code::While {
                statement,
                times,
                with,
                body,
            } => {
                self.statements[*statement].iterations += times;
                self.statements[*statement].times += 1;
                if let Some((first, _, name)) = with {
                    steps.push(tests(*statement, *first, name));
                }
                for iteration in 0..*times {
                    let odd = if self.statements[*statement].label.starts_with("while") {
                        iteration % 2 == 1
                    } else {
                        odd
                    };
                    self.run(body, odd, steps);
                    if let Some((_, again, name)) = with {
                        steps.push(tests(*statement, *again, name));
                    }
                }
            }
        }
    }

    fn count(&mut self, cycles: &[Cycle], runs: &[(StatementId, u64, u64)]) {
        for &(id, times, iterations) in runs {
            self.statements[id].times += times;
            self.statements[id].iterations += iterations;
        }
        for cycle in cycles {
            for (name, _) in &cycle.groups {
                self.runs.entry(name.clone()).or_default().1 += 1;
            }
        }
    }

    pub fn ancestry(&self, statement: StatementId) -> impl Iterator<Item = StatementId> + '_ {
        std::iter::successors(Some(statement), |&id| self.statements[id].parent)
    }

    pub fn common(&self, a: StatementId, b: StatementId) -> StatementId {
        self.ancestry(a)
            .find(|above| self.ancestry(b).any(|other| other == *above))
            .expect("both are in one program")
    }

    /// The cycles of a state machine for `whole`, up to the one in which it goes to its last state.
    pub fn machine(&self, whole: StatementId, steps: &[Step]) -> Vec<Cycle> {
        let mut cycles = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let is_par = match &step.body {
                Body::Cycles(own) => {
                    cycles.extend(own.clone());
                    false
                }
                Body::Par(arms) => {
                    cycles.extend(self.par(step.statement, arms));
                    true
                }
            };
            let charge = match steps.get(at + 1) {
                None => whole,
                Some(next) => {
                    let common = self.common(step.statement, next.statement);
                    let back = next.order <= step.order;
                    self.ancestry(common)
                        .find(|&id| back && self.statements[id].is_loop)
                        .unwrap_or(common)
                }
            };
            cycles.push(Cycle {
                steps: true,
                sets: is_par,
                charge,
                ..Cycle::default()
            });
        }
        cycles
    }

    /// The cycles of parallel arms, up to the one in which the last arm is seen to be done.
    pub fn par(&self, statement: StatementId, arms: &[Arm]) -> Vec<Cycle> {
        let arms: Vec<(bool, Vec<Cycle>)> = arms
            .iter()
            .map(|arm| match arm {
                Arm::Group(cycles) => (false, cycles.clone()),
                Arm::Machine(whole, steps) => (true, self.machine(*whole, steps)),
            })
            .collect();
        let length = arms.iter().map(|(_, arm)| arm.len()).max().unwrap_or(0);
        (0..=length)
            .map(|at| {
                let mut cycle = Cycle {
                    charge: statement,
                    ..Cycle::default()
                };
                for (machine, arm) in &arms {
                    if let Some(own) = arm.get(at) {
                        cycle.groups.extend(own.groups.clone());
                        cycle.useful |= own.useful;
                        cycle.steps |= own.steps;
                        cycle.sets |= own.sets;
                    } else if at == arm.len() {
                        cycle.sets = true;
                        cycle.steps |= machine;
                    }
                }
                let running = || arms.iter().filter(|(_, arm)| at < arm.len());
                let longest = running()
                    .find(|(_, arm)| at + 1 < arm.len())
                    .or_else(|| running().next());
                if let Some((_, arm)) = longest {
                    cycle.charge = arm[at].charge;
                }
                cycle
            })
            .collect()
    }
}
