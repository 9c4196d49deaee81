//! What signals are in each cycle of a run, by a reader of its VCD that shares nothing with petal.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The width of each signal, and its value just before each rising edge of the clock in the run, by its scope, from `main` on, and its name.
pub type Samples = BTreeMap<(Vec<String>, String), (u32, Vec<u64>)>;

/// Those of the signals that are wanted by their names, and how many cycles the run has.
pub fn samples(path: &Path, is_wanted: impl Fn(&str) -> bool) -> (Samples, usize) {
    let mut parser = vcd::Parser::new(BufReader::new(File::open(path).unwrap()));
    let header = parser.parse_header().unwrap();
    let main = header.find_scope(&["toplevel", "main"]).unwrap();
    let code = |name: &str| main.find_var(name).unwrap().code;
    let [clock, reset, go, done] = ["clk", "reset", "go", "done"].map(code);
    let mut named = Vec::new();
    let mut waiting = vec![(vec!["main".to_owned()], main)];
    while let Some((scope, of)) = waiting.pop() {
        for item in &of.items {
            match item {
                vcd::ScopeItem::Var(var) if is_wanted(&var.reference) => {
                    let name = (scope.clone(), var.reference.clone());
                    named.push((name, var.size, var.code));
                }
                vcd::ScopeItem::Scope(inner) => {
                    let mut scope = scope.clone();
                    scope.push(inner.identifier.clone());
                    waiting.push((scope, inner));
                }
                _ => {}
            }
        }
    }
    let mut now: HashMap<vcd::IdCode, u64> = HashMap::new();
    let mut values: Vec<Vec<u64>> = vec![Vec::new(); named.len()];
    let mut pending: Vec<(vcd::IdCode, u64)> = Vec::new();
    let mut cycles = 0;
    let of = |now: &HashMap<vcd::IdCode, u64>, code| now.get(&code).copied().unwrap_or(0);
    for command in parser.chain([Ok(vcd::Command::Timestamp(u64::MAX))]) {
        match command.unwrap() {
            vcd::Command::Timestamp(_) => {
                let rises = pending.contains(&(clock, 1)) && of(&now, clock) == 0;
                if rises && of(&now, go) == 1 && of(&now, reset) == 0 && of(&now, done) == 0 {
                    cycles += 1;
                    for (values, (.., code)) in values.iter_mut().zip(&named) {
                        values.push(of(&now, *code));
                    }
                }
                now.extend(pending.drain(..));
            }
            vcd::Command::ChangeScalar(code, value) => {
                pending.push((code, u64::from(value == vcd::Value::V1)));
            }
            vcd::Command::ChangeVector(code, bits) => {
                let bit = |bit| u64::from(bit == vcd::Value::V1);
                pending.push((code, bits.iter().fold(0, |value, of| value << 1 | bit(of))));
            }
            _ => {}
        }
    }
    let named = named.into_iter().zip(values);
    let samples = named.map(|((name, width, _), values)| (name, (width, values)));
    (samples.collect(), cycles)
}
