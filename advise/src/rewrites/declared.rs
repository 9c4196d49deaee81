//! Whether primitives are declared as those of the standard library are.
//!
//! What a primitive does is its Verilog's, and petal simulates only what it knows by that. But which of its ports start it, how long
//! it takes and whether it is combinational is what its declaration says, and a user's library may say anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::OnceLock;

use calyx_frontend::{NamespaceDef, Primitive};
use calyx_ir as ir;
use petal_program::{library, parsing};

/// Whether a cell has the name of the component that has it: rules know cells by their names.
pub(super) fn names_itself(ctx: &ir::Context) -> bool {
    let mut components = ctx.components.iter();
    components.any(|component| {
        let this = component.signature.borrow().name();
        component
            .find_cell(this)
            .is_some_and(|cell| !cell.borrow().is_this())
    })
}

/// What rules take from a declaration.
struct Declaration {
    is_comb: bool,
    latency: Option<u64>,
    sharing: BTreeSet<&'static str>,
    /// By name: whether it is an input, and what is said of it.
    ports: BTreeMap<String, (bool, BTreeMap<&'static str, u64>)>,
}

impl Declaration {
    fn of(primitive: &Primitive) -> Self {
        let sharing = [
            ("share", ir::BoolAttr::Share),
            ("state_share", ir::BoolAttr::StateShare),
        ];
        let sharing = sharing.into_iter();
        let ports = primitive.signature.iter().map(|port| {
            let numbers = [
                ("go", ir::NumAttr::Go),
                ("done", ir::NumAttr::Done),
                ("interval", ir::NumAttr::Interval),
            ];
            let flags = [
                ("stable", ir::BoolAttr::Stable),
                ("clk", ir::BoolAttr::Clk),
                ("reset", ir::BoolAttr::Reset),
            ];
            let numbers = numbers.into_iter();
            let numbers = numbers
                .filter_map(|(name, attribute)| Some((name, port.attributes.get(attribute)?)));
            let flags = flags.into_iter();
            let flags =
                flags.filter_map(|(name, attribute)| Some((name, port.attributes.get(attribute)?)));
            let is_input = port.direction == ir::Direction::Input;
            (
                port.name().to_string(),
                (is_input, numbers.chain(flags).collect()),
            )
        });
        Self {
            is_comb: primitive.is_comb,
            latency: primitive.latency.map(u64::from),
            sharing: sharing
                .filter(|(_, attribute)| primitive.attributes.has(*attribute))
                .map(|(name, _)| name)
                .collect(),
            ports: ports.collect(),
        }
    }

    /// Whether it says nothing that the other one does not say.
    fn is_within(&self, other: &Self) -> bool {
        let port = |name: &String, (is_input, said): &(bool, BTreeMap<&str, u64>)| {
            let of_other = other.ports.get(name);
            of_other.is_some_and(|(is_other, known)| {
                is_input == is_other
                    && said
                        .iter()
                        .all(|(what, value)| known.get(what) == Some(value))
            })
        };
        self.is_comb == other.is_comb
            && self.latency == other.latency
            && self.sharing.is_subset(&other.sharing)
            && self.ports.len() == other.ports.len()
            && self.ports.iter().all(|(name, said)| port(name, said))
    }
}

/// The primitives of the standard library, with what newer ones have. Parses it, the first time.
fn standard() -> &'static HashMap<String, Declaration> {
    static STANDARD: OnceLock<HashMap<String, Declaration>> = OnceLock::new();
    STANDARD.get_or_init(|| {
        let _alone = parsing();
        let files = library::files().iter();
        let parsed = files
            .filter(|(name, _)| Path::new(name).extension().is_some_and(|of| of == "futil"))
            .filter_map(|(_, text)| NamespaceDef::construct_from_str(text).ok());
        let primitives = parsed
            .flat_map(|file| file.externs)
            .flat_map(|(_, primitives)| primitives);
        primitives
            .map(|primitive| (primitive.name.to_string(), Declaration::of(&primitive)))
            .collect()
    })
}

/// What has to be parsed before the compiler is asked.
pub(super) fn read_standard() {
    standard();
}

/// Whether a program has a cell of a primitive that is not in the standard library, or of which something is said that is not said there.
pub(super) fn has_others(ctx: &ir::Context) -> bool {
    // Of a component, nobody checks it.
    let is_stable = |component: &ir::Component| {
        let signature = component.signature.borrow();
        let mut ports = signature.ports.iter();
        ports.any(|port| port.borrow().attributes.has(ir::BoolAttr::Stable))
    };
    if ctx.components.iter().any(is_stable) {
        return true;
    }
    let cells = ctx
        .components
        .iter()
        .flat_map(|component| component.cells.iter());
    let used: BTreeSet<ir::Id> = cells
        .filter_map(|cell| match &cell.borrow().prototype {
            ir::CellType::Primitive { name, .. } => Some(*name),
            _ => None,
        })
        .collect();
    used.into_iter().any(|name| {
        let declared = ctx.lib.find_primitive(name).map(Declaration::of);
        let known = standard().get(name.as_ref());
        !matches!((declared, known), (Some(declared), Some(known)) if declared.is_within(known))
    })
}
