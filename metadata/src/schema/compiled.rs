//! What the compiler made of a control program: its groups, their states, and the registers that hold these.

use serde::{Deserialize, Serialize};

use crate::ids::{CompiledId, ControlId, RegisterId};
use crate::probe::ProbeName;
use crate::schedule::Schedule;

/// A group that the compiler made to run a control node, or the leaf that such a group runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompiledGroup {
    /// Name in the compiled program.
    pub name: String,
    /// The innermost source node that contains all that it runs.
    pub node: Option<ControlId>,
    /// High while it is active.
    pub probe: ProbeName,
    /// What a static program runs in each cycle after it has become active.
    pub schedule: Option<Schedule>,
    /// How it runs its children.
    pub kind: CompiledKind,
}

impl CompiledGroup {
    /// The source nodes that certainly run in its first cycle.
    pub fn first_statements(&self) -> Vec<ControlId> {
        self.statements_in(|_| 0)
    }

    /// The source nodes that certainly run in its last cycle.
    pub fn last_statements(&self) -> Vec<ControlId> {
        self.statements_in(|schedule| schedule.latency.saturating_sub(1))
    }

    fn statements_in(&self, cycle: impl Fn(&Schedule) -> u64) -> Vec<ControlId> {
        let mut statements = Vec::from_iter(self.node);
        if let Some(schedule) = &self.schedule {
            let mut add = |statement| statements.push(statement);
            schedule.visit(cycle(schedule), &|_| false, &mut add);
        }
        statements
    }
}

/// How a compilation group runs its children.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompiledKind {
    /// Nothing below it but group runs: a user group, or the wrapper of a static program.
    Leaf,
    /// A finite-state machine.
    Fsm {
        /// Its state register.
        register: RegisterId,
        /// The states in which something runs.
        states: Vec<FsmState>,
        /// The state in which it is done.
        last: u64,
    },
    /// Parallel arms.
    Par {
        /// The arms, in the compiler's order.
        arms: Vec<Arm>,
    },
}

/// A state of a finite-state machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FsmState {
    /// Value of the state register.
    pub value: u64,
    /// What runs in that state.
    pub child: CompiledId,
}

/// An arm of a compiled `par`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arm {
    /// The par-done register of the arm.
    pub register: RegisterId,
    /// What runs in the arm.
    pub child: CompiledId,
}

/// A register that the compiler made to hold control state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRegister {
    /// Name of the register cell in the compiled program.
    pub name: String,
    /// What it holds.
    pub kind: RegisterKind,
}

impl ControlRegister {
    /// The Verilog signal, in the module of the register's component, that carries its value.
    pub fn signal(&self) -> String {
        format!("{}_out", self.name)
    }
}

/// What a control register holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegisterKind {
    /// The state of a finite-state machine that runs dynamic control.
    Fsm,
    /// Whether an arm of a `par` is done.
    ParDone,
    /// The cycle within a static program, or whether one has run.
    StaticFsm,
}
