//! On which track an element is shown, and by which slice.

use std::io;

use foldhash::{HashMap, HashMapExt as _};
use petal_analysis::cells::path;
use petal_analysis::elements::{Element, ElementId, ElementKind};
use petal_metadata::Id as _;
use petal_reconstruct::InstanceId;

use super::lines::LineId;
use super::slice;
use super::tracks::{Counter, Subject, TrackKey};
use super::transitions::OnTrack;
use super::{Format, Slice, SliceId, Timeline, TrackId};

/// Where an element is shown.
#[derive(Debug)]
pub(super) struct ElementTracks {
    /// Whether it is outside of the section.
    pub hidden: bool,
    subject: Subject,
    /// The number of its instance and subject.
    tracks: usize,
    /// Its slices, by the number of the track of the subject.
    pub slices: Vec<Option<SliceId>>,
}

impl<F: Format> Timeline<'_, F> {
    /// Finds a track for each of these: an empty one, or one whose innermost open slice contains it.
    pub(super) fn place(&self, new: &[ElementId], open: &[OnTrack]) -> Vec<OnTrack> {
        // The innermost open slices of the tracks, by their numbers, for the subjects that matter.
        let mut innermost: HashMap<usize, Vec<Option<ElementId>>> = HashMap::new();
        for &element in new {
            innermost.entry(self.shown_on[element].tracks).or_default();
        }
        for slice in open {
            if let Some(tracks) = innermost.get_mut(&self.shown_on[slice.element].tracks) {
                tracks.resize(tracks.len().max(slice.number + 1), None);
                tracks[slice.number] = Some(slice.element);
            }
        }
        let place = |&element: &ElementId| {
            let tracks = innermost.entry(self.shown_on[element].tracks).or_default();
            let free =
                |track: &Option<ElementId>| track.is_none_or(|outer| self.contains(outer, element));
            let number = tracks.iter().position(free).unwrap_or(tracks.len());
            tracks.resize(tracks.len().max(number + 1), None);
            tracks[number] = Some(element);
            OnTrack { element, number }
        };
        new.iter().map(place).collect()
    }

    /// Whether an element of a subject always contains another one.
    fn contains(&self, outer: ElementId, inner: ElementId) -> bool {
        let elements = self.elements.all();
        let (
            ElementKind::Control(outer),
            Element {
                instance,
                kind: ElementKind::Control(inner),
            },
        ) = (elements[outer].kind, elements[inner])
        else {
            return false;
        };
        let component = self.elements.instances()[instance.index()].component;
        let mut above = self.metadata.component(component).ancestry(inner);
        above.any(|above| above == outer)
    }

    /// Takes in the next element.
    pub(super) fn learn(&mut self, id: ElementId) {
        let element = self.elements.all()[id];
        let subject = self.subject(element);
        let next = self.subjects.len();
        let tracks = self.subjects.entry((element.instance, subject));
        let tracks = *tracks.or_insert(next);
        let depth = self.elements.depth(id);
        let hidden = !self.shown.element(element.instance.index(), depth);
        self.numbers.learn(element, self.elements.instances());
        self.shown_on.push(ElementTracks {
            hidden,
            subject,
            tracks,
            slices: Vec::new(),
        });
    }

    /// Takes in the newest instance.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        let instances = self.elements.instances();
        let instance = InstanceId::from_index(instances.len() - 1);
        if !self.shown.enter(&path(self.metadata, instances, instance)) {
            return Ok(());
        }
        // The cell's own track is the first of its tracks.
        self.track(instance, Subject::Cell, 0)?;
        if self.counters.is_none() {
            let mut tracks = [0; Counter::ALL.len()];
            for (track, counter) in tracks.iter_mut().zip(Counter::ALL) {
                *track = self.track(instance, Subject::Counter(counter), 0)?;
            }
            self.counters = Some(tracks);
        }
        Ok(())
    }

    fn subject(&self, element: Element) -> Subject {
        let component = self
            .metadata
            .component(self.elements.instances()[element.instance.index()].component);
        match element.kind {
            ElementKind::Cell => Subject::Cell,
            ElementKind::Control(node) => Subject::Control(component.node(node).thread),
            ElementKind::Group(run) => Subject::Groups(component.run(run).thread),
            ElementKind::Primitive(cell, _) => Subject::Primitive(cell),
        }
    }

    /// The number of a track.
    pub(super) fn track(
        &mut self,
        instance: InstanceId,
        subject: Subject,
        number: usize,
    ) -> io::Result<TrackId> {
        let key = TrackKey {
            instance,
            subject,
            number,
        };
        let (id, new) = self.tracks.track(key, self.elements.instances());
        if let Some(track) = new {
            self.format.track(&track)?;
        }
        Ok(id)
    }

    /// The number of an element's slice on a track.
    pub(super) fn slice_of(&mut self, OnTrack { element, number }: OnTrack) -> io::Result<SliceId> {
        let ElementTracks {
            subject, slices, ..
        } = &mut self.shown_on[element];
        let subject = *subject;
        if slices.len() <= number {
            slices.resize(number + 1, None);
        }
        if let Some(slice) = slices[number] {
            return Ok(slice);
        }
        let what = self.elements.all()[element];
        let track = self.track(what.instance, subject, number)?;
        let instances = self.elements.instances();
        let (effects, sites) = (&self.effects, self.tracks.sites());
        let slice = slice::describe(self.metadata, effects, sites, instances, what, track);
        let id = self.new_slice(&slice)?;
        self.shown_on[element].slices[number] = Some(id);
        Ok(id)
    }

    /// The number of a line's slice.
    pub(super) fn slice_of_line(&mut self, line: LineId) -> io::Result<SliceId> {
        if let Some(slice) = *self.lines.slice(line) {
            return Ok(slice);
        }
        let (file, number) = self.lines.place(line);
        let tracks = self.tracks.line(file, number);
        tracks
            .iter()
            .try_for_each(|track| self.format.track(track))?;
        // The last one is the line's.
        let slice = slice::of_line(&tracks[tracks.len() - 1], number);
        let id = self.new_slice(&slice)?;
        *self.lines.slice(line) = Some(id);
        Ok(id)
    }

    pub(super) fn new_slice(&mut self, slice: &Slice) -> io::Result<SliceId> {
        let id = self.free.pop().unwrap_or_else(|| {
            self.next_slice += 1;
            self.next_slice - 1
        });
        self.format.slice(id, slice)?;
        Ok(id)
    }
}
