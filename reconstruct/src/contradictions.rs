//! Contradictions in the values of a cycle. No run of the design can have them, so the waveform was changed
//! or is not of this design, and the call tree of the cycle may be wrong.
//!
//! Only checks what the hardware can't do by construction. What is missing altogether, such as
//! a group that did not run although it could have, goes unnoticed.

use petal_metadata::{
    Callee, CompiledGroup, CompiledId, CompiledKind, Component, ControlKind, Id, Metadata,
    RegisterId, RegisterKind,
};

use crate::signals::{Layout, Physical, PhysicalId, SlotId};

/// The values of all signals in a cycle and in the next one.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    pub now: &'a [u64],
    pub next: &'a [u64],
}

impl Values<'_> {
    fn high(self, slot: SlotId) -> bool {
        self.now[slot.index()] == 1
    }

    fn changes(self, slot: SlotId) -> bool {
        self.now[slot.index()] != self.next[slot.index()]
    }
}

/// A signal of a hardware instance, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub physical: PhysicalId,
    pub slot: SlotId,
    pub text: &'static str,
}

/// The contradictions of a cycle. `running` has for each hardware instance whether it runs.
pub(crate) fn find(
    metadata: &Metadata,
    layout: &Layout,
    values: Values<'_>,
    running: &[bool],
) -> Vec<Contradiction> {
    let mut contradictions = Vec::new();
    for (physical, hardware) in layout.instances() {
        let component = metadata.component(hardware.component);
        let instance = InstanceView {
            component,
            hardware,
            values,
        };
        let mut tell = |slot, text| {
            contradictions.push(Contradiction {
                physical,
                slot,
                text,
            });
        };
        if !running[physical.index()] {
            instance.idle(&mut tell);
        } else if let Some(root) = component.root {
            instance.control(root, &mut tell);
        }
    }
    if let Some(slot) = main_waits(metadata, layout, values) {
        contradictions.push(Contradiction {
            physical: Layout::main(),
            slot,
            text: "is low although the design runs",
        });
    }
    contradictions
}

/// The FSM register of main that is not in its last state although the run ends.
pub(crate) fn at_the_end(
    metadata: &Metadata,
    layout: &Layout,
    values: &[u64],
) -> Option<Contradiction> {
    let main = root_of_main(metadata)?;
    let component = metadata.component(metadata.main);
    let CompiledKind::Fsm { register, last, .. } = &component.compiled(main).kind else {
        return None;
    };
    let slot = layout.physical(Layout::main()).registers[register.index()];
    (values[slot.index()] != *last).then_some(Contradiction {
        physical: Layout::main(),
        slot,
        text: "is not in its last state although `done` is high",
    })
}

/// The compilation group that runs the control of main, where `go` and `done` of the design are
/// those of main.
fn root_of_main(metadata: &Metadata) -> Option<CompiledId> {
    let is_top = metadata.scope.len() == 2;
    is_top.then(|| metadata.component(metadata.main).root)?
}

fn main_waits(metadata: &Metadata, layout: &Layout, values: Values<'_>) -> Option<SlotId> {
    let root = root_of_main(metadata)?;
    let slot = layout.physical(Layout::main()).compiled[root.index()];
    (!values.high(slot)).then_some(slot)
}

/// One hardware instance in a cycle.
#[derive(Clone, Copy)]
struct InstanceView<'a> {
    component: &'a Component,
    hardware: &'a Physical,
    values: Values<'a>,
}

impl InstanceView<'_> {
    /// Nobody calls the instance, so its groups can't run, unless continuous assignments start some.
    fn idle(self, tell: &mut impl FnMut(SlotId, &'static str)) {
        let calls = &self.component.calls;
        let by_itself = |callee| matches!(callee, Callee::Group(_));
        if calls
            .iter()
            .any(|c| c.caller.is_none() && by_itself(c.callee))
        {
            return;
        }
        let calls = calls.iter().zip(&self.hardware.calls);
        let calls = calls.filter(|(call, _)| call.caller.is_some());
        let slots = self.hardware.runs.iter().chain(&self.hardware.compiled);
        for &slot in slots.chain(calls.map(|(_, slot)| slot)) {
            if self.values.high(slot) {
                tell(slot, "is high although nothing runs the cell that it is in");
            }
        }
    }

    /// Follows control from its root, and looks for what is active elsewhere.
    fn control(self, root: CompiledId, tell: &mut impl FnMut(SlotId, &'static str)) {
        let mut entered = vec![false; self.component.compiled.len()];
        self.enter(root, &mut entered, tell);
        // A probe may be that of several groups, if the compiler has made one of them.
        let explained = |slot: SlotId| {
            let groups = self.hardware.compiled.iter().zip(&entered);
            let mut runs = self.component.runs.iter().zip(&self.hardware.runs);
            groups.clone().any(|(&of, &entered)| of == slot && entered)
                || runs.any(|(run, &of)| of == slot && run.control.is_none())
        };
        for (&slot, &entered) in self.hardware.compiled.iter().zip(&entered) {
            if !entered && self.values.high(slot) && !explained(slot) {
                tell(slot, "is high although control is elsewhere");
            }
        }
        if !self.values.high(self.hardware.compiled[root.index()]) {
            for &slot in &self.hardware.runs {
                if self.values.high(slot) && !explained(slot) {
                    tell(
                        slot,
                        "is high although the control of its cell does not run",
                    );
                }
            }
        }
        let running = |register: RegisterId| {
            let groups = self.component.compiled.iter().zip(&entered);
            groups.clone().any(|(group, &entered)| {
                entered
                    && match &group.kind {
                        CompiledKind::Leaf => false,
                        CompiledKind::Fsm { register: of, .. } => *of == register,
                        CompiledKind::Par { arms } => {
                            arms.iter().any(|arm| arm.register == register)
                        }
                    }
            })
        };
        for (at, (register, &slot)) in self
            .component
            .registers
            .iter()
            .zip(&self.hardware.registers)
            .enumerate()
        {
            let counts = register.kind == RegisterKind::StaticFsm;
            // Back to the first state, 0 or the only bit of a one-hot machine, is the reset after the last one, which
            // comes a cycle later.
            let next = self.values.next[slot.index()];
            let starts_over = |group: &CompiledGroup| match &group.kind {
                CompiledKind::Fsm {
                    register: of,
                    states,
                    last,
                } => {
                    let first = states.iter().map(|state| state.value).min();
                    of.index() == at
                        && self.values.now[slot.index()] == *last
                        && Some(next) == first
                }
                CompiledKind::Leaf | CompiledKind::Par { .. } => false,
            };
            let is_reset = next == 0 || self.component.compiled.iter().any(starts_over);
            let moves = self.values.changes(slot) && !is_reset;
            if !counts && moves && !running(RegisterId::from_index(at)) {
                tell(
                    slot,
                    "changes although the control that it is of does not run",
                );
            }
        }
    }

    /// Whether the state of a child may follow itself, with a cycle between: in a loop.
    fn may_repeat(self, child: CompiledId) -> bool {
        let node = self.component.compiled(child).node;
        node.is_none_or(|node| {
            let mut around = self.component.ancestry(node);
            around.any(|node| {
                matches!(
                    self.component.node(node).kind,
                    ControlKind::While | ControlKind::Repeat
                )
            })
        })
    }

    fn enter(
        self,
        id: CompiledId,
        entered: &mut [bool],
        tell: &mut impl FnMut(SlotId, &'static str),
    ) {
        if !self.values.high(self.hardware.compiled[id.index()]) {
            return;
        }
        entered[id.index()] = true;
        match &self.component.compiled(id).kind {
            CompiledKind::Leaf => {}
            CompiledKind::Fsm {
                register, states, ..
            } => {
                let slot = self.hardware.registers[register.index()];
                let value = self.values.now[slot.index()];
                for state in states.iter().filter(|state| state.value == value) {
                    let child = self.hardware.compiled[state.child.index()];
                    let waits = !self.values.changes(slot)
                        && !self.values.high(child)
                        && (!self.may_repeat(state.child) || self.values.next[child.index()] != 1);
                    if waits {
                        tell(child, "is low although control waits for it");
                    }
                    self.enter(state.child, entered, tell);
                }
            }
            CompiledKind::Par { arms } => {
                for arm in arms {
                    let done = self.hardware.registers[arm.register.index()];
                    let child = self.hardware.compiled[arm.child.index()];
                    let is_done = self.values.now[done.index()] == 1;
                    if !is_done && !self.values.high(child) && !self.values.changes(done) {
                        tell(child, "is low although control waits for it");
                    }
                    if !is_done {
                        self.enter(arm.child, entered, tell);
                    }
                }
            }
        }
    }
}
