//! The monitor itself: a counter of cycles, the circuit, and memories that it writes.
//!
//! ```text
//! run     = go && !done                   the cycles of the run
//! stamp   counts the cycles of the run, up to its largest number
//! count   counts the cycles of the run in which an event happens
//! head    in each cycle of the run: {count, stamp} as they are after it
//! sums    in each cycle of the run, after what is added in it
//! latencies
//!         in each cycle of the run, after what ends in it
//! powers at [bits of a length]            in each cycle of the run in which something ends: one more than it has, or 1 if it is not filled
//! filled  in each cycle of the run: which words of powers were written in it
//! mask, stamp, values at [count]          in each cycle of the run in which an event happens, while there is room; if the last ones are kept,
//!                                         always, at the lowest bits of the count
//! stored                                  in each cycle of the run, if there is a trigger: the entries so far, which are its count then
//! ```
//!
//! All is written at the end of the cycle that it is about, so what happens in the last cycle of a run is there when `done` is high. In the
//! cycle of `done` the counters go back to 0, for the next run.

mod histogram;
mod latency;

use std::rc::Rc;

use calyx_ir as ir;
use petal_metadata::{CircuitPart, Gate, Monitor, MonitorMemory, ProbePrefix};

use super::WIRE;

type Port = ir::RRC<ir::Port>;
type Guard = ir::Guard<ir::Nothing>;

pub(super) struct Gates<'a> {
    builder: ir::Builder<'a>,
    prefix: &'a ProbePrefix,
    run: Guard,
    done: Guard,
    clk: Port,
    reset: Port,
}

impl<'a> Gates<'a> {
    pub fn new(
        main: &'a mut ir::Component,
        lib: &'a ir::LibrarySignatures,
        prefix: &'a ProbePrefix,
        done: &Port,
    ) -> Self {
        let signature = Rc::clone(&main.signature);
        let signature = signature.borrow();
        let [clk, reset] = [ir::BoolAttr::Clk, ir::BoolAttr::Reset].map(|attribute| {
            let port = signature.get_unique_with_attr(attribute);
            port.expect("a compiled component has a clock and a reset")
        });
        let go = signature.get_unique_with_attr(ir::NumAttr::Go);
        let go = Guard::port(go.expect("main has a go"));
        let done = Guard::port(Rc::clone(done));
        Self {
            run: go & !done.clone(),
            done,
            builder: ir::Builder::new(main, lib),
            prefix,
            clk,
            reset,
        }
    }

    /// Adds the monitor. `signals` has the port of each part that is a signal.
    pub fn add(mut self, monitor: &Monitor, signals: Vec<Option<Port>>) {
        let parts = self.parts(monitor.circuit.parts(), signals);
        let port = |part: &usize| Rc::clone(&parts[*part]);
        let stamp = self.stamp();
        let events: Vec<Port> = monitor.events.iter().map(port).collect();
        let happens = events.iter().map(|event| Guard::port(Rc::clone(event)));
        let happens = happens.reduce(std::ops::BitOr::bitor);
        let happens = self.run.clone() & happens.unwrap_or_else(|| !Guard::True);
        let count = self.counter("count", &happens);
        self.head(monitor.id, &stamp, &count);
        for (number, part) in monitor.sums.iter().enumerate() {
            self.sum(number, &port(part));
        }
        for (number, (from, to)) in monitor.latencies.iter().enumerate() {
            let interval = latency::add(&mut self, number, &port(from), &port(to));
            if monitor.has_histograms {
                histogram::add(&mut self, number, interval);
            }
        }
        if !monitor.last.is_empty() {
            let last = self.joined(monitor.last.iter().map(port).collect());
            self.one_word(MonitorMemory::Last, &last);
        }
        if monitor.events.is_empty() {
            return;
        }
        let (at, writes) = self.place(monitor, &parts, &count, happens);
        let bits = bits_for(monitor.depth - 1);
        let mut index = self.slice(&at, 0, bits);
        if monitor.depth < 1 << bits {
            // When the buffer is full, the next entry has no place in it.
            let first = self.constant(0, bits);
            index = self.choice("place", &writes, [&index, &first]);
        }
        let mask = self.joined(events);
        let mut contents = vec![
            (MonitorMemory::Mask, mask),
            (MonitorMemory::Stamp, stamp.now),
        ];
        let values = monitor.values.iter().map(port).enumerate();
        contents.extend(values.map(|(number, port)| (MonitorMemory::Value(number), port)));
        for (memory, data) in contents {
            self.memory(memory, monitor.depth, &index, &data, &writes);
        }
    }

    /// The number of the entry that is stored next, and when it is. `count` counts all that happen.
    fn place(
        &mut self,
        monitor: &Monitor,
        parts: &[Port],
        count: &Counter,
        happens: Guard,
    ) -> (Port, Guard) {
        if let Some(trigger) = &monitor.trigger {
            let event = Rc::clone(&parts[trigger.event]);
            return self.until(&event, trigger.after, &happens);
        }
        if monitor.is_cyclic {
            return (Rc::clone(&count.now), happens);
        }
        let depth = self.constant(monitor.depth, Monitor::STAMP);
        let has_room = self.binary("std_lt", 1, Monitor::STAMP, &count.now, &depth);
        (Rc::clone(&count.now), happens & Guard::port(has_room))
    }

    /// The same, if recording ends so many entries after the cycle of an event.
    fn until(&mut self, event: &Port, after: u64, happens: &Guard) -> (Port, Guard) {
        let width = Monitor::STAMP;
        let run = self.run.clone();
        let triggered = self.cell("triggered", "std_reg", &[1]);
        let was = triggered.borrow().get("out");
        let now = self.binary("std_or", 1, 1, &was, event);
        self.feed(&triggered, &now, run.clone());
        let later = self.cell("later", "std_reg", &[u64::from(width)]);
        let later_now = later.borrow().get("out");
        let after = self.constant(after, width);
        let goes_on = self.binary("std_lt", 1, width, &later_now, &after);
        let was = Guard::port(was);
        let writes = happens.clone() & (!was.clone() | Guard::port(goes_on));
        let one = self.constant(1, width);
        let more = self.binary("std_add", width, width, &later_now, &one);
        let counts = writes.clone() & was;
        self.feed(&later, &more, counts);
        let stored = self.counter("kept", &writes);
        let now = self.pad(&now, width);
        let word = self.joined(vec![Rc::clone(&stored.next), now]);
        self.one_word(MonitorMemory::Stored, &word);
        (stored.now, writes)
    }

    /// The port of each part.
    fn parts(&mut self, parts: &[CircuitPart], signals: Vec<Option<Port>>) -> Vec<Port> {
        let mut ports: Vec<Port> = Vec::new();
        for (part, signal) in parts.iter().zip(signals) {
            let port = match part {
                CircuitPart::Signal { .. } => signal.expect("each signal has a port"),
                CircuitPart::Constant(value, width) => self.constant(*value, *width),
                CircuitPart::Gate(gate, width, operands) => {
                    let operands = operands.iter().map(|&operand| Rc::clone(&ports[operand]));
                    self.gate(*gate, *width, &operands.collect::<Vec<_>>())
                }
                CircuitPart::Past(of) => {
                    let of = Rc::clone(&ports[*of]);
                    self.register("past", &of).now
                }
                CircuitPart::Timer {
                    start,
                    during,
                    cycles,
                } => {
                    let [start, during] = [start, during].map(|of| Rc::clone(&ports[*of]));
                    self.timer(&start, during, *cycles)
                }
            };
            ports.push(port);
        }
        ports
    }

    fn gate(&mut self, gate: Gate, width: u32, operands: &[Port]) -> Port {
        let wide = port_width(&operands[0]);
        match (gate, operands) {
            (Gate::And, [a, b]) => self.binary("std_and", width, wide, a, b),
            (Gate::Or, [a, b]) => self.binary("std_or", width, wide, a, b),
            (Gate::Xor, [a, b]) => self.binary("std_xor", width, wide, a, b),
            (Gate::Add, [a, b]) => self.binary("std_add", width, wide, a, b),
            (Gate::Sub, [a, b]) => self.binary("std_sub", width, wide, a, b),
            (Gate::Eq, [a, b]) => self.binary("std_eq", width, wide, a, b),
            (Gate::Lt, [a, b]) => self.binary("std_lt", width, wide, a, b),
            (Gate::Not, [a]) => self.unary("std_not", &[u64::from(wide)], a),
            (Gate::Shl, [a, by]) => self.shift("std_lsh", a, by),
            (Gate::Shr, [a, by]) => self.shift("std_rsh", a, by),
            (Gate::Slice(low), [a]) => self.slice(a, low, width),
            (Gate::Pad, [a]) => self.pad(a, width),
            (Gate::Mux, [condition, then, otherwise]) => {
                debug_assert_eq!(port_width(then), width);
                let is_high = Guard::port(Rc::clone(condition));
                self.choice("gate", &is_high, [then, otherwise])
            }
            _ => unreachable!("each gate has its number of operands"),
        }
    }

    /// A shift. As many bits as the wider operand has are enough for both.
    fn shift(&mut self, primitive: &str, of: &Port, by: &Port) -> Port {
        let (width, wide) = (port_width(of), port_width(of).max(port_width(by)));
        let (of, by) = (self.pad(of, wide), self.pad(by, wide));
        let shifted = self.binary(primitive, wide, wide, &of, &by);
        self.slice(&shifted, 0, width)
    }

    fn slice(&mut self, of: &Port, low: u32, width: u32) -> Port {
        let wide = port_width(of);
        if (low, width) == (0, wide) {
            return Rc::clone(of);
        }
        let parameters = [wide, low, low + width - 1, width].map(u64::from);
        self.unary("std_bit_slice", &parameters, of)
    }

    fn pad(&mut self, of: &Port, width: u32) -> Port {
        if port_width(of) == width {
            return Rc::clone(of);
        }
        let parameters = [port_width(of), width].map(u64::from);
        self.unary("std_pad", &parameters, of)
    }

    /// Ports beside one another, the first in the lowest bits.
    fn joined(&mut self, ports: Vec<Port>) -> Port {
        let joined = ports.into_iter().reduce(|low, high| {
            let (left, right) = (port_width(&high), port_width(&low));
            let parameters = [left, right, left + right].map(u64::from);
            let cell = self.cell("gate", "std_cat", &parameters);
            self.drive(&cell, "left", &high, Guard::True);
            self.drive(&cell, "right", &low, Guard::True);

            cell.borrow().get("out")
        });
        joined.unwrap_or_else(|| self.constant(0, 1))
    }

    fn unary(&mut self, primitive: &str, parameters: &[u64], of: &Port) -> Port {
        let cell = self.cell("gate", primitive, parameters);
        self.drive(&cell, "in", of, Guard::True);

        cell.borrow().get("out")
    }

    /// A primitive with two operands of the width `wide`.
    fn binary(&mut self, primitive: &str, width: u32, wide: u32, a: &Port, b: &Port) -> Port {
        let cell = self.cell("gate", primitive, &[u64::from(wide)]);
        self.drive(&cell, "left", a, Guard::True);
        self.drive(&cell, "right", b, Guard::True);
        let out = cell.borrow().get("out");
        debug_assert_eq!(port_width(&out), width);
        out
    }

    fn constant(&mut self, value: u64, width: u32) -> Port {
        // The builder has no constant of 64 high bits.
        if value == u64::MAX {
            let none = self.constant(0, width);
            return self.unary("std_not", &[u64::from(width)], &none);
        }
        let cell = self.builder.add_constant(value, u64::from(width));

        cell.borrow().get("out")
    }

    /// High after `start` for so many cycles less one, as long as `during` is.
    fn timer(&mut self, start: &Port, during: Port, cycles: u64) -> Port {
        let Some(most) = cycles.checked_sub(1).filter(|most| *most > 0) else {
            return self.constant(0, 1);
        };
        let width = bits_for(most);
        let left = self.cell("timer", "std_reg", &[u64::from(width)]);
        self.clock(&left);
        let now = left.borrow().get("out");
        let [zero, one, most] = [0, 1, most].map(|value| self.constant(value, width));
        let is_over = self.binary("std_eq", 1, width, &now, &zero);
        let goes_on = self.unary("std_not", &[1], &is_over);
        let less = self.binary("std_sub", width, width, &now, &one);
        let during = self.run.clone() & Guard::port(during);
        let goes = Guard::port(Rc::clone(&goes_on));
        let starts = Guard::port(Rc::clone(start)) & !goes.clone();
        self.drive(&left, "in", &less, during.clone() & goes.clone());
        self.drive(&left, "in", &most, during.clone() & starts.clone());
        let rest = !(during & (goes | starts));
        self.drive(&left, "in", &zero, rest);
        let writes = self.run.clone() | self.done.clone();
        self.enable(&left, "write_en", &writes);
        goes_on
    }

    /// The counter of cycles.
    fn stamp(&mut self) -> Counter {
        let width = Monitor::STAMP;
        let (one, most) = (
            self.constant(1, width),
            self.constant((1 << width) - 1, width),
        );
        let cell = self.cell("cycle", "std_reg", &[u64::from(width)]);
        let now = cell.borrow().get("out");
        let more = self.binary("std_add", width, width, &now, &one);
        let is_full = self.binary("std_eq", 1, width, &now, &most);
        let next = self.gate(Gate::Mux, width, &[is_full, Rc::clone(&now), more]);
        let run = self.run.clone();
        self.feed(&cell, &next, run);
        Counter { now, next }
    }

    /// A counter of the cycles in which something happens.
    fn counter(&mut self, name: &str, happens: &Guard) -> Counter {
        let width = Monitor::STAMP;
        let cell = self.cell(name, "std_reg", &[u64::from(width)]);
        let now = cell.borrow().get("out");
        let more = self.wire("more", 1);
        self.enable(&more, "in", happens);
        let more = more.borrow().get("out");
        let more = self.pad(&more, width);
        let next = self.binary("std_add", width, width, &now, &more);
        let run = self.run.clone();
        self.feed(&cell, &next, run);
        Counter { now, next }
    }

    /// Adds a port up over the cycles of the run.
    fn sum(&mut self, number: usize, of: &Port) {
        let width = Monitor::SUM;
        let cell = self.cell("adder", "std_reg", &[u64::from(width)]);
        let now = cell.borrow().get("out");
        let more = self.pad(of, width);
        let next = self.binary("std_add", width, width, &now, &more);
        let run = self.run.clone();
        self.feed(&cell, &next, run);
        self.one_word(MonitorMemory::Sum(number), &next);
    }

    /// What a port is in each cycle of the run, one cycle later.
    fn register(&mut self, name: &str, of: &Port) -> Counter {
        let cell = self.cell(name, "std_reg", &[of.borrow().width]);
        let run = self.run.clone();
        self.feed(&cell, of, run);
        let now = cell.borrow().get("out");
        Counter {
            now,
            next: Rc::clone(of),
        }
    }

    /// What a register is in the next cycle of the run: the first of these values whose guard holds, else what it is.
    fn next(&mut self, register: &ir::RRC<ir::Cell>, choices: &[(Port, Guard)]) -> Port {
        let now = register.borrow().get("out");
        let next = self.wire("next", port_width(&now));
        let mut none = Guard::True;
        for (value, guard) in choices {
            self.drive(&next, "in", value, none.clone() & guard.clone());
            none &= !guard.clone();
        }
        self.drive(&next, "in", &now, none);
        let next = next.borrow().get("out");
        let run = self.run.clone();
        self.feed(register, &next, run);
        next
    }

    /// Writes a register while a guard holds, and 0 at the end of a run.
    fn feed(&mut self, register: &ir::RRC<ir::Cell>, next: &Port, guard: Guard) {
        let zero = self.constant(0, port_width(next));
        let done = self.done.clone();
        self.either(register, "in", &done, [&zero, next]);
        self.enable(register, "write_en", &(guard | done));
        self.clock(register);
    }

    /// Writes how far the run has come.
    fn head(&mut self, id: u32, stamp: &Counter, count: &Counter) {
        let head = self.joined(vec![Rc::clone(&stamp.next), Rc::clone(&count.next)]);
        self.one_word(MonitorMemory::Head(id), &head);
    }

    /// A memory of one word, which is written in each cycle of the run.
    fn one_word(&mut self, memory: MonitorMemory, data: &Port) {
        let first = self.constant(0, 1);
        let run = self.run.clone();
        self.memory(memory, 1, &first, data, &run);
    }

    /// A memory that is written while a guard holds.
    fn memory(
        &mut self,
        memory: MonitorMemory,
        words: u64,
        index: &Port,
        data: &Port,
        guard: &Guard,
    ) {
        let (width, index_width) = (data.borrow().width, index.borrow().width);
        let cell = self.cell(&memory.name(), "seq_mem_d1", &[width, words, index_width]);
        cell.borrow_mut().add_attribute(ir::BoolAttr::External, 1);
        self.drive(&cell, "addr0", index, Guard::True);
        self.drive(&cell, "write_data", data, Guard::True);
        self.enable(&cell, "content_en", guard);
        self.enable(&cell, "write_en", guard);
        self.clock(&cell);
    }

    fn clock(&mut self, cell: &ir::RRC<ir::Cell>) {
        let (clk, reset) = (Rc::clone(&self.clk), Rc::clone(&self.reset));
        self.drive(cell, "clk", &clk, Guard::True);
        self.drive(cell, "reset", &reset, Guard::True);
    }

    fn wire(&mut self, name: &str, width: u32) -> ir::RRC<ir::Cell> {
        self.cell(name, WIRE, &[width, width].map(u64::from))
    }

    fn cell(&mut self, name: &str, primitive: &str, parameters: &[u64]) -> ir::RRC<ir::Cell> {
        let name = self.prefix.named(name);
        self.builder.add_primitive(name, primitive, parameters)
    }

    /// The first value while a guard holds, else the other.
    fn choice(&mut self, name: &str, guard: &Guard, values: [&Port; 2]) -> Port {
        // Cider, Calyx's interpreter, has no `std_mux`.
        let wire = self.wire(name, port_width(values[0]));
        self.either(&wire, "in", guard, values);

        wire.borrow().get("out")
    }

    /// Drives a port with 1 while a guard holds, else with 0: what nothing drives, Cider takes for undefined.
    fn enable(&mut self, cell: &ir::RRC<ir::Cell>, port: &str, guard: &Guard) {
        let [on, off] = [1, 0].map(|value| self.constant(value, 1));
        self.either(cell, port, guard, [&on, &off]);
    }

    /// Drives a port with the first value while a guard holds, else with the other.
    fn either(
        &mut self,
        cell: &ir::RRC<ir::Cell>,
        port: &str,
        guard: &Guard,
        [then, otherwise]: [&Port; 2],
    ) {
        self.drive(cell, port, then, guard.clone());
        self.drive(cell, port, otherwise, !guard.clone());
    }

    fn drive(&mut self, cell: &ir::RRC<ir::Cell>, port: &str, source: &Port, guard: Guard) {
        let port = cell.borrow().get(port);
        let assignment = self
            .builder
            .build_assignment(port, Rc::clone(source), guard);
        let wires = &mut self.builder.component.continuous_assignments;
        wires.push(assignment);
    }
}

/// A register, and what it is in the next cycle.
struct Counter {
    now: Port,
    next: Port,
}

fn port_width(port: &Port) -> u32 {
    u32::try_from(port.borrow().width).unwrap_or(u32::MAX)
}

/// The bits that a number takes, at least one.
fn bits_for(number: u64) -> u32 {
    (u64::BITS - number.leading_zeros()).max(1)
}
