//! What began and did not end, by its tag.

use std::collections::{HashMap, VecDeque};

/// A beginning: its cycle, and the values that were recorded in it.
pub(crate) type Beginning = (u64, Box<[u64]>);

/// What began and did not end.
#[derive(Clone, Default)]
pub(crate) struct Open {
    /// The beginning of each, in their order; `None` of those that have ended.
    began: VecDeque<Option<Beginning>>,
    /// The number of the first of these.
    first: usize,
    /// How many have not ended.
    pub count: u64,
    of_tag: HashMap<u64, VecDeque<usize>>,
}

impl Open {
    /// Begins one.
    pub fn begin(&mut self, beginning: Beginning, tag: u64) {
        let number = self.first + self.began.len();
        self.began.push_back(Some(beginning));
        self.of_tag.entry(tag).or_default().push_back(number);
        self.count += 1;
    }

    /// Ends the first that has this tag, and tells of its beginning.
    pub fn end(&mut self, tag: u64) -> Option<Beginning> {
        let with_tag = self.of_tag.get_mut(&tag)?;
        let number = with_tag.pop_front();
        if with_tag.is_empty() {
            self.of_tag.remove(&tag);
        }
        let beginning = self.began[number? - self.first].take();
        while let Some(None) = self.began.front() {
            self.began.pop_front();
            self.first += 1;
        }
        self.count -= 1;
        beginning
    }

    /// The first cycles of all that are open, in their order.
    pub fn starts(&self) -> impl Iterator<Item = u64> + '_ {
        self.began.iter().flatten().map(|&(cycle, _)| cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::Open;

    #[test]
    fn ends_find_the_first_beginning_of_their_tag() {
        let mut open = Open::default();
        for (cycle, tag) in [(0, 7), (1, 8), (2, 7), (3, 9)] {
            open.begin((cycle, Box::default()), tag);
        }
        let mut end = |tag| open.end(tag).map(|(cycle, _)| cycle);
        assert_eq!(end(8), Some(1));
        assert_eq!(end(8), None);
        assert_eq!(end(7), Some(0));
        assert_eq!(end(7), Some(2));
        assert_eq!((open.count, open.starts().next()), (1, Some(3)));
    }

    #[test]
    fn what_has_ended_is_forgotten_whatever_the_order() {
        // As many looks as there are beginnings: what is kept goes from the oldest open one to the latest.
        let mut open = Open::default();
        for number in 0..1000 {
            open.begin((number, Box::default()), number);
        }
        for number in (1..1000).rev() {
            assert_eq!(open.end(number), Some((number, Box::default())));
        }
        assert_eq!((open.began.len(), open.of_tag.len()), (1000, 1));
        assert_eq!(open.end(0), Some((0, Box::default())));
        assert!(open.began.is_empty() && open.of_tag.is_empty());
    }
}
