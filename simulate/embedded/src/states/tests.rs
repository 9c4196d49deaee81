//! Runs with tapes from the first cycles on, held against the general code in every cycle.

use std::sync::Arc;

use petal_passes::{ALL, NO_OPT};
use petal_reconstruct::{Ahead, Id as _, ProbeSource as _};

use super::*;
use crate::machine::Compiled;
use crate::machine::tests::{Random, data, design, elaborated, started};
use crate::simulation::{self, Options};
use crate::waveform;

/// Runs a design in all ways. Returns how many cycles it takes, and how many were done by tapes, and by their machine code.
fn check(text: &str, passes: &str) -> [u64; 3] {
    let design = elaborated(text, passes);
    // Machine code tells some tens of values that depend on data, not hundreds.
    let probes: Vec<NodeId> = waveform::values(&design).into_iter().step_by(9).collect();
    let compiled = Arc::new(Compiled::new(design, &probes, &[]).unwrap());
    let [mut general, mut tapes] =
        [StateCode::Never, StateCode::Soon].map(|states| started(&compiled, states));
    let mut aheads = [StateCode::Soon, StateCode::Never].map(|states| {
        let options = Options {
            states,
            ..Options::default()
        };
        let simulation = simulation::Compiled::of(Arc::clone(&compiled));
        let mut simulation = simulation.simulation(options).unwrap();
        simulation.write_memory("m", &data());
        Ahead::new(simulation)
    });
    let mut changes = Vec::new();
    let mut told = [(); 4].map(|()| vec![0; probes.len()]);
    let (mut by_tapes, mut by_code) = (0, 0);
    for cycle in 0.. {
        let runs = [&mut general, &mut tapes].map(|machine| machine.step().unwrap());
        for (machine, told) in [&mut general, &mut tapes].into_iter().zip(&mut told) {
            changes.clear();
            machine.changes(&mut changes);
            for change in &changes {
                let before = std::mem::replace(&mut told[change.slot.index()], change.value);
                assert_ne!(before, change.value, "cycle {cycle} of\n{text}");
            }
        }
        for (ahead, told) in aheads.iter_mut().zip(&mut told[2..]) {
            let goes_on = ahead.next_cycle().unwrap();
            assert_eq!(runs[0], goes_on, "cycle {cycle} of\n{text}");
            for change in ahead.changes() {
                let before = std::mem::replace(&mut told[change.slot.index()], change.value);
                assert_ne!(before, change.value, "cycle {cycle} of\n{text}");
            }
        }
        for at in [1, 2, 3] {
            assert_eq!(told[0], told[at], "{at} in cycle {cycle} of\n{text}");
        }
        assert_eq!(general.read_memory("m"), tapes.read_memory("m"));
        assert_eq!(runs[0], runs[1], "cycle {cycle} of\n{text}");
        by_tapes += u64::from(tapes.is_by_tape());
        // Only the code hands over lists.
        by_code += u64::from(aheads[0].list().is_some());
        if !runs[0] {
            for ahead in aheads {
                let simulation = ahead.into_inner();
                assert_eq!(general.read_memory("m"), simulation.read_memory("m"));
            }
            return [cycle, by_tapes, by_code];
        }
    }
    unreachable!("a run ends")
}

#[test]
fn tapes_do_what_the_general_code_does() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut sums = [0; 3];
    for number in 0..6 {
        // So often that machine code is made for most of what comes.
        let text = design(&mut random, 10);
        let run = check(&text, if number % 3 == 0 { NO_OPT } else { ALL });
        for (sum, cycles) in sums.iter_mut().zip(run) {
            *sum += cycles;
        }
    }
    let [cycles, by_tapes, by_code] = sums;
    assert!(by_tapes * 3 > cycles, "{by_tapes} of {cycles} cycles");
    assert!(by_code * 20 > cycles, "{by_code} of {cycles} cycles");
}
