//! What a search came to, as advice.

use std::ffi::OsStr;

use super::{Kept, Outcome, Search, total};
use crate::advice::{Advice, DataSet, Defect, Item, Tried, percent, saved};
use crate::change::{Change, Class};
use crate::hardware::{Hardware, HardwareChange};
use crate::patch::{hunks, patch};
use crate::proof::{Looked, Verdict, text};
use crate::variant::Variant;
use crate::workshop::{Failure, Ran, Workshop};

impl<W: Workshop> Search<'_, W> {
    /// The advice that the search came to.
    pub(crate) fn advice(
        mut self,
        design: &str,
        file: &OsStr,
        original: &Variant,
        before: &Ran,
        kept: Vec<Kept>,
    ) -> Result<Advice, Failure> {
        let with_states = |variant: &Variant, ran: &Ran| {
            let states = self.workshop.states(variant)?;
            Ok::<Hardware, Failure>(Hardware {
                states,
                ..ran.hardware.clone()
            })
        };
        let cycles = total(before);
        let hardware = with_states(original, before)?;
        let mut items = Vec::new();
        let mut last = (original.clone(), before.clone(), hardware.clone());
        let mut proved = (original.text().to_owned(), cycles);
        let mut only_proved = true;
        let mut proof = String::new();
        for (at, step) in kept.into_iter().enumerate() {
            let Kept {
                change,
                key,
                place,
                after,
                ran,
                cost: synthesized,
            } = step;
            let hardware = with_states(&after, &ran)?;
            let number = at + 1;
            let alone = self.alone.get(&key).cloned();
            let (from, to) = match &alone {
                Some((change, _)) => (original, &change.apply(original)),
                None => (&last.0, &after),
            };
            let diff = patch(file, from.text(), to.text());
            let hunks = hunks(from.text(), to.text());
            let class = change.class();
            let shown = self.shown(number, &change, [&last.0, &after])?;
            let (looked, shown) = shown.unzip();
            proof += &shown.unwrap_or_default();
            only_proved &= class == Class::Proved;
            if only_proved {
                proved = (after.text().to_owned(), total(&ran));
            }
            let on_top = saved(total(&last.1), total(&ran));
            let line = place.line;
            let how = place.front_end.as_deref().and_then(|line| change.how(line));
            let cost = HardwareChange::between(&last.2, &hardware);
            items.push(Item {
                number,
                kind: change.kind(),
                class,
                place: place.named(),
                line,
                front_end: place.front_end,
                what: change.what(),
                why: format!("{} {}", change.why(), change.premise()),
                how,
                alone: alone.map(|(_, saved)| saved),
                on_top,
                cycles: total(&ran),
                synthesized,
                percent: percent(on_top, cycles),
                cost: cost.text(),
                hardware: cost,
                proof: looked,
                patch: (!diff.is_empty()).then(|| format!("{number:02}-{}.patch", change.kind())),
                diff,
                hunks,
                arguments: change.arguments(),
            });
            last = (after, ran, hardware);
        }
        let (after, ran, hardware_with_all) = last;
        let data = self.workshop.data().into_iter().enumerate();
        let data = data.map(|(at, name)| DataSet {
            name,
            cycles: before.cycles[at],
            with_all: ran.cycles[at],
        });
        Ok(Advice {
            design: design.to_owned(),
            file: file.to_string_lossy().into_owned(),
            data: data.collect(),
            cycles,
            with_proved: proved.1,
            with_all: total(&ran),
            advice: items,
            not_advised: Vec::new(),
            tried: self.tried(),
            proved_patch: patch(file, original.text(), &proved.0),
            all_patch: patch(file, original.text(), after.text()),
            proof,
            text: after.text().to_owned(),
            arguments: after.passes().arguments(),
            defects: self.defects,
            interrupted: false,
            front: Vec::new(),
            synthesized: None,
            hardware,
            hardware_with_all,
        })
    }

    /// What is shown of a proved edit. One that makes a piece come to something else is a defect.
    fn shown(
        &mut self,
        number: usize,
        change: &Change,
        both: [&Variant; 2],
    ) -> Result<Option<(Looked, String)>, Failure> {
        let rewrite = match change {
            Change::Edit(rewrite) if change.class() == Class::Proved => rewrite,
            _ => return Ok(None),
        };
        let pieces = self.pieces(both, rewrite.kind)?;
        for piece in pieces.iter() {
            if let Verdict::Differs(how) = &piece.verdict {
                self.defects.push(Defect {
                    what: rewrite.what.clone(),
                    problem: format!("{} does not come to the same: {how}", piece.name),
                    text: both[1].text().to_owned(),
                });
            }
        }
        let text = text(number, &rewrite.what, &rewrite.premise, &pieces);
        Ok(Some((Looked::at(&pieces), text)))
    }

    /// What was tried.
    fn tried(&self) -> Tried {
        let count = |wanted| {
            let outcomes = self.outcomes.values();
            outcomes.filter(|outcome| **outcome == wanted).count()
        };
        Tried {
            changes: self.outcomes.len(),
            runs: self.runs(),
            without_effect: count(Outcome::WithoutEffect),
            failed: count(Outcome::Failed),
            different: count(Outcome::Different),
            // What was tried, and there was no time to try again on top of more, counts as tried.
            not_tried: self
                .not_tried
                .iter()
                .filter(|key| !self.outcomes.contains_key(*key))
                .count(),
        }
    }
}
