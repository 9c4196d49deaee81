//! Words of memories that each iteration of a loop reads and writes, kept in registers.
//!
//! If one step reads a word, a later one writes it, nothing else in the loop has to do with the memory, and its address is the same in all iterations,
//! then a register may have the word from one iteration to the next: only the first one reads it, and only the last one writes it. Owns of which memories
//! that holds.

use std::collections::BTreeMap;

use calyx_ir as ir;
use petal_program::dependences::{
    Cells, cell_of, constant, is_combinational, ports_read, primitive,
};

use super::new::{New, REGISTER};
use super::steps::Step;
use super::{Loop, Scope};
use crate::proof::Assignment;
use crate::rewrites::shifts::is_port;
use crate::rewrites::state::port_of;

/// A memory of which a register has the word.
pub(super) struct Kept<'a> {
    pub memory: ir::Id,
    /// The step that reads the word.
    pub read: &'a Step<'a>,
    write: &'a Step<'a>,
    pub register: New,
    /// What reads the word.
    pub reads: Vec<Assignment>,
    /// What the step that writes the memory assigns to have the register written.
    pub keeps: Vec<Assignment>,
    /// What it assigns besides to have the memory written instead.
    pub stores: Vec<Assignment>,
}

impl Scope<'_> {
    /// The memories that two steps use; `None` if registers can't have the words of all of them.
    pub(super) fn kept<'a>(&self, of: &'a Loop<'a>) -> Option<Vec<Kept<'a>>> {
        let mut users: BTreeMap<ir::Id, Vec<usize>> = BTreeMap::new();
        for (at, step) in of.steps.iter().enumerate() {
            for cell in &step.effects.drives {
                if self
                    .component
                    .find_cell(*cell)
                    .is_some_and(|cell| is_sequential_memory(&cell.borrow()))
                {
                    users.entry(*cell).or_default().push(at);
                }
            }
        }
        let several = users.into_iter().filter(|(_, users)| users.len() > 1);
        several
            .map(|(memory, users)| match *users {
                [read, write] => self.kept_word(of, memory, (read, write)),
                _ => None,
            })
            .collect()
    }

    fn kept_word<'a>(
        &self,
        of: &'a Loop<'a>,
        memory: ir::Id,
        (first, last): (usize, usize),
    ) -> Option<Kept<'a>> {
        let (read, write) = (&of.steps[first], &of.steps[last]);
        let cell = self.component.find_cell(memory)?;
        let [reading, writing] = [read.every_cycle()?, write.every_cycle()?];
        let is_plain = |step: &Step<'_>, all: &[Assignment]| {
            step.cycles == 1
                && all.iter().all(|to| {
                    let is_own = port_of(&to.dst).is_some_and(|(cell, _)| cell == memory);
                    is_own && to.guard.is_true()
                        || cell_of(&to.dst).is_some_and(|cell| is_combinational(&cell))
                })
        };
        let given = |all: &[Assignment], port: &str| {
            let mut of_port = all.iter().filter(|to| is_port(&to.dst, memory, port));
            let only = of_port.next().cloned();
            only.filter(|_| of_port.next().is_none())
        };
        let is_bit = |to: &Option<Assignment>, bit: u64| {
            to.as_ref().is_some_and(|to| constant(&to.src) == Some(bit))
        };
        let (reads, writes) = (given(&reading, "write_en"), given(&writing, "write_en"));
        let reads_only = is_bit(&reads, 0)
            || !reading
                .iter()
                .any(|to| is_port(&to.dst, memory, "write_en"));
        let is_pair = is_plain(read, &reading)
            && is_plain(write, &writing)
            && reads_only
            && is_bit(&given(&reading, "content_en"), 1)
            && is_bit(&given(&writing, "content_en"), 1)
            && is_bit(&writes, 1);
        is_pair.then_some(())?;
        // Whoever else looks at what was read does so between the two, and there alone.
        let looks = |step: &Step<'_>| step.effects.reads.contains(&memory);
        let is_seen = |(at, step): (usize, &Step<'_>)| !looks(step) || first < at && at <= last;
        of.steps.iter().enumerate().all(is_seen).then_some(())?;
        let is_apart = of.before.iter().all(|step| {
            let effects = step.view.identity();
            let effects = effects.and_then(|(key, _)| self.dependences.effects(key));
            effects.is_some_and(|of| !of.reads.contains(&memory) && !of.drives.contains(&memory))
        });
        is_apart.then_some(())?;

        let mut written = Cells::new();
        for step in &of.steps {
            written.extend(&step.effects.writes);
        }
        let names = cell.borrow().ports.clone();
        let names = names.iter().map(|port| port.borrow().name);
        let addresses: Vec<ir::Id> = names
            .filter(|name| name.as_ref().starts_with("addr"))
            .collect();
        for name in &addresses {
            let [one, other] = [&reading, &writing].map(|all| {
                let to = given(all, name.as_ref())?;
                value(&to.src, all, &written)
            });
            (one? == other?).then_some(())?;
        }
        let is_address = |to: &Assignment| {
            port_of(&to.dst).is_some_and(|(cell, name)| cell == memory && addresses.contains(&name))
        };
        let is_data = |to: &Assignment| is_port(&to.dst, memory, "write_data");
        let mut keeps = needed(&writing, is_data);
        let is_content = |to: &Assignment| is_port(&to.dst, memory, "content_en");
        let mut stores = needed(&writing, |to| is_content(to) || is_address(to));
        let texts: Vec<String> = keeps.iter().map(ir::Printer::assignment_to_str).collect();
        stores.retain(|to| !texts.contains(&ir::Printer::assignment_to_str(to)));
        let width = given(&writing, "write_data")?.src.borrow().width;
        let name = self.free_name(&format!("{memory}_kept"), REGISTER);
        let register = New::register(name, width, cell);
        let mut enable = writes?;
        enable.dst = register.port("write_en");
        keeps.push(enable);
        for to in keeps.iter_mut().filter(|to| is_data(to)) {
            to.dst = register.port("in");
        }
        Some(Kept {
            memory,
            read,
            write,
            register,
            reads: reading,
            keeps,
            stores,
        })
    }
}

impl Kept<'_> {
    /// Whether a step writes the memory.
    pub fn is_written_by(&self, step: &Step<'_>) -> bool {
        std::ptr::eq(step, self.write)
    }

    /// What writes the memory where an assignment writes the register.
    pub fn stored(&self, to: &Assignment) -> Option<Assignment> {
        let (cell, port) = port_of(&to.dst)?;
        (cell == self.register.name()).then_some(())?;
        let port = if port == "in" {
            "write_data"
        } else {
            "write_en"
        };
        let mut to = to.clone();
        to.dst = self.register.behind.borrow().get(port);
        Some(to)
    }

    /// Where the register gives it.
    pub fn out(&self) -> ir::Canonical {
        self.register.port("out").borrow().canonical()
    }

    /// Where the memory gives the word.
    pub fn read_data(&self) -> ir::RRC<ir::Port> {
        self.register.behind.borrow().get("read_data")
    }

    /// The logic that reading and writing the memory takes.
    pub fn logic(&self) -> Cells {
        let all = self.reads.iter().chain(&self.stores);
        let cells = all
            .filter_map(|to| cell_of(&to.dst))
            .filter(is_combinational);
        cells.map(|cell| cell.borrow().name()).collect()
    }
}

/// Whether it is a memory that gives what was at its address a cycle ago.
pub(super) fn is_sequential_memory(cell: &ir::Cell) -> bool {
    primitive(cell).is_some_and(|of| of.as_ref().starts_with("seq_mem_d"))
}

/// Some assignments of a group, and those to logic that they need.
fn needed(all: &[Assignment], is_wanted: impl Fn(&Assignment) -> bool) -> Vec<Assignment> {
    let mut cells = Cells::new();
    let mut is_kept: Vec<bool> = all.iter().map(&is_wanted).collect();
    loop {
        let before = cells.len();
        for (to, _) in all.iter().zip(&is_kept).filter(|(_, is_kept)| **is_kept) {
            let read = ports_read(to).into_iter();
            let read = read.filter_map(|port| cell_of(&port));
            let logic = read.filter(is_combinational);
            cells.extend(logic.map(|cell| cell.borrow().name()));
        }
        for (to, is_kept) in all.iter().zip(&mut is_kept) {
            *is_kept |= port_of(&to.dst).is_some_and(|(cell, _)| cells.contains(&cell));
        }
        if cells.len() == before {
            let kept = all.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
            return kept.map(|(to, _)| to.clone()).collect();
        }
    }
}

/// What a port gives, as text, where a group has these assignments: in the same words if it is the same. `None` if that may be something else in
/// another iteration, in which these cells are written.
fn value(port: &ir::RRC<ir::Port>, all: &[Assignment], written: &Cells) -> Option<String> {
    let name = port.borrow().canonical();
    if let Some(value) = constant(port) {
        return Some(format!("{}'d{value}", port.borrow().width));
    }
    let Some(cell) = cell_of(port) else {
        let is_input = !port.borrow().is_hole();
        return is_input.then(|| name.to_string());
    };
    if !is_combinational(&cell) {
        let is_state = primitive(&cell.borrow()).is_some() && !written.contains(&name.cell);
        return is_state.then(|| name.to_string());
    }
    let cell = cell.borrow();
    let inputs = cell.ports.iter();
    let inputs = inputs.filter(|port| port.borrow().direction == ir::Direction::Input);
    let inputs: Option<Vec<String>> = inputs
        .map(|input| {
            let name = input.borrow().canonical();
            let mut given = all.iter().filter(|to| to.dst.borrow().canonical() == name);
            let (only, None) = (given.next()?, given.next()) else {
                return None;
            };
            only.guard.is_true().then_some(())?;
            value(&only.src, all, written)
        })
        .collect();
    let ir::CellType::Primitive {
        name: of,
        param_binding,
        ..
    } = &cell.prototype
    else {
        return None;
    };
    Some(format!(
        "{of}{param_binding:?}({}).{}",
        inputs?.join(", "),
        name.port
    ))
}
