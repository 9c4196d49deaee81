//! Values of a design beside its probes: what is computed of its signals in one cycle.
//!
//! Owns what such a value is and how it is computed where nothing else does. Knows nothing of who wants it.

use crate::signals::Signal;

/// An operation. Operands and result are unsigned numbers of up to 64 bits; the arithmetic is modulo 2^width of the result,
/// as in Verilog under Verilator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueOp {
    /// Bit by bit, as `Or`, `Xor` and `Not` are.
    And,
    /// Bit by bit.
    Or,
    /// Bit by bit.
    Xor,
    /// Bit by bit.
    Not,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient; by zero: 0.
    Div,
    /// Remainder; by zero: 0.
    Rem,
    /// Whether both are equal.
    Eq,
    /// Whether the first one is less.
    Lt,
    /// Shifted to the left; the second operand may have another width than the first.
    Shl,
    /// Shifted to the right, with zeros.
    Shr,
    /// As many bits as the result is wide, from this one on. The operand may have any width.
    Slice(u32),
    /// Zeros above the operand.
    Pad,
    /// The second operand if the first, of one bit, is high, else the third.
    Mux,
}

impl ValueOp {
    /// The result of `width` bits.
    pub fn eval(self, width: u32, args: &[u64]) -> u64 {
        let result = match (self, args) {
            (Self::And, [a, b]) => a & b,
            (Self::Or, [a, b]) => a | b,
            (Self::Xor, [a, b]) => a ^ b,
            (Self::Not, [a]) => !a,
            (Self::Add, [a, b]) => a.wrapping_add(*b),
            (Self::Sub, [a, b]) => a.wrapping_sub(*b),
            (Self::Mul, [a, b]) => a.wrapping_mul(*b),
            (Self::Div, [a, b]) => a.checked_div(*b).unwrap_or(0),
            (Self::Rem, [a, b]) => a.checked_rem(*b).unwrap_or(0),
            (Self::Eq, [a, b]) => u64::from(a == b),
            (Self::Lt, [a, b]) => u64::from(a < b),
            (Self::Shl, [a, by]) => shift(*by).map_or(0, |by| a << by),
            (Self::Shr, [a, by]) => shift(*by).map_or(0, |by| a >> by),
            (Self::Slice(low), [a]) => shift(u64::from(low)).map_or(0, |by| a >> by),
            (Self::Pad, [a]) => *a,
            (Self::Mux, [condition, then, otherwise]) => {
                if *condition == 0 {
                    *otherwise
                } else {
                    *then
                }
            }
            _ => unreachable!("each operation has its number of operands"),
        };
        result & ones(width)
    }
}

/// The amount of a shift that leaves something of 64 bits.
fn shift(by: u64) -> Option<u32> {
    u32::try_from(by).ok().filter(|by| *by < u64::BITS)
}

/// The number with this many low bits set, at most 64.
fn ones(width: u32) -> u64 {
    u64::MAX >> (u64::BITS - width.clamp(1, u64::BITS))
}

/// A value in a cycle, computed of signals in the same cycle.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// A signal with its width.
    Signal(Signal, u32),
    /// A number with its width.
    Constant(u64, u32),
    /// A word of a memory before what is written in the cycle; 0 beyond its end. Waveforms have none.
    Word {
        /// The scope of the memory's cell with the name of that cell.
        memory: Signal,
        /// The index in row-major order.
        index: Box<Self>,
        /// Bits of a word.
        width: u32,
    },
    /// A result, with its width.
    Op(ValueOp, u32, Vec<Self>),
}

impl Value {
    /// Its width in bits.
    pub fn width(&self) -> u32 {
        match self {
            Self::Signal(_, width)
            | Self::Constant(_, width)
            | Self::Word { width, .. }
            | Self::Op(_, width, _) => *width,
        }
    }

    /// How many parts it has.
    pub fn parts(&self) -> usize {
        match self {
            Self::Signal(..) | Self::Constant(..) => 1,
            Self::Word { index, .. } => 1 + index.parts(),
            Self::Op(_, _, operands) => 1 + operands.iter().map(Self::parts).sum::<usize>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_modulo_the_width() {
        let cases = [
            (ValueOp::Add, 8, vec![255, 1], 0),
            (ValueOp::Sub, 8, vec![0, 1], 255),
            (ValueOp::Mul, 64, vec![u64::MAX, 2], u64::MAX - 1),
            (ValueOp::Div, 8, vec![7, 0], 0),
            (ValueOp::Rem, 8, vec![7, 4], 3),
            (ValueOp::Not, 4, vec![5], 10),
            (ValueOp::Shl, 8, vec![1, 64], 0),
            (ValueOp::Shr, 8, vec![128, 7], 1),
            (ValueOp::Slice(4), 4, vec![0xab], 0xa),
            (ValueOp::Mux, 8, vec![0, 1, 2], 2),
        ];
        for (op, width, args, result) in cases {
            assert_eq!(op.eval(width, &args), result, "{op:?} {args:?}");
        }
    }
}
