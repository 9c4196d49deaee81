//! The pass `profiler-instrumentation`: inserts probes and emits the metadata.

use std::io::Write;

use calyx_ir as ir;
use calyx_opt::traversal::{
    Action, ConstructVisitor, Named, ParseVal, PassOpt, VisResult, Visitor,
};
use calyx_utils::{CalyxResult, Error, OutputFile};

use crate::{compiled, emit, instrument, session};

/// Inserts the probes, and emits the metadata that tells what they mean.
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
        "profiler-instrumentation"
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
        session::with(|session| -> CalyxResult<()> {
            if session.probes.is_none() {
                session.observe(ctx);
                instrument::instrument(ctx, session)
            } else if session.compiled.is_empty() {
                session.compiled = compiled::follow_all(ctx, session)?;
                Ok(())
            } else {
                session.metadata = emit::metadata(ctx, session);
                match (&session.metadata, &self.metadata) {
                    (Some(metadata), Some(file)) => file
                        .get_write()
                        .write_all(metadata.to_json().as_bytes())
                        .map_err(|error| Error::write_error(error.to_string())),
                    _ => Ok(()),
                }
            }
        })?;
        Ok(Action::Stop)
    }
}
