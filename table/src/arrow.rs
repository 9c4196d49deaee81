//! Tables as Apache Arrow, and as Parquet files. A feature of its own, since both are many packages.

mod columns;
mod parquet;

use std::sync::Arc;

use arrow_schema::{DataType, Field};

use crate::{Column, Kind, column_name};

pub use columns::{Dictionary, batch, numbers, texts, whole};
pub use parquet::{TableError, Writer};

/// The column of a database for one of a table.
pub fn field(of: &Column) -> Field {
    let field = match of.kind {
        Kind::Text => text,
        Kind::Texts => lists,
        Kind::Number => number,
        Kind::Bits => bits,
        Kind::Decimal => real,
    };
    field(&column_name(&of.name)).with_nullable(of.is_optional)
}

/// The type of texts: each is there once, and rows have its number.
pub fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// A column of texts that come again and again.
pub fn text(name: &str) -> Field {
    Field::new(name, dictionary(), false)
}

/// A column of lists of texts.
pub fn lists(name: &str) -> Field {
    let item = Field::new_list_field(DataType::Utf8, false);
    Field::new(name, DataType::List(Arc::new(item)), false)
}

/// A column of cycles, lines or counts, of which differences may be taken.
pub fn number(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

/// A column of values in hardware, of up to 64 bits.
pub fn bits(name: &str) -> Field {
    Field::new(name, DataType::UInt64, false)
}

/// A column of numbers that are not whole.
pub fn real(name: &str) -> Field {
    Field::new(name, DataType::Float64, false)
}

/// The same column, with nulls.
pub fn or_null(field: Field) -> Field {
    field.with_nullable(true)
}
