//! What static control has done so far. It has no states to look at (paper, section 3: static control removes
//! "control overhead" where "the cycle counts of groups are known"), so its cycles are counted from the one
//! in which it starts: those of static programs, and those of static components that continue after their
//! start pulse.
//!
//! ```text
//! CA probe   ▁▁▔▔▔▔▔▔▔▔▔▔▔▔▁▁     of a static program whose latency is 3
//! position     0 1 2 0 1 2        it runs twice without a gap
//! ```
//!
//! Knows when the parts of a schedule run (metadata do), not what a cycle of them is charged to.

use petal_metadata::{CallId, CompiledId, ControlId, Id, Metadata, Schedule};

use crate::signals::{Layout, PhysicalId, SlotId};

/// A static component that continues after its start pulse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Pending {
    /// The hardware instance that calls it.
    pub physical: PhysicalId,
    /// The call, in the component of that instance.
    pub call: CallId,
    /// Cycles still to come, this one included.
    pub left: u64,
}

/// A static program with a schedule, in one hardware instance.
#[derive(Debug)]
pub(super) struct StaticProgram<'a> {
    /// The hardware instance that it is in.
    pub physical: PhysicalId,
    /// The compilation group that runs it.
    pub group: CompiledId,
    /// The slot of the group's probe.
    slot: SlotId,
    schedule: &'a Schedule,
    /// Cycles since it became active, modulo its latency; `None` if it is not.
    position: Option<u64>,
}

impl<'a> StaticProgram<'a> {
    /// All static programs of a design, none of them active.
    pub fn all(metadata: &'a Metadata, layout: &'a Layout) -> Vec<Self> {
        let programs = layout.instances().flat_map(|(id, physical)| {
            let groups = metadata.component(physical.component).compiled.iter();
            groups.enumerate().filter_map(move |(at, group)| {
                Some(Self {
                    physical: id,
                    group: CompiledId::from_index(at),
                    slot: physical.compiled[at],
                    schedule: group.schedule.as_ref()?,
                    position: None,
                })
            })
        });
        programs.collect()
    }

    /// The slot of the signal that is high while it runs.
    pub fn slot(&self) -> SlotId {
        self.slot
    }

    /// Goes on to the cycle in which the signals have the values `now`.
    pub fn advance(&mut self, now: &[u64]) {
        let next = self.position.map_or(0, |at| at + 1);
        let active = now[self.slot.index()] == 1;
        self.position = active
            .then(|| next.checked_rem(self.schedule.latency))
            .flatten();
    }

    /// Cycles since it became active, modulo its latency; `None` if it is not.
    pub fn position(&self) -> Option<u64> {
        self.position
    }

    /// Goes back or on to the cycle with this position.
    pub fn set_position(&mut self, position: Option<u64>) {
        self.position = position;
    }

    /// Its schedule, and where it is in it; `None` if it does not run.
    pub fn running(&self) -> Option<(&'a Schedule, u64)> {
        Some((self.schedule, self.position?))
    }

    /// Whether it runs in this cycle.
    pub fn is_active(&self) -> bool {
        self.position.is_some()
    }

    /// The innermost statement that certainly runs in this cycle; `None` if the program does not run,
    /// or there is no such statement.
    pub fn statement(&self) -> Option<ControlId> {
        self.schedule.at(self.position?)
    }
}
