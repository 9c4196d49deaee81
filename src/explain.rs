//! `petal explain`: what a word of petal's outputs means.

use petal_table::terms::{self, Term};

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::outputs;

/// `petal explain`
pub fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let word = args.term.join(" ");
    if word.is_empty() {
        return outputs::print(&terms::list());
    }
    let Some(term) = Term::find(&word) else {
        let near = match &Term::nearest(&word)[..] {
            [] => String::new(),
            near => format!("; near are `{}`", near.join("`, `")),
        };
        return Err(Failure::usage(format!(
            "`{word}` is no term of petal's outputs{near}; `petal explain` lists all"
        )));
    };
    outputs::print(&term.explain())
}
