//! Values of a run of which nobody knows what it starts with: shared terms with normal forms.
//!
//! Owns which terms are surely equal: those that are the same. Others can be evaluated, to find values with which they differ.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use calyx_ir as ir;

/// A term, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Term(usize);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Node {
    Constant(u64),
    /// What a port gives, or a memory holds, before anything runs.
    Start(ir::Id, ir::Id),
    /// What nobody drives: each is another one.
    Unknown(usize),
    /// What a primitive makes of its inputs.
    Made(String, Vec<Term>),
    /// The second if the first is 1, or else the third.
    Choice([Term; 3]),
    /// The word of a memory at an address.
    Word(Term, Vec<Term>),
    /// A memory with a word at an address.
    Written(Term, Vec<Term>, Term),
}

/// All terms of a comparison.
#[derive(Default)]
pub(super) struct Terms {
    nodes: Vec<(Node, u64)>,
    known: HashMap<(Node, u64), Term>,
    unknown: usize,
    texts: HashMap<String, usize>,
    /// How many words written to memories were looked through to find others.
    pub passed: u64,
}

/// So wide are words that are computed with.
const MOST_BITS: u64 = 64;

fn masked(value: u64, width: u64) -> u64 {
    match 1_u64.checked_shl(u32::try_from(width).unwrap_or(u32::MAX)) {
        Some(end) => value & (end - 1),
        None => value,
    }
}

impl Terms {
    fn add(&mut self, node: Node, width: u64) -> Term {
        let new = Term(self.nodes.len());
        let term = *self.known.entry((node.clone(), width)).or_insert(new);
        if term == new {
            self.nodes.push((node, width));
        }
        term
    }

    pub fn constant(&mut self, value: u64, width: u64) -> Term {
        self.add(Node::Constant(masked(value, width)), width)
    }

    pub fn bit(&mut self, bit: bool) -> Term {
        self.constant(u64::from(bit), 1)
    }

    pub fn start(&mut self, cell: ir::Id, port: ir::Id, width: u64) -> Term {
        self.add(Node::Start(cell, port), width)
    }

    pub fn unknown(&mut self, width: u64) -> Term {
        self.unknown += 1;
        self.add(Node::Unknown(self.unknown), width)
    }

    /// What statements with this text, which nobody follows, leave in a cell.
    pub fn left(&mut self, (text, what): (&str, &str), state: Term, width: u64) -> Term {
        let new = self.texts.len();
        let number = *self.texts.entry(text.to_owned()).or_insert(new);
        self.add(Node::Made(format!("{number}: {what}"), vec![state]), width)
    }

    /// All that a component holds.
    pub fn all(&mut self, held: Vec<Term>) -> Term {
        self.add(Node::Made("all".to_owned(), held), 0)
    }

    /// The value of a constant.
    pub fn value(&self, term: Term) -> Option<u64> {
        match self.nodes[term.0].0 {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    pub fn width(&self, term: Term) -> u64 {
        self.nodes[term.0].1
    }

    pub fn choice(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        match self.value(condition) {
            Some(1) => return then,
            Some(_) => return otherwise,
            None if then == otherwise => return then,
            None => {}
        }
        if self.width(then) == 1 {
            match (self.value(then), self.value(otherwise)) {
                (Some(1), Some(0)) => return condition,
                (Some(0), Some(1)) => return self.not(condition),
                _ => {}
            }
        }
        // Of a condition and its opposite, one stands for both.
        if let Node::Made(of, _) = &self.nodes[condition.0].0
            && matches!(&**of, "std_not" | "std_neq" | "std_le" | "std_sle")
            && let Some(opposite) = self.other_way(condition)
        {
            return self.choice(opposite, otherwise, then);
        }
        let width = self.width(then);
        self.add(Node::Choice([condition, then, otherwise]), width)
    }

    pub fn word(&mut self, mut memory: Term, address: &[Term], width: u64) -> Term {
        while let Node::Written(before, at, word) = &self.nodes[memory.0].0 {
            if at == address {
                return *word;
            }
            let mut places = at.iter().zip(address);
            if !places.any(|(one, other)| self.are_apart(*one, *other)) {
                break;
            }
            memory = *before;
            self.passed += 1;
        }
        self.add(Node::Word(memory, address.to_vec()), width)
    }

    /// Whether two words differ by a constant other than 0.
    fn are_apart(&self, one: Term, other: Term) -> bool {
        let parts = |term: Term| match (&self.nodes[term.0].0, self.value(term)) {
            (_, Some(value)) => (None, value),
            (Node::Made(of, inputs), None) if of == "std_add" => match self.value(inputs[1]) {
                Some(value) => (Some(inputs[0]), value),
                None => (Some(term), 0),
            },
            _ => (Some(term), 0),
        };
        let ((one, more), (other, than)) = (parts(one), parts(other));
        one == other && more != than
    }

    pub fn written(&mut self, mut memory: Term, address: Vec<Term>, word: Term) -> Term {
        if let Node::Written(before, at, _) = &self.nodes[memory.0].0
            && *at == address
        {
            memory = *before;
        }
        self.add(Node::Written(memory, address, word), 0)
    }

    /// What a primitive of this name gives, as its first output or one that `of` names.
    pub fn made(&mut self, of: &str, mut inputs: Vec<Term>, width: u64) -> Term {
        if of == "std_sub"
            && let Some(value) = self.value(inputs[1])
            && width <= MOST_BITS
        {
            inputs[1] = self.constant(value.wrapping_neg(), width);
            return self.made("std_add", inputs, width);
        }
        let values: Option<Vec<u64>> = inputs.iter().map(|input| self.value(*input)).collect();
        let widths: Vec<u64> = inputs.iter().map(|input| self.width(*input)).collect();
        if let Some(value) = values.and_then(|values| computed(of, &values, &widths, width)) {
            return self.constant(value, width);
        }
        match of {
            "std_mux" => return self.choice(inputs[0], inputs[1], inputs[2]),
            "std_wire" => return inputs[0],
            "std_slice" | "std_pad" if widths[0] == width => return inputs[0],
            "std_gt" | "std_sgt" | "std_ge" | "std_sge" => {
                let of = of.replace('g', "l");
                inputs.reverse();
                return self.made(&of, inputs, width);
            }
            _ => {}
        }
        if matches!(
            of,
            "std_add"
                | "std_and"
                | "std_or"
                | "std_xor"
                | "std_eq"
                | "std_neq"
                | "std_mult_pipe"
                | "std_smult_pipe"
        ) {
            inputs.sort();
            // A constant stands last.
            inputs.sort_by_key(|input| self.value(*input).is_some());
            if let Some(term) = self.simpler(of, &inputs, width) {
                return term;
            }
        }
        if of == "std_lsh" && self.value(inputs[1]) == Some(0) {
            return inputs[0];
        }
        if of == "std_not"
            && let Some(term) = self.other_way(inputs[0])
        {
            return term;
        }
        self.add(Node::Made(of.to_owned(), inputs), width)
    }

    /// The opposite of what says the opposite of something, or compares.
    fn other_way(&mut self, term: Term) -> Option<Term> {
        let Node::Made(of, inputs) = &self.nodes[term.0].0 else {
            return None;
        };
        let opposite = match &**of {
            "std_not" => return Some(inputs[0]),
            "std_eq" => "std_neq",
            "std_neq" => "std_eq",
            "std_lt" => "std_ge",
            "std_le" => "std_gt",
            "std_slt" => "std_sge",
            "std_sle" => "std_sgt",
            _ => return None,
        };
        let inputs = inputs.clone();
        Some(self.made(opposite, inputs, 1))
    }

    /// Whether two bits are never both 1, as no word compares so with these constants.
    fn exclude(&self, one: Term, other: Term) -> bool {
        let mut words: HashMap<Term, (u64, u64)> = HashMap::new();
        let mut next = vec![one, other];
        while let Some(bit) = next.pop() {
            let Node::Made(of, inputs) = &self.nodes[bit.0].0 else {
                continue;
            };
            let &[left, right] = &**inputs else { continue };
            if self.width(left) > MOST_BITS {
                continue;
            }
            let (word, (from, to)) = match (&**of, self.value(left), self.value(right)) {
                ("std_and", ..) => {
                    next.extend([left, right]);
                    continue;
                }
                ("std_eq", _, Some(value)) => (left, (value, value)),
                ("std_le", _, Some(value)) => (left, (0, value)),
                ("std_le", Some(value), _) => (right, (value, u64::MAX)),
                ("std_lt", _, Some(value)) => match value.checked_sub(1) {
                    Some(most) => (left, (0, most)),
                    None => return true,
                },
                ("std_lt", Some(value), _) => match value.checked_add(1) {
                    Some(least) => (right, (least, u64::MAX)),
                    None => return true,
                },
                _ => continue,
            };
            let range = words.entry(word).or_insert((0, u64::MAX));
            *range = (range.0.max(from), range.1.min(to));
            if range.0 > range.1 {
                return true;
            }
        }
        false
    }

    /// What an operation comes to if it is something simpler, such as one with a constant.
    fn simpler(&mut self, of: &str, inputs: &[Term], width: u64) -> Option<Term> {
        let (first, second) = (inputs[0], inputs[1]);
        if first == second && matches!(of, "std_and" | "std_or") {
            return Some(first);
        }
        if of == "std_and" && self.exclude(first, second) {
            return Some(self.constant(0, width));
        }
        let value = self.value(second)?;
        if of == "std_add"
            && width <= MOST_BITS
            && let Node::Made(inner, of_inner) = &self.nodes[first.0].0
            && inner == "std_add"
            && let Some(more) = self.value(of_inner[1])
        {
            let first = of_inner[0];
            let sum = self.constant(value.wrapping_add(more), width);
            return Some(self.made("std_add", vec![first, sum], width));
        }
        let all = masked(u64::MAX, width);
        match of {
            "std_add" | "std_or" | "std_xor" if value == 0 => Some(first),
            "std_and" if value == all && width <= MOST_BITS => Some(first),
            "std_and" if value == 0 => Some(second),
            "std_or" if value == all && width <= MOST_BITS => Some(second),
            "std_mult_pipe" | "std_smult_pipe" if value.is_power_of_two() => {
                let bits = self.constant(u64::from(value.trailing_zeros()), width);
                Some(self.made("std_lsh", vec![first, bits], width))
            }
            _ => None,
        }
    }

    pub fn not(&mut self, term: Term) -> Term {
        self.made("std_not", vec![term], 1)
    }

    pub fn and(&mut self, left: Term, right: Term) -> Term {
        self.made("std_and", vec![left, right], 1)
    }

    pub fn or(&mut self, left: Term, right: Term) -> Term {
        self.made("std_or", vec![left, right], 1)
    }

    /// The cells and ports of which it matters what they give at first.
    pub fn starts(&self, term: Term) -> BTreeSet<(ir::Id, ir::Id)> {
        let mut found = BTreeSet::new();
        let (mut seen, mut next) = (BTreeSet::new(), vec![term]);
        while let Some(term) = next.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let Node::Start(cell, port) = self.nodes[term.0].0 {
                found.insert((cell, port));
            }
            next.extend(self.parts(term));
        }
        found
    }

    /// The addresses at which a memory was written.
    fn addresses(&self, memory: Term) -> Vec<Vec<Term>> {
        let (mut all, mut next) = (Vec::new(), vec![memory]);
        while let Some(memory) = next.pop() {
            match &self.nodes[memory.0].0 {
                Node::Written(before, address, _) => {
                    all.push(address.clone());
                    next.push(*before);
                }
                Node::Choice([_, then, otherwise]) => next.extend([*then, *otherwise]),
                _ => {}
            }
        }
        all
    }

    /// The terms of which a term is made.
    fn parts(&self, term: Term) -> Vec<Term> {
        match &self.nodes[term.0].0 {
            Node::Constant(_) | Node::Start(..) | Node::Unknown(_) => Vec::new(),
            Node::Made(_, inputs) => inputs.clone(),
            Node::Choice(parts) => parts.to_vec(),
            Node::Word(memory, address) => [&[*memory][..], address].concat(),
            Node::Written(memory, address, word) => [&[*memory, *word][..], address].concat(),
        }
    }

    fn is_memory(&self, term: Term) -> bool {
        self.width(term) == 0
    }
}

/// What terms come to that are made of these.
enum First {
    /// Values that are drawn from a number.
    Drawn(u64),
    /// What some registers hold; of nothing else is anything known.
    Held(BTreeMap<ir::Id, u64>),
}

/// Terms with values at first.
pub(super) struct Values<'a> {
    terms: &'a Terms,
    first: First,
    /// What is computed, and what each of it comes to, if anybody knows.
    computed: Vec<bool>,
    known: Vec<Option<u64>>,
}

impl<'a> Values<'a> {
    /// With values that are drawn from a number.
    pub fn drawn_from(terms: &'a Terms, seed: u64) -> Self {
        Self::of_first(terms, First::Drawn(seed))
    }

    /// Without any.
    pub fn none(terms: &'a Terms) -> Self {
        Self::of_first(terms, First::Held(BTreeMap::new()))
    }

    fn of_first(terms: &'a Terms, first: First) -> Self {
        Self {
            terms,
            first,
            computed: vec![false; terms.nodes.len()],
            known: vec![None; terms.nodes.len()],
        }
    }

    /// Computes all terms once more, with what some registers hold and nothing else.
    pub fn hold(&mut self, registers: BTreeMap<ir::Id, u64>) {
        self.first = First::Held(registers);
        for at in 0..self.known.len() {
            self.known[at] = self.of_parts(Term(at));
            self.computed[at] = true;
        }
    }

    /// What two terms come to, if that is not the same; words of memories where it is a word that differs. What nobody drives is nothing that
    /// one could compare.
    pub fn differ(&mut self, one: Term, other: Term) -> Option<[u64; 2]> {
        if !self.terms.is_memory(one) {
            let values = [self.of(one)?, self.of(other)?];
            return (values[0] != values[1]).then_some(values);
        }
        let mut addresses = self.terms.addresses(one);
        addresses.extend(self.terms.addresses(other));
        for memory in [one, other] {
            self.of(memory);
        }
        addresses.into_iter().find_map(|address| {
            let at: Vec<u64> = address
                .iter()
                .map(|at| self.of(*at))
                .collect::<Option<_>>()?;
            let words = [self.word(one, &at)?, self.word(other, &at)?];
            (words[0] != words[1]).then_some(words)
        })
    }

    /// A number for something of a width, small ones more often.
    fn drawn(&self, what: &impl Hash, width: u64) -> Option<u64> {
        let First::Drawn(seed) = self.first else {
            return None;
        };
        let mut hasher = DefaultHasher::new();
        (seed, what).hash(&mut hasher);
        let drawn = hasher.finish();
        let most = if drawn.is_multiple_of(3) { 64 } else { 3 };
        Some(masked(masked(drawn >> 3, most), width))
    }

    pub fn start(&self, cell: ir::Id, port: ir::Id, width: u64) -> Option<u64> {
        match &self.first {
            First::Drawn(_) => self.drawn(&(cell.as_ref(), port.as_ref()), width),
            First::Held(registers) => registers.get(&cell).copied(),
        }
    }

    /// What a term comes to, if that is known.
    pub fn of(&mut self, term: Term) -> Option<u64> {
        let (mut all, mut next) = (BTreeSet::new(), vec![term]);
        while let Some(term) = next.pop() {
            if !self.computed[term.0] && all.insert(term) {
                next.extend(self.terms.parts(term));
            }
        }
        // Each is made of earlier ones.
        for term in all {
            self.known[term.0] = self.of_parts(term);
            self.computed[term.0] = true;
        }
        self.known[term.0]
    }

    /// What a term comes to, after all of which it is made.
    fn of_parts(&self, term: Term) -> Option<u64> {
        let (node, width) = &self.terms.nodes[term.0];
        if *width > MOST_BITS {
            return None;
        }
        match node {
            Node::Constant(value) => Some(*value),
            Node::Start(cell, port) => self.start(*cell, *port, *width),
            Node::Unknown(_) | Node::Written(..) => None,
            Node::Made(of, inputs) => {
                let values: Option<Vec<u64>> =
                    inputs.iter().map(|input| self.known[input.0]).collect();
                let widths = inputs.iter().map(|input| self.terms.width(*input));
                let widths: Vec<u64> = widths.collect();
                // What other primitives give, nobody here knows.
                values.and_then(|values| computed(of, &values, &widths, *width))
            }
            Node::Choice([condition, then, otherwise]) => match self.known[condition.0]? {
                1 => self.known[then.0],
                _ => self.known[otherwise.0],
            },
            Node::Word(memory, address) => {
                let at: Option<Vec<u64>> = address.iter().map(|at| self.known[at.0]).collect();
                let word = self.word(*memory, &at?)?;
                Some(masked(word, *width))
            }
        }
    }

    /// The word of a memory of which all is known.
    fn word(&self, mut memory: Term, at: &[u64]) -> Option<u64> {
        loop {
            memory = match &self.terms.nodes[memory.0].0 {
                Node::Start(cell, port) => {
                    return self.drawn(&(cell.as_ref(), port.as_ref(), at), MOST_BITS);
                }
                Node::Written(before, address, word) => {
                    let mut is_here = true;
                    for (address, at) in address.iter().zip(at) {
                        is_here &= self.known[address.0]? == *at;
                    }
                    if is_here {
                        return self.known[word.0];
                    }
                    *before
                }
                Node::Choice([condition, then, otherwise]) => match self.known[condition.0]? {
                    1 => *then,
                    _ => *otherwise,
                },
                _ => return None,
            }
        }
    }
}

/// What a primitive of the library gives; `None` where petal leaves that open.
fn computed(of: &str, inputs: &[u64], widths: &[u64], width: u64) -> Option<u64> {
    if width > MOST_BITS || widths.iter().any(|width| *width > MOST_BITS) {
        return None;
    }
    let signed = |at: usize| {
        let shift = MOST_BITS - widths[at];
        (inputs[at] << shift).cast_signed() >> shift
    };
    let value = match (of, inputs) {
        ("std_not", [of]) => !of,
        ("std_slice" | "std_pad" | "std_wire", [of]) => *of,
        ("std_add", [left, right]) => left.wrapping_add(*right),
        ("std_sub", [left, right]) => left.wrapping_sub(*right),
        ("std_and", [left, right]) => left & right,
        ("std_or", [left, right]) => left | right,
        ("std_xor", [left, right]) => left ^ right,
        ("std_lsh", [left, right]) => shifted(*right).map_or(0, |by| left << by),
        ("std_rsh", [left, right]) => shifted(*right).map_or(0, |by| left >> by),
        ("std_eq" | "std_seq", [left, right]) => u64::from(left == right),
        ("std_neq" | "std_sneq", [left, right]) => u64::from(left != right),
        ("std_lt", [left, right]) => u64::from(left < right),
        ("std_gt", [left, right]) => u64::from(left > right),
        ("std_le", [left, right]) => u64::from(left <= right),
        ("std_ge", [left, right]) => u64::from(left >= right),
        ("std_slt", [_, _]) => u64::from(signed(0) < signed(1)),
        ("std_sgt", [_, _]) => u64::from(signed(0) > signed(1)),
        ("std_sle", [_, _]) => u64::from(signed(0) <= signed(1)),
        ("std_sge", [_, _]) => u64::from(signed(0) >= signed(1)),
        ("std_mult_pipe" | "std_smult_pipe", [left, right]) => left.wrapping_mul(*right),
        _ => return None,
    };
    Some(masked(value, width))
}

fn shifted(by: u64) -> Option<u32> {
    u32::try_from(by)
        .ok()
        .filter(|by| u64::from(*by) < MOST_BITS)
}
