//! The format of a memory's values: how a word of bits is read as a number.
//!
//! Owns which formats there are and which are sound. Reading and writing numbers is in [`crate::number`].

use std::num::NonZeroU32;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

/// The widest format, in bits: as wide as a Verilog tool has to support (IEEE 1800-2017, section 6.9.1).
const LARGEST_WIDTH: u32 = 1 << 16;

/// The kinds of numbers of the Calyx data format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumericType {
    /// Whole numbers.
    Bitnum,
    /// Numbers with a fixed count of bits after the binary point.
    FixedPoint,
    /// Floating-point numbers of 32 or 64 bits (IEEE 754-2019, binary32 and binary64).
    Ieee754Float,
}

/// How a word is read as a number: its bits, whether they are two's complement, and where the binary point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "FormatText", into = "FormatText")]
pub struct Format {
    numeric_type: NumericType,
    is_signed: bool,
    width: NonZeroU32,
    /// Bits after the binary point; at most the width.
    fraction: u32,
}

/// The form of a format in JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(expecting = "an object with `numeric_type`, `is_signed` and `width`")]
pub(crate) struct FormatText {
    numeric_type: NumericType,
    is_signed: bool,
    #[serde(default)]
    width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    int_width: Option<u32>,
    #[serde(default, skip_serializing)]
    frac_width: Option<u32>,
}

impl Format {
    /// Unsigned whole numbers of `width` bits.
    pub fn unsigned(width: u32) -> Self {
        Self {
            numeric_type: NumericType::Bitnum,
            is_signed: false,
            // Calyx has no memories of width zero; one bit holds the zeros that would be in them.
            width: NonZeroU32::new(width).unwrap_or(NonZeroU32::MIN),
            fraction: 0,
        }
    }

    /// The same words in two's complement.
    #[must_use]
    pub fn signed(self) -> Self {
        Self {
            is_signed: true,
            ..self
        }
    }

    /// The same words with so many bits after the binary point; `None` if they have fewer.
    pub fn fixed(self, fraction: u32) -> Option<Self> {
        let fixed = Self {
            numeric_type: NumericType::FixedPoint,
            fraction,
            ..self
        };
        (fraction <= self.width()).then_some(fixed)
    }

    /// The same words as floating-point numbers; `None` if they have neither 32 nor 64 bits.
    pub fn float(self) -> Option<Self> {
        let float = Self {
            numeric_type: NumericType::Ieee754Float,
            is_signed: true,
            ..self
        };
        matches!(self.width(), 32 | 64).then_some(float)
    }

    /// The number that a word of up to 64 bits is: a decimal as short as exactness allows, or `nan` or `inf`.
    pub fn text(self, word: u64) -> String {
        let text = crate::number::to_text(&BigUint::from(word), self);
        text.trim_matches('"').to_owned()
    }

    /// The kind of numbers.
    pub fn numeric_type(self) -> NumericType {
        self.numeric_type
    }

    /// Whether words are two's complement.
    pub fn is_signed(self) -> bool {
        self.is_signed
    }

    /// Bits per word.
    pub fn width(self) -> u32 {
        self.width.get()
    }

    /// Bits after the binary point.
    pub fn fraction(self) -> u32 {
        self.fraction
    }

    /// Bits before the binary point, with the sign's.
    pub fn int_width(self) -> u32 {
        self.width.get() - self.fraction
    }
}

impl From<Format> for FormatText {
    fn from(format: Format) -> Self {
        Self {
            numeric_type: format.numeric_type,
            is_signed: format.is_signed,
            width: Some(format.width()),
            int_width: match format.numeric_type {
                NumericType::Bitnum | NumericType::Ieee754Float => None,
                NumericType::FixedPoint => Some(format.int_width()),
            },
            frac_width: None,
        }
    }
}

impl TryFrom<FormatText> for Format {
    /// What is wrong, for the user.
    type Error = String;

    fn try_from(text: FormatText) -> Result<Self, String> {
        let FormatText {
            numeric_type,
            is_signed,
            width,
            int_width,
            frac_width,
        } = text;
        let (width, fraction) = match (numeric_type, width, int_width, frac_width) {
            (NumericType::Bitnum, Some(width), _, _)
            | (NumericType::Ieee754Float, Some(width @ (32 | 64)), _, _) => (width, 0),
            (NumericType::Ieee754Float, _, _, _) => {
                return Err("an `ieee754_float` format needs a `width` of 32 or 64".to_owned());
            }
            (NumericType::Bitnum, None, _, _) => {
                return Err("a `bitnum` format needs its `width`".to_owned());
            }
            (NumericType::FixedPoint, Some(width), Some(int), None) => {
                (width, width.checked_sub(int).ok_or_else(|| add_up(width))?)
            }
            (NumericType::FixedPoint, Some(width), None, Some(fraction)) => (width, fraction),
            (NumericType::FixedPoint, None, Some(int), Some(fraction)) => {
                (int.saturating_add(fraction), fraction)
            }
            (NumericType::FixedPoint, Some(width), Some(int), Some(fraction)) => {
                if int.checked_add(fraction) != Some(width) {
                    return Err(add_up(width));
                }
                (width, fraction)
            }
            (NumericType::FixedPoint, _, _, _) => {
                return Err(
                    "a `fixed_point` format needs two of `width`, `int_width` (the bits before the binary point) and \
                     `frac_width` (those after it)"
                        .to_owned(),
                );
            }
        };
        if fraction > width {
            return Err(add_up(width));
        }
        let width = NonZeroU32::new(width)
            .filter(|width| width.get() <= LARGEST_WIDTH)
            .ok_or_else(|| format!("the format's `width` must be 1 to {LARGEST_WIDTH}"))?;
        Ok(Self {
            numeric_type,
            is_signed,
            width,
            fraction,
        })
    }
}

fn add_up(width: u32) -> String {
    format!("the bits before and after the binary point must add up to the `width` of {width}")
}
