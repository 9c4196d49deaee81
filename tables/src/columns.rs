//! Columns that are filled row by row.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, StringArray, UInt64Array};
use arrow_schema::{DataType, Field};
use foldhash::{HashMap, HashMapExt as _};

use crate::parquet::TableError;

/// A whole number for a column of such.
pub(crate) fn whole(number: u64) -> Result<i64, TableError> {
    i64::try_from(number).map_err(|_| TableError::Number(number))
}

/// A column of whole numbers.
pub(crate) fn numbers(
    numbers: impl IntoIterator<Item = Option<u64>>,
) -> Result<ArrayRef, TableError> {
    let numbers = numbers
        .into_iter()
        .map(|number| number.map(whole).transpose());
    let numbers: Result<Int64Array, TableError> = numbers.collect();
    Ok(Arc::new(numbers?))
}

/// A column of values in hardware.
pub(crate) fn values(values: impl IntoIterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<UInt64Array>())
}

/// A column of texts that come again and again.
pub(crate) fn texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut column = StringDictionaryBuilder::<Int32Type>::new();
    column.extend(texts);
    Arc::new(column.finish())
}

/// A column of lists of texts.
pub(crate) fn lists<'a>(lists: impl IntoIterator<Item = &'a [String]>) -> ArrayRef {
    let item = Field::new_list_field(DataType::Utf8, false);
    let mut column = ListBuilder::new(StringBuilder::new()).with_field(Arc::new(item));
    for list in lists {
        for text in list {
            column.values().append_value(text);
        }
        column.append(true);
    }
    Arc::new(column.finish())
}

/// Texts with a number for each, which columns of many rows have instead of them.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    numbers: HashMap<Arc<str>, i32>,
    texts: Vec<Arc<str>>,
    /// All texts so far as an array, until there is a new one.
    array: Option<Arc<StringArray>>,
}

impl Dictionary {
    pub fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            texts: Vec::new(),
            array: None,
        }
    }

    /// The number of a text.
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
