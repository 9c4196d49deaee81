//! Advice as text and as Markdown.

mod tables;

use std::fmt::Write as _;

use petal_table::style::{BETTER, BOLD, DIM, NEXT, WORSE};
use petal_table::{Screen, counted, grouped, thousands};

use crate::advice::{Advice, Defect, Item};
use crate::change::Class;
use crate::search::Goal;
use crate::workshop::Cost;

/// What the figures of hardware leave out.
const NOT_ESTIMATED: &str = "hardware is told without multiplexers";

/// Lines of a diff in a terminal.
const DIFF_LINES: usize = 16;

impl Item {
    /// Where it is: the statement, and the line of the front end.
    fn place(&self, file: &str) -> Option<String> {
        let mut place = self.place.clone()?;
        if let Some(line) = self.line {
            let _ = write!(place, " ({file}:{line})");
        }
        if let Some(line) = &self.front_end {
            let _ = write!(place, ", from {line}");
        }
        Some(place)
    }

    /// What it saves: on top of what stands before it, and alone.
    fn saving(&self) -> String {
        let what = if self.on_top < 0 { "costs" } else { "saves" };
        let count = counted(self.on_top.unsigned_abs(), "cycle");
        let mut text = format!("{what} {count} ({:.1} %)", self.percent.abs());
        match self.alone {
            Some(alone) if i64::try_from(alone) != Ok(self.on_top) => {
                let _ = write!(text, ", alone {}", thousands(alone));
            }
            None => text.push_str(", tried on top of what stands before it"),
            Some(_) => {}
        }
        text
    }

    /// The lines that change, as many as a terminal has room for, in the colours that they have elsewhere.
    fn short_diff(&self, screen: Screen) -> String {
        let mut text = String::new();
        let lines = self.hunks.lines().count();
        // It is not worth a line to tell that there is one more.
        let shown = if lines > DIFF_LINES + 1 {
            DIFF_LINES
        } else {
            lines
        };
        for line in self.hunks.lines().take(shown) {
            let style = match line.chars().next() {
                Some('+') => Some(BETTER),
                Some('-') => Some(WORSE),
                Some('@') => Some(NEXT),
                _ => None,
            };
            let line = line.trim_end();
            let line = match style {
                Some(style) => screen.styled(style, line),
                None => line.to_owned(),
            };
            let line = format!("      {line}");
            let _ = writeln!(text, "{}", screen.folded(line.trim_end(), 10));
        }
        if let Some(patch) = self.patch.as_ref().filter(|_| shown < lines) {
            let _ = writeln!(text, "      … {} lines more in {patch}", lines - shown);
        }
        text
    }
}

impl Advice {
    /// The last line: how many changes were tried, and what became of those that are not advised.
    fn tried(&self) -> String {
        let tried = &self.tried;
        let of = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let mut text = format!(
            "tried {} in {}",
            of(tried.changes, "change"),
            of(tried.runs, "run")
        );
        let mut part = |count: usize, what: &str| {
            if count > 0 {
                let _ = write!(text, "; {count} {what}");
            }
        };
        part(tried.without_effect, "saved nothing");
        part(
            tried.different,
            "changed what the design computes, and are not advised",
        );
        part(tried.failed, "could not be compiled or did not end");
        part(
            tried.not_tried,
            if self.interrupted {
                "were not tried, since it was interrupted"
            } else {
                "were not tried: the search was over before (`--budget`, `--candidates`)"
            },
        );
        text
    }

    /// What was wrongly taken for proved: loud, since nothing else of the list can be trusted then.
    fn defects(&self) -> Option<String> {
        let defects = self.defects.iter().enumerate();
        let lines = defects.map(|(at, defect)| {
            let Defect { what, problem, .. } = defect;
            format!("- if you {what} ({}): {problem}", Defect::file(at))
        });
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| {
            format!(
                "DEFECT OF PETAL: it took for proved that the design stays the same, which is not so\n{}",
                lines.join("\n")
            )
        })
    }

    fn headline(&self) -> String {
        if self.advice.is_empty() {
            return format!(
                "{}: {}; nothing found that saves any",
                self.design,
                counted(self.cycles, "cycle")
            );
        }
        let mut with = "all advice".to_owned();
        // No patch does that.
        if !self.arguments.is_empty() {
            let _ = write!(with, " and `{}`", self.arguments.join(" "));
        }
        let mut text = format!(
            "{}: {}, with {with} {} ({:+.1} %)",
            self.design,
            counted(self.cycles, "cycle"),
            thousands(self.with_all),
            -self.percent()
        );
        if self.with_proved != self.with_all && self.with_proved != self.cycles {
            let _ = write!(
                text,
                ", with what is proved {} ({:+.1} %)",
                thousands(self.with_proved),
                -self.proved_percent()
            );
        }
        text
    }

    /// What time and area become, in a sentence.
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    fn synthesized(&self) -> Option<String> {
        let of = self.synthesized.as_ref()?;
        let (before, after) = (&of.before, &of.with_all);
        let times = [before.time_ns(self.cycles), after.time_ns(self.with_all)];
        let figures = [
            ("time, ns", times),
            ("LUT", [before.luts, after.luts]),
            ("FF", [before.ffs, after.ffs]),
        ];
        let figures = figures.into_iter().filter(|(_, [was, _])| *was > 0);
        let figures = figures.map(|(name, [was, is])| {
            let change = 100.0 * (is as f64 - was as f64) / was as f64;
            let (was, is) = (thousands(was), thousands(is));
            format!("{name} {was} → {is} ({change:+.1} %)")
        });
        let figures: Vec<String> = figures.collect();
        let mut text = format!("on {}: {}", before.device, figures.join(", "));
        let spreads = [before, after].map(spread);
        let _ = match before.periods_ps.len() {
            0 => write!(text, "; without place and route, nobody knows the clock"),
            1 => write!(text, "; one place and route, others may differ"),
            seeds => {
                let spread = spreads.into_iter().fold(0.0, f64::max);
                write!(text, "; {seeds} seeds, ±{spread:.1} %")
            }
        };
        if !of.left_out.is_empty() {
            let goal = match of.goal {
                Goal::Cycles => "cycles",
                Goal::Time => "time",
                Goal::Area => "area",
            };
            let _ = write!(
                text,
                "; left out, since they save cycles but cost {goal}: {}",
                of.left_out.join("; ")
            );
        }
        Some(text)
    }

    /// Which data everything was tried on.
    fn data(&self) -> String {
        let names: Vec<&str> = self.data.iter().map(|data| data.name.as_str()).collect();
        format!("tried on: {}", names.join(", "))
    }

    /// The advice that stands without anything that is only checked, and the rest, each in order.
    fn sections(&self) -> [(Class, &[Item]); 2] {
        let first = self
            .advice
            .iter()
            .position(|item| item.class == Class::Checked);
        let (proved, checked) = self.advice.split_at(first.unwrap_or(self.advice.len()));
        [(Class::Proved, proved), (Class::Checked, checked)]
    }

    /// For a terminal.
    pub fn text(&self, screen: Screen) -> String {
        let mut text = String::new();
        if let Some(defects) = self.defects() {
            let _ = writeln!(text, "{defects}\n");
        }
        text.push_str(&screen.styled_lines(BOLD, &screen.wrapped(&self.headline(), 0)));
        if self.interrupted {
            text.push_str("interrupted: this is what was found until then\n");
        }
        for (class, items) in self.sections() {
            if !items.is_empty() {
                let heading = screen.wrapped(heading(class), 0);
                let _ = write!(text, "\n{}", screen.styled_lines(BOLD, &heading));
            }
            for item in items {
                let what = screen.wrapped(&item.what, 6);
                let what = screen.styled_lines(BOLD, &what);
                let _ = write!(text, "\n  {:2}  {}", item.number, what.trim_start());
                let saving = screen.wrapped(&item.saving(), 6);
                text.push_str(&screen.styled_lines(BETTER, &saving));
                let mut line = |line: &str| text.push_str(&screen.wrapped(line, 6));
                if let Some(place) = item.place(&self.file) {
                    line(&format!("at {place}"));
                }
                line(&format!("hardware: {}", item.cost));
                let why = screen.wrapped(&item.why, 6);
                text.push_str(&screen.styled_lines(DIM, &why));
                if let Some(how) = item.how {
                    text.push_str(&screen.wrapped(how, 6));
                }
                text.push_str(&item.short_diff(screen));
            }
        }
        text.push_str(&self.not_advised(screen));
        if self.advice.len() > 1 {
            text.push('\n');
            text.push_str(&self.steps().shown(screen, 2));
        }
        text.push('\n');
        for line in self
            .synthesized()
            .into_iter()
            .chain([self.data(), self.tried()])
        {
            text.push_str(&screen.wrapped(&line, 0));
        }
        if !self.advice.is_empty() {
            let _ = writeln!(text, "{NOT_ESTIMATED}");
        }
        if !self.front.is_empty() {
            let _ = writeln!(
                text,
                "\nno combination beats these in cycles, register bits and cells:"
            );
            text.push_str(&self.front().shown(screen, 2));
        }
        text
    }

    /// What is not advised, and why.
    fn not_advised(&self, screen: Screen) -> String {
        let mut text = String::new();
        if !self.not_advised.is_empty() {
            let heading = screen.styled(BOLD, "not advised");
            let _ = write!(text, "\n{heading}\n");
        }
        for of in &self.not_advised {
            let place = of.place.as_deref().unwrap_or(&self.design);
            let saves = of
                .saves
                .map(|saves| format!("saves {}, ", counted(saves, "cycle")));
            let line = format!(
                "{} at {place}: {}{}",
                of.kind,
                saves.unwrap_or_default(),
                of.why
            );
            text.push_str(&screen.wrapped(&line, 2));
        }
        text
    }

    /// For a comment in a pull request.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n", markdown(&self.headline()));
        if let Some(defects) = self.defects() {
            let _ = writeln!(text, "\n**{}**", defects.replace('\n', "\n\n"));
        }
        if self.interrupted {
            text.push_str("\ninterrupted: this is what was found until then\n");
        }
        for (class, items) in self.sections() {
            if !items.is_empty() {
                let _ = writeln!(
                    text,
                    "\n**{}**\n\n| | what to do | saves | alone | hardware |\n| ---: | --- | ---: | ---: | --- |",
                    heading(class)
                );
            }
            for item in items {
                let place = item
                    .place(&self.file)
                    .map(|place| format!(" ({})", markdown(&place)));
                let alone = item.alone.map_or_else(|| "–".to_owned(), thousands);
                let _ = writeln!(
                    text,
                    "| {} | {}{} | {} ({:.1} %) | {alone} | {} |",
                    item.number,
                    markdown(&item.what),
                    place.unwrap_or_default(),
                    grouped(&item.on_top.to_string()),
                    item.percent,
                    markdown(&item.cost)
                );
            }
        }
        if !self.all_patch.is_empty() {
            let fence = "`".repeat(longest_ticks(&self.all_patch).max(2) + 1);
            let _ = writeln!(
                text,
                "\n<details><summary>All of it as a patch</summary>\n\n{fence}diff\n{}{fence}\n\n</details>",
                self.all_patch
            );
        }
        if let Some(synthesized) = self.synthesized() {
            let _ = writeln!(text, "\n{}", markdown(&synthesized));
        }
        let _ = writeln!(
            text,
            "\n{}; {}",
            markdown(&self.data()),
            markdown(&self.tried())
        );
        if !self.advice.is_empty() {
            let _ = writeln!(text, "\n{NOT_ESTIMATED}");
        }
        text
    }
}

/// By how much the periods of some seeds differ from the one in the middle at most, in per cent.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn spread(cost: &Cost) -> f64 {
    let middle = cost.period_ps.map(|of| of as f64);
    let away = |of: &u64| middle.map_or(0.0, |middle| 100.0 * (*of as f64 / middle - 1.0).abs());
    cost.periods_ps.iter().map(away).fold(0.0, f64::max)
}

fn heading(class: Class) -> &'static str {
    match class {
        Class::Proved => "proved: the design computes the same, whatever its data are",
        Class::Checked => {
            "checked: the design computed the same with the data that it was tried on"
        }
    }
}

/// What would begin something in a table of Markdown, told as it is; code stays code.
fn markdown(text: &str) -> String {
    text.replace('|', "\\|")
        .replace('<', "&lt;")
        .replace('\n', " ")
}

fn longest_ticks(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}
