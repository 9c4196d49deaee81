//! The commands of the debugger's prompt: what each is called, means and does.

use std::fmt::Write as _;

use petal_debug::Session;
use petal_metadata::nearest;
use petal_profile::Error;
use petal_table::Screen;

use super::text;

/// How many lines are listed before and after one.
const AROUND: u32 = 5;

/// A command: its names, how it is written, and what it means.
pub struct Command {
    pub names: &'static [&'static str],
    usage: &'static str,
    about: &'static str,
    act: fn(&mut Session, &str, Screen) -> Result<String, Error>,
}

/// All commands but `help` and `quit`.
pub const COMMANDS: [Command; 19] = [
    command(
        &["step", "s"],
        "step [N]",
        "one cycle forward, or N",
        |session, text, screen| {
            let stop = session.step(count(text)?);
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["back"],
        "back [N]",
        "one cycle back, or N",
        |session, text, screen| {
            let stop = session.back(count(text)?);
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["next", "n"],
        "next",
        "forward to the first cycle in which something else is active",
        |session, text, screen| {
            nothing(text)?;
            let stop = session.next_change();
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["prev"],
        "prev",
        "back to the first cycle in which the same is active as now; from there, to that of what was active before",
        |session, text, screen| {
            nothing(text)?;
            let stop = session.previous_change();
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["finish", "f"],
        "finish [#N]",
        "forward to the first cycle after what holds all that is active, or after #N of `where`",
        |session, text, screen| {
            let stop = session.finish(frame(text)?)?;
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["start"],
        "start [#N]",
        "back to the first cycle of that",
        |session, text, screen| {
            let stop = session.start(frame(text)?)?;
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["until", "u"],
        "until WHAT",
        "forward to where a line (L12, lib.futil:12), statement, group or cell begins, the third time with main.wr#3; to a cycle; or to where an expression becomes true",
        |session, text, screen| {
            let stop = session.until(something(text, "until main.wr")?)?;
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["goto", "g"],
        "goto CYCLE",
        "to a cycle, wherever it is",
        |session, text, screen| {
            let cycle = something(text, "goto 100")?.parse();
            let cycle = cycle.map_err(|_| Error::usage(format!("`{text}` is no cycle")))?;
            let stop = session.goto(cycle)?;
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["continue", "c"],
        "continue",
        "forward to the next breakpoint, or to the last cycle",
        |session, text, screen| {
            nothing(text)?;
            let stop = session.resume();
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["reverse-continue", "rc"],
        "reverse-continue",
        "back to the breakpoint before, or to the first cycle",
        |session, text, screen| {
            nothing(text)?;
            let stop = session.reverse();
            Ok(text::stop(session, &stop, screen))
        },
    ),
    command(
        &["break", "b"],
        "break WHAT [if EXPRESSION]",
        "stop where a line, statement, group or cell begins, or an expression becomes true",
        |session, text, _| {
            let (what, only_if) = match text.split_once(" if ") {
                Some((what, only_if)) => (what.trim(), Some(only_if.trim())),
                None => (text, None),
            };
            let what = something(what, "break main.wr")?;
            session.break_at(what, only_if).map(text::breakpoint)
        },
    ),
    command(
        &["watch"],
        "watch VALUE",
        "stop where a register, a memory, a word of one or an expression changes",
        |session, text, _| {
            session
                .watch(something(text, "watch main.k")?)
                .map(text::breakpoint)
        },
    ),
    command(
        &["breakpoints"],
        "breakpoints",
        "list where the run is to stop",
        |session, text, _| {
            nothing(text)?;
            Ok(match session.breakpoints() {
                [] => "none\n".to_owned(),
                all => all.iter().map(text::breakpoint).collect(),
            })
        },
    ),
    command(
        &["delete", "d"],
        "delete N",
        "remove a breakpoint",
        |session, text, _| {
            let number = something(text, "delete 1")?.parse().ok();
            if !number.is_some_and(|number| session.delete(number)) {
                return Err(Error::usage(format!(
                    "there is no breakpoint {text}: `breakpoints` lists them"
                )));
            }
            Ok(String::new())
        },
    ),
    command(
        &["last"],
        "last VALUE",
        "who changed it last: back to the latest change before this cycle, with the group and the line",
        |session, name, screen| {
            let joined = text::joined(session, name, screen);
            let (stop, written, line) = session.last(something(name, "last main.k")?)?;
            let mut text = format!("{}\n{joined}", text::change(name, &written));
            if let Some(line) = line {
                let _ = writeln!(text, "  {}", text::line(session, &line));
            }
            Ok(text + &text::stop(session, &stop, screen))
        },
    ),
    command(
        &["where", "w"],
        "where",
        "the call tree of this cycle, with since when each part is active",
        |session, text, screen| {
            nothing(text)?;
            Ok(text::call_tree(session, screen))
        },
    ),
    command(
        &["list", "l"],
        "list [WHERE]",
        "the source around what is active, or around a line, statement, group or cell; => marks what is innermost, > what is around it",
        |session, text, screen| {
            let at = (!text.is_empty()).then_some(text);
            session.list(at, AROUND, screen)
        },
    ),
    command(
        &["print", "p"],
        "print VALUE",
        "a register, a memory or an expression, such as main.k.out + 1, in this cycle",
        |session, text, screen| {
            let instance = session.instance();
            let value = session.print(something(text, "print main.k")?, instance)?;
            let value = screen.folded(&text::value(&value), 0) + "\n";
            Ok(value + &text::joined(session, text, screen))
        },
    ),
    command(
        &["why"],
        "why",
        "why this cycle is computation, conditions or overhead, and what ran before and after it",
        |session, text, screen| {
            nothing(text)?;
            let sentences = session.why();
            Ok(sentences.iter().map(|of| screen.wrapped(of, 0)).collect())
        },
    ),
];

const fn command(
    names: &'static [&'static str],
    usage: &'static str,
    about: &'static str,
    act: fn(&mut Session, &str, Screen) -> Result<String, Error>,
) -> Command {
    Command {
        names,
        usage,
        about,
        act,
    }
}

/// What a line of the prompt asks for.
pub enum Asked {
    Text(String),
    Quit,
}

/// Whether a line begins with the name of a command.
pub fn is_command(line: &str) -> bool {
    let name = line.split_whitespace().next().unwrap_or_default();
    name == "help" || COMMANDS.iter().any(|of| of.names.contains(&name))
}

/// Does what a line says.
pub fn act(session: &mut Session, line: &str, screen: Screen) -> Result<Asked, Error> {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match name {
        "" => return Ok(Asked::Text(String::new())),
        "quit" | "q" => return Ok(Asked::Quit),
        "help" | "h" => return Ok(Asked::Text(help(screen))),
        _ => {}
    }
    let named = COMMANDS.iter().find(|of| of.names.contains(&name));
    // A beginning that only one command has.
    let mut begun = COMMANDS.iter().filter(|of| of.names[0].starts_with(name));
    let begun = begun.next().filter(|_| begun.next().is_none());
    let Some(command) = named.or(begun) else {
        let names = COMMANDS.iter().map(|of| of.names[0]);
        let near = nearest(name, names);
        let near = near
            .first()
            .map_or(String::new(), |near| format!(", is it `{near}`"));
        return Err(Error::usage(format!(
            "there is no command `{name}`{near}: `help` lists them"
        )));
    };
    (command.act)(session, rest, screen).map(Asked::Text)
}

/// All commands.
fn help(screen: Screen) -> String {
    let mut text = String::new();
    for Command {
        names,
        usage,
        about,
        ..
    } in &COMMANDS
    {
        let short = names
            .get(1)
            .map_or(String::new(), |short| format!(", {short}"));
        let line = format!("{usage}{short}: {about}");
        text.push_str(&screen.folded(&line, 4));
        text.push('\n');
    }
    text.push_str("quit, q: end\n");
    text
}

/// A number of cycles.
fn count(text: &str) -> Result<u64, Error> {
    if text.is_empty() {
        return Ok(1);
    }
    text.parse()
        .map_err(|_| Error::usage(format!("`{text}` is no number of cycles")))
}

/// The number of a frame: `#3` or `3`.
fn frame(text: &str) -> Result<Option<usize>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.strip_prefix('#').unwrap_or(text).parse();
    let number = number
        .map_err(|_| Error::usage(format!("`{text}` is no number of `where`, such as #3")))?;
    Ok(Some(number))
}

/// Fails if there is something.
fn nothing(text: &str) -> Result<(), Error> {
    if text.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "nothing is expected after the command, and there is `{text}`"
    )))
}

/// Fails if there is nothing.
fn something<'a>(text: &'a str, such_as: &str) -> Result<&'a str, Error> {
    if text.is_empty() {
        return Err(Error::usage(format!("something is missing: `{such_as}`")));
    }
    Ok(text)
}
