//! How many intervals of a latency took how many cycles, by the bits of the length: 0, 1, 2 to 3, 4 to 7, and so on.
//!
//! The counts are in a memory that is read in the cycle in which it is written. Nothing can clear it in one cycle, so a register tells
//! which of its words are of this run.

use std::rc::Rc;

use calyx_ir as ir;
use petal_metadata::{Gate, Monitor, MonitorMemory};

use super::{Gates, Guard, Port, bits_for, port_width};

/// Adds that of the latency of a number. `took` is how long the one took that ends when `ends` holds.
pub(super) fn add(gates: &mut Gates<'_>, number: usize, took: &Port, ends: &Guard) {
    let (width, words) = (Monitor::STAMP, Monitor::POWERS);
    let index = bits(gates, took);
    let parameters = [width, words, port_width(&index)].map(u64::from);
    let name = MonitorMemory::Powers(number).name();
    let powers = gates.cell(&name, "comb_mem_d1", &parameters);
    powers.borrow_mut().add_attribute(ir::BoolAttr::External, 1);
    let count = powers.borrow().get("read_data");

    let filled = gates.cell("filled", "std_reg", &[u64::from(words)]);
    let was = filled.borrow().get("out");
    let [zero, one, on, lowest] = [(0, width), (1, width), (1, 1), (1, words)]
        .map(|(value, width)| gates.constant(value, width));
    let place = gates.gate(Gate::Shl, words, &[lowest, Rc::clone(&index)]);
    let more = gates.gate(Gate::Or, words, &[Rc::clone(&was), place]);
    let now = gates.next(&filled, &[(more, ends.clone())]);
    gates.one_word(MonitorMemory::Filled(number), &now);

    let own = gates.gate(Gate::Shr, words, &[was, Rc::clone(&index)]);
    let is_filled = gates.slice(&own, 0, 1);
    let count = gates.gate(Gate::Mux, width, &[is_filled, count, zero]);
    let next = gates.gate(Gate::Add, width, &[count, one]);
    let writes = gates.run.clone() & ends.clone();
    gates.drive(&powers, "addr0", &index, Guard::True);
    gates.drive(&powers, "write_data", &next, Guard::True);
    gates.drive(&powers, "write_en", &on, writes);
    gates.clock(&powers);
}

/// How many bits a number has without zeros above it.
fn bits(gates: &mut Gates<'_>, of: &Port) -> Port {
    let width = bits_for(u64::from(Monitor::STAMP));
    let mut rest = Rc::clone(of);
    let mut place = Vec::new();
    while port_width(&rest) > 1 {
        let half = port_width(&rest) / 2;
        let [low, high] = [0, half].map(|from| gates.slice(&rest, from, half));
        let zero = gates.constant(0, half);
        let is_low = gates.gate(Gate::Eq, 1, &[Rc::clone(&high), zero]);
        place.push(gates.gate(Gate::Not, 1, &[Rc::clone(&is_low)]));
        rest = gates.gate(Gate::Mux, half, &[is_low, low, high]);
    }
    // The place of the highest bit that is set, and one more; 0 if none is.
    place.reverse();
    let place = gates.joined(place);
    let [place, more] = [place, rest].map(|of| gates.pad(&of, width));
    gates.gate(Gate::Add, width, &[place, more])
}
