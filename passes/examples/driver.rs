//! A Calyx driver that uses petal's passes as a plug-in: compiles a design with probes, prints the
//! Verilog of its components, and writes the metadata beside it.
//!
//! ```text
//! cargo run -p petal-passes --example driver -- DESIGN.futil LIBRARY METADATA.json
//! ```

use std::path::{Path, PathBuf};

use calyx_backend::{Backend, VerilogBackend};
use calyx_frontend::Workspace;
use calyx_ir::from_ast::ast_to_ir;
use calyx_opt::pass_manager::PassManager;
use calyx_utils::{CalyxResult, Error, OutputFile};

fn main() -> CalyxResult<()> {
    let mut args = std::env::args().skip(1);
    let (Some(design), Some(library), Some(metadata)) = (args.next(), args.next(), args.next())
    else {
        return Err(Error::misc(
            "usage: driver DESIGN.futil LIBRARY METADATA.json",
        ));
    };

    let mut manager = PassManager::default_passes()?;
    petal_passes::register(&mut manager)?;

    let workspace = Workspace::construct(&Some(PathBuf::from(design)), Path::new(&library))?;
    let mut ctx = ast_to_ir(workspace)?;
    ctx.extra_opts
        .push(format!("profiler-instrumentation:metadata={metadata}"));
    manager.execute_plan(&mut ctx, &["profile-all".to_owned()], &[], false)?;

    VerilogBackend.run(ctx, OutputFile::Stdout)
}
