//! The published crates.

use std::io::Write;
use std::path::{Path, PathBuf};

use calyx_frontend::{LibrarySignatures, NamespaceDef, Workspace};
use calyx_ir as ir;
use calyx_opt::analysis::{LiveRangeAnalysis, ShareSet};
use calyx_opt::pass_manager::PassManager;
use calyx_opt::traversal::{ConstructVisitor, Named, Visitor};
use calyx_utils::{CalyxResult, FileIdx, GPosIdx, GlobalPositionTable, OutputFile};

/// What petal's pass that inserts probes is called in pass managers.
pub const INSTRUMENTATION: &str = "profiler-instrumentation";

/// Whether the Verilog checks at the rising edge of the clock that no two assignments drive a port, rather than at any time.
pub const CONFLICTS_FAIL_AT_EDGE: bool = false;

/// Reads a program and all that it imports, which is beside it or in the folder `library`.
///
/// # Errors
/// When a file is missing or is not Calyx.
pub fn workspace(program: &Path, library: &Path) -> CalyxResult<Workspace> {
    Workspace::construct(&Some(program.to_owned()), library)
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
    workspace.merge_namespace(file, is_source, folder, false, library)
}

/// A copy of a file that has no components, but imports and primitives alone.
pub fn declarations(file: &NamespaceDef) -> Option<NamespaceDef> {
    file.components.is_empty().then(|| NamespaceDef {
        imports: file.imports.clone(),
        components: Vec::new(),
        externs: file.externs.clone(),
        metadata: file.metadata.clone(),
    })
}

/// Checks names and types.
///
/// # Errors
/// When the program has a wrong one.
pub fn ast_to_ir(workspace: Workspace) -> CalyxResult<ir::Context> {
    ir::from_ast::ast_to_ir(workspace)
}

/// Adds a file to the table of positions.
pub fn position_file(name: String, text: String) -> FileIdx {
    GlobalPositionTable::as_mut().add_file(name, text)
}

/// Adds a place, in bytes of a file, to the table of positions.
pub fn position(file: FileIdx, start: usize, end: usize) -> GPosIdx {
    GPosIdx(GlobalPositionTable::as_mut().add_pos(file, start, end))
}

/// All passes and aliases of the compiler.
///
/// # Errors
/// When two have the same name.
pub fn default_passes() -> CalyxResult<PassManager> {
    PassManager::default_passes()
}

/// Registers a pass.
///
/// # Errors
/// When one has its name.
pub fn register_pass<P: Visitor + ConstructVisitor + Named>(
    manager: &mut PassManager,
) -> CalyxResult<()> {
    manager.register_pass::<P>()
}

/// Registers an alias for passes.
///
/// # Errors
/// When one has its name.
pub fn add_alias(manager: &mut PassManager, name: &str, passes: Vec<String>) -> CalyxResult<()> {
    manager.add_alias(name.to_owned(), passes)
}

/// Runs a pass, or those of an alias.
///
/// # Errors
/// When a pass refuses the program.
pub fn run_pass(manager: &PassManager, ctx: &mut ir::Context, pass: &str) -> CalyxResult<()> {
    manager.execute_plan(ctx, &[pass.to_owned()], &[], false)
}

/// Prepares the library of a compiled program for the backend. Links may be made in `folder`.
///
/// # Errors
/// When one can't be made.
pub fn prepare_library(_: &mut LibrarySignatures, _: &Path) -> std::io::Result<()> {
    Ok(())
}

/// When in one run of a control program its cells are in use.
pub fn live_ranges(
    control: &mut ir::Control,
    state_share: ShareSet,
    share: ShareSet,
) -> LiveRangeAnalysis {
    LiveRangeAnalysis::new(control, state_share, share)
}

/// An output of the compiler that goes to a file.
pub fn output_file(path: PathBuf) -> OutputFile {
    OutputFile::File(path)
}

/// Opens an output of the compiler.
pub fn writer(output: &OutputFile) -> Box<dyn Write> {
    output.get_write()
}
