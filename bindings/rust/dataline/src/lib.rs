//! Data loading for machine-learning training.
//!
//! Open a [`Dataset`] by URI, create it from arrays, or read it with your own [`Source`]. A [`Loader`] turns
//! it into a stream of [`Batch`]es. Native threads shuffle, transform and load them ahead. The stream depends
//! only on the data, the options and the seed, never on the number of threads.
//!
//! ```
//! use dataline::{Array, Dataset, Loader, Options};
//!
//! # fn main() -> dataline::Result<()> {
//! let pixels: Vec<u8> = (0..100 * 4).map(|i| i as u8).collect();
//! let labels: Vec<i64> = (0..100).collect();
//! let arrays = [Array::dense("image", &[100, 2, 2], &pixels)?, Array::dense("label", &[100], &labels)?];
//! let dataset = Dataset::from_arrays(&arrays, &Options::new())?;
//!
//! let options = Options::new().set("batch_size", 32).set("shuffle", "full").set("seed", 42).set("epochs", 2);
//! let loader = Loader::new(&dataset, &options)?;
//! for _epoch in 0..2 {
//!     for batch in loader.epoch() {
//!         let batch = batch?;
//!         let images = batch.view::<u8>("image")?; // &[u8], no copy; lives as long as the batch
//!         let labels = batch.view::<i64>("label")?;
//!         assert_eq!(images.len(), labels.len() * 4);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The library defines all options with their defaults and docs: [`options_table`], [`transforms_table`],
//! [`formats_table`].
//!
//! **Extensions.** Add a [`Format`], [`Operator`] or [`Storage`] of your own to [`Extensions`], and set these
//! in options.
//!
//! **Errors** are local: the object stays usable after an error. Each error has a [`Code`] and a one-line
//! message that names the file, offset, sample or option. It has the sample's index if a sample is concerned.
//!
//! **Writing.** A [`Writer`] writes rows as a set that a [`Dataset`] opens.
//!
//! **Threads.** `Dataset`, `Loader`, `Batch` and `Writer` are `Send + Sync`. Several threads may take batches
//! from one loader; each call gets a different batch. They share an [`Epoch`], or call [`Loader::next`]. A
//! newer loop over the loader ends the older one.
//!
//! **Processes.** In a forked child, calls of a loader fail with [`Code::Forked`]; datasets stay usable.
//!
//! **Features.** `ndarray`: fields as array views, arrays as fields. `candle`: fields as tensors. `futures`:
//! an epoch as an asynchronous stream. `static`: links the static library if the library comes from a folder
//! or the system.
//!
//! Minimum Rust: 1.63; with `ndarray` or `candle`, the version that these need.
//!
//! SPDX-License-Identifier: Apache-2.0
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![warn(unsafe_op_in_unsafe_fn)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc, clippy::must_use_candidate)]

#[macro_use]
mod macros;

mod array;
pub mod arrow;
mod batch;
mod callback;
mod cancel;
#[cfg(feature = "candle")]
pub mod candle;
mod code;
mod dataset;
mod device;
pub mod dlpack;
mod element;
mod epoch;
mod error;
mod extensions;
mod ffi;
mod field;
mod file;
mod format;
mod generated;
mod image;
mod launcher;
mod lend;
mod loader;
mod memory;
mod metrics;
mod mix;
#[cfg(feature = "ndarray")]
pub mod ndarray;
mod next;
mod opening;
mod operator;
mod options;
mod plan;
mod record;
mod row;
mod scoped;
mod source;
mod storage;
#[cfg(feature = "futures")]
mod stream;
mod strides;
mod table;
mod tensor;
mod threads;
mod trace;
mod value;
mod value_of;
mod version;
mod writer;

pub use array::Array;
pub use batch::{Batch, BatchInfo};
pub use callback::{CancelFlag, ExtensionError};
pub use cancel::{CancelHandle, CancelToken};
pub use dataset::Dataset;
pub use device::Device;
pub use element::{Bf16, Element, F16};
pub use epoch::{Batches, Epoch};
pub use error::{Error, Failure, Result};
pub use extensions::Extensions;
pub use field::{DType, Field, Kind};
pub use file::File;
pub use format::{FirstBytes, Format, FormatKey, FormatRequest, Sniff};
pub use generated::codes::Code;
pub use generated::values::*;
pub use image::{ImageFormat, ImageInfo, PixelScale};
pub use launcher::{launcher, Launcher};
pub use loader::{Loader, Position};
pub use memory::{Allocator, MemoryKind};
pub use metrics::{Metric, MetricKind, MetricThread, Metrics};
pub use mix::{MixPart, MixStage, Share};
pub use next::Next;
pub use opening::Opening;
pub use operator::{ArgumentValue, Operator, OperatorUse};
pub use options::{LogLevel, Options};
pub use plan::PlanStage;
pub use record::Record;
pub use row::OperatorRow;
pub use scoped::with_borrowed;
pub use source::{Source, SourceError};
pub use storage::{Storage, StorageRequest, StoredObject};
#[cfg(feature = "futures")]
#[cfg_attr(docsrs, doc(cfg(feature = "futures")))]
pub use stream::EpochStream;
pub use table::{
    formats_table, options_table, storages_table, transforms_table, writer_formats_table, ArgumentInfo,
    FormatInfo, OptionInfo, OptionScope, OptionType, StorageInfo, TransformInfo, WriterFormatInfo,
};
pub use tensor::Tensor;
pub use threads::{Threads, WorkerBody};
pub use value::Value;
pub use version::{abi_version, build_info, version};
pub use writer::Writer;

/// The code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
