//! One file, parsed by the compiler's parser.
//!
//! Owns how many steps that may take, and that an error of the parser is told as one in the user's file: the parser is given
//! a [translation](crate::syntax). Knows no other file.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use calyx_frontend::ast::NamespaceDef;

use crate::error::ProgramError;
use crate::guard::guarded;
use crate::nesting;
use crate::syntax::restore::{Ignored, restore};
use crate::syntax::{self, Translation};
use crate::unclosed;

/// Steps that the parser may take for a file. Valid ones take 10 to 50 for each byte; imported files
/// are usually small.
const MOST_CALLS: usize = 100_000_000;
const CALLS_PER_BYTE: usize = 200;

/// Files without components that were parsed, by their paths. The library is parsed for a program, for the plain one that it is
/// compared with, and for each change that is tried.
static KNOWN: Mutex<BTreeMap<PathBuf, Known>> = Mutex::new(BTreeMap::new());

/// So many at most are kept.
const MOST_KNOWN: usize = 64;

/// A file of primitives that the parser was given as the user has it.
struct Known {
    text: String,
    namespace: NamespaceDef,
}

/// Tells of an error of the parser in the text that it was given as one in the user's file, and what it
/// means that it took too many steps.
fn explain(error: ProgramError, path: &Path, user: &str, given: &str) -> ProgramError {
    let ProgramError::Calyx { stage, message } = error else {
        return error;
    };
    let path = path.display();
    // The compiler is given a text, which has no name, or this one.
    let message = if let Some(rest) = message.strip_prefix("Failed to parse buffer:") {
        let rest = rest.replacen("--> ", &format!("--> {path}:"), 1);
        format!("Failed to parse `{path}`:{rest}")
    } else if let Some(rest) = message.strip_prefix("<stdin>") {
        format!("{path}{rest}")
    } else {
        message
    };
    // Lines are shown as `12 | seq {`, or as `12 |seq {`.
    let original = |line: &str| -> Option<String> {
        let (number, shown) = line.split_once(" |")?;
        let at = number.trim().parse::<usize>().ok()?.checked_sub(1)?;
        let (given, text) = (given.lines().nth(at)?.trim_end(), user.lines().nth(at)?);
        let space = [" ", ""].into_iter().find(|space| {
            let shown = shown.strip_prefix(*space);
            shown.is_some_and(|shown| shown.trim_end() == given)
        })?;
        Some(format!("{number} |{space}{text}"))
    };
    let lines = message
        .split('\n')
        .map(|line| original(line).unwrap_or_else(|| line.to_owned()));
    let message = lines.collect::<Vec<_>>().join("\n");
    let meaning = "this is an error (the parser gave up looking for what may be here)";
    let message = message.replace("call limit reached", meaning);
    let meant = misspelt(&message, user).unwrap_or_default();
    ProgramError::Calyx {
        stage,
        message: format!("{}{meant}", message.trim_end()),
    }
}

/// The words of Calyx that begin something.
const WORDS: [&str; 20] = [
    "import",
    "extern",
    "primitive",
    "comb",
    "static",
    "component",
    "cells",
    "wires",
    "control",
    "group",
    "ref",
    "seq",
    "par",
    "if",
    "else",
    "while",
    "repeat",
    "invoke",
    "with",
    "fsm",
];

/// A question whether one of Calyx's words is meant by what stands where the parser's message is about.
fn misspelt(message: &str, user: &str) -> Option<String> {
    let (line, column) = place(message)?;
    let line = user.lines().nth(line - 1)?;
    let rest: String = line.chars().skip(column - 1).collect();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic());
    let word = &rest[..end.unwrap_or(rest.len())];
    if WORDS.contains(&word) {
        return None;
    }
    let near = petal_metadata::nearest(word, WORDS);
    // The likeliest one only: what may stand there, the parser tells.
    let question = petal_metadata::question(near.get(..1)?)?;
    Some(format!("; {question}"))
}

/// What the compiler's parser makes of a text.
fn construct(path: &Path, text: &str) -> Result<NamespaceDef, ProgramError> {
    guarded(path, "parser", || NamespaceDef::construct_from_str(text))
}

/// The error of the parser, or what is missing in the text, if that is why.
fn with_missing(error: ProgramError, path: &Path, text: &str) -> ProgramError {
    let ProgramError::Calyx { stage, message } = error else {
        return error;
    };
    let stops = |message: &str, text: &str| {
        let (line, column) = place(message)?;
        let begin: usize = text
            .split_inclusive('\n')
            .take(line - 1)
            .map(str::len)
            .sum();
        let line = text.get(begin..)?.lines().next().unwrap_or_default();
        let column = line.char_indices().nth(column - 1);
        Some(begin + column.map_or(line.len(), |(at, _)| at))
    };
    let parse = |tried: &str| match syntax::translate(tried) {
        Err(problem) => Some(problem.at),
        Ok(translation) => {
            let parsed = construct(path, &translation.text);
            let ProgramError::Calyx { message, .. } = parsed.err()? else {
                return Some(0);
            };
            stops(&message, tried).or(Some(0))
        }
    };
    let name = path.to_string_lossy();
    let missing = stops(&message, text);
    let missing = missing.and_then(|stop| unclosed::missing(&name, text, stop, parse));
    ProgramError::Calyx {
        stage,
        message: missing.unwrap_or(message),
    }
}

/// The line and the column, both counted from 1, that a message of the parser is about.
fn place(message: &str) -> Option<(usize, usize)> {
    // `--> design.futil:5:3`, or `design.futil:5:3: Parse error` of upstream's compiler.
    let first = message.lines().next()?;
    let place = match first.rsplit_once("--> ") {
        Some((_, place)) => place,
        None => first.split_once(": ")?.0,
    };
    let mut numbers = place.rsplit(':');
    let column = numbers.next()?.trim().parse().ok()?;
    let line = numbers.next()?.parse().ok()?;
    (line > 0 && column > 0).then_some((line, column))
}

/// Parses one file, which is called `path`.
pub(crate) fn parse_text(
    path: &Path,
    text: &str,
) -> Result<(NamespaceDef, Translation, Ignored), ProgramError> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(path).filter(|known| known.text == text)
        && let Some(namespace) = petal_compiler::declarations(&known.namespace)
    {
        return Ok((namespace, Translation::plain(text), Ignored::default()));
    }
    let translation = syntax::translate(text).map_err(|problem| ProgramError::Syntax {
        path: path.to_owned(),
        line: syntax::line(text, problem.at),
        problem: problem.message,
    })?;
    nesting::check(translation.text.as_bytes(), |line, problem| {
        ProgramError::Nested {
            path: path.to_owned(),
            line,
            problem,
        }
    })?;
    // An error inside of loops makes the parser try everything again at each level around it.
    let calls = MOST_CALLS.max(text.len().saturating_mul(CALLS_PER_BYTE));
    pest::set_call_limit(NonZeroUsize::new(calls));
    let mut namespace = match construct(path, &translation.text) {
        Ok(namespace) => namespace,
        Err(error) => {
            let error = explain(error, path, text, &translation.text);
            return Err(with_missing(error, path, text));
        }
    };
    let name = path.to_string_lossy().into_owned();
    let file = petal_compiler::position_file(name, text.to_owned());
    let ignored = restore(&mut namespace, &translation, file);
    if translation.is_plain(text)
        && let Some(namespace) = petal_compiler::declarations(&namespace)
    {
        if known.len() == MOST_KNOWN {
            known.clear();
        }
        let text = text.to_owned();
        known.insert(path.to_owned(), Known { text, namespace });
    }
    Ok((namespace, translation, ignored))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use calyx_utils::WithPos as _;
    use petal_files::Scratch;

    use crate::{Library, Program};

    /// The latency of a primitive of the program, and the offset and the end of the path of its place.
    fn fast(folder: &Path) -> (u64, usize, bool) {
        let library = Library::new(&[]).unwrap();
        let program = Program::read(&*folder.join("main.futil"), &library).unwrap();
        let primitive = program.ctx.lib.get_primitive("fast");
        let place = primitive.attributes.copy_span().into_option().unwrap();
        let (file, start, _) = place.get_location();
        let latency = primitive.latency.unwrap().get();
        (latency, start, file.ends_with("fast.futil"))
    }

    #[test]
    fn a_file_of_primitives_is_parsed_again_if_it_has_changed() {
        let folder = Scratch::new().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("fast.sv", "module fast(); endmodule");
        write(
            "main.futil",
            "import \"fast.futil\";\ncomponent main() -> () { cells {} wires {} control {} }\n",
        );
        let begin = "extern \"fast.sv\" { ";
        for (space, latency) in [("", 2), ("", 2), ("\n\n", 2), ("", 3), ("", 2)] {
            let primitive = format!("static<{latency}> primitive fast(@go go: 1) -> ();");
            write("fast.futil", &format!("{space}{begin}{primitive} }}\n"));
            let start = space.len() + begin.len();
            assert_eq!(fast(folder.path()), (latency, start, true));
        }
    }
}
