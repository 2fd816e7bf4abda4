//! Datasets.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::lend::lend;
use crate::{ffi, field, Array, Batch, Field, ImageInfo, Options, Result};
#[cfg(doc)]
use crate::{Code, Error};
use dataline_sys as sys;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::ptr;

/// Samples by index; immutable. `'a` is the lifetime of borrowed data: `'static`, except with
/// [`with_borrowed`](crate::with_borrowed).
///
/// Any thread. Loaders and composed datasets hold their own references to it. Usable in a forked child.
pub struct Dataset<'a> {
    handle: *mut sys::dl_dataset,
    borrowed: PhantomData<&'a [u8]>,
}

// SAFETY: the library's datasets are immutable and may be used from any thread.
unsafe impl Send for Dataset<'_> {}
// SAFETY: as above.
unsafe impl Sync for Dataset<'_> {}

impl<'a> Dataset<'a> {
    /// Opens `scheme:path[,path...][?key=value&...]` or a bare path, whose format is detected:
    /// `mnist:DIR?split=test`, `npy:image=a.npy,label=b.npy`, `idx:FILE`, `raw:FILE?dtype=u8&shape=3x32x32`,
    /// `tokens:FILE?length=1024`.
    ///
    /// # Errors
    /// [`Error::Call`] for a URI that does not parse (with its column), [`Error::Data`] for files that are
    /// missing or corrupt, [`Error::Cancelled`] by a [`CancelToken`](crate::CancelToken).
    pub fn open(uri: &str, options: &Options) -> Result<Dataset<'static>> {
        let uri = ffi::c_text("uri", uri)?;
        let options = options.raw()?;
        // SAFETY: live arguments.
        Dataset::made(|out, error| unsafe { sys::dl_dataset_open(uri.as_ptr(), options, out, error) })
    }

    /// Copies fields of equal length from memory.
    ///
    /// # Errors
    /// [`Code::Mismatch`] for arrays of different length, [`Code::InvalidArgument`] for a duplicate name or a
    /// rank above the limit, [`Error::Machine`] if memory does not suffice.
    pub fn from_arrays(arrays: &[Array<'_>], options: &Options) -> Result<Dataset<'static>> {
        // SAFETY: without `release` the arrays are copied.
        unsafe { Dataset::of_arrays(arrays, options, None, ptr::null_mut()) }
    }

    /// A dataset over fields that `owner` holds, without a copy. `describe` lists them. The owner is dropped,
    /// on any thread, when the dataset and everything created from it (loaders, composed datasets) are
    /// dropped.
    ///
    /// ```
    /// use dataline::{Array, Dataset, Options};
    /// use std::sync::Arc;
    ///
    /// # fn main() -> dataline::Result<()> {
    /// let rows: Arc<Vec<f32>> = Arc::new(vec![0.0; 100 * 8]);
    /// let dataset = Dataset::lend_arrays(rows.clone(), |rows| Ok(vec![Array::dense("x", &[100, 8], rows)?]), &Options::new())?;
    /// assert_eq!(Arc::strong_count(&rows), 2);
    /// drop(dataset);
    /// assert_eq!(Arc::strong_count(&rows), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Dataset::from_arrays`] and those of `describe`; the owner is then dropped.
    pub fn lend_arrays<O, D>(owner: O, describe: D, options: &Options) -> Result<Dataset<'static>>
    where
        O: Send + Sync + 'static,
        D: for<'o> FnOnce(&'o O) -> Result<Vec<Array<'o>>>,
    {
        lend(owner, |owner, release, context| {
            let arrays = describe(owner)?;
            // SAFETY: what is described lives as long as the owner, which keeps its address until it is released.
            unsafe { Dataset::of_arrays(&arrays, options, release, context) }
        })
    }

    /// # Safety
    /// With `release`, the borrowed arrays do not change until it is called.
    pub(crate) unsafe fn of_arrays<'any>(
        arrays: &[Array<'_>],
        options: &Options,
        release: sys::dl_release,
        context: *mut c_void,
    ) -> Result<Dataset<'any>> {
        let options = options.raw()?;
        let raw = arrays.iter().map(Array::raw).collect::<Result<Vec<_>>>()?;
        let count = ffi::count("arrays", raw.len())?;
        // SAFETY: live arguments; the caller's promise.
        Dataset::made(|out, error| unsafe {
            sys::dl_dataset_from_arrays(raw.as_ptr(), count, release, context, options, out, error)
        })
    }

    /// Puts fields side by side; all parts have equal lengths. A name renames the field of its part, or, if
    /// it has several, prefixes them (`name/field`). `""` keeps the names.
    ///
    /// # Errors
    /// [`Code::Mismatch`], with both lengths, or if two fields have the same name.
    pub fn zip(parts: &[(&str, &Dataset<'a>)]) -> Result<Dataset<'a>> {
        let names = parts.iter().map(|(name, _)| ffi::c_text("name", name)).collect::<Result<Vec<_>>>()?;
        let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let handles: Vec<_> = parts.iter().map(|(_, part)| part.handle).collect();
        let count = ffi::count("parts", handles.len())?;
        // SAFETY: live arguments; the new dataset keeps its own references.
        Dataset::made(|out, error| unsafe {
            sys::dl_dataset_zip(handles.as_ptr(), names.as_ptr(), count, std::ptr::null(), out, error)
        })
    }

    /// Concatenates parts with equal fields.
    ///
    /// # Errors
    /// [`Code::Mismatch`] names the difference; [`Code::InvalidArgument`] without parts.
    pub fn concat(parts: &[&Dataset<'a>]) -> Result<Dataset<'a>> {
        let handles: Vec<_> = parts.iter().map(|part| part.handle).collect();
        let count = ffi::count("parts", handles.len())?;
        // SAFETY: live arguments; the new dataset keeps its own references.
        Dataset::made(|out, error| unsafe {
            sys::dl_dataset_concat(handles.as_ptr(), count, std::ptr::null(), out, error)
        })
    }

    /// The samples `indices` of this dataset, borrowed from `owner` (a `Vec`, an `Arc<[i64]>`, a
    /// `&'static [i64]`).
    ///
    /// # Errors
    /// [`Code::OutOfRange`] for an index that does not exist in this dataset.
    pub fn subset(&self, owner: impl AsRef<[i64]> + Send + Sync + 'static) -> Result<Dataset<'a>> {
        lend(owner, |owner, release, context| {
            let indices = owner.as_ref();
            let count = ffi::length(indices.len())?;
            // SAFETY: the owner keeps its address until it is released.
            Dataset::made(|out, error| unsafe {
                sys::dl_dataset_subset(
                    self.handle,
                    indices.as_ptr(),
                    count,
                    release,
                    context,
                    std::ptr::null(),
                    out,
                    error,
                )
            })
        })
    }

    /// The sample count; `None` if unknown.
    #[must_use]
    pub fn len(&self) -> Option<usize> {
        // SAFETY: a live handle.
        usize::try_from(unsafe { sys::dl_dataset_count(self.handle) }).ok()
    }

    /// Whether it is known to be empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The fields of one sample.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        let mut count = 0;
        // SAFETY: a live handle; borrowed results are copied.
        unsafe { field::fields_of(sys::dl_dataset_fields(self.handle, &mut count), count) }
    }

    /// `"idx"`, `"zip"`, `"arrays"`, ...
    #[must_use]
    pub fn format(&self) -> String {
        // SAFETY: a live handle; borrowed results are copied.
        unsafe { ffi::text_of(sys::dl_dataset_format(self.handle)) }
    }

    /// The URI passed to [`Dataset::open`], or `""`.
    #[must_use]
    pub fn uri(&self) -> String {
        // SAFETY: a live handle; borrowed results are copied.
        unsafe { ffi::text_of(sys::dl_dataset_uri(self.handle)) }
    }

    /// Notes for the user: what was assumed, what is slow.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        // SAFETY: a live handle; borrowed results are copied.
        unsafe {
            let count = sys::dl_dataset_note_count(self.handle);
            (0..count).map(|index| ffi::text_of(sys::dl_dataset_note(self.handle, index))).collect()
        }
    }

    /// Class names, indexed by label; empty if the dataset has none. Bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn classes(&self) -> Vec<String> {
        // SAFETY: a live handle; borrowed results are copied.
        unsafe {
            let count = sys::dl_dataset_class_count(self.handle);
            (0..count).map(|index| ffi::text_of(sys::dl_dataset_class_name(self.handle, index))).collect()
        }
    }

    /// Describes the files on this machine that the samples are read from, as lines of `key: value`. Two
    /// texts are equal if the structure (formats, fields, keys, order of parts) is equal and no file was
    /// replaced, rewritten or renamed. Compare them to decide whether earlier results computed from the
    /// dataset are still valid. Checks every file of a folder.
    ///
    /// # Errors
    /// [`Code::Unsupported`]: data in memory; a [`Source`](crate::Source) or a stored object with neither
    /// files nor a fingerprint.
    pub fn identity(&self) -> Result<String> {
        // SAFETY: a live handle, and room of that size.
        ffi::text_from(|room, bytes, error| unsafe {
            sys::dl_dataset_identity(self.handle, room, bytes, error)
        })
    }

    /// The header of a sample's encoded image; does not decode it. Reads the field `image`, or the only field
    /// with encoded bytes.
    ///
    /// # Errors
    /// [`Code::NoSuchField`], [`Code::Unsupported`] (no encoded bytes), [`Code::OutOfRange`],
    /// [`Code::Corrupt`], [`Code::Truncated`], and the errors of reading the sample.
    pub fn image_info(&self, index: usize) -> Result<ImageInfo> {
        self.header_of(ptr::null(), index)
    }

    /// Like [`Dataset::image_info`], for a field by its name.
    ///
    /// # Errors
    /// As [`Dataset::image_info`].
    pub fn image_info_of(&self, field: &str, index: usize) -> Result<ImageInfo> {
        self.header_of(ffi::c_text("field", field)?.as_ptr(), index)
    }

    /// Reads one sample through the transforms of `options`, as a batch of one. For viewers and tests, not
    /// for training.
    ///
    /// # Errors
    /// [`Code::OutOfRange`], and those of [`Loader::new`](crate::Loader::new) and
    /// [`Loader::next`](crate::Loader::next).
    pub fn read(&self, index: usize, options: &Options) -> Result<Batch> {
        let index = ffi::length(index)?;
        let options = options.raw()?;
        let mut handle = ptr::null_mut();
        // SAFETY: live arguments.
        ffi::hard(|error| unsafe { sys::dl_dataset_read(self.handle, index, options, &mut handle, error) })?;
        // SAFETY: a batch that the library returned from this call.
        Ok(unsafe { Batch::own(handle) })
    }

    fn header_of(&self, field: *const c_char, index: usize) -> Result<ImageInfo> {
        let index = ffi::length(index)?;
        let size = ffi::size::<sys::dl_image_info>();
        let mut info = sys::dl_image_info { struct_size: size, ..Default::default() };
        // SAFETY: a live handle and a text or NULL; `info` states its size.
        ffi::hard(|error| unsafe {
            sys::dl_dataset_image_info(self.handle, field, index, &mut info, error)
        })?;
        Ok(ImageInfo::from(&info))
    }

    pub(crate) fn raw(&self) -> *mut sys::dl_dataset {
        self.handle
    }

    /// # Safety
    /// The caller owns the dataset of the library.
    pub(crate) unsafe fn own<'any>(handle: *mut sys::dl_dataset) -> Dataset<'any> {
        Dataset { handle, borrowed: PhantomData }
    }

    pub(crate) fn made<'any>(
        make: impl FnOnce(*mut *mut sys::dl_dataset, *mut sys::dl_error) -> sys::dl_status,
    ) -> Result<Dataset<'any>> {
        let mut handle = ptr::null_mut();
        ffi::hard(|error| make(&mut handle, error))?;
        // SAFETY: a dataset that the library returned from this call.
        Ok(unsafe { Dataset::own(handle) })
    }
}

impl Drop for Dataset<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own.
        unsafe { sys::dl_dataset_destroy(self.handle) };
    }
}

impl fmt::Debug for Dataset<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Dataset")
            .field("format", &self.format())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
