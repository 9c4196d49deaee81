//! Results in some words, for agents that read no JSON, and for people who look on.

use std::fmt::Write as _;

use petal_table::text::{share, signed};
use petal_table::thousands;
use serde_json::Value;

fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap_or_default()
}

fn number(of: &Value, field: &str) -> u64 {
    of[field].as_u64().unwrap_or_default()
}

fn real(of: &Value, field: &str) -> f64 {
    of[field].as_f64().unwrap_or_default()
}

fn cycles(of: &Value, field: &str) -> String {
    thousands(number(of, field))
}

fn list<'a>(of: &'a Value, field: &str) -> &'a [Value] {
    of[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Each row of a list on a line.
fn lines(of: &Value, field: &str, line: impl Fn(&Value) -> String) -> String {
    let lines: Vec<String> = list(of, field).iter().map(line).collect();
    ended(&lines)
}

/// The texts of a list, each on a line behind what it is.
fn told(of: &Value, field: &str, what: &str) -> String {
    let texts = list(of, field).iter().filter_map(Value::as_str);
    let lines: Vec<String> = texts.map(|text| format!("{what}{text}")).collect();
    ended(&lines)
}

/// Lines, each with its end.
fn ended(lines: &[String]) -> String {
    match lines {
        [] => String::new(),
        lines => format!("{}\n", lines.join("\n")),
    }
}

pub fn run(of: &Value) -> String {
    let useful = u128::from(number(of, "useful_cycles"));
    let mut words = format!(
        "{} cycles, {} useful: {} computation, {} conditions, {} overhead\n",
        cycles(of, "cycles"),
        share(useful, number(of, "cycles").into()),
        cycles(of, "computation_cycles"),
        cycles(of, "condition_cycles"),
        cycles(of, "overhead_cycles"),
    );
    if let Some(stopped) = of["stopped"].as_str() {
        let _ = writeln!(words, "it ended early: {stopped}");
        words.push_str(&told(&of["ending"], "waits", "  "));
    }
    words.push_str(&lines(of, "hotspots", |row| {
        let percent = row["percent"].as_f64().unwrap_or_default();
        format!(
            "{}: {} ({percent} %): {}",
            text(row, "name"),
            cycles(row, "cost"),
            text(row, "why")
        )
    }));
    words.push_str(&lines(of, "rules", |row| match number(row, "cycles") {
        0 => format!("rule {}: holds", text(row, "name")),
        _ => format!(
            "rule {}: broken in {} cycles",
            text(row, "name"),
            cycles(row, "cycles")
        ),
    }));
    words.push_str(&lines(of, "latencies", |row| {
        let each = ["min", "median", "max"]
            .map(|of| cycles(row, of))
            .join(", ");
        let name = text(row, "name");
        format!(
            "latency {name}: {} times; shortest, median and longest: {each}",
            cycles(row, "count")
        )
    }));
    words.push_str(&lines(of, "counters", |row| {
        format!("counter {}: {}", text(row, "name"), row["total"])
    }));
    words.push_str(&lines(of, "accesses", |row| {
        let [reads, words_read, writes, words_written] =
            ["reads", "words_read", "writes", "words_written"].map(|of| cycles(row, of));
        format!(
            "memory {}: {reads} reads of {words_read} words, {writes} writes of {words_written} words",
            text(row, "name")
        )
    }));
    words.push_str(&told(of, "warnings", "warning: "));
    words
}

pub fn hotspots(of: &Value) -> String {
    if list(of, "rows").is_empty() {
        return "no statement costs cycles\n".to_owned();
    }
    lines(of, "rows", |row| {
        let kind = match text(row, "kind") {
            "cost" => String::new(),
            kind => format!(" ({kind})"),
        };
        let (name, why) = (text(row, "statement"), text(row, "why"));
        format!(
            "{name}{kind}: {} ({} %): {why}",
            cycles(row, "cost"),
            row["% of run"]
        )
    })
}

pub fn annotate(of: &Value) -> String {
    let mut words = format!(
        "{} cycles; cycles, useful, overhead, costs | line | source\n",
        cycles(of, "cycles")
    );
    for file in list(of, "files") {
        let _ = writeln!(words, "{}", text(file, "name"));
        words.push_str(&lines(file, "lines", |line| {
            let figures = ["cycles", "useful", "overhead", "costs"].map(|of| cycles(line, of));
            format!(
                "{} | {} | {}",
                figures.join(" "),
                line["line"],
                text(line, "text")
            )
        }));
    }
    words
}

pub fn stats(of: &Value) -> String {
    if list(of, "rows").is_empty() {
        return "the table has no such rows\n".to_owned();
    }
    lines(of, "rows", |row| {
        let fields = row.as_object().into_iter().flatten();
        let fields = fields.filter(|(_, value)| {
            let is_nothing = value.as_f64() == Some(0.0) || value.as_str() == Some("");
            !is_nothing && !value.is_null()
        });
        let fields = fields.map(|(name, value)| match value.as_str() {
            Some(value) => format!("{name}: {value}"),
            None => format!("{name}: {value}"),
        });
        fields.collect::<Vec<_>>().join("; ")
    })
}

pub fn trace(of: &Value) -> String {
    lines(of, "rows", |row| {
        let nodes = list(row, "tree").iter();
        let tree: Vec<&str> = nodes.clone().map(|node| text(node, "label")).collect();
        let charge = nodes.clone().find(|node| node["overhead"].is_string());
        let charge = charge.map_or_else(String::new, |node| {
            format!(
                " <- {} of {}",
                text(node, "overhead"),
                text(node, "statement")
            )
        });
        format!(
            "{}..{}: {}{charge}",
            row["start"],
            row["end"],
            tree.join(" > ")
        )
    })
}

/// A figure before and after.
fn change(of: &Value) -> String {
    let delta = signed(of["delta"].as_i64().unwrap_or_default());
    let percent = of["percent"].as_f64();
    let percent = percent.map_or_else(String::new, |percent| format!(", {percent:+.1} %"));
    format!(
        "{} to {} ({delta}{percent})",
        cycles(of, "before"),
        cycles(of, "after")
    )
}

pub fn compare(of: &Value) -> String {
    let mut words = format!(
        "cycles: {}\nuseful: {}\noverhead: {}\n",
        change(&of["cycles"]),
        change(&of["useful"]),
        change(&of["overhead"])
    );
    words.push_str(&lines(of, "statements", |row| {
        format!("{}: {}", text(row, "name"), change(&row["cycles"]))
    }));
    words.push_str(&told(of, "notes", "note: "));
    words
}

pub fn advise(of: &Value) -> String {
    let mut words = format!(
        "{} cycles; {} with what is proved, {} with all\n",
        cycles(of, "cycles"),
        cycles(of, "with_proved"),
        cycles(of, "with_all")
    );
    words.push_str(&lines(of, "advice", |row| {
        let place = row["place"]
            .as_str()
            .map_or_else(String::new, |place| format!(" at {place}"));
        let file = row["patch"].as_str();
        let file = file.map_or_else(String::new, |file| format!(" [advice/{file}]"));
        format!(
            "{}. {}{place} ({}): {}; saves {}{file}",
            row["number"],
            text(row, "kind"),
            text(row, "class"),
            text(row, "what"),
            cycles(row, "on_top"),
        )
    }));
    if let Some(patch) = of["patch"].as_str() {
        let _ = writeln!(words, "all of it: {patch}");
    }
    let arguments: Vec<&str> = list(of, "arguments")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if !arguments.is_empty() {
        let _ = writeln!(words, "to be compiled with {}", arguments.join(" "));
    }
    words
}

pub fn what_if(of: &Value) -> String {
    let mut words = format!("{} cycles\n", cycles(of, "cycles"));
    words.push_str(&lines(of, "answers", |row| {
        let number = |key: &str| row[key].as_i64();
        let saves = match (number("saves"), number("at least"), number("at most")) {
            (Some(saves), ..) => format!("saves {saves}"),
            (_, Some(least), Some(most)) => format!("saves {least} to {most}"),
            _ => "nobody knows".to_owned(),
        };
        format!("{}: {saves} ({})", text(row, "what if"), text(row, "how"))
    }));
    words.push_str(&lines(of, "bounds", |row| {
        format!(
            "if only {} took time: {} cycles",
            text(row, "if only this took time"),
            cycles(row, "cycles")
        )
    }));
    words
}

pub fn synth(of: &Value) -> String {
    let total = &of["area"]["total"];
    let mut words = format!(
        "{}: {:.0} look-up tables, {:.0} flip-flops\n",
        text(of, "device"),
        real(total, "luts"),
        real(total, "ffs")
    );
    if let Some(clock) = of["clock"]["fmax_mhz"].as_f64() {
        let _ = writeln!(words, "clock: {clock:.1} MHz");
    }
    if let Some(time) = of["time_us"].as_f64() {
        let _ = writeln!(words, "{} cycles in {time:.3} µs", cycles(of, "cycles"));
    }
    words.push_str(&lines(&of["area"], "rows", |row| {
        let name = format!("{}.{}", text(row, "instance"), text(row, "name"));
        format!(
            "{} {name}: {:.0} LUT, {:.0} FF",
            text(row, "kind"),
            real(row, "luts"),
            real(row, "ffs")
        )
    }));
    words
}

pub fn explain(of: &Value) -> String {
    match list(of, "terms") {
        [term] => format!(
            "{}: {} For example: {}\n",
            text(term, "name"),
            text(term, "meaning"),
            text(term, "example")
        ),
        terms => {
            let names: Vec<&str> = terms.iter().map(|term| text(term, "name")).collect();
            format!("{}\n", names.join(", "))
        }
    }
}

pub fn check(of: &Value) -> String {
    let mut words = format!("{} cycles\n", cycles(of, "cycles"));
    for (list, what) in [
        ("races", "race"),
        ("beyond", "beyond a memory"),
        ("undefined", "undefined"),
        ("undriven", "undriven"),
    ] {
        words.push_str(&lines(of, list, |row| {
            let doubt = if row["doubt"].is_string() {
                "maybe "
            } else {
                ""
            };
            format!("{doubt}{what}: {}", text(row, "text"))
        }));
    }
    words.push_str(&told(of, "rules", "broken rule: "));
    words.push_str(&told(of, "unfollowed", "reads can't be followed: "));
    words.push_str(&told(of, "unknown", "barriers can't be followed: "));
    if let Some(stopped) = of["stopped"].as_str() {
        let _ = writeln!(words, "it ended early: {stopped}");
    }
    words
}
