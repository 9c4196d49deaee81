//! The search: what is tried, in which order, and what is kept.
//!
//! What is proved comes first, so that it stands without what is only checked. In each of the two, every change is tried alone;
//! those that save cycles are put together, the best first, and all steps of that are run at once, each with one change more.
//! A change that saves nothing on top of those before it is left out. Then the program that came out is profiled, and searched
//! again, until nothing more is found. What saved nothing is tried again when nothing else is left.

mod apart;
mod goal;
mod limit;
mod refused;
mod result;
mod shown;
mod trials;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use self::goal::Goal;
use self::limit::End;
pub use self::limit::Limit;
pub use self::trials::try_each;
use crate::advice::{Advice, Defect};
use crate::change::{Change, Class, Key};
use crate::proof::Piece;
use crate::rewrites::Observed;
use crate::variant::Variant;
use crate::workshop::{AdvisedStatement, Cost, Failure, Profile as _, Ran, Trial, Try, Workshop};

/// Where a change is in the file as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChangePlace {
    pub name: Option<String>,
    pub line: Option<u32>,
    pub front_end: Option<String>,
}

impl ChangePlace {
    /// What it is called, with its line.
    fn named(&self) -> Option<String> {
        let name = self.name.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{name}@L{line}"),
            None => name.clone(),
        })
    }
}

/// How many profiles are kept.
const MOST_PROFILES: usize = 2;

/// What a search may spend, and on what.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// How far it may go.
    pub limit: Limit,
    /// How many programs are tried at once.
    pub threads: usize,
    /// Whether to spend what is left on combinations.
    pub search: bool,
    /// Whether to search what is proved and nothing else.
    pub proved: bool,
    /// What the advice is to save.
    pub goal: Goal,
}

/// A change that is kept.
#[derive(Clone)]
pub(crate) struct Kept {
    pub change: Change,
    pub key: Key,
    pub place: ChangePlace,
    pub after: Variant,
    pub ran: Ran,
    /// What the program with it costs on a device, if each is synthesised.
    pub cost: Option<Cost>,
}

pub(crate) struct Search<'a, W: Workshop> {
    pub workshop: &'a W,
    pub original: &'a Variant,
    /// The same, with each cell apart if that comes first.
    pub base: Variant,
    pub end: End,
    pub threads: usize,
    pub runs: AtomicUsize,
    /// The latest profiles: the same program is looked at again, such as for another class of changes.
    pub profiles: RefCell<Vec<(Variant, Rc<W::Profile>)>>,
    /// Changes that were tried, by what came of them last.
    pub outcomes: HashMap<Key, Outcome>,
    /// Cycles that changes save alone, of the base.
    pub alone: HashMap<Key, (Change, u64)>,
    pub not_tried: HashSet<Key>,
    /// Changes that a rule calls proved, and of which nothing shows that what they change comes to the same: why not.
    pub unshown: HashMap<Key, String>,
    /// The pieces of programs before and after a change, by a digest of their texts.
    pub pieces: HashMap<u64, Rc<[Piece]>>,
    /// A program, and the changes of it that save nothing.
    pub fruitless: (Variant, HashSet<Key>),
    /// Proved changes that were none.
    pub defects: Vec<Defect>,
    /// Checked ones that leave something else in the memories, with what, those that could save most first.
    pub different: Vec<(Change, ChangePlace, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Saves,
    WithoutEffect,
    Failed,
    Different,
}

impl Outcome {
    /// What came of a change of a program that takes so many cycles.
    fn of(trial: &Trial, before: u64) -> Self {
        match trial {
            Trial::Ran(after) if total(after) < before => Self::Saves,
            Trial::Ran(_) | Trial::TooLong => Self::WithoutEffect,
            Trial::Failed(_) => Self::Failed,
            Trial::Differs(_) => Self::Different,
        }
    }
}

/// Searches for changes of `text`, the file `file` of the design `design`, that save cycles.
///
/// If the user wants no more, the result is what was found until then.
///
/// # Errors
/// When the program as it is does not run to its end.
pub fn advise<W: Workshop>(
    workshop: &W,
    design: &str,
    file: &OsStr,
    text: String,
    budget: Budget,
) -> Result<Advice, Failure> {
    let original = Variant::original(text);
    let before = workshop.as_it_is();
    let mut search = Search {
        workshop,
        original: &original,
        base: original.clone(),
        end: End::of(budget.limit),
        threads: budget.threads.max(1),
        runs: AtomicUsize::new(1),
        profiles: RefCell::default(),
        outcomes: HashMap::new(),
        alone: HashMap::new(),
        not_tried: HashSet::new(),
        unshown: HashMap::new(),
        pieces: HashMap::new(),
        fruitless: (original.clone(), HashSet::new()),
        defects: Vec::new(),
        different: Vec::new(),
    };
    let mut kept: Vec<Kept> = Vec::new();
    kept.extend(search.apart(&before)?);
    let classes = [Class::Proved, Class::Checked];
    for class in &classes[..if budget.proved { 1 } else { 2 }] {
        search.of_class(*class, &before, &mut kept)?;
        if *class == Class::Proved {
            search.apart_later(&before, &mut kept)?;
        }
        search.leave_alone(&mut kept, &before);
    }
    let (kept, synthesized) = search.weigh(budget.goal, &before, kept)?;
    let front = if budget.search {
        let mut steps = Vec::new();
        let mut known = vec![(Vec::new(), original.clone(), before.clone())];
        for step in &kept {
            steps.push((step.key.clone(), step.change.clone()));
            known.push((steps.clone(), step.after.clone(), step.ran.clone()));
        }
        search.front(file, &original, budget.proved, known)?
    } else {
        Vec::new()
    };
    let not_advised = {
        let last = kept.last();
        let (current, ran) = last.map_or((&original, &before), |last| (&last.after, &last.ran));
        search.not_advised(budget.proved, current, ran)?
    };
    let mut advice = search.advice(design, file, &original, &before, kept)?;
    advice.not_advised = not_advised;
    advice.front = front;
    advice.synthesized = synthesized;
    advice.interrupted = workshop.is_interrupted();
    Ok(advice)
}

pub(crate) fn total(ran: &Ran) -> u64 {
    ran.cycles.iter().sum()
}

impl<W: Workshop> Search<'_, W> {
    pub(crate) fn is_over(&self) -> bool {
        self.end.left(self.runs()) == 0 || self.workshop.is_interrupted()
    }

    /// How many programs were run.
    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// The profile of a program; `None` if the user wants no more.
    pub(crate) fn profile(&self, variant: &Variant) -> Result<Option<Rc<W::Profile>>, Failure> {
        let mut profiles = self.profiles.borrow_mut();
        let known = profiles.iter().find(|(of, _)| of == variant);
        if let Some((_, profile)) = known {
            return Ok(Some(Rc::clone(profile)));
        }
        let profile = match self.workshop.profile(variant) {
            Err(_) if self.workshop.is_interrupted() => return Ok(None),
            profile => Rc::new(profile?),
        };
        profiles.truncate(MOST_PROFILES - 1);
        profiles.insert(0, (variant.clone(), Rc::clone(&profile)));
        Ok(Some(profile))
    }

    /// Keeps a proved change that was none: what came of `after`, the program with it, is no slower run.
    pub(crate) fn check_proved(
        &mut self,
        change: &Change,
        after: impl FnOnce() -> String,
        trial: &Trial,
    ) {
        let problem = match trial {
            Trial::Ran(_) | Trial::TooLong => return,
            Trial::Differs(what) => format!("it leaves something else in its memories: {what}"),
            Trial::Failed(why) => why.clone(),
        };
        if change.class() == Class::Proved {
            self.defects.push(Defect {
                what: change.what(),
                problem,
                text: after(),
            });
        }
    }

    /// Whether a change was refused before, or changed what the program computes.
    pub(crate) fn is_hopeless(&self, key: &Key) -> bool {
        matches!(
            self.outcomes.get(key),
            Some(Outcome::Failed | Outcome::Different)
        )
    }

    /// Adds changes of a class to those that are kept, until nothing more is found.
    fn of_class(
        &mut self,
        class: Class,
        before: &Ran,
        kept: &mut Vec<Kept>,
    ) -> Result<(), Failure> {
        let mut again = true;
        loop {
            let (current, ran) = match kept.last() {
                Some(last) => (last.after.clone(), last.ran.clone()),
                None => (self.original.clone(), before.clone()),
            };
            let more = self.round(class, again, &current, &ran)?;
            if more.is_empty() && again {
                return Ok(());
            }
            again = more.is_empty();
            kept.extend(more);
        }
    }

    /// What is kept of one class of changes of a program; `again` tells whether to try once more what saved nothing before.
    fn round(
        &mut self,
        class: Class,
        again: bool,
        current: &Variant,
        before: &Ran,
    ) -> Result<Vec<Kept>, Failure> {
        if self.is_over() {
            return Ok(Vec::new());
        }
        let Some(profile) = self.profile(current)? else {
            return Ok(Vec::new());
        };
        let is_base = *current == self.base;
        if self.fruitless.0 != *current {
            self.fruitless = (current.clone(), HashSet::new());
        }
        let mut candidates = self.candidates(class, current, &profile)?;
        candidates.retain(|(key, ..)| {
            let saved_nothing = self.outcomes.get(key) == Some(&Outcome::WithoutEffect);
            let is_fruitless = self.fruitless.1.contains(key);
            !self.is_hopeless(key) && !is_fruitless && (again || !saved_nothing)
        });
        let best = total(before);
        // Where the search ends early, sets have been tried.
        let mut candidates: Vec<_> = candidates.into_iter().enumerate().collect();
        candidates.sort_by_key(|(_, (_, change, _))| !change.is_set());
        let tries: Vec<Try> = candidates
            .iter()
            .map(|(_, (_, change, _))| Try::with(change, current, best))
            .collect();
        // The other half is for what comes of them.
        let trials = self.try_all(&tries, best, self.end.half(self.runs()))?;
        let mut saving = Vec::new();
        for ((at, (key, change, place)), trial) in candidates.into_iter().zip(trials) {
            let Some(trial) = trial else {
                self.not_tried.insert(key);
                continue;
            };
            self.not_tried.remove(&key);
            let text = || change.apply(current).text().to_owned();
            self.check_proved(&change, text, &trial);
            let outcome = Outcome::of(&trial, best);
            if outcome == Outcome::WithoutEffect {
                self.fruitless.1.insert(key.clone());
            }
            let is_new = self.outcomes.insert(key.clone(), outcome) != Some(outcome);
            if let Trial::Differs(what) = &trial
                && is_new
                && change.class() == Class::Checked
            {
                self.different
                    .push((change.clone(), place.clone(), what.clone()));
            }
            if let (Trial::Ran(after), Outcome::Saves) = (trial, outcome) {
                let saved = best - total(&after);
                if is_base {
                    let known = (change.clone(), saved);
                    self.alone.insert(key.clone(), known);
                }
                saving.push((saved, at, key, change, place, after));
            }
        }
        // Between equals, what stays with the design comes first, in the order of the file.
        saving.sort_by_key(|(saved, at, _, change, ..)| {
            let is_compile = matches!(change, Change::Compile(_));
            (std::cmp::Reverse(*saved), is_compile, *at)
        });
        let mut saving = saving.into_iter();
        while let Some((_, _, key, change, place, ran)) = saving.next() {
            let after = change.apply(current);
            let Some(change) = self.kept_as(class, &key, change, [current, &after])? else {
                continue;
            };
            let mut order = vec![(key, change, place)];
            order.extend(saving.map(|(_, _, key, change, place, _)| (key, change, place)));
            let both = [(current, before), (&after, &ran)];
            return self.combine(class, both, profile.observed(), order);
        }
        Ok(Vec::new())
    }

    /// The changes of a class that there are of a program, with most to gain first.
    pub(crate) fn candidates(
        &self,
        class: Class,
        current: &Variant,
        profile: &W::Profile,
    ) -> Result<Vec<(Key, Change, ChangePlace)>, Failure> {
        let rewrites = self.workshop.rewrites(current, profile.observed())?;
        let mut candidates: Vec<(u64, Key, Change, ChangePlace)> = rewrites
            .into_iter()
            .map(|rewrite| {
                let AdvisedStatement {
                    name,
                    at,
                    front_end,
                } = profile.place(&rewrite);
                let place = ChangePlace {
                    name,
                    line: at.and_then(|at| current.original_line(at, self.original.text())),
                    front_end,
                };
                let potential = profile.potential(&rewrite);
                let (key, change) = self.edit(rewrite, current);
                (potential, key, change, place)
            })
            .filter(|(potential, _, change, _)| {
                // What is proved of a changed program may be what makes a checked change worth it.
                *potential > 0 && (change.class() == class || class == Class::Checked)
            })
            .collect();
        if class == Class::Checked {
            let used = current.passes();
            let pipelines = self.workshop.pipelines().into_iter();
            let other = pipelines.filter(|passes| {
                let repeats = |list: &[String], new: &[String]| {
                    new.iter().any(|new| {
                        list.iter()
                            .any(|known| known.split('=').next() == new.split('=').next())
                    })
                };
                !(repeats(&used.disabled, &passes.disabled)
                    || repeats(&used.options, &passes.options)
                    || used.passes.is_some() && passes.passes.is_some())
            });
            candidates.extend(other.map(|passes| {
                let change = Change::Compile(passes);
                let key = change.key(current);
                (u64::MAX, key, change, ChangePlace::default())
            }));
        }
        candidates.sort_by_key(|(potential, ..)| std::cmp::Reverse(*potential));
        let candidates = candidates.into_iter();
        Ok(candidates
            .map(|(_, key, change, place)| (key, change, place))
            .collect())
    }

    /// Puts changes together, as far as each saves cycles on top of those before it. The program with the first of them was run already, as was
    /// the one without any.
    fn combine(
        &mut self,
        class: Class,
        [(current, ran), (best_one, best_ran)]: [(&Variant, &Ran); 2],
        observed: &Observed,
        mut waiting: Vec<(Key, Change, ChangePlace)>,
    ) -> Result<Vec<Kept>, Failure> {
        loop {
            let mut variant = current.clone();
            let mut chain = Vec::new();
            for (key, change, place) in std::mem::take(&mut waiting) {
                // What was certain of the program before it need not be now: it is asked again.
                let Some(change) = self.again(&variant, &key, change, class, observed)? else {
                    continue;
                };
                let after = change.apply(&variant);
                let both = [&variant, &after];
                let Some(change) = self.kept_as(class, &key, change, both)? else {
                    continue;
                };
                variant = after;
                chain.push((key, change, place, variant.clone()));
                if self.workshop.is_interrupted() {
                    break;
                }
            }
            let mut best = total(ran);
            // With a step that saves nothing it may still be better in the end.
            let limit = best.saturating_mul(2);
            let tries = chain.iter();
            let tries = tries.map(|(_, change, _, after)| Try::of(change, after, limit));
            let tries: Vec<Try> = tries.collect();
            let known = tries.first().filter(|first| *first.variant() == *best_one);
            let known = known.map(|_| Some(Trial::Ran(best_ran.clone())));
            let rest = &tries[usize::from(known.is_some())..];
            let tried = self.try_all(rest, total(best_ran), self.end)?;
            let trials = known.into_iter().chain(tried);
            let mut kept: Vec<Kept> = Vec::new();
            // As many as were run without one that is to be left out.
            let mut good = None;
            let mut all_save = true;
            let mut steps = chain.into_iter().zip(trials);
            for ((key, change, place, after), trial) in steps.by_ref() {
                let ran = match trial {
                    Some(Trial::Ran(ran)) if total(&ran) < best => ran,
                    Some(Trial::Ran(_)) => {
                        all_save = false;
                        good.get_or_insert(kept.len());
                        continue;
                    }
                    Some(trial) => {
                        self.check_proved(&change, || after.text().to_owned(), &trial);
                        if matches!(trial, Trial::Differs(_)) {
                            self.outcomes.insert(key, Outcome::Different);
                        }
                        // What follows was run with this one, which is left out.
                        all_save = false;
                        good.get_or_insert(kept.len());
                        break;
                    }
                    None => {
                        self.not_tried.insert(key);
                        good.get_or_insert(kept.len());
                        break;
                    }
                };
                best = total(&ran);
                kept.push(Kept {
                    change,
                    key,
                    place,
                    after,
                    ran,
                    cost: None,
                });
            }
            if all_save {
                return Ok(kept);
            }
            if self.is_over() {
                kept.truncate(good.unwrap_or(kept.len()));
                return Ok(kept);
            }
            let again = kept.into_iter();
            waiting.extend(again.map(|step| (step.key, step.change, step.place)));
            waiting.extend(steps.map(|((key, change, place, _), _)| (key, change, place)));
        }
    }

    /// The same change of another variant, if it is still there and of the same class.
    pub(crate) fn again(
        &self,
        variant: &Variant,
        key: &Key,
        change: Change,
        class: Class,
        observed: &Observed,
    ) -> Result<Option<Change>, Failure> {
        if let Change::Compile(_) | Change::Apart = change {
            return Ok(Some(change));
        }
        let rewrites = self.workshop.rewrites(variant, observed)?.into_iter();
        let mut changes = rewrites.map(|rewrite| self.edit(rewrite, variant));
        let same = changes
            .find(|(of, change)| (change.class() == class || class == Class::Checked) && of == key);
        Ok(same.map(|(_, change)| change))
    }
}

#[cfg(test)]
mod tests;
