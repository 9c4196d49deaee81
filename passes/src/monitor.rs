//! Puts a monitor into a compiled design: hardware that stores which events happen in which cycle, with values.
//!
//! It goes in when all passes have run, so nothing is left that it could change, and adds only: cells, what drives those, and ports that
//! lead signals out of components. That this is so is checked. The probes go, after their signals were taken where events want them.
//!
//! Before, and after:
//!
//! ```text
//! component main(@go go: 1, …) -> (@done done: 1) {      component main(@go go: 1, …) -> (@done done: 1) {
//!   cells {                                                cells {
//!     r = std_reg(8);                                        r = std_reg(8);
//!     @external petal_ga_0 = petal_probe();                  petal_copy = std_slice(1, 1);
//!   }                                                        @external petal_mask = seq_mem_d1(1, 256, 8); …
//!   wires {                                                }
//!     petal_ga_0.in = fsm.out == 1'd0 ? 1'd1; …            wires {
//!                                                            petal_copy.in = fsm.out == 1'd0 ? 1'd1;
//!                                                            petal_mask.write_data = petal_copy.out; …
//! ```

mod gates;
mod signals;
mod text;

use calyx_ir as ir;
use petal_metadata::{Metadata, Monitor, MonitorMemory, ProbePrefix};
use petal_program::{Library, Program, Source, guarded_own};

use self::gates::Gates;
use self::signals::Signals;
use crate::design::{Design, Memory};
use crate::error::PassesError;
use crate::instrument::is_probe;
use crate::structure::Structure;

/// What petal's own step is called where it fails.
const STEP: &str = "monitor";

/// What a wire is in a monitor: as many bits of a signal as it has. Of a `std_wire` that three cells read, Calyx's pass `comb-prop` makes one that nobody
/// drives, if the design is compiled again.
const WIRE: &str = "std_slice";

/// The files of the standard library that have what monitors are made of.
const LIBRARY: &str = r#"
import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "primitives/memories/seq.futil";
component main() -> () { cells {} wires {} control {} }
"#;

/// A design with a monitor in it.
#[derive(Debug)]
pub struct Monitored {
    /// The lowered design as Calyx.
    pub text: String,
    /// The memories of main: those of the design, then the monitor's.
    pub memories: Vec<Memory>,
}

impl Design {
    /// The design with a monitor in it.
    ///
    /// # Errors
    /// When the library can't be read, or the monitor turns out to change the design.
    ///
    /// # Panics
    /// If the monitor looks at signals that the design does not have.
    pub fn monitored(
        mut self,
        metadata: &Metadata,
        monitor: &Monitor,
    ) -> Result<Monitored, PassesError> {
        let library = Library::new(&[])?;
        let parts = Program::read(
            Source::Text {
                name: STEP.into(),
                text: LIBRARY.to_owned(),
            },
            &library,
        )?;
        let path = self.path.clone();
        guarded_own(&path, STEP, || {
            self.add_monitor(metadata, monitor, &parts.ctx.lib);
            Ok(())
        })?;
        let memories = self.memories.iter().cloned();
        let memories = memories.chain(
            monitor
                .memories()
                .into_iter()
                .map(|of| memory(metadata, of)),
        );
        Ok(Monitored {
            memories: memories.collect(),
            text: text::text(&self.program, self.library.path(), &parts)?,
        })
    }

    fn add_monitor(&mut self, metadata: &Metadata, monitor: &Monitor, lib: &ir::LibrarySignatures) {
        let prefix = &metadata.prefix;
        let ctx = &mut self.program;
        let plain = Structure::of(ctx);
        let mut signals = Signals::new(ctx, lib, prefix);
        let parts = monitor.circuit.parts().iter();
        let ports: Vec<_> = parts.map(|part| signals.port(part)).collect();
        let done = signals.done();
        remove_probes(ctx, prefix);
        let entrypoint = ctx.entrypoint;
        let mut main = ctx.components.iter_mut();
        let main = main.find(|of| of.name == entrypoint);
        let main = main.expect("a program has its entry point");
        Gates::new(main, lib, prefix, &done).add(monitor, ports);
        assert!(
            Structure::without(ctx, prefix) == plain,
            "the monitor changes the design"
        );
        // Nothing static is left to compile, and drivers look for it by this.
        for component in &mut ctx.components {
            component.latency = None;
        }
    }
}

fn memory(metadata: &Metadata, (memory, width, words): (MonitorMemory, u32, u64)) -> Memory {
    let name = metadata.prefix.named(&memory.name());
    Memory {
        instance: name.clone(),
        name,
        width: u64::from(width),
        dims: vec![words],
    }
}

/// Removes the cells that look at signals, with what drives them.
fn remove_probes(ctx: &mut ir::Context, prefix: &ProbePrefix) {
    for component in &mut ctx.components {
        component.continuous_assignments.retain(|assignment| {
            let cell = assignment.dst.borrow().cell_parent();
            !is_probe(&cell.borrow(), prefix)
        });
        component
            .cells
            .retain(|cell| !is_probe(&cell.borrow(), prefix));
    }
}
