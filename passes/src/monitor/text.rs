//! A lowered program as Calyx that any driver reads: components, and imports of the primitives that are in them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use calyx_frontend::{Primitive, PrimitiveInfo};
use calyx_ir as ir;
use petal_program::{Program, ProgramError, library};

use crate::error::PassesError;

/// Where a primitive comes from.
enum Origin {
    /// A file of the standard library.
    Import(String),
    /// A text.
    Text(String),
    /// Every compiler has it.
    Known,
}

/// The text of a program whose library is in `folder`, or in that of `more`.
pub(super) fn text(
    ctx: &ir::Context,
    folder: &Path,
    more: &Program,
) -> Result<String, PassesError> {
    let mut imports = BTreeSet::new();
    let mut texts = BTreeSet::new();
    for primitive in used(ctx) {
        let origin = origin(&ctx.lib, primitive, folder)?;
        let origin = match origin {
            Some(origin) => Some(origin),
            None => self::origin(&more.ctx.lib, primitive, more.library.path())?,
        };
        match origin.expect("a cell's primitive is defined") {
            Origin::Import(file) => drop(imports.insert(file)),
            Origin::Text(text) => drop(texts.insert(text)),
            Origin::Known => {}
        }
    }
    let mut text = String::new();
    for file in imports {
        let _ = writeln!(text, "import \"primitives/{file}\";");
    }
    text.extend(texts);
    let mut components = Vec::new();
    for component in &ctx.components {
        let written = ir::Printer::write_component(component, &mut components);
        written.expect("memory can be written");
        components.push(b'\n');
    }
    text.push_str(&String::from_utf8_lossy(&components));
    Ok(text)
}

/// The primitives that cells are of.
fn used(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let cells = ctx.components.iter().flat_map(|of| of.cells.iter());
    let primitives = cells.filter_map(|cell| match cell.borrow().prototype {
        ir::CellType::Primitive { name, .. } => Some(name),
        _ => None,
    });
    primitives.collect()
}

fn origin(
    lib: &ir::LibrarySignatures,
    name: ir::Id,
    folder: &Path,
) -> Result<Option<Origin>, PassesError> {
    for info in lib.prim_infos() {
        match info {
            PrimitiveInfo::Extern {
                path, primitives, ..
            } => {
                if let Some(primitive) = primitives.get(&name) {
                    return of_file(path, primitive, folder).map(Some);
                }
            }
            PrimitiveInfo::Inline { primitive, .. } => {
                if primitive.name == name {
                    return Ok(Some(of_text(primitive)));
                }
            }
        }
    }
    Ok(None)
}

/// Of a primitive whose Verilog is in a file.
fn of_file(path: &Path, primitive: &Primitive, folder: &Path) -> Result<Origin, PassesError> {
    let real = |path: &Path| {
        let real = path.canonicalize();
        real.map_err(|source| ProgramError::Library {
            path: path.to_owned(),
            source,
        })
    };
    let (path, folder) = (real(path)?, real(folder)?);
    if let Ok(inside) = path.strip_prefix(folder) {
        let file = inside.with_extension("futil");
        let file = file.strip_prefix("primitives").unwrap_or(&file);
        let file = file.to_string_lossy();
        if library::files().contains_key(&*file) {
            return Ok(Origin::Import(file.into_owned()));
        }
    }
    let mut text = Vec::new();
    let primitives = std::iter::once(primitive);
    let written = ir::Printer::write_externs((&path, primitives), &mut text);
    written.expect("memory can be written");
    Ok(Origin::Text(String::from_utf8_lossy(&text).into_owned()))
}

/// Of a primitive that is defined in Calyx.
fn of_text(primitive: &Primitive) -> Origin {
    let body = primitive.body.as_deref().unwrap_or_default().trim();
    let definition = format!("primitive {}", primitive.name);
    let mut files = library::files().iter();
    let file = files.find(|(_, text)| text.contains(&definition) && text.contains(body));
    match file {
        Some((file, _)) if file == "compile.futil" => Origin::Known,
        Some((file, _)) => Origin::Import(file.clone()),
        None => {
            let mut text = Vec::new();
            let written = ir::Printer::write_primitive(primitive, 0, &mut text);
            written.expect("memory can be written");
            Origin::Text(String::from_utf8_lossy(&text).into_owned())
        }
    }
}
