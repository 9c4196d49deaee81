//! Races in random programs. Who races with whom, the shape of the program tells: two groups do if both run and the innermost statement
//! around them is a `par`, unless a barrier is between them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::support::dice::Dice;
use crate::support::programs;
use crate::support::workshop::Workshop;

use super::{found, pairs};

/// How many registers and words are shared.
const SHARED: usize = 5;

pub(super) enum Shape {
    Group(usize),
    Seq(Vec<Shape>),
    Par(Vec<Shape>),
    /// Arms that wait for one another between their halves.
    Meet([[Box<Shape>; 2]; 2]),
    /// Whether it is taken, and if not, the number of its condition.
    If(Option<usize>, Box<Shape>, Box<Shape>),
    Repeat(u64, Box<Shape>),
    While(usize, Box<Shape>),
}

/// What a group does to something shared.
#[derive(Clone, Copy)]
struct Access {
    shared: usize,
    is_write: bool,
}

/// A program that grows.
pub(super) struct Program {
    pub dice: Dice,
    accesses: Vec<Option<Access>>,
    loops: usize,
    /// How many conditions are never true.
    untaken: usize,
    /// Who races: what for, and the groups.
    races: BTreeSet<(usize, [usize; 2])>,
}

impl Program {
    /// An empty one.
    pub fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            accesses: Vec::new(),
            loops: 0,
            untaken: 0,
            races: BTreeSet::new(),
        }
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.accesses.len()
    }

    pub fn shape(&mut self, depth: usize) -> Shape {
        let several = |own: &mut Self, least: usize| {
            let count = least + own.dice.below(2);
            (0..count).map(|_| own.shape(depth - 1)).collect()
        };
        match self.dice.below(if depth == 0 { 1 } else { 8 }) {
            0 => self.group(),
            1 | 2 => Shape::Seq(several(self, 2)),
            3 | 4 => Shape::Par(several(self, 2)),
            5 => {
                let test = self.dice.one_in(2).then(|| {
                    self.untaken += 1;
                    self.untaken
                });
                Shape::If(
                    test,
                    self.shape(depth - 1).into(),
                    self.shape(depth - 1).into(),
                )
            }
            6 => Shape::Repeat(2, self.shape(depth - 1).into()),
            _ => {
                self.loops += 1;
                Shape::While(self.loops, self.shape(depth - 1).into())
            }
        }
    }

    fn group(&mut self) -> Shape {
        let shared = self.dice.below(SHARED);
        let access = Access {
            shared,
            is_write: self.dice.one_in(3),
        };
        self.accesses.push((!self.dice.one_in(3)).then_some(access));
        Shape::Group(self.accesses.len() - 1)
    }

    /// All groups in a shape that run.
    fn groups(shape: &Shape) -> Vec<usize> {
        match shape {
            Shape::Group(group) => vec![*group],
            Shape::Seq(parts) | Shape::Par(parts) => parts.iter().flat_map(Self::groups).collect(),
            Shape::Meet(arms) => {
                let halves = arms.iter().flatten();
                halves.flat_map(|half| Self::groups(half)).collect()
            }
            Shape::If(test, then, other) => Self::groups(if test.is_none() { then } else { other }),
            Shape::Repeat(_, body) | Shape::While(_, body) => Self::groups(body),
        }
    }

    /// Finds the races in a shape that runs.
    fn find(&mut self, shape: &Shape) {
        match shape {
            Shape::Group(_) => {}
            Shape::Seq(parts) => parts.iter().for_each(|part| self.find(part)),
            Shape::Par(arms) => {
                for arm in arms {
                    self.find(arm);
                }
                self.cross(&arms.iter().map(Self::groups).collect::<Vec<_>>());
            }
            Shape::Meet(arms) => {
                arms.iter().flatten().for_each(|half| self.find(half));
                for half in 0..2 {
                    let halves = arms.iter().map(|arm| Self::groups(&arm[half]));
                    self.cross(&halves.collect::<Vec<_>>());
                }
            }
            Shape::If(test, then, other) => self.find(if test.is_none() { then } else { other }),
            Shape::Repeat(_, body) | Shape::While(_, body) => self.find(body),
        }
    }

    fn cross(&mut self, arms: &[Vec<usize>]) {
        for (at, arm) in arms.iter().enumerate() {
            for (&one, &other) in arm.iter().flat_map(|one| {
                arms[at + 1..]
                    .iter()
                    .flatten()
                    .map(move |other| (one, other))
            }) {
                if let (Some(a), Some(b)) = (self.accesses[one], self.accesses[other])
                    && a.shared == b.shared
                    && (a.is_write || b.is_write)
                {
                    let mut both = [one, other];
                    both.sort_unstable();
                    self.races.insert((a.shared, both));
                }
            }
        }
    }

    fn control(shape: &Shape, text: &mut String) {
        let all = |parts: &[Shape], text: &mut String| {
            for part in parts {
                Self::control(part, text);
            }
        };
        match shape {
            Shape::Group(group) => {
                let _ = writeln!(text, "g{group};");
            }
            Shape::Seq(parts) => {
                text.push_str("seq {\n");
                all(parts, text);
                text.push_str("}\n");
            }
            Shape::Par(parts) => {
                text.push_str("par {\n");
                all(parts, text);
                text.push_str("}\n");
            }
            Shape::Meet(arms) => {
                text.push_str("par {\n");
                for [before, after] in arms {
                    text.push_str("seq {\n");
                    Self::control(before, text);
                    text.push_str("@sync(1);\n");
                    Self::control(after, text);
                    text.push_str("}\n");
                }
                text.push_str("}\n");
            }
            Shape::If(test, then, other) => {
                let _ = match test {
                    None => writeln!(text, "if yes.out {{"),
                    Some(number) => writeln!(text, "if no{number}.out with none{number} {{"),
                };
                Self::control(then, text);
                text.push_str("} else {\n");
                Self::control(other, text);
                text.push_str("}\n");
            }
            Shape::Repeat(times, body) => {
                let _ = writeln!(text, "repeat {times} {{");
                Self::control(body, text);
                text.push_str("}\n");
            }
            Shape::While(number, body) => {
                let _ = writeln!(text, "seq {{ init{number}; while lt{number}.out {{ seq {{");
                Self::control(body, text);
                let _ = writeln!(text, "next{number}; }} }} }}");
            }
        }
    }

    /// Of the shared things, those with even numbers are registers, the others words of memories.
    fn text(&self, shape: &Shape) -> String {
        let (mut cells, mut wires) = (String::new(), String::new());
        for shared in 0..SHARED {
            let _ = if shared % 2 == 0 {
                writeln!(cells, "s{shared} = std_reg(8);")
            } else {
                writeln!(cells, "s{shared} = comb_mem_d1(8, 4, 2);")
            };
        }
        for (group, access) in self.accesses.iter().enumerate() {
            let _ = writeln!(cells, "w{group} = std_reg(8);");
            let own = match access {
                None => format!("w{group}.in = 8'd1;"),
                Some(Access { shared, is_write }) => {
                    let is_register = shared % 2 == 0;
                    match (is_register, is_write) {
                        (true, true) => format!(
                            "w{group}.in = 8'd1; s{shared}.in = 8'd7; s{shared}.write_en = 1'd1;"
                        ),
                        (true, false) => format!("w{group}.in = s{shared}.out;"),
                        (false, true) => format!(
                            "w{group}.in = 8'd1; s{shared}.addr0 = 2'd3; s{shared}.write_data = 8'd7; s{shared}.write_en = 1'd1;"
                        ),
                        (false, false) => {
                            format!("s{shared}.addr0 = 2'd3; w{group}.in = s{shared}.read_data;")
                        }
                    }
                }
            };
            let _ = writeln!(
                wires,
                "group g{group} {{ {own} w{group}.write_en = 1'd1; g{group}[done] = w{group}.done; }}"
            );
        }
        self.around(shape, cells, wires)
    }

    /// The program with these cells, and with these groups of it.
    pub fn around(&self, shape: &Shape, mut cells: String, mut wires: String) -> String {
        cells.push_str("yes = std_wire(1);\n");
        wires.push_str("yes.in = 1'd1;\n");
        for number in 1..=self.untaken {
            let _ = writeln!(cells, "no{number} = std_wire(1);");
            let _ = writeln!(wires, "comb group none{number} {{ no{number}.in = 1'd0; }}");
        }
        for number in 1..=self.loops {
            let _ = writeln!(
                cells,
                "i{number} = std_reg(4); lt{number} = std_lt(4); add{number} = std_add(4);"
            );
            let _ = writeln!(
                wires,
                "lt{number}.left = i{number}.out; lt{number}.right = 4'd2; add{number}.left = i{number}.out; add{number}.right = 4'd1;\n\
                 group init{number} {{ i{number}.in = 4'd0; i{number}.write_en = 1'd1; init{number}[done] = i{number}.done; }}\n\
                 group next{number} {{ i{number}.in = add{number}.out; i{number}.write_en = 1'd1; next{number}[done] = i{number}.done; }}"
            );
        }
        let mut control = String::new();
        Self::control(shape, &mut control);
        format!(
            "import \"primitives/core.futil\";\nimport \"primitives/memories/comb.futil\";\nimport \"primitives/sync.futil\";\n\
             component main() -> () {{\ncells {{\n{cells}}}\nwires {{\n{wires}}}\ncontrol {{\nseq {{\n{control}}}\n}}\n}}\n"
        )
    }
}

#[test]
fn all_seeded_races_are_found_and_no_others() {
    let workshop = Workshop::empty();
    let (mut racing, mut clean) = (0, 0);
    for seed in 0..programs(40) {
        let mut program = Program::new(seed);
        // The compiler can have one `par` with barriers, of two arms, which no other `par` comes after or is around.
        let shape = if seed % 3 == 0 {
            let mut half = || Box::new(program.shape(3));
            Shape::Meet([[half(), half()], [half(), half()]])
        } else {
            program.shape(4)
        };
        program.find(&shape);
        let text = program.text(&shape);
        workshop.write("random.futil", &text);
        let (code, found) = found(&workshop, &["random.futil"]);
        let expected: BTreeSet<(String, [String; 2])> = program
            .races
            .iter()
            .map(|(shared, groups)| {
                let mut groups = groups.map(|group| format!("g{group}"));
                groups.sort();
                (format!("main.s{shared}"), groups)
            })
            .collect();
        assert_eq!(pairs(&found), expected, "seed {seed}:\n{text}");
        assert_eq!(code, i32::from(!expected.is_empty()), "seed {seed}");
        assert_eq!(
            found["unknown"].as_array().map(Vec::len),
            Some(0),
            "seed {seed}"
        );
        *(if expected.is_empty() {
            &mut clean
        } else {
            &mut racing
        }) += 1;
    }
    assert!(
        racing > 5 && clean > 5,
        "{racing} with races, {clean} without"
    );
}
