//! What a cycle of one component cell is for: useful work, conditions, or overhead; and overhead of
//! which kind, charged to which statement.
//!
//! Paper, section 2: control overhead are "cycles spent only on control and not on user-defined
//! computation". Which statement pays is petal's addition, by the rules of `docs/guide/overhead.md`: from the
//! component's root compilation group downwards, the active one that makes the cycle pass.
//!
//! ```text
//! tdcc0 (seq)           fsm = 1 and its child is active: continue there
//! └─ par0 (par)         two arms run: the one that still runs in the next cycle is the longest
//!    ├─ tdcc1 (if)      ends now
//!    └─ tdcc2 (while)   fsm goes from 1 to 0, back: FSM update, charged to the `while`
//! ```
//!
//! Reads the metadata and the values of one cycle and of the next. Neither remembers anything nor knows
//! how a tree is built.

use petal_metadata::{
    Arm, CallId, CompiledGroup, CompiledId, CompiledKind, Component, ControlId, ControlKind,
    FsmState, GroupRunId, Id, Metadata, Purpose, RegisterId, RegisterKind, RunRole,
};

use super::statics::{Pending, StaticProgram};
use crate::model::{Activity, Charge, Overhead};
use crate::signals::{Layout, Physical, PhysicalId, SlotId};

/// All that the tree of a cycle follows from.
#[derive(Clone, Copy)]
pub(super) struct CycleView<'a> {
    pub metadata: &'a Metadata,
    pub layout: &'a Layout,
    /// The values of all signals in the cycle, by slot.
    pub now: &'a [u64],
    /// Those in the cycle after it.
    pub next: &'a [u64],
    /// All static programs of the design, as they are in the cycle.
    pub programs: &'a [StaticProgram<'a>],
    /// Static components that continue in the cycle.
    pub pending: &'a [Pending],
}

impl<'a> CycleView<'a> {
    /// The component of a hardware instance.
    pub fn component(self, physical: PhysicalId) -> &'a Component {
        self.metadata.component(self.physical(physical).component)
    }

    /// A hardware instance.
    pub fn physical(self, physical: PhysicalId) -> &'a Physical {
        self.layout.physical(physical)
    }

    /// Whether a signal of one bit is high in the cycle.
    pub fn high(self, slot: SlotId) -> bool {
        self.now[slot.index()] == 1
    }

    /// What an active state machine does: the group that runs in its state; or, if none does, the
    /// statement that its transition is for.
    ///
    /// Paper, section 3: "When the groups terminate, the fsm register proceeds to the next state."
    pub fn machine(
        self,
        physical: PhysicalId,
        group: &CompiledGroup,
        register: RegisterId,
        states: &[FsmState],
        last: u64,
    ) -> Result<CompiledId, Option<ControlId>> {
        let hardware = self.physical(physical);
        let slot = hardware.registers[register.index()];
        let (now, next) = (self.now[slot.index()], self.next[slot.index()]);
        match state(states, now) {
            Some(child) if self.high(hardware.compiled[child.index()]) => Ok(child),
            _ => {
                let component = self.component(physical);
                Err(transition(component, group, states, last, now, next))
            }
        }
    }

    /// What an active instance does in the cycle. `runs` and `calls` are active in it; `position` counts
    /// the cycles of a static component from its start, from 0.
    ///
    /// The cycle is useful if a group or primitive of the user is active, if only groups that compute
    /// conditions are, it is a condition, and else overhead.
    pub fn activity(
        self,
        physical: PhysicalId,
        runs: &[GroupRunId],
        mut calls: impl Iterator<Item = CallId>,
        position: Option<u64>,
    ) -> Activity {
        let component = self.component(physical);
        // A call is work unless it only helps a condition or the control program.
        let calls = calls.any(|call| {
            let caller = component.calls[call.index()].caller;
            let role = caller.map(|caller| component.run(caller).role);
            !matches!(
                role,
                Some(RunRole::Condition | RunRole::Control | RunRole::Idle)
            )
        });
        let serves = |purpose| runs.iter().any(|&run| component.purpose(run) == purpose);
        // Without control there is nothing but computation.
        if calls || serves(Purpose::Work) || component.control.is_empty() {
            Activity::Useful
        } else if serves(Purpose::Condition) {
            Activity::Condition
        } else {
            Activity::Overhead(self.charge(physical, runs, position))
        }
    }

    /// The kind of an overhead cycle, and the statement to charge.
    ///
    /// The kind follows from what changes at the end of the cycle (paper, section 5.3: "control register
    /// updates"): an FSM register, par-done registers, both or none; in the last case from where control is.
    fn charge(self, physical: PhysicalId, runs: &[GroupRunId], position: Option<u64>) -> Charge {
        let component = self.component(physical);
        let hardware = self.physical(physical);
        let (statement, site) = match component.root {
            Some(root) if self.high(hardware.compiled[root.index()]) => self.blame(physical, root),
            _ => {
                let scheduled = position
                    .zip(component.schedule.as_ref())
                    .and_then(|(at, schedule)| schedule.at(at));
                let whole = (!component.control.is_empty()).then(|| ControlId::from_index(0));
                (scheduled.or(whole), ControlPoint::Outside)
            }
        };
        // A helper of the compiler knows better.
        let helped = runs
            .iter()
            .filter(|&&run| component.run(run).role == RunRole::Control)
            .find_map(|&run| component.run(run).control);
        // Or a group that does nothing any more.
        let waits = runs
            .iter()
            .filter(|&&run| component.run(run).role == RunRole::Idle)
            .find_map(|&run| component.run(run).control);
        let helps = |kind| helped.is_some_and(|node| component.node(node).kind == kind);
        let changes = |kind: RegisterKind| {
            hardware
                .registers
                .iter()
                .zip(&component.registers)
                .any(|(&slot, register)| {
                    register.kind == kind && self.now[slot.index()] != self.next[slot.index()]
                })
        };
        let steps = site == ControlPoint::Transition
            || helps(ControlKind::Repeat)
            || changes(RegisterKind::Fsm);
        let kind = match (steps, changes(RegisterKind::ParDone)) {
            (true, true) => Overhead::FsmAndParDone,
            (true, false) => Overhead::FsmUpdate,
            (false, true) => Overhead::ParDone,
            (false, false) => match site {
                // The arms of a `par` have theirs started before them.
                _ if helps(ControlKind::Empty) || helps(ControlKind::Par) => Overhead::Barrier,
                _ if component.latency.is_some() => Overhead::StaticWait,
                ControlPoint::Leaf if helped.is_none() => Overhead::StaticWait,
                ControlPoint::Outside => Overhead::StartFinish,
                _ => Overhead::Other,
            },
        };
        Charge {
            kind,
            statement: helped.or(waits).or(statement),
        }
    }

    /// Where control is that runs nothing useful: the statement to charge, from the active
    /// compilation group `id` downwards.
    fn blame(self, physical: PhysicalId, id: CompiledId) -> (Option<ControlId>, ControlPoint) {
        let component = self.component(physical);
        let hardware = self.physical(physical);
        let group = component.compiled(id);
        match &group.kind {
            CompiledKind::Leaf => {
                let same = |program: &&StaticProgram<'_>| {
                    (program.physical, program.group) == (physical, id)
                };
                let program = self.programs.iter().find(same);
                let scheduled = program.and_then(StaticProgram::statement);
                (scheduled.or(group.node), ControlPoint::Leaf)
            }
            // Paper, section 3: "A pd register is set to 1 when a child group is done. The par group's done
            // condition is the conjunction of these pd registers."
            CompiledKind::Par { arms } => {
                let slot = |arm: &Arm| hardware.compiled[arm.child.index()];
                let running = || arms.iter().filter(|arm| self.high(slot(arm)));
                // The arms that end now wait for those that continue.
                let longest = running()
                    .find(|arm| self.next[slot(arm).index()] == 1)
                    .or_else(|| running().next());
                match longest {
                    Some(arm) => self.blame(physical, arm.child),
                    None => (group.node, ControlPoint::Par),
                }
            }
            CompiledKind::Fsm {
                register,
                states,
                last,
            } => match self.machine(physical, group, *register, states, *last) {
                Ok(child) => self.blame(physical, child),
                Err(statement) => (statement, ControlPoint::Transition),
            },
        }
    }
}

/// Where control is in a cycle in which it runs nothing useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ControlPoint {
    /// The control program does not run.
    Outside,
    /// An FSM goes from one state to the next.
    Transition,
    /// A `par` whose arms are all done.
    Par,
    /// A static program, or a helper of the compiler.
    Leaf,
}

/// What runs in the state `value`.
fn state(states: &[FsmState], value: u64) -> Option<CompiledId> {
    states
        .iter()
        .find(|state| state.value == value)
        .map(|state| state.child)
}

/// The statement that a transition from the state `now` to `next` is for: the innermost one that
/// contains both; for a jump back, the loop around both.
fn transition(
    component: &Component,
    group: &CompiledGroup,
    states: &[FsmState],
    last: u64,
    now: u64,
    next: u64,
) -> Option<ControlId> {
    let child = |value: u64| {
        state(states, value)
            .filter(|_| value != last)
            .map_or(group, |child| component.compiled(child))
    };
    // After the last state comes state 0 again, which is not entered yet.
    let next = if now == last { last } else { next };
    let or_group = |statements: Vec<ControlId>| match statements[..] {
        [] => Vec::from_iter(group.node),
        _ => statements,
    };
    let ended = or_group(child(now).last_statements());
    let begins = or_group(child(next).first_statements());
    let pairs = ended
        .iter()
        .flat_map(|&ended| begins.iter().map(move |&begins| (ended, begins)));
    let common = pairs.filter_map(|(ended, begins)| component.common_ancestor(ended, begins));
    let common = common.max_by_key(|&id| component.ancestry(id).count())?;
    let is_loop = |&id: &ControlId| {
        matches!(
            component.node(id).kind,
            ControlKind::While | ControlKind::Repeat
        )
    };
    if next <= now && now != last {
        component.ancestry(common).find(is_loop).or(Some(common))
    } else {
        Some(common)
    }
}

#[cfg(test)]
mod tests;
