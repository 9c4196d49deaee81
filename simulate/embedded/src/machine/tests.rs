//! Every value of every cycle of random designs, held against one that is computed anew from registers and
//! memories: what machine code does not compute in a cycle is what it was before.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petal_passes::{ALL, Library, NO_OPT, Pipeline};

use super::*;
use crate::code::Memory;
use crate::elaborate;
use crate::program::Program;
use crate::waveform;

/// Numbers that look random, the same in each run.
pub(crate) struct Random(pub u64);

impl Random {
    /// A number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Components with one input, one output and a memory by reference. Each takes another time.
fn leaf(name: &str, random: &mut Random) -> String {
    let (rounds, address) = (random.below(5), random.below(8));
    let (steps, op) = match random.below(3) {
        0 => ("par { step; next; }", "std_add"),
        1 => ("seq { step; next; }", "std_sub"),
        _ => ("seq { next; step; save; }", "std_xor"),
    };
    format!(
        "component {name}(x: 8) -> (out: 8) {{
           cells {{
             acc = std_reg(8); i = std_reg(4); op = {op}(8); inc = std_add(4); lt = std_lt(4);
             ref m = seq_mem_d1(8, 8, 3);
           }}
           wires {{
             group load {{ acc.in = x; acc.write_en = 1'd1; load[done] = acc.done; }}
             group zero {{ i.in = 4'd0; i.write_en = 1'd1; zero[done] = i.done; }}
             group step {{
               op.left = acc.out; op.right = x; acc.in = op.out; acc.write_en = 1'd1; step[done] = acc.done;
             }}
             group next {{
               inc.left = i.out; inc.right = 4'd1; i.in = inc.out; i.write_en = 1'd1; next[done] = i.done;
             }}
             group save {{
               m.addr0 = 3'd{address}; m.write_data = acc.out; m.write_en = 1'd1; m.content_en = 1'd1;
               save[done] = m.done;
             }}
             group fetch {{ m.addr0 = 3'd{address}; m.content_en = 1'd1; fetch[done] = m.done; }}
             group take {{ acc.in = m.read_data; acc.write_en = 1'd1; take[done] = acc.done; }}
             comb group more {{ lt.left = i.out; lt.right = 4'd{rounds}; }}
             out = acc.out;
           }}
           control {{
             seq {{ load; zero; if lt.out with more {{ seq {{ fetch; take; }} }} while lt.out with more {{ {steps} }} save; }}
           }}
         }}\n"
    )
}

/// Calls of the cells `from..to`, in any order and at any time; only one arm of a `par` has the shared memory `m`,
/// others have memories of their own.
fn calls(random: &mut Random, cells: std::ops::Range<u64>, memory: bool, text: &mut String) {
    let count = cells.end - cells.start;
    if count == 1 {
        let cell = cells.start;
        let memory = if memory {
            "m".to_owned()
        } else {
            format!("m{cell}")
        };
        // What it gets comes from another one, awake or asleep.
        let input = match random.below(3) {
            0 => "i.out".to_owned(),
            1 => format!("c{}.out", random.below(cell + 1)),
            _ => format!("8'd{}", random.below(256)),
        };
        for _ in 0..=random.below(2) {
            write!(text, "invoke c{cell}[m = {memory}](x = {input})(); ").unwrap();
        }
        return;
    }
    let middle = cells.start + 1 + random.below(count - 1);
    let is_par = random.below(2) == 0;
    text.push_str(if is_par {
        "par { seq { "
    } else {
        "seq { seq { "
    });
    calls(random, cells.start..middle, memory, text);
    text.push_str("} seq { ");
    calls(random, middle..cells.end, memory && !is_par, text);
    text.push_str("} } ");
}

/// A design in which many instances sleep most of the time.
pub(crate) fn design(random: &mut Random, rounds: u64) -> String {
    let mut text = String::from(
        "import \"primitives/core.futil\";\nimport \"primitives/memories/seq.futil\";\n",
    );
    let leaves = 2 + random.below(3);
    for number in 0..leaves {
        text += &leaf(&format!("leaf{number}"), random);
    }
    // One that has others inside.
    let inner = |random: &mut Random| format!("leaf{}", random.below(leaves));
    let (a, b) = (inner(random), inner(random));
    writeln!(
        text,
        "component nest(x: 8) -> (out: 8) {{
           cells {{ a = {a}(); b = {b}(); ref m = seq_mem_d1(8, 8, 3); own = seq_mem_d1(8, 8, 3); }}
           wires {{ out = b.out; }}
           control {{
             seq {{
               invoke a[m = m](x = x)();
               par {{ invoke a[m = own](x = b.out)(); invoke b[m = m](x = x)(); }}
             }}
           }}
         }}"
    )
    .unwrap();
    let cells = 3 + random.below(6);
    let mut control = String::new();
    calls(random, 0..cells, true, &mut control);
    let mut declared = String::new();
    for cell in 0..cells {
        let component = if random.below(3) == 0 {
            "nest".to_owned()
        } else {
            inner(random)
        };
        let _ = write!(
            declared,
            "c{cell} = {component}(); m{cell} = seq_mem_d1(8, 8, 3); "
        );
    }
    let rounds = rounds + random.below(2);
    writeln!(
        text,
        "component main() -> () {{
           cells {{
             @external m = seq_mem_d1(8, 8, 3); i = std_reg(8); inc = std_add(8); lt = std_lt(8); {declared}
           }}
           wires {{
             group next {{
               inc.left = i.out; inc.right = 8'd1; i.in = inc.out; i.write_en = 1'd1; next[done] = i.done;
             }}
             comb group more {{ lt.left = i.out; lt.right = 8'd{rounds}; }}
           }}
           control {{ while lt.out with more {{ seq {{ {control} next; }} }} }}
         }}"
    )
    .unwrap();
    text
}

/// Compiles and unfolds a design.
pub(crate) fn elaborated(text: &str, passes: &str) -> Design {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("design.futil");
    std::fs::write(&file, text).unwrap();
    let library = Library::new(&[]).unwrap();
    let program = petal_passes::Program::read(&file, &library).unwrap();
    let compiled = petal_passes::compile(program, &Pipeline::parse(passes, &[]).unwrap()).unwrap();
    elaborate::elaborate(&Program::of(compiled.program()), &BTreeMap::new()).unwrap()
}

/// What the memory `m` has in it at first.
pub(crate) fn data() -> BTreeMap<u64, BigUint> {
    let words = (0..8).map(|at| (at, BigUint::from(at * 31 % 256)));
    words.collect()
}

/// A machine that has data in its memory `m` and is reset.
pub(crate) fn started(compiled: &Arc<Compiled>, states: StateCode) -> Machine {
    let machine = Machine::new(Arc::clone(compiled), 20_000, Arc::default(), states);
    let mut machine = machine.unwrap();
    machine.write_memory("m", &data());
    machine.reset(&mut |_| {}).unwrap();
    machine
}

/// Runs a design, and compares.
fn check(text: &str, passes: &str) -> (u64, usize) {
    let design = elaborated(text, passes);
    let watched = waveform::values(&design);
    // One value may have several probes.
    let probes: Vec<NodeId> = watched.iter().chain(&watched[..9]).copied().collect();
    let compiled = Arc::new(Compiled::new(design, &probes, &watched).unwrap());
    let graph = &compiled.design.graph;
    let mut machine = started(&compiled, StateCode::Never);
    let words = |value: &BigUint| value.iter_u64_digits().next().unwrap_or(0);
    let mut next: Option<Vec<u64>> = None;
    let mut before = machine.watched().to_vec();
    let mut probed = vec![0; probes.len()];
    let mut changes = Vec::new();
    let mut memories: Vec<Vec<u64>> = machine
        .instance
        .memories()
        .iter()
        .map(|memory| memory.contents().to_vec())
        .collect();
    for cycle in 0.. {
        let runs = machine
            .step()
            .unwrap_or_else(|stopped| panic!("{stopped}\n{text}"));
        let layout = compiled.layout();
        if let Some(next) = next {
            let now: Vec<u64> = layout
                .regs
                .iter()
                .map(|place| machine.instance.word(place.at))
                .collect();
            assert_eq!(now, next, "registers in cycle {cycle} of\n{text}");
            let now = machine.instance.memories().iter();
            assert!(
                now.map(Memory::contents)
                    .eq(memories.iter().map(|memory| &memory[..]))
            );
        }
        let values = Values::of(&machine);
        let computed: Vec<u64> = watched
            .iter()
            .map(|&node| words(values.get(node)))
            .collect();
        assert_eq!(machine.watched(), computed, "cycle {cycle} of\n{text}");
        for (at, (now, before)) in computed.iter().zip(&before).enumerate() {
            let is_told = machine.changed()[at / 64] >> (at % 64) & 1 == 1;
            assert!(is_told || now == before, "cycle {cycle} of\n{text}");
        }
        before = computed;
        changes.clear();
        machine.changes(&mut changes);
        for change in &changes {
            let told = std::mem::replace(&mut probed[change.slot.index()], change.value);
            assert_ne!(told, change.value, "cycle {cycle} of\n{text}");
        }
        let computed: Vec<u64> = probes.iter().map(|&node| words(values.get(node))).collect();
        assert_eq!(probed, computed, "cycle {cycle} of\n{text}");
        if !runs {
            return (cycle, graph.len());
        }
        next = Some(
            graph
                .regs
                .iter()
                .map(|reg| words(values.get(reg.next)))
                .collect(),
        );
        for write in &graph.writes {
            if words(values.get(write.enable)) != 0 {
                let address = usize::try_from(words(values.get(write.address))).unwrap();
                memories[write.memory.index()][address] = words(values.get(write.data));
            }
        }
    }
    unreachable!("a run ends")
}

#[test]
fn parts_that_sleep_keep_their_values() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut cycles, mut nodes) = (0, 0);
    for number in 0..8 {
        let text = design(&mut random, 1);
        let run = check(&text, if number % 3 == 0 { NO_OPT } else { ALL });
        cycles += run.0;
        nodes = nodes.max(run.1);
    }
    assert!(
        cycles > 500 && nodes > 1500,
        "{cycles} cycles, {nodes} nodes"
    );
}
