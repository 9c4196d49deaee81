//! Interned texts: each is written once, and then stands as a number.

use foldhash::HashMap;

use super::proto;

/// How many texts of a kind are interned; others are written where they stand.
const MAX_INTERNED: usize = 1 << 16;

/// Numbers for texts.
#[derive(Debug, Default)]
pub(super) struct Interner {
    ids: HashMap<String, u64>,
    /// Those that were not written yet.
    new: Vec<(u64, String)>,
}

impl Interner {
    /// The number of a text; `None` if there are too many.
    pub fn intern(&mut self, text: &str) -> Option<u64> {
        if let Some(&id) = self.ids.get(text) {
            return Some(id);
        }
        if self.ids.len() == MAX_INTERNED {
            return None;
        }
        let id = self.ids.len() as u64 + 1;
        self.ids.insert(text.to_owned(), id);
        self.new.push((id, text.to_owned()));
        Some(id)
    }

    /// The texts that were not written yet.
    pub fn take_new(&mut self) -> Vec<proto::Interned> {
        let new = self.new.drain(..);
        new.map(|(iid, name)| proto::Interned {
            iid: Some(iid),
            name: Some(name),
        })
        .collect()
    }
}
