//! Which part of the program a name in the netlist stands for.
//!
//! Owns the way back from the names of the Verilog, which the compiler's backend makes, to cells and groups. A name that it did not make stands for nothing.

use std::collections::{BTreeMap, BTreeSet};

use petal_passes::{Groups, SynthesisComponent, Synthesizable};

/// A copy of a component in the whole design.
#[derive(Debug)]
pub(crate) struct Instance {
    /// As petal writes it: `main.s`.
    pub path: String,
    /// The number of its component.
    pub component: usize,
    /// What names of the netlist in it begin with: empty for main, else `s.`.
    prefix: String,
}

/// What stands behind a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A cell of a primitive: instance, number of the cell.
    Cell(usize, usize),
    /// Wiring: instance, the groups of each assignment behind it.
    Wiring(usize, Vec<Groups>),
}

/// What the names of a netlist stand for.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    pub design: &'a Synthesizable,
    pub instances: Vec<Instance>,
    by_name: BTreeMap<String, Source>,
    /// Cells of primitives by the name of their module in the flat design.
    cells: BTreeMap<String, (usize, usize)>,
}

impl<'a> Names<'a> {
    pub fn new(design: &'a Synthesizable) -> Self {
        let guards: Vec<_> = design
            .components
            .iter()
            .map(|of| guards(&design.hardware.verilog, of))
            .collect();
        let mut names = Self {
            design,
            instances: Vec::new(),
            by_name: BTreeMap::new(),
            cells: BTreeMap::new(),
        };
        if let Some(main) = design.components.first() {
            // A wrapper that the compiler made is no part of the program.
            names.add("", &main.module, 0, &guards);
        }
        names
    }

    fn add(&mut self, prefix: &str, path: &str, component: usize, guards: &[Guards]) {
        let of = &self.design.components[component];
        let at = self.instances.len();
        self.instances.push(Instance {
            path: path.to_owned(),
            component,
            prefix: prefix.to_owned(),
        });
        for (wire, groups) in &of.drivers {
            let source = Source::Wiring(at, groups.clone());
            self.by_name.insert(format!("{prefix}{wire}"), source);
        }
        for (guard, groups) in &guards[component] {
            let source = Source::Wiring(at, vec![groups.clone()]);
            self.by_name.insert(format!("{prefix}{guard}"), source);
        }
        for (number, cell) in of.cells.iter().enumerate() {
            let name = format!("{prefix}{}", cell.instance);
            if cell.is_component {
                let inner = self
                    .design
                    .components
                    .iter()
                    .position(|of| of.module == cell.prototype);
                if let Some(inner) = inner {
                    let path = format!("{path}.{}", cell.name);
                    self.add(&format!("{name}."), &path, inner, guards);
                }
            } else {
                self.cells.insert(name.clone(), (at, number));
            }
            let through = cell
                .prototype
                .starts_with("std_wire(")
                .then(|| of.drivers.get(&format!("{}_in", cell.instance)));
            for port in &cell.ports {
                let driven = of.drivers.get(&format!("{}_{port}", cell.instance));
                let source = match (driven.or(through.flatten()), cell.is_component) {
                    (Some(groups), _) => Source::Wiring(at, groups.clone()),
                    (None, false) => Source::Cell(at, number),
                    // The component's own names tell.
                    (None, true) => continue,
                };
                self.by_name
                    .insert(format!("{name}.{port}"), source.clone());
                self.by_name.insert(format!("{name}_{port}"), source);
            }
        }
    }

    /// What is behind the names of one bit: a cell before wiring, and wiring of an assignment before that of guards.
    pub fn source<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<Source> {
        let mut wiring: Option<Source> = None;
        for name in names {
            if name.starts_with('$') {
                continue;
            }
            match self.lookup(name) {
                Some(cell @ Source::Cell(..)) => return Some(cell),
                Some(other) => {
                    let is_better = |one: &Source| rank(&other) < rank(one);
                    if wiring.as_ref().is_none_or(is_better) {
                        wiring = Some(other);
                    }
                }
                None => {}
            }
        }
        wiring
    }

    fn lookup(&self, name: &str) -> Option<Source> {
        if let Some(source) = self.by_name.get(name) {
            return Some(source.clone());
        }
        // Something inside of a primitive.
        let mut module = name;
        while let Some((outer, _)) = module.rsplit_once('.') {
            if let Some(&(instance, cell)) = self.cells.get(outer) {
                return Some(Source::Cell(instance, cell));
            }
            module = outer;
        }
        None
    }

    /// What computes the values of a port of a cell.
    pub fn wiring(&self, instance: usize, cell: usize, port: &str) -> Option<Source> {
        let Instance {
            prefix, component, ..
        } = &self.instances[instance];
        let cell = &self.design.components[*component].cells[cell];
        let source = self
            .by_name
            .get(&format!("{prefix}{}_{port}", cell.instance));
        source
            .filter(|source| matches!(source, Source::Wiring(..)))
            .cloned()
    }
}

/// Of wiring, that of the fewest groups says most.
fn rank(source: &Source) -> (usize, Vec<Groups>) {
    match source {
        Source::Cell(..) => (0, Vec::new()),
        Source::Wiring(_, groups) => {
            let all: BTreeSet<&String> = groups.iter().flatten().collect();
            (
                if all.is_empty() {
                    usize::MAX
                } else {
                    all.len()
                },
                groups.clone(),
            )
        }
    }
}

/// By the wire of a guard: the groups whose assignments it guards.
type Guards = BTreeMap<String, Groups>;

/// Reads the guards of a component in the Verilog of the backend, which gives each a wire and each assignment a line.
fn guards(verilog: &str, component: &SynthesisComponent) -> Guards {
    let begin = format!("// COMPONENT START: {}\n", component.module);
    let end = format!("// COMPONENT END: {}\n", component.module);
    let text = verilog.split_once(&begin).map_or("", |(_, text)| text);
    let text = text.split_once(&end).map_or("", |(text, _)| text);
    let mut guards = Guards::new();
    let mut made_of: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut driven: Option<(&str, usize)> = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("wire _guard") {
            let Some((number, made)) = rest.trim_end_matches(';').split_once(" = ") else {
                continue;
            };
            let name = &line["wire ".len().."wire _guard".len() + number.len()];
            let words = made.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            made_of.push((
                name,
                words.filter(|word| word.starts_with("_guard")).collect(),
            ));
        } else if let Some(rest) = line.strip_prefix("assign ") {
            let Some((wire, value)) = rest.split_once(" =") else {
                continue;
            };
            driven = Some((wire, 0));
            let value = value.trim().trim_end_matches(';');
            if value.starts_with("_guard") {
                add(&mut guards, value, component, wire, 0);
            }
        } else if let Some((guard, _)) = line.trim_start().split_once(" ? ")
            && let Some((wire, at)) = &mut driven
        {
            add(&mut guards, guard, component, wire, *at);
            *at += 1;
        }
    }
    // A guard stands behind those that it is made of.
    for (guard, parts) in made_of.iter().rev() {
        let groups = guards.get(*guard).cloned().unwrap_or_default();
        for part in parts {
            guards
                .entry((*part).to_owned())
                .or_default()
                .extend(groups.iter().cloned());
        }
    }
    guards
}

fn add(guards: &mut Guards, guard: &str, component: &SynthesisComponent, wire: &str, at: usize) {
    let groups = component
        .drivers
        .get(wire)
        .and_then(|drivers| drivers.get(at));
    let all = guards.entry(guard.to_owned()).or_default();
    all.extend(groups.into_iter().flatten().cloned());
}
