//! What `petal synth` prints.

use std::fmt::Write as _;
use std::path::Path;

use petal_synth::{CriticalPath, Element, Figures, Kind, PathEnd, Row, Synthesis, Without};
use petal_table::thousands;

/// How many rows of the area are shown.
const ROWS: usize = 10;

/// How many groups are shown of which it was measured what vanishes without them.
const GROUPS: usize = 20;

/// The area, the clock and the time of the run.
pub fn totals(synthesis: &Synthesis) -> String {
    let mut text = String::new();
    // What others' reports are of, they do not tell.
    let memories = match (synthesis.area.rows.is_empty(), synthesis.has_memories) {
        (true, _) => "",
        (false, true) => ", memories inside",
        (false, false) => ", memories outside",
    };
    let _ = writeln!(text, "{}{memories}", synthesis.device);
    let _ = writeln!(text, "  {}", figures(&synthesis.area.total));
    if let Some(clock) = &synthesis.clock {
        let (slowest, fastest) = clock.range();
        let seeds = clock.seeds.len();
        let spread = match seeds {
            1 => "one place and route: others may differ".to_owned(),
            _ => format!("{slowest:.1} to {fastest:.1} in {seeds} seeds"),
        };
        let _ = writeln!(text, "  {:.1} MHz ({spread})", clock.fmax_mhz);
    } else {
        let _ = writeln!(
            text,
            "  an estimate by yosys alone: without place and route, nobody knows the clock"
        );
    }
    if let (Some(cycles), Some(time)) = (synthesis.cycles, synthesis.time_us) {
        let cycles = thousands(cycles);
        let _ = writeln!(text, "  {time:.3} µs for {cycles} cycles");
    }
    text
}

/// The area and the clock, what takes most, and what limits the clock.
pub fn summary(synthesis: &Synthesis, out: &Path) -> String {
    let mut text = totals(synthesis);
    if synthesis.area.rows.is_empty() {
        let _ = writeln!(text, "\n{}", out.display());
        return text;
    }
    let area = &synthesis.area;
    let _ = writeln!(text, "\nwhat takes most");
    let width = area
        .rows
        .iter()
        .take(ROWS)
        .map(|row| name(row).chars().count())
        .max();
    let width = width.unwrap_or_default().min(44);
    let _ = writeln!(
        text,
        "  {:<width$}  {:<12}{:>8}{:>8}{:>6}",
        "", "", "LUT", "FF", "DSP"
    );
    for row in area.rows.iter().take(ROWS) {
        let mark = if row.is_shared { "~" } else { "" };
        let _ = writeln!(
            text,
            "  {:<width$}  {:<12}{:>8}{:>8}{:>6}",
            petal_table::text::shortened(&name(row), width),
            row.kind.name(),
            format!("{mark}{:.0}", row.figures.luts),
            format!("{:.0}", row.figures.ffs),
            format!("{:.0}", row.figures.dsps)
        );
    }
    let control = area.rows.iter().filter(|row| row.kind == Kind::Control);
    let mut sum = Figures::default();
    control.for_each(|row| sum += row.figures);
    let _ = writeln!(
        text,
        "  the compiler's control takes {:.0} LUT and {:.0} FF; {:.1} % of the LUT lead to nothing in the program",
        sum.luts,
        sum.ffs,
        100.0 * synthesis.unattributed()
    );
    if area.rows.iter().any(|row| row.is_shared) {
        let _ = writeln!(
            text,
            "  ~ has a part of what several share, divided in equal parts so that all adds up; it is not what vanishes without one of them,"
        );
        let _ = writeln!(text, "    which `--without GROUP` measures");
    }
    if !synthesis.without.is_empty() {
        text.push_str(&without(synthesis));
    }
    if let Some(path) = &synthesis.critical_path {
        text.push_str(&critical(path));
        if !synthesis.path_ends.is_empty() {
            text.push_str(&ends(&synthesis.path_ends));
        }
    }
    let _ = writeln!(text, "\n{}", out.display());
    text
}

/// The path that limits the clock, and in which part of it most of the time passes.
fn critical(path: &CriticalPath) -> String {
    let mut text = format!("\nwhat limits the clock: {:.2} ns\n", path.delay_ns);
    for step in &path.steps {
        let _ = writeln!(text, "  {:>6.2}  {}", step.delay_ns, element(&step.element));
    }
    if let Some(step) = path.longest_step() {
        let of = &step.element;
        let what = match of.kind {
            _ if of.name.contains(", ") => "logic that these share",
            Kind::Cell => {
                "a primitive, whose hardware the program cannot change; a register before or after it cuts the path"
            }
            Kind::Group => "multiplexers and guards of the group",
            Kind::Control => "control that the compiler made",
            Kind::Continuous => "assignments outside of groups",
            Kind::Unattributed => "logic that leads to nothing in the program",
        };
        let _ = writeln!(
            text,
            "  most of it, {:.0} %, passes in {}: {what}",
            100.0 * step.delay_ns / path.delay_ns,
            of.name
        );
    }
    text
}

/// Where the longest paths end.
fn ends(ends: &[PathEnd]) -> String {
    let mut text = format!(
        "\nwhere the longest paths end\n  {:>6}  {:>6}  \n",
        "ns", "slack"
    );
    for end in ends {
        let from = end.path.steps.first();
        let from = from.map_or_else(String::new, |step| format!(", from {}", step.element.name));
        let _ = writeln!(
            text,
            "  {:>6.2}  {:>6.2}  {}{from}",
            end.path.delay_ns,
            end.slack_ns,
            element(&end.element)
        );
    }
    text
}

fn element(of: &Element) -> String {
    let line = of.line.map_or_else(String::new, |line| format!(" L{line}"));
    let detail = match of.detail.as_str() {
        "" => String::new(),
        detail => format!(" ({detail})"),
    };
    format!(
        "{} {}.{}{detail}{line}",
        of.kind.name(),
        of.instance,
        of.name
    )
}

/// What vanishes without each group that was left out.
fn without(synthesis: &Synthesis) -> String {
    let all = &synthesis.without;
    let name = |of: &Without| format!("{}.{}", of.component, of.group);
    let widths = all.iter().take(GROUPS).map(|of| name(of).chars().count());
    let width = widths.max().unwrap_or_default().min(44);
    let mut text =
        "\nwhat the design has less without a group, and the statements that enable it\n"
            .to_owned();
    let _ = writeln!(text, "  {:<width$}{:>8}{:>8}{:>6}", "", "LUT", "FF", "DSP");
    for of in all.iter().take(GROUPS) {
        let line = of
            .line
            .map_or_else(String::new, |line| format!("  L{line}"));
        let _ = writeln!(
            text,
            "  {:<width$}{:>8}{:>8}{:>6}{line}",
            petal_table::text::shortened(&name(of), width),
            format!("{:.0}", of.vanishes.luts),
            format!("{:.0}", of.vanishes.ffs),
            format!("{:.0}", of.vanishes.dsps)
        );
    }
    if let Some(more @ 1..) = all.len().checked_sub(GROUPS) {
        let _ = writeln!(text, "  and {more} more in synthesis.json");
    }
    let _ = writeln!(
        text,
        "  measured, each by itself: what only it uses goes with it, and so does what is constant then, so these do not add up"
    );
    text
}

fn name(row: &Row) -> String {
    match row.kind {
        Kind::Unattributed => row.name.clone(),
        _ => format!("{}.{}", row.instance, row.label()),
    }
}

/// With their names, without zeros.
fn figures(figures: &Figures) -> String {
    let names = ["LUT", "FF", "BRAM", "DSP", "carry", "other"];
    let shown = names
        .iter()
        .zip(figures.named())
        .filter(|(_, (_, figure))| *figure > 0.0);
    let shown: Vec<String> = shown
        .map(|(name, (_, figure))| format!("{figure:.0} {name}"))
        .collect();
    shown.join(", ")
}
