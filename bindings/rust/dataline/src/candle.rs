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
//! **What is copied.** candle's tensors own their memory (on the CPU a `Vec`), so a field is copied once: from the batch
//! into the tensor, or straight to the accelerator. Fields whose rows are not contiguous (`views=true`) are
//! joined first, a second copy. The batch may be dropped right after it.
//!
//! **dtypes.** u8, u32, i16, i32, i64, f16, bf16, f32 and f64 stay what they are, `bool` becomes `u8`; the others (u16, u64,
//! i8, complex) are refused with the transform that helps, `cast(...)`.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Batch, Code};
use candle_core::{DType, Device, Tensor};
use std::{error, fmt};

/// What went wrong; turns into [`candle_core::Error`] by `?`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// With the batch: no such field, a dtype that candle does not have.
    Dataline(crate::Error),
    /// With the tensor: no memory, a device.
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
    /// Its text is that of what it wraps, so the cause is that one's.
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Dataline(error) => error.source(),
            Error::Candle(error) => error.source(),
        }
    }
}

impl Batch {
    /// A field as a tensor on `device`: shape and dtype are the field's, `bool` becomes `u8`. Ragged: the items of all
    /// rows, one after another; where each row begins is [`Batch::candle_offsets`].
    ///
    /// # Errors
    /// Those of [`Batch::tensor`]; [`Code::Unsupported`] for a dtype that candle does not have (u16, u64, i8, complex),
    /// with the transform that helps; what candle says.
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

    /// Of a ragged field: where each row begins, and the last one ends; one more than rows, i64.
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
