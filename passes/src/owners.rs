//! Which groups the assignments of a lowered program come from.
//!
//! Owns a mark on each assignment, an attribute that passes keep: it is put on before passes make one group of several, and taken off again
//! before anybody compares the program. Where a pass makes one assignment of several, it is of all their groups.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calyx_ir as ir;
use calyx_opt::passes::MergeAssign;
use calyx_opt::traversal::Named as _;
use petal_metadata::Metadata;

use crate::probes::Probes;

/// The groups that one assignment comes from, by name; empty if it is in none.
pub type Groups = BTreeSet<String>;

/// By component, and the text of each assignment.
pub(crate) type Owners = HashMap<ir::Id, HashMap<String, Groups>>;

/// What passes may do with the marks.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// A mark is a number in this list.
    sets: Vec<Groups>,
    numbers: BTreeMap<Groups, u64>,
    /// By component and group: what the group is called in the source.
    sources: HashMap<(String, String), String>,
}

/// Which assignments one will be made of.
pub(crate) type Merging = HashMap<(ir::Id, ir::Canonical, ir::Canonical), Groups>;

fn attribute() -> ir::Attribute {
    ir::Attribute::Unknown("petal_owner".into())
}

impl Marks {
    /// Marks the assignments of all groups that have no mark yet.
    pub fn mark(&mut self, ctx: &mut ir::Context) {
        for component in &mut ctx.components {
            for group in component.get_groups().iter() {
                let mut group = group.borrow_mut();
                let number = self.number(BTreeSet::from([group.name().to_string()]));
                group.assignments.iter_mut().for_each(|of| add(of, number));
            }
            for group in component.get_static_groups().iter() {
                let mut group = group.borrow_mut();
                let number = self.number(BTreeSet::from([group.name().to_string()]));
                group.assignments.iter_mut().for_each(|of| add(of, number));
            }
            for group in component.comb_groups.iter() {
                let mut group = group.borrow_mut();
                let number = self.number(BTreeSet::from([group.name().to_string()]));
                group.assignments.iter_mut().for_each(|of| add(of, number));
            }
        }
    }

    /// What `pass` is about to make one of, if it makes one of several.
    pub fn merging(&self, ctx: &mut ir::Context, pass: &str) -> Option<Merging> {
        if pass != MergeAssign::name() {
            return None;
        }
        let mut merging = Merging::new();
        for component in &mut ctx.components {
            let name = component.name;
            let mut see = |of: &ir::Attributes, ends| {
                let groups = self.groups(of);
                merging.entry(key(name, ends)).or_default().extend(groups);
            };
            component.for_each_assignment(|of| see(&of.attributes, ends(of)));
            component.for_each_static_assignment(|of| see(&of.attributes, ends(of)));
        }
        Some(merging)
    }

    /// Marks what it has made of them.
    pub fn merged(&mut self, ctx: &mut ir::Context, merging: &Merging) {
        for component in &mut ctx.components {
            let name = component.name;
            let mut set = |attributes: &mut ir::Attributes, ends| {
                let groups = merging.get(&key(name, ends)).cloned().unwrap_or_default();
                if groups.len() > 1 {
                    attributes.insert(attribute(), self.number(groups));
                }
            };
            component.for_each_assignment(|of| {
                let ends = ends(of);
                set(&mut of.attributes, ends);
            });
            component.for_each_static_assignment(|of| {
                let ends = ends(of);
                set(&mut of.attributes, ends);
            });
        }
    }

    /// Takes in what groups are called in the source: the passes have made others of some.
    pub fn name(&mut self, probes: &Probes, metadata: &Metadata) {
        for component in &metadata.components {
            let Some(probed) = probes.components.get(&component.name.as_str().into()) else {
                continue;
            };
            for (probe, run) in probed.runs.iter().zip(&component.runs) {
                let key = (component.name.clone(), probe.group.to_string());
                let source = component.group(run.group).name.clone();
                self.sources.insert(key, source);
            }
        }
    }

    /// Takes all marks off again.
    pub fn take(self, ctx: &mut ir::Context) -> Owners {
        let mut owners = Owners::new();
        for component in &mut ctx.components {
            let of_component = owners.entry(component.name).or_default();
            for assignment in &mut component.continuous_assignments {
                let source = |group: String| {
                    let key = (component.name.to_string(), group);
                    self.sources.get(&key).cloned().unwrap_or(key.1)
                };
                let groups = self.groups(&assignment.attributes).into_iter().map(source);
                assignment.attributes.remove(attribute());
                let text = ir::Printer::assignment_to_str(assignment);
                of_component.entry(text).or_default().extend(groups);
            }
        }
        owners
    }

    fn groups(&self, attributes: &ir::Attributes) -> Groups {
        let number = attributes.get(attribute());
        let set = number.and_then(|number| self.sets.get(usize::try_from(number).ok()?));
        set.cloned().unwrap_or_default()
    }

    fn number(&mut self, groups: Groups) -> u64 {
        let sets = &mut self.sets;
        *self.numbers.entry(groups.clone()).or_insert_with(|| {
            sets.push(groups);
            sets.len() as u64 - 1
        })
    }
}

fn key(
    component: ir::Id,
    (to, from): (ir::Canonical, ir::Canonical),
) -> (ir::Id, ir::Canonical, ir::Canonical) {
    (component, to, from)
}

fn ends<T>(assignment: &ir::Assignment<T>) -> (ir::Canonical, ir::Canonical) {
    let (to, from) = (assignment.dst.borrow(), assignment.src.borrow());
    (to.canonical(), from.canonical())
}

fn add<T>(assignment: &mut ir::Assignment<T>, number: u64) {
    if !assignment.attributes.has(attribute()) {
        assignment.attributes.insert(attribute(), number);
    }
}
