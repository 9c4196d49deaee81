//! How long the arms of each `par` waited for its slowest one.
//!
//! An arm waits from the cycle in which it is active no more until no arm is. Such cycles are no overhead as long as
//! the slowest arm works. An arm of a static `par` ends when the schedule says, also where an `if` in it takes its shorter
//! branch. Owns only the counting; [`Activations`](crate::activations::Activations) tells what ends.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Component, ControlId, ControlKind, Id, Metadata};
use petal_reconstruct::{Instance, InstanceId};
use serde::{Deserialize, Serialize};

use crate::elements::{Element, ElementId, ElementKind};

/// What the arms of a `par` waited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Wait {
    /// Cycles in which at least one arm had ended, and another one had not.
    pub cycles: u64,
    /// The same cycles, by the arm that ended last; of several that ended together, the first in the source.
    pub slowest: BTreeMap<ControlId, u64>,
}

impl Wait {
    /// Adds what was waited for an arm.
    fn add(&mut self, arm: ControlId, cycles: u64) {
        if cycles > 0 {
            self.cycles += cycles;
            *self.slowest.entry(arm).or_default() += cycles;
        }
    }

    /// Adds what was waited in another instance.
    pub fn merge(&mut self, other: &Self) {
        for (&arm, &cycles) in &other.slowest {
            self.add(arm, cycles);
        }
    }
}

/// The `par`s of a run so far.
#[derive(Debug)]
pub struct Waits<'a> {
    metadata: &'a Metadata,
    /// By the numbers of the elements.
    roles: Vec<Role>,
    ids: HashMap<(InstanceId, ControlId), usize>,
    pars: Vec<Par>,
    /// The `par`s that end in this cycle, each with the cycles in which it was active.
    over: Vec<(usize, u64)>,
}

/// What an element is to `par`s: one itself, an arm of one, both or neither.
#[derive(Debug, Clone, Copy)]
struct Role {
    par: Option<usize>,
    arm_of: Option<(usize, ControlId)>,
}

/// A `par` of an instance.
#[derive(Debug)]
struct Par {
    instance: InstanceId,
    node: ControlId,
    timing: Timing,
    /// Since it became active: the cycle from which on each arm was not active any more.
    ends: Vec<(ControlId, u64)>,
    wait: Wait,
}

/// When the arms of a `par` end.
#[derive(Debug, Clone, Copy)]
pub enum Timing {
    /// When they have; it is seen.
    Dynamic,
    /// The compiler fixed it: the latency of the `par`, of its shortest and of its longest arm, and which that is.
    Static(u64, u64, u64, ControlId),
}

impl Timing {
    /// Of a `par` of a component.
    pub fn of(component: &Component, par: ControlId) -> Self {
        let arms = (0..component.control.len()).map(ControlId::from_index);
        let arms = arms.filter(|&arm| component.node(arm).parent == Some(par));
        let latencies = arms.map(|arm| Some((component.node(arm).latency?, arm)));
        let latencies: Option<Vec<(u64, ControlId)>> = latencies.collect();
        let (Some(latency), Some(arms)) = (component.node(par).latency, latencies) else {
            return Self::Dynamic;
        };
        let shortest = arms.iter().map(|&(latency, _)| latency).min();
        let longest = arms
            .iter()
            .copied()
            .rev()
            .max_by_key(|&(latency, _)| latency);
        match shortest.zip(longest) {
            Some((shortest, (longest, arm))) if latency > 0 => {
                Self::Static(latency, shortest, longest, arm)
            }
            _ => Self::Dynamic,
        }
    }
}

impl<'a> Waits<'a> {
    /// Counts in a run of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            roles: Vec::new(),
            ids: HashMap::new(),
            pars: Vec::new(),
            over: Vec::new(),
        }
    }

    /// Takes in the next element.
    pub fn learn(&mut self, element: Element, instances: &[Instance]) {
        let component = instances[element.instance.index()].component;
        let component = self.metadata.component(component);
        // The statement that the element stands for.
        let statement = match element.kind {
            ElementKind::Control(node) => Some(node),
            ElementKind::Group(run) => component
                .run(run)
                .control
                .filter(|&node| component.node(node).kind.is_enable()),
            ElementKind::Cell | ElementKind::Primitive(..) => None,
        };
        let is_par = |node: ControlId| component.node(node).kind.dynamic() == ControlKind::Par;
        let par = statement.filter(|&node| is_par(node));
        let arm_of = statement.and_then(|arm| {
            let par = component.node(arm).parent.filter(|&node| is_par(node))?;
            Some((par, arm))
        });
        let mut number = |par: ControlId| {
            *self.ids.entry((element.instance, par)).or_insert_with(|| {
                self.pars.push(Par {
                    instance: element.instance,
                    node: par,
                    timing: Timing::of(component, par),
                    ends: Vec::new(),
                    wait: Wait::default(),
                });
                self.pars.len() - 1
            })
        };
        self.roles.push(Role {
            par: par.map(&mut number),
            arm_of: arm_of.map(|(par, arm)| (number(par), arm)),
        });
    }

    /// Whether an element is a `par` or an arm of one.
    pub fn has_role(&self, id: ElementId) -> bool {
        let Role { par, arm_of } = self.roles[id];
        par.is_some() || arm_of.is_some()
    }

    /// An element that was active for so many cycles is not any more, from cycle `now` on.
    #[inline]
    pub fn end(&mut self, id: ElementId, cycles: u64, now: u64) {
        let Role { par, arm_of } = self.roles[id];
        if let Some((par, arm)) = arm_of {
            let ends = &mut self.pars[par].ends;
            match ends.iter_mut().find(|(of, _)| *of == arm) {
                Some((_, end)) => *end = now,
                None => ends.push((arm, now)),
            }
        }
        if let Some(par) = par {
            // Its arms end in the same cycle, and may come later.
            self.over.push((par, cycles));
        }
    }

    /// What ended in this cycle, or a later one, did so many cycles later.
    pub fn later(&mut self, since: u64, cycles: u64) {
        let ends = self.pars.iter_mut().flat_map(|par| &mut par.ends);
        for (_, end) in ends.filter(|(_, end)| *end >= since) {
            *end += cycles;
        }
    }

    /// All that ends in this cycle has, so often.
    #[inline]
    pub fn settle(&mut self, times: u64) {
        if !self.over.is_empty() {
            self.settle_all(times);
        }
    }

    fn settle_all(&mut self, times: u64) {
        for (par, cycles) in self.over.drain(..) {
            let Par {
                timing, ends, wait, ..
            } = &mut self.pars[par];
            match *timing {
                Timing::Static(latency, shortest, longest, arm) => {
                    let waited = |cycles: u64| cycles.min(longest).saturating_sub(shortest);
                    let whole = waited(latency) * (cycles / latency);
                    wait.add(arm, (whole + waited(cycles % latency)) * times);
                }
                Timing::Dynamic => {
                    let first = ends.iter().map(|&(_, end)| end).min();
                    // Of arms that end together, the first one.
                    let last = ends.iter().max_by_key(|&&(arm, end)| (end, Reverse(arm)));
                    if let (Some(first), Some(&(arm, last))) = (first, last) {
                        wait.add(arm, (last - first) * times);
                    }
                }
            }
            ends.clear();
        }
    }

    /// Takes these waits for all. `None` if there is no such `par`.
    pub fn restore(&mut self, waits: &[(InstanceId, ControlId, Wait)]) -> Option<()> {
        for par in &mut self.pars {
            par.wait = Wait::default();
        }
        for (instance, node, wait) in waits {
            let &par = self.ids.get(&(*instance, *node))?;
            self.pars[par].wait.clone_from(wait);
        }
        Some(())
    }

    /// What the arms of each `par` waited in each instance.
    pub fn all(&self) -> impl Iterator<Item = (InstanceId, ControlId, &Wait)> {
        let pars = self.pars.iter();
        pars.map(|par| (par.instance, par.node, &par.wait))
    }
}

#[cfg(test)]
mod tests {
    use petal_metadata::ComponentId;

    use super::*;

    /// Feeds activations of `par { first; second; }`: in which cycle each arm ended.
    fn wait(latencies: Option<[u64; 2]>, activations: &[(u64, &[(usize, u64)])]) -> Wait {
        let latency = |latency: Option<u64>| latency.map_or("null".to_owned(), |it| it.to_string());
        let [first, second] = [0, 1].map(|at| latency(latencies.map(|both| both[at])));
        let whole = latency(latencies.map(|[first, second]| first.max(second)));
        let metadata = format!(
            r#"{{ "version": 4, "petal": "", "calyx": "", "fingerprint": "", "verified": true,
                 "pipeline": [], "files": [], "prefix": "petal_", "scope": ["main"], "main": 0,
                 "components": [{{ "name": "main", "cells": [], "groups": [], "calls": [], "runs": [],
                   "control": [
                     {{ "kind": "par", "origin": "source", "thread": 0, "bindings": [], "latency": {whole} }},
                     {{ "kind": "seq", "origin": "source", "thread": 0, "bindings": [], "parent": 0, "latency": {first} }},
                     {{ "kind": "seq", "origin": "source", "thread": 0, "bindings": [], "parent": 0, "latency": {second} }}],
                   "threads": [{{}}], "compiled": [], "registers": [] }}] }}"#
        );
        let metadata: Metadata = serde_json::from_str(&metadata).unwrap();
        let instances = [Instance {
            component: ComponentId::from_index(0),
            parent: None,
        }];
        let mut waits = Waits::new(&metadata);
        for node in 0..3 {
            let element = Element {
                instance: InstanceId::from_index(0),
                kind: ElementKind::Control(ControlId::from_index(node)),
            };
            waits.learn(element, &instances);
        }
        let mut start = 0;
        for &(cycles, arms) in activations {
            for &(arm, end) in arms {
                waits.end(arm, end, start + end);
                if end < cycles {
                    waits.settle(1);
                }
            }
            start += cycles;
            waits.end(0, cycles, start);
            waits.settle(1);
        }
        let all: Vec<Wait> = waits.all().map(|(_, _, wait)| wait.clone()).collect();
        assert_eq!(all.len(), 1);
        all[0].clone()
    }

    fn check(found: &Wait, slowest: &[(usize, u64)]) {
        let slowest = slowest
            .iter()
            .map(|&(arm, cycles)| (ControlId::from_index(arm), cycles));
        assert_eq!(found.slowest, slowest.collect());
        assert_eq!(found.cycles, found.slowest.values().sum::<u64>());
    }

    #[test]
    fn the_slowest_arm_is_the_one_that_ended_last() {
        // The second arm is 3 cycles slower, the first one 1, both end together; the other one does not run.
        let activations: [(u64, &[_]); 4] = [
            (6, &[(1, 2), (2, 5)]),
            (4, &[(2, 3), (1, 4)]),
            (4, &[(1, 4), (2, 4)]),
            (9, &[(1, 3)]),
        ];
        check(&wait(None, &activations), &[(1, 1), (2, 3)]);
    }

    #[test]
    fn static_arms_wait_in_each_activation_also_in_one_that_is_cut_short() {
        // 3 activations of 4 cycles, and 3 cycles of another one.
        check(&wait(Some([1, 4]), &[(15, &[(1, 1)])]), &[(2, 3 * 3 + 2)]);
        check(&wait(Some([4, 4]), &[(15, &[])]), &[]);
    }
}
