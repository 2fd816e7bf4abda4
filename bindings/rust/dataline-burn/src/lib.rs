//! [`dataline`] for [burn](https://docs.rs/burn): [`BurnLoader`] is a `burn::data::dataloader::DataLoader`.
//! [`BatchExt`] turns a field of a batch into a tensor, on the CPU without a copy.
//!
//! ```
//! use burn_core::data::dataloader::DataLoader;
//! use burn_core::tensor::{Device, Int, Tensor};
//! use dataline::{Array, Dataset, Options};
//! use dataline_burn::{BatchExt, BurnLoader};
//! use std::sync::Arc;
//!
//! # fn main() -> dataline::Result<()> {
//! # let arrays = [Array::dense("image", &[10, 4], &[0.5f32; 40])?, Array::dense("label", &[10], &[1i64; 10])?];
//! # let dataset = Dataset::from_arrays(&arrays, &Options::new())?;
//! struct Digits {
//!     images: Tensor<2>,
//!     targets: Tensor<1, Int>,
//! }
//!
//! let options = Options::new().set("batch_size", 4).set("shuffle", "full").set("seed", 42);
//! let loader = BurnLoader::new(dataset, options, |batch, device| {
//!     Ok(Digits { images: batch.burn("image", device)?, targets: batch.burn_int("label", device)? })
//! })?;
//! let loader: Arc<dyn DataLoader<Digits>> = Arc::new(loader); // the type that a Learner expects
//! for digits in loader.iter() {
//!     let digits = digits.unwrap();
//!     assert_eq!(digits.images.dims()[0], digits.targets.dims()[0]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! SPDX-License-Identifier: Apache-2.0
#![deny(missing_docs)]
#![forbid(unsafe_code)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc, clippy::must_use_candidate)]

mod loader;
mod pass;
mod tensor;

pub use loader::BurnLoader;
pub use tensor::BatchExt;

/// The code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
