//! What the intervals of a latency have more than the shortest one.
//!
//! Of a place and of what is in it, only so much is in the way as the place around takes longer; the part that has most more comes first,
//! without the cycles in which it only waits at a barrier: those it has because of another part.
//! Where threads are side by side, the rest of what a thread worked more passed in parallel. Elsewhere it took the place of something that
//! the shortest one had.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use petal_metadata::SiteId;
use petal_table::selection::SITE;
use petal_table::{Column, Columns};
use serde::{Deserialize, Serialize};

use crate::tables::{ResultTable, site};
use crate::work::{Cycles, Doing, PlaceId, Work};

/// What has more cycles in the intervals of a latency than in the shortest one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// How many that makes the intervals longer; adds up to what they took longer.
    pub cycles: u64,
    /// How many more it worked while something else was in the way.
    pub in_parallel: u64,
    /// What had them, as a path through the call tree.
    pub active: String,
}

impl Blame {
    /// The table of those of latencies, each with its name and number.
    pub(crate) fn table<'a>(
        latencies: impl Iterator<Item = ((&'a str, SiteId), &'a [Self])> + 'a,
    ) -> ResultTable<'a> {
        type Row<'a> = ((&'a str, SiteId), &'a Blame);
        let columns = Columns::default()
            .text("latency", |((name, _), _): &Row<'_>| (*name).into())
            .number("cycles", |(_, blame)| blame.cycles.into())
            .number("in_parallel", |(_, blame)| blame.in_parallel.into())
            .titled("in parallel")
            .with(Column::prose("active").folding(), |(_, blame)| {
                blame.active.as_str().into()
            })
            .aside(SITE, |((_, of), _)| site(*of));
        let rows = latencies.flat_map(|(of, all)| all.iter().map(move |blame| (of, blame)));
        let title = "over the shortest, by what had more cycles";
        ResultTable::new("blame", title, columns, rows)
    }
}

/// A place below what is the latency's own work, wherever that stands.
#[derive(Default)]
struct Own {
    /// What has it as a part, and its name.
    places: Vec<(Option<usize>, String)>,
    numbers: HashMap<(Option<usize>, String), usize>,
}

impl Own {
    /// The places from the outermost on that lead to this one.
    fn way(&mut self, work: &Work, latency: usize, place: PlaceId) -> Vec<usize> {
        let mut names: Vec<&str> = work.own_names(place, latency).collect();
        names.reverse();
        let mut way = Vec::new();
        for name in names {
            let key = (way.last().copied(), name.to_owned());
            let next = self.places.len();
            let at = *self.numbers.entry(key.clone()).or_insert(next);
            if at == next {
                self.places.push(key);
            }
            way.push(at);
        }
        way
    }

    fn path(&self, place: usize) -> String {
        let above = std::iter::successors(Some(place), |&at| self.places[at].0);
        let mut names: Vec<&str> = above.map(|at| self.places[at].1.as_str()).collect();
        names.reverse();
        names.join(" > ")
    }
}

/// A part of what a place has: what it has itself, without what is in it, or a place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Portion {
    Itself(Option<usize>),
    Place(usize),
}

/// The cycles that a part has more.
#[derive(Debug, Clone, Copy, Default)]
struct More {
    all: i128,
    /// Those in which something in it does not wait at a barrier.
    going_on: i128,
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
    let mut own = Own::default();
    let mut more: BTreeMap<Portion, More> = BTreeMap::new();
    // Without cycles of control alone.
    let mut work_more: BTreeMap<usize, i128> = BTreeMap::new();
    let mut whole = 0;
    let shapes: BTreeSet<usize> = all.keys().chain(shortest.keys()).copied().collect();
    for shape in shapes {
        let cycles = signed(all, shape) - i128::from(count) * signed(shortest, shape);
        let mut parts: BTreeMap<Portion, bool> = BTreeMap::new();
        for thread in work.threads(shape, latency) {
            let way = own.way(work, latency, thread.place);
            if let Some(&place) = way.last().filter(|_| thread.doing == Doing::Work) {
                *work_more.entry(place).or_default() += cycles;
            }
            let itself = Portion::Itself(way.last().copied());
            for part in way.into_iter().map(Portion::Place).chain([itself]) {
                *parts.entry(part).or_default() |= thread.doing != Doing::Wait;
            }
        }
        for (part, goes_on) in parts {
            let more = more.entry(part).or_default();
            more.all += cycles;
            more.going_on += if goes_on { cycles } else { 0 };
        }
        whole += cycles;
    }
    if whole == 0 {
        return Vec::new();
    }
    let mut parts: BTreeMap<Option<usize>, Vec<(Portion, More)>> = BTreeMap::new();
    for (&part, &cycles) in &more {
        let of = match part {
            Portion::Itself(place) => place,
            Portion::Place(place) => own.places[place].0,
        };
        parts.entry(of).or_default().push((part, cycles));
    }
    let mut rows: Vec<Blame> = Vec::new();
    let mut waiting = vec![(None, whole, Share::all(whole))];
    while let Some((place, more, share)) = waiting.pop() {
        let parts = parts.remove(&place).unwrap_or_default();
        let parts = share.among(place, more, parts, |place| own.path(place));
        for (part, more, share) in parts {
            match part {
                Portion::Place(place) => waiting.push((Some(place), more, share)),
                Portion::Itself(place) => {
                    let worked = place.and_then(|place| work_more.get(&place));
                    let worked = worked.map_or(0, |more| positive(*more));
                    let beside = worked.saturating_sub(share.in_the_way);
                    rows.push(Blame {
                        cycles: share.in_the_way,
                        in_parallel: share.in_parallel.min(beside),
                        active: place.map_or(String::new(), |place| own.path(place)),
                    });
                }
            }
        }
    }
    rows.retain(|row| row.cycles > 0 || row.in_parallel > 0);
    rows.sort_by(|a, b| {
        let size = |row: &Blame| Reverse((row.cycles, row.in_parallel));
        (size(a), &a.active).cmp(&(size(b), &b.active))
    });
    rows
}

/// How many of the cycles that something has more are in the way, and how many passed in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    in_the_way: u64,
    in_parallel: u64,
}

impl Share {
    fn all(more: i128) -> Self {
        Self {
            in_the_way: positive(more),
            in_parallel: 0,
        }
    }

    /// That of each part of a place.
    fn among(
        mut self,
        place: Option<usize>,
        more: i128,
        mut parts: Vec<(Portion, More)>,
        path: impl Fn(usize) -> String,
    ) -> Vec<(Portion, i128, Self)> {
        let are_side_by_side = parts.iter().map(|(_, more)| more.all).sum::<i128>() != more;
        parts.sort_by_cached_key(|&(part, more)| match part {
            Portion::Itself(_) => (Reverse((more.going_on, more.all)), String::new()),
            Portion::Place(place) => (Reverse((more.going_on, more.all)), path(place)),
        });
        let mut shares = Vec::new();
        for (part, More { all: more, .. }) in parts {
            let has = positive(more);
            let in_the_way = has.min(self.in_the_way);
            let rest = has - in_the_way;
            let in_parallel = if are_side_by_side {
                rest
            } else {
                rest.min(self.in_parallel)
            };
            self.in_the_way -= in_the_way;
            self.in_parallel = self.in_parallel.saturating_sub(in_parallel);
            let share = Self {
                in_the_way,
                in_parallel,
            };
            shares.push((part, more, share));
        }
        // No part has so much more: then they were less side by side.
        if self.in_the_way > 0 {
            let itself = Portion::Itself(place);
            match shares.iter_mut().find(|(part, ..)| *part == itself) {
                Some((.., share)) => share.in_the_way += self.in_the_way,
                None => shares.push((
                    itself,
                    0,
                    Self {
                        in_the_way: self.in_the_way,
                        in_parallel: 0,
                    },
                )),
            }
        }
        shares
    }
}

fn positive(more: i128) -> u64 {
    u64::try_from(more).unwrap_or(0)
}
