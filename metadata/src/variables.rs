//! The variables of a front end: what a generator of Calyx wrote of their types, and of the registers and words
//! of memories that hold them.
//!
//! Owns how the bits of a variable are taken from what holds it, and how its value is written. At which places a
//! variable holds is a matter of [`Position::variables`](crate::Position::variables).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{CellId, HolderId};

/// The most parts that a variable may have: elements of arrays and fields of structures, all the way down.
pub const MAX_PARTS: u64 = 4096;

/// How deep types may nest.
pub const MAX_DEPTH: usize = 32;

/// A type of a front end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Type {
    /// A number of so many bits.
    Unsigned(u32),
    /// A number of so many bits, in two's complement.
    Signed(u32),
    /// A truth value: one bit.
    Bool,
    /// So many bits, of which no more is known.
    Bits(u32),
    /// So many values of one type.
    Array(Box<Type>, u32),
    /// Fields, each with its name.
    Struct(Vec<(String, Type)>),
}

impl Type {
    /// How many parts a value has at most: nothing counts as one.
    pub fn size(&self) -> u64 {
        match self {
            Self::Array(of, length) => of.size().saturating_mul(u64::from(*length).max(1)),
            Self::Struct(fields) => fields
                .iter()
                .fold(0, |sum: u64, (_, of)| sum.saturating_add(of.size()))
                .max(1),
            _ => 1,
        }
    }

    /// How deep it nests.
    pub fn depth(&self) -> usize {
        match self {
            Self::Array(of, _) => 1 + of.depth(),
            Self::Struct(fields) => {
                let depths = fields.iter().map(|(_, of)| of.depth());
                1 + depths.max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// How many bits each part of a value has, in their order.
    pub fn widths(&self) -> Vec<u32> {
        let mut widths = Vec::new();
        self.add_widths(&mut widths);
        widths
    }

    fn add_widths(&self, widths: &mut Vec<u32>) {
        match self {
            Self::Unsigned(width) | Self::Signed(width) | Self::Bits(width) => widths.push(*width),
            Self::Bool => widths.push(1),
            Self::Array(of, length) => (0..*length).for_each(|_| of.add_widths(widths)),
            Self::Struct(fields) => fields.iter().for_each(|(_, of)| of.add_widths(widths)),
        }
    }

    /// A value as people write it: `-3`, `true`, `{ x: 1, y: [2, 3] }`. `parts` has the bits of each part, in their
    /// order; missing ones are written as `?`.
    pub fn written(&self, parts: &[u64]) -> String {
        self.write(&mut parts.iter().copied())
    }

    fn write(&self, parts: &mut impl Iterator<Item = u64>) -> String {
        match self {
            Self::Array(of, length) => {
                let values: Vec<String> = (0..*length).map(|_| of.write(parts)).collect();
                format!("[{}]", values.join(", "))
            }
            Self::Struct(fields) => {
                let values = fields.iter();
                let values = values.map(|(name, of)| format!("{name}: {}", of.write(parts)));
                format!("{{ {} }}", values.collect::<Vec<_>>().join(", "))
            }
            single => parts
                .next()
                .map_or("?".to_owned(), |bits| single.write_part(bits)),
        }
    }

    fn write_part(&self, bits: u64) -> String {
        match self {
            Self::Bool => (bits != 0).to_string(),
            Self::Bits(width) => format!("0b{bits:0width$b}", width = *width as usize),
            Self::Signed(width @ 1..=63) if bits >> (width - 1) & 1 == 1 => {
                format!("-{}", (1_u64 << width) - bits)
            }
            Self::Signed(64) => bits.cast_signed().to_string(),
            _ => bits.to_string(),
        }
    }
}

/// As a front end's table has it: `u4`, `[bool; 15]`, `{ x: u4, y: i6 }`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(width) => write!(f, "u{width}"),
            Self::Signed(width) => write!(f, "i{width}"),
            Self::Bool => f.write_str("bool"),
            Self::Bits(width) => write!(f, "b{width}"),
            Self::Array(of, length) => write!(f, "[{of}; {length}]"),
            Self::Struct(fields) => {
                let fields = fields.iter().map(|(name, of)| format!("{name}: {of}"));
                write!(f, "{{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A variable of a front end, in one of the places where it may lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name in the front end.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub of: Type,
    /// Where the parts of its value are, in the order of the type.
    pub parts: Vec<Part>,
    /// Why its value can't be seen; `None` if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
}

/// Where a part of a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What holds it.
    pub holder: HolderId,
    /// The lowest of its bits there.
    pub low: u32,
    /// How many bits it has: 64 at most.
    pub width: u32,
}

impl Part {
    /// The part, of all bits of what holds it.
    pub fn of(&self, bits: u64) -> u64 {
        let mask = u64::MAX >> (u64::BITS - self.width.clamp(1, u64::BITS));
        bits.checked_shr(self.low).unwrap_or(0) & mask
    }
}

/// A register, or a word of a memory, that holds variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Holder {
    /// The cells that lead to it: of main, of that cell's component, and so on. The last one is the register or memory.
    pub cells: Vec<CellId>,
    /// The word of a memory, in row-major order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<u64>,
    /// Whether the hardware of the register holds other registers of the source, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shared: bool,
}
