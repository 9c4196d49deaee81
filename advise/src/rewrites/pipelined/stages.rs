//! The steps of a loop as stages of which an iteration starts in each cycle.
//!
//! Each takes one cycle, or is a product of several iterations that go on at once, and drives what no other one does. Owns when each starts, how
//! late it reads what others wrote, and for which loops there are such stages.

use std::collections::BTreeMap;

use calyx_ir as ir;
use petal_program::dependences::{
    Cells, Effects, cell_of, is_combinational, ports_of, ports_read, primitive,
};
use petal_program::tree::{GroupRef, View};

use super::guards::always;
use super::kept::Kept;
use super::new::{New, PIPELINED};
use super::steps::Step;
use super::{Loop, Scope};
use crate::proof::{self, Assignment};
use crate::rewrites::flow::Flow;
use crate::rewrites::state::port_of;

/// An iteration that takes longer is not tried.
const MOST_CYCLES: u64 = 64;

/// After how many cycles it gives a product.
const MULTIPLIES: u64 = 4;

/// A step that takes one cycle.
pub(super) struct Stage<'a> {
    pub step: &'a Step<'a>,
    pub assignments: Vec<Assignment>,
    /// After how many cycles what it writes is there.
    latency: u64,
}

/// What a step reads of another one.
pub(super) struct Read {
    pub reader: usize,
    writer: usize,
    pub port: ir::Canonical,
    /// Whether that is what the iteration before has written.
    is_earlier: bool,
}

/// The same steps as stages of which an iteration starts in each cycle.
pub(super) struct Stages<'a> {
    /// In the order of the steps.
    pub all: Vec<Stage<'a>>,
    pub kept: Vec<Kept<'a>>,
    pub new: Vec<New>,
    pub reads: Vec<Read>,
    /// When each starts, after its iteration does.
    pub starts: Vec<u64>,
}

impl Stage<'_> {
    /// The cells of which it drives ports.
    fn drives(&self) -> Cells {
        let all = self.assignments.iter();
        let cells = all.filter_map(|to| cell_of(&to.dst));
        cells.map(|cell| cell.borrow().name()).collect()
    }

    fn ports_read(&self) -> impl Iterator<Item = ir::RRC<ir::Port>> {
        self.assignments.iter().flat_map(ports_read)
    }
}

impl Scope<'_> {
    /// The steps as stages; `None` if an iteration may not start in each cycle.
    pub(super) fn stages<'a>(&self, of: &'a Loop<'a>) -> Option<Stages<'a>> {
        let kept = self.kept(of)?;
        let mut new: Vec<New> = Vec::new();
        let mut stages = Vec::new();
        for step in &of.steps {
            if kept.iter().any(|kept| std::ptr::eq(kept.read, step)) {
                continue;
            }
            let mut assignments = step.every_cycle()?;
            let mut latency = 1;
            if step.cycles > 1 {
                let product = self.product(of, step)?;
                assignments = product.fed(assignments)?;
                latency = MULTIPLIES;
                new.push(product);
            }
            if let Some(kept) = kept.iter().find(|kept| kept.is_written_by(step)) {
                assignments.clone_from(&kept.keeps);
            }
            stages.push(Stage {
                step,
                assignments,
                latency,
            });
        }
        // Products and words are elsewhere now.
        let mut moved = ir::Rewriter::default();
        for product in &new {
            let port = product.behind.borrow().get("out");
            let port = port.borrow().canonical();
            moved.port_map.insert(port, product.port("out"));
        }
        for kept in &kept {
            let port = kept.read_data().borrow().canonical();
            moved.port_map.insert(port, kept.register.port("out"));
        }
        for stage in &mut stages {
            let all = stage.assignments.iter_mut();
            all.for_each(|to| moved.rewrite_assign(to));
        }
        new.extend(kept.iter().map(|kept| kept.register.clone()));
        let mut stages = Stages {
            all: stages,
            kept,
            new,
            reads: Vec::new(),
            starts: Vec::new(),
        };
        self.are_apart(&stages).then_some(())?;
        stages.reads = stages.reads()?;
        stages.starts = stages.starts()?;
        stages.wait_for_words(of.times)?;
        Some(stages)
    }

    /// Whether each stage drives what no other one does, and all that it has to do with others is said by its own assignments.
    fn are_apart(&self, of: &Stages<'_>) -> bool {
        let mut driven = Cells::new();
        let is_alone = of.all.iter().all(|stage| {
            let mut drives = stage.drives().into_iter();
            drives.all(|cell| driven.insert(cell))
        });
        let is_alone = is_alone
            && of.kept.iter().all(|kept| {
                let mut logic = kept.logic().into_iter();
                logic.all(|cell| driven.insert(cell))
            });
        driven.extend(of.kept.iter().map(|kept| kept.memory));
        let wires = &self.component.continuous_assignments;
        let by_wires: Cells = wires
            .iter()
            .filter_map(|to| port_of(&to.dst).map(|(cell, _)| cell))
            .collect();
        let mut flow = Flow::default();
        flow.add(wires, |_| true);
        is_alone
            && of.meet_as_said()
            && driven.is_disjoint(&by_wires)
            && of.all.iter().all(|stage| {
                // What nothing drives here gives what wires hand to it.
                let drives = stage.drives();
                let mut given = stage.ports_read().filter_map(|port| cell_of(&port));
                given.all(|cell| {
                    let name = cell.borrow().name();
                    !is_combinational(&cell)
                        || drives.contains(&name)
                        || flow.sources([name]).is_disjoint(&driven)
                })
            })
    }

    /// A multiplier that takes operands in each cycle, for a step that starts one of two cycles and does nothing else; `None` if it does.
    fn product(&self, of: &Loop<'_>, step: &Step<'_>) -> Option<New> {
        let mut cells = step.effects.writes.iter();
        let (name, None) = (*cells.next()?, cells.next()) else {
            return None;
        };
        let cell = self.component.find_cell(name)?;
        let of_primitive = primitive(&cell.borrow())?;
        let is_product = ["std_mult_pipe", "std_smult_pipe"].contains(&of_primitive.as_ref());
        (is_product && !self.is_seen_elsewhere(name) && step.cycles == 2).then_some(())?;
        let inside: Vec<ir::Id> = of.steps.iter().map(|step| step.group.name()).collect();
        let inside: Vec<ir::Id> = inside
            .iter()
            .copied()
            .filter(|name| self.runs_only_in(*name, &inside))
            .collect();
        self.is_read_only_in(&cell, &inside).then_some(())?;
        let width = cell.borrow().get_parameter("WIDTH")?;
        let name = self.free_name(
            &format!("{name}_pipelined"),
            ["clk", "reset", "left", "right", "out"],
        );
        Some(New::of(
            name,
            PIPELINED,
            (width, cell),
            [&["left", "right"], &["out"]],
        ))
    }

    /// Whether a group runs in these steps of a loop alone.
    pub(super) fn runs_only_in(&self, name: ir::Id, body: &[ir::Id]) -> bool {
        let here = body.iter().filter(|of| **of == name).count();
        here == self.runs_of(name).concat().len() && !self.is_run_by_groups(name)
    }

    /// Whether only these groups look at what a cell gives.
    fn is_read_only_in(&self, cell: &ir::RRC<ir::Cell>, inside: &[ir::Id]) -> bool {
        let name = cell.borrow().name();
        let is_of =
            |port: &ir::RRC<ir::Port>| cell_of(port).is_some_and(|of| of.borrow().name() == name);
        let looks = |to: &ir::Assignment<ir::Nothing>| ports_read(to).iter().any(is_of);
        let dynamics = self.component.get_groups().iter().cloned();
        let statics = self.component.get_static_groups().iter().cloned();
        let groups = dynamics.map(GroupRef::Dynamic);
        let mut groups = groups.chain(statics.map(GroupRef::Static));
        let mut combs = self.component.comb_groups.iter();
        let mut in_control = false;
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            in_control |= ports_of(view).0.iter().any(is_of);
        });
        !in_control
            && !self.component.continuous_assignments.iter().any(looks)
            && !combs.any(|group| group.borrow().assignments.iter().any(looks))
            && groups.all(|group| {
                let all = proof::assignments(&group);
                let mut read = all.iter().flat_map(ports_read);
                inside.contains(&group.name()) || !read.any(|port| is_of(&port))
            })
    }
}

impl Step<'_> {
    /// What it assigns in each of its cycles; `None` if that is not the same in all of them.
    pub fn every_cycle(&self) -> Option<Vec<Assignment>> {
        let mut own = self.assignments.clone();
        for to in &mut own {
            *to.guard = always(&to.guard, self.cycles)?;
        }
        Some(own)
    }
}

impl Stages<'_> {
    pub fn multiplies(&self) -> bool {
        self.new.iter().any(New::is_product)
    }

    /// Whether steps have to do with one another only by cells that they name: none may be another one, or be driven by wires.
    fn meet_as_said(&self) -> bool {
        let is_kept = |cell: &ir::Id| self.kept.iter().any(|kept| kept.memory == *cell);
        let now = |cell: &ir::Id| {
            let mut products = self.new.iter().filter(|new| new.is_product());
            let product = products.find(|new| new.behind.borrow().name() == *cell);
            product.map_or(*cell, New::name)
        };
        let all: Vec<(&Effects, Cells, Cells)> = self
            .all
            .iter()
            .map(|stage| {
                let read = stage.ports_read().filter_map(|port| cell_of(&port));
                let read = read.map(|cell| cell.borrow().name());
                (&stage.step.effects, stage.drives(), read.collect())
            })
            .collect();
        all.iter().enumerate().all(|(at, (one, drives, _))| {
            let others = all.iter().enumerate();
            let mut others = others.filter(|(other, _)| *other != at);
            others.all(|(_, (other, _, named))| {
                let is_named =
                    |cell: &ir::Id| drives.contains(&now(cell)) && named.contains(&now(cell));
                let mut met = one.writes.intersection(&other.reads);
                let mut both = one.writes.intersection(&other.writes);
                met.all(|cell| is_kept(cell) || is_named(cell)) && both.all(is_kept)
            })
        })
    }

    /// What stages read of one another; `None` if that is something which can't be delayed.
    fn reads(&self) -> Option<Vec<Read>> {
        let mut writers: BTreeMap<ir::Id, usize> = BTreeMap::new();
        for (at, stage) in self.all.iter().enumerate() {
            let driven = stage.assignments.iter().filter_map(|to| cell_of(&to.dst));
            let state = driven.filter(|cell| !is_combinational(cell));
            writers.extend(state.map(|cell| (cell.borrow().name(), at)));
        }
        let mut reads = Vec::new();
        for (reader, stage) in self.all.iter().enumerate() {
            for port in stage.ports_read() {
                let Some(cell) = cell_of(&port) else { continue };
                let (cell, port) = (cell.borrow(), port.borrow());
                let Some(&writer) = writers.get(&cell.name()) else {
                    continue;
                };
                let of = primitive(&cell)?;
                let latency = self.all[writer].latency;
                let is_known = match (of.as_ref(), port.name.as_ref()) {
                    ("std_reg", "out") => true,
                    (PIPELINED, "out") => writer < reader,
                    (of, "read_data") => {
                        of.starts_with("seq_mem_d")
                            || of.starts_with("comb_mem_d") && writer == reader
                    }
                    _ => false,
                };
                (is_known && (latency == 1 || writer != reader)).then_some(())?;
                reads.push(Read {
                    reader,
                    writer,
                    port: port.canonical(),
                    is_earlier: writer >= reader,
                });
            }
        }
        Some(reads)
    }

    /// When each stage starts: as soon as all that it reads is there.
    fn starts(&self) -> Option<Vec<u64>> {
        let mut starts = vec![0; self.all.len()];
        loop {
            let late = self.reads.iter().find_map(|read| {
                let ready = starts[read.writer] + self.after(read);
                (starts[read.reader] < ready).then_some((read.reader, ready))
            });
            match late {
                None => return Some(starts),
                Some((_, ready)) if ready > MOST_CYCLES => return None,
                Some((reader, ready)) => starts[reader] = ready,
            }
        }
    }

    /// How long after its writer starts what is read is there.
    fn after(&self, read: &Read) -> u64 {
        self.all[read.writer].latency - u64::from(read.is_earlier)
    }

    /// How long what is read has been there.
    pub fn delay(&self, read: &Read) -> u64 {
        self.starts[read.reader] - self.starts[read.writer] - self.after(read)
    }

    /// The ports that are read late: by how many cycles, and when the first iteration may need it at the soonest and at the latest.
    pub fn delays(&self) -> BTreeMap<ir::Canonical, BTreeMap<u64, (u64, u64)>> {
        let mut all: BTreeMap<_, BTreeMap<u64, (u64, u64)>> = BTreeMap::new();
        for read in &self.reads {
            let by = self.delay(read);
            if by > 0 {
                let ready = self.starts[read.writer] + self.after(read);
                let of_port = all.entry(read.port.clone()).or_default();
                let (first, last) = of_port.entry(by).or_insert((ready, ready));
                *first = ready.min(*first);
                *last = ready.max(*last);
            }
        }
        all
    }

    /// When the first iteration reads a word, and the last one writes it.
    pub fn accesses(&self, of: &Kept<'_>, times: u64) -> Option<(u64, u64)> {
        let word = of.out();
        let readers = self.reads.iter().filter(|read| read.port == word);
        let first = readers.map(|read| self.starts[read.reader]).min()?;
        let mut all = self.all.iter().zip(&self.starts);
        let (_, write) = all.find(|(stage, _)| of.is_written_by(stage.step))?;
        Some((first.checked_sub(1)?, write + times - 1))
    }

    /// Starts all stages late enough to have words read before, if these are there until all that needs them has them.
    fn wait_for_words(&mut self, times: u64) -> Option<()> {
        let is_early = |kept: &Kept<'_>| self.accesses(kept, times).is_none();
        if self.kept.iter().any(is_early) {
            self.starts.iter_mut().for_each(|start| *start += 1);
        }
        let is_there = self.kept.iter().all(|kept| {
            self.accesses(kept, times).is_some_and(|(_, write)| {
                let word = kept.out();
                let mut readers = self.reads.iter().filter(|read| read.port == word);
                readers.all(|read| self.starts[read.reader] <= write)
            })
        });
        is_there.then_some(())
    }

    pub fn width(&self, port: &ir::Canonical) -> Option<u64> {
        let mut ports = self.all.iter().flat_map(Stage::ports_read);
        let found = ports.find(|of| of.borrow().canonical() == *port)?;
        let width = found.borrow().width;
        Some(width)
    }
}
