//! Loops of which an iteration starts in each cycle.
//!
//! If each step takes one cycle and drives what no other one does, the steps of several iterations run at once, each a cycle after that of the
//! iteration before. One static group has all of that: each step runs in as many of its cycles, in a row. A multiplier that
//! is busy for two cycles becomes one that takes operands in each, a word of a memory that each iteration reads and writes is kept in a
//! register, and what is needed later than the next iteration has it anew goes through registers. Owns how that is written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use calyx_ir as ir;
use petal_program::dependences::ports_read;
use petal_table::listed;

use super::body::Body;
use super::new::{New, PIPELINED, REGISTER};
use super::stages::Stages;
use super::{Loop, Scope};
use crate::rewrites::{Edit, GROUP_PORTS, Rewrite};

/// More registers for what is needed later are not made.
const MOST_DELAYED: usize = 16;

/// Why a step computes the same.
const FINDS_THE_SAME: &str = "the same steps run as often, each a cycle after that of the iteration before, and find what they found: what the next iteration overwrites before it is needed goes through registers";

/// Registers for what is read late: by the port, and by how many cycles.
type Delayed = BTreeMap<(ir::Canonical, u64), Late>;

/// A register for what is read late.
struct Late {
    register: New,
    /// The cycles in which the first iteration may need it to be written: the soonest and the latest.
    written: (u64, u64),
}

impl Scope<'_> {
    /// The loop with an iteration that starts in each cycle.
    pub(super) fn in_each_cycle(&self, of: &Loop<'_>) -> Option<Rewrite> {
        let stages = self.stages(of)?;
        let name = self.free_name(&of.name()?, GROUP_PORTS);
        let place = self.place_of(of)?;
        let delayed = self.delayed(&stages)?;
        let text = stages.text(&delayed, &name, of.times, place.indent)?;

        let registers = delayed.values().map(|late| &late.register);
        let new = stages.new.iter().chain(registers);
        let mut edits = self.declared(of, new, &[&name])?;
        if stages.multiplies() && self.lib.find_primitive(PIPELINED).is_none() {
            edits.push(self.import_pipelined()?);
        }
        edits.extend(self.in_place_of_groups(of, &place, &text)?);
        let region = self.statement(of.view)?;
        edits.push(self.in_place_of(of, region, &[format!("{name};")]));
        let read = stages.kept.iter().map(|kept| (kept.read.view, &kept.reads));
        let all = stages.all.iter();
        let all = read.chain(all.map(|stage| (stage.step.view, &stage.assignments)));
        let (views, own): (Vec<_>, Vec<_>) = all.unzip();
        let first = (views, own.into_iter().flatten().cloned().collect());
        let what = self.said_of(of, &stages);
        self.overlapped(of, what, (first, None), Some(FINDS_THE_SAME), edits)
    }

    fn said_of(&self, of: &Loop<'_>, stages: &Stages<'_>) -> String {
        let keyword = of.keyword();
        let mut text = format!(
            "start an iteration of this `{keyword}` in each cycle, while those before it go on"
        );
        let mut more = self.besides(of);
        let products = stages.new.iter().filter(|new| new.is_product());
        let products: Vec<String> = products
            .map(|new| format!("`{}`", new.behind.borrow().name()))
            .collect();
        if !products.is_empty() {
            more.push(format!(
                "multiply with a `pipelined_mult` instead of {}",
                listed(&products)
            ));
        }
        for kept in &stages.kept {
            more.push(format!("keep the word of `{}` in a register", kept.memory));
        }
        if !more.is_empty() {
            let _ = write!(text, "; {}", more.join(", "));
        }
        text
    }

    /// The registers for what is read late.
    fn delayed(&self, of: &Stages<'_>) -> Option<Delayed> {
        let mut delayed = Delayed::new();
        for (port, all) in of.delays() {
            let behind = self.component.find_cell(port.cell).or_else(|| {
                let mut new = of.new.iter();
                let new = new.find(|new| new.name() == port.cell);
                new.map(|new| new.behind.clone())
            })?;
            let width = of.width(&port)?;
            for by in 1..=*all.keys().max()? {
                let number = if by == 1 {
                    String::new()
                } else {
                    format!("_{by}")
                };
                let name = format!("{}_delayed{number}", port.cell);
                let name = self.free_name(&name, REGISTER);
                let reaches = all.range(by..);
                let first = reaches.clone().map(|(_, ready)| ready.0).min()?;
                let last = reaches.map(|(_, ready)| ready.1).max()?;
                let late = Late {
                    register: New::register(name, width, behind.clone()),
                    written: (first + by - 1, last + by - 1),
                };
                delayed.insert((port.clone(), by), late);
            }
        }
        (delayed.len() <= MOST_DELAYED).then_some(delayed)
    }

    /// What imports `pipelined_mult`, unless something else has a name that comes with it.
    fn import_pipelined(&self) -> Option<Edit> {
        let other = "pipelined_fp_smult";
        let is_taken = self.lib.find_primitive(other).is_some()
            || self
                .components
                .iter()
                .any(|of| [PIPELINED, other].contains(&of.name.as_ref()));
        (!is_taken).then_some(())?;
        // The standard library is always there, whatever else imports come from.
        let end = self.text.import("primitives/binary_operators.futil")?;
        let import = "\nimport \"primitives/pipelined.futil\";";
        Some(Edit::insert(end, import))
    }
}

impl Stages<'_> {
    /// The group of all iterations, as text.
    fn text(&self, delayed: &Delayed, name: &str, times: u64, indent: &str) -> Option<String> {
        let cycles = self.starts.iter().max()? + times;
        let mut body = Body::new(name, cycles, indent);
        let words = self.kept.iter().map(|kept| (kept.out(), kept.read_data()));
        let words: BTreeMap<_, _> = words.collect();
        for (at, stage) in self.all.iter().enumerate() {
            let mut late = ir::Rewriter::default();
            for read in self.reads.iter().filter(|read| read.reader == at) {
                let by = self.delay(read);
                if by > 0 {
                    let from = delayed.get(&(read.port.clone(), by))?;
                    let from = from.register.port("out");
                    late.port_map.insert(read.port.clone(), from);
                }
            }
            // The first iteration finds the words in the memories.
            let mut first = ir::Rewriter::default();
            first.port_map.clone_from(&late.port_map);
            first.port_map.extend(words.clone());
            let (begin, end) = (self.starts[at], self.starts[at] + times);
            stage.step.comments.iter().for_each(|of| body.plain(of));
            for to in &stage.assignments {
                let mut read = ports_read(to).into_iter();
                let reads_word = read.any(|port| words.contains_key(&port.borrow().canonical()));
                if reads_word {
                    let mut to = to.clone();
                    first.rewrite_assign(&mut to);
                    body.line(to, (begin, begin + 1));
                }
                let mut to = to.clone();
                late.rewrite_assign(&mut to);
                // The last one leaves them there.
                let stored = self.kept.iter().find_map(|kept| kept.stored(&to));
                let begin = begin + u64::from(reads_word);
                body.line(to, (begin, end - u64::from(stored.is_some())));
                if let Some(to) = stored {
                    body.line(to, (end - 1, end));
                }
            }
        }
        for kept in &self.kept {
            let (read, write) = self.accesses(kept, times)?;
            kept.read.comments.iter().for_each(|of| body.plain(of));
            for to in &kept.reads {
                body.line(to.clone(), (read, read + 1));
            }
            for to in &kept.stores {
                body.line(to.clone(), (write, write + 1));
            }
        }
        for ((port, by), late) in delayed {
            let from = match by {
                1 => format!("{}.{}", port.cell, port.port),
                _ => {
                    let before = delayed.get(&(port.clone(), by - 1))?;
                    format!("{}.out", before.register.name())
                }
            };
            let (begin, end) = (late.written.0, late.written.1 + times);
            let name = late.register.name();
            body.plain(&format!("{name}.in = %[{begin}:{end}] ? {from};"));
            body.plain(&format!("{name}.write_en = %[{begin}:{end}] ? 1'd1;"));
        }
        Some(body.end())
    }
}
