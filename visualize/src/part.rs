//! Which part of a long run is worth a look: some cycles that were asked for, an activation of a statement, or what stands for the
//! whole run.
//!
//! Owns the choice. The analysis of a run tells what there is; where an activation is, a [`Search`] through the trace finds. It needs
//! memory for different call trees only, not for cycles.

mod around;
mod excerpts;
mod search;

use std::ops::Range;

use petal_metadata::{GroupRunId, Id as _, Metadata, labels};
use petal_reconstruct::FrameLabels;
use thiserror::Error;

use self::search::Goal;
use petal_analysis::Analysis;
use petal_analysis::activations::{Activations, Counting};
use petal_analysis::cells::path;
use petal_analysis::elements::{Element, ElementKind};
use petal_metadata::nearest;
use petal_table::text::thousands;

pub use self::around::Around;
pub use self::excerpts::excerpts;
pub use self::search::Search;

/// A part of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its cycles.
    pub cycles: Range<u64>,
    /// What it is, and what is in it.
    pub about: String,
    /// What asks for the part after it, as options of the command; `None` where the run ends.
    pub next: Option<String>,
}

impl Part {
    /// The part with these cycles of a run that is so long, and the next one as long as this.
    fn new(cycles: Range<u64>, about: String, run: u64) -> Self {
        let Range { start, end } = cycles;
        let next = (end < run).then(|| {
            let after = run.min(end.saturating_add(end - start));
            format!("--cycles {end}..{after}")
        });
        Self {
            cycles,
            about,
            next,
        }
    }

    /// These cycles of a run that is so long.
    ///
    /// # Errors
    /// When it has none of them.
    pub fn of_cycles(cycles: &Range<u64>, run: u64) -> Result<Self, PartError> {
        let &Range { start, end } = cycles;
        if start >= run {
            return Err(PartError::Cycles {
                cycles: run,
                from: start,
            });
        }
        let about = "asked for by `--cycles`".to_owned();
        Ok(Self::new(start..end.min(run), about, run))
    }
}

/// Why there is no such part.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PartError {
    /// Nothing of that name ran.
    #[error("no statement, group or cell `{path}` ran{}", also(" there is", .near))]
    Unknown {
        /// What was asked for.
        path: String,
        /// What looks like it.
        near: Vec<String>,
    },
    /// Several things have that name.
    #[error("`{path}` may be any of several;{}", also("", .all))]
    Several {
        /// What was asked for.
        path: String,
        /// Names that tell them apart.
        all: Vec<String>,
    },
    /// It did not run as often.
    #[error("`{path}` ran {} in this run", so_often(*.times))]
    Fewer {
        /// What was asked for.
        path: String,
        /// How often it ran.
        times: u64,
    },
    /// The run does not have such cycles.
    #[error("the run has the cycles 0..{cycles}: there is none from {from} on")]
    Cycles {
        /// Length of the run.
        cycles: u64,
        /// What was asked for.
        from: u64,
    },
}

fn also(lead: &str, names: &[String]) -> String {
    match names {
        [] => String::new(),
        names if lead.is_empty() => format!(" write `{}`", names.join("`, or `")),
        names => format!(";{lead} `{}`", names.join("`, `")),
    }
}

fn so_often(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        times => format!("{} times", thousands(times)),
    }
}

/// Knows what was active how often in a run, and by which names.
#[derive(Debug)]
pub struct Survey<'a> {
    metadata: &'a Metadata,
    activations: &'a Activations<'a>,
    cycles: u64,
}

impl<'a> Survey<'a> {
    /// Of a run of this design.
    pub fn new(metadata: &'a Metadata, analysis: &'a Analysis<'_>) -> Self {
        Self {
            metadata,
            activations: analysis.activations(),
            cycles: analysis.cycles(),
        }
    }

    /// How to find an activation in the trace, in at most so many slices.
    ///
    /// # Errors
    /// When the run has nothing like it.
    pub fn search(&self, around: &Around, max_slices: u64) -> Result<Search, PartError> {
        let goal = self.activation(around)?;
        Ok(Search::new(goal, around.clone(), self.cycles, max_slices))
    }

    /// What something that was active may be called, the shortest name first.
    fn names(&self, labels: &FrameLabels, element: Element) -> Vec<String> {
        let elements = self.activations.elements();
        let id = elements.instances()[element.instance.index()].component;
        let component = self.metadata.component(id);
        let cell = path(self.metadata, elements.instances(), element.instance);
        match element.kind {
            ElementKind::Cell => vec![cell],
            ElementKind::Control(node) => vec![format!("{cell}.{}", labels.control(id, node))],
            ElementKind::Group(run) => {
                let run = component.run(run);
                let name = format!("{cell}.{}", labels.group(id, run.group));
                let places = labels::control_places(self.metadata, component);
                let place = run.control.map(|node| &places[node.index()]);
                let precise = place.map(|place| format!("{name}@{place}"));
                std::iter::once(name).chain(precise).collect()
            }
            ElementKind::Primitive(..) => Vec::new(),
        }
    }

    /// The activation that is asked for.
    fn activation(&self, around: &Around) -> Result<Goal, PartError> {
        let labels = FrameLabels::new(self.metadata);
        let all = self.activations.durations();
        let all: Vec<(Element, u64, Vec<String>)> = all
            .map(|(element, durations)| (element, durations.count, self.names(&labels, element)))
            .collect();
        let of_name = all
            .iter()
            .filter(|(_, _, names)| names.contains(&around.path));
        let path = around.path.clone();
        // What has one place is one, though it may have several runs, as the condition of a loop has.
        let mut precise: Vec<String> = of_name
            .clone()
            .filter_map(|(_, _, names)| names.last().cloned())
            .collect();
        precise.sort();
        precise.dedup();
        match precise.len() {
            0 => {
                let names = all.iter().filter_map(|(_, _, names)| names.first());
                let near = nearest(&path, names.map(String::as_str)).into_iter();
                let near = near.map(ToOwned::to_owned).collect();
                Err(PartError::Unknown { path, near })
            }
            1 => {
                let times = of_name.clone().map(|&(_, count, _)| count).sum();
                if around.number.get() > times {
                    return Err(PartError::Fewer { path, times });
                }
                let witnesses: Vec<Element> = of_name.map(|&(element, _, _)| element).collect();
                let last = witnesses.iter().map(|&first| self.last_part(first));
                let last: Vec<Element> = last.collect();
                Ok(self.goal(&last, &witnesses, around.number.get() - 1, times))
            }
            _ => Err(PartError::Several { path, all: precise }),
        }
    }

    /// The last part of a group that the compiler split, by its first; what is not split is its own.
    fn last_part(&self, element: Element) -> Element {
        let elements = self.activations.elements();
        let component = elements.instances()[element.instance.index()].component;
        let component = self.metadata.component(component);
        let ElementKind::Group(first) = element.kind else {
            return element;
        };
        let whole = |id| {
            let run = component.run(id);
            run.part.map(|_| (run.control, run.group))
        };
        let mut ids = (0..component.runs.len()).rev().map(GroupRunId::from_index);
        let last = ids.find(|&id| whole(id).is_some() && whole(id) == whole(first));
        let last = last.map(|id| Element {
            kind: ElementKind::Group(id),
            ..element
        });
        last.filter(|&last| elements.id(last).is_some())
            .unwrap_or(element)
    }

    /// `first`: how many activations come before the one that is wanted, of `all`.
    fn goal(&self, within: &[Element], witnesses: &[Element], first: u64, all: u64) -> Goal {
        let elements = self.activations.elements();
        let latency = |element| match Counting::of(self.metadata, elements.instances(), element) {
            Counting::Latency(latency) => Some(latency),
            Counting::Once | Counting::Part(_) => None,
        };
        let within = within.iter().filter_map(|&element| elements.id(element));
        let witnesses = witnesses.iter().filter_map(|&element| {
            let id = elements.id(element)?;
            Some((id, latency(element)))
        });
        Goal {
            within: within.collect(),
            witnesses: witnesses.collect(),
            first,
            all,
        }
    }
}
