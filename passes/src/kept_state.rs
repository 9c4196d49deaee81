//! Cells that lose what they have to keep from one activation of their component to the next.
//!
//! The pass `cell-share` of Calyx 0.7.1 looks at one activation: of two registers that are never in use at the
//! same time of it, it makes one, even where a later activation reads what an earlier one has left there. Newer
//! versions look at a component as at the body of a loop (pull request 2071 of the compiler's repository), and
//! so does this file, with the analysis of the pass itself. Owns which cells the pass joins although that
//! keeps them apart. Changes nothing: the design that is profiled is the one that is built.

use std::collections::{BTreeSet, HashMap, HashSet};

use calyx_ir as ir;
use calyx_opt::analysis::ShareSet;
use petal_program::instances;

/// The pass that joins cells.
pub(crate) const PASS: &str = "cell-share";

/// Pairs of cells, by component.
pub(crate) type Pairs = HashMap<ir::Id, Vec<[ir::Id; 2]>>;

/// Cells that were made one although they have to keep what they hold, each with its component.
pub type Joined = BTreeSet<(String, Vec<String>)>;

/// The pairs of cells of one type that are in use at the same time if what they hold counts after the end of an
/// activation. The entry point has no other activation, but components of which it has cells keep something as well.
pub(crate) fn pairs(ctx: &ir::Context) -> Pairs {
    let state_share = ShareSet::from_context::<true>(ctx);
    let share = ShareSet::from_context::<false>(ctx);
    let mut all = cells_of(&instances::keeping(ctx), ctx);
    let components = ctx.components.iter();
    let others = components.filter(|component| component.name != ctx.entrypoint);
    for component in others {
        let body = ir::Cloner::control(&component.control.borrow());
        let mut again = ir::Control::repeat(2, Box::new(body));
        let live = petal_compiler::live_ranges(&mut again, state_share.clone(), share.clone());
        let mut uses = HashMap::new();
        live.get_live_control_data(
            &mut HashMap::new(),
            &mut HashMap::new(),
            &mut uses,
            &HashSet::new(),
            &again,
        );
        let pairs: &mut Vec<_> = all.entry(component.name).or_default();
        for cells in uses.into_values() {
            let mut cells: Vec<_> = cells.into_iter().collect();
            cells.sort_by_key(|(cell, _)| *cell);
            for (at, (one, here)) in cells.iter().enumerate() {
                let others = cells[at + 1..].iter();
                let others = others.filter(|(_, there)| !here.is_disjoint(there));
                pairs.extend(others.map(|(other, _)| [*one, *other]));
            }
        }
    }
    all
}

/// The pairs of cells of one of these components.
fn cells_of(of: &BTreeSet<ir::Id>, ctx: &ir::Context) -> Pairs {
    let pairs = ctx.components.iter().map(|component| {
        let cells = component.cells.iter().filter_map(|cell| {
            let cell = cell.borrow();
            let of = cell.type_name().filter(|name| of.contains(name))?;
            Some((of, cell.name()))
        });
        let cells: Vec<_> = cells.collect();
        let pairs = cells.iter().enumerate().flat_map(|(at, (of, one))| {
            let others = cells[at + 1..].iter().filter(move |(other, _)| other == of);
            others.map(|(_, other)| [*one, *other])
        });
        (component.name, pairs.collect())
    });
    pairs.collect()
}
