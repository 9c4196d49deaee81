//! What began and did not end, by its tag.

use std::collections::{HashMap, VecDeque};

/// What began and did not end.
#[derive(Default)]
pub(super) struct Open {
    /// The first cycle of each, in the order of the beginnings; `None` of those that have ended.
    began: VecDeque<Option<u64>>,
    /// The number of the first of these.
    first: usize,
    /// How many have not ended.
    pub count: u64,
    of_tag: HashMap<u64, VecDeque<usize>>,
}

impl Open {
    /// Begins one.
    pub fn begin(&mut self, cycle: u64, tag: u64) {
        let number = self.first + self.began.len();
        self.began.push_back(Some(cycle));
        self.of_tag.entry(tag).or_default().push_back(number);
        self.count += 1;
    }

    /// Ends the first that has this tag: the cycle in which it began.
    pub fn end(&mut self, tag: u64) -> Option<u64> {
        let with_tag = self.of_tag.get_mut(&tag)?;
        let number = with_tag.pop_front();
        if with_tag.is_empty() {
            self.of_tag.remove(&tag);
        }
        let start = self.began[number? - self.first].take();
        while let Some(None) = self.began.front() {
            self.began.pop_front();
            self.first += 1;
        }
        self.count -= 1;
        start
    }

    /// The first cycles of all that are open, in their order.
    pub fn starts(&self) -> impl Iterator<Item = u64> + '_ {
        self.began.iter().copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::Open;

    #[test]
    fn ends_find_the_first_beginning_of_their_tag() {
        let mut open = Open::default();
        for (cycle, tag) in [(0, 7), (1, 8), (2, 7), (3, 9)] {
            open.begin(cycle, tag);
        }
        assert_eq!(open.end(8), Some(1));
        assert_eq!(open.end(8), None);
        assert_eq!(open.end(7), Some(0));
        assert_eq!(open.end(7), Some(2));
        assert_eq!((open.count, open.starts().next()), (1, Some(3)));
    }

    #[test]
    fn what_has_ended_is_forgotten_whatever_the_order() {
        // As many looks as there are beginnings: what is kept goes from the oldest open one to the latest.
        let mut open = Open::default();
        for number in 0..1000 {
            open.begin(number, number);
        }
        for number in (1..1000).rev() {
            assert_eq!(open.end(number), Some(number));
        }
        assert_eq!((open.began.len(), open.of_tag.len()), (1000, 1));
        assert_eq!(open.end(0), Some(0));
        assert!(open.began.is_empty() && open.of_tag.is_empty());
    }
}
