//! However a waveform is written and read, the trace is the same.

mod support;

use std::io::{BufReader, Read};

use petal_metadata::Metadata;
use petal_reconstruct::{Ahead, Event, Reconstruction, VcdSource};
use petal_simulate::{Optimisation, Trace};

fn read(metadata: &Metadata, waveform: impl Read, capacity: usize) -> Vec<Event> {
    let reader = BufReader::with_capacity(capacity, waveform);
    let reconstruction = Reconstruction::new(metadata);
    let mut source =
        VcdSource::new(reader, reconstruction.signals()).unwrap_or_else(|error| panic!("{error}"));
    support::events(&reconstruction, &mut source, &"the waveform")
}

#[test]
fn all_ways_to_read_a_waveform_agree() {
    let design = support::root().join("calyx-examples/nested-components.futil");
    let (compiled, metadata) = support::instrument(&design, "no-opt");
    let simulated = support::simulate(&design, &compiled, Trace::Vcd, Optimisation::Debug);
    let vcd = std::fs::read_to_string(simulated.vcd.as_deref().expect("it was traced"))
        .expect("the waveform is text");
    let expected = read(&metadata, vcd.as_bytes(), 1 << 20);

    // Lines that are cut anywhere.
    for capacity in [1, 2, 3, 5, 7, 16, 61, 1000] {
        assert!(
            read(&metadata, vcd.as_bytes(), capacity) == expected,
            "read {capacity} bytes at a time"
        );
    }
    // From a line of another form on, the body is read by the `vcd` crate.
    let body = vcd.find("#0\n").expect("the body begins at time 0");
    let lines: Vec<usize> = vcd[body..]
        .match_indices('\n')
        .map(|(at, _)| body + at + 1)
        .collect();
    for part in 0..20 {
        let at = lines[part * (lines.len() - 1) / 19];
        let commented = format!("{}$comment halt $end\n{}", &vcd[..at], &vcd[at..]);
        for capacity in [7, 1 << 16] {
            assert!(
                read(&metadata, commented.as_bytes(), capacity) == expected,
                "a comment at byte {at}"
            );
        }
    }
    let windows = vcd.replace('\n', "\r\n");
    assert!(
        read(&metadata, windows.as_bytes(), 1 << 16) == expected,
        "line ends of another system"
    );
    // On a thread of its own.
    let reconstruction = Reconstruction::new(&metadata);
    let reader = std::io::Cursor::new(vcd.clone().into_bytes());
    let source =
        VcdSource::new(reader, reconstruction.signals()).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        support::events(&reconstruction, &mut Ahead::new(source), &"the waveform") == expected,
        "ahead"
    );
}
