//! `petal explain`: what a word of petal's outputs means.

use petal_table::terms::{self, Term};

use petal_profile::Error;

use crate::args::ExplainArgs;
use crate::print::print;
use crate::screen::screen;

/// `petal explain`
pub fn explain(args: &ExplainArgs) -> Result<(), Error> {
    let word = args.term.join(" ");
    if word.is_empty() {
        return print(&terms::list(screen()));
    }
    let Some(term) = Term::find(&word) else {
        let near = petal_metadata::question(&Term::nearest(&word));
        let near = near.map_or_else(String::new, |question| format!("; {question}"));
        return Err(Error::usage(format!(
            "`{word}` is no term of petal's outputs{near}; `petal explain` lists all"
        )));
    };
    print(&term.explain(screen()))
}
