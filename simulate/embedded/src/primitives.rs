//! The primitives of the Calyx standard library, each as its Verilog describes it: the outputs as
//! functions of state and inputs, and the state after the clock's edge.
//!
//! One file for each file of the library (`core` has the prelude, too), and `unit` what all of them are
//! made of. A new primitive is one more arm in the `unit` of its file. Knows no Calyx: whether a name
//! means the library's primitive is decided in `program.rs`.

mod binary_operators;
mod core;
mod division;
mod float;
mod math;
mod memories;
mod pipelined;
mod sync;
mod timed;
mod unit;

use crate::graph::Graph;

pub use timed::TIMED;
pub(crate) use unit::{Cell, Inputs, Unit, WIDTHS};

impl Cell<'_> {
    /// The unit of this cell; `None` if it is not a primitive of the standard library.
    pub fn unit(&self, graph: &mut Graph) -> Option<Unit> {
        if let Some(unit) = self
            .cycles
            .and_then(|cycles| timed::unit(self, graph, cycles))
        {
            return Some(unit);
        }
        core::unit(self, graph)
            .or_else(|| binary_operators::unit(self, graph))
            .or_else(|| math::unit(self, graph))
            .or_else(|| memories::unit(self, graph))
            .or_else(|| pipelined::unit(self, graph))
            .or_else(|| sync::unit(self, graph))
            .or_else(|| float::unit(self, graph))
    }
}
