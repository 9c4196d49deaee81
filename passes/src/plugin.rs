//! The passes `encode-control` and `profiler-instrumentation` (`petal-instrumentation` where the compiler has one of that name), for the pass managers of other
//! drivers.
//!
//! Owns what only a plug-in needs: the two visitors, the aliases, and where a session is kept
//! between their turns. The pass manager makes a new pass object for every turn and hands it
//! nothing but the program, so the sessions live beside it, one per program. A mark on a component
//! tells which program it is: all programs have a `main`, and contexts move. petal itself holds its
//! session in a variable ([`crate::instrument`]).

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use calyx_ir as ir;
use calyx_opt::pass_manager::PassManager;
use calyx_opt::traversal::{
    Action, ConstructVisitor, Named, ParseVal, PassOpt, VisResult, Visitor,
};
use calyx_utils::{CalyxResult, Error, OutputFile};
use petal_program::Written;

use crate::marker;
use crate::pipeline::{ALL, COMPILATION, CONTROL_COMPILATION, NO_OPT, expand};
use crate::session::{Phase, Session};

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
        Written::STEP
    }

    fn description() -> &'static str {
        "give every control node an identity that reaches the compiled program"
    }
}

impl Visitor for EncodeControl {
    fn start_context(&mut self, ctx: &mut ir::Context) -> VisResult {
        let mut turn = Turn::of(ctx)?;
        turn.session.follow(ctx)?;
        turn.end(ctx);
        Ok(Action::Stop)
    }
}

/// Inserts the probes, and emits the metadata, which have their meaning.
///
/// The pass has three turns. The first, between the optimiser and control compilation, probes
/// groups and their calls:
///
/// ```text
/// // before                              // after
/// group mul {                            group mul {
///   m.go = !m.done ? 1'd1;                 m.go = !m.done ? 1'd1;
///   r.in = m.out;                          r.in = m.out;
///   r.write_en = m.done;                   r.write_en = m.done;
///   mul[done] = r.done;                    mul[done] = r.done;
/// }                                        petal_cp_1.in = !m.done ? 1'd1;
///                                          petal_cp_2.in = m.done;
///                                          petal_ga_0.in = 1'd1;
///                                        }
/// ```
///
/// The second, right after control compilation, probes the compilation groups. The third, at the
/// end, emits the metadata (option `metadata`).
#[derive(Debug)]
pub struct Instrumentation {
    metadata: Option<OutputFile>,
}

impl Named for Instrumentation {
    fn name() -> &'static str {
        petal_compiler::INSTRUMENTATION
    }

    fn description() -> &'static str {
        "insert probes that tell what is active, and emit the metadata that explains them"
    }

    fn opts() -> Vec<PassOpt> {
        vec![PassOpt::new(
            "metadata",
            "Where to write the metadata (JSON)",
            ParseVal::OutStream(OutputFile::Null),
            PassOpt::parse_outstream,
        )]
    }
}

impl ConstructVisitor for Instrumentation {
    fn from(ctx: &ir::Context) -> CalyxResult<Self> {
        let options = Self::get_opts(ctx);
        Ok(Self {
            metadata: options["metadata"].not_null_outstream(),
        })
    }

    fn clear_data(&mut self) {}
}

impl Visitor for Instrumentation {
    fn start_context(&mut self, ctx: &mut ir::Context) -> VisResult {
        let mut turn = Turn::of(ctx)?;
        match turn.session.phase {
            Phase::Source => {
                turn.session.follow(ctx)?;
                turn.session.probe(ctx);
            }
            Phase::Probed => turn.session.control_compiled(ctx)?,
            Phase::Compiled => {
                let mut metadata = turn.session.metadata(ctx).ok_or_else(|| {
                    Error::misc(format!("{} lost the main component", Self::name()))
                })?;
                metadata.seal();
                marker::name(ctx, &metadata);
                turn.last(ctx);
                if let Some(file) = &self.metadata {
                    petal_compiler::writer(file)
                        .write_all(metadata.to_json().as_bytes())
                        .map_err(|error| Error::write_error(error.to_string()))?;
                }
                return Ok(Action::Stop);
            }
        }
        turn.end(ctx);
        Ok(Action::Stop)
    }
}

/// The sessions of the programs that are being compiled on this thread. One whose compilation
/// failed stays until the thread ends.
#[derive(Default)]
struct Sessions {
    open: HashMap<u64, Session>,
    next: u64,
}

thread_local! {
    static SESSIONS: RefCell<Sessions> = RefCell::default();
}

/// One turn of a pass, with the session of the program that it has been given. The mark is off the
/// program meanwhile, so that nothing of the program depends on how many came before it.
struct Turn {
    mark: u64,
    session: Session,
}

impl Turn {
    /// Takes the session of `ctx`, or begins it.
    fn of(ctx: &mut ir::Context) -> CalyxResult<Self> {
        let marked = ctx.components.iter_mut().find_map(|component| {
            let mark = component.attributes.get(mark_attribute())?;
            component.attributes.remove(mark_attribute());
            Some(mark)
        });
        SESSIONS.with_borrow_mut(|sessions| match marked {
            Some(mark) => {
                let session = sessions.open.remove(&mark).ok_or_else(|| {
                    Error::misc(
                        "the metadata of this program have been emitted already; \
                         start again from the source"
                            .to_owned(),
                    )
                })?;
                Ok(Self { mark, session })
            }
            None => {
                let mark = sessions.next;
                sessions.next += 1;
                let session = Session::of(ctx, Arc::default());
                Ok(Self { mark, session })
            }
        })
    }

    /// Keeps the session for the next turn.
    fn end(self, ctx: &mut ir::Context) {
        let Self { mark, session } = self;
        SESSIONS.with_borrow_mut(|sessions| sessions.open.insert(mark, session));
        set_mark(ctx, mark);
    }

    /// Forgets the session. The mark tells a later turn that there was one.
    fn last(self, ctx: &mut ir::Context) {
        set_mark(ctx, self.mark);
    }
}

fn mark_attribute() -> ir::Attribute {
    ir::Attribute::Unknown("petal_session".into())
}

fn set_mark(ctx: &mut ir::Context, mark: u64) {
    let main = ctx.entrypoint;
    if let Some(main) = ctx.components.iter_mut().find(|c| c.name == main) {
        main.attributes.insert(mark_attribute(), mark);
    }
}

/// Registers `encode-control` and `profiler-instrumentation`, and the aliases `profile-all` and
/// `profile-no-opt`: the stock pipelines with these passes in their places. The metadata goes
/// where the option `metadata=FILE` of [`Instrumentation`] tells. Several programs may be
/// compiled on one thread, one after the other or in turns.
///
/// # Errors
/// When a pass or alias of that name is registered already, or a stock alias is missing.
pub fn register(manager: &mut PassManager) -> CalyxResult<()> {
    petal_compiler::register_pass::<EncodeControl>(manager)?;
    petal_compiler::register_pass::<Instrumentation>(manager)?;
    for stock in [ALL, NO_OPT] {
        let passes = expand(manager, stock)
            .ok_or_else(|| Error::misc(format!("the stock alias `{stock}` is not registered")))?;
        petal_compiler::add_alias(manager, &format!("profile-{stock}"), weave(&passes))?;
    }
    Ok(())
}

/// Puts petal's passes into a list of passes, where [`crate::instrument`] does the same steps.
fn weave(passes: &[String]) -> Vec<String> {
    let encode = EncodeControl::name().to_owned();
    let instrument = Instrumentation::name().to_owned();
    let mut woven = vec![encode.clone()];
    let mut probed = false;
    let mut compiled = false;
    for pass in passes {
        if !probed && COMPILATION.contains(&pass.as_str()) {
            woven.push(instrument.clone());
            probed = true;
        }
        woven.push(pass.clone());
        if pass == CONTROL_COMPILATION {
            woven.push(instrument.clone());
            compiled = true;
        } else if !compiled {
            woven.push(encode.clone());
        }
    }
    woven.push(instrument);
    woven
}
