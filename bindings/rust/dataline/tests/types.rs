//! What the types promise: which go to other threads, which may be shared, and that all can be printed.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::dlpack::{DLManagedTensor, Dlpack};
use dataline::*;
use std::fmt::Debug;

fn shared<T: Send + Sync + Debug>() {}
fn sent<T: Send + Debug>() {}
fn kept<T: Send + Sync + Debug + 'static>() {}

#[test]
fn handles_and_values_are_send_sync_and_debug() {
    kept::<Dataset<'static>>();
    kept::<Loader<'static>>();
    kept::<Batch>();
    kept::<Dlpack>();
    kept::<Dlpack<DLManagedTensor>>();
    kept::<Writer>();
    kept::<CancelHandle>();
    kept::<CancelToken>();
    kept::<Error>();
    kept::<(Failure, Code, DType, Kind, Device, MemoryKind, Field, F16, Bf16, ImageInfo, PixelScale)>();
    kept::<(Value, LogLevel, BatchInfo, Position, BadSample, Stats, Next)>();
    kept::<(OptionInfo, OptionScope, OptionType, TransformInfo, ArgumentInfo)>();
    kept::<(WriterInfo, WriterFormatInfo)>();
    shared::<Epoch<'_>>();
    shared::<Batches<'_>>();
    shared::<Tensor<'_>>();
    shared::<Array<'_>>();
    sent::<Options>();
}

#[test]
fn results_of_this_crate_pass_through_question_marks() {
    fn fails() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Dataset::open("npy:nowhere.npy", &Options::new())?;
        Ok(())
    }
    assert!(fails().unwrap_err().downcast_ref::<Error>().is_some());
}
