//! Single values: decimal text to the bits of a word and back.
//!
//! Owns what a number may look like (`-3`, `1.25`, `2e3`, in strings also `1/8`, and `inf` and `nan` for
//! floating-point formats), what fits a format, and how far a value is from the number that it is rounded to.

use num_bigint::{BigInt, BigUint, Sign};

use crate::format::{Format, NumericType};
use crate::problem::Problem;

/// Exponents beyond this are refused: no memory word needs them, and a power of ten of that size takes long.
const LARGEST_EXPONENT: i64 = 100_000;

/// So many characters more than its format has bits, twice, no number needs: to read it would take long.
const SPARE_LENGTH: usize = 10_000;

/// How a value was rounded.
#[derive(Debug, PartialEq)]
pub(crate) struct Rounding {
    /// The number that is stored.
    pub nearest: String,
    /// How far it is from the value.
    pub error: f64,
}

/// The bits of the number of `format` that is nearest to the one that `text` tells, and how that was rounded if
/// it is another one. Whole numbers are not rounded.
pub(crate) fn to_bits(text: &str, format: Format) -> Result<(BigUint, Option<Rounding>), Problem> {
    let most = SPARE_LENGTH.saturating_add(2 * format.width() as usize);
    if text.len() > most {
        let text = text.to_owned();
        return Err(Problem::TooLong { text, most });
    }
    if format.numeric_type() == NumericType::Ieee754Float {
        return float_to_bits(text, format);
    }
    let exact = Exact::parse(text).ok_or_else(|| {
        let text = text.to_owned();
        if is_special(text.strip_prefix('-').unwrap_or(&text)) {
            Problem::NotFinite { text, format }
        } else {
            Problem::NotANumber { text }
        }
    })?;
    let scaled = exact.numerator << format.fraction();
    let denominator = BigInt::from(exact.denominator.clone());
    let mut whole = &scaled / &denominator;
    let is_exact = &whole * &denominator == scaled;
    let (lowest, highest) = range(format);
    if !is_exact {
        whole = half_to_even(&scaled, &exact.denominator);
    }
    if !is_exact && format.numeric_type() == NumericType::Bitnum {
        return Err(Problem::NotExact {
            text: text.to_owned(),
            format,
            nearest: scaled_to_text(&whole.clamp(lowest, highest), format.fraction()),
        });
    }
    if whole < lowest || whole > highest {
        return Err(Problem::OutOfRange {
            text: text.to_owned(),
            format,
            lowest: scaled_to_text(&lowest, format.fraction()),
            highest: scaled_to_text(&highest, format.fraction()),
        });
    }
    let rounding = (!is_exact).then(|| Rounding {
        nearest: scaled_to_text(&whole, format.fraction()),
        error: ratio(
            (&scaled - &whole * &denominator).magnitude(),
            &(exact.denominator << format.fraction()),
        ),
    });
    let wrapped = match whole.sign() {
        Sign::Minus => whole + (BigInt::from(1) << format.width()),
        Sign::NoSign | Sign::Plus => whole,
    };
    // Below the width's power of two and not negative.
    Ok((wrapped.into_parts().1, rounding))
}

/// The bits of a floating-point number. A value counts as rounded if the number that is stored is written as another
/// decimal: the shortest that no other number is nearer to.
fn float_to_bits(text: &str, format: Format) -> Result<(BigUint, Option<Rounding>), Problem> {
    let not_a_number = || Problem::NotANumber {
        text: text.to_owned(),
    };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(payload) = unsigned
        .strip_prefix("nan(0x")
        .and_then(|text| text.strip_suffix(')'))
    {
        let bits = BigUint::parse_bytes(payload.as_bytes(), 16)
            .filter(|bits| bits.bits() <= u64::from(format.width()));
        return Ok((bits.ok_or_else(not_a_number)?, None));
    }
    let float = if is_special(unsigned) {
        Float::parse(text, format)
    } else {
        // Other forms of numbers are none here, either.
        let exact = Exact::parse(text).filter(|_| !text.contains('/'));
        exact.and_then(|_| Float::parse(text, format))
    };
    let float = float.ok_or_else(not_a_number)?;
    let bits = float.bits();
    let Some(exact) = Exact::parse(text) else {
        return Ok((bits, None));
    };
    let Some(stored) = float.exact() else {
        let highest = Float::highest(format);
        return Err(Problem::OutOfRange {
            text: text.to_owned(),
            format,
            lowest: format!("-{highest}"),
            highest,
        });
    };
    let shown = float.text();
    let same = Exact::parse(&shown).is_some_and(|shown| shown.distance(&exact).0 == BigUint::ZERO);
    let rounding = (!same).then(|| {
        let (numerator, denominator) = stored.distance(&exact);
        Rounding {
            nearest: shown,
            error: ratio(&numerator, &denominator),
        }
    });
    Ok((bits, rounding))
}

fn is_special(unsigned: &str) -> bool {
    ["inf", "infinity", "nan"]
        .iter()
        .any(|special| unsigned.eq_ignore_ascii_case(special))
}

/// A floating-point number.
#[derive(Debug, Clone, Copy)]
enum Float {
    Single(f32),
    Double(f64),
}

impl Float {
    fn parse(text: &str, format: Format) -> Option<Self> {
        match format.width() {
            32 => text.parse().ok().map(Self::Single),
            _ => text.parse().ok().map(Self::Double),
        }
    }

    fn of(bits: &BigUint, format: Format) -> Self {
        // The memory's words have no more bits than its format.
        let bits = u64::try_from(bits).unwrap_or(u64::MAX);
        match (format.width(), u32::try_from(bits)) {
            (32, Ok(bits)) => Self::Single(f32::from_bits(bits)),
            _ => Self::Double(f64::from_bits(bits)),
        }
    }

    fn bits(self) -> BigUint {
        match self {
            Self::Single(value) => value.to_bits().into(),
            Self::Double(value) => value.to_bits().into(),
        }
    }

    /// The largest finite number.
    fn highest(format: Format) -> String {
        match format.width() {
            32 => Self::Single(f32::MAX).text(),
            _ => Self::Double(f64::MAX).text(),
        }
    }

    /// As JSON: the shortest decimal that is read as the same number, or a string.
    fn text(self) -> String {
        let (is_nan, is_usual_nan, is_infinite, text) = match self {
            Self::Single(value) => (
                value.is_nan(),
                value.to_bits() == f32::NAN.to_bits(),
                value.is_infinite(),
                format!("{value:?}"),
            ),
            Self::Double(value) => (
                value.is_nan(),
                value.to_bits() == f64::NAN.to_bits(),
                value.is_infinite(),
                format!("{value:?}"),
            ),
        };
        if is_usual_nan {
            return "\"nan\"".to_owned();
        }
        if is_nan {
            return format!("\"nan(0x{:x})\"", self.bits());
        }
        if is_infinite {
            return format!("\"{text}\"");
        }
        text
    }

    /// The number as a fraction, if it is one.
    fn exact(self) -> Option<Exact> {
        const MANTISSA: u32 = 52;
        /// Of the smallest number that is not 0.
        const LOWEST_EXPONENT: i32 = -1074;
        // Every single is a double, too.
        let value = match self {
            Self::Single(value) => f64::from(value),
            Self::Double(value) => value,
        };
        if !value.is_finite() {
            return None;
        }
        let bits = value.to_bits();
        let mantissa = bits & ((1 << MANTISSA) - 1);
        let exponent = i32::try_from((bits >> MANTISSA) & 0x7ff).ok()?;
        let (mantissa, exponent) = match exponent {
            0 => (mantissa, LOWEST_EXPONENT),
            _ => (mantissa | 1 << MANTISSA, exponent - 1 + LOWEST_EXPONENT),
        };
        let numerator = BigInt::from(mantissa);
        let numerator = if value.is_sign_negative() {
            -numerator
        } else {
            numerator
        };
        let one = BigUint::from(1_u32);
        let shift = exponent.unsigned_abs();
        Some(if exponent < 0 {
            Exact {
                numerator,
                denominator: one << shift,
            }
        } else {
            Exact {
                numerator: numerator << shift,
                denominator: one,
            }
        })
    }
}

/// A fraction, as near as a float of 64 bits comes to it.
#[expect(clippy::cast_precision_loss, reason = "only shown, with few digits")]
fn ratio(numerator: &BigUint, denominator: &BigUint) -> f64 {
    // So that the quotient has 64 bits or one more.
    let bits = |number: &BigUint| i64::try_from(number.bits()).unwrap_or(i64::MAX);
    let shift = 64 + bits(denominator) - bits(numerator);
    let amount = shift.unsigned_abs();
    let quotient = if shift < 0 {
        numerator / (denominator << amount)
    } else {
        (numerator << amount) / denominator
    };
    let exponent = i32::try_from(-shift).unwrap_or(i32::MIN);
    u128::try_from(quotient).map_or(f64::INFINITY, |quotient| quotient as f64)
        * 2_f64.powi(exponent)
}

/// The number that the bits of a word are in `format`, as JSON: a decimal without exponent, as short as exactness
/// allows, or for floating-point numbers the shortest that is read as the same one.
pub(crate) fn to_text(bits: &BigUint, format: Format) -> String {
    if format.numeric_type() == NumericType::Ieee754Float {
        return Float::of(bits, format).text();
    }
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

/// The whole number that is nearest to `scaled` / `denominator`, of two the even one: as Calyx's own tools, and Python's `round`, do it.
fn half_to_even(scaled: &BigInt, denominator: &BigUint) -> BigInt {
    let mut whole = scaled.magnitude() / denominator;
    let twice = (scaled.magnitude() % denominator) * 2_u32;
    if twice > *denominator || (twice == *denominator && whole.bit(0)) {
        whole += 1_u32;
    }
    BigInt::from_biguint(scaled.sign(), whole)
}

/// A fraction of whole numbers.
struct Exact {
    numerator: BigInt,
    /// Not zero.
    denominator: BigUint,
}

impl Exact {
    /// How far it is from another one: a numerator and its denominator.
    fn distance(&self, other: &Self) -> (BigUint, BigUint) {
        let across =
            |one: &Self, other: &Self| &one.numerator * BigInt::from(other.denominator.clone());
        let numerator = across(self, other) - across(other, self);
        (
            numerator.into_parts().1,
            &self.denominator * &other.denominator,
        )
    }

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
