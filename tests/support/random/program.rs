//! A random program: its text, with what its control comes to.

mod statics;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use petal_reconstruct::Overhead;

use super::shapes::{Shape, Test};

pub type StatementId = usize;

/// A statement of a program: the frame that stands for it, and the statement around it.
#[derive(Debug)]
pub struct Statement {
    pub label: String,
    pub parent: Option<StatementId>,
    /// `while` and `repeat`, but not `static repeat`.
    pub is_loop: bool,
    /// For a loop, how often its body ran.
    pub iterations: u64,
    /// How often it ran.
    pub times: u64,
    /// Whether each of its runs takes as long as any other: there is no `if` and no barrier in it.
    pub is_fixed: bool,
}

/// What runs in a state of a state machine.
#[derive(Debug, Clone)]
pub struct Step {
    pub statement: StatementId,
    /// Place in the program.
    pub order: usize,
    pub body: Body,
}

#[derive(Debug, Clone)]
pub enum Body {
    /// Groups for some cycles.
    Cycles(Vec<Cycle>),
    Par(Vec<Arm>),
}

#[derive(Debug, Clone)]
pub enum Arm {
    Group(Vec<Cycle>),
    Machine(StatementId, Vec<Step>),
}

/// One cycle of a program.
#[derive(Debug, Clone, Default)]
pub struct Cycle {
    /// Active groups, with the statement that runs each (an `if` or `while` for a condition).
    pub groups: BTreeSet<(String, StatementId)>,
    /// Whether one of them is not a condition.
    pub useful: bool,
    /// Whether state registers or par-done registers change.
    pub steps: bool,
    pub sets: bool,
    /// Who is charged, should it be overhead.
    pub charge: StatementId,
}

/// Writes a program down, and interprets it.
#[derive(Debug, Default)]
pub struct Program {
    pub statements: Vec<Statement>,
    pub outputs: Vec<String>,
    pub cells: String,
    pub wires: String,
    pub control: String,
    /// Number of the next line of `control`.
    pub line: usize,
    pub groups: usize,
    pub orders: usize,
    /// How many cycles each group takes, and for how many it ran in all.
    pub runs: BTreeMap<String, (u64, u64)>,
    /// Statements of the static program that is being written, with their runs and iterations in one run of it.
    pub static_runs: Vec<(StatementId, u64, u64)>,
    /// Barriers so far.
    pub barriers: usize,
    /// What the program does.
    pub steps: Vec<Step>,
}

/// What interpretation needs of a program that is written: all places, by the order of writing.
#[derive(Debug)]
pub enum Code {
    /// With the runs and iterations of static statements.
    Cycles(StatementId, usize, Vec<Cycle>, Vec<(StatementId, u64, u64)>),
    Seq(StatementId, Vec<Code>),
    Par(StatementId, usize, Vec<(StatementId, Code)>),
    If {
        statement: StatementId,
        /// The place of the group that computes the condition.
        with: Option<(usize, String)>,
        test: Test,
        then: Option<Box<Code>>,
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
    pub fn line(&mut self, text: &str) {
        self.control.push_str(text);
        self.control.push('\n');
        self.line += 1;
    }

    pub fn statement(&mut self, kind: &str, parent: Option<StatementId>) -> StatementId {
        self.statements.push(Statement {
            label: format!("{kind}@L{}", self.line),
            parent,
            is_loop: matches!(kind, "while" | "repeat"),
            iterations: 0,
            times: 0,
            is_fixed: true,
        });
        let id = self.statements.len() - 1;
        if kind.ends_with("if") {
            self.vary(id);
        }
        id
    }

    /// The runs of a statement, and of those around it, take different times.
    fn vary(&mut self, statement: StatementId) {
        let around: Vec<StatementId> = self.ancestry(statement).collect();
        for statement in around {
            self.statements[statement].is_fixed = false;
        }
    }

    pub fn order(&mut self) -> usize {
        self.orders += 1;
        self.orders
    }

    pub fn name(&mut self, prefix: &str) -> String {
        self.groups += 1;
        format!("{prefix}{}", self.groups)
    }

    /// A group that takes `cycles`, and the statement around it: registers that are written one
    /// after the other. The compiler does not look through the comparisons between them, so the
    /// group stays dynamic.
    pub fn group(&mut self, parent: StatementId, cycles: u64) -> Code {
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

    pub fn enable(&mut self, parent: StatementId, name: String, cycles: u64) -> Code {
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
    pub fn write(&mut self, parent: StatementId, register: &str, value: &str) -> Code {
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
    pub fn write_shape(
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
                let runs = std::mem::take(&mut self.static_runs);
                Code::Cycles(parent, order, cycles, runs)
            }
            Shape::Quick => {
                let parent = parent.expect("no program is a single group");
                let register = self.name("q");
                let _ = writeln!(self.cells, "    {register} = std_reg(1);");
                let _ = writeln!(self.wires, "    {register}_seen = {register}.out;");
                self.outputs.push(format!("{register}_seen: 1"));
                self.write(parent, &register, "1'd1")
            }
            Shape::Seq(parts) => {
                let id = self.statement("seq", parent);
                self.line("seq {");
                let parts = parts
                    .iter()
                    .map(|part| self.write_shape(part, Some(id), around))
                    .collect();
                self.line("}");
                Code::Seq(id, parts)
            }
            Shape::Meet(arms) => self.write_meet(arms, parent, around),
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
                let then = then.as_ref();
                let then = then.map(|shape| Box::new(self.write_shape(shape, Some(id), around)));
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

    fn write_meet(
        &mut self,
        arms: &[(Shape, Shape)],
        parent: Option<StatementId>,
        around: Option<&str>,
    ) -> Code {
        let id = self.statement("par", parent);
        let order = self.order();
        let barrier = self.barriers;
        self.barriers += 1;
        self.line("par {");
        let mut codes = Vec::new();
        for (before, after) in arms {
            let own = self.statement("seq", Some(id));
            // It waits for the other arms.
            self.vary(own);
            self.line("seq {");
            let before = self.write_shape(before, Some(own), around);
            self.line(&format!("@sync({barrier});"));
            let after = self.write_shape(after, Some(own), around);
            self.line("}");
            codes.push((own, Code::Seq(own, vec![before, after])));
        }
        self.line("}");
        Code::Par(id, order, codes)
    }

    pub fn write_while(
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
        let whole = Code::While {
            statement: id,
            times,
            with,
            body: Code::Seq(inner, vec![body, next]).into(),
        };
        Code::Seq(outer, vec![init, whole])
    }

    /// The condition as it is written: a port, or a port and a comb group, whose name is returned.
    pub fn condition(&mut self, with: bool, port: String) -> (String, Option<String>) {
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

    /// The program with its line numbers.
    pub fn numbered(&self) -> String {
        let first = self.line - self.control.lines().count();
        let lines = self.control.lines().zip(first..);
        let lines: Vec<String> = lines
            .map(|(line, number)| format!("{number:5} {line}"))
            .collect();
        lines.join("\n")
    }

    /// What `seen` should show in a cycle.
    pub fn expect(&self, cycle: &Cycle) -> (String, Vec<String>) {
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
                (true, true) => Overhead::FsmAndParDone,
                (true, false) => Overhead::FsmUpdate,
                (false, true) => Overhead::ParDone,
                (false, false) => Overhead::StaticWait,
            };
            format!("{} of {charge}", kind.title())
        };
        (activity, frames)
    }
}
