//! What the command says beside its output, on standard error.

use std::fmt::Display;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};

use crate::screen::message;

/// Tells what went wrong.
pub fn error(text: impl Display) {
    say("error", AnsiColor::Red.on_default().bold(), text);
}

/// Tells what the user should know.
pub fn note(text: impl Display) {
    say("note", AnsiColor::Cyan.on_default().bold(), text);
}

/// Tells what may make a result another one than the user expects.
pub fn warning(text: impl Display) {
    say("warning", AnsiColor::Yellow.on_default().bold(), text);
}

/// Tells what a simulated design says.
pub fn plain(text: impl Display) {
    // As below.
    let _ = writeln!(anstream::stderr(), "{text}");
}

fn say(kind: &str, style: Style, text: impl Display) {
    // Where nobody listens there is nobody to tell.
    let kind = &format!("{kind}:");
    let told = message(&format!("{kind} {text}"));
    let text = told.strip_prefix(kind).unwrap_or(&told);
    let _ = writeln!(anstream::stderr(), "{style}{kind}{style:#}{text}");
}
