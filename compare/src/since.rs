//! What a run says of the run of the same name before it: in a line, without tables.
//!
//! Owns when two texts are still one design. What differs in detail, a [`Comparison`](crate::Comparison) tells.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use petal_metadata::Metadata;
use petal_table::{counted, thousands};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::comparison::Change;

/// How a run differs from the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    cycles: Change,
    /// Lines of the source that are not as they were.
    lines: usize,
    /// Whether other passes compiled it.
    other_passes: bool,
    /// Whether its memories began with other contents.
    other_data: bool,
    /// Whether both have so many lines in common that one was made of the other.
    is_same_design: bool,
}

/// Shorter lines are in every program.
const SHORTEST: usize = 4;

/// Of the lines of the longer text, one in so many makes two texts one design.
const IN_COMMON: usize = 3;

impl Since {
    /// The metadata and the cycles of the run before, and of the run after.
    pub fn new(before: (&Metadata, u64), after: (&Metadata, u64)) -> Self {
        let (mut lines, mut common, mut longer) = (0, 0, 0);
        let texts = |metadata: &Metadata| -> BTreeMap<String, String> {
            let files = metadata.files.iter();
            let texts = files.map(|file| (file.name.clone(), file.text.clone()));
            texts.collect()
        };
        let (was, is) = (texts(before.0), texts(after.0));
        let names: Vec<&String> = was
            .keys()
            .chain(is.keys().filter(|name| !was.contains_key(*name)))
            .collect();
        let root = |metadata: &Metadata| {
            let root = metadata.files.iter().find(|file| file.root);
            root.map_or(String::new(), |file| file.name.clone())
        };
        let roots = [root(before.0), root(after.0)];
        for name in names {
            let empty = String::new();
            let pair = [was.get(name), is.get(name)].map(|text| text.unwrap_or(&empty));
            let difference = Difference::new(pair);
            lines += difference.changed;
            if roots.contains(name) {
                common += difference.common;
                longer += difference.longer;
            }
        }
        Self {
            cycles: Change {
                before: before.1,
                after: after.1,
            },
            lines,
            other_passes: before.0.pipeline != after.0.pipeline,
            other_data: false,
            is_same_design: common * IN_COMMON >= longer,
        }
    }

    /// The same of runs whose memories began with the same contents, or with others.
    #[must_use]
    pub fn of_data(mut self, is_same: bool) -> Self {
        self.other_data = !is_same;
        self
    }

    /// Whether the memories of both began with the same contents, as far as is known.
    pub fn has_same_data(&self) -> bool {
        !self.other_data
    }

    /// Whether the run before was one of the same design, as it was then.
    pub fn is_same_design(&self) -> bool {
        self.is_same_design
    }

    /// The difference in a line, such as `175,512 cycles fewer (-13.8 %) than in the run 12 minutes ago; 3 lines changed`. `age`
    /// is that of the run before, where that may be told.
    pub fn text(&self, age: Option<Duration>) -> String {
        let run = match age {
            Some(age) => format!("the run {} ago", rounded(age)),
            None => "the run before".to_owned(),
        };
        if !self.is_same_design {
            return format!("not compared with {run}, which was of another design");
        }
        if self.other_data {
            let before = thousands(self.cycles.before);
            return format!(
                "not compared with {run}, which had other data and took {before} cycles"
            );
        }
        let delta = self.cycles.delta();
        let mut text = if delta == 0 {
            format!("as many cycles as in {run}")
        } else {
            let percent = match self.cycles.percent() {
                Some(percent) => format!(" ({percent:+.1} %)"),
                None => String::new(),
            };
            let sign = if delta < 0 { "fewer" } else { "more" };
            let count = counted(delta.unsigned_abs(), "cycle");
            format!("{count} {sign}{percent} than in {run}")
        };
        match (self.lines, delta) {
            (0, 0) if !self.other_passes => {}
            (0, _) if !self.other_passes => text.push_str("; no line changed"),
            (0, _) => {}
            (1, _) => text.push_str("; 1 line changed"),
            (lines, _) => {
                let _ = write!(text, "; {} lines changed", thousands(lines as u64));
            }
        }
        if self.other_passes {
            text.push_str("; compiled with other passes");
        }
        text
    }
}

/// How two texts differ.
struct Difference {
    changed: usize,
    common: usize,
    longer: usize,
}

impl Difference {
    fn new([before, after]: [&String; 2]) -> Self {
        let before: Vec<&str> = before.lines().collect();
        let after: Vec<&str> = after.lines().collect();
        let counts = |line: &&&str| line.trim().len() >= SHORTEST;
        let (mut changed, mut common) = (0, 0);
        for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
            match op {
                DiffOp::Equal { old_index, len, .. } => {
                    let equal = before[old_index..old_index + len].iter();
                    common += equal.filter(counts).count();
                }
                DiffOp::Delete { old_len, .. } => changed += old_len,
                DiffOp::Insert { new_len, .. } => changed += new_len,
                DiffOp::Replace {
                    old_len, new_len, ..
                } => changed += old_len.max(new_len),
            }
        }
        let count = |lines: &[&str]| lines.iter().filter(counts).count();
        Self {
            changed,
            common,
            longer: count(&before).max(count(&after)),
        }
    }
}

/// A time in its largest unit: `12 minutes`.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86400 => (seconds / 3600, "hour"),
        _ => (seconds / 86400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(before: u64, after: u64, lines: usize) -> Since {
        Since {
            cycles: Change { before, after },
            lines,
            other_passes: false,
            other_data: false,
            is_same_design: true,
        }
    }

    #[test]
    fn the_difference_is_told_in_a_line() {
        let age = Some(Duration::from_secs(12 * 60 + 30));
        let told = since(1_270_130, 1_094_618, 3).text(age);
        assert_eq!(
            told,
            "175,512 cycles fewer (-13.8 %) than in the run 12 minutes ago; 3 lines changed"
        );
        let told = since(9, 10, 1).text(None);
        assert_eq!(
            told,
            "1 cycle more (+11.1 %) than in the run before; 1 line changed"
        );
        let told = since(9, 9, 0).text(Some(Duration::from_secs(90_000)));
        assert_eq!(told, "as many cycles as in the run 1 day ago");
        let told = since(9, 8, 0).text(None);
        assert_eq!(
            told,
            "1 cycle fewer (-11.1 %) than in the run before; no line changed"
        );
        let told = since(9, 8, 1).of_data(false).text(None);
        assert_eq!(
            told,
            "not compared with the run before, which had other data and took 9 cycles"
        );
    }

    #[test]
    fn another_design_is_not_compared() {
        let mut since = since(10_682, 60, 703);
        since.is_same_design = false;
        assert_eq!(
            since.text(None),
            "not compared with the run before, which was of another design"
        );
    }

    #[test]
    fn lines_are_counted_where_they_differ() {
        let text = |lines: &[&str]| lines.join("\n");
        let before = text(&["import \"x\";", "a = std_reg(1);", "}", "group a {}"]);
        let after = text(&[
            "import \"x\";",
            "a = std_reg(2);",
            "}",
            "group a {}",
            "group b {}",
        ]);
        let difference = Difference::new([&before, &after]);
        assert_eq!(
            (difference.changed, difference.common, difference.longer),
            (2, 2, 4)
        );
    }
}
