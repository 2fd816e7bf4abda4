//! Fields of a batch as DLPack tensors.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Batch, Result};
use dataline_sys as sys;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

pub use dataline_sys::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
};

/// The struct of a DLPack tensor: [`DLManagedTensorVersioned`] or [`DLManagedTensor`].
pub trait Managed: sealed::Managed {}

mod sealed {
    pub trait Managed: Sized {
        fn tensor(&self) -> &super::DLTensor;
        /// # Safety
        /// The caller owns `this` and does not use it again.
        unsafe fn delete(this: *mut Self);
    }
}

macro_rules! managed {
    ($($type:ident)*) => {
        $(
            impl Managed for $type {}

            impl sealed::Managed for $type {
                fn tensor(&self) -> &DLTensor {
                    &self.dl_tensor
                }

                unsafe fn delete(this: *mut $type) {
                    // SAFETY: the caller owns it.
                    unsafe {
                        if let Some(deleter) = (*this).deleter {
                            deleter(this);
                        }
                    }
                }
            }
        )*
    };
}

managed! { DLManagedTensor DLManagedTensorVersioned }

/// One field of a batch as a DLPack tensor, without a copy: [`Batch::dlpack`], [`Batch::dlpack_unversioned`].
/// It holds the batch, also after the loader is dropped, until it is dropped itself. After
/// [`Dlpack::into_raw`], the batch is held until the consumer calls the deleter.
///
/// ```
/// use dataline::{Array, Dataset, Loader, Options};
///
/// # fn main() -> dataline::Result<()> {
/// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[6, 2], &[1.5f32; 12])?], &Options::new())?;
/// let loader = Loader::new(&dataset, &Options::new())?;
/// for batch in loader.epoch().take(1) {
///     let tensor = batch?.dlpack("x")?;
///     assert_eq!((tensor.shape(), tensor.strides()), (&[6, 2][..], &[2, 1][..]));
///     let raw = tensor.into_raw(); // for a consumer, which calls (*raw).deleter
///     // SAFETY: into_raw has just returned it, once.
///     drop(unsafe { dataline::dlpack::Dlpack::from_raw(raw) });
/// }
/// # Ok(())
/// # }
/// ```
pub struct Dlpack<M: Managed = DLManagedTensorVersioned>(NonNull<M>);

// SAFETY: the library's tensors are not written to and hold a counted reference; their deleter runs on any thread.
unsafe impl<M: Managed> Send for Dlpack<M> {}
// SAFETY: as above.
unsafe impl<M: Managed> Sync for Dlpack<M> {}

impl<M: Managed> Dlpack<M> {
    /// The DLPack description. Its pointers live as long as this value. Their targets must not be written
    /// while a view of the batch exists.
    #[must_use]
    pub fn tensor(&self) -> &DLTensor {
        // SAFETY: owned by this value.
        unsafe { self.0.as_ref() }.tensor()
    }

    /// The dims.
    #[must_use]
    pub fn shape(&self) -> &[i64] {
        // SAFETY: `ndim` dims, which live as long as the tensor.
        unsafe { ffi::slice(self.tensor().shape, self.rank()) }
    }

    /// The distance in items from one index of a dim to the next.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        // SAFETY: as for the shape.
        unsafe { ffi::slice(self.tensor().strides, self.rank()) }
    }

    fn rank(&self) -> usize {
        usize::try_from(self.tensor().ndim).unwrap_or(0)
    }

    /// Passes ownership to a consumer, who calls its deleter once, from any thread, when done.
    #[must_use = "the batch is held until the deleter is called"]
    pub fn into_raw(self) -> *mut M {
        ManuallyDrop::new(self).0.as_ptr()
    }

    /// Takes ownership back from [`Dlpack::into_raw`].
    ///
    /// # Safety
    /// `raw` comes from [`Dlpack::into_raw`], and its deleter is never called elsewhere.
    ///
    /// # Panics
    /// If `raw` is NULL.
    #[must_use]
    pub unsafe fn from_raw(raw: *mut M) -> Dlpack<M> {
        Dlpack(NonNull::new(raw).expect("a tensor, got NULL"))
    }
}

impl Dlpack<DLManagedTensorVersioned> {
    /// Whether a consumer must not write to it.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        // SAFETY: owned by this value.
        unsafe { self.0.as_ref() }.flags & sys::DLPACK_FLAG_BITMASK_READ_ONLY != 0
    }
}

impl<M: Managed> Drop for Dlpack<M> {
    fn drop(&mut self) {
        // SAFETY: the last use of what this value owns.
        unsafe { M::delete(self.0.as_ptr()) };
    }
}

impl<M: Managed> fmt::Debug for Dlpack<M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Dlpack").field("dtype", &self.tensor().dtype).field("shape", &self.shape()).finish()
    }
}

impl Batch {
    /// A field as a DLPack 1.x tensor that holds the batch. Its read-only flag is set if a consumer must not
    /// write to it. Ragged: the items of all rows, in order.
    ///
    /// # Errors
    /// [`Code::NoSuchField`](crate::Code::NoSuchField) lists the existing fields.
    pub fn dlpack(&self, name: &str) -> Result<Dlpack<DLManagedTensorVersioned>> {
        let field = self.index_of(name)?;
        let mut out = ptr::null_mut();
        // SAFETY: a live handle; `out` takes the result.
        ffi::hard(|error| unsafe { sys::dl_batch_dlpack_versioned(self.raw(), field, &mut out, error) })?;
        // SAFETY: the tensor is the caller's now.
        Ok(unsafe { Dlpack::from_raw(out) })
    }

    /// Like [`Batch::dlpack`], for consumers older than DLPack 1.0.
    ///
    /// # Errors
    /// As for [`Batch::dlpack`]; [`Code::Unsupported`](crate::Code::Unsupported) for a read-only field,
    /// because such a tensor has no read-only flag.
    pub fn dlpack_unversioned(&self, name: &str) -> Result<Dlpack<DLManagedTensor>> {
        let field = self.index_of(name)?;
        let mut out = ptr::null_mut();
        // SAFETY: a live handle; `out` takes the result.
        ffi::hard(|error| unsafe { sys::dl_batch_dlpack(self.raw(), field, &mut out, error) })?;
        // SAFETY: the tensor is the caller's now.
        Ok(unsafe { Dlpack::from_raw(out) })
    }
}
