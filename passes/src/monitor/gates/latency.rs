//! How long it takes from one event to another, without a buffer: how many, their sum, the shortest and the longest.
//!
//! One may be open at a time: then each end belongs to the only beginning there is. That two overlapped is kept, since then the sums mean
//! nothing.

use std::rc::Rc;

use petal_metadata::{LatencyWord, Monitor, MonitorMemory};

use super::{Gates, Guard, Port};

/// What is known of the one that is open.
pub(super) struct Interval {
    /// Whether one begins.
    pub begins: Guard,
    /// Whether one was open before.
    pub was_open: Guard,
    /// How long that one takes so far.
    pub cycles: Port,
    /// One more.
    pub longer: Port,
    /// Whether one ends.
    pub ends: Guard,
}

/// Adds the latency of a number from one port to another.
pub(super) fn add(gates: &mut Gates<'_>, number: usize, from: &Port, to: &Port) -> Interval {
    let half = Monitor::STAMP;
    let register = |gates: &mut Gates<'_>, name: &str, width: u32| {
        let cell = gates.cell(name, "std_reg", &[u64::from(width)]);
        let now = cell.borrow().get("out");
        (cell, now)
    };
    let (open, was_open) = register(gates, "open", 1);
    let (length, cycles) = register(gates, "length", half);
    let [begins, ends, was] = [from, to, &was_open].map(|port| Guard::port(Rc::clone(port)));
    // A beginning comes before an end in the same cycle, and the first to begin is the first to end.
    let ends_one = ends.clone() & (was.clone() | begins.clone());
    let [zero, one, on, off] =
        [(0, half), (1, half), (1, 1), (0, 1)].map(|(value, width)| gates.constant(value, width));
    let stays_open = begins.clone() & (was.clone() | !ends.clone());
    let closes = ends.clone() & !stays_open.clone();
    let open = gates.next(&open, &[(Rc::clone(&on), stays_open), (off, closes)]);
    let longer = gates.binary("std_add", half, half, &cycles, &one);
    let length = gates.next(
        &length,
        &[
            (Rc::clone(&one), begins.clone()),
            (Rc::clone(&longer), !begins.clone()),
        ],
    );
    let (overlap, _) = register(gates, "overlap", 1);
    let overlaps = was.clone() & begins.clone() & !ends.clone();
    let overlap = gates.next(&overlap, &[(on, overlaps)]);
    // How long the one took that ends now.
    let took = gates.choice("took", &was, [&cycles, &zero]);

    let (count, ended) = register(gates, "ended", half);
    let more = gates.binary("std_add", half, half, &ended, &one);
    let count = gates.next(&count, &[(more, ends_one.clone())]);
    let (unmatched, lone) = register(gates, "lone", half);
    let more = gates.binary("std_add", half, half, &lone, &one);
    let unmatched = gates.next(&unmatched, &[(more, ends & !ends_one.clone())]);
    let (total, sum) = register(gates, "total", Monitor::SUM);
    let wide = gates.pad(&took, Monitor::SUM);
    let more = gates.binary("std_add", Monitor::SUM, Monitor::SUM, &sum, &wide);
    let total = gates.next(&total, &[(more, ends_one.clone())]);
    let (least, min) = register(gates, "least", half);
    let is_first = gates.binary("std_eq", 1, half, &ended, &zero);
    let is_less = gates.binary("std_lt", 1, half, &took, &min);
    let is_least = Guard::port(is_first) | Guard::port(is_less);
    let least = gates.next(&least, &[(Rc::clone(&took), ends_one.clone() & is_least)]);
    let (most, max) = register(gates, "most", half);
    let is_more = gates.binary("std_gt", 1, half, &took, &max);
    let longest = ends_one.clone() & Guard::port(is_more);
    let most = gates.next(&most, &[(took, longest)]);

    let open = gates.joined(vec![length, open, overlap]);
    let words = [
        (LatencyWord::Count, gates.joined(vec![count, unmatched])),
        (LatencyWord::Total, total),
        (LatencyWord::Range, gates.joined(vec![least, most])),
        (LatencyWord::Open, gates.pad(&open, Monitor::SUM)),
    ];
    for (word, data) in words {
        gates.one_word(MonitorMemory::Latency(number, word), &data);
    }
    Interval {
        begins,
        was_open: was,
        cycles,
        longer,
        ends: ends_one,
    }
}
