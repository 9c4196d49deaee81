//! The variables of the front end in the metadata: each with the cell of the compiled program that holds it.
//!
//! Owns the way from the paths of the front end's table to cells, and from a variable's type to bits. What cannot be
//! followed, or not for certain, is hidden with the reason.

use std::collections::HashMap;

use calyx_ir as ir;
use petal_metadata::{
    CellId, CellKind, Component, ComponentId, FrontEnd, Holder, HolderId, Id, Part, Variable,
};
use petal_program::{Location, SourceVariable};

use crate::session::Session;

/// The widest part that can be looked at, in bits.
const WIDEST: u32 = u64::BITS;

/// The cells that hold variables, by component: the metadata must have entries for them.
pub(super) fn held(session: &Session) -> HashMap<ir::Id, Vec<ir::Id>> {
    let mut held: HashMap<ir::Id, Vec<ir::Id>> = HashMap::new();
    let variables = session.files.variables.iter();
    for location in variables.flat_map(|variable| &variable.locations) {
        let Some((cell, way)) = location.path.split_last() else {
            continue;
        };
        let mut component = Some(session.main);
        for name in way.iter().skip(1) {
            let record = component.and_then(|of| session.components.get(&of));
            let mut instances = record.into_iter().flat_map(|of| &of.source.instances);
            let found = instances.find(|(instance, _)| instance.as_ref() == name);
            component = found.map(|(_, of)| *of);
        }
        if let Some(component) = component {
            held.entry(component).or_default().push(ir::Id::new(cell));
        }
    }
    held
}

/// Gives the front end its variables.
pub(super) fn add(
    front_end: &mut FrontEnd,
    ctx: &ir::Context,
    session: &Session,
    main: ComponentId,
    components: &[Component],
) {
    let mut finder = Finder {
        ctx,
        session,
        main,
        components,
        holders: Vec::new(),
        ids: HashMap::new(),
    };
    let variables = session.files.variables.iter();
    front_end.variables = variables
        .map(|variable| {
            let parts = finder.parts(variable);
            let hidden = parts.as_ref().err().cloned();
            Variable {
                name: variable.name.clone(),
                of: variable.of.clone(),
                parts: parts.unwrap_or_default(),
                hidden,
            }
        })
        .collect();
    front_end.holders = finder.holders;
}

/// What a location names.
struct Found {
    cells: Vec<CellId>,
    is_shared: bool,
    width: u32,
    /// The sizes of a memory.
    sizes: Option<Vec<u64>>,
}

struct Finder<'a> {
    ctx: &'a ir::Context,
    session: &'a Session,
    main: ComponentId,
    components: &'a [Component],
    holders: Vec<Holder>,
    ids: HashMap<Holder, HolderId>,
}

impl Finder<'_> {
    fn parts(&mut self, variable: &SourceVariable) -> Result<Vec<Part>, String> {
        let widths = variable.of.widths();
        if let Some(width) = widths.iter().find(|width| !(1..=WIDEST).contains(width)) {
            return Err(format!(
                "it has a part of {width} bits, and at most {WIDEST} can be looked at"
            ));
        }
        if !variable.is_packed {
            let parts = widths.iter().zip(&variable.locations);
            return parts
                .map(|(&width, location)| self.part(location, 0, width))
                .collect();
        }
        let Some(location) = variable.locations.first() else {
            return Err("it lies nowhere".to_owned());
        };
        // The first part is in the lowest bits.
        let mut low = 0;
        let mut parts = Vec::new();
        for width in widths {
            parts.push(self.part(location, low, width)?);
            low += u64::from(width);
        }
        Ok(parts)
    }

    /// The bits from `low` on of a location. Those of a whole memory are those of its words, one after the other.
    fn part(&mut self, location: &Location, low: u64, width: u32) -> Result<Part, String> {
        let path = location.path.join(".");
        let found = self.find(&location.path)?;
        let (word, low) = match &found.sizes {
            None if !location.address.is_empty() => {
                return Err(format!("`{path}` is a register, which has no words"));
            }
            None => (None, low),
            Some(sizes) if location.address.is_empty() => {
                let of_word = u64::from(found.width.max(1));
                let words = sizes.iter().copied().fold(1, u64::saturating_mul);
                if low / of_word >= words {
                    return Err(format!("it has more bits than `{path}`"));
                }
                (Some(low / of_word), low % of_word)
            }
            Some(sizes) => {
                let inside = location.address.iter().zip(sizes);
                if location.address.len() != sizes.len()
                    || inside.clone().any(|(index, size)| index >= size)
                {
                    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
                    return Err(format!(
                        "the memory `{path}` has the sizes [{}]",
                        sizes.join("][")
                    ));
                }
                let word = inside.fold(0, |word, (index, size)| word * size + index);
                (Some(word), low)
            }
        };
        if low + u64::from(width) > u64::from(found.width) {
            return Err(format!("it has more bits than `{path}`"));
        }
        if found.width > WIDEST {
            return Err(format!(
                "`{path}` has {} bits, and at most {WIDEST} can be looked at",
                found.width
            ));
        }
        let holder = Holder {
            cells: found.cells,
            word,
            is_shared: found.is_shared,
        };
        let next = HolderId::from_index(self.holders.len());
        let id = *self.ids.entry(holder.clone()).or_insert(next);
        if id == next {
            self.holders.push(holder);
        }
        Ok(Part {
            holder: id,
            low: u32::try_from(low).unwrap_or(u32::MAX),
            width,
        })
    }

    fn find(&self, path: &[String]) -> Result<Found, String> {
        let written = path.join(".");
        let lacking = || format!("the compiled design has no `{written}`");
        let mut component = &self.components[self.main.index()];
        let Some((cell, way)) = path.split_last() else {
            return Err(lacking());
        };
        let Some((_, way)) = way.split_first().filter(|(of, _)| **of == component.name) else {
            return Err(format!(
                "`{written}` does not begin with `{}`, the main component",
                component.name
            ));
        };
        let mut cells = Vec::new();
        for name in way {
            let (id, shared) = cell_of(component, name).ok_or_else(lacking)?;
            let cell = component.cell(id);
            let CellKind::Component(inner) = cell.kind else {
                return Err(format!("`{name}` in `{written}` is no component"));
            };
            if cell.is_reference() {
                return Err(format!("`{name}` in `{written}` is a `ref` cell"));
            }
            if shared {
                return Err(format!(
                    "`{name}` in `{written}` shares its hardware with another cell"
                ));
            }
            cells.push(id);
            component = &self.components[inner.index()];
        }
        let (id, _) = cell_of(component, cell).ok_or_else(lacking)?;
        cells.push(id);
        if component.cell(id).is_reference() {
            return Err(format!(
                "`{written}` is a `ref` cell, which stands for another cell in each call"
            ));
        }
        let name = ir::Id::new(&component.name);
        let record = self.session.components.get(&name).ok_or_else(lacking)?;
        let instance = record.sharing.lives_in(ir::Id::new(cell));
        let living = record.source.cells.iter();
        let living = living.filter(|(of, _)| record.sharing.lives_in(*of) == instance);
        let mut all = self.ctx.components.iter();
        let hardware = all.find(|of| of.name == name);
        let hardware = hardware.and_then(|of| of.find_cell(instance));
        let hardware = hardware.ok_or_else(lacking)?;
        let hardware = hardware.borrow();
        let parameter = |name: &str| hardware.get_parameter(name);
        let of = hardware.type_name().map_or("", |of| of.id.as_str());
        let dimensions = of.split_once("_mem_d");
        let dimensions = dimensions.and_then(|(_, count)| count.parse::<u32>().ok());
        let sizes = match (of, dimensions) {
            ("std_reg", _) => None,
            (_, Some(1)) => Some(vec![parameter("SIZE").ok_or_else(lacking)?]),
            (_, Some(count)) => {
                let sizes = (0..count).map(|at| parameter(&format!("D{at}_SIZE")));
                Some(sizes.collect::<Option<_>>().ok_or_else(lacking)?)
            }
            _ => return Err(format!("`{written}` is a `{of}`, which holds no value")),
        };
        let width = parameter("WIDTH").and_then(|width| u32::try_from(width).ok());
        Ok(Found {
            cells,
            is_shared: living.count() > 1,
            width: width.ok_or_else(lacking)?,
            sizes,
        })
    }
}

/// The cell of a name, and whether its hardware does the work of others, too.
fn cell_of(component: &Component, name: &str) -> Option<(CellId, bool)> {
    let at = component.cells.iter().position(|cell| cell.name == name)?;
    let instance = component.cells[at].instance.as_deref();
    let users = component.cells.iter();
    let users = users.filter(|cell| cell.instance.as_deref() == instance);
    let is_shared = instance.is_some() && users.count() > 1;
    Some((CellId::from_index(at), is_shared))
}
