//! Columns that are filled row by row.

use std::sync::Arc;

use arrow_array::builder::{
    Float64Builder, Int64Builder, ListBuilder, StringBuilder, StringDictionaryBuilder,
    UInt64Builder,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, SchemaRef};
use foldhash::{HashMap, HashMapExt as _};

use super::TableError;
use crate::{Column, Kind, Value};

/// A whole number for a column of such.
///
/// # Errors
/// When there is no whole profile.
pub fn whole(number: u64) -> Result<i64, TableError> {
    i64::try_from(number).map_err(|_| TableError::Number(number))
}

/// A column that is filled row by row.
enum Builder {
    Text(StringDictionaryBuilder<Int32Type>),
    Texts(ListBuilder<StringBuilder>),
    Number(Int64Builder),
    Bits(UInt64Builder),
    Decimal(Float64Builder),
}

impl Builder {
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(StringDictionaryBuilder::new()),
            Kind::Texts => {
                let item = Field::new_list_field(DataType::Utf8, false);
                let texts = ListBuilder::new(StringBuilder::new());
                Self::Texts(texts.with_field(Arc::new(item)))
            }
            Kind::Number => Self::Number(Int64Builder::new()),
            Kind::Bits => Self::Bits(UInt64Builder::new()),
            Kind::Decimal => Self::Decimal(Float64Builder::new()),
        }
    }

    /// Appends a value; one of another kind is null.
    pub fn append(&mut self, value: &Value) -> Result<(), TableError> {
        match (self, value) {
            (Self::Text(column), Value::Text(text)) if !text.is_empty() => {
                column.append_value(text);
            }
            (Self::Text(column), _) => column.append_null(),
            (Self::Texts(column), Value::Texts(texts)) => {
                for text in texts {
                    column.values().append_value(text);
                }
                column.append(true);
            }
            (Self::Texts(column), _) => column.append(false),
            (Self::Number(column), Value::Count(count)) => column.append_value(whole(*count)?),
            (Self::Number(column), Value::Signed(number)) => column.append_value(*number),
            (Self::Number(column), _) => column.append_null(),
            (Self::Bits(column), Value::Count(bits)) => column.append_value(*bits),
            (Self::Bits(column), _) => column.append_null(),
            (Self::Decimal(column), value) => column.append_option(value.number()),
        }
        Ok(())
    }

    pub fn finish(self) -> ArrayRef {
        match self {
            Self::Text(mut column) => Arc::new(column.finish()),
            Self::Texts(mut column) => Arc::new(column.finish()),
            Self::Number(mut column) => Arc::new(column.finish()),
            Self::Bits(mut column) => Arc::new(column.finish()),
            Self::Decimal(mut column) => Arc::new(column.finish()),
        }
    }
}

/// The rows of a table with these columns.
///
/// # Errors
/// If a number is beyond what a column holds.
pub fn batch<R: AsRef<[Value]>>(
    schema: SchemaRef,
    columns: &[Column],
    rows: impl Iterator<Item = R>,
) -> Result<RecordBatch, TableError> {
    let mut builders: Vec<Builder> = columns.iter().map(|of| Builder::new(of.kind)).collect();
    for row in rows {
        for (builder, value) in builders.iter_mut().zip(row.as_ref()) {
            builder.append(value)?;
        }
    }
    let arrays = builders.into_iter().map(Builder::finish).collect();
    Ok(RecordBatch::try_new(schema, arrays)?)
}

/// A column of whole numbers.
///
/// # Errors
/// If a number is beyond what a column holds.
pub fn numbers(numbers: impl IntoIterator<Item = Option<u64>>) -> Result<ArrayRef, TableError> {
    let numbers = numbers
        .into_iter()
        .map(|number| number.map(whole).transpose());
    let numbers: Result<Int64Array, TableError> = numbers.collect();
    Ok(Arc::new(numbers?))
}

/// A column of texts that come again and again.
pub fn texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut column = StringDictionaryBuilder::<Int32Type>::new();
    column.extend(texts);
    Arc::new(column.finish())
}

/// Texts with a number for each, which columns of many rows have instead of them.
#[derive(Debug, Default)]
pub struct Dictionary {
    numbers: HashMap<Arc<str>, i32>,
    texts: Vec<Arc<str>>,
    /// All texts so far as an array, until there is a new one.
    array: Option<Arc<StringArray>>,
}

impl Dictionary {
    /// No texts yet.
    pub fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            texts: Vec::new(),
            array: None,
        }
    }

    /// The number of a text.
    ///
    /// # Errors
    /// If a number is beyond what a column holds.
    pub fn number(&mut self, text: &str) -> Result<i32, TableError> {
        if let Some(&number) = self.numbers.get(text) {
            return Ok(number);
        }
        let number = self.texts.len();
        let number = i32::try_from(number).map_err(|_| TableError::Number(number as u64))?;
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        self.array = None;
        Ok(number)
    }

    /// The column of texts with these numbers.
    ///
    /// # Errors
    /// If a number is beyond what a column holds.
    pub fn column(&mut self, numbers: impl Into<Int32Array>) -> Result<ArrayRef, TableError> {
        let texts = &self.texts;
        let array = self
            .array
            .get_or_insert_with(|| Arc::new(texts.iter().map(|text| Some(&**text)).collect()));
        let texts = Arc::clone(array) as ArrayRef;
        let column = DictionaryArray::<Int32Type>::try_new(numbers.into(), texts)?;
        Ok(Arc::new(column))
    }
}
