//! A table of the crate `arrow` goes in, and what comes back is equal to it.
//!
//! SPDX-License-Identifier: Apache-2.0
use arrow::array::{
    Int32Array, Int64Array, Int8Array, IntervalMonthDayNanoArray, RecordBatch, RecordBatchIterator,
};
use arrow::compute::{concat_batches, take};
use arrow::datatypes::IntervalMonthDayNano;
use arrow::error::ArrowError;
use dataline::{Code, Dataset, Error, Loader, Options, Result};
use dataline_arrow_tests::sample::{array_of, as_given, leaves, table, ROWS};
use dataline_arrow_tests::{dataset_of, record_batch};

fn check(got: &RecordBatch, wanted: &RecordBatch) {
    let wanted = leaves(wanted);
    let names: Vec<&String> = wanted.iter().map(|(name, _)| name).collect();
    assert_eq!(got.schema().fields().iter().map(|field| field.name()).collect::<Vec<_>>(), names);
    for ((name, values), column) in wanted.iter().zip(got.columns()) {
        assert_eq!(&as_given(values, column.data_type()), column, "{name}");
    }
}

fn in_chunks(table: &RecordBatch, rows: usize) -> Vec<RecordBatch> {
    (0..table.num_rows()).step_by(rows).map(|at| table.slice(at, rows.min(table.num_rows() - at))).collect()
}

fn read(table: &RecordBatch, chunk: usize, keys: &str) -> Result<Dataset<'static>> {
    let chunks = in_chunks(table, chunk).into_iter().map(Ok);
    dataset_of(RecordBatchIterator::new(chunks.collect::<Vec<_>>(), table.schema()), keys, &Options::new())
}

fn loader(dataset: &Dataset<'static>, options: &[(&str, &str)]) -> Loader<'static> {
    Loader::new(dataset, &options.iter().fold(Options::new(), |all, (key, value)| all.set(key, *value)))
        .unwrap()
}

fn epoch(loader: &Loader<'_>) -> RecordBatch {
    let batches: Vec<RecordBatch> =
        loader.epoch().map(|batch| record_batch(&batch.unwrap()).unwrap()).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

#[test]
fn a_table_of_every_type_comes_back_equal() {
    let table = table();
    let dataset = read(&table, 97, "").unwrap();
    assert_eq!(dataset.len(), Some(ROWS));
    for workers in ["0", "2"] {
        check(&epoch(&loader(&dataset, &[("batch_size", "61"), ("num_workers", workers)])), &table);
    }
}

#[test]
fn a_slice_comes_back_equal_where_bits_do_not_begin_a_byte() {
    for first in [1, 3, 8, 13] {
        let part = table().slice(first, 200);
        let dataset = read(&part, 61, "").unwrap();
        check(&epoch(&loader(&dataset, &[("batch_size", "33")])), &part);
    }
}

#[test]
fn a_shuffled_epoch_is_the_tables_rows_in_that_order() {
    let table = table();
    let dataset = read(&table, 50, "").unwrap();
    let loader =
        loader(&dataset, &[("batch_size", "64"), ("shuffle", "full"), ("seed", "5"), ("num_workers", "1")]);
    let mut rows = 0;
    for batch in loader.epoch() {
        let batch = batch.unwrap();
        let order = Int64Array::from(batch.sample_indices().to_vec());
        let columns = table.columns().iter().map(|column| take(column, &order, None).unwrap()).collect();
        check(&record_batch(&batch).unwrap(), &RecordBatch::try_new(table.schema(), columns).unwrap());
        rows += batch.len();
    }
    assert_eq!(rows, ROWS);
}

#[test]
fn what_came_back_goes_in_again_and_outlives_all_it_came_from() {
    let table = table();
    let first = epoch(&loader(&read(&table, 97, "").unwrap(), &[("batch_size", "61")]));
    let again = epoch(&loader(&read(&first, 150, "").unwrap(), &[("batch_size", "400")]));
    drop(first);
    check(&again, &table);
}

#[test]
fn chosen_columns_come_in_order_and_nulls_are_filled_or_bad() {
    let values = Int32Array::from(vec![Some(1), None, Some(3)]);
    let table = RecordBatch::try_from_iter([
        ("a", array_of(values)),
        ("b", array_of(Int8Array::from(vec![4, 5, 6]))),
    ])
    .unwrap();
    let filled = epoch(&loader(&read(&table, 2, "fields=b,a&nulls=fill(7)").unwrap(), &[]));
    assert_eq!(
        filled.column(1).as_any().downcast_ref::<Int32Array>().unwrap(),
        &Int32Array::from(vec![1, 7, 3])
    );
    assert_eq!(filled.schema().field(0).name(), "b");
    let bad = loader(&read(&table, 2, "").unwrap(), &[]).epoch().next().unwrap().unwrap_err();
    assert!(bad.to_string().contains("null"), "{bad}");
}

#[test]
fn a_readers_own_error_and_types_that_are_not_read_are_told() {
    let table = table();
    let broken = vec![Ok(table.slice(0, 9)), Err(ArrowError::ExternalError("the disk is gone".into()))];
    let error =
        dataset_of(RecordBatchIterator::new(broken, table.schema()), "", &Options::new()).unwrap_err();
    assert_eq!(error.code(), Code::Reader);
    assert!(error.to_string().contains("the disk is gone"), "{error}");
    let months = IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(1, 2, 3)]);
    let odd = RecordBatch::try_from_iter([("span", array_of(months))]).unwrap();
    let error: Error = read(&odd, 1, "").unwrap_err();
    assert_eq!(error.code(), Code::Unsupported);
    assert!(error.to_string().contains("span"), "{error}");
}
