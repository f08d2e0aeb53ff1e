//! Converts answers to printable values.

use datafusion::arrow::array::{Array, AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// One value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Long(i64),
    /// A whole number that is never negative.
    Count(u64),
    /// Any number.
    Double(f64),
    /// Text; also times (RFC 3339), and values of all other types.
    Text(String),
}

/// The rows of a batch.
pub(crate) fn rows(batch: &RecordBatch) -> Result<Vec<Vec<Cell>>, ArrowError> {
    let mut rows = vec![Vec::with_capacity(batch.num_columns()); batch.num_rows()];
    for column in batch.columns() {
        let cells = cells(column.as_ref())?;
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }
    Ok(rows)
}

fn cells(column: &dyn Array) -> Result<Vec<Cell>, ArrowError> {
    let text = |value: Option<&str>| value.map_or(Cell::Null, |text| Cell::Text(text.to_owned()));
    Ok(match column.data_type() {
        DataType::Utf8View => column.as_string_view().iter().map(text).collect(),
        DataType::Utf8 => column.as_string::<i32>().iter().map(text).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(text).collect(),
        DataType::Boolean => {
            let flags = column.as_boolean().iter();
            flags
                .map(|flag| flag.map_or(Cell::Null, Cell::Flag))
                .collect()
        }
        kind if kind.is_numeric() => match numbers(column) {
            Some(numbers) => numbers,
            None => formatted(column)?,
        },
        _ => formatted(column)?,
    })
}

/// The numbers of a column, unless they are decimal.
fn numbers(column: &dyn Array) -> Option<Vec<Cell>> {
    macro_rules! cells {
        ($kind:ty, $cell:expr) => {{
            let values = column.as_primitive::<$kind>().iter();
            Some(
                values
                    .map(|value| value.map_or(Cell::Null, $cell))
                    .collect(),
            )
        }};
    }
    match column.data_type() {
        DataType::Int8 => cells!(Int8Type, |value| Cell::Long(value.into())),
        DataType::Int16 => cells!(Int16Type, |value| Cell::Long(value.into())),
        DataType::Int32 => cells!(Int32Type, |value| Cell::Long(value.into())),
        DataType::Int64 => cells!(Int64Type, Cell::Long),
        DataType::UInt8 => cells!(UInt8Type, |value| Cell::Count(value.into())),
        DataType::UInt16 => cells!(UInt16Type, |value| Cell::Count(value.into())),
        DataType::UInt32 => cells!(UInt32Type, |value| Cell::Count(value.into())),
        DataType::UInt64 => cells!(UInt64Type, Cell::Count),
        DataType::Float32 => cells!(Float32Type, |value| Cell::Double(value.into())),
        DataType::Float64 => cells!(Float64Type, Cell::Double),
        _ => None,
    }
}

/// All other values, as text.
fn formatted(column: &dyn Array) -> Result<Vec<Cell>, ArrowError> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(column, &options)?;
    let cell = |at| {
        if column.is_null(at) {
            return Ok(Cell::Null);
        }
        formatter.value(at).try_to_string().map(Cell::Text)
    };
    (0..column.len()).map(cell).collect()
}
