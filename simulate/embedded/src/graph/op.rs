//! What the operations of a graph compute.

use num_bigint::{BigInt, BigUint, Sign};

use super::float::{FloatOp, Format};

/// An operation. Operands and result are unsigned numbers of a width each; the arithmetic is that
/// of Verilog, modulo 2^width of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Op {
    And,
    Or,
    Xor,
    Not,
    Add,
    Sub,
    Mul,
    /// By zero: 0, as in Verilator.
    Div,
    /// By zero: 0, as in Verilator.
    Rem,
    /// Towards zero; by zero: 0.
    SDiv,
    /// With the sign of the dividend; by zero: 0.
    SRem,
    Eq,
    Lt,
    SLt,
    /// The second operand may have another width than the first.
    Shl,
    Shr,
    /// Arithmetic shift to the right.
    Sar,
    /// The second operand if the first, of one bit, is high, else the third.
    Mux,
    /// As many bits as the result is wide, from this one on.
    Slice(u32),
    /// Zeros above the operand.
    Pad,
    /// Copies of its highest bit above the operand.
    SignExtend,
    /// The first operand above the second.
    Cat,
    /// Whether the first operand differs from the floor of the square root of the second, both
    /// taken as floating point numbers.
    NotSqrt,
    Float(FloatOp, Format),
}

impl Op {
    pub(super) fn commutes(self) -> bool {
        matches!(
            self,
            Self::And | Self::Or | Self::Xor | Self::Add | Self::Mul | Self::Eq
        )
    }

    /// The operands that may not be wider than the result.
    pub(super) fn of_result<T>(self, operands: &[T]) -> &[T] {
        match self {
            Self::And
            | Self::Or
            | Self::Xor
            | Self::Not
            | Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Rem
            | Self::SDiv
            | Self::SRem => operands,
            Self::Shl | Self::Shr | Self::Sar | Self::Pad => &operands[..1],
            Self::Mux => &operands[1..],
            // One bit, or cut in any case.
            Self::Eq
            | Self::Lt
            | Self::SLt
            | Self::NotSqrt
            | Self::Float(..)
            | Self::Slice(_)
            | Self::SignExtend
            | Self::Cat => &[],
        }
    }

    /// The result of `width` bits. Operands are values with their widths.
    pub fn eval(self, width: u32, args: &[(BigUint, u32)]) -> BigUint {
        let a = &args[0].0;
        let bit = |condition: bool| BigUint::from(u8::from(condition));
        let signed = |at: usize| signed(&args[at].0, args[at].1);
        let result = match self {
            Self::And => a & &args[1].0,
            Self::Or => a | &args[1].0,
            Self::Xor => a ^ &args[1].0,
            Self::Not => a ^ ones(width),
            Self::Add => a + &args[1].0,
            Self::Sub => (BigUint::from(1u8) << width) + a - &args[1].0,
            Self::Mul => a * &args[1].0,
            Self::Div | Self::Rem | Self::SDiv | Self::SRem if args[1].0 == BigUint::ZERO => {
                BigUint::ZERO
            }
            Self::Div => a / &args[1].0,
            Self::Rem => a % &args[1].0,
            Self::SDiv => unsigned(&(signed(0) / signed(1)), width),
            Self::SRem => unsigned(&(signed(0) % signed(1)), width),
            Self::Eq => bit(*a == args[1].0),
            Self::Lt => bit(*a < args[1].0),
            Self::SLt => bit(signed(0) < signed(1)),
            Self::Shl => shift(&args[1].0, width).map_or(BigUint::ZERO, |by| a << by),
            Self::Shr => shift(&args[1].0, width).map_or(BigUint::ZERO, |by| a >> by),
            Self::Sar => {
                let by = shift(&args[1].0, width).unwrap_or(width);
                unsigned(&(signed(0) >> by), width)
            }
            Self::Mux if *a == BigUint::ZERO => args[2].0.clone(),
            Self::Mux => args[1].0.clone(),
            Self::Slice(low) => a >> low,
            Self::Pad => a.clone(),
            Self::SignExtend => unsigned(&signed(0), width),
            Self::Cat => (a << args[1].1) | &args[1].0,
            Self::Float(op, format) => {
                let words = args.iter();
                let words = words.map(|(value, _)| value.iter_u64_digits().next().unwrap_or(0));
                let words: Vec<u64> = words.collect();
                op.eval(format, width, &words).into()
            }
            Self::NotSqrt => bit((float(a) - float(&args[1].0).sqrt().floor()).abs() > 0.0),
        };
        result & ones(width)
    }
}

/// The number with this many low bits set.
pub(super) fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

/// The amount of a shift that leaves something of `width` bits.
fn shift(amount: &BigUint, width: u32) -> Option<u32> {
    u32::try_from(amount).ok().filter(|&by| by < width)
}

fn signed(value: &BigUint, width: u32) -> BigInt {
    let value = BigInt::from(value.clone());
    if value.bit(u64::from(width - 1)) {
        value - (BigInt::from(1u8) << width)
    } else {
        value
    }
}

fn unsigned(value: &BigInt, width: u32) -> BigUint {
    let modulus = BigInt::from(1u8) << width;
    let value = ((value % &modulus) + &modulus) % &modulus;
    match value.into_parts() {
        (Sign::Minus, _) => BigUint::ZERO,
        (_, magnitude) => magnitude,
    }
}

fn float(value: &BigUint) -> f64 {
    value.iter_u64_digits().rev().fold(0.0, |sum, digit| {
        #[expect(clippy::cast_precision_loss, reason = "the hardware check rounds too")]
        let digit = digit as f64;
        sum * 18_446_744_073_709_551_616.0 + digit
    })
}
