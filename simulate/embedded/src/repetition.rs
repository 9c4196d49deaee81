//! The proof that a run never ends: all state of the design is that of an earlier cycle.
//!
//! Owns which earlier state is kept, and when it is compared. That equal states lead to equal states, the
//! machine warrants: the inputs of a run are the same in every cycle. Knows nothing of what a state means.

use crate::code::{Ending, Memory};

/// Words of memories that are looked at together: most of a large memory is 0.
const BLOCK: usize = 512;

/// All state of a design in a cycle, once the values have settled.
#[derive(Clone, Copy)]
pub(crate) struct MachineState<'a> {
    pub regs: &'a [u64],
    /// The wires on combinational loops: they begin a cycle with what they settled to in the one before.
    pub wires: &'a [u64],
    pub memories: &'a [Memory],
    /// A digest of what was written to the memories: the same if they are.
    pub digest: u64,
}

/// A run's states that repeat for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loop {
    /// A cycle with the first of these states.
    pub cycle: u64,
    /// How many there are.
    pub period: u64,
}

/// Looks for a state that was there before, by Brent's algorithm (BIT 20, 1980, pages 176 to 184): it keeps one state,
/// that of a later cycle whenever the number of the cycle has doubled, and compares every other with it.
///
/// Memories are only compared once all the rest is equal and so is their digest: then the state is kept
/// again, with the memories, and has to come back as a whole.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    /// The kept state: registers and wires.
    words: Vec<u64>,
    digest: u64,
    memories: Memories,
    /// Its cycle.
    cycle: u64,
    /// The cycle of the state to keep next.
    next: u64,
    /// A register that differed from the kept one; often it does again.
    differs: usize,
}

/// What is kept of the memories.
#[derive(Debug, Default)]
enum Memories {
    /// Nothing.
    #[default]
    Digest,
    /// The blocks with words other than 0, by memory and number.
    Contents(Vec<((usize, usize), Vec<u64>)>),
    /// Different memories had one digest: the next state that is kept may do better.
    Misled,
}

impl Repetition {
    /// Takes in the state of the next cycle. Returns the loop that it closes, if it does.
    pub fn take(&mut self, cycle: u64, state: MachineState<'_>) -> Option<Loop> {
        if cycle >= self.next {
            self.words.clear();
            self.words.extend(state.regs);
            self.words.extend(state.wires);
            self.digest = state.digest;
            self.memories = Memories::Digest;
            self.cycle = cycle;
            self.next = 2 * cycle + 1;
            return None;
        }
        if !self.is_kept(state) {
            return None;
        }
        let blocks = || nonzero(state.memories);
        match &self.memories {
            Memories::Digest if !state.memories.is_empty() => {
                let contents = blocks().map(|(at, block)| (at, block.to_vec()));
                self.memories = Memories::Contents(contents.collect());
                self.cycle = cycle;
                None
            }
            Memories::Contents(kept)
                if !blocks().eq(kept.iter().map(|(at, block)| (*at, &block[..]))) =>
            {
                self.memories = Memories::Misled;
                None
            }
            Memories::Misled => None,
            Memories::Digest | Memories::Contents(_) => Some(Loop {
                cycle: self.cycle,
                period: cycle - self.cycle,
            }),
        }
    }

    /// The registers of the kept state, if there is one that has some, and after them the wires; and what tells it from most others.
    pub fn kept(&self) -> Option<(&[u64], Ending)> {
        let ending = Ending {
            digest: self.digest,
            register: self.differs,
            value: *self.words.get(self.differs)?,
        };
        Some((&self.words, ending))
    }

    /// The cycle of the state to keep next: until then, a state that is not the kept one need not be taken in.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether a state is the kept one, as far as its digest tells.
    fn is_kept(&mut self, state: MachineState<'_>) -> bool {
        let (regs, wires) = self.words.split_at(state.regs.len());
        if state.digest != self.digest || state.regs.get(self.differs) != regs.get(self.differs) {
            return false;
        }
        let mut pairs = state.regs.iter().zip(regs);
        match pairs.position(|(now, kept)| now != kept) {
            Some(differs) => {
                self.differs = differs;
                false
            }
            None => state.wires == wires,
        }
    }
}

/// The blocks of memories that have words other than 0, by memory and number.
fn nonzero(memories: &[Memory]) -> impl Iterator<Item = ((usize, usize), &[u64])> {
    let memories = memories.iter().enumerate();
    let blocks = memories.flat_map(|(memory, words)| {
        let blocks = words.contents().chunks(BLOCK).enumerate();
        blocks.map(move |(number, block)| ((memory, number), block))
    });
    blocks.filter(|(_, block)| block.iter().any(|word| *word != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Mem;

    /// Feeds the states of a run, as registers and a memory, to the search. The memory's digest is its sum.
    fn first_loop(run: impl IntoIterator<Item = (u64, [u64; 2])>) -> Option<Loop> {
        let mut repetition = Repetition::default();
        (0..).zip(run).find_map(|(cycle, (reg, words))| {
            let digest = words.iter().sum();
            let mut memory = Memory::new(&Mem { width: 64, size: 2 }).expect("there is room");
            for (index, word) in (0..).zip(words) {
                memory.set(index, &word.into());
            }
            repetition.take(
                cycle,
                MachineState {
                    regs: &[7, reg],
                    wires: &[],
                    memories: &[memory],
                    digest,
                },
            )
        })
    }

    #[test]
    fn a_loop_is_proved_however_late_it_begins_and_however_long_it_is() {
        for begin in [0, 1, 5, 100] {
            for period in [1, 2, 3, 64, 100] {
                let run = (0..2000_u64).map(|cycle| {
                    let at = cycle.min(begin + cycle.saturating_sub(begin) % period);
                    (at, [0, at / 3])
                });
                let found = first_loop(run).expect("it repeats");
                assert_eq!(found.period, period, "from {begin}");
                assert!(found.cycle >= begin, "{found:?} from {begin}");
                let latest = 2 * begin + 6 * period + 4;
                assert!(found.cycle + period <= latest, "{found:?} from {begin}");
            }
        }
    }

    #[test]
    fn what_differs_in_one_word_is_no_loop() {
        assert_eq!(first_loop((0..3000).map(|cycle| (cycle, [0, 0]))), None);
        assert_eq!(first_loop((0..3000).map(|cycle| (0, [0, cycle]))), None);
        // Different memories of one digest.
        let swaps = (0..3000_u64).map(|cycle| (0, [cycle, 3000 - cycle]));
        assert_eq!(first_loop(swaps), None);
    }

    #[test]
    fn a_digest_that_misled_does_not_for_ever() {
        let run = (0..3000_u64).map(|cycle| (0, [cycle.min(50), 50 - cycle.min(50)]));
        let found = first_loop(run).expect("it repeats");
        assert_eq!((found.period, found.cycle >= 50), (1, true));
    }

    #[test]
    fn wires_on_loops_are_state() {
        let mut repetition = Repetition::default();
        for cycle in 0..100 {
            let state = MachineState {
                regs: &[1],
                wires: &[cycle],
                memories: &[],
                digest: 0,
            };
            assert_eq!(repetition.take(cycle, state), None);
        }
    }
}
