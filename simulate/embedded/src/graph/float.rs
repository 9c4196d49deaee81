//! Binary floating point of any format up to 64 bits, as Berkeley `HardFloat` (release 1, in its RISC-V variant) computes it.
//!
//! Owns rounding, sums, products, comparisons and conversions. A NaN that comes out is always the same one.

use std::cmp::Ordering;

/// A format: the bits of its exponent, and those of its significand, the hidden one among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Format {
    pub exp: u8,
    pub sig: u8,
}

/// What is computed of floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FloatOp {
    /// Of two numbers, and one bit for whether the second one is subtracted above the rounding mode.
    Add,
    /// Of two numbers and the rounding mode.
    Mul,
    /// Of two numbers, and whether a quiet NaN is invalid, too: bits for invalid, unordered, greater, equal and less.
    Compare,
    /// Towards zero, with a sign; what is out of the range becomes its end, NaN the upper one.
    ToInt,
    /// Of an integer of so many bits, and whether it has a sign: to the nearest.
    FromInt(u8),
    /// Of two numbers, and whether the square root of the first one is wanted rather than the quotient: bits for whether an algorithm has
    /// to compute it, an exception, NaN, infinity, zero, the sign, and a root of an odd exponent.
    Begin,
    /// Of the same: the exponent of a result whose significand is from 1 to below 4, with a bias that is twice that of the format, and two.
    Exponent,
    /// The significand with the hidden one as its highest bit; 0 of zero.
    Significand,
    /// Of a significand (two integer bits and two bits below the last place), an exponent as above, and, from above, the sign, whether a result is
    /// tiny after rounding, and the rounding mode: the number.
    Round,
    /// Of the same: bits for overflow, underflow and inexact.
    RoundFlags,
}

/// The rounding modes. All other numbers are towards zero.
mod mode {
    pub const NEAR_EVEN: u64 = 0;
    pub const DOWN: u64 = 2;
    pub const UP: u64 = 3;
    pub const NEAR_AWAY: u64 = 4;
    pub const ODD: u64 = 6;
}

impl FloatOp {
    /// How many operands it has.
    pub fn operands(self) -> usize {
        match self {
            Self::ToInt | Self::Significand => 1,
            Self::FromInt(_) => 2,
            Self::Add
            | Self::Mul
            | Self::Compare
            | Self::Begin
            | Self::Exponent
            | Self::Round
            | Self::RoundFlags => 3,
        }
    }

    /// The result. `width` is its width.
    pub fn eval(self, format: Format, width: u32, args: &[u64]) -> u64 {
        let of = |at: usize| format.unpack(args[at]);
        match self {
            Self::Add => format.add(of(0), of(1), args[2] >> 3 != 0, args[2] & 7),
            Self::Mul => format.mul(of(0), of(1), args[2]),
            Self::Compare => compare(of(0), of(1), args[2] != 0),
            Self::ToInt => to_int(of(0), format, width),
            Self::FromInt(bits) => format.integer(args[0], bits, args[1] != 0),
            Self::Begin => begin(of(0), of(1), args[2] != 0),
            Self::Exponent => {
                let exp = match args[2] {
                    0 => of(0).exp - of(1).exp - 1,
                    _ => of(0).exp >> 1,
                };
                (exp + format.wide_bias()).cast_unsigned() & ones(width)
            }
            Self::Significand => of(0).sig,
            Self::Round | Self::RoundFlags => {
                let raw = Raw {
                    sign: args[2] >> 4 != 0,
                    exp: extended(args[1], u32::from(format.exp) + 3) - format.wide_bias(),
                    sig: args[0],
                };
                let (value, flags) = format.round(raw, args[2] & 7, args[2] >> 3 & 1 != 0);
                if self == Self::Round { value } else { flags }
            }
        }
    }
}

/// A number taken apart. The significand of one that is neither zero nor special has its highest bit set.
#[derive(Debug, Clone, Copy)]
struct Number {
    kind: Kind,
    sign: bool,
    exp: i64,
    sig: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Zero,
    Finite,
    Infinite,
    Nan { signaling: bool },
}

impl Number {
    fn is_nan(self) -> bool {
        matches!(self.kind, Kind::Nan { .. })
    }

    fn is_signaling(self) -> bool {
        self.kind == Kind::Nan { signaling: true }
    }
}

/// What is to be rounded: a significand with two bits before the point, and two below the last place, of which the lower one stands
/// for all that is behind it.
#[derive(Debug, Clone, Copy)]
struct Raw {
    sign: bool,
    exp: i64,
    sig: u64,
}

impl Format {
    /// Bits of a number.
    pub fn width(self) -> u32 {
        u32::from(self.exp) + u32::from(self.sig)
    }

    /// The one NaN that comes out.
    pub fn nan(self) -> u64 {
        let quiet = 1 << (self.places() - 2);
        self.encoded(false, ones(self.exp.into()), quiet)
    }

    /// The infinity without a sign.
    pub fn infinity(self) -> u64 {
        self.infinite(false)
    }

    fn bias(self) -> i64 {
        (1 << (self.exp - 1)) - 1
    }

    fn wide_bias(self) -> i64 {
        1 << self.exp
    }

    /// The least exponent of a normal number.
    fn least(self) -> i64 {
        1 - self.bias()
    }

    fn places(self) -> u32 {
        u32::from(self.sig)
    }

    fn encoded(self, sign: bool, exp: u64, fraction: u64) -> u64 {
        let below = self.places() - 1;
        let sign = u64::from(sign) << (below + u32::from(self.exp));
        sign | exp << below | fraction
    }

    fn infinite(self, sign: bool) -> u64 {
        self.encoded(sign, ones(self.exp.into()), 0)
    }

    fn zero(self, sign: bool) -> u64 {
        self.encoded(sign, 0, 0)
    }

    fn largest(self, sign: bool) -> u64 {
        let exp = ones(self.exp.into()) - 1;
        self.encoded(sign, exp, ones(self.places() - 1))
    }

    fn unpack(self, bits: u64) -> Number {
        let below = self.places() - 1;
        let fraction = bits & ones(below);
        let exp = bits >> below & ones(self.exp.into());
        let sign = bits >> (below + u32::from(self.exp)) & 1 != 0;
        let hidden = 1 << below;
        let (kind, exp, sig) = if exp == ones(self.exp.into()) {
            let signaling = fraction >> (below - 1) == 0;
            match fraction {
                0 => (Kind::Infinite, 0, hidden),
                _ => (Kind::Nan { signaling }, 0, hidden | fraction),
            }
        } else if exp > 0 {
            let exp = exp.cast_signed() - self.bias();
            (Kind::Finite, exp, hidden | fraction)
        } else if fraction == 0 {
            (Kind::Zero, 0, 0)
        } else {
            let by = fraction.leading_zeros() - hidden.leading_zeros();
            (Kind::Finite, self.least() - i64::from(by), fraction << by)
        };
        Number {
            kind,
            sign,
            exp,
            sig,
        }
    }

    /// The number nearest to `raw` in this mode, and whether it is too large, tiny, or another one. Where the highest bits of the
    /// significand are 0, the result means nothing.
    fn round(self, raw: Raw, mode: u64, tiny_after: bool) -> (u64, u64) {
        let Raw { sign, exp, sig } = raw;
        let places = self.places();
        let is_near = mode == mode::NEAR_EVEN || mode == mode::NEAR_AWAY;
        let away = (mode == mode::DOWN && sign) || (mode == mode::UP && !sign);
        let ups = |half: bool, any: bool| (is_near && half) || (away && any);
        // From two on, one place more is lost; below the normal numbers as many as it takes.
        let high = u32::try_from(sig >> (places + 2) & 1).unwrap_or(0);
        let below = (self.least() - exp).clamp(0, i64::from(places) + 1);
        let below = u32::try_from(below).unwrap_or(0);
        let dropped = 2 + below.max(high);
        let half = sig >> (dropped - 1) & 1 != 0;
        let rest = sig & ones(dropped - 1) != 0;
        let any = half || rest;
        let increments = ups(half, any);
        let mut kept = sig >> dropped;
        if increments {
            kept += 1;
            if mode == mode::NEAR_EVEN && half && !rest {
                kept &= !1;
            }
        } else if mode == mode::ODD && any {
            kept |= 1;
        }
        let rounded = kept << (dropped - 2);
        let exp_out = exp + (rounded >> places).cast_signed();
        let fraction = rounded >> high & ones(places - 1);
        let is_large = exp_out > self.bias();
        let is_nothing = exp_out < self.least() - i64::from(places) + 1;
        // Without a least exponent it would have been rounded up to a normal number.
        let carries = rounded >> (places + high) & 1 != 0;
        let whole_half = sig >> (1 + high) & 1 != 0;
        let whole_any = whole_half || sig & ones(1 + high) != 0;
        let becomes_normal = below <= 1 + high && carries && half && ups(whole_half, whole_any);
        let is_tiny = any && below > high && !(tiny_after && becomes_normal);
        let value = if is_nothing && (away || mode == mode::ODD) {
            self.encoded(sign, 0, 1)
        } else if is_nothing {
            self.zero(sign)
        } else if is_large && (is_near || away) {
            self.infinite(sign)
        } else if is_large {
            self.largest(sign)
        } else if exp_out >= self.least() {
            let biased = (exp_out + self.bias()).cast_unsigned();
            self.encoded(sign, biased, fraction)
        } else {
            let by = self.least() - exp_out;
            self.encoded(sign, 0, (1 << (places - 1) | fraction) >> by)
        };
        let flags = u64::from(is_large) << 2
            | u64::from(is_nothing || is_tiny) << 1
            | u64::from(is_large || is_nothing || any);
        (value, flags)
    }

    /// The number nearest to `sig` times a power of two.
    fn nearest(self, sign: bool, sig: u128, exp_of_last: i64, mode: u64) -> u64 {
        if sig == 0 {
            return self.zero(sign);
        }
        let highest = sig.ilog2();
        // With the highest bit as the integer bit that counts one.
        let one = self.places() + 1;
        let sig = if highest <= one {
            sig << (one - highest)
        } else {
            let by = highest - one;
            sig >> by | u128::from(sig & ((1 << by) - 1) != 0)
        };
        let sig = u64::try_from(sig).unwrap_or(u64::MAX);
        let exp = exp_of_last + i64::from(highest);
        self.round(Raw { sign, exp, sig }, mode, true).0
    }

    fn add(self, left: Number, right: Number, subtracts: bool, mode: u64) -> u64 {
        let right = Number {
            sign: right.sign != subtracts,
            ..right
        };
        let same = left.sign == right.sign;
        match (left.kind, right.kind) {
            (Kind::Nan { .. }, _) | (_, Kind::Nan { .. }) => return self.nan(),
            (Kind::Infinite, Kind::Infinite) if !same => return self.nan(),
            (Kind::Infinite, _) => return self.infinite(left.sign),
            (_, Kind::Infinite) => return self.infinite(right.sign),
            (Kind::Zero, Kind::Zero) if same => return self.zero(left.sign),
            _ => {}
        }
        let (large, small) = match (left.kind, right.kind) {
            (Kind::Zero, _) => (right, left),
            (_, Kind::Zero) => (left, right),
            _ if left.exp >= right.exp => (left, right),
            _ => (right, left),
        };
        // Room for all bits of the smaller one that may count, and one that stands for the others.
        let room = self.places() + 4;
        let distance = u32::try_from(large.exp - small.exp).unwrap_or(0).min(127);
        let wide = u128::from(small.sig) << room;
        let lost = wide & ((1 << distance) - 1) != 0;
        let aligned = wide >> distance | u128::from(lost);
        let whole = u128::from(large.sig) << room;
        let last = large.exp - i64::from(self.places() - 1 + room);
        if same {
            return self.nearest(large.sign, whole + aligned, last, mode);
        }
        let sign = match whole.cmp(&aligned) {
            Ordering::Greater => large.sign,
            Ordering::Less => small.sign,
            Ordering::Equal => mode == mode::DOWN,
        };
        self.nearest(sign, whole.abs_diff(aligned), last, mode)
    }

    fn mul(self, left: Number, right: Number, mode: u64) -> u64 {
        let sign = left.sign != right.sign;
        match (left.kind, right.kind) {
            (Kind::Nan { .. }, _)
            | (_, Kind::Nan { .. })
            | (Kind::Infinite, Kind::Zero)
            | (Kind::Zero, Kind::Infinite) => self.nan(),
            (Kind::Infinite, _) | (_, Kind::Infinite) => self.infinite(sign),
            (Kind::Zero, _) | (_, Kind::Zero) => self.zero(sign),
            (Kind::Finite, Kind::Finite) => {
                let product = u128::from(left.sig) * u128::from(right.sig);
                let last = left.exp + right.exp - 2 * i64::from(self.places() - 1);
                self.nearest(sign, product, last, mode)
            }
        }
    }

    fn integer(self, value: u64, bits: u8, is_signed: bool) -> u64 {
        let sign = is_signed && value >> (bits - 1) & 1 != 0;
        let magnitude = if sign { value.wrapping_neg() } else { value } & ones(bits.into());
        self.nearest(sign, magnitude.into(), 0, mode::NEAR_EVEN)
    }
}

fn begin(left: Number, right: Number, is_root: bool) -> u64 {
    let is = |of: Number, kind: Kind| of.kind == kind;
    let both = |kind: Kind| is(left, kind) && is(right, kind);
    let (is_nan, is_exception);
    if is_root {
        let is_negative = left.sign && !left.is_nan() && !is(left, Kind::Zero);
        is_nan = left.is_nan() || is_negative;
        is_exception = left.is_signaling() || is_negative;
    } else {
        let is_undefined = both(Kind::Zero) || both(Kind::Infinite);
        let by_zero = is(right, Kind::Zero) && !left.is_nan() && !is(left, Kind::Infinite);
        is_nan = left.is_nan() || right.is_nan() || is_undefined;
        is_exception = left.is_signaling() || right.is_signaling() || is_undefined || by_zero;
    }
    let finite = is(left, Kind::Finite);
    let bits = [
        finite
            && if is_root {
                !left.sign
            } else {
                is(right, Kind::Finite)
            },
        is_exception,
        is_nan,
        is(left, Kind::Infinite) || (!is_root && is(right, Kind::Zero)),
        is(left, Kind::Zero) || (!is_root && is(right, Kind::Infinite)),
        left.sign != (!is_root && right.sign),
        is_root && left.exp & 1 != 0,
    ];
    let bits = bits.iter().zip(0..);
    bits.fold(0, |all, (&bit, at)| all | u64::from(bit) << at)
}

fn compare(left: Number, right: Number, is_signaling: bool) -> u64 {
    let unordered = left.is_nan() || right.is_nan();
    let invalid = left.is_signaling() || right.is_signaling() || (is_signaling && unordered);
    let size = |of: Number| match of.kind {
        Kind::Zero => (0, 0, 0),
        Kind::Finite => (1, of.exp, of.sig),
        Kind::Infinite | Kind::Nan { .. } => (2, 0, 0),
    };
    let both_zero = left.kind == Kind::Zero && right.kind == Kind::Zero;
    let order = match (left.sign, right.sign) {
        _ if both_zero => Ordering::Equal,
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => size(left).cmp(&size(right)),
        (true, true) => size(right).cmp(&size(left)),
    };
    let is = |wanted: Ordering| u64::from(!unordered && order == wanted);
    u64::from(invalid) << 4
        | u64::from(unordered) << 3
        | is(Ordering::Greater) << 2
        | is(Ordering::Equal) << 1
        | is(Ordering::Less)
}

fn to_int(of: Number, format: Format, width: u32) -> u64 {
    let (most, least) = (ones(width - 1), 1 << (width - 1));
    let limit = if of.sign { least } else { most };
    match of.kind {
        Kind::Zero => 0,
        Kind::Nan { .. } => most,
        Kind::Infinite => limit,
        Kind::Finite if of.exp < 0 => 0,
        Kind::Finite if of.exp >= 64 => limit,
        Kind::Finite => {
            let whole = u128::from(of.sig) << of.exp >> (format.places() - 1);
            let whole = u64::try_from(whole).unwrap_or(u64::MAX);
            if whole > limit {
                limit
            } else if of.sign {
                whole.wrapping_neg() & ones(width)
            } else {
                whole
            }
        }
    }
}

/// The number with this many low bits set, of at most 64.
fn ones(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width.min(64)).unwrap_or(0)
}

/// A number of so many bits with a sign.
fn extended(value: u64, width: u32) -> i64 {
    let by = 64 - width;
    (value << by).cast_signed() >> by
}

#[cfg(test)]
mod tests;
