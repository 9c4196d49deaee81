//! The debugger's prompt: a line editor with completion and history on a terminal, and lines of standard input elsewhere.

use std::io::{self, BufRead as _, IsTerminal as _};

use petal_debug::Session;
use petal_profile::Error;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};

use super::commands::{Asked, COMMANDS, act};
use crate::messages;
use crate::print::print;
use crate::screen::screen;
use crate::streams;

/// Reads commands and does them, until there are no more.
pub fn run(session: &mut Session) -> Result<(), Error> {
    if let Some(text) = streams::input() {
        return script(session, text.lines().map(|line| Ok(line.to_owned())));
    }
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return converse(session);
    }
    script(session, io::stdin().lock().lines())
}

/// Does the commands of lines, and prints each before what it gives. The first that fails ends it.
fn script(
    session: &mut Session,
    lines: impl Iterator<Item = io::Result<String>>,
) -> Result<(), Error> {
    for (number, line) in (1..).zip(lines) {
        let line =
            line.map_err(|error| Error::new(format!("cannot read the commands: {error}")))?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        print(&format!("> {line}\n"))?;
        match act(session, line, screen()) {
            Ok(Asked::Text(text)) => print(&text)?,
            Ok(Asked::Quit) => break,
            Err(error) => return Err(error.in_line(number)),
        }
    }
    Ok(())
}

/// Talks with somebody at a terminal. An empty line does the last command once more.
fn converse(session: &mut Session) -> Result<(), Error> {
    let unreadable = |error| Error::new(format!("cannot read from the terminal: {error}"));
    let mut editor =
        Editor::with_history(Config::default(), MemHistory::new()).map_err(unreadable)?;
    editor.set_helper(Some(Names::new(session)));
    let mut last = "where".to_owned();
    print("`help` lists the commands\n")?;
    loop {
        let line = match editor.readline(&format!("({}) ", session.at())) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(unreadable(error)),
        };
        if !line.trim().is_empty() {
            // A history that is full forgets the oldest line.
            let _ = editor.add_history_entry(line.trim());
            last.clone_from(&line);
        }
        match act(session, &last, screen()) {
            Ok(Asked::Text(text)) => print(&text)?,
            Ok(Asked::Quit) => return Ok(()),
            Err(error) if petal_profile::interrupt::is_requested() => return Err(error),
            Err(error) => messages::error(error),
        }
    }
}

/// What the Tab key completes: commands, and then names of the run.
struct Names(Vec<String>);

impl Names {
    fn new(session: &Session) -> Self {
        Self(session.names())
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        let start = before.rfind([' ', '(', '!']).map_or(0, |space| space + 1);
        let word = &before[start..];
        let is_command = before[..start].trim().is_empty();
        let begins = |name: &&str| name.starts_with(word);
        let found: Vec<String> = if is_command {
            let names = COMMANDS
                .iter()
                .map(|of| of.names[0])
                .chain(["help", "quit"]);
            names.filter(begins).map(str::to_owned).collect()
        } else {
            let names = self.0.iter().map(String::as_str);
            names.filter(begins).map(str::to_owned).collect()
        };
        Ok((start, found))
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}
impl Validator for Names {}
impl Helper for Names {}
