//! `petal explain`: what a word of petal's outputs means.

use petal_profile::Error;
use petal_table::terms::{self, TERMS, Term};
use serde_json::{Value, json};

use crate::args::{ExplainArgs, TextOrJson};
use crate::print::print;
use crate::screen::screen;

/// `petal explain`
pub fn explain(args: &ExplainArgs) -> Result<(), Error> {
    let word = args.term.join(" ");
    let is_json = args.format == TextOrJson::Json;
    if word.is_empty() {
        return print(&if is_json {
            format!("{:#}\n", TERMS.iter().map(json).collect::<Value>())
        } else {
            terms::list(screen())
        });
    }
    let Some(term) = Term::find(&word) else {
        let near = petal_metadata::question(&Term::nearest(&word));
        let near = near.map_or_else(String::new, |question| format!("; {question}"));
        return Err(Error::usage(format!(
            "`{word}` is no term of petal's outputs{near}; `petal explain` lists all"
        )));
    };
    print(&if is_json {
        format!("{:#}\n", json(term))
    } else {
        term.explain(screen())
    })
}

/// A term for other programs.
fn json(term: &Term) -> Value {
    json!({
        "name": term.name,
        "of": term.scope.title(),
        "meaning": term.meaning,
        "example": term.example,
        "also": term.also,
        "guide": term.guide(),
    })
}
