//! How an editor's buttons move, and what is typed in its console.

use petal_debug::{Session, Stop};
use petal_profile::Error;
use petal_table::Screen;
use serde_json::{Value, json};

use super::{Answer, Server};
use crate::debug::commands::{Asked, act, is_command};
use crate::debug::text;

impl Server {
    /// Moves; what is at the end is told after the answer.
    pub(super) fn go(&mut self, command: &str) -> Answer {
        let act: fn(&mut Session) -> Result<Stop, Error> = match command {
            "continue" => |session| Ok(session.resume()),
            "reverseContinue" => |session| Ok(session.reverse()),
            "next" => |session| Ok(session.next_change()),
            "stepIn" => |session| Ok(session.step(1)),
            "stepOut" => |session| session.finish(None),
            "stepBack" => |session| Ok(session.back(1)),
            "pause" => |session| Ok(session.step(0)),
            _ => return Err(Error::usage(format!("there is no request `{command}`"))),
        };
        let reason = match command {
            "continue" | "reverseContinue" => "breakpoint",
            "pause" => "pause",
            _ => "step",
        };
        let debugged = self.debugged.as_mut();
        let debugged = debugged.ok_or_else(|| Error::usage("`launch` comes first"))?;
        let stop = act(&mut debugged.session)?;
        self.waiting = Some((reason, stop));
        Ok(match command {
            "continue" | "reverseContinue" => json!({ "allThreadsContinued": true }),
            _ => Value::Null,
        })
    }

    /// A value, or in the console a command of the prompt.
    pub(super) fn evaluate(&mut self, arguments: &Value) -> Answer {
        let debugged = self.debugged.as_mut();
        let debugged = debugged.ok_or_else(|| Error::usage("`launch` comes first"))?;
        let expression = arguments["expression"].as_str().unwrap_or_default().trim();
        if arguments["context"] == "repl" && is_command(expression) {
            let before = debugged.session.at();
            let Asked::Text(text) = act(&mut debugged.session, expression, Screen::PLAIN)? else {
                return Err(Error::usage("the editor ends the session"));
            };
            if debugged.session.at() != before {
                let stop = debugged.session.step(0);
                self.waiting = Some(("goto", stop));
            }
            return Ok(json!({ "result": text.trim_end(), "variablesReference": 0 }));
        }
        let instance = debugged.instance(arguments);
        let value = debugged.session.print(expression, instance)?;
        Ok(json!({ "result": text::value(&value), "variablesReference": 0 }))
    }
}
