//! How much memory a simulation of a program takes at most: its memories, and its instances of
//! components, whose number can grow exponentially with the length of the program.
//!
//! Owns the estimate and the refusal. Allocates nothing itself.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use calyx_ir as ir;
use calyx_utils::{GPosIdx, WithPos as _};

use crate::error::ProgramError;

/// What an instance of a component takes for each port of its own and of its cells, in bytes: about
/// what was measured, from the compiled program to the report.
const PORT: u128 = 2048;

/// Checks that a simulation of the program in `path` takes at most `limit` bytes, if every word of
/// its memories is written.
///
/// # Errors
/// [`ProgramError::Size`] with the memory or the component that takes most.
pub(crate) fn check(ctx: &ir::Context, path: &Path, limit: u64) -> Result<(), ProgramError> {
    let instances = instances(ctx);
    let mut total = 0u128;
    let mut largest: Option<(u128, Consumer<'_>)> = None;
    let mut add = |bytes: u128, part| {
        total = total.saturating_add(bytes);
        if largest.as_ref().is_none_or(|(most, _)| bytes > *most) {
            largest = Some((bytes, part));
        }
    };
    for component in &ctx.components {
        let Some(instances) = instances.get(&component.name) else {
            continue;
        };
        let mut ports = component.signature.borrow().ports.len();
        for cell in component.cells.iter() {
            ports += cell.borrow().ports.len();
            if let Some(memory) = Memory::of(&cell.borrow(), component.name) {
                let bytes = memory.bytes().saturating_mul(instances.count.into());
                add(bytes, Consumer::Memory(memory, instances.count));
            }
        }
        let bytes = PORT
            .saturating_mul(ports as u128)
            .saturating_mul(instances.count.into());
        add(bytes, Consumer::Instances(component.name, instances));
    }
    match largest {
        Some((_, part)) if total > u128::from(limit) => Err(part.refused(path, total, limit)),
        _ => Ok(()),
    }
}

/// The instances of a component.
#[derive(Debug, Clone, Default)]
struct Instances {
    /// The number, or the largest number there is.
    count: u64,
    /// Where its first cell is, if it has a cell.
    place: Option<GPosIdx>,
}

/// The instances of all components below the entry point.
fn instances(ctx: &ir::Context) -> HashMap<ir::Id, Instances> {
    let components: HashMap<ir::Id, &ir::Component> = ctx
        .components
        .iter()
        .map(|component| (component.name, component))
        .collect();
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    visit(ctx.entrypoint, &components, &mut seen, &mut order);
    let mut instances: HashMap<ir::Id, Instances> = HashMap::new();
    instances.entry(ctx.entrypoint).or_default().count = 1;
    // Those that have cells of a component come before it.
    for component in order.into_iter().rev() {
        let count = instances
            .get(&component.name)
            .map_or(0, |instances| instances.count);
        for (cell, place) in component_cells(component) {
            let below = instances.entry(cell).or_default();
            below.count = below.count.saturating_add(count);
            below.place = below.place.or(place);
        }
    }
    instances
}

/// Adds the component `name` to `order`, after all that it has cells of. What has cells of itself is
/// left to the compiler to refuse.
fn visit<'a>(
    name: ir::Id,
    components: &HashMap<ir::Id, &'a ir::Component>,
    seen: &mut HashSet<ir::Id>,
    order: &mut Vec<&'a ir::Component>,
) {
    let Some(component) = components.get(&name) else {
        return;
    };
    if !seen.insert(name) {
        return;
    }
    for (cell, _) in component_cells(component) {
        visit(cell, components, seen, order);
    }
    order.push(component);
}

/// The components that a component has cells of, with the places of the cells. A `ref` cell is
/// somebody else's.
fn component_cells(component: &ir::Component) -> Vec<(ir::Id, Option<GPosIdx>)> {
    let cells = component.cells.iter().map(|cell| cell.borrow());
    cells
        .filter(|cell| cell.is_component() && !cell.is_reference())
        .filter_map(|cell| Some((cell.type_name()?, cell.attributes.copy_span().into_option())))
        .collect()
}

/// A cell that is a memory.
struct Memory {
    cell: ir::Id,
    component: ir::Id,
    /// Bits of a word.
    width: u64,
    /// Number of words in each dimension.
    sizes: Vec<u64>,
    place: Option<GPosIdx>,
}

impl Memory {
    /// The memory that a cell of `component` is, if it is one of the standard library's.
    fn of(cell: &ir::Cell, component: ir::Id) -> Option<Self> {
        let name = cell.type_name()?;
        let dimensions = name.as_ref().split_once("_mem_d")?.1;
        if !cell.is_primitive::<&str>(None) || cell.is_reference() {
            return None;
        }
        let sizes: Option<Vec<u64>> = match dimensions {
            "1" => Some(vec![cell.get_parameter("SIZE")?]),
            "2" | "3" | "4" => (0..dimensions.parse().ok()?)
                .map(|dimension: u32| cell.get_parameter(format!("D{dimension}_SIZE")))
                .collect(),
            _ => None,
        };
        Some(Self {
            cell: cell.name(),
            component,
            width: cell.get_parameter("WIDTH")?,
            sizes: sizes?,
            place: cell.attributes.copy_span().into_option(),
        })
    }

    /// The number of words, or the largest number there is.
    fn words(&self) -> u128 {
        let sizes = self.sizes.iter().map(|size| u128::from(*size));
        sizes.fold(1, u128::saturating_mul)
    }

    /// What it takes: words of 64 bits.
    fn bytes(&self) -> u128 {
        let word = u128::from(self.width.div_ceil(64)) * 8;
        self.words().saturating_mul(word)
    }
}

/// What takes memory.
enum Consumer<'a> {
    /// A memory, and how often it is there.
    Memory(Memory, u64),
    /// A component.
    Instances(ir::Id, &'a Instances),
}

impl Consumer<'_> {
    fn refused(self, path: &Path, total: u128, limit: u64) -> ProgramError {
        let (place, what) = match self {
            Self::Memory(memory, count) => {
                let times = match count {
                    1 => String::new(),
                    count => format!(", and there are {count} of it"),
                };
                let what = format!(
                    "the memory `{}` of component `{}` has {} words of {} bits{times}",
                    memory.cell,
                    memory.component,
                    memory.words(),
                    memory.width
                );
                (memory.place, what)
            }
            Self::Instances(component, instances) => {
                let what = format!(
                    "there are {} instances of component `{component}`",
                    instances.count
                );
                (instances.place, what)
            }
        };
        let place = place.map_or_else(|| path.display().to_string(), located);
        ProgramError::Size {
            place,
            what,
            bytes: readable(total),
            limit: readable(limit.into()),
        }
    }
}

/// The file and the line of a place.
fn located(place: GPosIdx) -> String {
    let (file, ..) = place.get_location();
    // The compiler tells the line only with its text.
    let shown = place.show();
    let line = shown.split_whitespace().next().unwrap_or_default();
    format!("{file}:{line}")
}

/// A number of bytes for people.
fn readable(bytes: u128) -> String {
    const UNITS: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
    let mut unit = "bytes";
    let mut scale = 1;
    for larger in UNITS {
        if bytes / scale < 1024 {
            break;
        }
        scale *= 1024;
        unit = larger;
    }
    let tenths = (bytes.saturating_mul(10).saturating_add(scale / 2)) / scale;
    match tenths % 10 {
        0 => format!("{} {unit}", tenths / 10),
        tenth => format!("{}.{tenth} {unit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_of_bytes() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            ((12 << 30) - (1 << 27), "11.9 GiB"),
            (1 << 67, "128 EiB"),
        ] {
            assert_eq!(super::readable(bytes), expected);
        }
    }
}
