//! What pieces come to: whether that is the same, or with which values it is not.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;

use super::run::{Machine, Run, Unfollowed};
use super::terms::{Term, Terms, Values};
use super::{Pair, Verdict};
use crate::rewrites::is_memory;

/// So many values are tried where terms are not the same.
const TRIES: u64 = 32;

/// A port of a cell or what it holds, if the name of the port is empty; `None` for a condition.
type Name = Option<(ir::Id, ir::Id)>;

/// What cells hold and give at the end, or what a condition gives.
#[derive(Default)]
pub(super) struct Ends {
    terms: BTreeMap<Name, Term>,
    /// Why some statement is not followed, if one is.
    unfollowed: Option<Unfollowed>,
}

impl Ends {
    pub(super) fn of_condition(term: Term) -> Self {
        Self {
            terms: BTreeMap::from([(None, term)]),
            unfollowed: None,
        }
    }
}

impl<'a> Pair<'a> {
    /// What the cells hold and give that both components have.
    pub(super) fn ends(&self, mut run: Run<'_>, which: usize) -> Ends {
        let mut terms = BTreeMap::new();
        for cell in self.both[which].cells.iter() {
            let name = cell.borrow().name();
            if self.apart.contains(&name) || !run.cells.contains_key(&name) {
                continue;
            }
            let state = run.state(cell);
            terms.extend(state.held.map(|held| (Some((name, "".into())), held)));
            let given = state.given.into_iter();
            terms.extend(given.map(|(port, given)| (Some((name, port)), given)));
        }
        Ends {
            terms,
            unfollowed: run.unfollowed,
        }
    }

    /// Compares what both come to.
    pub(super) fn verdict(
        &self,
        run: impl Fn(&Machine<'a>, &mut Terms, usize) -> Result<Ends, Unfollowed>,
    ) -> Verdict {
        if let Some(cell) = self.other {
            return Verdict::Open(format!("`{cell}` is another cell"));
        }
        let mut terms = Terms::default();
        let mut both = Vec::new();
        for (which, machine) in self.machines.iter().enumerate() {
            match run(machine, &mut terms, which) {
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
        names.sort_by_key(|name| name.map(|(cell, port)| (cell.to_string(), port.to_string())));
        names.dedup();
        let mut open = None;
        for name in names {
            let ends = [0, 1].map(|which| both[which].terms.get(&name).copied());
            let ends = ends.map(|end| match (end, name) {
                (Some(end), _) => Some(end),
                // It was not touched there.
                (None, Some(name)) => self.untouched(name, &mut terms),
                (None, None) => None,
            });
            let [Some(one), Some(other)] = ends else {
                return Verdict::Open("one of them is not followed".to_owned());
            };
            if one == other {
                continue;
            }
            let difference = self.difference(&terms, name, [one, other]);
            let unneeded = name.filter(|(cell, _)| self.leaves_others && !self.is_memory(*cell));
            match (difference, unneeded) {
                (Some(how), None) => return Verdict::Differs(how),
                (Some(_), Some((cell, _))) => {
                    open = Some(format!("`{cell}` is left with something else"));
                    continue;
                }
                (None, _) => {}
            }
            open = Some(match self.one_sided(&terms, [one, other]) {
                Some(cell) => format!("it needs what `{cell}` holds, which only one program has"),
                None => {
                    let mut why = both.iter().filter_map(|of| of.unfollowed.clone());
                    why.next().unwrap_or_else(|| {
                        "nothing shows that they are the same, nor that they differ".to_owned()
                    })
                }
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
    fn difference(
        &self,
        terms: &Terms,
        name: Option<(ir::Id, ir::Id)>,
        [one, other]: [Term; 2],
    ) -> Option<String> {
        if self.one_sided(terms, [one, other]).is_some() {
            return None;
        }
        let starts = starts(terms, [one, other]);
        (0..TRIES).find_map(|seed| {
            let mut values = Values::new(terms, seed);
            let [before, after] = values.differ(one, other)?;
            let what = match name {
                Some((cell, port)) if port == "" => format!("`{cell}`"),
                Some((cell, port)) => format!("`{cell}.{port}`"),
                None => "it".to_owned(),
            };
            let given: Vec<String> = starts
                .iter()
                .filter(|(_, port)| !matches!(port.as_ref(), "words" | "state"))
                .map(|(cell, port)| {
                    let width = self.width(*cell, *port);
                    format!("`{cell}.{port}` {}", values.start(*cell, *port, width))
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
fn starts(terms: &Terms, both: [Term; 2]) -> Vec<(ir::Id, ir::Id)> {
    let all: BTreeSet<_> = both
        .into_iter()
        .flat_map(|term| terms.starts(term))
        .collect();
    let mut all: Vec<(ir::Id, ir::Id)> = all.into_iter().collect();
    all.sort_by(|one, other| one.0.as_ref().cmp(other.0.as_ref()));
    all
}
