//! Single values: decimal text to the bits of a word and back, without rounding.
//!
//! Owns what a number may look like (`-3`, `1.25`, `2e3`, and in strings also `1/8`) and what fits a format.

use num_bigint::{BigInt, BigUint, Sign};

use super::format::Format;
use super::problem::Problem;

/// Exponents beyond this are refused: no memory word needs them, and a power of ten of that size takes long.
const LARGEST_EXPONENT: i64 = 100_000;

/// The bits of the number that `text` tells, in `format`.
pub(super) fn to_bits(text: &str, format: Format) -> Result<BigUint, Problem> {
    let exact = Exact::parse(text).ok_or_else(|| Problem::NotANumber {
        text: text.to_owned(),
    })?;
    let scaled = exact.numerator << format.fraction();
    let denominator = BigInt::from(exact.denominator);
    let whole = &scaled / &denominator;
    if &whole * &denominator != scaled {
        return Err(Problem::NotExact {
            text: text.to_owned(),
            format,
            nearest: nearest(&scaled, &denominator, format),
        });
    }
    let (lowest, highest) = range(format);
    if whole < lowest || whole > highest {
        return Err(Problem::OutOfRange {
            text: text.to_owned(),
            format,
            lowest: scaled_to_text(&lowest, format.fraction()),
            highest: scaled_to_text(&highest, format.fraction()),
        });
    }
    let wrapped = match whole.sign() {
        Sign::Minus => whole + (BigInt::from(1) << format.width()),
        Sign::NoSign | Sign::Plus => whole,
    };
    // Below the width's power of two and not negative.
    Ok(wrapped.into_parts().1)
}

/// The number that the bits of a word are in `format`: a decimal without exponent, as short as exactness allows.
pub(super) fn to_text(bits: &BigUint, format: Format) -> String {
    let mut value = BigInt::from(bits.clone());
    if format.is_signed() && bits.bit(u64::from(format.width()) - 1) {
        value -= BigInt::from(1) << format.width();
    }
    scaled_to_text(&value, format.fraction())
}

/// The lowest and the highest number of a format, times two to the power of its fraction bits.
fn range(format: Format) -> (BigInt, BigInt) {
    let one = BigInt::from(1);
    if format.is_signed() {
        let half = &one << (format.width() - 1);
        (-&half, half - one)
    } else {
        (BigInt::ZERO, (&one << format.width()) - one)
    }
}

/// `value` / 2^`fraction` as a decimal.
fn scaled_to_text(value: &BigInt, fraction: u32) -> String {
    if fraction == 0 {
        return value.to_string();
    }
    // v / 2^f = v * 5^f / 10^f
    let digits = (value.magnitude() * BigUint::from(5_u32).pow(fraction)).to_string();
    let places = fraction as usize;
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, decimals) = padded.split_at(padded.len() - places);
    let decimals = decimals.trim_end_matches('0');
    let sign = if value.sign() == Sign::Minus { "-" } else { "" };
    match decimals {
        "" => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{decimals}"),
    }
}

/// The number of the format's grid that is nearest to `scaled` / `denominator`.
fn nearest(scaled: &BigInt, denominator: &BigInt, format: Format) -> String {
    let double: BigInt = scaled * 2;
    let half_up = match scaled.sign() {
        Sign::Minus => double - denominator,
        Sign::NoSign | Sign::Plus => double + denominator,
    };
    let (lowest, highest) = range(format);
    let rounded: BigInt = half_up / (denominator * 2);
    scaled_to_text(&rounded.clamp(lowest, highest), format.fraction())
}

/// A fraction of whole numbers.
struct Exact {
    numerator: BigInt,
    /// Not zero.
    denominator: BigUint,
}

impl Exact {
    fn parse(text: &str) -> Option<Self> {
        if let Some((numerator, denominator)) = text.split_once('/') {
            let denominator = digits(denominator.trim())?;
            return (denominator != BigUint::ZERO).then_some(Self {
                numerator: signed(numerator.trim(), digits)?,
                denominator,
            });
        }
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if mantissa.contains('.') && decimals.is_empty() {
            return None;
        }
        let numerator = signed(whole, |whole| digits(&format!("{whole}{decimals}")))?;
        let exponent = exponent.checked_sub(i64::try_from(decimals.len()).ok()?)?;
        if exponent.abs() > LARGEST_EXPONENT {
            return None;
        }
        let power = BigUint::from(10_u32).pow(u32::try_from(exponent.unsigned_abs()).ok()?);
        Some(if exponent < 0 {
            Self {
                numerator,
                denominator: power,
            }
        } else {
            Self {
                numerator: numerator * BigInt::from(power),
                denominator: BigUint::from(1_u32),
            }
        })
    }
}

fn signed(text: &str, unsigned: impl Fn(&str) -> Option<BigUint>) -> Option<BigInt> {
    match text.strip_prefix('-') {
        Some(rest) if !rest.is_empty() => Some(-BigInt::from(unsigned(rest)?)),
        Some(_) => None,
        None if text.is_empty() => None,
        None => unsigned(text).map(BigInt::from),
    }
}

fn digits(text: &str) -> Option<BigUint> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    BigUint::parse_bytes(text.as_bytes(), 10)
}
