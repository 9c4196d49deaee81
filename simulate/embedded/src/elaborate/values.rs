//! Gives every port of an unfolded design its value, dependencies first.

use std::collections::HashMap;

use petal_reconstruct::Id as _;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Driver, Elaborator, InstanceId, Port, PortId, UnitId};
use crate::exclusion;
use crate::graph::{Check, NodeId, Op};
use crate::primitives::Inputs;
use crate::program::{Comparison, Guard, Operand, Target};

impl<'a> Elaborator<'a> {
    /// The ports that a port is computed from in the same cycle.
    pub(super) fn dependencies(&self, port: PortId) -> Vec<PortId> {
        match self.ports[port.index()].driver {
            Driver::Nothing | Driver::Node(_) => Vec::new(),
            Driver::Unit(unit, output) => {
                let cell = &self.units[unit.index()];
                let mut combs = cell.unit.combs.iter();
                let Some(comb) = combs.find(|comb| comb.output == output) else {
                    return Vec::new();
                };
                cell.inputs
                    .iter()
                    .filter(|(name, _)| comb.reads(name))
                    .map(|&(_, port)| port)
                    .collect()
            }
            Driver::Assigned(instance, target) => {
                let ports = &self.instances[instance.index()].ports;
                let mut all = Vec::new();
                let mut add = |operand: Operand| {
                    if let Operand::Port(port) = operand {
                        all.push(ports[port]);
                    }
                };
                for (guard, source) in &target.assignments {
                    add(*source);
                    guard.operands(&mut add);
                }
                all
            }
        }
    }

    /// All ports, those together that depend on one another, and whether they do: dependencies first.
    pub(super) fn in_order(&self) -> Vec<(Vec<PortId>, bool)> {
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(self.ports.len(), 0);
        for _ in 0..self.ports.len() {
            graph.add_node(());
        }
        // Each edge once: to look for it in the graph takes as long as the port has others.
        let mut user = vec![usize::MAX; self.ports.len()];
        for port in 0..self.ports.len() {
            for dependency in self.dependencies(PortId::from_index(port)) {
                if std::mem::replace(&mut user[dependency.index()], port) != port {
                    let dependency = NodeIndex::new(dependency.index());
                    graph.add_edge(NodeIndex::new(port), dependency, ());
                }
            }
        }
        let groups = kosaraju_scc(&graph).into_iter();
        let groups = groups.map(|group| {
            let looped = group.len() > 1 || graph.contains_edge(group[0], group[0]);
            let ports = group.iter().map(|node| PortId::from_index(node.index()));
            (ports.collect(), looped)
        });
        groups.collect()
    }

    /// Computes the nodes of all ports; returns the ports on each loop.
    pub(super) fn resolve(&mut self) -> Vec<Vec<String>> {
        let mut loops = Vec::new();
        for (ports, looped) in self.in_order() {
            let wires: Vec<_> = if looped {
                ports
                    .iter()
                    .map(|&port| {
                        let port = &mut self.ports[port.index()];
                        let (wire, node) = self.graph.wire(port.width);
                        port.node = Some(node);
                        wire
                    })
                    .collect()
            } else {
                Vec::new()
            };
            let values: Vec<NodeId> = ports.iter().map(|&port| self.value(port)).collect();
            if looped {
                for (wire, &value) in wires.iter().zip(&values) {
                    self.graph.wires[wire.index()].1 = value;
                }
                loops.push(ports.iter().map(|&port| self.describe(port)).collect());
            }
            for (&port, value) in ports.iter().zip(values) {
                self.ports[port.index()].node = Some(value);
            }
        }
        loops
    }

    /// A port's name, as the Verilog has it, with the path of its instance.
    fn describe(&self, port: PortId) -> String {
        let named = self.instances.iter().find_map(|instance| {
            let at = instance.ports.iter().position(|&other| other == port)?;
            Some(instance.name(at))
        });
        named.unwrap_or_default()
    }

    pub(super) fn node(&mut self, port: PortId) -> NodeId {
        let port = &self.ports[port.index()];
        match port.node {
            Some(node) => node,
            None => self.graph.constant(0u8, port.width),
        }
    }

    /// The value of a port whose dependencies have theirs.
    fn value(&mut self, port: PortId) -> NodeId {
        let Port { width, driver, .. } = self.ports[port.index()];
        match driver {
            Driver::Nothing => self.graph.constant(0u8, width),
            Driver::Node(node) => self.graph.resize(node, width),
            Driver::Unit(unit, output) => {
                let combs = &mut self.units[unit.index()].unit.combs;
                let Some(at) = combs.iter().position(|comb| comb.output == output) else {
                    return self.graph.constant(0u8, width);
                };
                let comb = combs.swap_remove(at);
                let inputs = self.inputs(unit, |name| comb.reads(name));
                let node = (comb.build)(&mut self.graph, &inputs);
                self.graph.resize(node, width)
            }
            Driver::Assigned(instance, target) => self.assigned(instance, target, width),
        }
    }

    /// The values of those inputs of a unit that are `wanted`.
    pub(super) fn inputs(&mut self, unit: UnitId, wanted: impl Fn(&str) -> bool) -> Inputs<'a> {
        let inputs = self.units[unit.index()].inputs.clone();
        let inputs = inputs.into_iter().filter(|(name, _)| wanted(name));
        Inputs {
            values: inputs
                .map(|(name, port)| (name, self.node(port)))
                .collect::<HashMap<_, _>>(),
        }
    }

    fn operand(&mut self, instance: InstanceId, operand: Operand) -> NodeId {
        match operand {
            Operand::Port(port) => self.node(self.instances[instance.index()].ports[port]),
            Operand::Constant(value, width) => self.graph.constant(value, width),
        }
    }

    fn assigned(&mut self, instance: InstanceId, target: &Target, width: u32) -> NodeId {
        let mut pairs = Vec::with_capacity(target.assignments.len());
        for (guard, source) in &target.assignments {
            let guard = self.guard(instance, guard);
            let source = self.operand(instance, *source);
            pairs.push((guard, self.graph.resize(source, width)));
        }
        if let [(_, source)] = pairs[..]
            && target.is_data
        {
            return source;
        }
        self.check_conflicts(instance, target, &pairs);
        // Undefined values are 0, so data ports get no more than others.
        let nothing = self.graph.constant(0u8, width);
        pairs
            .into_iter()
            .rev()
            .fold(nothing, |otherwise, (guard, source)| {
                self.graph.mux(guard, source, otherwise)
            })
    }

    /// No two guards of a port may be high together.
    fn check_conflicts(
        &mut self,
        instance: InstanceId,
        target: &Target,
        pairs: &[(NodeId, NodeId)],
    ) {
        let graph = &mut self.graph;
        let guards: Vec<NodeId> = pairs.iter().map(|(guard, _)| *guard).collect();
        let no = graph.constant(0u8, 1);
        let (mut seen, mut conflict) = (no, no);
        for guard in exclusion::not_exclusive(graph, &guards) {
            let both = graph.and(seen, guard);
            conflict = graph.or(conflict, both);
            seen = graph.or(seen, guard);
        }
        if conflict == no {
            return;
        }
        let port = self.instances[instance.index()].name(target.port);
        self.graph.checks.push(Check {
            fails: conflict,
            message: format!("multiple assignments to port `{port}`"),
            values: Vec::new(),
            at_edge: petal_compiler::CONFLICTS_FAIL_AT_EDGE,
            cell: None,
        });
    }

    fn guard(&mut self, instance: InstanceId, guard: &Guard) -> NodeId {
        match guard {
            Guard::True => self.graph.constant(1u8, 1),
            Guard::Or(left, right) => {
                let (left, right) = (self.guard(instance, left), self.guard(instance, right));
                self.graph.or(left, right)
            }
            Guard::And(left, right) => {
                let (left, right) = (self.guard(instance, left), self.guard(instance, right));
                self.graph.and(left, right)
            }
            Guard::Not(inner) => {
                let inner = self.guard(instance, inner);
                self.graph.not(inner)
            }
            Guard::Port(operand) => {
                let node = self.operand(instance, *operand);
                self.graph.resize(node, 1)
            }
            Guard::Compare(comparison, left, right) => {
                let (left, right) = (
                    self.operand(instance, *left),
                    self.operand(instance, *right),
                );
                let graph = &mut self.graph;
                let width = graph.width(left).max(graph.width(right));
                let (left, right) = (graph.resize(left, width), graph.resize(right, width));
                match comparison {
                    Comparison::Eq => graph.eq(left, right),
                    Comparison::Neq => graph.ne(left, right),
                    Comparison::Lt => graph.op(Op::Lt, 1, &[left, right]),
                    Comparison::Gt => graph.op(Op::Lt, 1, &[right, left]),
                    Comparison::Leq => graph.le(left, right),
                    Comparison::Geq => graph.le(right, left),
                }
            }
        }
    }
}
