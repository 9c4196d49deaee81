//! How many intervals of a latency took how many cycles, by the bits of the length: 0, 1, 2 to 3, 4 to 7, and so on.
//!
//! The counts are in a memory that is read in the cycle in which it is written. Nothing can clear it in one cycle, so a register tells
//! which of its words are of this run.

use std::rc::Rc;

use calyx_ir as ir;
use petal_metadata::{Gate, Monitor, MonitorMemory};

use super::latency::Interval;
use super::{Gates, Guard, Port, bits_for, port_width};

/// Adds that of the latency of a number.
pub(super) fn add(gates: &mut Gates<'_>, number: usize, of: Interval) {
    let (width, words) = (Monitor::STAMP, Monitor::POWERS);
    let ends = of.ends.clone();
    let index = bits(gates, of);
    let parameters = [width, words, port_width(&index)].map(u64::from);
    let name = MonitorMemory::Powers(number).name();
    let powers = gates.cell(&name, "comb_mem_d1", &parameters);
    powers.borrow_mut().add_attribute(ir::BoolAttr::External, 1);
    let count = powers.borrow().get("read_data");

    let filled = gates.cell("filled", "std_reg", &[u64::from(words)]);
    let was = filled.borrow().get("out");
    let [zero, one, lowest] =
        [(0, width), (1, width), (1, words)].map(|(value, width)| gates.constant(value, width));
    let place = gates.gate(Gate::Shl, words, &[lowest, Rc::clone(&index)]);
    let more = gates.gate(Gate::Or, words, &[Rc::clone(&was), place]);
    let now = gates.next(&filled, &[(more, ends.clone())]);
    gates.one_word(MonitorMemory::Filled(number), &now);

    let own = gates.gate(Gate::Shr, words, &[was, Rc::clone(&index)]);
    let is_filled = gates.slice(&own, 0, 1);
    let count = gates.gate(Gate::Mux, width, &[is_filled, count, zero]);
    let next = gates.gate(Gate::Add, width, &[count, one]);
    let writes = gates.run.clone() & ends;
    gates.drive(&powers, "addr0", &index, Guard::True);
    gates.drive(&powers, "write_data", &next, Guard::True);
    gates.enable(&powers, "write_en", &writes);
    gates.clock(&powers);
}

/// How many bits the length of the interval has that ends. They are counted with its cycles, since to find the highest one in a number takes longer
/// than a cycle should.
fn bits(gates: &mut Gates<'_>, of: Interval) -> Port {
    let width = bits_for(u64::from(Monitor::STAMP));
    let bits = gates.cell("bits", "std_reg", &[u64::from(width)]);
    let now = bits.borrow().get("out");
    let [zero, one] = [0, 1].map(|value| gates.constant(value, width));
    // The length has one more when its next number has none of its own.
    let common = gates.gate(Gate::And, Monitor::STAMP, &[of.cycles, of.longer]);
    let none = gates.constant(0, Monitor::STAMP);
    let grows = gates.gate(Gate::Eq, 1, &[common, none]);
    let more = gates.gate(Gate::Add, width, &[Rc::clone(&now), Rc::clone(&one)]);
    let grows = !of.begins.clone() & Guard::port(grows);
    gates.next(&bits, &[(one, of.begins), (more, grows)]);
    gates.choice("class", &of.was_open, [&now, &zero])
}
