//! What `petal synth` prints.

use std::fmt::Write as _;
use std::path::Path;

use petal_synth::{Figures, Kind, Row, Synthesis};
use petal_table::thousands;

/// How many rows of the area are shown.
const ROWS: usize = 10;

/// The area and the clock, what takes most, and what limits the clock.
pub fn summary(synthesis: &Synthesis, out: &Path) -> String {
    let mut text = String::new();
    let area = &synthesis.area;
    let memories = if synthesis.has_memories {
        "memories inside"
    } else {
        "memories outside"
    };
    let _ = writeln!(text, "{}, {memories}", synthesis.device);
    let _ = writeln!(text, "  {}", figures(&area.total));
    let clock = &synthesis.clock;
    let (slowest, fastest) = clock.range();
    let seeds = clock.seeds.len();
    let spread = match seeds {
        1 => "1 seed: others may differ".to_owned(),
        _ => format!("{slowest:.1} to {fastest:.1} in {seeds} seeds"),
    };
    let _ = writeln!(text, "  {:.1} MHz ({spread})", clock.fmax_mhz);
    if let (Some(cycles), Some(time)) = (synthesis.cycles, synthesis.time_us) {
        let cycles = thousands(cycles);
        let _ = writeln!(text, "  {time:.3} µs for {cycles} cycles");
    }
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
            "  ~ several share a part of it, which is divided in equal parts: without one of them, more or less may vanish"
        );
    }
    if let Some(path) = &synthesis.critical_path {
        let _ = writeln!(text, "\nwhat limits the clock: {:.2} ns", path.delay_ns);
        for step in &path.steps {
            let line = step
                .line
                .map_or_else(String::new, |line| format!(" L{line}"));
            let detail = match step.detail.as_str() {
                "" => String::new(),
                detail => format!(" ({detail})"),
            };
            let _ = writeln!(
                text,
                "  {:>6.2}  {} {}.{}{detail}{line}",
                step.delay_ns,
                step.kind.name(),
                step.instance,
                step.name
            );
        }
    }
    let _ = writeln!(text, "\n{}", out.display());
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
