//! Words that the iteration before has read: a register has them.
//!
//! A loop that goes over a memory may read at an address what its iteration before has read at another one. Then the register that got it there
//! still has it, and one memory access less is needed. Before the loop, words are read that the first iteration finds so. That the words
//! are the same is shown by running the loop with unknown values; owns what else has to hold.

use calyx_ir as ir;
use petal_metadata::ControlId;
use petal_program::dependences::{Cells, Effects, constant};
use petal_program::tree::View;

use super::body::Body;
use super::steps::{Kind, Step};
use super::{Loop, Scope};
use crate::proof::{self, Assignment};
use crate::rewrites::GROUP_PORTS;
use crate::rewrites::shifts::is_port;
use crate::rewrites::state::port_of;

/// What reads the words that the first iteration finds in registers.
#[derive(Clone)]
pub(super) struct Ahead<'a> {
    pub group: String,
    /// The steps of which it has a part, in their order.
    pub views: Vec<View<'a>>,
    /// For each word: what reads it, and what copies it.
    words: Vec<[Vec<Assignment>; 2]>,
    /// The registers that get a word, and those that they have it from.
    pub registers: Vec<[ir::Id; 2]>,
}

impl Ahead<'_> {
    /// All that it assigns.
    pub fn assignments(&self) -> Vec<Assignment> {
        self.words.iter().flatten().flatten().cloned().collect()
    }

    /// The group, as text.
    pub fn text(&self, indent: &str) -> String {
        let cycles = self.words.len() as u64 + 1;
        let mut body = Body::new(&self.group, cycles, indent);
        for (at, word) in (0..).zip(&self.words) {
            for (slot, part) in (at..).zip(word) {
                for to in part {
                    body.line(to.clone(), (slot, slot + 1));
                }
            }
        }
        body.end()
    }
}

/// Two steps that read a word of a memory and copy it into a register.
#[derive(Clone, Copy)]
struct Word {
    /// The first of the two.
    at: usize,
    memory: ir::Id,
    register: ir::Id,
}

impl Scope<'_> {
    /// The loop in which registers have words that the iteration before has read; `None` if there are none.
    pub(super) fn with_reuse<'a>(&self, of: &Loop<'a>) -> Option<Loop<'a>> {
        let words: Vec<Word> = (0..of.steps.len()).filter_map(|at| of.word(at)).collect();
        let views: Vec<_> = of.steps.iter().map(|step| (step.id, step.view)).collect();
        let pairs = self.same_words(of, &words, &views)?;
        let (taken, kept): (Vec<Word>, Vec<Word>) = pairs.into_iter().unzip();
        let registers: Cells = kept.iter().map(|word| word.register).collect();
        let is_apart = registers.len() == kept.len()
            && taken
                .iter()
                .all(|word| of.steps[word.at].effects.reads.is_disjoint(&registers));
        (is_apart && !taken.is_empty()).then_some(())?;

        let mut reused = of.clone();
        let mut ahead = Ahead {
            group: self.free_name(&format!("{}_first", of.name()?), GROUP_PORTS),
            views: taken.iter().map(|word| of.steps[word.at].view).collect(),
            words: Vec::new(),
            registers: Vec::new(),
        };
        for (word, from) in taken.iter().zip(&kept) {
            let source = self.component.find_cell(from.register)?;
            let (read, copy) = (&of.steps[word.at], &mut reused.steps[word.at + 1]);
            let mut first = ir::Rewriter::default();
            for port in ["in", "write_en"] {
                let to = ir::Canonical::new(word.register, port.into());
                first.port_map.insert(to, source.borrow().get(port));
            }
            let mut copies = copy.assignments.clone();
            for to in &mut copies {
                first.rewrite_assign(to);
            }
            ahead.words.push([read.assignments.clone(), copies]);
            ahead.registers.push([word.register, from.register]);
            let own = copy.assignments.iter_mut();
            for to in own.filter(|to| is_port(&to.dst, word.register, "in")) {
                to.src = source.borrow().get("out");
            }
            copy.effects = Effects {
                reads: Cells::from([from.register]),
                ..copy.effects.clone()
            };
            copy.comments.clone_from(&read.comments);
        }
        let mut at = 0;
        reused.steps.retain(|_| {
            at += 1;
            taken.iter().all(|word| word.at + 1 != at)
        });
        let own: Vec<Assignment> = ahead.assignments();
        reused.ahead = Some(ahead);
        (!self.is_circular([&own[..]])).then_some(reused)
    }

    /// The words of which a register of another one has the word since the iteration before, with that.
    fn same_words(
        &self,
        of: &Loop<'_>,
        words: &[Word],
        views: &[(ControlId, View<'_>)],
    ) -> Option<Vec<(Word, Word)>> {
        let several = |word: &&Word| {
            words
                .iter()
                .any(|of| of.memory == word.memory && of.at != word.at)
        };
        let words: Vec<Word> = words.iter().filter(several).copied().collect();
        (!words.is_empty()).then_some(())?;
        let mut groups = views.to_vec();
        groups.dedup_by_key(|(id, _)| *id);
        let steps: Vec<_> = groups.iter().map(|(_, view)| *view).collect();
        let group_of = |word: &Word| {
            groups
                .iter()
                .position(|(id, _)| *id == of.steps[word.at].id)
        };
        let registers: Vec<ir::Id> = words.iter().map(|word| word.register).collect();
        let mut pairs = Vec::new();
        for word in &words {
            let same = proof::same_before(
                self.component,
                &steps,
                group_of(word)?,
                word.register,
                &registers,
            );
            let mut later = words.iter().filter(|from| same.contains(&from.register));
            let from = later.find(|from| of.may_take(word, from));
            pairs.extend(from.map(|from| (*word, *from)));
        }
        Some(pairs)
    }
}

impl Loop<'_> {
    /// What a step begins to read and to copy, if it does.
    fn word(&self, at: usize) -> Option<Word> {
        let (read, copy) = (&self.steps[at], self.steps.get(at + 1)?);
        let is_pair = read.kind == Kind::Read && copy.kind == Kind::Copy && read.id == copy.id;
        let word = copy.assignments.iter().find_map(|to| {
            let (register, port) = port_of(&to.dst)?;
            let (memory, _) = port_of(&to.src).filter(|_| port == "in")?;
            Some((memory, register))
        });
        let (memory, register) = word.filter(|_| is_pair)?;
        Some(Word {
            at,
            memory,
            register,
        })
    }

    /// Whether a register may have a word for another one from the iteration before, and before the first one.
    fn may_take(&self, word: &Word, from: &Word) -> bool {
        let memory = word.memory;
        let steps = &self.steps;
        let reads_only = |step: &Step<'_>| {
            let mut own = step.assignments.iter();
            let is_own = own
                .clone()
                .any(|to| port_of(&to.dst).is_some_and(|(cell, _)| cell == memory));
            is_own
                && own
                    .all(|to| !is_port(&to.dst, memory, "write_en") || constant(&to.src) == Some(0))
        };
        let uses = |step: &Step<'_>| step.effects.writes.contains(&memory);
        let looks = |step: &Step<'_>| step.effects.reads.contains(&memory);
        let users: Vec<usize> = (0..steps.len()).filter(|at| uses(&steps[*at])).collect();
        let next = users.iter().find(|at| **at > word.at);
        let (Some(first), Some(next)) = (users.first(), next) else {
            return false;
        };
        let read = &steps[word.at].effects.reads;
        let mut writers =
            (0..steps.len()).filter(|at| steps[*at].effects.writes.contains(&from.register));
        let own_writers = steps
            .iter()
            .filter(|step| step.effects.writes.contains(&word.register));
        from.memory == memory
            && from.at > word.at
            // Nothing else writes the registers, and nobody looks at the one too early.
            && (writers.next(), writers.next()) == (Some(from.at + 1), None)
            && own_writers.count() == 1
            && steps[..=from.at].iter().all(|step| !step.effects.reads.contains(&from.register))
            // The memory keeps its words, and what was read last is looked at after the same read.
            && users.iter().all(|at| reads_only(&steps[*at]))
            && !steps[..=*first].iter().any(looks)
            && !steps[word.at + 2..=*next].iter().any(looks)
            // The first iteration reads where it would before the loop.
            && steps[..word.at].iter().all(|step| {
                let mut writes = step.effects.writes.intersection(read);
                writes.next().is_none()
            })
    }
}
