//! Fields in memory.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code, Element, Error, Kind, Result};
use dataline_sys as sys;
use std::ffi::CString;
use std::marker::PhantomData;
use std::mem::{size_of, size_of_val};
use std::os::raw::c_void;
use std::ptr;

/// A field in memory, borrowed. [`Dataset::from_arrays`](crate::Dataset::from_arrays) copies it;
/// [`Dataset::lend_arrays`](crate::Dataset::lend_arrays) and [`with_borrowed`](crate::with_borrowed) do not.
/// [`Writer::append`](crate::Writer::append) writes it.
///
/// ```
/// use dataline::Array;
///
/// # fn main() -> dataline::Result<()> {
/// let pixels = vec![0u8; 100 * 28 * 28];
/// Array::dense("image", &[100, 28, 28], &pixels)?.with_axes("HW")?;
///
/// // Two texts, "ab" and "cde", one after another.
/// Array::ragged("text", b"abcde", &[], &[0, 2, 5])?;
///
/// let error = Array::dense("image", &[100, 28], &pixels).unwrap_err();
/// assert_eq!(error.message(), "field 'image': expected 2800 items for the shape [100, 28], got 78400");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Array<'a> {
    name: CString,
    kind: Kind,
    dtype: i32,
    shape: Vec<i64>,
    axes: Option<CString>,
    data: *const c_void,
    bytes: usize,
    row_stride_bytes: Option<i64>,
    offsets: Option<&'a [i64]>,
    borrowed: PhantomData<&'a [u8]>,
}

// SAFETY: what it borrows are slices of items that are Send and Sync.
unsafe impl Send for Array<'_> {}
// SAFETY: as above.
unsafe impl Sync for Array<'_> {}

impl<'a> Array<'a> {
    /// Samples of one shape, in C order. `shape[0]` is the sample count.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] if the shape's product is not the length of `data`.
    pub fn dense<T: Element>(name: &str, shape: &[usize], data: &'a [T]) -> Result<Array<'a>> {
        let refuse = |text: String| Error::new(Code::InvalidArgument, format!("field '{name}': {text}"));
        if shape.is_empty() {
            return Err(refuse("expected a shape whose first dim is the sample count, got []".to_owned()));
        }
        let expected = shape.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim));
        if expected != Some(data.len()) {
            let expected = expected.map_or("more".to_owned(), |count| count.to_string());
            return Err(refuse(format!(
                "expected {expected} items for the shape {shape:?}, got {}",
                data.len()
            )));
        }
        Array::new(name, Kind::Dense, shape, data, None)
    }

    /// Samples of one shape whose first items are `row_stride` items apart, such as columns of a wider table,
    /// or every second row. The items of each sample are contiguous.
    ///
    /// ```
    /// use dataline::{Array, Dataset, Loader, Options};
    ///
    /// # fn main() -> dataline::Result<()> {
    /// let table = [1, 2, 90, 3, 4, 91, 5, 6i32]; // two of every three
    /// let x = Array::strided("x", &[3, 2], &table, 3)?;
    /// let dataset = Dataset::from_arrays(&[x], &Options::new())?;
    /// let batch = Loader::new(&dataset, &Options::new())?.epoch().next().unwrap()?;
    /// assert_eq!(batch.view::<i32>("x")?, [1, 2, 3, 4, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] if samples overlap, or `data` ends before the last sample.
    pub fn strided<T: Element>(
        name: &str,
        shape: &[usize],
        data: &'a [T],
        row_stride: usize,
    ) -> Result<Array<'a>> {
        let refuse = |text: String| Error::new(Code::InvalidArgument, format!("field '{name}': {text}"));
        let (&rows, item_shape) = shape.split_first().ok_or_else(|| {
            refuse("expected a shape whose first dim is the sample count, got []".to_owned())
        })?;
        let item = item_shape.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim));
        let item = item.filter(|&item| item <= row_stride);
        let item =
            item.ok_or_else(|| refuse(format!("expected rows of {item_shape:?} within {row_stride} items")))?;
        let needed =
            rows.checked_sub(1).map_or(Some(0), |last| last.checked_mul(row_stride)?.checked_add(item));
        if needed.map_or(true, |needed| needed > data.len()) {
            return Err(refuse(format!(
                "expected {rows} rows {row_stride} items apart, got {} items",
                data.len()
            )));
        }
        let mut array = Array::new(name, Kind::Dense, shape, data, None)?;
        let bytes = row_stride
            .checked_mul(size_of::<T>())
            .and_then(|bytes| i64::try_from(bytes).ok())
            .ok_or_else(|| refuse(format!("stride {row_stride} is too large")))?;
        array.row_stride_bytes = Some(bytes);
        array.bytes = rows * item * size_of::<T>();
        Ok(array)
    }

    /// Samples of different length, stored contiguously. Sample i is items `offsets[i] .. offsets[i + 1]`,
    /// each of `item_shape` (`&[]`: scalars).
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] if `data` ends with a partial item, or if `offsets` do not ascend from 0 to
    /// the item count.
    pub fn ragged<T: Element>(
        name: &str,
        data: &'a [T],
        item_shape: &[usize],
        offsets: &'a [i64],
    ) -> Result<Array<'a>> {
        let refuse = |text: String| Error::new(Code::InvalidArgument, format!("field '{name}': {text}"));
        let item = item_shape.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim)).unwrap_or(0);
        if item == 0 || data.len() % item != 0 {
            return Err(refuse(format!("expected whole items of {item_shape:?}, got {} values", data.len())));
        }
        let items = data.len() / item;
        let end = ffi::length(items)?;
        if offsets.first() != Some(&0)
            || offsets.last() != Some(&end)
            || offsets.windows(2).any(|two| two[0] > two[1])
        {
            return Err(refuse(format!("expected offsets that ascend from 0 to {items}")));
        }
        let shape: Vec<usize> = std::iter::once(items).chain(item_shape.iter().copied()).collect();
        Array::new(name, Kind::Ragged, &shape, data, Some(offsets))
    }

    fn new<T: Element>(
        name: &str,
        kind: Kind,
        shape: &[usize],
        data: &'a [T],
        offsets: Option<&'a [i64]>,
    ) -> Result<Array<'a>> {
        Ok(Array {
            name: ffi::c_text("name", name)?,
            kind,
            dtype: T::DTYPE.number(),
            shape: shape.iter().map(|&dim| ffi::length(dim)).collect::<Result<_>>()?,
            axes: None,
            data: data.as_ptr().cast(),
            bytes: size_of_val(data),
            row_stride_bytes: None,
            offsets,
            borrowed: PhantomData,
        })
    }

    /// Names the dims of one sample, one letter each: `"HWC"`.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] for text with a NUL byte.
    pub fn with_axes(mut self, axes: &str) -> Result<Array<'a>> {
        self.axes = Some(ffi::c_text("axes", axes)?);
        Ok(self)
    }

    /// The bytes of all samples.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The library's form of the array; points into `self`.
    pub(crate) fn raw(&self) -> Result<sys::dl_array> {
        Ok(sys::dl_array {
            struct_size: ffi::size::<sys::dl_array>(),
            kind: match (self.kind, self.row_stride_bytes) {
                (Kind::Ragged, _) => sys::DL_KIND_RAGGED,
                (Kind::Dense, None) => sys::DL_KIND_DENSE,
                (Kind::Dense, Some(_)) => sys::DL_KIND_STRIDED,
            },
            name: self.name.as_ptr(),
            dtype: self.dtype,
            // The library refuses a rank above DL_MAX_RANK, so what does not fit may be any such number.
            rank: i32::try_from(self.shape.len()).unwrap_or(i32::MAX),
            shape: self.shape.as_ptr(),
            axes: self.axes.as_ref().map_or(ptr::null(), |axes| axes.as_ptr()),
            data: self.data,
            row_stride_bytes: self.row_stride_bytes.unwrap_or(0),
            offsets: self.offsets.map_or(ptr::null(), <[i64]>::as_ptr),
            sample_count: self.offsets.map_or(Ok(0), |offsets| ffi::length(offsets.len() - 1))?,
        })
    }
}
