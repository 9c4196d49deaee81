//! `float/*.futil`: floating point as Calyx's wrappers around Berkeley `HardFloat` have it.

use super::unit::{Cell, Comb, Unit, clog2, set_or_reset};
use crate::graph::{FloatOp, Format, Graph, NodeId, Op};

/// The unit of a cell, if its primitive is of these files, and its format is one of up to 64 bits.
pub(super) fn unit(cell: &Cell<'_>, graph: &mut Graph) -> Option<Unit> {
    let (exp, sig) = (cell.width("expWidth"), cell.width("sigWidth"));
    let is_known = (3..=11).contains(&exp) && (4..=53).contains(&sig);
    let narrow = |bits: u32| u8::try_from(bits).ok();
    let format = Format {
        exp: narrow(exp).filter(|_| is_known)?,
        sig: narrow(sig)?,
    };
    let has_width = |name: &str| (cell.width(name) == exp + sig).then_some(());
    let int = narrow(cell.width("intWidth")).filter(|bits| (2..=64).contains(bits));
    match cell.primitive {
        "std_addFN" => {
            has_width("numWidth")?;
            // Of others `HardFloat`'s adder shifts the smaller operand too little, and its sums are wrong.
            (sig.next_power_of_two() >= sig + 3).then_some(())?;
            Some(computed(graph, format, FloatOp::Add))
        }
        "std_mulFN" => {
            has_width("numWidth")?;
            Some(computed(graph, format, FloatOp::Mul))
        }
        "std_compareFN" => {
            has_width("numWidth")?;
            Some(compared(graph, format))
        }
        "std_divSqrtFN" => {
            has_width("numWidth")?;
            Some(Divider::new(graph, format).unit(graph))
        }
        "std_fpToInt" => {
            has_width("floatWidth")?;
            Some(to_int(graph, format, int?))
        }
        "std_intToFp" => {
            has_width("floatWidth")?;
            Some(from_int(graph, format, int?))
        }
        _ => None,
    }
}

/// `done`: two cycles after `go` rose, as long as that is high.
struct Done([NodeId; 2]);

impl Done {
    fn new(graph: &mut Graph) -> Self {
        Self([graph.reg(1), graph.reg(1)])
    }

    fn output(&self) -> (&'static str, NodeId) {
        ("done", self.0[1])
    }

    fn edge(&self, g: &mut Graph, go: NodeId) {
        let Self([first, second]) = *self;
        g.set(first, go);
        let next = g.and(go, first);
        g.set(second, next);
    }
}

/// A register that takes `value` while `go` is high.
fn take(g: &mut Graph, [reset, go]: [NodeId; 2], reg: NodeId, value: NodeId) {
    let next = g.mux(go, value, reg);
    set_or_reset(g, reset, reg, next);
}

/// A sum or product. The wrappers leave `exceptionFlags` at 0.
fn computed(graph: &mut Graph, format: Format, op: FloatOp) -> Unit {
    let width = format.width();
    let done = Done::new(graph);
    let out = graph.reg(width);
    let none = graph.constant(0u8, 5);
    Unit {
        outputs: vec![("out", out), ("exceptionFlags", none), done.output()],
        edge: Some(Box::new(move |g, i| {
            let (reset, go) = (i.get(g, "reset"), i.get(g, "go"));
            let (left, right) = (i.get(g, "left"), i.get(g, "right"));
            let mode = i.get(g, "roundingMode");
            let mut how = g.resize(mode, 3);
            if op == FloatOp::Add {
                let subtracts = i.get(g, "subOp");
                how = g.cat(subtracts, how);
            }
            let value = g.op(Op::Float(op, format), width, &[left, right, how]);
            take(g, [reset, go], out, value);
            done.edge(g, go);
        })),
        ..Unit::default()
    }
}

fn compared(graph: &mut Graph, format: Format) -> Unit {
    let done = Done::new(graph);
    let bits = ["lt", "eq", "gt", "unordered"].map(|name| (name, graph.reg(1)));
    let flags = graph.reg(5);
    let mut outputs = bits.to_vec();
    outputs.extend([("exceptionFlags", flags), done.output()]);
    Unit {
        outputs,
        edge: Some(Box::new(move |g, i| {
            let (reset, go) = (i.get(g, "reset"), i.get(g, "go"));
            let operands = ["left", "right", "signaling"].map(|name| i.get(g, name));
            let all = g.op(Op::Float(FloatOp::Compare, format), 5, &operands);
            for (at, (_, bit)) in (0..).zip(bits) {
                let value = g.slice(all, at, 1);
                take(g, [reset, go], bit, value);
            }
            let invalid = g.slice(all, 4, 1);
            let no_others = g.constant(0u8, 4);
            let value = g.cat(invalid, no_others);
            take(g, [reset, go], flags, value);
            done.edge(g, go);
        })),
        ..Unit::default()
    }
}

fn to_int(graph: &mut Graph, format: Format, int: u8) -> Unit {
    let done = Done::new(graph);
    let out = graph.reg(int.into());
    Unit {
        outputs: vec![("out", out), done.output()],
        edge: Some(Box::new(move |g, i| {
            let (reset, go) = (i.get(g, "reset"), i.get(g, "go"));
            let value = i.get(g, "in");
            let value = g.op(Op::Float(FloatOp::ToInt, format), int.into(), &[value]);
            take(g, [reset, go], out, value);
            done.edge(g, go);
        })),
        ..Unit::default()
    }
}

/// The result is there in the same cycle; only `done` waits.
fn from_int(graph: &mut Graph, format: Format, int: u8) -> Unit {
    let done = Done::new(graph);
    Unit {
        outputs: vec![done.output()],
        combs: vec![Comb {
            output: "out",
            inputs: Some(vec!["in".to_owned(), "signedIn".to_owned()]),
            build: Box::new(move |g, i| {
                let operands = ["in", "signedIn"].map(|name| i.get(g, name));
                let op = Op::Float(FloatOp::FromInt(int), format);
                g.op(op, format.width(), &operands)
            }),
        }],
        edge: Some(Box::new(move |g, i| {
            let go = i.get(g, "go");
            done.edge(g, go);
        })),
        ..Unit::default()
    }
}

/// How many cycles after `go` the wrapper of divisions and roots says `done`.
const DIVIDER_DELAY: u32 = 32;

/// Divisions and square roots, a bit of the result in each cycle. It begins again as soon as it is ready while `go` is high, and
/// what it has begun it brings to its end.
#[derive(Clone, Copy)]
struct Divider {
    format: Format,
    /// Counts down to 1, in which cycle the result is there.
    count: NodeId,
    is_root: NodeId,
    /// What is known at once: an exception, NaN, infinity, zero, the sign.
    known: [NodeId; 5],
    exp: NodeId,
    /// Of the divisor, without its hidden one.
    fraction: NodeId,
    mode: NodeId,
    remainder: NodeId,
    has_remainder: NodeId,
    result: NodeId,
    out: NodeId,
    delay: NodeId,
}

impl Divider {
    fn new(graph: &mut Graph, format: Format) -> Self {
        let places = u32::from(format.sig);
        Self {
            format,
            count: graph.reg(clog2(places + 3)),
            is_root: graph.reg(1),
            known: [(); 5].map(|()| graph.reg(1)),
            exp: graph.reg(u32::from(format.exp) + 3),
            fraction: graph.reg(places - 1),
            mode: graph.reg(3),
            remainder: graph.reg(places + 2),
            has_remainder: graph.reg(1),
            result: graph.reg(places + 2),
            out: graph.reg(format.width()),
            delay: graph.reg(DIVIDER_DELAY),
        }
    }

    fn unit(self, graph: &mut Graph) -> Unit {
        let done = graph.slice(self.delay, DIVIDER_DELAY - 1, 1);
        Unit {
            outputs: vec![("out", self.out), ("done", done)],
            combs: vec![Comb {
                output: "exceptionFlags",
                inputs: Some(vec!["control".to_owned()]),
                build: Box::new(move |g, i| {
                    let control = i.get(g, "control");
                    self.flags(g, control)
                }),
            }],
            edge: Some(Box::new(move |g, i| {
                let reset = i.get(g, "reset");
                let go = i.get(g, "go");
                let delayed = g.slice(self.delay, 0, DIVIDER_DELAY - 1);
                let delayed = g.cat(delayed, go);
                set_or_reset(g, reset, self.delay, delayed);
                let one = g.constant(1u8, g.width(self.count));
                let is_there = g.eq(self.count, one);
                let value = self.value(g);
                let out = g.mux(is_there, value, self.out);
                set_or_reset(g, reset, self.out, out);
                let operands = ["left", "right", "sqrtOp"].map(|name| i.get(g, name));
                let mode = i.get(g, "roundingMode");
                self.step(g, [reset, go], operands, mode);
            })),
            ..Unit::default()
        }
    }

    /// What was computed, rounded by `op`.
    fn rounded(self, g: &mut Graph, op: FloatOp, width: u32, control: NodeId) -> NodeId {
        let significand = g.cat(self.result, self.has_remainder);
        let [.., sign] = self.known;
        let how = g.cat(control, self.mode);
        let how = g.cat(sign, how);
        let raw = [significand, self.exp, how];
        g.op(Op::Float(op, self.format), width, &raw)
    }

    /// The result.
    fn value(self, g: &mut Graph) -> NodeId {
        let [is_exception, is_nan, is_infinite, is_zero, sign] = self.known;
        let width = self.format.width();
        let tiny_after = g.constant(1u8, 1);
        let value = self.rounded(g, FloatOp::Round, width, tiny_after);
        let signed = |g: &mut Graph, magnitude: u64| {
            let magnitude = g.constant(magnitude, width - 1);
            g.cat(sign, magnitude)
        };
        let (zero, infinity) = (signed(g, 0), signed(g, self.format.infinity()));
        let nan = g.constant(self.format.nan(), width);
        let is_infinite = g.or(is_infinite, is_exception);
        let value = g.mux(is_zero, zero, value);
        let value = g.mux(is_infinite, infinity, value);
        g.mux(is_nan, nan, value)
    }

    /// Invalid, infinite, overflow, underflow, inexact.
    fn flags(self, g: &mut Graph, control: NodeId) -> NodeId {
        let [is_exception, is_nan, is_infinite, is_zero, _] = self.known;
        let invalid = g.and(is_exception, is_nan);
        let no_nan = g.not(is_nan);
        let infinite = g.and(is_exception, no_nan);
        let flags = self.rounded(g, FloatOp::RoundFlags, 3, control);
        let known = [is_nan, is_infinite, is_zero].into_iter();
        let known = known.fold(is_exception, |all, one| g.or(all, one));
        let none = g.constant(0u8, 3);
        let flags = g.mux(known, none, flags);
        let flags = g.cat(infinite, flags);
        g.cat(invalid, flags)
    }

    /// The registers after the edge.
    fn step(self, g: &mut Graph, [reset, go]: [NodeId; 2], operands: [NodeId; 3], mode: NodeId) {
        let places = u32::from(self.format.sig);
        let float = |g: &mut Graph, op: FloatOp, width: u32, of: &[NodeId]| {
            g.op(Op::Float(op, self.format), width, of)
        };
        let [left, right, is_root] = operands;
        let known = float(g, FloatOp::Begin, 7, &operands);
        let (is_computed, is_odd) = (g.slice(known, 0, 1), g.slice(known, 6, 1));
        let bits = g.width(self.count);
        let number = |g: &mut Graph, value: u32| g.constant(value, bits);
        let high = g.slice(self.count, 1, bits - 1);
        let none = g.constant(0u8, bits - 1);
        let is_ready = g.eq(high, none);
        let enters = g.and(is_ready, go);
        let begins = g.and(enters, is_computed);
        let keep = |g: &mut Graph, takes: NodeId, reg: NodeId, value: NodeId| {
            let next = g.mux(takes, value, reg);
            g.set(reg, next);
        };
        keep(g, enters, self.is_root, is_root);
        for (at, reg) in (1..).zip(self.known) {
            let value = g.slice(known, at, 1);
            keep(g, enters, reg, value);
        }
        let exp = float(g, FloatOp::Exponent, g.width(self.exp), &operands);
        keep(g, begins, self.exp, exp);
        let mode = g.resize(mode, 3);
        keep(g, begins, self.mode, mode);
        let (left, right) = (
            float(g, FloatOp::Significand, places, &[left]),
            float(g, FloatOp::Significand, places, &[right]),
        );
        let divides = g.not(is_root);
        let takes_divisor = g.and(begins, divides);
        let fraction = g.slice(right, 0, places - 1);
        keep(g, takes_divisor, self.fraction, fraction);

        let first = self.first_count(g, is_computed, is_root, is_odd);
        self.count_down(g, reset, enters, first);

        // A step: whether what is tried fits into the remainder is the next bit of the result.
        let shifted = |g: &mut Graph, node: NodeId, by: u32, width: u32| {
            let zeros = g.constant(0u8, by);
            let shifted = g.cat(node, zeros);
            g.resize(shifted, width)
        };
        let quarter = g.constant(1u64 << (places - 2), places);
        let of_odd = g.sub(left, quarter);
        let of_odd = shifted(g, of_odd, 3, places + 3);
        let of_even = shifted(g, left, 1, places + 3);
        let first = g.mux(is_odd, of_odd, of_even);
        let more = shifted(g, self.remainder, 1, places + 3);
        let rest = g.mux(is_ready, first, more);
        let bit = g.constant(1u8, places + 3);
        let bit = g.op(Op::Shl, places + 3, &[bit, self.count]);
        let bit = g.slice(bit, 2, places + 1);
        let bit = g.resize(bit, places + 2);
        let of_odd = g.constant(5u64 << (places - 1), places + 2);
        let of_even = g.constant(1u64 << places, places + 2);
        let root = g.mux(is_odd, of_odd, of_even);
        let quotient = shifted(g, right, 1, places + 2);
        let first = g.mux(is_root, root, quotient);
        let hidden = g.constant(1u8, 1);
        let divisor = g.cat(hidden, self.fraction);
        let divisor = shifted(g, divisor, 1, places + 2);
        let root = shifted(g, self.result, 1, places + 2);
        let root = g.or(root, bit);
        let more = g.mux(self.is_root, root, divisor);
        let tried = g.mux(is_ready, first, more);
        let (wide, tried) = (g.resize(rest, places + 4), g.resize(tried, places + 4));
        let left_over = g.sub(wide, tried);
        let is_negative = g.slice(left_over, places + 3, 1);
        let fits = g.not(is_negative);
        let taken = g.slice(left_over, 0, places + 2);
        let kept = g.slice(rest, 0, places + 2);
        let remainder = g.mux(fits, taken, kept);
        let two = number(g, 2);
        let is_busy = g.op(Op::Lt, 1, &[two, self.count]);
        let steps = g.or(begins, is_busy);
        keep(g, steps, self.remainder, remainder);

        let runs = g.not(is_ready);
        let finds = g.and(runs, fits);
        let finds = g.or(begins, finds);
        let zero = g.constant(0u8, places + 4);
        let has_remainder = g.ne(left_over, zero);
        keep(g, finds, self.has_remainder, has_remainder);
        let second = g.and(is_odd, fits);
        let second = shifted(g, second, places - 1, places + 2);
        let root = g.or(of_even, second);
        let quotient = shifted(g, fits, places + 1, places + 2);
        let first = g.mux(is_root, root, quotient);
        let more = g.or(self.result, bit);
        let result = g.mux(is_ready, first, more);
        keep(g, finds, self.result, result);
    }

    /// How many cycles an operation takes that begins.
    fn first_count(
        self,
        g: &mut Graph,
        is_computed: NodeId,
        is_root: NodeId,
        is_odd: NodeId,
    ) -> NodeId {
        let places = u32::from(self.format.sig);
        let bits = g.width(self.count);
        let [one, odd, even, quotient] =
            [1, places, places + 1, places + 2].map(|value| g.constant(value, bits));
        let root = g.mux(is_odd, odd, even);
        let first = g.mux(is_root, root, quotient);
        g.mux(is_computed, first, one)
    }

    /// The count after the edge. Where the result is at least 1 already, the last bit is not needed.
    fn count_down(self, g: &mut Graph, reset: NodeId, enters: NodeId, first: NodeId) {
        let bits = g.width(self.count);
        let [zero, one, three] = [0u32, 1, 3].map(|value| g.constant(value, bits));
        let whole = g.slice(self.result, u32::from(self.format.sig) + 1, 1);
        let at_three = g.eq(self.count, three);
        let skips = g.and(at_three, whole);
        let less = g.sub(self.count, one);
        let next = g.mux(skips, one, less);
        let is_idle = g.eq(self.count, zero);
        let next = g.mux(is_idle, zero, next);
        let next = g.mux(enters, first, next);
        set_or_reset(g, reset, self.count, next);
    }
}
