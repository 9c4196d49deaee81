//! A component of a random program as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::parts::{CONDITIONS, Condition, Formal, Group};
use super::{Call, Shape, StaticShape};

/// Writes one component down.
pub struct Writer<'a> {
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

impl<'a> Writer<'a> {
    pub fn new(formals: &'a [BTreeSet<Formal>], is_main: bool, repeats: bool) -> Self {
        Self {
            formals,
            is_main,
            repeats,
            groups: BTreeSet::new(),
            conditions: BTreeSet::new(),
            cells: BTreeMap::new(),
            own_formals: BTreeSet::new(),
            around: Vec::new(),
            met: false,
            control: String::new(),
        }
    }

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

    pub fn shape(&mut self, shape: &Shape) {
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
    pub fn finish(mut self, name: &str, observed: bool) -> (String, BTreeSet<Formal>) {
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

/// What all programs begin with.
pub const HEAD: &str = "import \"primitives/core.futil\";
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
