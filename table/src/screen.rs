//! What a text may take on a screen: how wide it is, and whether it shows colours and more than ASCII.

use std::fmt::{Display, Write as _};

use anstyle::Style;
use textwrap::core::display_width;
use textwrap::{Options, fill};

/// Where a text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns.
    pub width: usize,
    /// Whether somebody looks at it: tables have to fit then, elsewhere they are whole.
    pub is_terminal: bool,
    /// Whether it shows block characters.
    pub has_blocks: bool,
    /// Whether it has colours.
    pub has_colors: bool,
}

impl Screen {
    /// What a text is written for that goes into a file or to another program.
    pub const PLAIN: Self = Self {
        width: 80,
        is_terminal: false,
        has_blocks: true,
        has_colors: false,
    };

    /// `text` in a style, if there are colours.
    pub fn styled(self, style: Style, text: impl Display) -> String {
        if self.has_colors {
            format!("{style}{text}{style:#}")
        } else {
            text.to_string()
        }
    }

    /// Each line of `text` in a style, behind the spaces that it begins with.
    pub fn styled_lines(self, style: Style, text: &str) -> String {
        let lines = text.lines().map(|line| {
            let rest = line.trim_start();
            let indent = &line[..line.len() - rest.len()];
            match rest {
                "" => "\n".to_owned(),
                rest => format!("{indent}{}\n", self.styled(style, rest)),
            }
        });
        lines.collect()
    }

    /// A bar of `part` of `whole`, in at most `width` columns.
    pub fn bar(self, part: u64, whole: u64, width: usize) -> String {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
        let eighths = usize::try_from(part * 8 * width as u128 / whole).unwrap_or(0);
        if self.has_blocks {
            format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
        } else {
            "#".repeat(eighths.div_ceil(8))
        }
    }

    /// A line that is broken where it is wider than a terminal, anywhere if need be; what follows begins with so many spaces. Elsewhere
    /// it stays one line.
    pub fn folded(self, line: &str, indent: usize) -> String {
        if !self.is_terminal || display_width(line) <= self.width {
            return line.to_owned();
        }
        // Deep lines leave room for words.
        let indent = " ".repeat(indent.min(self.width / 2));
        let options = Options::new(self.width).subsequent_indent(&indent);
        fill(line, options)
    }

    /// `text` in lines that begin with so many spaces, broken between words.
    pub fn wrapped(self, text: &str, indent: usize) -> String {
        let indent = " ".repeat(indent);
        let options = Options::new(self.width.max(40));
        let options = options.initial_indent(&indent).subsequent_indent(&indent);
        let mut lines = fill(text, options.break_words(false));
        let _ = writeln!(lines);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_part() {
        let ascii = Screen {
            has_blocks: false,
            ..Screen::PLAIN
        };
        assert_eq!(Screen::PLAIN.bar(1, 2, 5), "██▌");
        assert_eq!(Screen::PLAIN.bar(7, 7, 3), "███");
        assert_eq!(Screen::PLAIN.bar(0, 0, 3), "");
        assert_eq!(ascii.bar(1, 2, 5), "###");
    }

    #[test]
    fn lines_are_folded_on_terminals_alone() {
        let narrow = Screen {
            width: 12,
            is_terminal: true,
            ..Screen::PLAIN
        };
        let line = "  one two a_name_of_twenty_chars";
        assert_eq!(
            narrow.folded(line, 4),
            "  one two\n    a_name_o\n    f_twenty\n    _chars"
        );
        assert_eq!(Screen::PLAIN.folded(line, 4), line);
    }

    #[test]
    fn prose_is_broken_between_words() {
        let narrow = Screen {
            width: 40,
            ..Screen::PLAIN
        };
        let text = "moves from step to step: 2 cycles each time; enters and leaves its branch";
        assert_eq!(
            narrow.wrapped(text, 2),
            "  moves from step to step: 2 cycles each\n  time; enters and leaves its branch\n"
        );
    }
}
