//! The Verilog of a design without what makes no difference to its runs: probes, and the numbers of
//! guards.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The lines of a design, in order, without probes. A guard has the name of what it is.
pub fn without_probes(verilog: &str) -> Vec<String> {
    let mut lines = Vec::new();
    // The guards of the component that is being read.
    let mut guards: HashMap<&str, String> = HashMap::new();
    // How the last line of what is being left out ends.
    let mut until = None;
    for line in verilog.lines() {
        if let Some(end) = until {
            if line.ends_with(end) {
                until = None;
            }
        } else if line.starts_with("module petal_probe ") {
            until = Some("endmodule");
        } else if line.starts_with("petal_probe ") {
            until = Some(");");
        } else if let Some(guard) = line.strip_prefix("wire _guard") {
            let (number, value) = guard.split_once(" = ").expect("a guard has a value");
            let mut hasher = DefaultHasher::new();
            named(value, &guards).hash(&mut hasher);
            guards.insert(number, format!("{:x}", hasher.finish()));
        } else if line.starts_with("assign petal_") {
            until = (!line.ends_with(';')).then_some(";");
        } else if !line.starts_with("logic petal_") && !line.is_empty() {
            lines.push(named(line, &guards));
        }
    }
    lines
}

/// A line with the names of guards instead of their numbers.
fn named(line: &str, guards: &HashMap<&str, String>) -> String {
    let mut parts = line.split("_guard");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit());
        let (number, rest) = part.split_at(end.unwrap_or(part.len()));
        // Something else may have such a name.
        let name = guards.get(number).map_or(number, String::as_str);
        text.extend(["_guard", name, rest]);
    }
    text
}
