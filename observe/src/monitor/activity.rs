//! Expressions and what of the source is active, as circuits of the signals that a compiled design has.
//!
//! A circuit says of each cycle what reconstruction says of it: the same probes, with the same rules. What reconstruction works out
//! of more than one cycle's probes, such as which statement pays for an overhead cycle, no circuit tells.

use petal_metadata::{
    Call, Callee, CellId, CellKind, Circuit, CircuitPart, Component, Gate, GroupRunId, Metadata,
    ProbeName,
};
use petal_reconstruct::{Value, ValueOp};

use super::called;
use crate::activity::{Aspect, Subject, SubjectKind};
use crate::expression::Expression;

/// Makes a circuit of expressions.
pub(super) struct Lowering<'a> {
    pub metadata: &'a Metadata,
    pub circuit: Circuit,
}

/// An instance of a component of the source.
struct Place<'a> {
    component: &'a Component,
    /// The Verilog instances down to it.
    scope: Vec<String>,
    /// High while it is active.
    active: usize,
}

/// One way in which a subject is active.
struct Witness {
    active: usize,
    /// After how many cycles it begins again if it stays active.
    latency: Option<u64>,
    /// Whether an activation begins with it: not with the second part of a split group.
    begins: bool,
    /// Whether an activation ends with it: only with the last part of a split group.
    ends: bool,
}

impl<'a> Lowering<'a> {
    /// The part that is an expression, or why there is none.
    pub fn expression(&mut self, of: &Expression) -> Result<usize, String> {
        match of {
            Expression::Value(value) => self.value(value),
            Expression::Subject(subject, aspect) => self.subject(subject, *aspect),
            Expression::Op(op, width, operands) => {
                let gate = gate(*op)?;
                let operands = operands.iter().map(|operand| self.expression(operand));
                let operands = operands.collect::<Result<Vec<_>, _>>()?;
                Ok(self.circuit.gate(gate, *width, &operands))
            }
            Expression::Past(of) => {
                let of = self.expression(of)?;
                Ok(self.circuit.add(CircuitPart::Past(of)))
            }
            Expression::Ones(_) => Err("a monitor does not count bits (`toggles`)".to_owned()),
        }
    }

    fn value(&mut self, value: &Value) -> Result<usize, String> {
        match value {
            Value::Signal(signal, width) => Ok(self.circuit.add(CircuitPart::Signal {
                scope: signal.scope.clone(),
                name: signal.name.clone(),
                width: *width,
            })),
            Value::Constant(value, width) => Ok(self.circuit.constant(*value, *width)),
            Value::Word { memory, .. } => Err(format!(
                "a monitor does not read words of memories, which takes the port of `{}`; take its ports, such as `read_data`",
                memory.name
            )),
            Value::Op(op, width, operands) => {
                let gate = gate(*op)?;
                let operands = operands.iter().map(|operand| self.value(operand));
                let operands = operands.collect::<Result<Vec<_>, _>>()?;
                Ok(self.circuit.gate(gate, *width, &operands))
            }
        }
    }

    /// What a subject does.
    pub fn subject(&mut self, subject: &Subject, aspect: Aspect) -> Result<usize, String> {
        if aspect == Aspect::Overhead {
            let name = called(self.metadata, subject);
            return Err(format!(
                "no wire tells in which cycles `{name}` only moves its control along"
            ));
        }
        let witnesses = self.witnesses(subject)?;
        let mut parts = Vec::new();
        for witness in witnesses {
            let active = witness.active;
            let before = self.circuit.add(CircuitPart::Past(active));
            let again = self.again(&witness);
            parts.push(match aspect {
                Aspect::Active | Aspect::Overhead => active,
                Aspect::Begin if !witness.begins => continue,
                Aspect::Begin => {
                    let idle = self.circuit.not(before);
                    let fresh = self.circuit.any([idle, again]);
                    self.circuit.and(active, fresh)
                }
                Aspect::End if !witness.ends => continue,
                Aspect::End => {
                    let inactive = self.circuit.not(active);
                    let over = self.circuit.any([inactive, again]);
                    self.circuit.and(before, over)
                }
            });
        }
        Ok(self.circuit.any(parts))
    }

    /// High in the cycles of an activation in which it begins, and then anew after its latency.
    fn again(&mut self, witness: &Witness) -> usize {
        let Some(cycles) = witness.latency else {
            return self.circuit.constant(0, 1);
        };
        let goes_on = self.circuit.add(CircuitPart::Timer {
            start: witness.active,
            during: witness.active,
            cycles,
        });
        let fresh = self.circuit.not(goes_on);
        self.circuit.and(witness.active, fresh)
    }

    /// All ways in which a subject is active.
    fn witnesses(&mut self, subject: &Subject) -> Result<Vec<Witness>, String> {
        let place = self.place(subject)?;
        let one = |active| {
            vec![Witness {
                active,
                latency: None,
                begins: true,
                ends: true,
            }]
        };
        match &subject.kind {
            SubjectKind::Instance => Ok(one(place.active)),
            SubjectKind::Calls if self.is_told_apart(subject, &place) => Ok(one(place.active)),
            SubjectKind::Calls => Err(format!(
                "no wire tells one call of `{}` from the next; name two events, `FROM..TO`",
                called(self.metadata, subject)
            )),
            SubjectKind::Iteration(_) => Err(format!(
                "no wire tells when an iteration of `{}` begins; name what its body runs first",
                called(self.metadata, subject)
            )),
            SubjectKind::Control(_) => Err(format!(
                "no wire tells in which cycles the statement `{}` is active; name what it runs",
                called(self.metadata, subject)
            )),
            SubjectKind::Group(runs) => {
                let runs = runs.iter().map(|&id| self.of_run(&place, id));
                Ok(runs.collect())
            }
            SubjectKind::Primitive(cell) => {
                check_held(&place, *cell)?;
                Ok(one(self.called(&place, *cell)))
            }
        }
    }

    fn of_run(&mut self, place: &Place<'_>, id: GroupRunId) -> Witness {
        let run = place.component.run(id);
        let running = self.running(place, id);
        let running = self.circuit.and(place.active, running);
        // A group that has ended is still there while what it has called goes on.
        let mut parts = vec![running];
        for call in &place.component.calls {
            if call.caller == Some(id)
                && let Some(goes_on) = self.goes_on(place, call)
            {
                parts.push(self.circuit.and(place.active, goes_on));
            }
        }
        let (first, last) = place.component.parts(id);
        Witness {
            active: self.circuit.any(parts),
            latency: run
                .latency
                .filter(|&latency| latency > 0 && run.part.is_none()),
            begins: first == id,
            ends: last == id,
        }
    }

    /// The instance that holds a subject, or is it.
    fn place(&mut self, subject: &Subject) -> Result<Place<'a>, String> {
        let mut place = Place {
            component: self.metadata.component(self.metadata.main),
            scope: self.metadata.scope.clone(),
            active: self.circuit.constant(1, 1),
        };
        for &id in &subject.holder {
            check_held(&place, id)?;
            let cell = place.component.cell(id);
            let (CellKind::Component(inner), Some(instance)) = (&cell.kind, &cell.instance) else {
                return Err(format!("`{}` is no instance", cell.name));
            };
            let active = self.called(&place, id);
            let mut scope = place.scope;
            scope.push(instance.clone());
            place = Place {
                component: self.metadata.component(*inner),
                scope,
                active,
            };
        }
        Ok(place)
    }

    /// Whether each interval in which a cell is active is one call: who calls it is one, and waits for its end.
    fn is_told_apart(&self, subject: &Subject, place: &Place<'_>) -> bool {
        let Some((&cell, around)) = subject.holder.split_last() else {
            return true;
        };
        let holder = Subject {
            holder: around.to_vec(),
            kind: SubjectKind::Instance,
        };
        let holder = holder.component(self.metadata);
        let calls = holder.into_iter().flat_map(|of| &of.calls);
        let calls = calls.filter(|call| call.callee == Callee::Cell(cell));
        place.component.latency.is_none() && calls.count() <= 1
    }

    /// High while a cell is called in an instance.
    fn called(&mut self, place: &Place<'_>, cell: CellId) -> usize {
        let calls = place.component.calls.iter();
        let calls = calls.filter(|call| call.callee == Callee::Cell(cell));
        let mut parts = Vec::new();
        for call in calls {
            let made = self.made(place, call);
            let goes_on = self.goes_on(place, call);
            let call = self.circuit.any([made].into_iter().chain(goes_on));
            parts.push(self.circuit.and(place.active, call));
        }
        self.circuit.any(parts)
    }

    /// High while a call is made by a group that runs.
    fn made(&mut self, place: &Place<'_>, call: &Call) -> usize {
        let probe = self.probe(place, call.probe);
        match call.caller {
            None => probe,
            Some(caller) => {
                let running = self.running(place, caller);
                self.circuit.and(probe, running)
            }
        }
    }

    /// High while a static component goes on after it was called.
    fn goes_on(&mut self, place: &Place<'_>, call: &Call) -> Option<usize> {
        let Callee::Cell(cell) = call.callee else {
            return None;
        };
        let CellKind::Component(component) = place.component.cell(cell).kind else {
            return None;
        };
        let cycles = self.metadata.component(component).latency?;
        let start = self.made(place, call);
        Some(self.circuit.add(CircuitPart::Timer {
            start,
            during: place.active,
            cycles,
        }))
    }

    /// High while a group is active, and so is what starts it for this run.
    fn running(&mut self, place: &Place<'_>, id: GroupRunId) -> usize {
        let run = place.component.run(id);
        let active = self.probe(place, run.probe);
        let calls = place.component.calls.iter();
        let calls = calls.filter(|call| call.callee == Callee::Group(id));
        let starts = run.enable.into_iter().chain(calls.map(|call| call.probe));
        let starts: Vec<usize> = starts.map(|probe| self.probe(place, probe)).collect();
        if starts.is_empty() {
            return active;
        }
        let started = self.circuit.any(starts);
        self.circuit.and(active, started)
    }

    fn probe(&mut self, place: &Place<'_>, probe: ProbeName) -> usize {
        self.circuit.add(CircuitPart::Signal {
            scope: place.scope.clone(),
            name: probe.signal(&self.metadata.prefix),
            width: 1,
        })
    }
}

/// The gate that computes an operation.
fn gate(op: ValueOp) -> Result<Gate, String> {
    Ok(match op {
        ValueOp::And => Gate::And,
        ValueOp::Or => Gate::Or,
        ValueOp::Xor => Gate::Xor,
        ValueOp::Not => Gate::Not,
        ValueOp::Add => Gate::Add,
        ValueOp::Sub => Gate::Sub,
        ValueOp::Eq => Gate::Eq,
        ValueOp::Lt => Gate::Lt,
        ValueOp::Shl => Gate::Shl,
        ValueOp::Shr => Gate::Shr,
        ValueOp::Slice(low) => Gate::Slice(low),
        ValueOp::Pad => Gate::Pad,
        ValueOp::Mux => Gate::Mux,
        ValueOp::Mul | ValueOp::Div | ValueOp::Rem => {
            return Err("a monitor does not multiply or divide: that takes hardware that slows a design down".to_owned());
        }
    })
}

/// Refuses a cell that others use by another name.
fn check_held(place: &Place<'_>, cell: CellId) -> Result<(), String> {
    let nodes = &place.component.control;
    let mut bindings = nodes.iter().flat_map(|node| &node.bindings);
    if bindings.any(|binding| binding.actual == cell) {
        return Err(format!(
            "`{}` of `{}` is handed over to other components, and no wire tells which one uses it; name its ports, or the groups \
             that use it",
            place.component.cell(cell).name,
            place.component.name
        ));
    }
    Ok(())
}
