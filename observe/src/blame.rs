//! What the intervals of a latency have more than the shortest one.
//!
//! Of what works in one thread, all is in the way. Where threads are side by side, only so much of it is as the statement around them
//! takes more; the rest passed in parallel.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::results::Blame;
use crate::work::{Cycles, PlaceId, Work};

/// A part of what a place has more: itself, without what is in it, or a place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Itself(PlaceId),
    Place(PlaceId),
}

/// What `all` intervals of a latency, of which there are `count`, have more than as many of the shortest.
pub(crate) fn blame(
    work: &Work,
    latency: usize,
    all: &Cycles,
    shortest: &Cycles,
    count: u64,
) -> Vec<Blame> {
    let signed = |cycles: &Cycles, shape| i128::from(cycles.get(&shape).copied().unwrap_or(0));
    // Of places with all that is in them, and of places themselves.
    let mut more: BTreeMap<Part, i128> = BTreeMap::new();
    let shapes: BTreeSet<usize> = all.keys().chain(shortest.keys()).copied().collect();
    for shape in shapes {
        let cycles = signed(all, shape) - i128::from(count) * signed(shortest, shape);
        let threads = work.threads(shape, latency);
        let places = threads.iter().flat_map(|thread| work.above(thread.place));
        let places: BTreeSet<PlaceId> = places.collect();
        let places = places.into_iter().map(Part::Place);
        for part in places.chain(threads.iter().map(|thread| Part::Itself(thread.place))) {
            *more.entry(part).or_default() += cycles;
        }
    }
    let mut parts: BTreeMap<PlaceId, Vec<(Part, i128)>> = BTreeMap::new();
    let mut waiting = Vec::new();
    for (&part, &cycles) in &more {
        let around = match part {
            Part::Itself(place) => Some(place),
            Part::Place(place) => work.above(place).nth(1),
        };
        match around {
            Some(around) => parts.entry(around).or_default().push((part, cycles)),
            None => waiting.push((part, cycles)),
        }
    }
    let mut rows: Vec<Blame> = Vec::new();
    while let Some((part, in_the_way)) = waiting.pop() {
        match part {
            Part::Place(place) => {
                let parts = parts.remove(&place).unwrap_or_default();
                waiting.extend(shared(place, parts, in_the_way, |place| work.path(place)));
            }
            Part::Itself(place) => {
                let more = more.get(&part).copied().unwrap_or(0);
                let cycles = |cycles: i128| i64::try_from(cycles).unwrap_or(i64::MAX);
                rows.push(Blame {
                    cycles: cycles(in_the_way),
                    in_parallel: cycles(more - in_the_way),
                    active: work.path(place),
                });
            }
        }
    }
    rows.retain(|row| row.cycles != 0 || row.in_parallel != 0);
    rows.sort_by(|a, b| {
        let size = |row: &Blame| Reverse((row.cycles.abs(), row.in_parallel.abs()));
        (size(a), &a.active).cmp(&(size(b), &b.active))
    });
    rows
}

/// Shares what of a place is in the way out among its parts, each of which has so much more.
fn shared(
    place: PlaceId,
    mut parts: Vec<(Part, i128)>,
    in_the_way: i128,
    path: impl Fn(PlaceId) -> String,
) -> Vec<(Part, i128)> {
    if parts.iter().map(|(_, more)| more).sum::<i128>() == in_the_way {
        return parts;
    }
    // They are side by side. The one that has most more is the most in the way.
    parts.sort_by_cached_key(|&(part, more)| match part {
        Part::Itself(place) | Part::Place(place) => {
            (Reverse(more * in_the_way.signum()), path(place))
        }
    });
    let mut rest = in_the_way;
    for (_, more) in &mut parts {
        let share = if in_the_way < 0 {
            (*more).clamp(rest, 0)
        } else {
            (*more).clamp(0, rest)
        };
        *more = share;
        rest -= share;
    }
    // Nothing in it took longer: then they were less side by side.
    if rest != 0 {
        let itself = Part::Itself(place);
        match parts.iter_mut().find(|(part, _)| *part == itself) {
            Some((_, share)) => *share += rest,
            None => parts.push((itself, rest)),
        }
    }
    parts
}
