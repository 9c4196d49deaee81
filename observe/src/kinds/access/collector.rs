//! Hears of the accesses of a memory while a run goes by.

use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::TreeId;

use super::found::{Found, Reads};
use super::summary::Summary;
use super::{Access, AccessKind, Accesses, Site};
use crate::collector::{Collector, Finished, Outlet};
use crate::directory::Memory;
use crate::look::Look;

/// How many other results an access takes as much room as.
const ROOM: usize = 4;

/// What is known of a memory's accesses so far.
pub(super) struct AccessCollector {
    name: String,
    text: String,
    memory: Memory,
    /// The words that are asked for, if not all are.
    words: Option<Range<u64>>,
    found: Found,
    accesses: Vec<Access>,
    sites: Vec<Site>,
    numbers: HashMap<Site, usize>,
    /// Who makes an access in a tree.
    makers: HashMap<(TreeId, Maker), Vec<usize>>,
    /// Which of the readers read in the cycle that was looked at last, and where.
    reading: Vec<bool>,
    address: Vec<u64>,
    /// The read that gets its data in the next cycle.
    waiting: Option<usize>,
    usage: Usage,
    outlet: Outlet<Accesses>,
}

/// What makes an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Maker {
    /// Whoever starts the memory.
    Starter,
    /// A reader.
    Reader(usize),
}

/// In how many cycles a memory is used.
#[derive(Default)]
struct Usage {
    /// Since when it is.
    since: Option<u64>,
    cycles: u64,
    longest: u64,
}

impl Usage {
    /// From this cycle on it is in use, or not.
    fn go_on(&mut self, cycle: u64, is_used: bool) {
        match (self.since, is_used) {
            (None, true) => self.since = Some(cycle),
            (Some(since), false) => {
                self.since = None;
                self.cycles += cycle - since;
                self.longest = self.longest.max(cycle - since);
            }
            _ => {}
        }
    }
}

impl AccessCollector {
    /// That of a memory, or of some of its words.
    pub fn new(
        (name, text): (String, String),
        memory: Memory,
        words: Option<Range<u64>>,
        found: Found,
        outlet: Outlet<Accesses>,
    ) -> Self {
        let reading = match &found.reads {
            Reads::Asked(_) => Vec::new(),
            Reads::Looked(all) => vec![false; all.len()],
        };
        Self {
            name,
            text,
            memory,
            words,
            found,
            accesses: Vec::new(),
            sites: Vec::new(),
            numbers: HashMap::new(),
            makers: HashMap::new(),
            reading,
            address: Vec::new(),
            waiting: None,
            usage: Usage::default(),
            outlet,
        }
    }

    /// Who makes an access in this cycle.
    fn makers(&mut self, look: &Look<'_, '_>, maker: Maker) -> Vec<usize> {
        let Some(tree) = look.tree else {
            return Vec::new();
        };
        if let Some(known) = self.makers.get(&(tree, maker)) {
            return known.clone();
        }
        let trees = &look.trees;
        let sites = match (maker, &self.found.reads) {
            (Maker::Reader(at), Reads::Looked(all)) => {
                trees.running(tree, &all[at].groups, look.instances)
            }
            _ => trees.starters(tree, &self.found.cell, look.instances),
        };
        let mut makers = Vec::new();
        for site in sites {
            let next = self.sites.len();
            let number = *self.numbers.entry(site.clone()).or_insert(next);
            if number == next {
                self.sites.push(site);
            }
            makers.push(number);
        }
        makers.sort_unstable();
        makers.dedup();
        self.makers.insert((tree, maker), makers.clone());
        makers
    }

    /// The readers that read in this cycle, and whether a read begins in it.
    fn readers(&mut self, look: &Look<'_, '_>, is_elsewhere: bool) -> (Vec<usize>, bool) {
        let Reads::Looked(all) = &self.found.reads else {
            return (Vec::new(), false);
        };
        let mut begins = false;
        let mut reading = Vec::new();
        for (at, reader) in all.iter().enumerate() {
            let reads = look.values[reader.condition] != 0;
            let goes_on = std::mem::replace(&mut self.reading[at], reads);
            if reads {
                reading.push(at);
                let is_anew = reader.begins.iter().any(|&node| look.values[node] != 0);
                begins |= !goes_on || is_anew || is_elsewhere;
            }
        }
        (reading, begins)
    }

    /// Adds an access to the address of this cycle.
    fn add(
        &mut self,
        look: &mut Look<'_, '_>,
        access: AccessKind,
        data: Option<u64>,
        by: Vec<usize>,
    ) {
        self.accesses.push(Access {
            cycle: look.cycle,
            access,
            address: self.address.clone(),
            index: self.memory.word(&self.address),
            data,
            by,
        });
        self.tell(look, self.accesses.len() - 1);
    }

    /// Tells of an access as soon as its data is known.
    fn tell(&self, look: &mut Look<'_, '_>, at: usize) {
        let access = &self.accesses[at];
        if let Some(data) = access.data {
            let kind = || (Some(access.access.name().to_owned()), Vec::new());
            look.tell_of(access.index, data, kind);
        }
    }

    /// Whether what is at the address is asked for.
    fn is_asked_for(&self) -> bool {
        self.words.as_ref().is_none_or(|words| {
            let word = self.memory.word(&self.address);
            word.is_some_and(|word| words.contains(&word))
        })
    }
}

impl Collector for AccessCollector {
    fn kind(&self) -> &'static str {
        "access"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn nodes(&self) -> Vec<usize> {
        let mut nodes = self.found.address.clone();
        nodes.push(self.found.write);
        match &self.found.reads {
            Reads::Asked(node) => nodes.push(*node),
            Reads::Looked(all) => {
                for reader in all {
                    nodes.push(reader.condition);
                    nodes.extend(&reader.begins);
                }
            }
        }
        nodes
    }

    fn kept(&self) -> usize {
        ROOM * self.accesses.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        if look.tree.is_none() {
            self.usage.go_on(look.cycle, false);
            return false;
        }
        if let Some(at) = self.waiting.take() {
            self.accesses[at].data = self.found.read.map(|node| look.values[node]);
            self.tell(look, at);
        }
        let ports = self.found.address.iter();
        let address: Vec<u64> = ports.map(|&node| look.values[node]).collect();
        let is_elsewhere = address != self.address;
        self.address = address;
        let (readers, begins) = self.readers(look, is_elsewhere);
        let asked = match self.found.reads {
            Reads::Asked(node) => look.values[node] != 0,
            Reads::Looked(_) => false,
        };
        let writes = look.values[self.found.write] != 0;
        let is_used = asked || writes || !readers.is_empty();
        let is_asked_for = is_used && self.is_asked_for();
        self.usage.go_on(look.cycle, is_asked_for);
        if begins && is_asked_for {
            let data = self.found.read.map(|node| look.values[node]);
            let mut by = Vec::new();
            for at in readers {
                by.extend(self.makers(look, Maker::Reader(at)));
            }
            self.add(look, AccessKind::Read, data, by);
        }
        if asked && is_asked_for {
            let by = self.makers(look, Maker::Starter);
            self.add(look, AccessKind::Read, None, by);
            self.waiting = Some(self.accesses.len() - 1);
        }
        if writes && is_asked_for {
            let data = self.found.written.map(|node| look.values[node]);
            let by = self.makers(look, Maker::Starter);
            self.add(look, AccessKind::Write, data, by);
        }
        // The same again is another access.
        asked || writes || begins
    }

    fn finish(self: Box<Self>, _run: &Finished<'_>) {
        let is_sized = self.memory.is_sized();
        let words = is_sized.then(|| self.memory.words());
        let usage = (self.usage.cycles, self.usage.longest);
        self.outlet.leave(Accesses {
            site: self.site(),
            name: self.name,
            memory: self.text,
            sizes: if is_sized {
                self.memory.dims
            } else {
                Vec::new()
            },
            is_read_continuously: self.found.is_read_continuously,
            summary: Summary::of(&self.accesses, &self.sites, words, usage),
            sites: self.sites,
            accesses: self.accesses,
        });
    }
}
