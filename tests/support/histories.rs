//! What every signal of a waveform does, for comparing files of different formats.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fst_reader::{FstFilter, FstHierarchyEntry, FstReader, FstSignalValue};
use vcd::{Command, IdCode, Parser, ScopeItem};

/// The times at which each signal gets a value, with that value in binary, by its path of scopes and its width.
pub type Histories = BTreeMap<(String, u32), Vec<(u64, String)>>;

/// Those of a VCD file.
pub fn of_vcd(path: &Path) -> Histories {
    fn add(items: &[ScopeItem], path: &str, names: &mut Vec<((String, u32), IdCode)>) {
        for item in items {
            match item {
                ScopeItem::Scope(scope) => {
                    add(&scope.items, &format!("{path}{}.", scope.identifier), names);
                }
                ScopeItem::Var(var) => {
                    names.push(((format!("{path}{}", var.reference), var.size), var.code));
                }
                _ => {}
            }
        }
    }
    let mut parser = Parser::new(BufReader::new(File::open(path).unwrap()));
    let header = parser.parse_header().unwrap();
    let mut names = Vec::new();
    add(&header.items, "", &mut names);
    let mut all: BTreeMap<IdCode, Vec<(u64, String)>> = BTreeMap::new();
    let mut now = 0;
    for command in parser {
        match command.unwrap() {
            Command::Timestamp(time) => now = time,
            Command::ChangeScalar(code, value) => {
                all.entry(code).or_default().push((now, value.to_string()));
            }
            Command::ChangeVector(code, value) => {
                all.entry(code).or_default().push((now, value.to_string()));
            }
            _ => {}
        }
    }
    histories(names, &all)
}

/// Those of an FST file.
pub fn of_fst(path: &Path) -> Histories {
    let mut reader = FstReader::open(BufReader::new(File::open(path).unwrap())).unwrap();
    let mut scopes: Vec<String> = Vec::new();
    let mut names = Vec::new();
    let add = |entry| match entry {
        FstHierarchyEntry::Scope { name, .. } => scopes.push(name),
        FstHierarchyEntry::UpScope => {
            scopes.pop();
        }
        FstHierarchyEntry::Var {
            name,
            length,
            handle,
            ..
        } => {
            let range = format!(" [{}:0]", length - 1);
            let name = match length {
                1 => &name,
                _ => name.strip_suffix(&range).unwrap(),
            };
            let path = format!("{}.{name}", scopes.join("."));
            names.push(((path, length), handle.get_index()));
        }
        _ => {}
    };
    reader.read_hierarchy(add).unwrap();
    let mut all: BTreeMap<usize, Vec<(u64, String)>> = BTreeMap::new();
    let take = |time, signal: fst_reader::FstSignalHandle, value: FstSignalValue<'_>| {
        let FstSignalValue::String(digits) = value else {
            panic!("no signal is a real number");
        };
        let digits = String::from_utf8(digits.to_vec()).unwrap();
        let history = all.entry(signal.get_index()).or_default();
        history.push((time, digits));
        Ok::<(), ()>(())
    };
    reader.read_signals(&FstFilter::all(), take).unwrap();
    histories(names, &all)
}

/// By name what is by the file's own keys.
fn histories<K: Ord>(
    names: Vec<((String, u32), K)>,
    all: &BTreeMap<K, Vec<(u64, String)>>,
) -> Histories {
    let of = |key| all.get(&key).cloned().unwrap_or_default();
    let count = names.len();
    let named: Histories = names
        .into_iter()
        .map(|(name, key)| (name, of(key)))
        .collect();
    assert_eq!(named.len(), count, "names are different");
    named
}
