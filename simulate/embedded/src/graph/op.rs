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

    /// The same for values of up to 64 bits, with their widths.
    pub fn eval_word(self, width: u32, args: [u64; 3], widths: [u32; 3]) -> u64 {
        let [a, b, c] = args;
        let signed = |at: usize| {
            let by = 64 - widths[at];
            (args[at] << by).cast_signed() >> by
        };
        let fits = b < u64::from(width);
        let result = match self {
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Not => !a,
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::Div | Self::Rem | Self::SDiv | Self::SRem if b == 0 => 0,
            Self::Div => a / b,
            Self::Rem => a % b,
            Self::SDiv => signed(0).wrapping_div(signed(1)).cast_unsigned(),
            Self::SRem => signed(0).wrapping_rem(signed(1)).cast_unsigned(),
            Self::Eq => u64::from(a == b),
            Self::Lt => u64::from(a < b),
            Self::SLt => u64::from(signed(0) < signed(1)),
            Self::Shl if fits => a << b,
            Self::Shr if fits => a >> b,
            Self::Shl | Self::Shr => 0,
            Self::Sar => (signed(0) >> b.min(63)).cast_unsigned(),
            Self::Mux if a == 0 => c,
            Self::Mux => b,
            Self::Slice(low) => a.checked_shr(low).unwrap_or(0),
            Self::Pad => a,
            Self::SignExtend => signed(0).cast_unsigned(),
            Self::Cat => a.checked_shl(widths[1]).unwrap_or(0) | b,
            Self::Float(op, format) => op.eval(format, width, &args[..op.operands()]),
            Self::NotSqrt => {
                #[expect(clippy::cast_precision_loss, reason = "the hardware check rounds too")]
                let [a, b] = [a, b].map(|value| value as f64);
                u64::from((a - b.sqrt().floor()).abs() > 0.0)
            }
        };
        result & (u64::MAX >> (64 - width))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_computed_like_big_numbers() {
        const OPS: [Op; 23] = [
            Op::And,
            Op::Or,
            Op::Xor,
            Op::Not,
            Op::Add,
            Op::Sub,
            Op::Mul,
            Op::Div,
            Op::Rem,
            Op::SDiv,
            Op::SRem,
            Op::Eq,
            Op::Lt,
            Op::SLt,
            Op::Shl,
            Op::Shr,
            Op::Sar,
            Op::Mux,
            Op::Slice(3),
            Op::Pad,
            Op::SignExtend,
            Op::Cat,
            Op::NotSqrt,
        ];
        let mut random = 0x1234_5678_9abc_def1_u64;
        for round in 0..20_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let op = OPS[round % OPS.len()];
            let width = [1, 2, 7, 8, 31, 32, 33, 63, 64][round / OPS.len() % 9];
            let bits = u64::MAX >> (64 - width);
            let corner = |at: u64| match random >> (4 * at) & 7 {
                0 => 0,
                1 => bits,
                2 => bits ^ bits >> 1,
                3 => at,
                4 => u64::from(width),
                _ => random.rotate_left(9 * u32::try_from(at).unwrap()),
            };
            let (mut args, mut widths) = ([1, 2, 3].map(|at| corner(at) & bits), [width; 3]);
            if op == Op::Mux {
                (args[0], widths[0]) = (args[0] & 1, 1);
            }
            let wide = match op {
                Op::Eq | Op::Lt | Op::SLt | Op::NotSqrt => 1,
                Op::Cat => (2 * width).min(64),
                Op::Pad | Op::SignExtend => (width + 5).min(64),
                _ => width,
            };
            if op == Op::Cat && 2 * width > 64 {
                continue;
            }
            let big: Vec<(BigUint, u32)> =
                args.map(BigUint::from).into_iter().zip(widths).collect();
            let expected = op.eval(wide, &big);
            let result = op.eval_word(wide, args, widths);
            assert_eq!(
                BigUint::from(result),
                expected,
                "{op:?} {wide} {args:?} {widths:?}"
            );
        }
    }
}
