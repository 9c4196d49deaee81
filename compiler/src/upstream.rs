//! Upstream's main branch.

use std::io::Write;
use std::path::{Path, PathBuf};

use calyx_frontend::{LibrarySignatures, NamespaceDef, PrimitiveInfo, Workspace};
use calyx_ir as ir;
use calyx_ir::from_ast::AstConversionConfig;
use calyx_opt::analysis::{LiveRangeAnalysis, ShareSet};
use calyx_opt::pass_manager::PassManager;
use calyx_opt::traversal::{ConstructVisitor, Named, Visitor};
use calyx_utils::{
    CalyxResult, Error, FileIdx, GPosIdx, GlobalPositionTable, MultiError, OutputFile,
};

/// What petal's pass that inserts probes is called in pass managers. The compiler has one of its own that is called `profiler-instrumentation`.
pub const INSTRUMENTATION: &str = "petal-instrumentation";

/// Whether the Verilog checks at the rising edge of the clock that no two assignments drive a port, rather than at any time.
pub const CONFLICTS_FAIL_AT_EDGE: bool = true;

/// Reads a program and all that it imports, which is beside it or in the folder `library`.
///
/// # Errors
/// When a file is missing or is not Calyx.
pub fn workspace(program: &Path, library: &Path) -> CalyxResult<Workspace> {
    Workspace::construct(&Some(program.to_owned()), &[library.to_owned()])
}

/// Adds a file to a workspace. Returns the files that it imports, and whether each is a part of the source.
///
/// # Errors
/// When a file is missing.
pub fn add_file(
    workspace: &mut Workspace,
    file: NamespaceDef,
    is_source: bool,
    folder: &Path,
    library: &Path,
) -> CalyxResult<Vec<(PathBuf, bool)>> {
    workspace.merge_namespace(file, is_source, folder, false, &[library.to_owned()])
}

/// A copy of a file that has no components, but imports and primitives alone.
pub fn declarations(file: &NamespaceDef) -> Option<NamespaceDef> {
    file.components.is_empty().then(|| NamespaceDef {
        imports: file.imports.clone(),
        components: Vec::new(),
        externs: file.externs.clone(),
        metadata: file.metadata.clone(),
        source_info_table: file.source_info_table.clone(),
    })
}

/// Checks names and types.
///
/// # Errors
/// When the program has a wrong one.
pub fn ast_to_ir(workspace: Workspace) -> CalyxResult<ir::Context> {
    ir::from_ast::ast_to_ir(workspace, AstConversionConfig::default())
}

/// Adds a file to the table of positions.
pub fn position_file(name: String, text: String) -> FileIdx {
    GlobalPositionTable::add_file(name, text)
}

/// Adds a place, in bytes of a file, to the table of positions.
pub fn position(file: FileIdx, start: usize, end: usize) -> GPosIdx {
    GPosIdx(GlobalPositionTable::add_pos(file, start, end))
}

/// All passes and aliases of the compiler.
///
/// # Errors
/// When two have the same name.
pub fn default_passes() -> CalyxResult<PassManager> {
    PassManager::default_passes().map_err(one)
}

/// Registers a pass.
///
/// # Errors
/// When one has its name.
pub fn register_pass<P: Visitor + ConstructVisitor + Named>(
    manager: &mut PassManager,
) -> CalyxResult<()> {
    manager.register_pass::<P>().map_err(one)
}

/// Registers an alias for passes.
///
/// # Errors
/// When one has its name.
pub fn add_alias(manager: &mut PassManager, name: &str, passes: Vec<String>) -> CalyxResult<()> {
    manager.add_alias(name.to_owned(), passes).map_err(one)
}

/// Runs a pass, or those of an alias.
///
/// # Errors
/// When a pass refuses the program.
pub fn run_pass(manager: &PassManager, ctx: &mut ir::Context, pass: &str) -> CalyxResult<()> {
    let plan = [pass.to_owned()];
    manager
        .execute_plan(ctx, &plan, &[], &[], false)
        .map_err(one)
}

/// Prepares the library of a compiled program for the backend. Links may be made in `folder`.
///
/// The backend looks for `HardFloat` itself, in places of its own, where the path of a file has `float/` in it; whoever gives
/// the Verilog to a simulator knows better where it is. So the backend sees such files through links.
///
/// # Errors
/// When one can't be made.
pub fn prepare_library(library: &mut LibrarySignatures, folder: &Path) -> std::io::Result<()> {
    let seen = |path: &Path| path.to_string_lossy().contains("float/");
    if !library.extern_paths().iter().any(|path| seen(path)) {
        return Ok(());
    }
    let mut prepared = LibrarySignatures::default();
    for (at, info) in library.prim_infos().iter().enumerate() {
        match info {
            PrimitiveInfo::Extern {
                path, primitives, ..
            } => {
                let mut file = path.clone();
                if seen(path) {
                    file = folder.join(format!("extern-{at}.sv"));
                    if !file.exists() {
                        std::os::unix::fs::symlink(path, &file)?;
                    }
                }
                for primitive in primitives.values() {
                    prepared.add_extern_primitive(file.clone(), primitive.clone());
                }
            }
            PrimitiveInfo::Inline { primitive, .. } => {
                prepared.add_inline_primitive(primitive.clone());
            }
        }
    }
    *library = prepared;
    Ok(())
}

/// When in one run of a control program its cells are in use.
pub fn live_ranges(
    control: &mut ir::Control,
    state_share: ShareSet,
    share: ShareSet,
) -> LiveRangeAnalysis {
    LiveRangeAnalysis::new(control, state_share, share, true)
}

/// An output of the compiler that goes to a file.
pub fn output_file(path: PathBuf) -> OutputFile {
    OutputFile::file(path)
}

/// Opens an output of the compiler.
pub fn writer(output: &OutputFile) -> Box<dyn Write> {
    // It remembers to append once it was opened.
    output.clone().get_write()
}

/// All errors of a pass as one, which has their places in its text.
#[allow(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` hands over"
)]
fn one(errors: MultiError) -> Error {
    Error::misc(format!("{errors:?}"))
}
