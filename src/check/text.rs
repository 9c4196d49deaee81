//! What a check has found, in sentences.

use std::fmt::Write as _;

use petal_analysis::races::{Accessor, Doubt, Race, UndefinedRead};
use petal_table::thousands;

use super::report::{Beyond, Report};
use super::undriven::UndrivenRead;
use crate::screen::screen;

/// What is said of what is not sure.
const GUARDED: &str = "; a guard or multiplexer decides if it is read";

/// All of it, for the terminal.
pub fn text(report: &Report) -> String {
    let screen = screen();
    let cycles = match report.cycles {
        1 => "1 cycle".to_owned(),
        cycles => format!("{} cycles", thousands(cycles)),
    };
    let counts = report.counts();
    let first = if counts.is_empty() {
        format!(
            "nothing found in {cycles} (`{}`): no race, no address beyond a memory, no use of `undef`, no read of an undriven port, no broken rule",
            report.passes
        )
    } else {
        format!("{counts} in {cycles} (`{}`)", report.passes)
    };
    let mut text = screen.wrapped(&first, 0);
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
            for line in lines {
                text.push_str(&screen.wrapped(&line, 2));
            }
        }
    };
    section("races", report.races().map(race).collect());
    section(
        "beyond a memory",
        report.beyond.iter().map(beyond).collect(),
    );
    section("undefined", report.undefined().map(undefined).collect());
    section("undriven", report.undriven.iter().map(undriven).collect());
    section("broken rules", report.rules.clone());
    section("no end", report.stopped.iter().cloned().collect());
    let guarded = report.found.undefined.iter().filter(|of| of.is_guarded);
    let doubtful = report.doubtful().map(race).chain(guarded.map(undefined));
    section("maybe", doubtful.collect());
    let unknown = report.found.unknown.iter().map(|par| {
        format!("{par}: how its arms met at barriers can't be followed, so races between them may be missing")
    });
    let mut unknown: Vec<String> = unknown.collect();
    let unfollowed = report.unfollowed.iter().map(|port| {
        format!("{port}: where its value goes can't be followed, so reads of it while nothing drives it may be missing")
    });
    unknown.extend(unfollowed);
    if report.found.gaps > 0 {
        let gaps = thousands(report.found.gaps);
        unknown.push(format!("no race is looked for in {gaps} cycles, which the windows of the observations leave out"));
    }
    section("not known", unknown);
    text
}

/// Who it is, such as `put (line 12)`.
fn who(of: &Accessor) -> String {
    let name = of.group.as_ref().or(of.statement.as_ref());
    let name = name.map_or("", String::as_str);
    placed(name, of.file.as_deref(), of.line)
}

fn placed(name: &str, file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{name} ({file}:{line})"),
        (None, Some(line)) => format!("{name} (line {line})"),
        (_, None) => name.to_owned(),
    }
}

fn times(times: u64) -> String {
    match times {
        1 => String::new(),
        times => format!(", {} times", thousands(times)),
    }
}

/// A race, in a sentence.
pub fn race(of: &Race) -> String {
    let what = match of.word {
        Some(word) => format!("{}[{word}]", of.what),
        None => of.what.clone(),
    };
    let [one, other] = of.accesses.each_ref().map(|access| {
        let what = if access.is_write { "write" } else { "read" };
        format!("{what} by {}", who(&access.by))
    });
    let [first, last] = of.accesses.each_ref().map(|access| thousands(access.cycle));
    let when = if of.is_same_cycle {
        format!("{one} and {other}, both in cycle {first}")
    } else {
        format!("{one} in cycle {first}, {other} in cycle {last}")
    };
    let why = match &of.par {
        Some(par) => format!("different arms of {par}"),
        None => "no statement puts continuous assignments into an order".to_owned(),
    };
    let doubt = match of.doubt {
        None => "",
        Some(Doubt::Guard) => GUARDED,
        Some(Doubt::Order) => "; nothing tells its runs apart, or how its arms met at barriers",
    };
    format!("{what}: {when}: {why}{}{doubt}", times(of.times))
}

/// Accesses beyond a memory, in a sentence.
pub fn beyond(of: &Beyond) -> String {
    let list = |numbers: &[u64]| {
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        numbers.join("][")
    };
    let by = of
        .by
        .iter()
        .map(|site| placed(&site.group, site.file.as_deref(), site.line));
    let by: Vec<String> = by.collect();
    let by = if by.is_empty() {
        "something".to_owned()
    } else {
        by.join(" and ")
    };
    format!(
        "{}[{}]: {} of [{}] by {by} in cycle {}{}",
        of.memory,
        list(&of.sizes),
        of.access,
        list(&of.address),
        thousands(of.cycle),
        times(of.times)
    )
}

/// A use of what may be any value, in a sentence.
pub fn undefined(of: &UndefinedRead) -> String {
    let cycle = thousands(of.cycle);
    let doubt = if of.is_guarded { GUARDED } else { "" };
    format!(
        "{}: read by {} in cycle {cycle}{doubt}",
        of.what,
        who(&of.by)
    )
}

/// A read of a port that nothing drove, in a sentence.
pub fn undriven(of: &UndrivenRead) -> String {
    let by = of.by.iter().map(|site| {
        let name = match &*site.group {
            "" => &site.statement,
            group => group,
        };
        placed(name, site.file.as_deref(), site.line)
    });
    let mut by: Vec<String> = by.collect();
    by.dedup();
    let by = match &by[..] {
        [] => format!("something, while {} was active", of.active.join(" | ")),
        [first, _, _, _, ..] => format!("{first} or one of {} others", by.len() - 1),
        _ => by.join(" or "),
    };
    format!(
        "{}: read by {by} in cycle {}{}, while nothing drives it: it may have any value then",
        of.port,
        thousands(of.cycle),
        times(of.times)
    )
}
