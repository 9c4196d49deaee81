//! What pieces come to: whether that is the same, or with which values it is not.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_program::tree::View;

use super::Verdict;
use super::pair::Pair;
use super::run::{Run, Unfollowed};
use super::terms::{Term, Terms, Values};
use crate::rewrites::is_memory;

/// So many values are tried where terms are not the same.
const TRIES: u64 = 32;

/// Loops and static groups that take longer are not followed.
const MOST_IN_LOOPS: u64 = 1 << 18;

/// A port of a cell or, if the name of the port is empty, what the cell holds.
pub(super) type Kept = (ir::Id, ir::Id);

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// What is read, by its place.
    Read(usize),
    Left(Kept),
}

impl Name {
    fn left(self) -> Option<Kept> {
        match self {
            Self::Read(_) => None,
            Self::Left(kept) => Some(kept),
        }
    }
}

/// What cells hold and give at the end, or what is read.
#[derive(Default)]
pub(super) struct Ends {
    terms: BTreeMap<Name, Term>,
    /// Why some statement is not followed, if one is.
    unfollowed: Option<Unfollowed>,
}

impl Ends {
    pub(super) fn of_read(read: Vec<Term>) -> Self {
        let read = read.into_iter().enumerate();
        Self {
            terms: read.map(|(at, term)| (Name::Read(at), term)).collect(),
            unfollowed: None,
        }
    }
}

impl Pair<'_> {
    /// What the cells hold and give that both components have.
    pub(super) fn ends(&self, mut run: Run<'_>, which: usize) -> Ends {
        let mut terms = BTreeMap::new();
        for cell in self.both[which].cells.iter() {
            let name = cell.borrow().name();
            if self.apart.contains(&name) || !run.cells.contains_key(&name) {
                continue;
            }
            let state = run.state(cell);
            terms.extend(state.held.map(|held| (Name::Left((name, "".into())), held)));
            let given = state.given.into_iter();
            terms.extend(given.map(|(port, given)| (Name::Left((name, port)), given)));
        }
        Ends {
            terms,
            unfollowed: run.unfollowed,
        }
    }

    /// Compares what both come to, of pieces that are these statements.
    pub(super) fn verdict(
        &self,
        inside: [&[View<'_>]; 2],
        come_to: impl Fn(Run<'_>, usize) -> Result<Ends, Unfollowed>,
    ) -> Verdict {
        let [before, after] = inside.map(|views| self.shows(views));
        if before != after {
            return Verdict::Open("it drives outputs of the component otherwise".to_owned());
        }
        let mut terms = Terms::default();
        let mut both = Vec::new();
        for (which, machine) in self.machines.iter().enumerate() {
            let mut run = machine.run(&mut terms);
            run.most = MOST_IN_LOOPS;
            match come_to(run, which) {
                Ok(ends) => both.push(ends),
                Err(why) => return Verdict::Open(why),
            }
        }
        let mut names: Vec<Name> = both
            .iter()
            .flat_map(|of| of.terms.keys())
            .copied()
            .collect();
        // What is told first is the same in each run.
        names.sort_by_key(|name| {
            let left = name.left();
            (
                left.map(|(cell, port)| (cell.to_string(), port.to_string())),
                *name,
            )
        });
        names.dedup();
        let mut others = Vec::new();
        for name in names {
            let ends = [0, 1].map(|which| both[which].terms.get(&name).copied());
            let ends = ends.map(|end| match (end, name) {
                (Some(end), _) => Some(end),
                // It was not touched there.
                (None, Name::Left(kept)) => self.untouched(kept, &mut terms),
                (None, Name::Read(_)) => None,
            });
            let [Some(one), Some(other)] = ends else {
                return Verdict::Open("one of them is not followed".to_owned());
            };
            if one != other {
                others.push((name, [one, other]));
            }
        }
        let names = others.iter().filter_map(|(name, _)| name.left()).collect();
        let left: Vec<(Name, Term)> = both
            .iter()
            .flat_map(|of| of.terms.iter().map(|(name, term)| (*name, *term)))
            .collect();
        let unneeded = self.unneeded(inside, &names, &left, &terms);
        others.retain(|(name, _)| !name.left().is_some_and(|kept| unneeded.contains(&kept)));
        let unfollowed = both.iter().find_map(|of| of.unfollowed.as_ref());
        self.judged(&terms, &others, unfollowed)
    }

    /// What is said of ends that are not the same terms.
    fn judged(
        &self,
        terms: &Terms,
        others: &[(Name, [Term; 2])],
        unfollowed: Option<&Unfollowed>,
    ) -> Verdict {
        let mut open = None;
        for (name, ends) in others {
            let difference = self.difference(terms, *name, *ends);
            let unneeded = name.left();
            let unneeded =
                unneeded.filter(|(cell, _)| self.leaves_others && !self.is_memory(*cell));
            match (difference, unneeded) {
                (Some(how), None) => return Verdict::Differs(how),
                (Some(_), Some((cell, _))) => {
                    open = Some(format!("`{cell}` is left with something else"));
                    continue;
                }
                (None, _) => {}
            }
            open = Some(match self.one_sided(terms, *ends) {
                Some(cell) => format!("it needs what `{cell}` holds, which only one program has"),
                None => unfollowed.cloned().unwrap_or_else(|| {
                    "nothing shows that they are the same, nor that they differ".to_owned()
                }),
            });
        }
        open.map_or(Verdict::Equal, Verdict::Open)
    }

    fn untouched(&self, (cell, port): (ir::Id, ir::Id), terms: &mut Terms) -> Option<Term> {
        let found = self.both[0].find_cell(cell)?;
        let state = self.machines[0].run(terms).start(&found);
        if port == "" {
            state.held
        } else {
            state.given.get(&port).copied()
        }
    }

    /// Values with which two terms differ, if none of them is of a cell that one of the components lacks.
    fn difference(&self, terms: &Terms, name: Name, [one, other]: [Term; 2]) -> Option<String> {
        if self.one_sided(terms, [one, other]).is_some() {
            return None;
        }
        let starts = starts(terms, [one, other]);
        (0..TRIES).find_map(|seed| {
            let mut values = Values::drawn_from(terms, seed);
            let [before, after] = values.differ(one, other)?;
            let what = match name {
                Name::Left((cell, port)) if port == "" => format!("`{cell}`"),
                Name::Left((cell, port)) => format!("`{cell}.{port}`"),
                Name::Read(_) => "it".to_owned(),
            };
            let given: Vec<String> = starts
                .iter()
                .filter(|(_, port)| !matches!(port.as_ref(), "words" | "state"))
                .filter_map(|(cell, port)| {
                    let width = self.width(*cell, *port);
                    let value = values.start(*cell, *port, width)?;
                    Some(format!("`{cell}.{port}` {value}"))
                })
                .collect();
            let given = if given.is_empty() {
                String::new()
            } else {
                format!(" with {}", given.join(", "))
            };
            Some(format!(
                "{what} is {before}, and {after} after the edit{given}"
            ))
        })
    }

    fn is_memory(&self, cell: ir::Id) -> bool {
        let cell = self.both[0].find_cell(cell);
        cell.is_some_and(|cell| is_memory(&cell.borrow()))
    }

    /// A cell that only one of the programs has, and that matters to these.
    fn one_sided(&self, terms: &Terms, both: [Term; 2]) -> Option<ir::Id> {
        let mut cells = starts(terms, both).into_iter().map(|(cell, _)| cell);
        cells.find(|cell| self.apart.contains(cell))
    }

    fn width(&self, cell: ir::Id, port: ir::Id) -> u64 {
        let of = self.both[0].find_cell(cell);
        let this = self.both[0].signature.clone();
        let of = of.unwrap_or(this);
        let port = of.borrow().find(port);
        port.map_or(0, |port| port.borrow().width)
    }
}

/// The cells and ports of which it matters to these terms what they give at first, by name.
pub(super) fn starts(terms: &Terms, both: [Term; 2]) -> Vec<(ir::Id, ir::Id)> {
    let all: BTreeSet<_> = both
        .into_iter()
        .flat_map(|term| terms.starts(term))
        .collect();
    let mut all: Vec<(ir::Id, ir::Id)> = all.into_iter().collect();
    all.sort_by(|one, other| one.0.as_ref().cmp(other.0.as_ref()));
    all
}
