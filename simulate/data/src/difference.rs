//! In what two contents of the same memories differ.

use std::fmt::{self, Display, Formatter};

use num_bigint::BigUint;

use crate::Data;

/// A word that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The memory.
    pub memory: String,
    /// The indices of the word, outermost first.
    pub index: Vec<u64>,
    /// The number that it is, and the one that it is in the other contents.
    pub values: [String; 2],
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.memory)?;
        for index in &self.index {
            write!(f, "[{index}]")?;
        }
        let [value, other] = &self.values;
        write!(f, " is {value} and not {other}")
    }
}

impl Data {
    /// The first word that is another one in `other`, in the order of the memories that both have.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        let zero = BigUint::ZERO;
        self.memories.iter().find_map(|memory| {
            let of = other.memories.iter().find(|of| of.name == memory.name)?;
            let words = memory.words.keys().chain(of.words.keys());
            let get = |words: &crate::Words, at| words.get(at).unwrap_or(&zero).clone();
            let differ = words.filter(|at| get(&memory.words, at) != get(&of.words, at));
            let at = differ.min()?;
            Some(Difference {
                memory: memory.name.clone(),
                index: memory.indices(*at),
                values: [memory, of].map(|of| of.text(&get(&of.words, at))),
            })
        })
    }
}
