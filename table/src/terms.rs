//! The words of petal's outputs: what each quantity is, with an example and the page of the guide about it.
//!
//! The one list that `petal explain`, the glossary of the guide and the hover texts of the report are made of.
//! Knows nothing of a run. How a quantity is counted is said where that is done.

mod list;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petal_metadata::nearest;

pub use list::{Scope, TERMS, Term};

use crate::Screen;
use crate::style::{BOLD, DIM};

impl Scope {
    /// All scopes, in the order of the glossary.
    pub const ALL: [Self; 10] = [
        Self::Run,
        Self::Statement,
        Self::Cell,
        Self::Group,
        Self::Line,
        Self::Row,
        Self::Program,
        Self::Comparison,
        Self::Advice,
        Self::Observation,
    ];

    /// Whether it is of quantities, each of which has a page of the guide; other words only need a sentence.
    fn is_of_quantities(self) -> bool {
        !matches!(
            self,
            Self::Program | Self::Comparison | Self::Advice | Self::Observation
        )
    }

    /// The scope as a heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Run => "The run",
            Self::Statement => "A statement",
            Self::Cell => "A component cell",
            Self::Group => "A group",
            Self::Line => "A line of a front end",
            Self::Row => "Any row of a table",
            Self::Program => "The program",
            Self::Comparison => "A comparison",
            Self::Advice => "Advice and sweeps",
            Self::Observation => "An observation",
        }
    }
}

impl Term {
    /// The term that outputs call `word`: by its name, as a column's heading (`busy %`, `control: barrier`, `cycles before`) or as a
    /// key in JSON (`useful_cycles`, `fsm_update_cycles`), in any case.
    pub fn find(word: &str) -> Option<&'static Self> {
        let whole = word.trim();
        let word = match whole.trim_end_matches('%').trim_end() {
            "" => whole,
            word => word,
        };
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        let mut all = TERMS.iter();
        all.find(|term| is(term.name) || term.also.iter().any(|also| is(also)))
            .or_else(|| Self::find(word.split_once([':', ',']).map(|(word, _)| word)?))
            .or_else(|| {
                Self::find(
                    word.strip_suffix(" before")
                        .or_else(|| word.strip_suffix(" after"))?,
                )
            })
            .or_else(|| Self::find(word.strip_prefix("least ")?))
            .or_else(|| {
                let mut prefixes = ["value_", "from_", "to_"].into_iter();
                let prefix = prefixes.find(|&prefix| word.starts_with(prefix) && word != prefix);
                Self::find(prefix?)
            })
            .or_else(|| Self::find(&word.strip_suffix("_cycles")?.replace('_', "-")))
    }

    /// The names of the terms that `word` may stand for, the likeliest first; none if nothing is near.
    pub fn nearest(word: &str) -> Vec<&'static str> {
        let all = TERMS
            .iter()
            .flat_map(|term| term.also.iter().copied().chain([term.name]));
        nearest(word, all)
    }

    /// The term with its meaning, its example and where to read on, for a terminal.
    pub fn explain(&self, screen: Screen) -> String {
        let scope = self.scope.title().to_lowercase();
        let mut text = format!("{} ({scope})\n", screen.styled(BOLD, self.name));
        text.push_str(&screen.wrapped(self.meaning, 2));
        let example = format!("For example: {}", self.example);
        text.push_str(&screen.wrapped(&example, 2));
        let also = match self.also {
            [] => String::new(),
            also => format!("Also: {}. ", also.join(", ")),
        };
        let more = screen.wrapped(&format!("{also}More: {}", self.guide()), 2);
        text.push_str(&screen.styled_lines(DIM, &more));
        text
    }

    /// Where the documentation tells more: a file of the project, and a heading in it.
    pub fn guide(&self) -> String {
        format!("docs/guide/{}", self.page).replace("docs/guide/../", "docs/")
    }

    /// The meaning and the example in a line, for where the term stands.
    pub fn hint(&self) -> String {
        format!("{} For example: {}", self.meaning, self.example)
    }
}

/// What each of these headings means, by heading, and each quantity by all its names, in a line.
pub fn hints<'a>(headings: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let names = TERMS.iter().filter(|term| term.scope.is_of_quantities());
    let names = names.flat_map(|term| term.also.iter().copied().chain([term.name]));
    names
        .chain(headings)
        .filter_map(|heading| Some((heading, Term::find(heading)?.hint())))
        .collect()
}

/// The names of all terms by scope, for a terminal.
pub fn list(screen: Screen) -> String {
    let mut text = String::new();
    for scope in Scope::ALL {
        let of_scope = TERMS.iter().filter(|term| term.scope == scope);
        let names: Vec<&str> = of_scope.map(|term| term.name).collect();
        let _ = writeln!(text, "{}", screen.styled(BOLD, scope.title()));
        text.push_str(&screen.wrapped(&names.join(", "), 2));
    }
    text
}

/// The page of the guide with all terms.
pub fn glossary() -> String {
    let mut text = String::from(
        "# Glossary\n\nEach word of the outputs has one meaning, which `petal explain` tells with an example, as the report does where the pointer rests on \
         it:\n\n```sh\npetal explain overhead\n```\n\n```text\n",
    );
    let example = Term::find("overhead");
    text.push_str(
        &example
            .map(|term| term.explain(Screen::PLAIN))
            .unwrap_or_default(),
    );
    text.push_str("```\n");
    for scope in Scope::ALL {
        if !scope.is_of_quantities() {
            continue;
        }
        let _ = writeln!(text, "\n## {}", scope.title());
        for Term {
            name,
            meaning,
            page,
            ..
        } in TERMS.iter().filter(|term| term.scope == scope)
        {
            let _ = writeln!(text, "\n### {name}\n\n{meaning}\n[More]({page}).");
        }
    }
    let others = TERMS.iter().filter(|term| !term.scope.is_of_quantities());
    let others: Vec<&str> = others.map(|term| term.name).collect();
    let _ = writeln!(
        text,
        "\n## Other words\n\n`petal explain` knows these, too: {}.",
        others.join(", ")
    );
    text
}
