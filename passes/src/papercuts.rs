//! What the compiler's pass `papercut` objects to.
//!
//! The pass of the published compiler refuses the first such place of a design, that of newer ones warns of all. Some front ends write
//! them with care: CIRCT sets `write_en = 1'd0` wherever it reads a memory. So petal warns of all, or refuses all. Owns the pass's
//! rules; a test holds their verdicts to those of the pass. Changes nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use calyx_ir as ir;
use calyx_opt::analysis::{AssignmentAnalysis, PortInterface};
use calyx_utils::{CalyxResult, GPosIdx, WithPos};
use petal_program::tree::View;

/// The pass.
pub(crate) const PASS: &str = "papercut";

/// What the pass objects to, with the lines.
///
/// # Errors
/// When the declarations of a primitive make no sense.
pub(crate) fn find(ctx: &ir::Context) -> CalyxResult<Vec<String>> {
    let interfaces = Interfaces {
        together: PortInterface::write_together_specs(ctx.lib.signatures()),
        reads: PortInterface::comb_path_specs(ctx.lib.signatures())?,
    };
    let mut found = Vec::new();
    for component in &ctx.components {
        let mut problems = Problems::default();
        without_done(component, &mut problems);
        for group in component.get_groups().iter() {
            let group = group.borrow();
            interfaces.check(&group.assignments, &group.attributes, &mut problems);
        }
        for group in component.get_static_groups().iter() {
            let group = group.borrow();
            interfaces.check(&group.assignments, &group.attributes, &mut problems);
        }
        for group in component.comb_groups.iter() {
            let group = group.borrow();
            interfaces.check(&group.assignments, &group.attributes, &mut problems);
        }
        without_group(component, &mut problems);
        found.extend(problems.told(component.name));
    }
    Ok(found)
}

/// The problems of a component: what is wrong, and where.
#[derive(Default)]
struct Problems(BTreeMap<String, Vec<GPosIdx>>);

impl Problems {
    fn add(&mut self, what: String, at: &impl WithPos) {
        self.0.entry(what).or_default().push(at.copy_span());
    }

    /// One line for each, in the order of their first places.
    fn told(self, component: ir::Id) -> Vec<String> {
        let begin = |places: &[GPosIdx]| {
            let first = places.first().and_then(|place| place.into_option());
            first.map(|place| place.get_location().1)
        };
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by_key(|(_, places)| begin(places));
        let told = all.into_iter().map(|(what, places)| {
            let lines: Vec<_> = places.into_iter().filter_map(line).collect();
            let Some(((file, first), others)) = lines.split_first() else {
                return format!("component `{component}`: {what} (`{PASS}`)");
            };
            let mut numbers: Vec<usize> = others.iter().map(|(_, number)| *number).collect();
            numbers.dedup();
            numbers.retain(|number| number != first);
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let others = match numbers.as_slice() {
                [] => String::new(),
                numbers => format!(" (also in line {})", numbers.join(", ")),
            };
            format!("{file}:{first}: {what} (`{PASS}`){others}")
        });
        told.collect()
    }
}

/// Which ports of primitives belong together.
struct Interfaces {
    /// Of a primitive, sets of inputs of which a group drives all or none.
    together: HashMap<ir::Id, Vec<HashSet<ir::Id>>>,
    /// Of a primitive, outputs and the inputs that a group drives if it reads them.
    reads: HashMap<ir::Id, Vec<(ir::Id, HashSet<ir::Id>)>>,
}

/// The ports of cells of primitives, by cell and primitive. Names are in the order of the alphabet, which that of ids is not.
type Ports = BTreeMap<(String, ir::Id), BTreeSet<String>>;

fn ports(ports: impl Iterator<Item = ir::RRC<ir::Port>>) -> Ports {
    let mut all = Ports::new();
    for port in ports {
        let port = port.borrow();
        let ir::PortParent::Cell(cell) = &port.parent else {
            continue;
        };
        let cell = cell.upgrade();
        let cell = cell.borrow();
        if let ir::CellType::Primitive { name, .. } = &cell.prototype {
            let ports = all.entry((cell.name().to_string(), *name)).or_default();
            ports.insert(port.name.to_string());
        }
    }
    all
}

impl Interfaces {
    fn check<T: Clone>(
        &self,
        assignments: &[ir::Assignment<T>],
        at: &impl WithPos,
        problems: &mut Problems,
    ) {
        let driven = ports(assignments.iter().analysis().writes());
        let read = ports(assignments.iter().analysis().reads());
        let none = BTreeSet::new();
        let list = |cell: &str, ports: &[String]| {
            let ports = ports.iter().map(|port| format!("`{cell}.{port}`"));
            ports.collect::<Vec<_>>().join(" and ")
        };
        for (key @ (cell, primitive), read) in &read {
            let driven = driven.get(key).unwrap_or(&none);
            for (port, needed) in self.reads.get(primitive).into_iter().flatten() {
                let missing = missing(needed, driven);
                if read.contains(port.as_ref()) && !missing.is_empty() {
                    let missing = list(cell, &missing);
                    let what = format!(
                        "`{cell}.{port}` is read where {missing} of the `{primitive}` is not driven"
                    );
                    problems.add(what, at);
                }
            }
        }
        for ((cell, primitive), driven) in &driven {
            for together in self.together.get(primitive).into_iter().flatten() {
                let there: Vec<String> = driven.intersection(&sorted(together)).cloned().collect();
                let missing = missing(together, driven);
                if !there.is_empty() && !missing.is_empty() {
                    let (there, missing) = (list(cell, &there), list(cell, &missing));
                    let what = format!(
                        "{there} is driven and {missing} is not, which belong together in a `{primitive}`"
                    );
                    problems.add(what, at);
                }
            }
        }
    }
}

fn sorted(ports: &HashSet<ir::Id>) -> BTreeSet<String> {
    ports.iter().map(ToString::to_string).collect()
}

fn missing(needed: &HashSet<ir::Id>, driven: &BTreeSet<String>) -> Vec<String> {
    sorted(needed).difference(driven).cloned().collect()
}

/// The file and the line of a place.
fn line(place: GPosIdx) -> Option<(String, usize)> {
    let shown = place.into_option()?.format("");
    let (file, rest) = shown.split_once('\n')?;
    let (number, _) = rest.split_once(" |")?;
    Some((file.to_owned(), number.trim().parse().ok()?))
}

/// A component without control that never tells that it is done.
fn without_done(component: &ir::Component, problems: &mut Problems) {
    let is_invoked = !component.attributes.has(ir::BoolAttr::NoInterface) && !component.is_comb;
    if !is_invoked || !matches!(*component.control.borrow(), ir::Control::Empty(_)) {
        return;
    }
    let signature = component.signature.borrow();
    for port in signature.find_all_with_attr(ir::NumAttr::Done) {
        let name = port.borrow().name;
        let mut assignments = component.continuous_assignments.iter();
        let is_driven = assignments.any(|assignment| {
            let driven = assignment.dst.borrow();
            driven.name == name && !driven.is_hole()
        });
        if !is_driven {
            let what = format!(
                "`{}` has no control and never drives `{name}`, so whoever runs it waits for ever",
                component.name
            );
            problems.add(what, &component.attributes);
        }
    }
}

/// Conditions that are outputs of combinational cells which nothing drives meanwhile.
fn without_group(component: &ir::Component, problems: &mut Problems) {
    let continuous = component.continuous_assignments.iter().analysis();
    let driven: HashSet<ir::Id> = continuous
        .cell_writes()
        .map(|cell| cell.borrow().name())
        .collect();
    View::of(&component.control.borrow()).walk(&mut |view| {
        let (kind, port, attributes) = match view {
            View::Dynamic(ir::Control::If(node)) if node.cond.is_none() => {
                ("if", &node.port, &node.attributes)
            }
            View::Dynamic(ir::Control::While(node)) if node.cond.is_none() => {
                ("while", &node.port, &node.attributes)
            }
            _ => return,
        };
        let port = port.borrow();
        let ir::PortParent::Cell(cell) = &port.parent else {
            return;
        };
        let cell = cell.upgrade();
        let cell = cell.borrow();
        if let ir::CellType::Primitive { is_comb: true, .. } = &cell.prototype
            && !driven.contains(&cell.name())
        {
            let what = format!(
                "the condition `{}.{}` of this `{kind}` is always 0: nothing drives `{0}`; name its comb group by `with`",
                cell.name(),
                port.name
            );
            problems.add(what, attributes);
        }
    });
}
