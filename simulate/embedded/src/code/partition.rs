//! Which values are computed together: a design is cut into parts, and a part is only computed in a cycle in
//! which something that it is computed from has changed.
//!
//! Owns the cut; knows nothing of addresses or machine code. After Beamer and Donofrio, *Efficiently Exploiting
//! Low Activity Factors to Accelerate RTL Simulation* (DAC 2020): cones of values that are used inside of
//! themselves only, and on top of that cones joined that change at the same time.

use petal_reconstruct::Id as _;

use crate::graph::{Graph, Kind, NodeId};

/// Values of a part at most: a larger one is computed in vain more often.
const MAX_PART: usize = 24;

/// A part that has fewer values is joined with the next one, though that changes with other values: to look
/// whether a part has to be computed takes about as long.
const MIN_PART: usize = 8;

/// A design with no more values than this is one part: most of it moves in every cycle, and it compiles sooner.
const SMALL: usize = 150;

/// Values in a function. The code is cut into functions of about that size, because the time to compile one
/// grows faster than its length.
const FUNCTION: usize = 1000;

/// Parts in a function: each has a bit in a word that tells which have to be computed.
const PARTS: usize = 64;

/// Nodes in the order in which they are computed.
type Chunk = Vec<NodeId>;

/// Cuts a design. `live` are the nodes to compute, in an order in which operands come first, and `leaves` other
/// nodes that something is to be done with. Returns the parts of each function; values flow from earlier parts
/// to later ones only, but for those of wires on loops.
pub(super) fn functions(graph: &Graph, leaves: &[NodeId], live: &[NodeId]) -> Vec<Vec<Chunk>> {
    // A loop is evaluated until it has settled, all of it.
    if !graph.wires.is_empty() {
        let chunks = leaves.chunks(FUNCTION).chain(live.chunks(FUNCTION));
        return chunks.map(|chunk| vec![chunk.to_vec()]).collect();
    }
    if leaves.len() + live.len() <= SMALL {
        return vec![vec![[leaves, live].concat()]];
    }
    let mut functions: Vec<Vec<Chunk>> = Vec::new();
    let mut size = FUNCTION;
    for part in parts(Cones::of(graph, leaves, live)) {
        match functions.last_mut() {
            Some(last) if size + part.len() <= FUNCTION && last.len() < PARTS => {
                size += part.len();
                last.push(part);
            }
            _ => {
                size = part.len();
                functions.push(vec![part]);
            }
        }
    }
    functions
}

/// Nodes of which only the last one is used by other cones.
struct Cone {
    nodes: Vec<NodeId>,
    /// How many cones a value passes at most until it gets here.
    level: usize,
    /// The values that it is computed from, those first that most cones are.
    inputs: Vec<(usize, NodeId)>,
}

/// The cones of a graph.
struct Cones(Vec<Cone>);

impl Cones {
    fn of(graph: &Graph, leaves: &[NodeId], live: &[NodeId]) -> Self {
        /// What is used by the nodes of several cones.
        const SEVERAL: usize = usize::MAX;
        // The last node of the only cone that uses a node, and of the one that it is in.
        let mut user: Vec<Option<usize>> = vec![None; graph.len()];
        let mut last: Vec<usize> = (0..graph.len()).collect();
        let mut size = vec![0; graph.len()];
        for &node in live.iter().rev() {
            let cone = match user[node.index()] {
                Some(cone) if cone != SEVERAL && size[cone] < MAX_PART => cone,
                _ => node.index(),
            };
            last[node.index()] = cone;
            size[cone] += 1;
            for operand in graph.node(node).operands() {
                let user = &mut user[operand.index()];
                *user = match *user {
                    None => Some(cone),
                    Some(other) if other == cone => Some(cone),
                    Some(_) => Some(SEVERAL),
                };
            }
        }
        let mut cones: Vec<Cone> = Vec::new();
        let mut number = vec![SEVERAL; graph.len()];
        // The last nodes of cones are in an order in which values flow.
        let heads = live
            .iter()
            .filter(|node| last[node.index()] == node.index());
        for node in leaves.iter().chain(heads) {
            number[node.index()] = cones.len();
            cones.push(Cone {
                nodes: Vec::new(),
                level: 0,
                inputs: Vec::new(),
            });
        }
        for &node in leaves.iter().chain(live) {
            let cone = &mut cones[number[last[node.index()]]];
            cone.nodes.push(node);
            let operands = graph.node(node).operands();
            let itself = matches!(graph.node(node).kind, Kind::Reg(_)).then_some(node);
            for &operand in operands.iter().chain(&itself) {
                let changes = match graph.node(operand).kind {
                    Kind::Op(..) | Kind::Read(..) => last[operand.index()] != last[node.index()],
                    Kind::Reg(_) => true,
                    Kind::Const(_) | Kind::Input(_) | Kind::Wire(_) => false,
                };
                if changes {
                    cone.inputs.push((0, operand));
                }
            }
        }
        let mut uses = vec![0_usize; graph.len()];
        for cone in &mut cones {
            cone.inputs.sort_unstable();
            cone.inputs.dedup();
            for (_, input) in &cone.inputs {
                uses[input.index()] += 1;
            }
        }
        for at in 0..cones.len() {
            let from = cones[at].inputs.iter();
            let computed =
                from.filter(|(_, input)| !matches!(graph.node(*input).kind, Kind::Reg(_)));
            let level = computed.map(|(_, input)| cones[number[input.index()]].level + 1);
            cones[at].level = level.max().unwrap_or(0);
            for (often, input) in &mut cones[at].inputs {
                *often = usize::MAX - uses[input.index()];
            }
            cones[at].inputs.sort_unstable();
        }
        Self(cones)
    }
}

/// Joins cones to parts. Those of one level do not depend on one another, so any of them may be joined.
fn parts(Cones(mut cones): Cones) -> Vec<Chunk> {
    cones.sort_by(|a, b| (a.level, &a.inputs).cmp(&(b.level, &b.inputs)));
    let mut parts: Vec<Chunk> = Vec::new();
    let mut before: Option<(usize, Option<(usize, NodeId)>)> = None;
    for cone in cones {
        let main = (cone.level, cone.inputs.first().copied());
        let fits = |part: &Chunk, before: (usize, _)| {
            before.0 == cone.level
                && part.len() + cone.nodes.len() <= MAX_PART
                && (before == main || before.1.is_some() && part.len() < MIN_PART)
        };
        match (parts.last_mut(), before) {
            (Some(part), Some(before)) if fits(part, before) => part.extend(cone.nodes),
            _ => parts.push(cone.nodes),
        }
        before = Some(main);
    }
    parts
}
