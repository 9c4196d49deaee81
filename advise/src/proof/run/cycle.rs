//! What the cells of a component do in a cycle, and at its end.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use calyx_ir as ir;
use petal_program::dependences::{constant, is_combinational, primitive};
use petal_program::takes;

use super::{Assignment, Run, State, Unfollowed};
use crate::proof::terms::Term;
use crate::rewrites::key;

type Key = (ir::Id, ir::Id);

/// What is driven in a cycle.
pub(super) struct Now<'a> {
    by_port: HashMap<Key, Vec<&'a Assignment>>,
    pub cycle: u64,
    known: HashMap<Key, Term>,
    open: HashSet<Key>,
}

/// What keeps something from one cycle to the next.
enum Kind {
    Register,
    CombMemory,
    SeqMemory,
    /// It is done two cycles after it is started.
    Unit,
    /// It takes operands in each cycle, and gives their product four cycles later.
    Pipelined,
}

fn kind(cell: &ir::Cell) -> Result<(Kind, ir::Id), Unfollowed> {
    let Some(of) = primitive(cell) else {
        return Err(format!("`{}` is no primitive", cell.name()));
    };
    let kind = match of.as_ref() {
        "std_reg" => Kind::Register,
        name if name.starts_with("comb_mem_d") => Kind::CombMemory,
        name if name.starts_with("seq_mem_d") => Kind::SeqMemory,
        name if takes(name) == Some(2) => Kind::Unit,
        "pipelined_mult" => Kind::Pipelined,
        _ => return Err(format!("nobody knows how long `{}` takes", cell.name())),
    };
    Ok((kind, of))
}

/// The primitive of a cell, with the parameters that the widths of its ports don't tell.
fn named(cell: &ir::Cell) -> String {
    let ir::CellType::Primitive {
        name,
        param_binding,
        ..
    } = &cell.prototype
    else {
        return String::new();
    };
    let is_told = |name: &ir::Id| {
        let name = name.as_ref();
        name.contains("WIDTH") && !name.contains("INT_") && !name.contains("FRAC_")
    };
    if param_binding.iter().all(|(name, _)| is_told(name)) {
        return name.to_string();
    }
    let all: Vec<String> = param_binding
        .iter()
        .map(|(_, value)| value.to_string())
        .collect();
    format!("{name}({})", all.join(", "))
}

/// Whether it is known what a cell does that keeps something.
pub(in crate::proof) fn is_followed(cell: &ir::Cell) -> bool {
    kind(cell).is_ok()
}

fn is_input(port: &ir::Port) -> bool {
    let is_clock =
        port.attributes.has(ir::BoolAttr::Clk) || port.attributes.has(ir::BoolAttr::Reset);
    port.direction == ir::Direction::Input && !is_clock
}

impl<'a> Now<'a> {
    pub fn of(own: &'a [Assignment], cycle: u64) -> Self {
        let mut by_port: HashMap<Key, Vec<&Assignment>> = HashMap::new();
        for assignment in own {
            by_port
                .entry(key(&assignment.dst))
                .or_default()
                .push(assignment);
        }
        Self {
            by_port,
            cycle,
            known: HashMap::new(),
            open: HashSet::new(),
        }
    }
}

impl Run<'_> {
    pub(super) fn cell(&self, name: ir::Id) -> Result<ir::RRC<ir::Cell>, Unfollowed> {
        let cell = self.machine.component.find_cell(name);
        cell.ok_or_else(|| format!("there is no cell `{name}`"))
    }

    /// What a cell is about before anything has run.
    pub fn start(&mut self, cell: &ir::RRC<ir::Cell>) -> State {
        let cell = cell.borrow();
        let Ok((kind, _)) = kind(&cell) else {
            return State {
                held: Some(self.terms.start(cell.name(), "state".into(), 0)),
                given: BTreeMap::new(),
                done: self.terms.bit(false),
                begun: None,
                on_its_way: Vec::new(),
            };
        };
        let (mut given, mut on_its_way) = (BTreeMap::new(), Vec::new());
        let mut held = None;
        for port in &cell.ports {
            let port = port.borrow();
            let is_done = port.attributes.has(ir::NumAttr::Done);
            if port.direction == ir::Direction::Input || is_done {
                continue;
            }
            let start = self.terms.start(cell.name(), port.name, port.width);
            match kind {
                Kind::Register => held = Some(start),
                Kind::CombMemory => {}
                Kind::SeqMemory | Kind::Unit => {
                    given.insert(port.name, start);
                }
                Kind::Pipelined => {
                    given.insert(port.name, start);
                    on_its_way = (0..3).map(|_| self.terms.unknown(port.width)).collect();
                }
            }
        }
        if matches!(kind, Kind::CombMemory | Kind::SeqMemory) {
            held = Some(self.terms.start(cell.name(), "words".into(), 0));
        }
        State {
            held,
            given,
            done: self.terms.bit(false),
            begun: None,
            on_its_way,
        }
    }

    pub fn state(&mut self, cell: &ir::RRC<ir::Cell>) -> State {
        let name = cell.borrow().name();
        if let Some(state) = self.cells.get(&name) {
            return state.clone();
        }
        let state = self.start(cell);
        self.cells.insert(name, state.clone());
        state
    }

    /// What a port gives.
    pub(super) fn port(
        &mut self,
        port: &ir::RRC<ir::Port>,
        now: &mut Now<'_>,
    ) -> Result<Term, Unfollowed> {
        let width = port.borrow().width;
        if let Some(value) = constant(port) {
            return Ok(self.terms.constant(value, width));
        }
        if port.borrow().is_hole() {
            return Err("it looks at what another group does".to_owned());
        }
        let cell = port.borrow().cell_parent();
        let (name, of_port) = key(port);
        if cell.borrow().is_this() {
            return if port.borrow().direction == ir::Direction::Output {
                Ok(self.terms.start(name, of_port, width))
            } else {
                self.driven((name, of_port), width, false, now)
            };
        }
        if is_combinational(&cell) {
            return self.logic(&cell, port, now);
        }
        let state = self.state(&cell);
        if port.borrow().attributes.has(ir::NumAttr::Done) {
            return Ok(state.done);
        }
        self.touched.read.insert(name);
        let of = match kind(&cell.borrow()) {
            Ok((of, _)) => of,
            Err(_) if self.rests(&cell, now)? => {
                return self.of_state(&cell, of_port, width, now);
            }
            Err(unknown) => return Err(unknown),
        };
        match (of, state.held, state.given.get(&of_port)) {
            (Kind::Register, Some(held), _) => Ok(held),
            (Kind::CombMemory, Some(held), _) => {
                let address = self.address(&cell, now)?;
                Ok(self.terms.word(held, &address, width))
            }
            (_, _, Some(given)) => Ok(*given),
            _ => Err(format!("`{name}.{of_port}` is not followed")),
        }
    }

    /// What a cell gives of which nobody knows what it does: the same of the same state and inputs. What it gets where nobody drives it
    /// doesn't matter, as the premises of proofs say.
    fn of_state(
        &mut self,
        cell: &ir::RRC<ir::Cell>,
        port: ir::Id,
        width: u64,
        now: &mut Now<'_>,
    ) -> Result<Term, Unfollowed> {
        let mut of: Vec<Term> = self.state(cell).held.into_iter().collect();
        for input in &cell.borrow().ports {
            if is_input(&input.borrow()) {
                let width = input.borrow().width;
                of.push(self.driven(key(input), width, false, now)?);
            }
        }
        let what = format!("{}.{port}", cell.borrow().name());
        Ok(self.terms.made(&what, of, width))
    }

    /// What a combinational cell gives.
    fn logic(
        &mut self,
        cell: &ir::RRC<ir::Cell>,
        port: &ir::RRC<ir::Port>,
        now: &mut Now<'_>,
    ) -> Result<Term, Unfollowed> {
        let cell = cell.borrow();
        let width = port.borrow().width;
        let of = named(&cell);
        if of == "undef" {
            return Ok(self.terms.unknown(width));
        }
        let mut inputs = Vec::new();
        for port in cell.ports.iter().filter(|port| is_input(&port.borrow())) {
            let width = port.borrow().width;
            inputs.push(self.driven(key(port), width, true, now)?);
        }
        let outputs = cell
            .ports
            .iter()
            .filter(|port| !is_input(&port.borrow()))
            .count();
        let of = if outputs > 1 {
            format!("{of}.{}", port.borrow().name)
        } else {
            of
        };
        Ok(self.terms.made(&of, inputs, width))
    }

    fn address(
        &mut self,
        cell: &ir::RRC<ir::Cell>,
        now: &mut Now<'_>,
    ) -> Result<Vec<Term>, Unfollowed> {
        let cell = cell.borrow();
        let ports = cell.ports.iter();
        let ports = ports.filter(|port| port.borrow().name.as_ref().starts_with("addr"));
        ports
            .map(|port| {
                let width = port.borrow().width;
                self.driven(key(port), width, true, now)
            })
            .collect()
    }

    /// What is given to a port. Where nobody drives it, it is 0, or if it `is_open` anything.
    pub(super) fn driven(
        &mut self,
        to: Key,
        width: u64,
        is_open: bool,
        now: &mut Now<'_>,
    ) -> Result<Term, Unfollowed> {
        if let Some(known) = now.known.get(&to) {
            return Ok(*known);
        }
        if !now.open.insert(to) {
            return Err("logic goes round in a circle".to_owned());
        }
        let own = now.by_port.get(&to).cloned().unwrap_or_default();
        let machine = self.machine;
        let wires = machine.wires.get(&to).into_iter().flatten();
        let mut sure = None;
        let mut perhaps = Vec::new();
        for assignment in own.into_iter().chain(wires) {
            let guard = self.guard(&assignment.guard, now)?;
            if self.terms.value(guard) == Some(0) {
                continue;
            }
            let given = self.port(&assignment.src, now)?;
            if self.terms.value(guard) == Some(1) {
                if sure.is_some_and(|sure| sure != given) {
                    return Err(format!("`{}.{}` is driven twice", to.0, to.1));
                }
                sure = Some(given);
            } else {
                perhaps.push((guard, given));
            }
        }
        let term = match sure {
            Some(sure) => sure,
            None => {
                let mut term = if is_open {
                    self.terms.unknown(width)
                } else {
                    self.terms.constant(0, width)
                };
                for (guard, given) in perhaps.into_iter().rev() {
                    term = self.terms.choice(guard, given, term);
                }
                term
            }
        };
        now.open.remove(&to);
        now.known.insert(to, term);
        Ok(term)
    }

    fn guard(
        &mut self,
        guard: &ir::Guard<ir::StaticTiming>,
        now: &mut Now<'_>,
    ) -> Result<Term, Unfollowed> {
        Ok(match guard {
            ir::Guard::True => self.terms.bit(true),
            ir::Guard::Info(timing) => {
                let (start, end) = timing.get_interval();
                self.terms.bit((start..end).contains(&now.cycle))
            }
            ir::Guard::Port(port) => self.port(port, now)?,
            ir::Guard::Not(inner) => {
                let inner = self.guard(inner, now)?;
                self.terms.not(inner)
            }
            ir::Guard::And(left, right) => {
                let (left, right) = (self.guard(left, now)?, self.guard(right, now)?);
                self.terms.and(left, right)
            }
            ir::Guard::Or(left, right) => {
                let (left, right) = (self.guard(left, now)?, self.guard(right, now)?);
                self.terms.or(left, right)
            }
            ir::Guard::CompOp(how, left, right) => {
                let of = match how {
                    ir::PortComp::Eq => "std_eq",
                    ir::PortComp::Neq => "std_neq",
                    ir::PortComp::Gt => "std_gt",
                    ir::PortComp::Lt => "std_lt",
                    ir::PortComp::Geq => "std_ge",
                    ir::PortComp::Leq => "std_le",
                };
                let inputs = vec![self.port(left, now)?, self.port(right, now)?];
                self.terms.made(of, inputs, 1)
            }
        })
    }

    /// The rising edge of the clock.
    pub(super) fn step(&mut self, now: &mut Now<'_>) -> Result<(), Unfollowed> {
        let pipelined = self.cells.iter();
        let pipelined = pipelined.filter(|(_, state)| !state.on_its_way.is_empty());
        let mut driven: BTreeSet<ir::Id> = pipelined.map(|(name, _)| *name).collect();
        let own = now.by_port.values().flatten().copied();
        for assignment in own.chain(self.machine.wires.values().flatten()) {
            let to = assignment.dst.borrow();
            if !to.is_hole() && !to.cell_parent().borrow().is_this() {
                driven.insert(to.get_parent_name());
            }
        }
        let mut next = Vec::new();
        for name in driven {
            let cell = self.cell(name)?;
            if !is_combinational(&cell) {
                next.push((name, self.next(&cell, now)?));
            }
        }
        // What nothing drives is done no more.
        let low = self.terms.bit(false);
        for state in self.cells.values_mut() {
            state.done = low;
            state.begun = None;
        }
        self.cells.extend(next);
        Ok(())
    }

    /// Whether a cell keeps what it holds in a cycle, as nobody starts it.
    fn rests(&mut self, cell: &ir::RRC<ir::Cell>, now: &mut Now<'_>) -> Result<bool, Unfollowed> {
        let starts = cell
            .borrow()
            .find_all_with_attr(ir::NumAttr::Go)
            .collect::<Vec<_>>();
        if starts.is_empty() && !cell.borrow().is_component() {
            return Ok(false);
        }
        for start in starts {
            let go = self.driven(key(&start), 1, false, now)?;
            if self.terms.value(go) != Some(0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn next(&mut self, cell: &ir::RRC<ir::Cell>, now: &mut Now<'_>) -> Result<State, Unfollowed> {
        let name = cell.borrow().name();
        let before = self.state(cell);
        let mut after = before.clone();
        let (kind, of) = match kind(&cell.borrow()) {
            Ok(known) => known,
            Err(_) if self.rests(cell, now)? => return Ok(after),
            Err(unknown) => return Err(unknown),
        };
        let bit = |run: &mut Self, port: &str, now: &mut Now<'_>| {
            run.driven((name, port.into()), 1, false, now)
        };
        let data = |run: &mut Self, port: &str, now: &mut Now<'_>| {
            let width = cell
                .borrow()
                .find(port)
                .map_or(0, |port| port.borrow().width);
            run.driven((name, port.into()), width, true, now)
        };
        match (kind, before.held) {
            (Kind::Register, Some(held)) => {
                let enable = bit(self, "write_en", now)?;
                after.done = enable;
                if self.terms.value(enable) != Some(0) {
                    let value = data(self, "in", now)?;
                    after.held = Some(self.terms.choice(enable, value, held));
                    self.touched.written.insert(name);
                }
            }
            (Kind::CombMemory, Some(held)) => {
                let enable = bit(self, "write_en", now)?;
                after.done = enable;
                if self.terms.value(enable) != Some(0) {
                    let (address, word) =
                        (self.address(cell, now)?, data(self, "write_data", now)?);
                    let written = self.terms.written(held, address, word);
                    after.held = Some(self.terms.choice(enable, written, held));
                    self.touched.written.insert(name);
                }
            }
            (Kind::SeqMemory, Some(held)) => {
                let enable = bit(self, "content_en", now)?;
                let write = bit(self, "write_en", now)?;
                after.done = enable;
                if self.terms.value(enable) != Some(0) {
                    self.touched.written.insert(name);
                    let address = self.address(cell, now)?;
                    let writes = self.terms.and(enable, write);
                    if self.terms.value(writes) != Some(0) {
                        let word = data(self, "write_data", now)?;
                        let written = self.terms.written(held, address.clone(), word);
                        after.held = Some(self.terms.choice(writes, written, held));
                    }
                    for (port, given) in &mut after.given {
                        let width = cell.borrow().get(*port).borrow().width;
                        let word = self.terms.word(held, &address, width);
                        // What it gives after it was written is not said, but always the same.
                        let unsaid = self.terms.made("seq_mem.unsaid", Vec::new(), width);
                        let read = self.terms.choice(write, unsaid, word);
                        *given = self.terms.choice(enable, read, *given);
                    }
                }
            }
            (Kind::Unit, _) => {
                let go = bit(self, "go", now)?;
                let Some(go) = self.terms.value(go) else {
                    return Err(format!("whether `{name}` is started depends on values"));
                };
                after.done = self.terms.bit(false);
                after.begun = None;
                if go == 1 {
                    self.touched.written.insert(name);
                    self.unit(cell, (of, &before), &mut after, now)?;
                }
            }
            (Kind::Pipelined, _) => {
                self.touched.written.insert(name);
                let operands = vec![data(self, "left", now)?, data(self, "right", now)?];
                for given in after.given.values_mut() {
                    let width = self.terms.width(*given);
                    let product = self.terms.made("std_mult_pipe", operands.clone(), width);
                    after.on_its_way.push(product);
                    *given = after.on_its_way.remove(0);
                }
            }
            _ => return Err(format!("`{name}` is not followed")),
        }
        Ok(after)
    }

    /// A cycle in which something of two cycles is started, or goes on.
    fn unit(
        &mut self,
        cell: &ir::RRC<ir::Cell>,
        (of, before): (ir::Id, &State),
        after: &mut State,
        now: &mut Now<'_>,
    ) -> Result<(), Unfollowed> {
        let mut inputs = Vec::new();
        for port in &cell.borrow().ports {
            let (width, is_open) = {
                let port = port.borrow();
                (port.width, port.attributes.has(ir::BoolAttr::Data))
            };
            if is_input(&port.borrow()) && !port.borrow().attributes.has(ir::NumAttr::Go) {
                inputs.push(self.driven(key(port), width, is_open, now)?);
            }
        }
        // If it starts anew as soon as it is done, it says that it is done too early.
        after.done = self.terms.bit(before.begun.is_some());
        let is_same = before.begun.as_ref() == Some(&inputs);
        if before.begun.is_some() && !is_same {
            let name = cell.borrow().name();
            let why = || format!("what `{name}` is given changes while it runs");
            self.unfollowed.get_or_insert_with(why);
        }
        for (port, given) in &mut after.given {
            let width = cell.borrow().get(*port).borrow().width;
            let product = match of.as_ref() {
                "std_mult_pipe" | "std_smult_pipe" => of.to_string(),
                _ => format!("{}.{port}", named(&cell.borrow())),
            };
            *given = if is_same {
                self.terms.made(&product, inputs.clone(), width)
            } else {
                self.terms.unknown(width)
            };
        }
        after.begun = Some(inputs);
        Ok(())
    }
}
