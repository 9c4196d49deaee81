//! A change that may save cycles: an edit of the text, or another way to compile it.

use serde::Serialize;

use crate::pipeline::Passes;
use crate::rewrites::{Certainty, Rewrite, RewriteKind};
use crate::variant::Variant;

/// How certain it is that a program computes the same after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A rule of data flow says so, whatever the data are.
    Proved,
    /// It did, with the data that it was tried on.
    Checked,
}

impl Class {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Checked => "checked",
        }
    }
}

/// A change that may save cycles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// An edit of the text.
    Edit(Rewrite),
    /// Another way to compile it.
    Compile(Passes),
    /// To compile it with hardware of its own for each cell: as it is written.
    Apart,
}

/// What makes two changes the same, whatever else was changed before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    Edit(RewriteKind, String, Option<(usize, usize)>, String),
    Compile(Passes),
    Apart,
}

impl Change {
    pub(crate) fn key(&self, variant: &Variant) -> Key {
        match self {
            Self::Edit(rewrite) => Key::Edit(
                rewrite.kind,
                rewrite.component.clone(),
                variant.origin(rewrite.region.clone()),
                rewrite.what.clone(),
            ),
            Self::Compile(passes) => Key::Compile(passes.clone()),
            Self::Apart => Key::Apart,
        }
    }

    /// The program with it.
    pub fn apply(&self, variant: &Variant) -> Variant {
        match self {
            Self::Edit(rewrite) => variant.edited(rewrite),
            Self::Compile(passes) => variant.compiled(passes),
            Self::Apart => variant.compiled(&Passes::apart()),
        }
    }

    /// Whether it is several edits at once.
    pub(crate) fn is_set(&self) -> bool {
        matches!(self, Self::Edit(rewrite) if rewrite.is_set)
    }

    /// How certain it is that the program computes the same.
    pub fn class(&self) -> Class {
        match self {
            Self::Edit(rewrite) if rewrite.certainty == Certainty::Proved => Class::Proved,
            Self::Apart => Class::Proved,
            Self::Edit(_) | Self::Compile(_) => Class::Checked,
        }
    }

    /// A short name of its kind, for files and programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Edit(rewrite) => rewrite.kind.name(),
            Self::Compile(_) | Self::Apart => "compile",
        }
    }

    /// The arguments of the command that it is about.
    pub fn arguments(&self) -> Vec<String> {
        match self {
            Self::Edit(_) => Vec::new(),
            Self::Compile(passes) => passes.arguments(),
            Self::Apart => Passes::apart().arguments(),
        }
    }

    /// What to do.
    pub fn what(&self) -> String {
        match self {
            Self::Edit(rewrite) => rewrite.what.clone(),
            Self::Compile(_) | Self::Apart => {
                format!("compile it with `{}`", self.arguments().join(" "))
            }
        }
    }

    /// How to do it in the language of the front end's file that a line such as `queue.py:12` is of.
    pub(crate) fn how(&self, line: &str) -> Option<&'static str> {
        let Self::Edit(rewrite) = self else {
            return None;
        };
        let file = line.split(':').next()?;
        match (rewrite.kind, file.rsplit_once('.')?.1) {
            (RewriteKind::ContinuousCondition, "py") => Some(
                "in calyx-py, assign the inputs of the cell in `with comp.continuous:`, and give `if_` or `while_` its output without \
                 a group",
            ),
            (RewriteKind::ParallelSteps, "py") => {
                Some("in calyx-py, put these steps into a `par(…)` instead of a list")
            }
            (RewriteKind::SequentialArms, "py") => {
                Some("in calyx-py, put these arms into a list instead of a `par(…)`")
            }
            (RewriteKind::ExclusiveBranches, "py") => Some(
                "in calyx-py, nest the calls of `if_`: each but the first as the last argument of the one before it",
            ),
            (RewriteKind::MergedGroups, "py") => Some(
                "in calyx-py, write the assignments of these groups into one `comp.group(…)`, with the `done` of either",
            ),
            (RewriteKind::OperationChaining, "py") => Some(
                "in calyx-py, write the assignments of these groups into one `comp.group(…)`, and read the input of a register where its \
                 output was read",
            ),
            (RewriteKind::FixedLatency, "py") => Some(
                "in calyx-py, tell how long the group takes: `comp.group(…, static_delay=…)`, or `comp.static_group(…)`",
            ),
            (RewriteKind::Shift, "py") => {
                Some("in calyx-py, take `comp.lsh(…)`, `comp.rsh(…)` or `comp.and_(…)` instead")
            }
            (RewriteKind::CopyPropagation, "py") => Some(
                "in calyx-py, end the group with the `done` of the cell, and read its output where the register was read",
            ),
            (RewriteKind::LoopInvariant, "py") => {
                Some("in calyx-py, put this step before the loop, in the list that has both")
            }
            (RewriteKind::UnsharedCell, "py") => Some(
                "in calyx-py, read the cell through a slice of its whole width, assigned in `with comp.continuous:`",
            ),
            (RewriteKind::ParallelSteps, "fuse") => {
                Some("in Dahlia, write `;` between these statements instead of `---`")
            }
            (RewriteKind::SequentialArms, "fuse") => {
                Some("in Dahlia, write `---` between these statements instead of `;`")
            }
            (RewriteKind::LoopInvariant, "fuse") => {
                Some("in Dahlia, compute this before the loop, with a `let`")
            }
            _ => None,
        }
    }

    /// Why it saves cycles: a sentence.
    pub fn why(&self) -> &'static str {
        match self {
            Self::Edit(rewrite) => match rewrite.kind {
                RewriteKind::ContinuousCondition => {
                    "The compiler gives a condition `with` a comb group a cycle of its own, each time that it is looked at."
                }
                RewriteKind::ExclusiveBranches => {
                    "A `par` waits for all of its arms, and adds a cycle to learn that they are done, although at most one of \
                     these has anything to do."
                }
                RewriteKind::ParallelSteps => {
                    "A `seq` runs one step after the other, although these need nothing of one another."
                }
                RewriteKind::SequentialArms => {
                    "A `par` adds cycles to start its arms and to learn that they are done: for arms this short, that is \
                     more than it saves."
                }
                RewriteKind::MergedGroups => {
                    "Each group costs a state or a register of its own, and cycles to start it and to learn that it is done."
                }
                RewriteKind::OperationChaining => {
                    "Each group takes a cycle of its own, although what goes into a register can be read at once."
                }
                RewriteKind::FixedLatency => {
                    "The compiler takes away the control between steps of which it knows how long they take."
                }
                RewriteKind::FixedIterations => {
                    "The compiler needs no condition for a loop of which it knows how often it runs."
                }
                RewriteKind::PipelinedLoop => {
                    "The next iteration need not wait for all of this one, but for what it needs of it."
                }
                RewriteKind::LoopInvariant => {
                    "A step that finds the same in each iteration, and leaves the same, need not run in each."
                }
                RewriteKind::Inline => {
                    "A call costs cycles to start a component and to learn that it is done."
                }
                RewriteKind::Shift => {
                    "A multiplier takes two cycles, a divider more than its width, and a cycle more to keep what they give; a shift is there at once."
                }
                RewriteKind::CopyPropagation => {
                    "A copy in a register takes a cycle, although what is copied stays where it is."
                }
                RewriteKind::UnsharedCell => {
                    "The compiler gave one piece of hardware the work of several cells, so what they do cannot overlap."
                }
            },
            Self::Apart => {
                "The compiler gives one piece of hardware the work of several cells, and may lose what they keep."
            }
            Self::Compile(_) => {
                "What the compiler does to make a design smaller or faster may cost this one cycles."
            }
        }
    }

    /// Why the program computes the same, or why only runs can tell: a sentence.
    pub fn premise(&self) -> String {
        match self {
            Self::Edit(rewrite) => match self.class() {
                Class::Proved => format!("It computes the same: {}.", rewrite.premise),
                Class::Checked => format!(
                    "It computed the same with the data that it was tried on, which is no proof: {}.",
                    rewrite.premise
                ),
            },
            Self::Apart => {
                "So the program is as it is written, and more of it can be proved.".to_owned()
            }
            Self::Compile(_) => {
                "It computed the same with the data that it was tried on.".to_owned()
            }
        }
    }
}
