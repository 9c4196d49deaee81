//! Which part of a long run is worth a look: some cycles that were asked for, an activation of a statement, or whole
//! iterations of the outermost loop from the middle of the run.
//!
//! Owns the choice. A [`Survey`] of the whole trace tells what there is, a [`Search`] goes through it again and finds from
//! where to where the part goes. Both need memory for different call trees only, not for cycles.

mod search;
mod wanted;

use foldhash::HashMap;
use petal_metadata::{ControlId, GroupRunId, Id as _, Metadata, RunRole, labels};
use petal_reconstruct::{Event, FrameLabels};
use thiserror::Error;

use self::search::Goal;
use petal_analysis::activations::{Activations, Counting, Durations};
use petal_analysis::cells::path;
use petal_analysis::control::{children, once};
use petal_analysis::elements::{Element, ElementKind};
use petal_metadata::nearest;
use petal_table::text::thousands;

pub use self::search::{Part, Search};
pub use self::wanted::{Around, Wanted};

/// How many loops are looked at, the most promising first.
const MAX_LOOPS: usize = 32;

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

/// Counts what is active how often in a trace.
#[derive(Debug)]
pub struct Survey<'a> {
    metadata: &'a Metadata,
    activations: Activations<'a>,
    cycles: u64,
}

impl<'a> Survey<'a> {
    /// Of a trace of this design, before its first event.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            activations: Activations::new(metadata),
            cycles: 0,
        }
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        self.activations.event(event);
        if let Event::End { cycles } = event {
            self.cycles = *cycles;
        }
    }

    /// How to find what is wanted in the same trace, in at most so many slices; what was asked for by its cycles may
    /// have more.
    ///
    /// # Errors
    /// When the run has nothing like it.
    pub fn search(&self, wanted: &Wanted, max_slices: u64) -> Result<Search, PartError> {
        let goals = match wanted {
            Wanted::Cycles(cycles) if cycles.start >= self.cycles => {
                return Err(PartError::Cycles {
                    cycles: self.cycles,
                    from: cycles.start,
                });
            }
            Wanted::Cycles(_) => Vec::new(),
            Wanted::Typical => self.loops(),
            Wanted::Around(around) => vec![self.activation(around)?],
        };
        Ok(Search::new(goals, wanted.clone(), self.cycles, max_slices))
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
                let counted = (around.number.get() - 1, 1, times);
                let last = witnesses.iter().map(|&first| self.last_part(first));
                Ok(self.goal(path, &last.collect::<Vec<_>>(), &witnesses, false, counted))
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

    /// The iterations of loops that are typical of the run, the most promising first: of the outermost loops in
    /// which half of the run passes, then of those in which less does.
    fn loops(&self) -> Vec<Goal> {
        let labels = FrameLabels::new(self.metadata);
        let elements = self.activations.elements();
        let durations: HashMap<Element, Durations> = self.activations.durations().collect();
        let mut loops: Vec<(bool, usize, u64, Goal)> = Vec::new();
        for (&element, durations_of_loop) in &durations {
            let ElementKind::Control(node) = element.kind else {
                continue;
            };
            let Some(id) = elements.id(element) else {
                continue;
            };
            let (witnesses, tests) = self.witnesses(element, node);
            let times = witnesses.iter().filter_map(|one| durations.get(one));
            let times: u64 = times.map(|durations| durations.count).sum();
            let left = if tests { durations_of_loop.count } else { 0 };
            let iterations = times.saturating_sub(left);
            if iterations < 2 {
                continue;
            }
            let name = self.names(&labels, element).swap_remove(0);
            let counted = (iterations / 2, u64::MAX, iterations);
            let goal = self.goal(name, &[element], &witnesses, tests, counted);
            let cycles = durations_of_loop.total;
            let is_most = cycles >= self.cycles / 2;
            let depth = if is_most { elements.depth(id) } else { 0 };
            loops.push((!is_most, depth, u64::MAX - cycles, goal));
        }
        loops.sort_by(|(a, b, c, goal), (x, y, z, other)| {
            (a, b, c, &goal.name).cmp(&(x, y, z, &other.name))
        });
        let goals = loops.into_iter().map(|(_, _, _, goal)| goal);
        goals.take(MAX_LOOPS).collect()
    }

    /// What becomes active once in each iteration of a loop, any of these, and whether that is its test, which comes
    /// once more to leave it; nothing for what is no loop, and where nothing tells.
    fn witnesses(&self, element: Element, node: ControlId) -> (Vec<Element>, bool) {
        let instances = self.activations.elements().instances();
        let component = instances[element.instance.index()].component;
        let component = self.metadata.component(component);
        let of = |kind| Element { kind, ..element };
        let runs = |node, is_role: fn(RunRole) -> bool| {
            let ids = (0..component.runs.len()).map(GroupRunId::from_index);
            let of_node = ids.filter(move |&id| {
                component.run(id).control == Some(node) && is_role(component.run(id).role)
            });
            let all = of_node.map(|id| of(ElementKind::Group(id)));
            // Of a group that the compiler split, the first part.
            let begins = all.filter(|&run| match Counting::of(self.metadata, instances, run) {
                Counting::Part(first) => first == run,
                Counting::Once | Counting::Latency(_) => true,
            });
            begins.collect::<Vec<Element>>()
        };
        if !component.node(node).kind.is_loop() {
            return (Vec::new(), false);
        }
        let tests = runs(node, |role| role == RunRole::Condition);
        if !tests.is_empty() {
            return (tests, true);
        }
        let body = children(component, node).next();
        let witnesses = match body.and_then(|body| once(component, body)) {
            Some(statement) if component.node(statement).kind.is_enable() => {
                runs(statement, RunRole::is_body)
            }
            Some(statement) => vec![of(ElementKind::Control(statement))],
            None => Vec::new(),
        };
        (witnesses, false)
    }

    /// `counted`: the first iteration or activation that is wanted, from 0 on, how many at most, and of how many.
    fn goal(
        &self,
        name: String,
        within: &[Element],
        witnesses: &[Element],
        tests: bool,
        counted: (u64, u64, u64),
    ) -> Goal {
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
        let (first, most, all) = counted;
        Goal {
            name,
            within: within.collect(),
            witnesses: witnesses.collect(),
            tests,
            first,
            most,
            all,
        }
    }
}
