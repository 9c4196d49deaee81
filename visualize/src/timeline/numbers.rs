//! The numbers of slices: which activations they hold, and which flows lead from one to another.

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Callee, CellId, CellKind, Component, GroupRun, GroupRunId, Id, Metadata};
use petal_reconstruct::{Instance, InstanceId};

use petal_analysis::activations::Counting;
use petal_analysis::elements::{Element, ElementId, ElementKind};

/// Counts activations and flows.
#[derive(Debug)]
pub(super) struct Numbers<'a> {
    metadata: &'a Metadata,
    /// The component cells that each group run of each component calls.
    calls: Vec<Vec<Vec<CellId>>>,
    /// By the numbers of the elements.
    elements: Vec<Tally>,
    /// Activations so far, of those with a latency those that are over, and which is that of the first part, or of the first of the runs of a
    /// group that the compiler made of one.
    activations: Vec<u64>,
    wholes: HashMap<Element, usize>,
    /// The flow to each cell that did not begin yet, or 0, and which is that of a cell.
    flows: Vec<u64>,
    cells: HashMap<(InstanceId, CellId), usize>,
    last_flow: u64,
    is_lost: bool,
}

/// What is counted of an element.
#[derive(Debug)]
struct Tally {
    counted: Counted,
    /// Where its activations are.
    activations: usize,
    /// Where it began to be active.
    since: u64,
    /// Where the flows to the component cells that it runs are.
    calls: Box<[usize]>,
    /// Where the flows to the cell that it is, are: as a cell, and as what `ref` cells stand for. One at
    /// most leads to it at a time.
    called: Vec<usize>,
}

/// How the activations of an element are counted.
#[derive(Debug, Clone, Copy)]
enum Counted {
    /// Each time that it becomes active.
    Once,
    /// Every so many cycles.
    Latency(u64),
    /// With others, and whether it is the first part.
    Part(bool),
}

/// The first of the runs that the compiler made of one, such as that of a `while`'s condition before the loop and in it.
fn first_alike(component: &Component, element: Element) -> Element {
    let ElementKind::Group(id) = element.kind else {
        return element;
    };
    let of = |run: &GroupRun| (run.group, run.control, run.part);
    let run = of(component.run(id));
    let first = component.runs.iter().position(|other| of(other) == run);
    Element {
        kind: ElementKind::Group(first.map_or(id, GroupRunId::from_index)),
        ..element
    }
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
            elements: Vec::new(),
            activations: Vec::new(),
            wholes: HashMap::new(),
            flows: Vec::new(),
            cells: HashMap::new(),
            last_flow: 0,
            is_lost: false,
        }
    }

    /// Takes in the next element.
    pub fn learn(&mut self, element: Element, instances: &[Instance]) {
        let component = instances[element.instance.index()].component;
        let alike = || first_alike(self.metadata.component(component), element);
        let (counted, whole) = match Counting::of(self.metadata, instances, element) {
            Counting::Once => (Counted::Once, alike()),
            Counting::Latency(latency) => (Counted::Latency(latency), alike()),
            Counting::Part(first) => (Counted::Part(element == first), first),
        };
        let activations = number(&mut self.wholes, &mut self.activations, whole);
        let cells = match element.kind {
            ElementKind::Group(run) => &*self.calls[component.index()][run.index()],
            _ => &[],
        };
        let mut flow = |cell| number(&mut self.cells, &mut self.flows, cell);
        let calls = cells.iter().map(|&cell| flow((element.instance, cell)));
        let calls = calls.collect();
        let cell = instances[element.instance.index()].parent;
        let called = cell.filter(|_| element.kind == ElementKind::Cell).map(flow);
        let called = called.into_iter().collect();
        self.elements.push(Tally {
            counted,
            activations,
            since: 0,
            calls,
            called,
        });
    }

    /// Cycles were left out, so activations have no known numbers from now on: they are 0.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Takes in that a component cell is called by the `ref` cell `formal`.
    pub fn call_by_reference(&mut self, element: ElementId, formal: (InstanceId, CellId)) {
        let flow = number(&mut self.cells, &mut self.flows, formal);
        let called = &mut self.elements[element].called;
        if !called.contains(&flow) {
            called.push(flow);
        }
    }

    /// Whether the ends of an element's slices have a number.
    pub fn counted(&self, element: ElementId) -> bool {
        matches!(self.elements[element].counted, Counted::Latency(_))
    }

    /// Whether it matters that an element is active no more.
    pub fn closes(&self, element: ElementId) -> bool {
        self.counted(element) || self.flows(element) > 0
    }

    /// How many flows leave an element's slices.
    pub fn flows(&self, element: ElementId) -> usize {
        self.elements[element].calls.len()
    }

    /// Whether flows end at an element's slices.
    pub fn is_called(&self, element: ElementId) -> bool {
        !self.elements[element].called.is_empty()
    }

    /// Whether it makes a difference in which order an element begins to be active, and how long it is.
    pub fn is_in_order(&self, element: ElementId) -> bool {
        !matches!(self.elements[element].counted, Counted::Once)
    }

    /// Something that is not [in order](Self::is_in_order) has become active so many times, at `last` the last time.
    pub fn opened(&mut self, element: ElementId, times: u64, last: u64) {
        let tally = &mut self.elements[element];
        if let Counted::Once = tally.counted {
            self.activations[tally.activations] += times;
        }
        tally.since = tally.since.max(last);
    }

    /// Activations so far, of each that is counted.
    pub fn activations(&self) -> &[u64] {
        &self.activations
    }

    /// What was counted since there were these activations comes so often again, and began so many cycles later if it began in this cycle or
    /// after it.
    pub fn again(&mut self, before: &[u64], times: u64, since: u64, later: u64) {
        for (count, before) in self.activations.iter_mut().zip(before) {
            *count += (*count - before) * times;
        }
        for tally in &mut self.elements {
            if tally.since >= since {
                tally.since += later;
            }
        }
    }

    /// The flows that were begun lead nowhere.
    pub fn forget_flows(&mut self) {
        self.flows.fill(0);
    }

    /// Something becomes active.
    pub fn open(&mut self, element: ElementId, now: u64) {
        let tally = &mut self.elements[element];
        tally.since = now;
        let activations = &mut self.activations[tally.activations];
        match tally.counted {
            Counted::Once => *activations += 1,
            Counted::Latency(_) => {}
            Counted::Part(first) => *activations += u64::from(first || *activations == 0),
        }
    }

    /// Something that [closes](Self::closes) was active up to cycle `now`. Adds the number of the slice that ends to `numbers`.
    pub fn close(&mut self, element: ElementId, now: u64, numbers: &mut Vec<u64>) {
        let tally = &mut self.elements[element];
        if let Counted::Latency(latency) = tally.counted {
            let count = (now - tally.since).div_ceil(latency);
            self.activations[tally.activations] += count;
            numbers.push(if self.is_lost { 0 } else { count });
        }
        for &cell in &tally.calls {
            self.flows[cell] = 0;
        }
    }

    /// When an element became active last, or where its first activation begins that is not [cut](Self::cut).
    pub fn since(&self, element: ElementId) -> u64 {
        self.elements[element].since
    }

    /// Leaves the activations out that were over by cycle `at`, in which the section begins.
    pub fn cut(&mut self, element: ElementId, at: u64) {
        let tally = &mut self.elements[element];
        if let Counted::Latency(latency) = tally.counted {
            let over = (at - tally.since) / latency;
            self.activations[tally.activations] += over;
            tally.since += over * latency;
        }
    }

    /// The number of the activation that goes on; 0 if it is not known.
    pub fn activation(&self, element: ElementId) -> u64 {
        let tally = &self.elements[element];
        match (self.activations[tally.activations], tally.counted) {
            _ if self.is_lost => 0,
            (over, Counted::Latency(_)) => over + 1,
            (activations, Counted::Once | Counted::Part(_)) => activations,
        }
    }

    /// Adds the numbers of the slice that begins to `numbers`.
    pub fn begin(&mut self, element: ElementId, numbers: &mut Vec<u64>) {
        numbers.push(self.activation(element));
        let tally = &self.elements[element];
        for &cell in &tally.calls {
            self.last_flow += 1;
            self.flows[cell] = self.last_flow;
            numbers.push(self.last_flow);
        }
        if let Some(&first) = tally.called.first() {
            let mut called = tally.called.iter();
            let flow = called.find(|&&cell| self.flows[cell] > 0);
            numbers.push(std::mem::take(&mut self.flows[*flow.unwrap_or(&first)]));
        }
    }
}
