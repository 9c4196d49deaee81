//! Numbers for what is accessed, for who accesses it, and for `par`s.

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{ComponentId, ControlId, Id as _};
use petal_reconstruct::{Instance, InstanceId};

use super::Accessor;

/// A number for all that has a name.
#[derive(Debug, Default)]
pub(super) struct Names {
    cells: Numbered<String>,
    locations: Numbered<(usize, Option<u64>)>,
    pub sites: Numbered<Accessor>,
    pub pars: Numbered<(InstanceId, ControlId)>,
}

/// A number for each of a kind, from 0 on.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    list: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    pub fn number(&mut self, of: T) -> usize {
        let next = self.list.len();
        let list = &mut self.list;
        *self.numbers.entry(of).or_insert_with_key(|of| {
            list.push(of.clone());
            next
        })
    }
}

impl Names {
    pub fn location(&mut self, (cell, word): (&str, Option<u64>)) -> usize {
        let cell = self.cells.number(cell.to_owned());
        self.locations.number((cell, word))
    }

    /// The number of the register or memory at a location.
    pub fn cell(&self, location: usize) -> usize {
        self.locations.list[location].0
    }

    /// The path of the register or memory at a location, and the word of it.
    pub fn place(&self, location: usize) -> (&str, Option<u64>) {
        let (cell, word) = self.locations.list[location];
        (&self.cells.list[cell], word)
    }

    pub fn site(&self, site: usize) -> &Accessor {
        &self.sites.list[site]
    }

    /// The number of a `par`, if something in one of its arms has accessed something.
    pub fn known_par(&self, instance: InstanceId, control: ControlId) -> Option<usize> {
        self.pars.numbers.get(&(instance, control)).copied()
    }

    /// The `par` of a number.
    pub fn par(&self, number: usize, instances: &[Instance]) -> (ComponentId, ControlId) {
        let (instance, control) = self.pars.list[number];
        (instances[instance.index()].component, control)
    }
}
