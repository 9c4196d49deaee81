//! The format of a memory's values: how a word of bits is read as a number.
//!
//! Owns which formats there are and which are sound. Reading and writing numbers is in [`super::number`].

use std::num::NonZeroU32;

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
}

/// How a word is read as a number: its bits, whether they are two's complement, and where the binary point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub(super) struct FormatText {
    numeric_type: NumericType,
    is_signed: bool,
    width: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    int_width: Option<u32>,
    #[serde(default, skip_serializing)]
    frac_width: Option<u32>,
}

impl Format {
    /// Unsigned whole numbers of `width` bits.
    pub(super) fn unsigned(width: u32) -> Self {
        Self {
            numeric_type: NumericType::Bitnum,
            is_signed: false,
            // Calyx has no memories of width zero; one bit holds the zeros that would be in them.
            width: NonZeroU32::new(width).unwrap_or(NonZeroU32::MIN),
            fraction: 0,
        }
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

    pub(super) fn to_text(self) -> FormatText {
        FormatText {
            numeric_type: self.numeric_type,
            is_signed: self.is_signed,
            width: self.width(),
            int_width: match self.numeric_type {
                NumericType::Bitnum => None,
                NumericType::FixedPoint => Some(self.int_width()),
            },
            frac_width: None,
        }
    }
}

impl TryFrom<FormatText> for Format {
    /// What is wrong, for the user.
    type Error = String;

    fn try_from(text: FormatText) -> Result<Self, String> {
        let width = NonZeroU32::new(text.width)
            .filter(|width| width.get() <= LARGEST_WIDTH)
            .ok_or_else(|| format!("the format's `width` must be 1 to {LARGEST_WIDTH}"))?;
        let fraction = match (text.numeric_type, text.int_width, text.frac_width) {
            (NumericType::Bitnum, _, _) => 0,
            (NumericType::FixedPoint, None, None) => {
                return Err(
                    "a `fixed_point` format needs `int_width`, the bits before the binary point"
                        .to_owned(),
                );
            }
            (NumericType::FixedPoint, None, Some(fraction)) if fraction <= text.width => fraction,
            (NumericType::FixedPoint, Some(int), None) if int <= text.width => text.width - int,
            (NumericType::FixedPoint, Some(int), Some(fraction))
                if int.checked_add(fraction) == Some(text.width) =>
            {
                fraction
            }
            (NumericType::FixedPoint, _, _) => {
                return Err(format!(
                    "the bits before and after the binary point must add up to the `width` of {width}"
                ));
            }
        };
        Ok(Self {
            numeric_type: text.numeric_type,
            is_signed: text.is_signed,
            width,
            fraction,
        })
    }
}
