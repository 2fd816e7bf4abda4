//! Between the crate `arrow` and Dataline, by Arrow's C interfaces: nothing is copied.
//!
//! SPDX-License-Identifier: Apache-2.0
use arrow::array::{RecordBatch, RecordBatchReader, StructArray};
use arrow::ffi::{from_ffi, FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use dataline::{Batch, Dataset, Options, Result};

pub mod sample;

/// A dataset of all that `reader` gives. `keys` are those of an `arrow:` URI.
pub fn dataset_of(
    reader: impl RecordBatchReader + Send + 'static,
    keys: &str,
    options: &Options,
) -> Result<Dataset<'static>> {
    let mut stream = FFI_ArrowArrayStream::new(Box::new(reader));
    let stream: *mut FFI_ArrowArrayStream = &mut stream;
    // SAFETY: the crate keeps the rules of the interface, and its arrays do not change.
    unsafe { Dataset::from_arrow(stream.cast(), keys, options) }
}

/// The rows of a batch. They keep it, and count towards `max_leases`, until they are dropped.
pub fn record_batch(batch: &Batch) -> Result<RecordBatch> {
    let mut rows = batch.arrow()?;
    // SAFETY: both are as the library made them, and moved out here.
    let (array, schema) = unsafe {
        (FFI_ArrowArray::from_raw(rows.array().cast()), FFI_ArrowSchema::from_raw(rows.schema().cast()))
    };
    // SAFETY: the schema is that of the array.
    let data = unsafe { from_ffi(array, &schema) }.expect("an array that the crate takes");
    Ok(RecordBatch::from(StructArray::from(data)))
}
