//! A table of every type that is read, and how its columns come back.
//!
//! SPDX-License-Identifier: Apache-2.0
use arrow::array::types::{Int32Type, Int8Type};
use arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray,
    FixedSizeListArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, Int8Array,
    LargeStringArray, ListArray, RecordBatch, StringArray, StringViewArray, StructArray,
    TimestampMicrosecondArray, UInt16Array, UInt32Array, UInt64Array, UInt8Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;

/// Of the table.
pub const ROWS: usize = 400;

/// One of `count` values that look random.
fn some(row: usize, column: usize, count: usize) -> usize {
    (row * 2_654_435_761 + column * 40_503 + (row * row) % 977) % count
}

fn words(column: usize) -> Vec<String> {
    (0..ROWS).map(|row| "abé😀 z".chars().cycle().skip(row).take(some(row, column, 19)).collect()).collect()
}

/// For lists of columns.
pub fn array_of<A: Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}

/// A column of each type that is read.
pub fn table() -> RecordBatch {
    let number = |column: usize| (0..ROWS).map(move |row| some(row, column, 100));
    let lists = |column: usize| {
        let rows =
            (0..ROWS).map(move |row| Some((0..some(row, column, 6)).map(move |i| Some((row * i) as i32))));
        ListArray::from_iter_primitive::<Int32Type, _, _>(rows.collect::<Vec<_>>())
    };
    let pixels = Float32Array::from_iter_values((0..ROWS * 6).map(|i| i as f32 / 8.0));
    let pair = FixedSizeListArray::new(
        Arc::new(Field::new("item", DataType::Float32, false)),
        3,
        Arc::new(pixels),
        None,
    );
    let matrix = FixedSizeListArray::new(
        Arc::new(Field::new("item", pair.data_type().clone(), false)),
        2,
        Arc::new(pair),
        None,
    );
    let image = StructArray::from(vec![
        (
            Arc::new(Field::new("bytes", DataType::Binary, false)),
            array_of(BinaryArray::from_iter_values(words(20).iter().map(String::as_bytes))),
        ),
        (
            Arc::new(Field::new("path", DataType::Utf8, false)),
            array_of(StringArray::from_iter_values(words(21))),
        ),
    ]);
    let labels: DictionaryArray<Int8Type> =
        (0..ROWS).map(|row| ["cat", "dog", "bird"][some(row, 22, 3)]).collect();
    let fixed: Vec<[u8; 5]> = (0..ROWS).map(|row| [0, 1, 2, 3, 4].map(|i| some(row, i, 256) as u8)).collect();
    RecordBatch::try_from_iter([
        ("i8", array_of(Int8Array::from_iter_values(number(0).map(|x| x as i8 - 50)))),
        ("i16", array_of(Int16Array::from_iter_values(number(1).map(|x| x as i16 - 50)))),
        ("i32", array_of(Int32Array::from_iter_values(number(2).map(|x| x as i32 - 50)))),
        ("i64", array_of(Int64Array::from_iter_values(number(3).map(|x| x as i64 - 50)))),
        ("u8", array_of(UInt8Array::from_iter_values(number(4).map(|x| x as u8)))),
        ("u16", array_of(UInt16Array::from_iter_values(number(5).map(|x| x as u16)))),
        ("u32", array_of(UInt32Array::from_iter_values(number(6).map(|x| x as u32)))),
        ("u64", array_of(UInt64Array::from_iter_values(number(7).map(|x| x as u64)))),
        ("f32", array_of(Float32Array::from_iter_values(number(8).map(|x| x as f32 / 3.0)))),
        ("f64", array_of(Float64Array::from_iter_values(number(9).map(|x| x as f64 / 3.0)))),
        ("bool", array_of(BooleanArray::from_iter(number(10).map(|x| Some(x % 3 == 0))))),
        (
            "when",
            array_of(TimestampMicrosecondArray::from_iter_values(number(11).map(|x| x as i64 * 1_000_000))),
        ),
        ("fixed", array_of(FixedSizeBinaryArray::try_from_iter(fixed.iter()).unwrap())),
        ("text", array_of(StringArray::from_iter_values(words(12)))),
        ("large_text", array_of(LargeStringArray::from_iter_values(words(13)))),
        ("text_view", array_of(StringViewArray::from_iter_values(words(14)))),
        ("bytes_view", array_of(BinaryViewArray::from_iter_values(words(15).iter().map(String::as_bytes)))),
        ("list", array_of(lists(16))),
        ("matrix", array_of(matrix)),
        ("label", array_of(labels)),
        ("image", array_of(image)),
    ])
    .unwrap()
}

/// The columns as they come back: leaves of structs by name.
pub fn leaves(table: &RecordBatch) -> Vec<(String, ArrayRef)> {
    let mut out = Vec::new();
    for (field, column) in table.schema().fields().iter().zip(table.columns()) {
        match column.as_any().downcast_ref::<StructArray>() {
            Some(inner) => out.extend(
                inner
                    .fields()
                    .iter()
                    .zip(inner.columns())
                    .map(|(leaf, values)| (format!("{}/{}", field.name(), leaf.name()), values.clone())),
            ),
            None => out.push((field.name().clone(), column.clone())),
        }
    }
    out
}

/// `from`, as the library gives it: a dictionary as its values, times as their integers, texts as bytes, lists with long offsets.
pub fn as_given(from: &ArrayRef, to: &DataType) -> ArrayRef {
    let values = match from.data_type() {
        DataType::Dictionary(_, values) => cast(from, values).unwrap(),
        DataType::Utf8 | DataType::Utf8View => cast(from, &DataType::LargeUtf8).unwrap(),
        _ => from.clone(),
    };
    let values = if matches!(values.data_type(), DataType::Utf8) {
        cast(&values, &DataType::LargeUtf8).unwrap()
    } else {
        values
    };
    if let (DataType::FixedSizeBinary(width), DataType::FixedSizeList(item, _)) = (values.data_type(), to) {
        let bytes = values.as_any().downcast_ref::<FixedSizeBinaryArray>().unwrap();
        let flat: Vec<u8> = bytes.iter().flat_map(|row| row.unwrap().to_vec()).collect();
        return Arc::new(FixedSizeListArray::new(
            item.clone(),
            *width,
            Arc::new(UInt8Array::from(flat)),
            None,
        ));
    }
    cast(&values, to).unwrap()
}
