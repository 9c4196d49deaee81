//! The trace of a run, such that the call tree of any cycle is found at once.
//!
//! Owns where each stretch of equal call trees begins, and since when something is active. Its memory grows with the number of stretches.

use std::ops::Range;

use petal_analysis::ControlView;
use petal_analysis::activations::Counting;
use petal_analysis::elements::{Element, ElementId, Elements};
use petal_analysis::intervals::Intervals;
use petal_metadata::{Id as _, Metadata};
use petal_profile::{Error, Profile};
use petal_reconstruct::{CallTree, Event, FrameLabels, Gap, Instance, Run, TreeId};

/// After so many stretches it is kept again since when everything is active.
const BETWEEN: usize = 1024;

/// A recorded run.
#[derive(Debug)]
pub struct Recording {
    profile: Profile,
    labels: FrameLabels,
    intervals: Intervals,
    trees: Vec<CallTree>,
    /// The first cycle of each stretch, and its tree; none for a gap.
    starts: Vec<u64>,
    stretches: Vec<Option<TreeId>>,
    /// Since when everything is active in every [`BETWEEN`]th stretch.
    since: Vec<Vec<(ElementId, u64)>>,
    cycles: u64,
}

impl Recording {
    /// Reads the trace of a profile.
    ///
    /// # Errors
    /// When it is damaged, or the run has no cycles.
    pub fn new(profile: Profile) -> Result<Self, Error> {
        let mut recording = Self {
            labels: FrameLabels::new(&profile.metadata),
            intervals: Intervals::default(),
            trees: Vec::new(),
            starts: Vec::new(),
            stretches: Vec::new(),
            since: Vec::new(),
            cycles: 0,
            profile,
        };
        // The events are of the profile, and the rest takes them in.
        let Self {
            profile,
            intervals,
            trees,
            starts,
            stretches,
            since,
            cycles,
            ..
        } = &mut recording;
        profile.events(ControlView::Source, &mut |event| {
            intervals.event(event);
            let (start, tree) = match event {
                Event::Tree(tree) => {
                    trees.push(CallTree::clone(tree));
                    return Ok(());
                }
                Event::Run(Run { tree, start, .. }) => (start, Some(*tree)),
                Event::Gap(Gap { start, .. }) => (start, None),
                Event::End { cycles: all } => {
                    *cycles = *all;
                    return Ok(());
                }
                _ => return Ok(()),
            };
            if starts.len().is_multiple_of(BETWEEN) {
                let active = intervals.elements().of(tree).iter();
                since.push(
                    active
                        .map(|&id| (id, intervals.since(id).cycles()))
                        .collect(),
                );
            }
            starts.push(start.cycles());
            stretches.push(tree);
            Ok(())
        })?;
        if recording.cycles == 0 {
            let dir = recording.profile.dir().display();
            return Err(Error::new(format!("{dir}: the run has no cycles")));
        }
        Ok(recording)
    }

    /// The profile that it is of.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What the names of the design mean.
    pub fn metadata(&self) -> &Metadata {
        &self.profile.metadata
    }

    /// How nodes are written.
    pub fn labels(&self) -> &FrameLabels {
        &self.labels
    }

    /// What was active.
    pub fn elements(&self) -> &Elements {
        self.intervals.elements()
    }

    /// The component cells.
    pub fn instances(&self) -> &[Instance] {
        self.elements().instances()
    }

    /// The length of the run.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Whether the trace lacks cycles.
    pub fn has_gaps(&self) -> bool {
        self.stretches.contains(&None)
    }

    /// Whether the trace lacks the cycle before this one, so that nobody knows what began in this one.
    pub fn is_cut(&self, cycle: u64) -> bool {
        let here = self.stretch(cycle);
        let before = here.checked_sub(1).map(|before| self.stretches[before]);
        before == Some(None) && self.starts[here] == cycle
    }

    /// The stretch that a cycle of the run is in.
    pub(crate) fn stretch(&self, cycle: u64) -> usize {
        let after = self.starts.partition_point(|start| *start <= cycle);
        after.saturating_sub(1)
    }

    /// The cycles of a stretch.
    pub(crate) fn span(&self, stretch: usize) -> Range<u64> {
        let next = self.starts.get(stretch + 1);
        self.starts[stretch]..next.copied().unwrap_or(self.cycles)
    }

    /// The call tree of a cycle; none if it was not kept.
    pub fn tree(&self, cycle: u64) -> Option<&CallTree> {
        let tree = self.stretches[self.stretch(cycle)]?;
        Some(&self.trees[tree.index()])
    }

    /// What is active in a stretch, ascending.
    fn active(&self, stretch: usize) -> &[ElementId] {
        self.elements().of(self.stretches[stretch])
    }

    fn is_active(&self, stretch: usize, id: ElementId) -> bool {
        self.active(stretch).binary_search(&id).is_ok()
    }

    /// How the activations of something are counted.
    fn counting(&self, id: ElementId) -> Counting {
        let element = self.elements().all()[id];
        Counting::of(self.metadata(), self.instances(), element)
    }

    /// The number of what is active in a cycle, if it is.
    fn active_in(&self, element: Element, cycle: u64) -> Option<ElementId> {
        let id = self.elements().id(element)?;
        self.is_active(self.stretch(cycle), id).then_some(id)
    }

    /// Since which cycle something is active in a cycle, if it is: the first of its activation.
    pub(crate) fn since(&self, element: Element, cycle: u64) -> Option<u64> {
        let id = self.active_in(element, cycle)?;
        let here = self.stretch(cycle);
        let kept = here - here % BETWEEN;
        let mut first = here;
        while first > kept && self.is_active(first - 1, id) {
            first -= 1;
        }
        let mut known = self.since[kept / BETWEEN].iter();
        let start = match known.find(|(other, _)| *other == id) {
            Some(&(_, since)) if first == kept => since,
            _ => self.starts[first],
        };
        Some(match self.counting(id) {
            Counting::Latency(latency) => cycle - (cycle - start) % latency,
            Counting::Once | Counting::Part(_) => start,
        })
    }

    /// The cycle after the activation of something that is active in a cycle, if it is.
    pub(crate) fn end(&self, element: Element, cycle: u64) -> Option<u64> {
        let id = self.active_in(element, cycle)?;
        let mut last = self.stretch(cycle);
        while last + 1 < self.starts.len() && self.is_active(last + 1, id) {
            last += 1;
        }
        let end = self.span(last).end;
        Some(match self.counting(id) {
            Counting::Latency(latency) => end.min(self.since(element, cycle)? + latency),
            Counting::Once | Counting::Part(_) => end,
        })
    }

    /// In which cycles one of these becomes active, ascending; what is active after cycles that the trace lacks may have been before. What the compiler made static with a latency does so anew after it; of a
    /// group that the compiler split, its first part counts.
    pub(crate) fn begins(&self, ids: &[ElementId]) -> Vec<u64> {
        let witnesses = ids.iter().filter_map(|&id| match self.counting(id) {
            Counting::Once => Some((id, None)),
            Counting::Latency(latency) => Some((id, Some(latency))),
            Counting::Part(first) => (self.elements().id(first) == Some(id)).then_some((id, None)),
        });
        let witnesses: Vec<(ElementId, Option<u64>)> = witnesses.collect();
        let of_tree = |tree: usize| {
            let tree = Some(TreeId::from_index(tree));
            let active = self.elements().of(tree);
            let is_active = |&at: &usize| active.binary_search(&witnesses[at].0).is_ok();
            (0..witnesses.len()).filter(is_active).collect::<Vec<_>>()
        };
        let in_trees: Vec<Vec<usize>> = (0..self.trees.len()).map(of_tree).collect();
        let mut begins = Vec::new();
        // The static ones that are active, and when each begins anew.
        let mut again: Vec<(usize, u64, u64)> = Vec::new();
        let mut before: &[usize] = &[];
        for (stretch, &tree) in self.stretches.iter().enumerate() {
            let now = tree.map_or(&[][..], |tree| &in_trees[tree.index()]);
            let start = self.starts[stretch];
            again.retain_mut(|(at, next, latency)| {
                let is_active = now.contains(at);
                while *next < start + u64::from(is_active) {
                    begins.push(*next);
                    *next += *latency;
                }
                is_active
            });
            let last = stretch.checked_sub(1).map(|last| self.stretches[last]);
            let is_cut = last == Some(None);
            for &at in now.iter().filter(|at| !is_cut && !before.contains(at)) {
                begins.push(start);
                again.extend(
                    witnesses[at]
                        .1
                        .map(|latency| (at, start + latency, latency)),
                );
            }
            before = now;
        }
        for (_, mut next, latency) in again {
            while next < self.cycles {
                begins.push(next);
                next += latency;
            }
        }
        begins.sort_unstable();
        begins.dedup();
        begins
    }
}
