//! Batches.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code, Element, Error, Result, Tensor};
use dataline_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::mem::ManuallyDrop;
use std::os::raw::c_void;

/// A lease on one batch. It may outlive the next batch, the loader and the dataset, and several threads may
/// read it. Dropping the last clone frees its slot. Cloning copies no data.
///
/// Views of a batch cannot be used after it is dropped:
///
/// ```compile_fail,E0505
/// fn first(batch: dataline::Batch) -> dataline::Result<f32> {
///     let view = batch.view::<f32>("x")?;
///     drop(batch);
///     Ok(view[0])
/// }
/// ```
pub struct Batch {
    handle: *mut sys::dl_batch,
    views: *const sys::dl_view,
    count: i32,
}

// SAFETY: the library's batches are counted atomically and not written to while borrowed.
unsafe impl Send for Batch {}
// SAFETY: as above.
unsafe impl Sync for Batch {}

/// Position and size of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchInfo {
    /// From 0.
    pub epoch: u64,
    /// From 0 within its epoch.
    pub step: u64,
    /// Rows, including pads.
    pub samples: usize,
    /// Rows that are not pads.
    pub valid: usize,
}

impl Batch {
    /// # Safety
    /// The caller owns the batch `handle`.
    #[inline]
    pub(crate) unsafe fn own(handle: *mut sys::dl_batch) -> Batch {
        let mut count = 0;
        // SAFETY: a live handle.
        let views = unsafe { sys::dl_batch_views(handle, &mut count) };
        Batch { handle, views, count }
    }

    pub(crate) fn raw(&self) -> *mut sys::dl_batch {
        self.handle
    }

    #[inline]
    fn views(&self) -> ffi::Views<'_> {
        // SAFETY: the views live as long as the batch.
        unsafe { ffi::Views::new(self.views, self.count) }
    }

    /// All items of a field as a slice, such as `&[f32]`. For its shape, see [`Batch::tensor`].
    ///
    /// # Errors
    /// [`Code::NoSuchField`]; [`Code::Mismatch`] if the items are not `T`; [`Code::Unsupported`] if they are
    /// not contiguous.
    pub fn view<T: Element>(&self, name: &str) -> Result<&[T]> {
        self.tensor(name)?.as_slice()
    }

    /// A field: its type, shape, strides, rows, bytes.
    ///
    /// # Errors
    /// [`Code::NoSuchField`] lists the existing fields.
    pub fn tensor(&self, name: &str) -> Result<Tensor<'_>> {
        match self.views().iter().find(|view| is_named(view, name)) {
            Some(view) => Ok(self.tensor_of(view)),
            None => Err(self.no_field(name)),
        }
    }

    /// The index of a field.
    pub(crate) fn index_of(&self, name: &str) -> Result<i32> {
        let index = self.views().iter().position(|view| is_named(view, name));
        index.and_then(|index| i32::try_from(index).ok()).ok_or_else(|| self.no_field(name))
    }

    /// All fields, in the order of [`Loader::fields`](crate::Loader::fields).
    #[must_use]
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = Tensor<'_>> {
        self.views().iter().map(move |view| self.tensor_of(view))
    }

    fn tensor_of<'b>(&'b self, view: &'b sys::dl_view) -> Tensor<'b> {
        // A ragged field does not state its row count.
        let samples = if view.kind == sys::DL_KIND_DENSE && view.rank > 0 {
            // SAFETY: `rank` dims.
            usize::try_from(unsafe { *view.shape }).unwrap_or(0)
        } else {
            self.len()
        };
        Tensor { view, samples }
    }

    #[cold]
    fn no_field(&self, name: &str) -> Error {
        let names: Vec<&str> = self.tensors().map(|tensor| tensor.name()).collect();
        Error::new(Code::NoSuchField, format!("no field '{name}'; the fields are {}", names.join(", ")))
    }

    /// Makes a stream of the accelerator wait until the batch is complete; the host does not wait. Batches of
    /// a device are delivered while their copies are in flight. Call it once for each stream that reads the
    /// batch, before the first use there. When the last clone is dropped, the memory is not reused before the
    /// work then queued in those streams is done. Does nothing on the CPU.
    ///
    /// # Errors
    /// [`Code::DeviceLost`] if the accelerator reports it; [`Code::Forked`].
    ///
    /// # Safety
    /// `stream` is a stream (`CUstream`, `cudaStream_t`) of the batch's device that lives until the last
    /// clone of the batch is dropped, or NULL: the default stream.
    pub unsafe fn wait(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: a live handle; the caller's promise.
        ffi::hard(|error| unsafe { sys::dl_batch_wait(self.handle, stream, error) })
    }

    /// Releases the batch when the work now queued in a stream of the accelerator is done; the call does not
    /// wait. On the CPU it is the same as dropping the batch.
    ///
    /// # Errors
    /// [`Code::DeviceLost`] if the accelerator reports it; [`Code::Forked`]. The batch is released also on an
    /// error.
    ///
    /// # Safety
    /// As for [`Batch::wait`].
    pub unsafe fn release_on(self, stream: *mut c_void) -> Result<()> {
        let batch = ManuallyDrop::new(self);
        // SAFETY: the reference is this value's own, and is taken whatever comes back; the caller's promise.
        ffi::hard(|error| unsafe { sys::dl_batch_release_on(batch.handle, stream, error) })
    }

    /// Position and size.
    #[must_use]
    pub fn info(&self) -> BatchInfo {
        let info = self.raw_info();
        BatchInfo {
            epoch: u64::try_from(info.epoch).unwrap_or(0),
            step: u64::try_from(info.step).unwrap_or(0),
            samples: usize::try_from(info.samples).unwrap_or(0),
            valid: usize::try_from(info.valid).unwrap_or(0),
        }
    }

    /// Rows, including pads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.info().samples
    }

    /// Whether it has no rows, which is possible for the last batch of a rank.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sample index of each row. For a replaced sample, the index of its replacement.
    #[must_use]
    pub fn sample_indices(&self) -> &[i64] {
        let info = self.raw_info();
        // SAFETY: one a row; they live as long as the batch.
        unsafe { ffi::slice(info.sample_indices, usize::try_from(info.samples).unwrap_or(0)) }
    }

    /// The part of a mix that each row comes from; 0 without a mix.
    #[must_use]
    pub fn sample_sources(&self) -> &[i64] {
        let info = self.raw_info();
        // SAFETY: one a row; they live as long as the batch.
        unsafe { ffi::slice(info.sample_sources, usize::try_from(info.samples).unwrap_or(0)) }
    }

    fn raw_info(&self) -> sys::dl_batch_info {
        let mut info =
            sys::dl_batch_info { struct_size: ffi::size::<sys::dl_batch_info>(), ..Default::default() };
        // SAFETY: a live handle; `info` states its size. Nothing else can fail, so the error is not requested.
        let status = unsafe { sys::dl_batch_get_info(self.handle, &mut info, std::ptr::null_mut()) };
        debug_assert_eq!(status, sys::DL_OK);
        info
    }
}

fn is_named(view: &sys::dl_view, name: &str) -> bool {
    // SAFETY: the name lives as long as the batch, whose views these are.
    unsafe { CStr::from_ptr(view.name) }.to_bytes() == name.as_bytes()
}

impl Clone for Batch {
    /// Another reference to the same lease.
    fn clone(&self) -> Batch {
        // SAFETY: a live handle.
        unsafe { sys::dl_batch_retain(self.handle) };
        Batch { handle: self.handle, views: self.views, count: self.count }
    }
}

impl Drop for Batch {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own.
        unsafe { sys::dl_batch_release(self.handle) };
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Batch")
            .field("info", &self.info())
            .field("fields", &self.tensors().collect::<Vec<_>>())
            .finish()
    }
}
