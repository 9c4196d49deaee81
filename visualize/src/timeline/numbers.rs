//! The numbers of slices: which activations they hold, and which arrows lead from one to another.

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Callee, CellId, CellKind, Component, Id, Metadata};
use petal_reconstruct::{Instance, InstanceId};

use crate::activations::Counting;
use crate::keys::{Item, Key, KeyId};

/// Counts activations and arrows.
#[derive(Debug)]
pub(super) struct Numbers<'a> {
    metadata: &'a Metadata,
    /// The component cells that each group run of each component calls.
    calls: Vec<Vec<Vec<CellId>>>,
    keys: Vec<Known>,
    /// Activations of split groups so far, and which is that of a first part.
    split: Vec<u64>,
    splits: HashMap<Key, usize>,
    /// The arrow to each cell that did not begin yet, or 0, and which is that of a cell.
    arrows: Vec<u64>,
    cells: HashMap<(InstanceId, CellId), usize>,
    last_arrow: u64,
}

/// What is known of a key.
#[derive(Debug)]
struct Known {
    count: Count,
    /// Where it began to be active.
    since: u64,
    /// Where the arrows to the component cells that it runs are.
    calls: Box<[usize]>,
    /// Where the arrows to the cell that it is, are: as a cell, and as what `ref` cells stand for. One at
    /// most leads to it at a time.
    called: Vec<usize>,
}

#[derive(Debug)]
enum Count {
    /// The activations so far.
    Once(u64),
    /// Its latency, and the activations that are over.
    Latency(u64, u64),
    /// Where its activations are, and whether it is the first part.
    Part(usize, bool),
}

/// The number of `key` in `numbers`, a new one if it has none.
fn number<K: std::hash::Hash + Eq>(
    numbers: &mut HashMap<K, usize>,
    list: &mut Vec<u64>,
    key: K,
) -> usize {
    *numbers.entry(key).or_insert_with(|| {
        list.push(0);
        list.len() - 1
    })
}

/// The component cells that each group run calls.
fn calls(component: &Component) -> Vec<Vec<CellId>> {
    let mut cells = vec![Vec::new(); component.runs.len()];
    for call in &component.calls {
        if let (Some(caller), Callee::Cell(cell)) = (call.caller, call.callee)
            && matches!(component.cell(cell).kind, CellKind::Component(_))
        {
            cells[caller.index()].push(cell);
        }
    }
    cells
}

impl<'a> Numbers<'a> {
    /// Those of a run of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            calls: metadata.components.iter().map(calls).collect(),
            keys: Vec::new(),
            split: Vec::new(),
            splits: HashMap::new(),
            arrows: Vec::new(),
            cells: HashMap::new(),
            last_arrow: 0,
        }
    }

    /// Finds out what there is to know of the next key.
    pub fn learn(&mut self, key: Key, instances: &[Instance]) {
        let count = match Counting::of(self.metadata, instances, key) {
            Counting::Once => Count::Once(0),
            Counting::Latency(latency) => Count::Latency(latency, 0),
            Counting::Part(first) => {
                let at = number(&mut self.splits, &mut self.split, first);
                Count::Part(at, key == first)
            }
        };
        let component = instances[key.instance.index()].component;
        let cells = match key.item {
            Item::Group(run) => &*self.calls[component.index()][run.index()],
            _ => &[],
        };
        let mut arrow = |cell| number(&mut self.cells, &mut self.arrows, cell);
        let calls = cells.iter().map(|&cell| arrow((key.instance, cell)));
        let calls = calls.collect();
        let cell = instances[key.instance.index()].parent;
        let called = cell.filter(|_| key.item == Item::Cell).map(arrow);
        let called = called.into_iter().collect();
        self.keys.push(Known {
            count,
            since: 0,
            calls,
            called,
        });
    }

    /// Takes in that a component cell is called by the `ref` cell `formal`.
    pub fn call_by_reference(&mut self, key: KeyId, formal: (InstanceId, CellId)) {
        let arrow = number(&mut self.cells, &mut self.arrows, formal);
        let called = &mut self.keys[key].called;
        if !called.contains(&arrow) {
            called.push(arrow);
        }
    }

    /// Whether the ends of a key's slices have a number.
    pub fn counted(&self, key: KeyId) -> bool {
        matches!(self.keys[key].count, Count::Latency(..))
    }

    /// Whether it matters that a key is active no more.
    pub fn closes(&self, key: KeyId) -> bool {
        self.counted(key) || self.arrows(key) > 0
    }

    /// How many arrows leave a key's slices.
    pub fn arrows(&self, key: KeyId) -> usize {
        self.keys[key].calls.len()
    }

    /// Whether arrows end at a key's slices.
    pub fn is_called(&self, key: KeyId) -> bool {
        !self.keys[key].called.is_empty()
    }

    /// Something becomes active.
    pub fn open(&mut self, key: KeyId, now: u64) {
        let known = &mut self.keys[key];
        known.since = now;
        match &mut known.count {
            Count::Once(activations) => *activations += 1,
            Count::Latency(..) => {}
            Count::Part(at, first) => {
                let activations = &mut self.split[*at];
                *activations += u64::from(*first || *activations == 0);
            }
        }
    }

    /// Something that [closes](Self::closes) was active up to cycle `now`. Adds the number of the slice that ends to `numbers`.
    pub fn close(&mut self, key: KeyId, now: u64, numbers: &mut Vec<u64>) {
        let known = &mut self.keys[key];
        if let Count::Latency(latency, activations) = &mut known.count {
            let count = (now - known.since).div_ceil(*latency);
            *activations += count;
            numbers.push(count);
        }
        for &cell in &known.calls {
            self.arrows[cell] = 0;
        }
    }

    /// Leaves the activations out that were over by cycle `at`, in which the section begins.
    pub fn cut(&mut self, key: KeyId, at: u64) {
        let known = &mut self.keys[key];
        if let Count::Latency(latency, activations) = &mut known.count {
            let over = (at - known.since) / *latency;
            *activations += over;
            known.since += over * *latency;
        }
    }

    /// Adds the numbers of the slice that begins to `numbers`.
    pub fn begin(&mut self, key: KeyId, numbers: &mut Vec<u64>) {
        let known = &self.keys[key];
        numbers.push(match known.count {
            Count::Once(activations) => activations,
            Count::Latency(_, over) => over + 1,
            Count::Part(at, _) => self.split[at],
        });
        for &cell in &known.calls {
            self.last_arrow += 1;
            self.arrows[cell] = self.last_arrow;
            numbers.push(self.last_arrow);
        }
        if let Some(&first) = known.called.first() {
            let mut called = known.called.iter();
            let arrow = called.find(|&&cell| self.arrows[cell] > 0);
            numbers.push(std::mem::take(&mut self.arrows[*arrow.unwrap_or(&first)]));
        }
    }
}
