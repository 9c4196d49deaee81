//! How what the debugger finds is written for a terminal.

use std::fmt::Write as _;

use petal_debug::{
    Breakpoint, Condition, Hit, Place, Session, SourcePlace, Stop, Thread, Value, Written,
};
use petal_table::Screen;
use petal_table::style::{BOLD, DIM};

/// Where a move ended: the cycle, what it is, what is active, and the lines of that.
pub fn stop(session: &Session, stop: &Stop, screen: Screen) -> String {
    let mut text = String::new();
    for hit in &stop.hits {
        text.push_str(&self::hit(hit));
    }
    match stop.place {
        Place::First => text.push_str("the run begins here\n"),
        Place::Last => text.push_str("the run ends here\n"),
        Place::Wanted => {}
    }
    let head = format!("cycle {}", stop.cycle);
    let _ = writeln!(text, "{}: {}", screen.styled(BOLD, head), session.class());
    let mut lines: Vec<String> = Vec::new();
    for thread in session.threads() {
        let _ = writeln!(text, "  {}", path(&thread));
        let place = session.place(&thread);
        lines.extend(place.map(|place| line(session, &place)));
    }
    lines.dedup();
    for line in lines {
        let _ = writeln!(text, "  {}", screen.styled(DIM, line));
    }
    text
}

/// The names of a thread's frames, from the outermost on.
fn path(thread: &Thread) -> String {
    let labels = thread.frames.iter().rev().map(|frame| frame.label.as_str());
    labels.collect::<Vec<_>>().join(" > ")
}

/// A line of the source with its text.
pub fn line(session: &Session, place: &SourcePlace) -> String {
    let label = place.label(session.recording());
    format!("{label}  {}", place.text).trim_end().to_owned()
}

/// What else is in a value of a cell of which the compiler made one with others; nothing of any other.
pub fn joined(session: &Session, text: &str, screen: Screen) -> String {
    let others = session.joined(text, session.instance());
    if others.is_empty() {
        return String::new();
    }
    let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
    let sentence = format!(
        "the compiler made one cell of this and {}: profile with `-d cell-share` to tell them apart",
        others.join(", ")
    );
    screen.wrapped(&sentence, 2)
}

/// A breakpoint that was come to.
fn hit(hit: &Hit) -> String {
    let Hit {
        number,
        text,
        written,
    } = hit;
    if written.is_empty() {
        return format!("breakpoint {number}: {text}\n");
    }
    let changes = written
        .iter()
        .map(|of| format!("watch {number}: {}\n", change(text, of)));
    changes.collect()
}

/// A change of a value.
pub fn change(name: &str, written: &Written) -> String {
    let Written {
        index,
        old,
        new,
        by,
        ..
    } = written;
    let old = old.map_or_else(|| "?".to_owned(), number);
    let new = number(*new);
    let by = match &by[..] {
        [] => String::new(),
        by => format!(", by {}", by.join(" and ")),
    };
    format!("{name}{index} {old} -> {new}{by}")
}

/// A number, and in hexadecimal if that is another text.
pub fn number(number: u64) -> String {
    if number < 10 {
        number.to_string()
    } else {
        format!("{number} (0x{number:x})")
    }
}

/// A value.
pub fn value(value: &Value) -> String {
    match value {
        Value::Number(of) => number(*of),
        Value::Words(words, all) => {
            let shown = words.iter().map(|(index, word)| format!("{index} {word}"));
            let shown = shown.collect::<Vec<_>>().join("  ");
            match all - words.len() as u64 {
                0 => shown,
                more => format!("{shown}  and {more} more"),
            }
        }
    }
}

/// The call tree, with since when each part is active.
pub fn call_tree(session: &Session, screen: Screen) -> String {
    let frames = session.frames();
    let lines = frames.iter().map(|(depth, frame)| {
        let indent = "  ".repeat(*depth);
        let places = frame.line_labels(session.recording());
        let places = match &places[..] {
            [] => String::new(),
            places => format!(" {{{}}}", places.join(", ")),
        };
        format!("#{:<3}{indent}{}{places}", frame.number, frame.label)
    });
    let lines: Vec<String> = lines.collect();
    let width = lines.iter().map(|line| line.chars().count()).max();
    let width = width.unwrap_or(0);
    let head = format!(
        "cycle {} of 0..{}",
        session.at(),
        session.recording().cycles()
    );
    let mut text = format!("{}: {}\n", screen.styled(BOLD, head), session.class());
    for (line, (_, frame)) in lines.iter().zip(&frames) {
        let since = frame.since.map_or(String::new(), |since| {
            let is_cut = session.recording().is_cut(since);
            format!("  since {since}{}", if is_cut { " or before" } else { "" })
        });
        let line = format!("  {line:<width$}{}", screen.styled(DIM, since));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// What a breakpoint is.
pub fn breakpoint(of: &Breakpoint) -> String {
    let kind = match of.condition {
        Condition::Begins => "breakpoint",
        Condition::Changes => "watch",
    };
    let only_if = of.only_if.as_ref();
    let only_if = only_if.map_or(String::new(), |only_if| format!(" if {only_if}"));
    let stops = match of.stops() {
        1 => "1 cycle".to_owned(),
        stops => format!("{stops} cycles"),
    };
    format!(
        "{kind} {}: {}{only_if}, in {stops} of the run\n",
        of.number, of.text
    )
}
