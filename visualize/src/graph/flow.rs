//! How often control went from each statement to the next.
//!
//! How often statements ran is counted elsewhere. The rest follows, since control that enters a statement leaves it again:
//! an `if` without `else` goes on past its branch whenever that does not run. A number that does not follow, or that
//! contradicts another, is left out. Owns nothing of how the graph looks.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{Component, ControlId, ControlKind, Id as _};
use petal_reconstruct::InstanceId;
use petgraph::graph::{DiGraph, NodeIndex};

use petal_analysis::control::Counts;

use super::step::{Edge, Statement, Step, StepKind, Way};
use petal_analysis::critical::{CriticalCycles, Site};

/// Statements with what is inside of them, and how often control went where.
pub(super) struct Flow<'a> {
    pub counts: Counts<InstanceId>,
    pub critical: &'a CriticalCycles,
    /// The statements that were active when the run ended early.
    pub unfinished: Option<BTreeSet<Site>>,
    pub graph: DiGraph<Step, Edge>,
    pub statements: BTreeMap<Site, Statement>,
}

/// One component cell, whose control is followed.
pub(super) struct Inside<'a> {
    pub instance: InstanceId,
    pub component: &'a Component,
    /// What is directly in each statement.
    pub children: Vec<Vec<ControlId>>,
    /// How often each statement began, where that is counted.
    pub began: Vec<Option<u64>>,
}

/// A way out of a statement, and how often it was taken, if that is certain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exit {
    pub step: NodeIndex,
    pub way: Way,
    pub taken: Option<u64>,
}

impl<'a> Inside<'a> {
    pub fn new(instance: InstanceId, component: &'a Component, flow: &Flow<'_>) -> Self {
        let mut children = vec![Vec::new(); component.control.len()];
        for (at, node) in component.control.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent.index()].push(ControlId::from_index(at));
            }
        }
        let statements = (0..component.control.len()).map(ControlId::from_index);
        let began = statements.map(|statement| flow.counts.times(instance, statement));
        Self {
            instance,
            component,
            children,
            began: began.collect(),
        }
    }
}

impl Flow<'_> {
    /// Adds a statement that is entered from these exits, `times` in all, with all in it. Returns the ways out.
    pub fn walk(
        &mut self,
        inside: &Inside<'_>,
        statement: ControlId,
        from: &[Exit],
        times: Option<u64>,
        make: &dyn Fn(ControlId) -> Step,
    ) -> Vec<Exit> {
        let site = Site {
            instance: inside.instance,
            statement: Some(statement),
        };
        let mut step = make(statement);
        step.times = times;
        let step = self.graph.add_node(step);
        self.link(from, step, times);
        let children = inside.children[statement.index()].clone();
        let site_of = |&child: &ControlId| Site {
            statement: Some(child),
            ..site
        };
        self.statements.insert(
            site,
            Statement {
                step,
                join: None,
                inside: children.iter().map(site_of).collect(),
                entered: times,
                again: None,
            },
        );
        let left = self.left(site, times);
        let out = |way: Way, taken: Option<u64>| vec![Exit { step, way, taken }];
        let kind = inside.component.node(statement).kind.dynamic();
        match (kind, &children[..]) {
            (_, []) => out(Way::Next, left),
            (ControlKind::If, [then, rest @ ..]) => {
                let other = rest.first();
                let [a, b] = [Some(then), other].map(|branch| inside.began[branch?.index()]);
                let rest_of = |one: Option<u64>| times?.checked_sub(one?);
                let (a, b) = match other {
                    // What has only begun may go either way.
                    _ if self.unfinished.is_some() => (a, b),
                    Some(_) => (a.or(rest_of(b)), b.or(rest_of(a))),
                    None => (a, None),
                };
                let mut exits = self.walk(inside, *then, &out(Way::Then, a), a, make);
                match other {
                    Some(other) => {
                        exits.extend(self.walk(inside, *other, &out(Way::Else, b), b, make));
                    }
                    None => {
                        let begun = self.unfinished.as_ref();
                        let begun = begun.is_some_and(|active| active.contains(&site));
                        exits.extend(out(Way::Else, rest_of(a).filter(|_| !begun)));
                    }
                }
                exits
            }
            (kind, [body, ..]) if kind.is_loop() => {
                self.body(inside, (site, step), *body, make);
                out(Way::Next, left)
            }
            (ControlKind::Par, arms) => {
                let join = self.graph[step].join();
                let join = self.graph.add_node(join);
                for &arm in arms {
                    let times = self.times(inside, arm, times);
                    let exits = self.walk(inside, arm, &out(Way::Arm, times), times, make);
                    let ended = exits.iter().map(|exit| exit.taken).sum::<Option<u64>>();
                    self.link(&exits, join, ended);
                }
                if let Some(of) = self.statements.get_mut(&site) {
                    of.join = Some(join);
                }
                vec![Exit {
                    step: join,
                    way: Way::Next,
                    taken: left,
                }]
            }
            (_, steps) => {
                let mut exits = out(Way::Next, times);
                for &next in steps {
                    let times = self.times(inside, next, times);
                    exits = self.walk(inside, next, &exits, times, make);
                }
                exits
            }
        }
    }

    /// Adds the body of a loop, with the way back.
    fn body(
        &mut self,
        inside: &Inside<'_>,
        (site, step): (Site, NodeIndex),
        body: ControlId,
        make: &dyn Fn(ControlId) -> Step,
    ) {
        let began = inside.began[body.index()];
        let counted = || {
            let of = &self.counts;
            of.iterations(inside.component, inside.instance, site.statement?)
        };
        // The last one may not have begun yet.
        let iterations = began.or_else(|| counted().filter(|_| self.unfinished.is_none()));
        let way = Way::Body;
        let from = [Exit {
            step,
            way,
            taken: iterations,
        }];
        let mut exits = self.walk(inside, body, &from, iterations, make);
        for exit in &mut exits {
            exit.way = Way::Again;
        }
        let again = match self.unfinished {
            Some(_) => exits.iter().map(|exit| exit.taken).sum(),
            None => iterations,
        };
        self.link(&exits, step, again);
        if let Some(of) = self.statements.get_mut(&site) {
            of.again = again;
        }
    }

    /// How often a part of a statement began that runs exactly once whenever the statement does.
    fn times(&self, inside: &Inside<'_>, part: ControlId, whole: Option<u64>) -> Option<u64> {
        let counted = inside.began[part.index()];
        match self.unfinished {
            Some(_) => counted,
            None => counted.or(whole),
        }
    }

    /// How often a statement ended.
    fn left(&self, site: Site, times: Option<u64>) -> Option<u64> {
        let unfinished = self.unfinished.as_ref();
        let is_active = unfinished.is_some_and(|active| active.contains(&site));
        times?.checked_sub(u64::from(is_active))
    }

    /// Adds edges to a step that was entered so many times.
    pub fn link(&mut self, from: &[Exit], to: NodeIndex, entered: Option<u64>) {
        let known = from.iter().filter_map(|exit| exit.taken).sum::<u64>();
        let unknown = from.iter().filter(|exit| exit.taken.is_none()).count();
        let rest = entered.and_then(|entered| entered.checked_sub(known));
        let agrees = match unknown {
            0 => rest == Some(0) || entered.is_none(),
            _ => rest.is_some() || entered.is_none(),
        };
        for exit in from {
            let taken = match exit.taken {
                _ if !agrees => None,
                Some(taken) => Some(taken),
                None => rest.filter(|_| unknown == 1),
            };
            let on_path = |step: NodeIndex| {
                let through = self.critical.through.get(&self.graph[step].site);
                through.is_some_and(|&cycles| cycles > 0)
            };
            let edge = Edge {
                way: exit.way,
                taken,
                critical: taken != Some(0) && on_path(exit.step) && on_path(to),
            };
            self.graph.add_edge(exit.step, to, edge);
        }
    }
}

impl Step {
    /// The step in which the arms of this `par` come together.
    fn join(&self) -> Self {
        Self {
            kind: StepKind::Join,
            cycles: 0,
            critical: 0,
            ..self.clone()
        }
    }
}
