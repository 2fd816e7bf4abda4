//! Batches for Arrow, by its C data interface, which every Arrow library imports.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::batch::Batch;
use crate::error::Result;
use crate::ffi;
use dataline_sys as sys;
use std::{fmt, mem::MaybeUninit};

pub use sys::{ArrowArray, ArrowSchema};

/// A batch as a struct array with a child for each field, and its type: [`Batch::arrow`]. It holds the batch, and counts
/// towards `max_leases`, until it is dropped, or until the library that took the array is done with it.
///
/// A consumer moves the structs out: it copies their bytes and sets `release` to `None`, after which nothing is left to drop
/// here. The crate `arrow` does so by `FFI_ArrowArray::from_raw` and `FFI_ArrowSchema::from_raw`, whose pointers are those of
/// [`array`](Self::array) and [`schema`](Self::schema), cast.
///
/// ```
/// use dataline::{Array, Dataset, Loader, Options};
///
/// # fn main() -> dataline::Result<()> {
/// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[6, 2], &[1.5f32; 12])?], &Options::new())?;
/// let loader = Loader::new(&dataset, &Options::new())?;
/// for batch in loader.epoch().take(1) {
///     let mut rows = batch?.arrow()?;
///     // SAFETY: it lives as long as `rows`.
///     let array = unsafe { &*rows.array() };
///     assert_eq!((array.length, array.n_children), (6, 1));
/// }
/// # Ok(())
/// # }
/// ```
pub struct ArrowBatch {
    array: Box<ArrowArray>,
    schema: Box<ArrowSchema>,
}

// SAFETY: the library may be called to release them from any thread, and nothing in them changes before.
unsafe impl Send for ArrowBatch {}

impl ArrowBatch {
    /// The struct array, to be read, or to be moved out.
    pub fn array(&mut self) -> *mut ArrowArray {
        &mut *self.array
    }

    /// Its type, to be read, or to be moved out.
    pub fn schema(&mut self) -> *mut ArrowSchema {
        &mut *self.schema
    }
}

impl Drop for ArrowBatch {
    fn drop(&mut self) {
        // SAFETY: what was not moved out is released here, once.
        unsafe {
            if let Some(release) = self.array.release {
                release(&mut *self.array);
            }
            if let Some(release) = self.schema.release {
                release(&mut *self.schema);
            }
        }
    }
}

impl fmt::Debug for ArrowBatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ArrowBatch")
            .field("rows", &self.array.length)
            .field("fields", &self.array.n_children)
            .finish()
    }
}

impl Batch {
    /// The rows that are not pads, for Arrow. Dense fields are their type, inside lists of fixed size for each dim after the
    /// first; ragged ones `large_list`, ragged bytes `large_binary`. Nothing is copied but `bool`, which Arrow stores as bits,
    /// and fields whose rows do not lie one after another.
    ///
    /// # Errors
    /// [`Code::Unsupported`](crate::Code::Unsupported): `bf16` and complex numbers, and batches in a device's memory.
    pub fn arrow(&self) -> Result<ArrowBatch> {
        let mut array = MaybeUninit::uninit();
        let mut schema = MaybeUninit::uninit();
        // SAFETY: a live handle, and room for both.
        ffi::hard(|error| unsafe {
            sys::dl_batch_arrow(self.raw(), schema.as_mut_ptr(), array.as_mut_ptr(), error)
        })?;
        // SAFETY: the call has filled them.
        let (array, schema) = unsafe { (array.assume_init(), schema.assume_init()) };
        Ok(ArrowBatch { array: Box::new(array), schema: Box::new(schema) })
    }
}
