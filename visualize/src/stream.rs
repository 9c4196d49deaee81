//! What begins and ends in a run while it goes on, for whoever subscribes to it.
//!
//! Owns what is told, and in which order; [`EventLines`] owns how it is written as lines of JSON. What begins and ends when is that of
//! the timeline, of which a [`Stream`] is a format.

mod filter;
mod lines;

use foldhash::{HashMap, HashMapExt as _};
use std::io;
use std::ops::Range;
use std::sync::mpsc::Receiver;

use petal_analysis::sites::{Edge, EventSite, Sites};
use petal_metadata::{Metadata, SiteId};
use petal_table::Value;

use crate::timeline::{Change, Changes, Format, Slice, SliceId, Track, Whole};

pub use filter::{EventFilter, Filtered};
pub use lines::EventLines;

/// Hears of a run while it goes on: first of all sites, then of all edges, then of what happens, in the order of cycles. In a cycle, what
/// ends comes first; what holds others begins before them, and ends after them.
///
/// Every method may fail, which ends the run; each does nothing unless it is written.
#[expect(unused_variables, reason = "names of what a subscriber gets")]
#[expect(clippy::missing_errors_doc, reason = "above")]
pub trait Subscriber {
    /// There is such a site.
    fn site(&mut self, site: &EventSite) -> io::Result<()> {
        Ok(())
    }

    /// There is such an edge.
    fn edge(&mut self, edge: &Edge) -> io::Result<()> {
        Ok(())
    }

    /// A site begins to be active in this cycle, after so many activations.
    fn begin(&mut self, cycle: u64, site: SiteId, before: u64) -> io::Result<()> {
        Ok(())
    }

    /// The activation that began as number `before` is over: this is the first cycle after it. It was so many activations in a row
    /// if the compiler fixed their length, and else one.
    fn end(&mut self, cycle: u64, site: SiteId, before: u64, times: u64) -> io::Result<()> {
        Ok(())
    }

    /// What is observed has a new value in this cycle, after so many others.
    fn value(&mut self, before: u64, observed: &Observed) -> io::Result<()> {
        Ok(())
    }

    /// The run is over, after so many cycles.
    fn finish(&mut self, cycles: u64) -> io::Result<()> {
        Ok(())
    }
}

/// All of them hear the same.
impl Subscriber for Vec<Box<dyn Subscriber + Send>> {
    fn site(&mut self, site: &EventSite) -> io::Result<()> {
        self.iter_mut().try_for_each(|of| of.site(site))
    }

    fn edge(&mut self, edge: &Edge) -> io::Result<()> {
        self.iter_mut().try_for_each(|of| of.edge(edge))
    }

    fn begin(&mut self, cycle: u64, site: SiteId, before: u64) -> io::Result<()> {
        let mut all = self.iter_mut();
        all.try_for_each(|of| of.begin(cycle, site, before))
    }

    fn end(&mut self, cycle: u64, site: SiteId, before: u64, times: u64) -> io::Result<()> {
        let mut all = self.iter_mut();
        all.try_for_each(|of| of.end(cycle, site, before, times))
    }

    fn value(&mut self, before: u64, observed: &Observed) -> io::Result<()> {
        let mut all = self.iter_mut();
        all.try_for_each(|of| of.value(before, observed))
    }

    fn finish(&mut self, cycles: u64) -> io::Result<()> {
        self.iter_mut().try_for_each(|of| of.finish(cycles))
    }
}

/// A value that was observed.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The cycle.
    pub cycle: u64,
    /// Which observation.
    pub site: SiteId,
    /// The word of a memory that was written.
    pub index: Option<u64>,
    /// The value.
    pub value: u64,
    /// What a checkpoint is called this time, if a value of the design names it.
    pub name: Option<String>,
    /// What a checkpoint records, each with its name.
    pub recorded: Vec<(String, Value)>,
}

/// Tells a [`Subscriber`] of a run. What is observed comes from elsewhere, and is told where it belongs.
#[derive(Debug)]
pub struct Stream<S> {
    subscriber: S,
    /// The place of each site in the order in which they were told of: what holds others comes first.
    order: HashMap<SiteId, usize>,
    /// The site of each slice, with its place.
    sites: Vec<Option<(usize, SiteId)>>,
    /// What begins in a cycle: the place of a site, the site, and how often it began before.
    begins: Vec<(usize, SiteId, u64)>,
    /// How often the site of each slice had begun when the slice began last.
    began: Vec<u64>,
    /// How often each site has been active, and how often each observation has had a new value.
    times: HashMap<SiteId, u64>,
    observed: Option<Receiver<Observed>>,
    /// The next one, which is of a later cycle.
    next: Option<Observed>,
    /// The last cycle of which something was told.
    cycle: u64,
}

impl<S: Subscriber> Stream<S> {
    /// Tells of all sites and edges. `observed` are the values of these sites, ascending by their cycles; those up to a cycle must be there
    /// before the run's events go beyond it.
    ///
    /// # Errors
    /// Those of the subscriber.
    pub fn new(
        metadata: &Metadata,
        observations: &[EventSite],
        observed: Option<Receiver<Observed>>,
        mut subscriber: S,
    ) -> io::Result<Self> {
        let (sites, edges) = Sites::new(metadata).graph();
        let mut all = sites.iter().chain(observations);
        all.try_for_each(|site| subscriber.site(site))?;
        edges.iter().try_for_each(|edge| subscriber.edge(edge))?;
        let order = sites.iter().enumerate();
        Ok(Self {
            subscriber,
            order: order.map(|(at, site)| (site.id, at)).collect(),
            sites: Vec::new(),
            begins: Vec::new(),
            began: Vec::new(),
            times: HashMap::new(),
            observed,
            next: None,
            cycle: 0,
        })
    }

    /// Tells of what was observed before this cycle.
    fn tell_before(&mut self, cycle: u64) -> io::Result<()> {
        let Some(observed) = &self.observed else {
            return Ok(());
        };
        while let Some(next) = self.next.take().or_else(|| observed.try_recv().ok()) {
            if next.cycle >= cycle {
                self.next = Some(next);
                break;
            }
            let before = self.times.entry(next.site).or_default();
            self.subscriber.value(*before, &next)?;
            *before += 1;
        }
        Ok(())
    }
}

impl<S: Subscriber> Format for Stream<S> {
    fn track(&mut self, _: &Track) -> io::Result<()> {
        Ok(())
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        let site = slice.site;
        let site = site.and_then(|site| Some((*self.order.get(&site)?, site)));
        if id < self.sites.len() {
            self.sites[id] = site;
        } else {
            self.sites.push(site);
            self.began.push(0);
        }
        Ok(())
    }

    fn changes(&mut self, cycle: u64, changes: Changes<'_>) -> io::Result<()> {
        self.tell_before(cycle)?;
        self.cycle = cycle;
        for change in changes.iter() {
            match change {
                Change::Ended {
                    slice, activations, ..
                } => {
                    if let Some((_, site)) = self.sites[slice] {
                        let times = activations.unwrap_or(1);
                        *self.times.entry(site).or_default() += times - 1;
                        self.subscriber.end(cycle, site, self.began[slice], times)?;
                    }
                }
                Change::Began { slice, .. } => {
                    if let Some((at, site)) = self.sites[slice] {
                        let times = self.times.entry(site).or_default();
                        self.began[slice] = *times;
                        self.begins.push((at, site, *times));
                        *times += 1;
                    }
                }
                Change::Counter { .. } => {}
            }
        }
        self.begins.sort_unstable();
        for (_, site, before) in self.begins.drain(..) {
            self.subscriber.begin(cycle, site, before)?;
        }
        Ok(())
    }

    fn update(&mut self, _: SliceId, _: Range<u64>, _: Option<Whole>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.tell_before(u64::MAX)?;
        self.subscriber.finish(self.cycle)
    }
}
