//! What is left to compute in a state, as a list of operations.
//!
//! Owns how a tape is made from the graph, and what one cycle of it does. Values have places: first the registers, as the general
//! code has them, then what a tape computes, then constants. Knows nothing of how states are chosen.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use petal_reconstruct::{Change, Id as _, SlotId};

use super::Subject;
use crate::code::{Instance, Layout};
use crate::graph::{Graph, Kind, MemId, NodeId, Op, RegId, Write as GraphWrite};

/// Values that a tape computes at most. With more of them the general code is as good.
const MAX_STEPS: usize = 128;

/// Edges that are kept from each state.
const MAX_EDGES: usize = 64;

/// A value's place.
pub(super) type Place = u32;

/// The values that tapes work on.
pub(super) struct Values {
    pub all: Vec<u64>,
    registers: usize,
    constants: HashMap<u64, Place>,
}

impl Values {
    pub fn new(layout: &Layout) -> Self {
        let registers = layout.state.len();
        Self {
            all: vec![0; registers + MAX_STEPS],
            registers,
            constants: HashMap::new(),
        }
    }

    pub fn registers(&self) -> &[u64] {
        &self.all[..self.registers]
    }

    pub fn registers_mut(&mut self) -> &mut [u64] {
        &mut self.all[..self.registers]
    }

    fn get(&self, place: Place) -> u64 {
        self.all[place as usize]
    }

    /// The constant at a place, if that is one.
    pub fn constant_at(&self, place: Place) -> Option<u64> {
        let is_constant = place as usize >= self.registers + MAX_STEPS;
        is_constant.then(|| self.get(place))
    }

    fn constant(&mut self, value: u64) -> Place {
        *self.constants.entry(value).or_insert_with(|| {
            self.all.push(value);
            place(self.all.len() - 1)
        })
    }
}

fn place(at: usize) -> Place {
    Place::try_from(at).expect("designs need less than 2 GiB of state")
}

/// The first word of a register among all of them.
pub(super) fn at(layout: &Layout, reg: RegId) -> usize {
    layout.regs[reg.index()].at - layout.state.start
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Code {
    Op(Op),
    /// A word of a memory, which has so many.
    Read(MemId, u64),
}

/// One operation.
pub(super) struct Step {
    pub code: Code,
    pub width: u32,
    pub widths: [u32; 3],
    pub args: [Place; 3],
    pub operands: usize,
    pub to: Place,
}

/// A word that is written to a memory if `enable` is not 0.
pub(super) struct Write {
    pub memory: MemId,
    pub size: u64,
    pub enable: Place,
    pub address: Place,
    pub data: Place,
    pub within: Option<Place>,
}

/// A way to another state.
pub(super) struct Edge {
    /// What the registers that depend on data become.
    pub branch: Box<[u64]>,
    pub to: usize,
    /// The probes that are constants of both states, and differ.
    pub fixed: Box<[Change]>,
    /// What those that move after it are before it; and what those that moved before it are after it.
    pub begin: Box<[Change]>,
    pub end: Box<[Change]>,
}

/// What is left to compute in a state.
pub(super) struct Tape {
    pub steps: Box<[Step]>,
    /// Where one of these is not 0, the cycle is left to the general code.
    pub stops: Box<[Place]>,
    pub writes: Box<[Write]>,
    /// What registers become: where each is, and where its next value is.
    pub sets: Box<[(Place, Place)]>,
    /// The registers of the state whose next value depends on data.
    pub branches: Box<[Place]>,
    /// The probes that are constants of the state, and the others with their places.
    fixed: Box<[Option<u64>]>,
    pub moving: Box<[(SlotId, Place)]>,
    pub edges: Vec<Edge>,
}

impl Tape {
    /// Computes a cycle. Returns whether the general code must do it.
    pub fn compute(&self, values: &mut Values, instance: &Instance) -> bool {
        for step in &self.steps {
            let args = step.args.map(|place| values.get(place));
            values.all[step.to as usize] = match step.code {
                Code::Op(op) => op.eval_word(step.width, args, step.widths),
                Code::Read(memory, _) => {
                    let contents = instance.memories()[memory.index()].contents();
                    let word = usize::try_from(args[0]).ok();
                    let word = word.and_then(|word| contents.get(word));
                    word.copied().unwrap_or(0)
                }
            };
        }
        let strays = |write: &Write| {
            let is_within = write.within.is_none_or(|place| values.get(place) != 0);
            let fits = is_within && values.get(write.address) < write.size;
            !fits && values.get(write.enable) != 0
        };
        self.stops.iter().any(|&place| values.get(place) != 0) || self.writes.iter().any(strays)
    }

    /// About how much there is to compile.
    pub fn parts(&self) -> usize {
        let (moving, edges) = (self.moving.len(), self.edges.len());
        self.steps.len() + self.sets.len() + 4 * (self.writes.len() + moving + edges) + 8
    }

    /// The rising edge of the clock.
    pub fn commit(&self, values: &mut Values, instance: &mut Instance) {
        for write in &self.writes {
            if values.get(write.enable) != 0 {
                let (address, data) = (values.get(write.address), values.get(write.data));
                instance.write_word(write.memory, address, data);
            }
        }
        for &(to, from) in &self.sets {
            values.all[to as usize] = values.get(from);
        }
    }

    /// The edge that the registers, which are committed, take, if it is known.
    pub fn edge(&self, values: &Values) -> Option<usize> {
        let is_taken = |edge: &Edge| {
            let mut pairs = self.branches.iter().zip(&edge.branch);
            pairs.all(|(&place, value)| values.get(place) == *value)
        };
        self.edges.iter().position(is_taken)
    }

    pub fn edge_at(&self, edge: usize) -> &Edge {
        &self.edges[edge]
    }

    /// The edge that the registers take, to a tape with these constants.
    pub fn edge_to(&self, to: usize, next: &Self, values: &Values) -> Edge {
        let (mut fixed, mut begin, mut end) = (Vec::new(), Vec::new(), Vec::new());
        for (at, pair) in self.fixed.iter().zip(&next.fixed).enumerate() {
            let slot = SlotId::from_index(at);
            match pair {
                (Some(before), &Some(value)) if *before != value => {
                    fixed.push(Change { slot, value });
                }
                (&Some(value), None) => begin.push(Change { slot, value }),
                (None, &Some(value)) => end.push(Change { slot, value }),
                _ => {}
            }
        }
        Edge {
            branch: self.branches.iter().map(|&at| values.get(at)).collect(),
            to,
            fixed: fixed.into(),
            begin: begin.into(),
            end: end.into(),
        }
    }

    /// Keeps an edge. Returns its number.
    pub fn keep(&mut self, edge: Edge) -> usize {
        if self.edges.len() == MAX_EDGES {
            self.edges.clear();
        }
        self.edges.push(edge);
        self.edges.len() - 1
    }

    /// All that differs from what was told.
    pub fn changes(&self, values: &Values, told: &mut [u64], tell: &mut impl FnMut(Change)) {
        for (at, value) in self.fixed.iter().enumerate() {
            if let &Some(value) = value
                && told[at] != value
            {
                let slot = SlotId::from_index(at);
                tell(Change { slot, value });
            }
        }
        self.moves(values, told, tell);
    }

    /// What differs after an edge to this tape.
    pub fn changes_after(
        &self,
        edge: &Edge,
        values: &Values,
        told: &mut [u64],
        tell: &mut impl FnMut(Change),
    ) {
        edge.fixed.iter().copied().for_each(&mut *tell);
        for change in &edge.end {
            if told[change.slot.index()] != change.value {
                tell(*change);
            }
        }
        for change in &edge.begin {
            told[change.slot.index()] = change.value;
        }
        self.moves(values, told, tell);
    }

    fn moves(&self, values: &Values, told: &mut [u64], tell: &mut impl FnMut(Change)) {
        for &(slot, place) in &self.moving {
            let value = values.get(place);
            let last = &mut told[slot.index()];
            if *last != value {
                *last = value;
                tell(Change { slot, value });
            }
        }
    }

    /// Makes all known that was told, after a cycle of this tape.
    pub fn complete(&self, told: &mut [u64]) {
        for (told, value) in told.iter_mut().zip(&self.fixed) {
            *told = value.unwrap_or(*told);
        }
    }
}

/// What a tape is made for.
pub(super) struct State<'a> {
    pub subject: &'a Subject<'a>,
    /// The registers of a state, and the values of this one.
    pub registers: &'a [RegId],
    pub key: &'a [u64],
}

impl State<'_> {
    /// The tape of this state; `None` if it is none for tapes.
    pub fn tape(&self, values: &mut Values) -> Option<Tape> {
        let pairs = self.registers.iter().copied().zip(self.key.iter().copied());
        let constants: HashMap<RegId, u64> = pairs.collect();
        let (graph, nodes) = self
            .subject
            .graph
            .in_state(|reg| constants.get(&reg).copied());
        let roots = self.roots(&graph, &nodes)?;
        let mut maker = Maker {
            places: HashMap::new(),
            steps: Vec::new(),
            graph: &graph,
            layout: self.subject.layout,
            values,
        };
        maker.compute(&roots)?;
        let stops = self.stops(&graph, &nodes);
        let stops = stops.map(|node| maker.place(node)).collect::<Option<_>>()?;
        let mut writes = Vec::new();
        for write in enabled(&graph) {
            let memory = &graph.mems[write.memory.index()];
            if graph.width(write.data) > memory.width {
                return None;
            }
            writes.push(Write {
                memory: write.memory,
                size: memory.size,
                enable: maker.place(write.enable)?,
                address: maker.place(write.address)?,
                data: maker.place(write.data)?,
                within: match write.within {
                    Some(node) => Some(maker.place(node)?),
                    None => None,
                },
            });
        }
        let (mut sets, mut branches) = (Vec::new(), Vec::new());
        for (reg, next) in moving(&graph, &constants) {
            let to = place(at(self.subject.layout, reg));
            if constants.contains_key(&reg) && graph.value(next).is_none() {
                branches.push(to);
            }
            sets.push((to, maker.kept(next)?));
        }
        let (mut fixed, mut moving) = (Vec::new(), Vec::new());
        for (slot, &probe) in self.subject.probes.iter().enumerate() {
            let node = nodes[probe.index()];
            let value = graph.word_value(node);
            fixed.push(value);
            if value.is_none() {
                moving.push((SlotId::from_index(slot), maker.place(node)?));
            }
        }
        Some(Tape {
            steps: maker.steps.into(),
            stops,
            writes: writes.into(),
            sets: sets.into(),
            branches: branches.into(),
            fixed: fixed.into(),
            moving: moving.into(),
            edges: Vec::new(),
        })
    }

    /// What must be 0.
    fn stops<'s>(&self, graph: &'s Graph, nodes: &[NodeId]) -> impl Iterator<Item = NodeId> + 's {
        let done = nodes[self.subject.done.index()];
        let checks = graph.checks.iter().map(|check| check.fails);
        checks.chain([done]).filter(|&node| !graph.is(node, 0))
    }

    /// All that has to be computed; `None` if the run ends here.
    fn roots(&self, graph: &Graph, nodes: &[NodeId]) -> Option<Vec<NodeId>> {
        let mut roots: Vec<NodeId> = self.stops(graph, nodes).collect();
        if roots.iter().any(|&node| graph.value(node).is_some()) {
            return None;
        }
        for write in enabled(graph) {
            roots.extend([write.enable, write.address, write.data]);
            roots.extend(write.within);
        }
        let next = graph.regs.iter().map(|reg| reg.next);
        let probes = self.subject.probes.iter().map(|probe| nodes[probe.index()]);
        roots.extend(next.chain(probes));
        Some(roots)
    }
}

/// The writes that may happen.
fn enabled(graph: &Graph) -> impl Iterator<Item = &GraphWrite> {
    let writes = graph.writes.iter();
    writes.filter(|write| !graph.is(write.enable, 0))
}

/// The registers that may change, with what they become.
fn moving(graph: &Graph, constants: &HashMap<RegId, u64>) -> impl Iterator<Item = (RegId, NodeId)> {
    let regs = graph.regs.iter().enumerate();
    regs.filter_map(|(at, reg)| {
        let id = RegId::from_index(at);
        let stays = match (&graph.node(reg.next).kind, constants.get(&id)) {
            (Kind::Reg(other), _) => *other == id,
            (Kind::Const(next), Some(&value)) => *next == value.into(),
            _ => false,
        };
        (!stays).then_some((id, reg.next))
    })
}

/// A tape that is being made.
struct Maker<'a> {
    graph: &'a Graph,
    layout: &'a Layout,
    values: &'a mut Values,
    steps: Vec<Step>,
    /// What is computed.
    places: HashMap<NodeId, Place>,
}

impl Maker<'_> {
    /// Computes these nodes and all that they need.
    fn compute(&mut self, roots: &[NodeId]) -> Option<()> {
        let mut seen: HashSet<NodeId> = HashSet::new();
        let mut open = roots.to_vec();
        while let Some(node) = open.pop() {
            let operands = self.graph.node(node).operands();
            if !operands.is_empty() && seen.insert(node) {
                open.extend(operands);
            }
        }
        let mut nodes: Vec<NodeId> = seen.into_iter().collect();
        nodes.sort_unstable();
        for id in nodes {
            let node = self.graph.node(id);
            let code = match node.kind {
                Kind::Op(op, _) => Code::Op(op),
                Kind::Read(memory, _) => Code::Read(memory, self.graph.mems[memory.index()].size),
                _ => continue,
            };
            let operands = node.operands().len();
            let (mut args, mut widths) = ([0; 3], [1; 3]);
            for (at, &operand) in node.operands().iter().enumerate() {
                args[at] = self.place(operand)?;
                widths[at] = self.graph.width(operand);
            }
            let to = self.step(code, node.width, operands, (args, widths))?;
            self.places.insert(id, to);
        }
        Some(())
    }

    fn step(
        &mut self,
        code: Code,
        width: u32,
        operands: usize,
        (args, widths): ([Place; 3], [u32; 3]),
    ) -> Option<Place> {
        if self.steps.len() == MAX_STEPS || width > 64 {
            return None;
        }
        let to = place(self.layout.state.len() + self.steps.len());
        self.steps.push(Step {
            code,
            width,
            widths,
            args,
            operands,
            to,
        });
        Some(to)
    }

    /// Where a value is, if it has at most 64 bits.
    fn place(&mut self, node: NodeId) -> Option<Place> {
        if self.graph.width(node) > 64 {
            return None;
        }
        match &self.graph.node(node).kind {
            Kind::Const(value) => {
                let value = value.iter_u64_digits().next().unwrap_or(0);
                Some(self.values.constant(value))
            }
            Kind::Input(_) => Some(self.values.constant(0)),
            Kind::Reg(reg) => Some(place(at(self.layout, *reg))),
            Kind::Wire(_) => None,
            Kind::Op(..) | Kind::Read(..) => self.places.get(&node).copied(),
        }
    }

    /// The same, where it stays while registers are set.
    fn kept(&mut self, node: NodeId) -> Option<Place> {
        let place = self.place(node)?;
        match self.graph.node(node).kind {
            Kind::Reg(_) => {
                let width = self.graph.width(node);
                let args = ([place, 0, 0], [width, 1, 1]);
                self.step(Code::Op(Op::Pad), width, 1, args)
            }
            _ => Some(place),
        }
    }
}
