//! Registers that the compiler shares never show another variable's value.
//!
//! Random programs have a register for each variable, which stays in scope until the end, though its register may hold others
//! by then. What each variable is in each cycle is worked out from the order in which the groups ran, with plain arithmetic; of the
//! compiler's work only which registers are one in hardware is taken from the metadata.
//! `PETAL_SEED=7 PETAL_PROGRAMS=1000 cargo test --test fast variables` tries other programs, and more.

use std::collections::HashMap;
use std::fmt::Write as _;

use petal_metadata::Metadata;
use serde_json::Value as Json;

use super::values;
use crate::support::dice::Dice;
use crate::support::programs;
use crate::support::workshop::Workshop;

/// `to := left + add`, or `to := left + right` where there is another one.
struct Statement {
    to: usize,
    left: usize,
    right: Option<usize>,
    add: u8,
}

struct Program {
    variables: usize,
    statements: Vec<Statement>,
    /// How often all after the first so many statements run.
    repeats: usize,
    head: usize,
}

impl Program {
    fn random(dice: &mut Dice) -> Self {
        let variables = 3 + dice.below(6);
        let count = variables + dice.below(8);
        let mut known = 0;
        let statements = (0..count).map(|_| {
            let is_new = known < variables && (known == 0 || !dice.one_in(3));
            let to = if is_new { known } else { dice.below(known) };
            // Mostly what was assigned last: so the others' registers are free.
            let near = |dice: &mut Dice| match known {
                0 => 0,
                _ if dice.one_in(4) => dice.below(known),
                _ => known - 1,
            };
            let left = near(dice);
            let right = dice.one_in(3).then(|| near(dice));
            known += usize::from(is_new);
            let add = u8::try_from(1 + dice.below(50)).expect("less than 256");
            Statement {
                to,
                left,
                right,
                add,
            }
        });
        let statements: Vec<Statement> = statements.collect();
        Self {
            variables,
            head: dice.below(statements.len()),
            repeats: 1 + dice.below(3),
            statements,
        }
    }

    /// The variables that are assigned before a statement is reached in the text.
    fn scope(&self, at: usize) -> Vec<usize> {
        let before = &self.statements[..at];
        let is_known = |variable: &usize| before.iter().any(|of| of.to == *variable);
        (0..self.variables).filter(is_known).collect()
    }

    fn text(&self) -> String {
        let mut cells = String::from("@external out = comb_mem_d1(8, 1, 1);\n");
        for at in 0..self.variables {
            let _ = writeln!(cells, "r{at} = std_reg(8);");
        }
        let mut groups = String::new();
        let mut enables: Vec<String> = Vec::new();
        for (at, of) in self.statements.iter().enumerate() {
            let Statement {
                to,
                left,
                right,
                add,
            } = of;
            let right = right.map_or(format!("8'd{add}"), |right| format!("r{right}.out"));
            let _ = writeln!(cells, "a{at} = std_add(8);");
            let _ = writeln!(
                groups,
                "group g{at} {{ a{at}.left = r{left}.out; a{at}.right = {right}; r{to}.in = a{at}.out; r{to}.write_en = 1'd1; g{at}[done] = r{to}.done; }}"
            );
            enables.push(format!("@pos{{{at}}} g{at};"));
        }
        let last = self.statements[self.statements.len() - 1].to;
        let _ = writeln!(
            groups,
            "group put {{ out.addr0 = 1'd0; out.write_data = r{last}.out; out.write_en = 1'd1; put[done] = out.done; }}"
        );
        let (head, body) = enables.split_at(self.head);
        let mut tables = String::from("FILES\n0: it.adl\nPOSITIONS\n");
        for at in 0..self.statements.len() {
            let _ = writeln!(tables, "{at}: 0 {}", at + 1);
        }
        tables += "MEMORY_LOCATIONS\n";
        for at in 0..self.variables {
            let _ = writeln!(tables, "{at}: main.r{at}");
        }
        tables += "VARIABLE_ASSIGNMENTS\n";
        let scopes = (0..self.statements.len()).map(|at| (at, self.scope(at)));
        let scopes: Vec<_> = scopes.filter(|(_, scope)| !scope.is_empty()).collect();
        for (at, scope) in &scopes {
            let of = scope
                .iter()
                .map(|of| format!("v{of}: ty u8, packed {of}\n"));
            let _ = writeln!(tables, "{at}: {{ {} }}", of.collect::<String>());
        }
        tables += "POSITION_STATE_MAP\n";
        for (at, _) in &scopes {
            let _ = writeln!(tables, "{at}: {at}");
        }
        format!(
            "import \"primitives/core.futil\";\nimport \"primitives/memories/comb.futil\";\n\
             component main() -> () {{\ncells {{\n{cells}}}\nwires {{\n{groups}}}\n\
             control {{ seq {{ {} repeat {} {{ seq {{ {} }} }} put; }} }}\n}}\n\
             sourceinfo #{{\n{tables}TYPES\n}}#\n",
            head.join(" "),
            self.repeats,
            body.join(" "),
        )
    }

    /// The values that each statement assigns, one for each time that it runs.
    fn assigned(&self) -> Vec<Vec<u8>> {
        let mut registers = vec![0_u8; self.variables];
        let mut all = vec![Vec::new(); self.statements.len()];
        let (head, body) = (0..self.head, self.head..self.statements.len());
        let order = head.chain((0..self.repeats).flat_map(|_| body.clone()));
        for at in order {
            let Statement {
                to,
                left,
                right,
                add,
            } = self.statements[at];
            let right = right.map_or(add, |right| registers[right]);
            registers[to] = registers[left].wrapping_add(right);
            all[at].push(registers[to]);
        }
        all
    }
}

/// What is shown of a variable in a cycle.
fn shown(values: &[(u64, Option<String>)], cycle: u64) -> Option<u8> {
    let before = values.iter().rev().find(|(from, _)| *from <= cycle);
    before?.1.as_ref().map(|value| value.parse().unwrap())
}

/// How often a variable had a value, and how often another one was in its register.
fn check(program: &Program, workshop: &Workshop, passes: &str) -> (u64, u64) {
    workshop.write("it.futil", program.text());
    workshop.succeeds(&["run", "it.futil", "--passes", passes, "-q", "--out", "out"]);
    let metadata = Metadata::read(&workshop.path("out/metadata.json")).unwrap();
    let cells = &metadata.component(metadata.main).cells;
    let hardware = |variable: usize| {
        let name = format!("r{variable}");
        let cell = cells.iter().find(|cell| cell.name == name);
        cell.and_then(|cell| cell.instance.clone())
    };
    let hardware: Vec<Option<String>> = (0..program.variables).map(hardware).collect();
    let assigned = program.assigned();
    let values = values(workshop, "out");
    let mut times = vec![0; program.statements.len()];
    let mut now = vec![0_u8; program.variables];
    // The variable that was written last into each register.
    let mut owners: HashMap<&str, usize> = HashMap::new();
    let (mut seen, mut hidden) = (0, 0);
    for line in workshop.succeeds(&["trace", "out", "--json"]).lines() {
        let tree: Json = serde_json::from_str(line).unwrap();
        let nodes = tree["tree"].as_array().unwrap().iter();
        let groups = nodes.filter(|node| node["kind"] == "group");
        let groups = groups.filter_map(|node| {
            let label = node["label"].as_str()?.strip_prefix('g')?;
            label.parse::<usize>().ok()
        });
        let groups: Vec<usize> = groups.collect();
        let cycles = tree["start"].as_u64().unwrap()..tree["end"].as_u64().unwrap();
        for cycle in cycles {
            for variable in 0..program.variables {
                let in_scope = groups
                    .iter()
                    .any(|&at| program.scope(at).contains(&variable));
                let register = hardware[variable].as_deref();
                let owner = register.and_then(|register| owners.get(register));
                let is_own = owner.is_none_or(|owner| *owner == variable);
                let expected = in_scope && is_own && register.is_some();
                let expected = expected.then_some(now[variable]);
                let name = format!("v{variable}");
                let shown = values.get(&name).and_then(|values| shown(values, cycle));
                assert_eq!(
                    shown,
                    expected,
                    "{passes}: {name} in cycle {cycle} of\n{}",
                    program.text()
                );
                seen += u64::from(expected.is_some());
                hidden += u64::from(in_scope && !is_own);
            }
            // Each group takes one cycle, and registers have what it writes in the next one.
            for &at in &groups {
                let to = program.statements[at].to;
                now[to] = assigned[at][times[at]];
                times[at] += 1;
                if let Some(register) = &hardware[to] {
                    owners.insert(register, to);
                }
            }
        }
    }
    (seen, hidden)
}

#[test]
fn shared_registers_never_show_another_variables_value() {
    let workshop = Workshop::empty();
    let (mut seen, mut hidden) = (0, 0);
    let seed = std::env::var("PETAL_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    let mut dice = Dice::new(seed);
    for _ in 0..programs(12) {
        let program = Program::random(&mut dice);
        for passes in ["all", "no-opt"] {
            let (values, others) = check(&program, &workshop, passes);
            seen += values;
            hidden += others;
        }
    }
    assert!(seen > 0 && hidden > 0, "{seen} values, {hidden} of others");
}
