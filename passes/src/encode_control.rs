//! The pass `encode-control`: gives every control node an identity and keeps it.

use calyx_ir as ir;
use calyx_opt::traversal::{Action, Named, VisResult, Visitor};

use crate::session;

/// Gives every control node of the source an identity, and restores it after passes that lose it.
///
/// The pass runs first, and again after every pass up to control compilation. Its first turn marks
/// each node:
///
/// ```text
/// // before                          // after
/// seq {                              @petal_node(0) seq {
///   read;                              @petal_node(1) read;
///   if eq.out { run; }                 @petal_node(2) if eq.out { @petal_node(3) run; }
///   read;                              @petal_node(4) read;
/// }                                  }
/// ```
///
/// A later turn marks what the pass before it built anew; here `compile-invoke`:
///
/// ```text
/// // before                          // after
/// @petal_node(5) seq {               @petal_node(5) seq {
///   invoke0;                           @petal_node(6) invoke0;
/// }                                  }
/// ```
#[derive(Debug, Default)]
pub struct EncodeControl;

impl Named for EncodeControl {
    fn name() -> &'static str {
        "encode-control"
    }

    fn description() -> &'static str {
        "give every control node an identity that reaches the compiled program"
    }
}

impl Visitor for EncodeControl {
    fn start_context(&mut self, ctx: &mut ir::Context) -> VisResult {
        session::with(|session| session.observe(ctx));
        Ok(Action::Stop)
    }
}
