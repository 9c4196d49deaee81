//! Runs with tapes from the first cycles on, held against the general code in every cycle.

use std::sync::Arc;

use petal_passes::{ALL, NO_OPT};
use petal_reconstruct::SlotId;

use super::*;
use crate::machine::Compiled;
use crate::machine::tests::{Random, design, elaborated, started};
use crate::waveform;

/// Runs a design both ways. Returns how many cycles it takes, and how many were done by tapes.
fn check(text: &str, passes: &str) -> (u64, u64) {
    let design = elaborated(text, passes);
    let probes = waveform::values(&design);
    let compiled = Arc::new(Compiled::new(design, &probes, &[]).unwrap());
    let [mut general, mut tapes] =
        [StateCode::Never, StateCode::Soon].map(|states| started(&compiled, states));
    let nothing = Change {
        slot: SlotId::from_index(0),
        value: 0,
    };
    let mut changes = vec![nothing; probes.len()];
    let mut told = [vec![0; probes.len()], vec![0; probes.len()]];
    let mut by_tapes = 0;
    for cycle in 0.. {
        let runs = [&mut general, &mut tapes].map(|machine| machine.step().unwrap());
        for (machine, told) in [&mut general, &mut tapes].into_iter().zip(&mut told) {
            let count = machine.changes(&mut changes);
            for change in &changes[..count] {
                let before = std::mem::replace(&mut told[change.slot.index()], change.value);
                assert_ne!(before, change.value, "cycle {cycle} of\n{text}");
            }
        }
        assert_eq!(told[0], told[1], "cycle {cycle} of\n{text}");
        assert_eq!(general.read_memory("m"), tapes.read_memory("m"));
        assert_eq!(runs[0], runs[1], "cycle {cycle} of\n{text}");
        by_tapes += u64::from(tapes.is_by_tape());
        if !runs[0] {
            return (cycle, by_tapes);
        }
    }
    unreachable!("a run ends")
}

#[test]
fn tapes_do_what_the_general_code_does() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut cycles, mut by_tapes) = (0, 0);
    for number in 0..12 {
        let text = design(&mut random);
        let run = check(&text, if number % 3 == 0 { NO_OPT } else { ALL });
        cycles += run.0;
        by_tapes += run.1;
    }
    assert!(by_tapes * 3 > cycles, "{by_tapes} of {cycles} cycles");
}
