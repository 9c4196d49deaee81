//! Loops of which an iteration starts in each cycle.
//!
//! If each step takes one cycle and drives what no other one does, the steps of several iterations run at once, each a cycle after that of the
//! iteration before. One static group has all of that: each step runs in as many of its cycles, in a row. A multiplier that
//! is busy for two cycles becomes one that takes operands in each, a word of a memory that each iteration reads and writes is kept in a
//! register, and what is needed later than the next iteration has it anew goes through registers. Owns how that is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use calyx_ir as ir;
use petal_program::dependences::ports_read;
use petal_table::listed;

use super::body::Body;
use super::new::{New, PIPELINED};
use super::stages::Stages;
use super::{Loop, Scope};
use crate::rewrites::{Certainty, Edit, GROUP_PORTS, Rewrite, RewriteKind};

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
        let region = self.statement(of.view)?;
        let body: Vec<_> = of.steps.iter().map(|step| step.group.name()).collect();
        let first = of.steps.first()?;
        let name = self.free_name(&of.name()?, GROUP_PORTS);
        let at = self.span_of(&first.group)?;
        let indent = self.text.indent(at.start);
        let delayed = self.delayed(&stages, &name)?;
        let text = self.group_of((&stages, &delayed), &name, of.times, indent)?;

        let mut edits = Vec::new();
        let registers = delayed.values().map(|late| &late.register);
        for new in stages.new.iter().chain(registers) {
            let declared = self.span(&new.behind.borrow().attributes)?;
            let text = format!("{} = {};", new.name(), new.of);
            edits.push(self.text.behind(&declared, &text));
        }
        if stages.multiplies() && self.lib.find_primitive(PIPELINED).is_none() {
            edits.push(self.import_pipelined()?);
        }
        // Groups that nothing else runs go.
        let goes = |name: ir::Id| self.runs_only_in(name, &body);
        for name in body.iter().copied().collect::<BTreeSet<_>>() {
            let step = of.steps.iter().find(|step| step.group.name() == name)?;
            let span = self.span_of(&step.group)?;
            let is_first = name == first.group.name();
            edits.push(match (is_first, goes(name)) {
                (true, true) => Edit::replace(span, text.clone()),
                (true, false) => Edit::insert(span.start, format!("{text}\n{indent}")),
                (false, true) => Edit::replace(self.text.with_space(span), ""),
                (false, false) => continue,
            });
        }
        edits.extend(self.without_condition(of));
        let comments = self.text.comments(region.clone());
        let lead = if comments.is_empty() {
            self.text.lead(region.start)
        } else {
            format!("\n{}", self.text.indent(region.start))
        };
        let once = of.before.iter().map(|step| self.text.of(step.span.clone()));
        let name = format!("{name};");
        let steps: Vec<&str> = comments.into_iter().chain(once).chain([&*name]).collect();
        edits.push(Edit::replace(region.clone(), steps.join(&lead)));

        Some(self.rewrite(
            RewriteKind::PipelinedLoop,
            vec![of.ids()],
            region,
            self.said_of(of, &stages),
            match self.begins(of, &stages) {
                Some(doubt) => (Certainty::Checked, doubt.to_owned()),
                None if of.certainty.0 == Certainty::Proved => {
                    (Certainty::Proved, FINDS_THE_SAME.to_owned())
                }
                None => of.certainty.clone(),
            },
            edits,
        ))
    }

    fn said_of(&self, of: &Loop<'_>, stages: &Stages<'_>) -> String {
        let keyword = of.keyword();
        let mut text = format!(
            "start an iteration of this `{keyword}` in each cycle, while those before it go on"
        );
        let mut more = Vec::new();
        let before = self.hoisted(of);
        if !before.is_empty() {
            more.push(format!("run {} once before it", listed(&before)));
        }
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

    /// What is not certain where steps come before a loop, or begin with it.
    fn begins(&self, of: &Loop<'_>, stages: &Stages<'_>) -> Option<&'static str> {
        let earlier = of.earlier();
        let read = stages.kept.iter().map(|kept| kept.read.view);
        let mut views = read.chain(stages.all.iter().map(|stage| stage.step.view));
        views.find_map(|view| {
            let place = (of.seq, &*earlier, &[][..]);
            self.again
                .comes_first(self.component, place, &[view], self.ends)
        })
    }

    /// The registers for what is read late.
    fn delayed(&self, of: &Stages<'_>, group: &str) -> Option<Delayed> {
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
                let name = self.free_name(&name, ["in", "write_en", "out", "done"]);
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
        let mut names = BTreeSet::from([ir::Id::from(group)]);
        let registers = delayed.values().map(|late| &late.register);
        let mut all = of.new.iter().chain(registers).map(New::name);
        let is_plain = all.all(|name| names.insert(name)) && delayed.len() <= MOST_DELAYED;
        is_plain.then_some(delayed)
    }

    /// The group of all iterations, as text.
    fn group_of(
        &self,
        (of, delayed): (&Stages<'_>, &Delayed),
        name: &str,
        times: u64,
        indent: &str,
    ) -> Option<String> {
        let cycles = of.starts.iter().max()? + times;
        let mut body = Body::new(name, cycles, indent);
        let words = of.kept.iter().map(|kept| (kept.out(), kept.read_data()));
        let words: BTreeMap<_, _> = words.collect();
        for (at, stage) in of.all.iter().enumerate() {
            let mut late = ir::Rewriter::default();
            for read in of.reads.iter().filter(|read| read.reader == at) {
                let by = of.delay(read);
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
            let (begin, end) = (of.starts[at], of.starts[at] + times);
            let span = self.span_of(&stage.step.group)?;
            for comment in self.text.comments(span) {
                body.plain(comment);
            }
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
                let stored = of.kept.iter().find_map(|kept| kept.stored(&to));
                let begin = begin + u64::from(reads_word);
                body.line(to, (begin, end - u64::from(stored.is_some())));
                if let Some(to) = stored {
                    body.line(to, (end - 1, end));
                }
            }
        }
        for kept in &of.kept {
            let (read, write) = of.accesses(kept, times)?;
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
