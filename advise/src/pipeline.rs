//! Other ways to compile a program.

use serde::Serialize;

/// How a program is compiled, other than it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Passes {
    /// Another list of passes.
    pub passes: Option<String>,
    /// Passes to leave out.
    pub disabled: Vec<String>,
    /// Options of passes.
    pub options: Vec<String>,
}

impl Passes {
    pub(crate) fn add(&mut self, other: &Self) {
        if other.passes.is_some() {
            self.passes.clone_from(&other.passes);
        }
        self.disabled.extend(other.disabled.iter().cloned());
        self.options.extend(other.options.iter().cloned());
    }

    /// That each cell has hardware of its own, as the program says.
    pub fn apart() -> Self {
        Self {
            disabled: vec![SHARING.to_owned()],
            ..Self::default()
        }
    }

    /// The arguments of the command that compile a program so.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if let Some(passes) = &self.passes {
            arguments.push(format!("--passes {passes}"));
        }
        arguments.extend(self.disabled.iter().map(|pass| format!("-d {pass}")));
        arguments.extend(self.options.iter().map(|option| format!("-x {option}")));
        arguments
    }
}

/// The compiler's own list of passes with all optimisations.
const ALL: &str = "all";

/// The pass that gives one piece of hardware the work of several cells.
pub const SHARING: &str = "cell-share";

/// Passes that can be left out, where they run, and that may cost cycles.
const OPTIONAL: [&str; 6] = [
    SHARING,
    "static-promotion",
    "collapse-control",
    "group2seq",
    "group2invoke",
    "comb-prop",
];

/// Options that may save cycles, of passes that run.
const OPTIONS: [&str; 6] = [
    "tdcc:early-transitions",
    "static-promotion:threshold=0",
    "static-promotion:threshold=4",
    "static-promotion:if-diff-limit=0",
    "static-promotion:compaction=false",
    "inline:always",
];

/// Other ways to compile a program than by `passes`, with the options that it is compiled with already.
pub fn pipelines(passes: &[String], options: &[String]) -> Vec<Passes> {
    let runs = |pass: &str| passes.iter().any(|known| known == pass);
    let mut all = Vec::new();
    // Whoever left out optimisations may not know what they are worth.
    if !runs("static-promotion") && !runs(SHARING) && !runs("collapse-control") {
        all.push(Passes {
            passes: Some(ALL.to_owned()),
            ..Passes::default()
        });
    }
    for pass in OPTIONAL.into_iter().filter(|pass| runs(pass)) {
        all.push(Passes {
            disabled: vec![pass.to_owned()],
            ..Passes::default()
        });
    }
    for option in OPTIONS {
        let name = option.split('=').next().unwrap_or(option);
        let given = options.iter().any(|given| given.starts_with(name));
        if option.split(':').next().is_some_and(runs) && !given {
            all.push(Passes {
                options: vec![option.to_owned()],
                ..Passes::default()
            });
        }
    }
    all
}
