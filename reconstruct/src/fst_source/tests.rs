use std::io::Cursor;

use fst_writer::{
    FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalType, FstVarDirection, FstVarType,
};

use super::*;
use crate::signals::Signal;

const SIGNALS: [(&str, u32); 6] = [
    ("clk", 1),
    ("reset", 1),
    ("go", 1),
    ("done", 1),
    ("marker_in", 1),
    ("a", 8),
];

fn table() -> SignalTable {
    let signal = |name: &str| Signal {
        scope: vec!["toplevel".to_owned(), "main".to_owned()],
        name: name.to_owned(),
    };
    let mut tick = signal("tick");
    tick.scope.pop();
    SignalTable {
        watched: vec![signal("a")],
        clock: signal("clk"),
        tick,
        reset: signal("reset"),
        go: signal("go"),
        done: signal("done"),
        marker: signal("marker"),
    }
}

/// A file in which these signals have these values from time 0, 1, … on. It is written in two parts.
fn file(rows: &[[&str; 6]]) -> Vec<u8> {
    let info = FstInfo {
        start_time: 0,
        timescale_exponent: -9,
        version: String::new(),
        date: String::new(),
        file_type: FstFileType::Verilog,
    };
    let mut header = FstHeaderWriter::new(Cursor::new(Vec::new()), &info).unwrap();
    let module = FstScopeType::Module;
    for scope in ["TOP", "toplevel", "main"] {
        header.scope(scope, "", module).unwrap();
    }
    let signals = SIGNALS.map(|(name, width)| {
        let name = match width {
            1 => name.to_owned(),
            _ => format!("{name} [{}:0]", width - 1),
        };
        let (wire, any) = (FstVarType::Wire, FstVarDirection::Implicit);
        header
            .var(name, FstSignalType::bit_vec(width), wire, any, None)
            .unwrap()
    });
    for _ in 0..3 {
        header.up_scope().unwrap();
    }
    let mut body = header.finish().unwrap();
    for (time, row) in (0..).zip(rows) {
        if time == 4 {
            body.flush().unwrap();
        }
        body.time_change(time).unwrap();
        for (signal, value) in signals.iter().zip(row) {
            body.signal_change(*signal, value.as_bytes()).unwrap();
        }
    }
    body.finish().unwrap().into_inner()
}

/// `clk reset go done marker a`: two cycles.
const ROWS: [[&str; 6]; 8] = [
    ["0", "1", "0", "0", "0", "00000000"],
    ["1", "1", "0", "0", "0", "00000000"],
    ["0", "0", "1", "0", "0", "00000101"],
    ["1", "0", "1", "0", "0", "0000x101"],
    ["0", "0", "1", "0", "0", "0000x101"],
    ["1", "0", "1", "0", "0", "10000000"],
    ["0", "0", "1", "1", "0", "10000000"],
    ["1", "0", "1", "1", "0", "10000000"],
];

/// The value of `a` in each cycle in which it is new, and the warnings; or why there are none.
fn read(file: Vec<u8>) -> Result<(Vec<u64>, Vec<String>), String> {
    let source = FstSource::new(Cursor::new(file), &table());
    let mut source = source.map_err(|error| error.to_string())?;
    let (mut values, mut warnings) = (Vec::new(), Vec::new());
    loop {
        let goes_on = source.next_cycle().map_err(|error| error.to_string())?;
        values.extend(source.changes().iter().map(|change| change.value));
        warnings.extend(source.take_warnings().into_iter().map(|told| told.text));
        if !goes_on {
            return Ok((values, warnings));
        }
    }
}

#[test]
fn samples_are_taken_before_the_clock_rises() {
    let (values, warnings) = read(file(&ROWS)).unwrap();
    assert_eq!(values, [5, 0, 128]);
    assert_eq!(warnings, ["is x or z; taken as 0"]);
}

#[test]
fn a_run_without_an_end_is_told() {
    let error = read(file(&ROWS[..6])).unwrap_err();
    assert!(error.contains("before the design is done"), "{error}");
}

#[test]
fn a_file_that_is_not_whole_is_told() {
    let whole = file(&ROWS);
    assert!(is_fst(&whole));
    assert!(!is_fst(b"$timescale 1 ns $end"));
    for length in 0..whole.len() {
        let error = read(whole[..length].to_vec()).unwrap_err();
        assert!(error.contains("cut off"), "{length}: {error}");
    }
}

#[test]
fn a_changed_bit_never_panics() {
    let whole = file(&ROWS);
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            // It is another run, or an error.
            let _ = read(changed);
        }
    }
}
