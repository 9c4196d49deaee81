//! Random control programs against an interpreter of Calyx's control semantics that knows nothing
//! of petal.
//!
//! Under `no-opt` the interpreter tells for every cycle of a program which groups are active and
//! below which statements, and for every overhead cycle its kind and the statement to charge. Under
//! `all`, where the optimiser decides when things run, it tells how often and how long.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use petal_metadata::{Id, Metadata};
use petal_reconstruct::{Activity, CallTree, FrameLabels, InstanceId, Node, Overhead};
use petal_simulate::{Optimisation, Trace};
use petal_visualize::{Analysis, ControlView, Value};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use support::Traced;

/// What is generated: the shape of a control program.
#[derive(Debug, Clone)]
enum Shape {
    Group(u64),
    Static(StaticShape),
    Seq(Vec<Shape>),
    Par(Vec<Shape>),
    If {
        test: Test,
        with: bool,
        then: Box<Shape>,
        otherwise: Option<Box<Shape>>,
    },
    While {
        times: u64,
        with: bool,
        body: Box<Shape>,
    },
    Repeat {
        times: u64,
        body: Box<Shape>,
    },
}

#[derive(Debug, Clone)]
enum StaticShape {
    Group(u64),
    Seq(Vec<StaticShape>),
    Par(Vec<StaticShape>),
    If(bool, Box<StaticShape>, Box<StaticShape>),
    Repeat(u64, Box<StaticShape>),
}

/// The condition of an `if`.
#[derive(Debug, Clone, Copy)]
enum Test {
    Always(bool),
    /// Whether the innermost loop around it is in an odd iteration, counted from 0.
    Odd,
}

fn static_shape() -> impl Strategy<Value = StaticShape> {
    let group = (1..4u64).prop_map(StaticShape::Group);
    group.prop_recursive(2, 6, 3, |inner| {
        let some = || prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            some().prop_map(StaticShape::Seq),
            some().prop_map(StaticShape::Par),
            (any::<bool>(), inner.clone(), inner.clone()).prop_map(|(test, a, b)| StaticShape::If(
                test,
                a.into(),
                b.into()
            )),
            (2..4u64, inner).prop_map(|(times, body)| StaticShape::Repeat(times, body.into())),
        ]
    })
}

fn shape(repeats: bool) -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        4 => (1..5u64).prop_map(Shape::Group),
        1 => static_shape().prop_map(Shape::Static),
    ];
    leaf.prop_recursive(4, 16, 3, move |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..3);
        let test = prop_oneof![any::<bool>().prop_map(Test::Always), Just(Test::Odd)];
        prop_oneof![
            some().prop_map(started),
            prop::collection::vec(some(), 2..4)
                .prop_map(|arms| Shape::Par(arms.into_iter().map(arm).collect())),
            (
                test,
                any::<bool>(),
                inner.clone(),
                prop::option::of(inner.clone())
            )
                .prop_map(|(test, with, then, otherwise)| Shape::If {
                    test,
                    with,
                    then: then.into(),
                    otherwise: otherwise.map(Box::new),
                }),
            (1..4u64, any::<bool>(), inner.clone()).prop_map(|(times, with, body)| Shape::While {
                times,
                with,
                body: body.into(),
            }),
            (2..4u64, inner.clone()).prop_map(move |(times, body)| {
                let body = Box::new(body);
                if repeats {
                    Shape::Repeat { times, body }
                } else {
                    Shape::While {
                        times,
                        with: false,
                        body,
                    }
                }
            }),
        ]
    })
}

/// A sequence that begins with a group: what a state machine begins with is unconditional.
fn started(mut rest: Vec<Shape>) -> Shape {
    rest.insert(0, Shape::Group(1));
    Shape::Seq(rest)
}

/// An arm of a `par`: a group, or something with a state machine of its own.
fn arm(mut parts: Vec<Shape>) -> Shape {
    match &parts[..] {
        [Shape::Group(_)] => parts.remove(0),
        _ => started(parts),
    }
}

type StatementId = usize;

/// A statement of a program: the frame that stands for it, and the statement around it.
#[derive(Debug)]
struct Statement {
    label: String,
    parent: Option<StatementId>,
    /// `while` and `repeat`, but not `static repeat`.
    is_loop: bool,
    /// For a loop, how often its body ran.
    iterations: u64,
}

/// What runs in a state of a state machine.
#[derive(Debug, Clone)]
struct Step {
    statement: StatementId,
    /// Place in the program.
    order: usize,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    /// Groups for some cycles.
    Cycles(Vec<Cycle>),
    Par(Vec<Arm>),
}

#[derive(Debug, Clone)]
enum Arm {
    Group(Vec<Cycle>),
    Machine(StatementId, Vec<Step>),
}

/// One cycle of a program.
#[derive(Debug, Clone, Default)]
struct Cycle {
    /// Active groups, with the statement that runs each (an `if` or `while` for a condition).
    groups: BTreeSet<(String, StatementId)>,
    /// Whether one of them is not a condition.
    useful: bool,
    /// Whether state registers or par-done registers change.
    steps: bool,
    sets: bool,
    /// Who is charged, should it be overhead.
    charge: StatementId,
}

/// Writes a program down, and interprets it.
#[derive(Debug, Default)]
struct Program {
    statements: Vec<Statement>,
    outputs: Vec<String>,
    cells: String,
    wires: String,
    control: String,
    /// Number of the next line of `control`.
    line: usize,
    groups: usize,
    orders: usize,
    /// How many cycles each group takes, and for how many it ran in all.
    runs: BTreeMap<String, (u64, u64)>,
    /// Static loops of the static program that is being written, with their iterations.
    static_loops: Vec<(StatementId, u64)>,
    /// What the program does.
    steps: Vec<Step>,
}

/// What interpretation needs of a program that is written: all places, by the order of writing.
#[derive(Debug)]
enum Code {
    /// With the iterations of static loops.
    Cycles(StatementId, usize, Vec<Cycle>, Vec<(StatementId, u64)>),
    Seq(Vec<Code>),
    Par(StatementId, usize, Vec<(StatementId, Code)>),
    If {
        statement: StatementId,
        /// The place of the group that computes the condition.
        with: Option<(usize, String)>,
        test: Test,
        then: Box<Code>,
        otherwise: Option<Box<Code>>,
    },
    While {
        statement: StatementId,
        times: u64,
        /// The places of the group that computes the condition, before and after the body.
        with: Option<(usize, usize, String)>,
        body: Box<Code>,
    },
}

impl Program {
    fn line(&mut self, text: &str) {
        self.control.push_str(text);
        self.control.push('\n');
        self.line += 1;
    }

    fn statement(&mut self, kind: &str, parent: Option<StatementId>) -> StatementId {
        self.statements.push(Statement {
            label: format!("{kind}@L{}", self.line),
            parent,
            is_loop: matches!(kind, "while" | "repeat"),
            iterations: 0,
        });
        self.statements.len() - 1
    }

    fn order(&mut self) -> usize {
        self.orders += 1;
        self.orders
    }

    fn name(&mut self, prefix: &str) -> String {
        self.groups += 1;
        format!("{prefix}{}", self.groups)
    }

    /// A group that takes `cycles`, and the statement around it: registers that are written one
    /// after the other. The compiler does not look through the comparisons between them, so the
    /// group stays dynamic.
    fn group(&mut self, parent: StatementId, cycles: u64) -> Code {
        let name = self.name("g");
        let mut body = String::new();
        let mut before = "1'd1".to_owned();
        for step in 1..=cycles {
            let (register, done) = (format!("{name}_r{step}"), format!("{name}_d{step}"));
            let _ = writeln!(
                self.cells,
                "    {register} = std_reg(1); {done} = std_eq(1);"
            );
            let _ = writeln!(
                self.wires,
                "    {done}.left = {register}.done; {done}.right = 1'd1;"
            );
            let _ = write!(
                body,
                "{register}.in = 1'd1; {register}.write_en = {before}; "
            );
            before = format!("{done}.out");
        }
        let _ = writeln!(
            self.wires,
            "    group {name} {{ {body}{name}[done] = {before}; }}"
        );
        self.line(&format!("{name};"));
        self.enable(parent, name, cycles)
    }

    fn enable(&mut self, parent: StatementId, name: String, cycles: u64) -> Code {
        let cycle_name = name.clone();
        let cycle = Cycle {
            groups: [(name, parent)].into(),
            useful: true,
            charge: parent,
            ..Cycle::default()
        };
        self.runs.insert(cycle_name, (cycles, 0));
        let count = usize::try_from(cycles).expect("a few");
        Code::Cycles(parent, self.order(), vec![cycle; count], Vec::new())
    }

    /// A group that writes a register.
    fn write(&mut self, parent: StatementId, register: &str, value: &str) -> Code {
        let name = self.name("w");
        let _ = writeln!(
            self.wires,
            "    group {name} {{ {register}.in = {value}; {register}.write_en = 1'd1; \
             {name}[done] = {register}.done; }}"
        );
        self.line(&format!("{name};"));
        self.enable(parent, name, 1)
    }

    /// `around` names the innermost loop around the program: its counter.
    fn write_shape(
        &mut self,
        shape: &Shape,
        parent: Option<StatementId>,
        around: Option<&str>,
    ) -> Code {
        match shape {
            Shape::Group(cycles) => {
                let parent = parent.expect("no program is a single group");
                self.group(parent, *cycles)
            }
            Shape::Static(shape) => {
                let parent = parent.expect("no program is all static");
                let mut cycles = self.write_static(shape, parent, 1);
                for cycle in &mut cycles {
                    cycle.useful = !cycle.groups.is_empty();
                }
                let order = self.order();
                let loops = std::mem::take(&mut self.static_loops);
                Code::Cycles(parent, order, cycles, loops)
            }
            Shape::Seq(parts) => {
                let id = self.statement("seq", parent);
                self.line("seq {");
                let parts = parts
                    .iter()
                    .map(|part| self.write_shape(part, Some(id), around))
                    .collect();
                self.line("}");
                Code::Seq(parts)
            }
            Shape::Par(arms) => {
                let id = self.statement("par", parent);
                let order = self.order();
                self.line("par {");
                let arms = arms
                    .iter()
                    .map(|arm| {
                        let statement = self.statements.len();
                        (statement, self.write_shape(arm, Some(id), around))
                    })
                    .collect();
                self.line("}");
                Code::Par(id, order, arms)
            }
            Shape::If {
                test,
                with,
                then,
                otherwise,
            } => {
                let id = self.statement("if", parent);
                let test = match (test, around) {
                    (Test::Odd, None) => Test::Always(true),
                    (test, _) => *test,
                };
                let port = match (test, around) {
                    (Test::Always(true), _) => "yes.out".to_owned(),
                    (Test::Odd, Some(counter)) => format!("{counter}_odd.out"),
                    _ => "no.out".to_owned(),
                };
                let (port, with) = self.condition(*with, port);
                let with = with.map(|name| (self.order(), name));
                self.line(&format!("if {port} {{"));
                let then = self.write_shape(then, Some(id), around).into();
                let otherwise = otherwise.as_ref().map(|shape| {
                    self.line("} else {");
                    Box::new(self.write_shape(shape, Some(id), around))
                });
                self.line("}");
                Code::If {
                    statement: id,
                    with,
                    test,
                    then,
                    otherwise,
                }
            }
            Shape::While { times, with, body } => self.write_while(*times, *with, body, parent),
            Shape::Repeat { times, body } => {
                let id = self.statement("repeat", parent);
                self.line(&format!("repeat {times} {{"));
                let body = self.write_shape(body, Some(id), around).into();
                self.line("}");
                Code::While {
                    statement: id,
                    times: *times,
                    with: None,
                    body,
                }
            }
        }
    }

    fn write_while(
        &mut self,
        times: u64,
        with: bool,
        body: &Shape,
        parent: Option<StatementId>,
    ) -> Code {
        let counter = self.name("i");
        let _ = writeln!(
            self.cells,
            "    {counter} = std_reg(4); {counter}_next = std_add(4); {counter}_lt = \
             std_lt(4); {counter}_odd = std_slice(4, 1);"
        );
        let _ = writeln!(
            self.wires,
            "    {counter}_next.left = {counter}.out; {counter}_next.right = 4'd1; \
             {counter}_lt.left = {counter}.out; {counter}_lt.right = 4'd{times}; \
             {counter}_odd.in = {counter}.out;"
        );
        let outer = self.statement("seq", parent);
        self.line("seq {");
        let init = self.write(outer, &counter, "4'd0");
        let id = self.statement("while", Some(outer));
        let (port, with) = self.condition(with, format!("{counter}_lt.out"));
        let first = self.order();
        self.line(&format!("while {port} {{"));
        let inner = self.statement("seq", Some(id));
        self.line("seq {");
        let body = self.write_shape(body, Some(inner), Some(&counter));
        let next = self.write(inner, &counter, &format!("{counter}_next.out"));
        self.line("}");
        self.line("}");
        self.line("}");
        let with = with.map(|name| (first, self.order(), name));
        Code::Seq(vec![
            init,
            Code::While {
                statement: id,
                times,
                with,
                body: Code::Seq(vec![body, next]).into(),
            },
        ])
    }

    /// The condition as it is written: a port, or a port and a comb group, whose name is returned.
    fn condition(&mut self, with: bool, port: String) -> (String, Option<String>) {
        if !with {
            return (port, None);
        }
        let name = self.name("c");
        let _ = writeln!(self.cells, "    {name}_wire = std_wire(1);");
        let _ = writeln!(
            self.wires,
            "    comb group {name} {{ {name}_wire.in = {port}; }}"
        );
        (format!("{name}_wire.out with {name}"), Some(name))
    }

    /// `runs` tells how often the part runs in one run of the whole static program.
    fn write_static(&mut self, shape: &StaticShape, parent: StatementId, runs: u64) -> Vec<Cycle> {
        let idle = |charge| Cycle {
            charge,
            ..Cycle::default()
        };
        match shape {
            StaticShape::Group(cycles) => {
                let name = self.name("s");
                let _ = writeln!(self.cells, "    {name}_reg = std_reg(1);");
                let _ = writeln!(
                    self.wires,
                    "    static<{cycles}> group {name} {{ {name}_reg.in = 1'd1; \
                     {name}_reg.write_en = 1'd1; }} {name}_out = {name}_reg.out;"
                );
                // What nobody can read, the compiler removes.
                self.outputs.push(format!("{name}_out: 1"));
                self.line(&format!("{name};"));
                let Code::Cycles(_, _, cycles, _) = self.enable(parent, name, *cycles) else {
                    unreachable!("an enable has cycles");
                };
                cycles
            }
            StaticShape::Seq(parts) => {
                let id = self.statement("static seq", Some(parent));
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
                let port = if *test { "yes.out" } else { "no.out" };
                self.line(&format!("static if {port} {{"));
                let then = self.write_static(then, id, if *test { runs } else { 0 });
                self.line("} else {");
                let otherwise = self.write_static(otherwise, id, if *test { 0 } else { runs });
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
                self.line(&format!("static repeat {times} {{"));
                let body = self.write_static(body, id, runs * times);
                self.line("}");
                self.static_loops.push((id, runs * times));
                let times = usize::try_from(*times).expect("a few");
                (0..times).flat_map(|_| body.clone()).collect()
            }
        }
    }

    /// The steps of a program in the order in which they run.
    fn run(&mut self, code: &Code, odd: bool, steps: &mut Vec<Step>) {
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
            Code::Cycles(statement, order, cycles, loops) => {
                self.count(cycles);
                for &(id, iterations) in loops {
                    self.statements[id].iterations += iterations;
                }
                steps.push(Step {
                    statement: *statement,
                    order: *order,
                    body: Body::Cycles(cycles.clone()),
                });
            }
            Code::Seq(parts) => {
                for part in parts {
                    self.run(part, odd, steps);
                }
            }
            Code::Par(statement, order, arms) => {
                let arms = arms
                    .iter()
                    .map(|(own, code)| match code {
                        Code::Cycles(_, _, cycles, _) => {
                            self.count(cycles);
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
                if let Some((order, name)) = with {
                    steps.push(tests(*statement, *order, name));
                }
                let taken = match test {
                    Test::Always(taken) => *taken,
                    Test::Odd => odd,
                };
                if taken {
                    self.run(then, odd, steps);
                } else if let Some(otherwise) = otherwise {
                    self.run(otherwise, odd, steps);
                }
            }
            Code::While {
                statement,
                times,
                with,
                body,
            } => {
                self.statements[*statement].iterations += times;
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

    fn count(&mut self, cycles: &[Cycle]) {
        for cycle in cycles {
            for (name, _) in &cycle.groups {
                self.runs.entry(name.clone()).or_default().1 += 1;
            }
        }
    }

    fn ancestry(&self, statement: StatementId) -> impl Iterator<Item = StatementId> + '_ {
        std::iter::successors(Some(statement), |&id| self.statements[id].parent)
    }

    fn common(&self, a: StatementId, b: StatementId) -> StatementId {
        self.ancestry(a)
            .find(|above| self.ancestry(b).any(|other| other == *above))
            .expect("both are in one program")
    }

    /// The cycles of a state machine for `whole`, up to the one in which it goes to its last state.
    fn machine(&self, whole: StatementId, steps: &[Step]) -> Vec<Cycle> {
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
    fn par(&self, statement: StatementId, arms: &[Arm]) -> Vec<Cycle> {
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

    /// The program with its line numbers.
    fn numbered(&self) -> String {
        let first = self.line - self.control.lines().count();
        let lines = self.control.lines().zip(first..);
        let lines: Vec<String> = lines
            .map(|(line, number)| format!("{number:5} {line}"))
            .collect();
        lines.join("\n")
    }

    /// What `seen` should show in a cycle.
    fn expect(&self, cycle: &Cycle) -> (String, Vec<String>) {
        let mut frames: Vec<String> = cycle
            .groups
            .iter()
            .map(|(group, around)| {
                let mut path: Vec<&str> = self
                    .ancestry(*around)
                    .map(|id| self.statements[id].label.as_str())
                    .collect();
                path.reverse();
                path.push(group);
                path.join(";")
            })
            .collect();
        frames.sort();
        let charge = &self.statements[cycle.charge].label;
        let activity = if cycle.useful {
            "useful".to_owned()
        } else if !cycle.groups.is_empty() {
            "condition".to_owned()
        } else {
            let kind = match (cycle.steps, cycle.sets) {
                (true, true) => Overhead::Both,
                (true, false) => Overhead::FsmUpdate,
                (false, true) => Overhead::ParDone,
                (false, false) => Overhead::StaticWait,
            };
            format!("{kind} of {charge}")
        };
        (activity, frames)
    }
}

/// What a call tree shows of one component cell, as `Program::expect` writes it: its activity, and
/// the groups in it.
fn seen(
    traced: &Traced,
    labels: &FrameLabels,
    tree: &CallTree,
    instance: InstanceId,
) -> Option<(String, Vec<String>)> {
    let (cell, activity) = tree.nodes().find_map(|(id, node)| match node {
        Node::Cell {
            instance: own,
            activity,
            ..
        } if own == instance => Some((id, activity)),
        _ => None,
    })?;
    let mut frames = Vec::new();
    for (id, node) in tree.nodes() {
        let path = tree.path(id);
        let Some(at) = path.iter().position(|&above| above == cell) else {
            continue;
        };
        if let Node::Group { .. } = node {
            let path: Vec<&str> = path[at + 1..]
                .iter()
                .map(|&above| labels.label(tree.node(above), &[]))
                .collect();
            frames.push(path.join(";"));
        }
    }
    frames.sort();
    let activity = match activity {
        Activity::Useful => "useful".to_owned(),
        Activity::Condition => "condition".to_owned(),
        Activity::Overhead(charge) => {
            let component = traced.instances[instance.index()].component;
            labels.charge(component, charge)
        }
    };
    Some((activity, frames))
}

/// The instance of a program's component.
fn instance_of(metadata: &Metadata, traced: &Traced, program: usize) -> InstanceId {
    let name = format!("p{program}");
    let at = traced
        .instances
        .iter()
        .position(|instance| metadata.component(instance.component).name == name);
    InstanceId::from_index(at.expect("main has a cell of it"))
}

const HEAD: &str = "import \"primitives/core.futil\";\n";

/// Random programs, one component for each, and a main that invokes them one after the other.
fn design(repeats: bool, count: usize) -> (String, Vec<Program>) {
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), support::rng());
    let strategy = shape(repeats);
    let mut text = HEAD.to_owned();
    let mut programs = Vec::new();
    for number in 0..count {
        let shape = strategy
            .new_tree(&mut runner)
            .expect("nothing is rejected")
            .current();
        let shape = started(vec![shape, Shape::Group(1)]);
        let mut program = Program {
            line: text.lines().count() + 5,
            ..Program::default()
        };
        let code = program.write_shape(&shape, None, None);
        let _ = write!(
            text,
            "component p{number}() -> ({}) {{\n  cells {{ yes = std_wire(1); no = std_wire(1); \
             {} }}\n  wires {{ yes.in = 1'd1; no.in = 1'd0; {} }}\n  control {{\n{}  }}\n}}\n",
            program.outputs.join(", "),
            program.cells.replace('\n', " "),
            program.wires.replace('\n', " "),
            program.control
        );
        let mut steps = Vec::new();
        program.run(&code, false, &mut steps);
        program.steps = steps;
        programs.push(program);
    }
    text.push_str("component main() -> () {\n  cells {");
    for number in 0..count {
        let _ = write!(text, " c{number} = p{number}();");
    }
    text.push_str(" }\n  wires { }\n  control { seq {");
    for number in 0..count {
        let _ = write!(text, " invoke c{number}()();");
    }
    text.push_str(" } }\n}\n");
    (text, programs)
}

fn profile(text: &str, passes: &str) -> (Metadata, Traced) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("random.futil");
    std::fs::write(&file, text).expect("the temporary folder can be written");
    let (compiled, metadata) = support::instrument(&file, passes);
    let simulated = support::simulate(&file, &compiled, Trace::Vcd, Optimisation::Debug);
    let vcd = simulated.vcd.as_deref().expect("it was traced");
    let traced = support::reconstruct(&metadata, vcd);
    let (_, events) = support::embedded(&file, &compiled, &metadata);
    assert!(
        events == traced.events,
        "the embedded simulator makes another trace than Verilator"
    );
    (metadata, traced)
}

#[test]
fn every_cycle_of_a_program_is_as_interpreted() {
    let (text, programs) = design(false, 40);
    let (metadata, traced) = profile(&text, "no-opt");
    let labels = FrameLabels::new(&metadata);
    for (number, program) in programs.iter().enumerate() {
        let instance = instance_of(&metadata, &traced, number);
        let expected: Vec<_> = program
            .machine(0, &program.steps)
            .iter()
            .map(|cycle| program.expect(cycle))
            .collect();
        let found: Vec<_> = traced
            .runs
            .iter()
            .filter_map(|run| {
                let tree = &traced.trees[run.tree.index()];
                let line = seen(&traced, &labels, tree, instance)?;
                Some(vec![line; usize::try_from(run.cycles).expect("few cycles")])
            })
            .flatten()
            .collect();
        if expected != found {
            let at = expected
                .iter()
                .zip(&found)
                .position(|(a, b)| a != b)
                .unwrap_or(expected.len().min(found.len()));
            panic!(
                "cycle {at} of p{number}:\n  expected {:?}\n  found    {:?}\n{}",
                expected.get(at),
                found.get(at),
                program.numbered()
            );
        }
    }
}

#[test]
fn groups_and_loops_run_as_often_as_interpreted() {
    let (text, programs) = design(true, 40);
    let (metadata, traced) = profile(&text, "all");
    let mut analysis = Analysis::new(&metadata, ControlView::Source);
    for event in &traced.events {
        analysis.event(event);
    }
    let labels = FrameLabels::new(&metadata);
    for (number, program) in programs.iter().enumerate() {
        let known: BTreeSet<String> = program
            .machine(0, &program.steps)
            .iter()
            .flat_map(|cycle| program.expect(cycle).1)
            .collect();
        let instance = instance_of(&metadata, &traced, number);
        let found: BTreeSet<String> = traced
            .trees
            .iter()
            .filter_map(|tree| seen(&traced, &labels, tree, instance))
            .flat_map(|(_, frames)| frames)
            .filter(|frame| !frame.ends_with(" (compiler)"))
            .collect();
        assert_eq!(found, known, "groups of p{number}\n{}", program.numbered());
    }
    let table = analysis.statements();
    let column = |name: &str| table.column(name).expect("the table has the column");
    let (components, statements) = (column("component"), column("statement"));
    let (entered, cycles) = (column("times entered"), column("cycles"));
    let iterations = column("iterations");
    for (number, program) in programs.iter().enumerate() {
        let component = Value::Text(format!("p{number}"));
        for row in (0..table.rows().len()).filter(|&row| *components[row] == component) {
            let Value::Text(name) = statements[row] else {
                panic!("a statement has a name");
            };
            if let Some(&(latency, total)) = program.runs.get(name) {
                let expected = (Value::Count(total / latency), Value::Count(total));
                let found = (entered[row].clone(), cycles[row].clone());
                assert_eq!(
                    found,
                    expected,
                    "{name} of p{number}: times, cycles\n{}",
                    program.numbered()
                );
            }
            let known = program.statements.iter().find(|known| known.label == *name);
            if let (Some(known), Value::Count(_)) = (known, iterations[row]) {
                assert_eq!(
                    *iterations[row],
                    Value::Count(known.iterations),
                    "iterations of {name} of p{number}\n{}",
                    program.numbered()
                );
            }
        }
    }
}
