//! The screen that the command prints to.

use std::env;
use std::fmt::Write as _;
use std::io;

use petal_table::Screen;
use petal_table::style::{BOLD, DIM};
use terminal_size::{Width, terminal_size_of};

use crate::streams;

/// The narrowest that texts are made for.
const NARROWEST: usize = 60;

/// That of standard output: a terminal's width, or what is written for files and other programs. Colours that it does not show are left
/// out where texts are printed.
pub fn screen() -> Screen {
    if streams::is_called() {
        return Screen::PLAIN;
    }
    let size = terminal_size_of(io::stdout());
    Screen {
        is_terminal: size.is_some(),
        width: size.map_or(Screen::PLAIN.width, |(Width(width), _)| {
            NARROWEST.max(width.into())
        }),
        has_blocks: size.is_none() || is_utf8(),
        has_colors: true,
    }
}

/// A message for standard error: lines that are too long for a terminal are broken between words.
pub fn message(text: &str) -> String {
    let Some((Width(width), _)) = terminal_size_of(io::stderr()) else {
        return text.to_owned();
    };
    let screen = Screen {
        width: NARROWEST.max(width.into()),
        ..Screen::PLAIN
    };
    let lines = text.lines().map(|line| {
        let rest = line.trim_start();
        // A line of a source, and the mark below it, keep their places.
        let is_source = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if is_source.trim_start().starts_with('|') {
            return format!("{line}\n");
        }
        screen.wrapped(rest, line.len() - rest.len())
    });
    lines.collect::<String>().trim_end().to_owned()
}

/// Whether the locale's characters are those of Unicode.
fn is_utf8() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let mut set = set.filter_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    set.next().is_some_and(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// What to do next: commands, each with what it does where there is room for that.
pub fn next(commands: &[(Vec<String>, &str)], screen: Screen) -> String {
    let commands: Vec<(String, &str)> = commands
        .iter()
        .map(|(words, what)| {
            let words = words.iter().map(String::as_str);
            (shlex::try_join(words).unwrap_or_default(), *what)
        })
        .filter(|(command, _)| !command.is_empty())
        .collect();
    let widest = commands.iter().map(|(command, _)| command.chars().count());
    let widest = widest.max().unwrap_or(0);
    let mut text = format!("  {}\n", screen.styled(BOLD, "next"));
    for (command, what) in commands {
        text.push_str("  ");
        if 2 + widest + 2 + what.chars().count() <= screen.width {
            let what = screen.styled(DIM, what);
            let _ = writeln!(text, "{command:<widest$}  {what}");
        } else {
            let _ = writeln!(text, "{command}");
        }
    }
    text
}
