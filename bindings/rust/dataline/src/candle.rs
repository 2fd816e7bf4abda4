//! With the feature `candle`: fields of a batch as [`candle_core`] tensors.
//!
//! ```
//! use candle_core::Device;
//! use dataline::{Array, Dataset, Loader, Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let arrays = [Array::dense("image", &[8, 4], &[0.5f32; 32])?, Array::dense("label", &[8], &[1i64; 8])?];
//! # let dataset = Dataset::from_arrays(&arrays, &Options::new())?;
//! let loader = Loader::new(&dataset, &Options::new().set("batch_size", 4).set("epochs", 1))?;
//! for batch in &loader {
//!     let batch = batch?;
//!     let (x, y) = (batch.candle("image", &Device::Cpu)?, batch.candle("label", &Device::Cpu)?);
//!     assert_eq!((x.dims(), y.to_vec1::<i64>()?), (&[4, 4][..], vec![1; 4]));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! **What is copied.** candle's tensors own their memory (on the CPU a `Vec`), so a field is copied once:
//! from the batch into the tensor, or directly to the accelerator. Fields whose rows are not contiguous
//! (`views=true`) are joined first, which is a second copy. The batch may be dropped immediately afterwards.
//!
//! **dtypes.** u8, u32, i16, i32, i64, f16, bf16, f32 and f64 are kept, and `bool` becomes `u8`. Other dtypes
//! (u16, u64, i8, complex) are rejected; the error names the transform to use, `cast(...)`.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Batch, Code};
use candle_core::{DType, Device, Tensor};
use std::{error, fmt};

/// The error of this module; `?` converts it to [`candle_core::Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An error of the batch: no such field, or a dtype that candle does not support.
    Dataline(crate::Error),
    /// An error of the tensor: no memory, a device.
    Candle(candle_core::Error),
}

/// A result of this module.
pub type Result<T> = std::result::Result<T, Error>;

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        Error::Dataline(error)
    }
}

impl From<candle_core::Error> for Error {
    fn from(error: candle_core::Error) -> Error {
        Error::Candle(error)
    }
}

impl From<Error> for candle_core::Error {
    fn from(error: Error) -> candle_core::Error {
        match error {
            Error::Candle(error) => error,
            Error::Dataline(error) => candle_core::Error::wrap(error),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Dataline(error) => error.fmt(out),
            Error::Candle(error) => error.fmt(out),
        }
    }
}

impl error::Error for Error {
    /// The text is that of the wrapped error, so the source is the source of that error.
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Dataline(error) => error.source(),
            Error::Candle(error) => error.source(),
        }
    }
}

impl Batch {
    /// A field as a tensor on `device`, with the field's shape and dtype; `bool` becomes `u8`. Ragged: the
    /// items of all rows, in order; [`Batch::candle_offsets`] returns where each row starts.
    ///
    /// # Errors
    /// Those of [`Batch::tensor`]. [`Code::Unsupported`] for a dtype that candle does not support (u16, u64,
    /// i8, complex); the message names the transform to use. Errors of candle.
    pub fn candle(&self, name: &str, device: &Device) -> Result<Tensor> {
        let field = self.tensor(name)?;
        let dtype = dtype_of(&field)?;
        let shape: Vec<usize> = field.shape().iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).collect();
        if field.is_packed() {
            return Ok(Tensor::from_raw_buffer(field.bytes()?, dtype, &shape, device)?);
        }
        let mut joined = Vec::with_capacity(shape.iter().product::<usize>() * field.dtype().bytes());
        for row in 0..field.len() {
            joined.extend_from_slice(field.row_bytes(row)?);
        }
        Ok(Tensor::from_raw_buffer(&joined, dtype, &shape, device)?)
    }

    /// The offsets of a ragged field: where each row starts, and the end of the last row. i64, one more than
    /// rows.
    ///
    /// # Errors
    /// Those of [`Batch::tensor`]; [`Code::Unsupported`] for a field that is not ragged.
    pub fn candle_offsets(&self, name: &str, device: &Device) -> Result<Tensor> {
        let offsets = self.tensor(name)?.offsets().ok_or_else(|| refuse(name, "it is not ragged"))?;
        Ok(Tensor::from_slice(offsets, offsets.len(), device)?)
    }
}

fn dtype_of(field: &crate::Tensor<'_>) -> Result<DType> {
    use crate::DType as From;
    Ok(match field.dtype() {
        From::Bool | From::U8 => DType::U8,
        From::U32 => DType::U32,
        From::I16 => DType::I16,
        From::I32 => DType::I32,
        From::I64 => DType::I64,
        From::F16 => DType::F16,
        From::Bf16 => DType::BF16,
        From::F32 => DType::F32,
        From::F64 => DType::F64,
        other => {
            let name = field.name();
            let text = format!("candle has no dtype {other}; use the transform \"{name}: cast(...)\"");
            return Err(refuse(name, &text).into());
        }
    })
}

#[cold]
fn refuse(name: &str, text: &str) -> crate::Error {
    crate::Error::new(Code::Unsupported, format!("field '{name}': {text}"))
}
