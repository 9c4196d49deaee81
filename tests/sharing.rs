//! Random programs in which much is shared: a group or comb group that several arms of a `par`,
//! conditions and loops use, static and dynamic, with barriers, behind `invoke`, in components with
//! several cells and with `ref` cells.
//!
//! Owns the promise that probes change nothing: a program with probes takes the cycles of the one
//! without, leaves the same in its memory, or fails alike; and all breakdowns of its profile add up.
//! Whether a call tree is right is `tests/random.rs`'s to tell.
//!
//! `PETAL_SEED=7 cargo test --test sharing` tries other programs. A failure is told as the smallest
//! program that fails so.

mod support;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use num_bigint::BigUint;
use petal_embedded::{Options, Simulation};
use petal_metadata::Metadata;
use petal_passes::{Design, Library, Pipeline, Program};
use petal_reconstruct::{Event, Overhead, ProbeSource, Reconstruction, check::Checker};
use petal_visualize::{Analysis, ControlView, Statement, Value, Weighting};
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

/// How many programs are tried.
const PROGRAMS: u32 = 100;

/// A program that has not finished by then is taken to hang.
const CYCLE_LIMIT: u64 = 2_000;

/// A control program. Numbers choose among what there is to choose from.
#[derive(Debug, Clone)]
enum Shape {
    Enable(usize),
    Static(StaticShape),
    Invoke(Call),
    Seq(Vec<Shape>),
    Par(Vec<Shape>),
    /// Two arms that do the same, one of them so many groups later.
    Twins(Box<Shape>, usize),
    /// Two arms that meet at the end of each iteration of a loop.
    Meet(usize, Box<(Shape, Shape)>),
    If(usize, Box<Shape>, Option<Box<Shape>>),
    While(usize, Box<Shape>),
    Repeat(u64, Box<Shape>),
}

#[derive(Debug, Clone)]
enum StaticShape {
    Enable(usize),
    Invoke(usize),
    Seq(Vec<StaticShape>),
    Par(Vec<StaticShape>),
    If(Box<(StaticShape, StaticShape)>),
    Repeat(u64, Box<StaticShape>),
}

/// An `invoke`.
#[derive(Debug, Clone)]
struct Call {
    component: usize,
    cell: usize,
    /// Which cells to pass for `ref` cells.
    actual: usize,
    /// Whether to invoke a `ref` cell.
    formal: bool,
    condition: Option<usize>,
}

/// Components, main last, and how to compile them.
#[derive(Debug, Clone)]
struct Random {
    bodies: Vec<Shape>,
    /// Whether the registers of main are stored. The compiler may share those that nobody reads.
    observed: bool,
    passes: Passes,
}

/// How to compile a program.
#[derive(Debug, Clone, Copy)]
enum Passes {
    All,
    /// `all` without some of its optimisations, a bit for each.
    Without(u32),
    NoOpt,
}

fn static_shape() -> impl Strategy<Value = StaticShape> {
    let leaf = prop_oneof![
        4 => (0..3usize).prop_map(StaticShape::Enable),
        1 => (0..2usize).prop_map(StaticShape::Invoke),
    ];
    leaf.prop_recursive(2, 5, 2, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            some().prop_map(StaticShape::Seq),
            some().prop_map(StaticShape::Par),
            (inner.clone(), inner.clone()).prop_map(|both| StaticShape::If(both.into())),
            (1..3u64, inner).prop_map(|(times, body)| StaticShape::Repeat(times, body.into())),
        ]
    })
}

fn call() -> impl Strategy<Value = Call> {
    let usual = prop_oneof![7 => Just(0usize), 1 => 1..3usize];
    let formal = prop::bool::weighted(0.2);
    let condition = prop::option::weighted(0.2, 0..3usize);
    (0..3usize, 0..2usize, usual, formal, condition).prop_map(
        |(component, cell, actual, formal, condition)| Call {
            component,
            cell,
            actual,
            formal,
            condition,
        },
    )
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        6 => (0..Group::ALL.len()).prop_map(Shape::Enable),
        1 => static_shape().prop_map(Shape::Static),
        2 => call().prop_map(Shape::Invoke),
    ];
    leaf.prop_recursive(4, 14, 3, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..4);
        let condition = 0..4usize;
        let otherwise = prop::option::of(inner.clone().prop_map(Box::new));
        prop_oneof![
            3 => some().prop_map(Shape::Seq),
            2 => some().prop_map(Shape::Par),
            3 => (inner.clone(), 0..4usize).prop_map(|(arm, later)| Shape::Twins(arm.into(), later)),
            2 => (condition.clone(), inner.clone(), inner.clone())
                .prop_map(|(condition, a, b)| Shape::Meet(condition, (a, b).into())),
            2 => (condition.clone(), inner.clone(), otherwise)
                .prop_map(|(condition, then, otherwise)| Shape::If(condition, then.into(), otherwise)),
            3 => (condition, inner.clone())
                .prop_map(|(condition, body)| Shape::While(condition, body.into())),
            1 => (1..3u64, inner).prop_map(|(times, body)| Shape::Repeat(times, body.into())),
        ]
    })
}

fn random() -> impl Strategy<Value = Random> {
    let bodies = prop::collection::vec(shape(), 1..4);
    let passes = prop_oneof![
        Just(Passes::All),
        any::<u32>().prop_map(Passes::Without),
        Just(Passes::NoOpt),
    ];
    (bodies, any::<bool>(), passes).prop_map(|(bodies, observed, passes)| Random {
        bodies,
        observed,
        passes,
    })
}

/// The groups that each component has. Every one has registers of its own, so that two different
/// ones may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Add,
    StaticAdd,
    Twice,
    StaticTwice,
    /// Counts for the conditions.
    Count,
    StaticCount,
    /// Keeps what was counted so far: tells who was first.
    Keep,
    Multiply,
    /// Runs another group.
    Calls,
    /// Drives `ref` cells, in components that may have some.
    RefAdd,
}

impl Group {
    const ALL: [Self; 10] = [
        Self::Add,
        Self::StaticAdd,
        Self::Twice,
        Self::StaticTwice,
        Self::Count,
        Self::StaticCount,
        Self::Keep,
        Self::Multiply,
        Self::Calls,
        Self::RefAdd,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::StaticAdd => "static_add",
            Self::Twice => "twice",
            Self::StaticTwice => "static_twice",
            Self::Count => "count",
            Self::StaticCount => "static_count",
            Self::Keep => "keep",
            Self::Multiply => "multiply",
            Self::Calls => "calls",
            Self::RefAdd => "ref_add",
        }
    }

    /// Its cells and the group itself.
    fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Add => (
                "a = std_reg(8); a_plus = std_add(8);",
                "group add { a_plus.left = a.out; a_plus.right = 8'd1; a.in = a_plus.out; \
                 a.write_en = 1'd1; add[done] = a.done; }",
            ),
            Self::StaticAdd => (
                "b = std_reg(8); b_plus = std_add(8);",
                "static<1> group static_add { b_plus.left = b.out; b_plus.right = 8'd1; \
                 b.in = b_plus.out; b.write_en = 1'd1; }",
            ),
            Self::Twice => (
                "c = std_reg(8); c_first = std_reg(8); c_plus = std_add(8);",
                "group twice { c_plus.left = c.out; c_plus.right = 8'd1; c_first.in = c_plus.out; \
                 c_first.write_en = !c_first.done ? 1'd1; c.in = c_first.out; \
                 c.write_en = c_first.done ? 1'd1; twice[done] = c.done; }",
            ),
            Self::StaticTwice => (
                "d = std_reg(8); d_first = std_reg(8); d_plus = std_add(8);",
                "static<2> group static_twice { d_plus.left = d.out; d_plus.right = 8'd1; \
                 d_first.in = d_plus.out; d_first.write_en = %0 ? 1'd1; d.in = d_first.out; \
                 d.write_en = %1 ? 1'd1; }",
            ),
            Self::Count => (
                "i = std_reg(8); i_plus = std_add(8);",
                "group count { i_plus.left = i.out; i_plus.right = 8'd1; i.in = i_plus.out; \
                 i.write_en = 1'd1; count[done] = i.done; }",
            ),
            Self::StaticCount => (
                "j = std_reg(8); j_plus = std_add(8);",
                "static<1> group static_count { j_plus.left = j.out; j_plus.right = 8'd1; \
                 j.in = j_plus.out; j.write_en = 1'd1; }",
            ),
            Self::Keep => (
                "k = std_reg(8); k_plus = std_add(8); k_odd = std_add(8);",
                "group keep { k_plus.left = i.out; k_plus.right = k_odd.out; k_odd.left = k.out; \
                 k_odd.right = k.out; k.in = k_plus.out; k.write_en = 1'd1; keep[done] = k.done; }",
            ),
            Self::Multiply => (
                "m = std_reg(8); m_times = std_mult_pipe(8);",
                "group multiply { m_times.left = i.out; m_times.right = 8'd3; \
                 m_times.go = !m_times.done ? 1'd1; m.in = m_times.out; \
                 m.write_en = m_times.done ? 1'd1; multiply[done] = m.done; }",
            ),
            Self::Calls => (
                "n = std_reg(8); n_plus = std_add(8);",
                "group called { n_plus.left = n.out; n_plus.right = 8'd1; n.in = n_plus.out; \
                 n.write_en = !n.done ? 1'd1; called[done] = n.done; }\n    \
                 group calls { called[go] = !called[done] ? 1'd1; calls[done] = called[done]; }",
            ),
            Self::RefAdd => (
                "",
                "group ref_add { plus.left = total.out; plus.right = x; total.in = plus.out; \
                 total.write_en = 1'd1; ref_add[done] = total.done; }",
            ),
        }
    }

    /// The register that tells how often it ran.
    fn register(self) -> Option<&'static str> {
        match self {
            Self::Add => Some("a"),
            Self::StaticAdd => Some("b"),
            Self::Twice => Some("c"),
            Self::StaticTwice => Some("d"),
            Self::Count => Some("i"),
            Self::StaticCount => Some("j"),
            Self::Keep => Some("k"),
            Self::Multiply => Some("m"),
            Self::Calls => Some("n"),
            Self::RefAdd => None,
        }
    }
}

/// The conditions that each component has: the port, the comb group if it is none that is computed
/// all the time, and what the condition counts by.
struct Condition {
    port: &'static str,
    comb: Option<&'static str>,
    counts: &'static [Group],
    cells: &'static str,
    wires: &'static str,
}

const CONDITIONS: [Condition; 4] = [
    Condition {
        port: "few.out",
        comb: Some("is_few"),
        counts: &[Group::Count],
        cells: "few = std_lt(8);",
        wires: "comb group is_few { few.left = i.out; few.right = 8'd3; }",
    },
    Condition {
        port: "less.out",
        comb: Some("is_less"),
        counts: &[Group::StaticCount],
        cells: "less = std_lt(8);",
        wires: "comb group is_less { less.left = j.out; less.right = 8'd2; }",
    },
    Condition {
        port: "any.out",
        comb: Some("is_any"),
        counts: &[Group::Count, Group::StaticCount],
        cells: "any = std_or(1); any_few = std_lt(8); any_less = std_lt(8);",
        wires: "comb group is_any { any.left = any_few.out; any.right = any_less.out; \
                any_few.left = i.out; any_few.right = 8'd2; \
                any_less.left = j.out; any_less.right = 8'd4; }",
    },
    Condition {
        port: "soon.out",
        comb: None,
        counts: &[Group::Count],
        cells: "soon = std_lt(8);",
        wires: "soon.left = i.out; soon.right = 8'd5;",
    },
];

/// A `ref` cell of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Formal {
    Total,
    Plus,
    Component(usize),
}

impl Formal {
    fn name(self) -> String {
        match self {
            Self::Total => "total".to_owned(),
            Self::Plus => "plus".to_owned(),
            Self::Component(component) => format!("formal{component}"),
        }
    }

    fn prototype(self) -> String {
        match self {
            Self::Total => "std_reg(8)".to_owned(),
            Self::Plus => "std_add(8)".to_owned(),
            Self::Component(component) => format!("p{component}()"),
        }
    }
}

/// Writes one component down.
struct Writer<'a> {
    /// The `ref` cells of the components before it.
    formals: &'a [BTreeSet<Formal>],
    is_main: bool,
    /// Whether the list of passes knows `repeat`.
    repeats: bool,
    groups: BTreeSet<Group>,
    conditions: BTreeSet<usize>,
    /// Names of cells, with their prototypes.
    cells: BTreeMap<String, String>,
    own_formals: BTreeSet<Formal>,
    /// Conditions around the statement: none may be computed twice at once.
    around: Vec<usize>,
    /// Only one `par` of a component can have barriers.
    met: bool,
    control: String,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.control, "    {text}");
    }

    fn block(&mut self, head: &str, write: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        write(self);
        self.line("}");
    }

    fn enable(&mut self, group: Group) {
        let group = match group {
            Group::RefAdd if self.is_main => Group::Add,
            group => group,
        };
        self.groups.insert(group);
        if group == Group::RefAdd {
            self.own_formals.extend([Formal::Total, Formal::Plus]);
        }
        self.line(&format!("{};", group.name()));
    }

    /// A condition that is not computed already, and how to ask for it.
    fn condition(&mut self, choice: usize) -> (usize, String) {
        let chosen = (choice..choice + CONDITIONS.len())
            .map(|at| at % CONDITIONS.len())
            .find(|at| CONDITIONS[*at].comb.is_none() || !self.around.contains(at))
            .expect("one needs no comb group");
        self.conditions.insert(chosen);
        let Condition { port, comb, .. } = CONDITIONS[chosen];
        let with = comb.map_or_else(String::new, |comb| format!(" with {comb}"));
        (chosen, format!("{port}{with}"))
    }

    fn below(&mut self, condition: usize, write: impl FnOnce(&mut Self)) {
        self.around.push(condition);
        write(self);
        self.around.pop();
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Enable(group) => self.enable(Group::ALL[*group]),
            Shape::Static(shape) => self.static_shape(shape),
            Shape::Invoke(call) => self.invoke(call),
            Shape::Seq(parts) => self.block("seq", |writer| {
                for part in parts {
                    writer.shape(part);
                }
            }),
            Shape::Par(arms) => self.block("par", |writer| {
                for arm in arms {
                    writer.shape(arm);
                }
            }),
            Shape::Twins(arm, later) => self.block("par", |writer| {
                writer.shape(arm);
                writer.block("seq", |writer| {
                    for _ in 0..*later {
                        writer.enable(Group::Add);
                    }
                    writer.shape(arm);
                });
            }),
            Shape::Meet(choice, arms) => self.meet(*choice, &arms.0, &arms.1),
            Shape::If(choice, then, otherwise) => {
                let (chosen, condition) = self.condition(*choice);
                self.below(chosen, |writer| {
                    writer.block(&format!("if {condition}"), |writer| writer.shape(then));
                    if let Some(otherwise) = otherwise {
                        writer.block("else", |writer| writer.shape(otherwise));
                    }
                });
            }
            Shape::While(choice, body) => {
                self.repeated(*choice, |writer| writer.shape(body), true, &[]);
            }
            Shape::Repeat(times, body) if self.repeats => {
                self.block(&format!("repeat {times}"), |writer| writer.shape(body));
            }
            Shape::Repeat(_, body) => self.shape(body),
        }
    }

    /// A loop that ends: what its condition depends on is counted in it, unless another arm does.
    fn repeated(
        &mut self,
        choice: usize,
        body: impl FnOnce(&mut Self),
        counts: bool,
        barriers: &[&str],
    ) {
        let (chosen, condition) = self.condition(choice);
        self.below(chosen, |writer| {
            writer.block(&format!("while {condition}"), |writer| {
                writer.block("seq", |writer| {
                    body(writer);
                    for group in CONDITIONS[chosen].counts.iter().filter(|_| counts) {
                        writer.enable(*group);
                    }
                    for barrier in barriers {
                        writer.line(barrier);
                    }
                });
            });
        });
    }

    fn meet(&mut self, choice: usize, first: &Shape, second: &Shape) {
        let meets = !std::mem::replace(&mut self.met, true);
        let barriers: &[&str] = if meets {
            &["@sync(1);", "@sync(2);"]
        } else {
            &[]
        };
        self.block("par", |writer| {
            writer.repeated(choice, |writer| writer.shape(first), true, barriers);
            writer.repeated(choice, |writer| writer.shape(second), !meets, barriers);
        });
    }

    fn invoke(&mut self, call: &Call) {
        if self.formals.is_empty() {
            return self.enable(Group::StaticAdd);
        }
        let component = call.component % self.formals.len();
        let cell = if call.formal && !self.is_main {
            self.formal(Formal::Component(component))
        } else {
            self.cell(Formal::Component(component), call.cell)
        };
        let actuals: Vec<String> = self.formals[component]
            .iter()
            .map(|formal| {
                let actual = if call.actual == 2 && !self.is_main {
                    self.formal(*formal)
                } else {
                    self.cell(*formal, call.cell + call.actual)
                };
                format!("{} = {actual}", formal.name())
            })
            .collect();
        let refs = if actuals.is_empty() {
            String::new()
        } else {
            format!("[{}]", actuals.join(", "))
        };
        let (port, with) = match call.condition.map(|choice| self.condition(choice).0) {
            None => ("1'd0", String::new()),
            Some(chosen) => {
                let Condition { port, comb, .. } = CONDITIONS[chosen];
                (
                    port,
                    comb.map_or_else(String::new, |comb| format!(" with {comb}")),
                )
            }
        };
        let number = call.cell + 1;
        self.line(&format!(
            "invoke {cell}{refs}(x = 8'd{number}, y = {port})(){with};"
        ));
    }

    fn formal(&mut self, formal: Formal) -> String {
        self.own_formals.insert(formal);
        formal.name()
    }

    fn cell(&mut self, kind: Formal, number: usize) -> String {
        let name = match kind {
            Formal::Component(component) => format!("c{component}_{}", number % 2),
            formal => format!("{}{}", formal.name(), number % 2),
        };
        self.cells.insert(name.clone(), kind.prototype());
        name
    }

    fn static_shape(&mut self, shape: &StaticShape) {
        match shape {
            StaticShape::Enable(group) => {
                let groups = [Group::StaticAdd, Group::StaticTwice, Group::StaticCount];
                self.enable(groups[*group]);
            }
            StaticShape::Invoke(number) => {
                self.cells
                    .insert(format!("s{number}"), "fixed()".to_owned());
                self.line(&format!("static<2> invoke s{number}(x = 8'd{number})();"));
            }
            StaticShape::Seq(parts) => self.block("static seq", |writer| {
                for part in parts {
                    writer.static_shape(part);
                }
            }),
            StaticShape::Par(arms) => self.block("static par", |writer| {
                for arm in arms {
                    writer.static_shape(arm);
                }
            }),
            StaticShape::If(branches) => {
                self.conditions.insert(3);
                self.block("static if soon.out", |writer| {
                    writer.static_shape(&branches.0);
                });
                self.block("else", |writer| writer.static_shape(&branches.1));
            }
            StaticShape::Repeat(times, body) => {
                self.block(&format!("static repeat {times}"), |writer| {
                    writer.static_shape(body);
                });
            }
        }
    }

    /// The component as a whole. Where it is `observed`, its registers decide about its output, or
    /// main stores them.
    fn finish(mut self, name: &str, observed: bool) -> (String, BTreeSet<Formal>) {
        // Some read the counters of others.
        self.groups.insert(Group::Count);
        if self
            .conditions
            .iter()
            .any(|at| CONDITIONS[*at].counts.contains(&Group::StaticCount))
        {
            self.groups.insert(Group::StaticCount);
        }
        let mut control = std::mem::take(&mut self.control);
        for group in [Group::Count, Group::StaticCount] {
            if self.groups.contains(&group) && !control.contains(&format!(" {};", group.name())) {
                self.enable(group);
            }
        }
        control.push_str(&std::mem::take(&mut self.control));
        let (mut cells, mut wires) = (String::new(), String::new());
        for (name, prototype) in &self.cells {
            let _ = writeln!(cells, "    {name} = {prototype};");
        }
        for formal in &self.own_formals {
            let _ = writeln!(cells, "    ref {} = {};", formal.name(), formal.prototype());
        }
        for group in &self.groups {
            let (needs, text) = group.text();
            let _ = writeln!(cells, "    {needs}");
            let _ = writeln!(wires, "    {text}");
        }
        for condition in &self.conditions {
            let Condition {
                cells: needs,
                wires: text,
                ..
            } = CONDITIONS[*condition];
            let _ = writeln!(cells, "    {needs}");
            let _ = writeln!(wires, "    {text}");
        }
        let mut registers: Vec<String> = Vec::new();
        if observed {
            let own = self.groups.iter().filter_map(|group| group.register());
            registers.extend(own.map(|register| format!("{register}.out")));
        }
        for (cell, prototype) in &self.cells {
            if !prototype.starts_with("std_add") {
                registers.push(format!("{cell}.out"));
            }
        }
        let ports = if self.is_main {
            cells.push_str("    @external memory = comb_mem_d1(8, 32, 5);\n");
            for (at, register) in registers.iter().enumerate() {
                let _ = writeln!(
                    wires,
                    "    group store{at} {{ memory.addr0 = 5'd{at}; memory.write_data = {register}; \
                     memory.write_en = 1'd1; store{at}[done] = memory.done; }}"
                );
                let _ = writeln!(control, "    store{at};");
            }
            "() -> ()"
        } else {
            let mut sum = "x".to_owned();
            for (at, register) in registers.iter().enumerate() {
                let _ = writeln!(cells, "    sum{at} = std_xor(8);");
                let _ = writeln!(
                    wires,
                    "    sum{at}.left = {sum}; sum{at}.right = {register};"
                );
                sum = format!("sum{at}.out");
            }
            let _ = writeln!(wires, "    out = {sum};");
            "(x: 8, y: 1) -> (out: 8)"
        };
        let text = format!(
            "component {name}{ports} {{\n  cells {{\n{cells}  }}\n  wires {{\n{wires}  }}\n  \
             control {{ seq {{\n{control}  }} }}\n}}\n"
        );
        (text, self.own_formals)
    }
}

const HEAD: &str = "import \"primitives/core.futil\";
import \"primitives/binary_operators.futil\";
import \"primitives/memories/comb.futil\";
import \"primitives/sync.futil\";
static<2> component fixed(x: 8) -> (out: 8) {
  cells { r = std_reg(8); plus = std_add(8); }
  wires {
    out = r.out;
    static<1> group more { plus.left = r.out; plus.right = x; r.in = plus.out; r.write_en = 1'd1; }
  }
  control { static seq { more; more; } }
}
";

impl Random {
    fn text(&self) -> String {
        // No pass of `no-opt` compiles it.
        let repeats = !matches!(self.passes, Passes::NoOpt);
        let mut text = HEAD.to_owned();
        let mut formals = Vec::new();
        for (at, shape) in self.bodies.iter().enumerate() {
            let is_main = at + 1 == self.bodies.len();
            let mut writer = Writer {
                formals: &formals,
                is_main,
                repeats,
                groups: BTreeSet::new(),
                conditions: BTreeSet::new(),
                cells: BTreeMap::new(),
                own_formals: BTreeSet::new(),
                around: Vec::new(),
                met: false,
                control: String::new(),
            };
            writer.shape(shape);
            let name = if is_main {
                "main".to_owned()
            } else {
                format!("p{at}")
            };
            let (component, own_formals) = writer.finish(&name, self.observed);
            formals.push(own_formals);
            text.push_str(&component);
        }
        text
    }

    /// The list of passes, and those of them to leave out.
    fn passes(&self) -> (&'static str, Vec<String>) {
        match self.passes {
            Passes::All => ("all", Vec::new()),
            Passes::NoOpt => ("no-opt", Vec::new()),
            Passes::Without(chosen) => {
                let left_out = OPTIMISATIONS.iter().enumerate();
                let left_out = left_out.filter(|(at, _)| chosen >> at & 1 == 1);
                ("all", left_out.map(|(_, &pass)| pass.to_owned()).collect())
            }
        }
    }
}

/// Passes of `all` that are not needed to compile anything.
const OPTIMISATIONS: [&str; 12] = [
    "collapse-control",
    "group2seq",
    "dead-assign-removal",
    "group2invoke",
    "infer-share",
    "comb-prop",
    "cell-share",
    "static-inference",
    "static-promotion",
    "dead-cell-removal",
    "simplify-static-guards",
    "add-guard",
];

/// What became of a program.
#[derive(Debug, PartialEq)]
enum Outcome {
    Refused(String),
    Ran {
        cycles: u64,
        /// Why it did not finish.
        stopped: Option<String>,
        memory: Option<std::collections::BTreeMap<u64, BigUint>>,
    },
}

impl Outcome {
    fn finished(&self) -> bool {
        matches!(self, Self::Ran { stopped: None, .. })
    }
}

fn ran(cycles: u64, simulation: &mut Simulation) -> Outcome {
    Outcome::Ran {
        cycles,
        stopped: simulation.stopped().map(ToString::to_string),
        memory: simulation.read_memory("memory"),
    }
}

fn simulation(
    design: &Design,
    signals: &[petal_reconstruct::Signal],
) -> Result<Simulation, String> {
    let options = Options {
        cycle_limit: CYCLE_LIMIT,
        partial: true,
        ..Options::default()
    };
    Simulation::new(design.program(), signals, options).map_err(|error| error.to_string())
}

fn plain(design: &Design) -> Result<Outcome, String> {
    let mut simulation = simulation(design, &[])?;
    let mut cycles = 0;
    while simulation.next_cycle().map_err(|error| error.to_string())? {
        cycles += 1;
    }
    Ok(ran(cycles, &mut simulation))
}

fn profiled(design: &Design, metadata: &Metadata) -> Result<Outcome, String> {
    let reconstruction = Reconstruction::new(metadata);
    let mut simulation = simulation(design, &reconstruction.signals().watched)?;
    let events = support::events(&reconstruction, &mut simulation, &"the program");
    let Some(&Event::End { cycles }) = events.last() else {
        return Err("the trace has no end".to_owned());
    };
    check_sums(metadata, &events, cycles)?;
    Ok(ran(cycles, &mut simulation))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> Result<(), String> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}, expected {wanted:?}"))
    }
}

/// Every call tree keeps the rules, and every breakdown adds up to the run.
fn check_sums(metadata: &Metadata, events: &[Event], cycles: u64) -> Result<(), String> {
    let mut checker = Checker::new(metadata);
    let mut analysis = Analysis::new(metadata, ControlView::Source);
    for event in events {
        checker
            .event(event)
            .map_err(|violation| violation.to_string())?;
        analysis.event(event);
    }
    same("cycles of the trace", &analysis.cycles(), &cycles)?;
    let (weight, unit) = analysis.flame(Weighting::Scaled).total();
    same("scaled flame graph", &weight, &(u128::from(cycles) * unit))?;
    let table = analysis.cells();
    let count = |name: &str, row: usize| match table.column(name).map(|column| column[row].clone())
    {
        Some(Value::Count(count)) => Ok(count),
        other => Err(format!("the cell table has {other:?} for {name}")),
    };
    for row in 0..table.rows().len() {
        let kinds = Overhead::ALL.map(|kind| kind.to_string().replace('-', " "));
        let parts = std::iter::once("useful").chain(kinds.iter().map(String::as_str));
        let sum: u64 = parts.map(|part| count(part, row)).sum::<Result<_, _>>()?;
        same("a row of the cell table", &sum, &count("cycles", row)?)?;
    }
    let ledger = analysis.ledger();
    let placed: u64 = ledger.statements.values().map(Statement::charged).sum();
    same(
        "charges",
        &(placed + ledger.unplaced),
        &ledger.total_overhead(),
    )
}

/// Compiles and runs a program without probes and with them.
fn check(
    text: &str,
    passes: &str,
    left_out: &[String],
    library: &Library,
    file: &Path,
) -> Result<Outcome, String> {
    std::fs::write(file, text).expect("the temporary folder can be written");
    let pipeline = Pipeline::parse(passes, left_out).expect("the passes are known");
    let read = || Program::read(file, library).map_err(|error| error.to_string());
    let refused = |error: petal_passes::PassesError| Outcome::Refused(error.to_string());
    let without = petal_passes::compile(read()?, &pipeline);
    let with = petal_passes::instrument(read()?, &pipeline);
    if let (Ok(without), Ok((with, _))) = (&without, &with) {
        same("structure", &with.structure, &without.structure)?;
    }
    let without = match without {
        Ok(design) => plain(&design)?,
        Err(error) => refused(error),
    };
    let with = match with {
        Ok((design, metadata)) => profiled(&design, &metadata)?,
        Err(error) => refused(error),
    };
    same("with probes", &with, &without)?;
    Ok(without)
}

#[test]
fn probes_change_nothing_where_much_is_shared() {
    let library = Library::new(&[]).expect("the library can be set up");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("random.futil");
    let config = ProptestConfig {
        cases: PROGRAMS,
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, support::rng());
    let (tried, finished) = (Cell::new(0), Cell::new(0));
    let first_failure = Cell::new(None);
    let result = runner.run(&random(), |program| {
        if first_failure.get().is_none() {
            tried.set(tried.get() + 1);
        }
        let text = program.text();
        let (passes, left_out) = program.passes();
        match check(&text, passes, &left_out, &library, &file) {
            Ok(outcome) => {
                finished.set(finished.get() + u32::from(outcome.finished()));
                Ok(())
            }
            Err(problem) => {
                first_failure.set(first_failure.get().or(Some(tried.get())));
                let left_out = left_out.join(",");
                let told = format!("{passes} without \"{left_out}\": {problem}\n{text}");
                Err(TestCaseError::fail(told))
            }
        }
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => {
            let number = first_failure.get().unwrap_or_default();
            panic!("program {number} fails; the smallest that does:\n{reason}");
        }
        Err(error) => panic!("{error}"),
    }
    let (tried, finished) = (tried.get(), finished.get());
    assert!(
        finished * 4 > tried * 3,
        "only {finished} of {tried} programs finished"
    );
}
