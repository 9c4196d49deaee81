//! Gives the `if`s and loops that a pass built anew the identity of those that they were.
//!
//! `static-promotion` makes new nodes for what it promotes, without their attributes, and may put their parts into another
//! order, but each holds the same enables as before. Where several hold the same ones, they are nested in one another, as
//! before. What is not certain stays without an identity.

use std::collections::{HashMap, HashSet};

use petal_metadata::ControlKind;
use petal_program::tree::{NodeKey, Slot, View, ViewMut};

use crate::align::Shape;

/// The enables at or below a node, by their numbers in the program before the pass: how many, and the first and last one.
/// With none added or lost, these tell which they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Enables {
    count: usize,
    first: usize,
    last: usize,
}

impl Enables {
    const NONE: Self = Self {
        count: 0,
        first: usize::MAX,
        last: 0,
    };

    fn with(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    fn one(number: usize) -> Self {
        Self {
            count: 1,
            first: number,
            last: number,
        }
    }
}

/// What an `if` or loop is known by: whether it is a loop, and what is in each of its branches.
type Signature = (bool, Vec<Enables>);

/// The signature of a node of this kind with these children, if it is an `if` or a loop with something in it.
fn signature(kind: ControlKind, children: &[Enables]) -> Option<Signature> {
    let is_if = kind.dynamic() == ControlKind::If;
    let has_some = children.iter().any(|child| child.count > 0);
    ((is_if || kind.is_loop()) && has_some).then(|| (!is_if, children.to_vec()))
}

/// The program before a pass.
#[derive(Default)]
struct Before {
    numbers: HashMap<(NodeKey, Slot), usize>,
    enables: usize,
    /// The `if`s and loops by signature, those around others first.
    known: HashMap<Signature, Vec<NodeKey>>,
}

impl Before {
    fn add(&mut self, shape: &Shape, missing: &HashSet<NodeKey>) -> Enables {
        if shape.children.is_empty() {
            let Some(identity) = shape.identity.filter(|_| shape.group.is_some()) else {
                return Enables::NONE;
            };
            let number = *self.numbers.entry(identity).or_insert(self.enables);
            self.enables += 1;
            return Enables::one(number);
        }
        let children: Vec<Enables> = shape
            .children
            .iter()
            .map(|child| self.add(child, missing))
            .collect();
        let key = shape.identity.map(|(key, _)| key);
        if let Some(key) = key.filter(|key| missing.contains(key))
            && let Some(signature) = signature(shape.kind, &children)
        {
            self.known.entry(signature).or_default().insert(0, key);
        }
        children.into_iter().fold(Enables::NONE, Enables::with)
    }

    /// Lists the `if`s and loops without an identity by signature, those around others first.
    fn find(
        &self,
        view: View<'_>,
        at: &mut usize,
        found: &mut HashMap<Signature, Vec<usize>>,
    ) -> Enables {
        let number = *at;
        *at += 1;
        let children = view.children();
        if children.is_empty() {
            let identity = view.identity().filter(|_| view.group().is_some());
            let number = identity.and_then(|identity| self.numbers.get(&identity));
            return number.map_or(Enables::NONE, |&number| Enables::one(number));
        }
        let children: Vec<Enables> = children
            .into_iter()
            .map(|child| self.find(child, at, found))
            .collect();
        if view.identity().is_none()
            && let Some(signature) = signature(view.kind(), &children)
        {
            found.entry(signature).or_default().insert(0, number);
        }
        children.into_iter().fold(Enables::NONE, Enables::with)
    }
}

fn keys(shape: &Shape, kinds: &impl Fn(ControlKind) -> bool, keys: &mut HashSet<NodeKey>) {
    if kinds(shape.kind) {
        keys.extend(shape.identity.map(|(key, _)| key));
    }
    for child in &shape.children {
        self::keys(child, kinds, keys);
    }
}

/// Gives `if`s and loops of `after` that have no identity the one that they had in `before`, the program before the last pass.
pub(crate) fn restore(before: &Shape, after: ViewMut<'_>) {
    let is_kind = |kind: ControlKind| kind.dynamic() == ControlKind::If || kind.is_loop();
    let mut missing = HashSet::new();
    keys(before, &is_kind, &mut missing);
    let mut lacks = false;
    after.view().walk(&mut |view| {
        if is_kind(view.kind()) {
            match view.identity() {
                Some((key, _)) => {
                    missing.remove(&key);
                }
                None => lacks = true,
            }
        }
    });
    if !lacks || missing.is_empty() {
        return;
    }
    let mut program = Before::default();
    program.add(before, &missing);
    let mut found = HashMap::new();
    program.find(after.view(), &mut 0, &mut found);
    let mut names: HashMap<usize, NodeKey> = HashMap::new();
    for (signature, nodes) in found {
        if let Some(keys) = program.known.get(&signature)
            && keys.len() == nodes.len()
        {
            names.extend(nodes.into_iter().zip(keys.iter().copied()));
        }
    }
    let mut at = 0;
    after.walk(&mut |node| {
        if let Some(&key) = names.get(&at) {
            node.set_identity(key, Slot::Body);
        }
        at += 1;
    });
}
