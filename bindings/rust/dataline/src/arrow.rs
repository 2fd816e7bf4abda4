//! Batches for Arrow, and datasets of Arrow tables, through its C data interface, which every Arrow library
//! supports.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Batch, Dataset, Options, Result};
use dataline_sys as sys;
use std::{fmt, mem::MaybeUninit};

pub use sys::{ArrowArray, ArrowArrayStream, ArrowSchema};

/// A batch as a struct array with a child for each field, and its type; returned by [`Batch::arrow`]. It
/// holds the batch, and counts towards `max_leases`, until it is dropped. If another library has taken the
/// array, the batch is held until that library releases it.
///
/// A consumer moves the structs out: it copies their bytes and sets `release` to `None`. Dropping this value
/// then has no effect. In the crate `arrow`, `FFI_ArrowArray::from_raw` and `FFI_ArrowSchema::from_raw` do
/// this; cast the pointers from [`array`](Self::array) and [`schema`](Self::schema).
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
    /// The struct array, to read or to move out.
    pub fn array(&mut self) -> *mut ArrowArray {
        &mut *self.array
    }

    /// Its type, to read or to move out.
    pub fn schema(&mut self) -> *mut ArrowSchema {
        &mut *self.schema
    }
}

impl Drop for ArrowBatch {
    fn drop(&mut self) {
        // SAFETY: structs that were not moved out are released here, once.
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
    /// The rows that are not pads, for Arrow. A dense field keeps its type, inside a fixed-size list for each
    /// dim after the first. Ragged fields become `large_list`, ragged bytes `large_binary`. Only `bool`,
    /// which Arrow stores as bits, and fields whose rows are not contiguous are copied.
    ///
    /// # Errors
    /// [`Code::Unsupported`](crate::Code::Unsupported): `bf16` and complex numbers, and batches in a device's
    /// memory.
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

impl Dataset<'static> {
    /// A dataset over a table in memory: all arrays of a stream. Values are delivered from Arrow's memory.
    /// `keys` are the keys of an `arrow:` URI: `"fields=image/bytes,label&nulls=fill(0)"`, or `""`. The call
    /// takes ownership of the stream, also on an error: its `release` is `None` afterwards. With the crate
    /// `arrow`, cast a pointer to an `FFI_ArrowArrayStream`.
    ///
    /// # Safety
    /// `stream` points to a stream that follows the rules of Arrow's C stream interface. Any thread may
    /// release its arrays, and they do not change.
    ///
    /// # Errors
    /// [`Code::Unsupported`](crate::Code::Unsupported) names a type that is not supported.
    /// [`Code::Corrupt`](crate::Code::Corrupt) for inconsistent arrays,
    /// [`Code::NoSuchField`](crate::Code::NoSuchField), [`Code::BadUri`](crate::Code::BadUri) in `keys`,
    /// [`Code::Reader`](crate::Code::Reader) with the stream's message.
    pub unsafe fn from_arrow(
        stream: *mut ArrowArrayStream,
        keys: &str,
        options: &Options,
    ) -> Result<Dataset<'static>> {
        let keys = ffi::c_text("keys", keys)?;
        let options = options.raw()?;
        // SAFETY: live arguments; the stream is the caller's to answer for.
        Dataset::made(|out, error| unsafe {
            sys::dl_dataset_from_arrow(stream, keys.as_ptr(), options, out, error)
        })
    }

    /// Like [`Dataset::from_arrow`], for one array, such as the result of [`Batch::arrow`]: a struct of the
    /// columns, or the only column.
    ///
    /// ```
    /// use dataline::{Array, Dataset, Loader, Options};
    ///
    /// # fn main() -> dataline::Result<()> {
    /// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[6, 2], &[1.5f32; 12])?], &Options::new())?;
    /// # let loader = Loader::new(&dataset, &Options::new())?;
    /// # let batch = loader.epoch().next().unwrap()?;
    /// let mut rows = batch.arrow()?;
    /// // SAFETY: both are as the library made them.
    /// let again = unsafe { Dataset::from_arrow_array(rows.schema(), rows.array(), "fields=x", &Options::new())? };
    /// assert_eq!(again.len(), Some(6));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// As for [`Dataset::from_arrow`].
    ///
    /// # Errors
    /// As for [`Dataset::from_arrow`].
    pub unsafe fn from_arrow_array(
        schema: *mut ArrowSchema,
        array: *mut ArrowArray,
        keys: &str,
        options: &Options,
    ) -> Result<Dataset<'static>> {
        let keys = ffi::c_text("keys", keys)?;
        let options = options.raw()?;
        // SAFETY: live arguments; the structs are the caller's to answer for.
        Dataset::made(|out, error| unsafe {
            sys::dl_dataset_from_arrow_array(schema, array, keys.as_ptr(), options, out, error)
        })
    }
}
