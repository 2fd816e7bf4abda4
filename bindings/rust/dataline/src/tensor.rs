//! Views of a batch's fields.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::strides::{packed, product};
use crate::{ffi, Code, DType, Device, Element, Error, Kind, Result};
use dataline_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::mem::align_of;
use std::os::raw::c_void;

/// One field of a batch, without a copy; lives as long as the batch.
///
/// Dense: the first dim is the rows of the batch. Ragged (samples of different length): the items of all
/// rows, stored contiguously. Row i is items `offsets[i] .. offsets[i + 1]`.
#[derive(Clone, Copy)]
pub struct Tensor<'b> {
    pub(crate) view: &'b sys::dl_view,
    pub(crate) samples: usize,
}

// SAFETY: a part of a batch, which nobody writes to while it is borrowed.
unsafe impl Send for Tensor<'_> {}
// SAFETY: as above.
unsafe impl Sync for Tensor<'_> {}

impl<'b> Tensor<'b> {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &'b str {
        // SAFETY: the text lives as long as the batch.
        unsafe { CStr::from_ptr(self.view.name) }.to_str().unwrap_or("?")
    }

    /// Dense or ragged.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.view.kind == sys::DL_KIND_RAGGED {
            Kind::Ragged
        } else {
            Kind::Dense
        }
    }

    /// The type of its items.
    #[must_use]
    pub fn dtype(&self) -> DType {
        DType::from_number(self.view.dtype)
    }

    /// The dims. The first is the rows (dense) or the items of all rows (ragged).
    #[must_use]
    pub fn shape(&self) -> &'b [i64] {
        // SAFETY: `rank` dims, which live as long as the batch.
        unsafe { ffi::slice(self.view.shape, self.rank()) }
    }

    /// The distance in items from one index of a dim to the next.
    #[must_use]
    pub fn strides(&self) -> &'b [i64] {
        // SAFETY: as for the shape.
        unsafe { ffi::slice(self.view.strides, self.rank()) }
    }

    fn rank(&self) -> usize {
        usize::try_from(self.view.rank).unwrap_or(0)
    }

    /// One letter per dim (`"NHWC"`), or `""` if unknown.
    #[must_use]
    pub fn axes(&self) -> &'b str {
        if self.view.axes.is_null() {
            return "";
        }
        // SAFETY: the text lives as long as the batch.
        unsafe { CStr::from_ptr(self.view.axes) }.to_str().unwrap_or("")
    }

    /// Ragged: where each row starts, and the end of the last row. One more than rows.
    #[must_use]
    pub fn offsets(&self) -> Option<&'b [i64]> {
        // SAFETY: `samples + 1` of them, which live as long as the batch.
        (!self.view.offsets.is_null()).then(|| unsafe { ffi::slice(self.view.offsets, self.samples + 1) })
    }

    /// Whether it shares bytes with another field of the batch.
    #[must_use]
    pub fn is_overlapping(&self) -> bool {
        self.view.flags & sys::DL_VIEW_OVERLAPPING != 0
    }

    /// Whether it must not be written to, for consumers of its DLPack tensor.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.view.flags & sys::DL_VIEW_READ_ONLY != 0
    }

    /// Whether its memory is page-locked.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.view.flags & sys::DL_VIEW_PINNED != 0
    }

    /// The device of its memory.
    #[must_use]
    pub fn device(&self) -> Device {
        Device::of(self.view.device_type, self.view.device_index)
    }

    /// The first item, on its device; for the ABI of another library. Lives as long as the batch. On a
    /// device, call [`Batch::wait`](crate::Batch::wait) before reading it in a stream.
    #[must_use]
    pub fn as_ptr(&self) -> *const c_void {
        self.first().cast()
    }

    /// Rows of the batch, including pads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.samples
    }

    /// Whether the batch has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// Whether its items are contiguous in C order.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        packed(self.shape(), self.strides())
    }

    /// All items.
    ///
    /// # Errors
    /// [`Code::Mismatch`] if they are not `T`. [`Code::Unsupported`] if they are not contiguous (then see
    /// [`Tensor::row`]), or on a device, as for every call that returns slices.
    pub fn as_slice<T: Element>(&self) -> Result<&'b [T]> {
        self.first_byte()?;
        if !self.is_packed() {
            let text =
                format!("strides are {:?} for the shape {:?}: use its rows", self.strides(), self.shape());
            return Err(self.refuse(Code::Unsupported, &text));
        }
        self.items(0, product(self.shape()))
    }

    /// From the first item to the last, including the gaps between rows that are not contiguous. Item
    /// `[i, j, ...]` of the shape is at `i * strides[0] + j * strides[1] + ...`. For code that supports
    /// strides.
    ///
    /// # Errors
    /// [`Code::Mismatch`] if the items are not `T`.
    pub fn span<T: Element>(&self) -> Result<&'b [T]> {
        let shape = self.shape();
        if shape.contains(&0) {
            return self.items(0, 0);
        }
        let last = shape.iter().zip(self.strides()).map(|(&dim, &stride)| (dim - 1) * stride).sum::<i64>();
        self.items(0, last as usize + 1)
    }

    /// All bytes, whatever the type; native byte order.
    ///
    /// # Errors
    /// [`Code::Unsupported`] as for [`Tensor::as_slice`].
    pub fn bytes(&self) -> Result<&'b [u8]> {
        let first = self.first_byte()?;
        if !self.is_packed() {
            return Err(self.refuse(Code::Unsupported, "its bytes are not contiguous: use its rows"));
        }
        // SAFETY: the product of the shape in items, which live as long as the batch.
        Ok(unsafe { ffi::slice(first, product(self.shape()) * self.dtype().bytes()) })
    }

    /// The items of row `row`.
    ///
    /// # Errors
    /// [`Code::OutOfRange`] for a row past the end; [`Code::Mismatch`] if the items are not `T`.
    pub fn row<T: Element>(&self, row: usize) -> Result<&'b [T]> {
        self.first_byte()?;
        let (from, count) = self.extent(row)?;
        self.items(from, count)
    }

    /// The bytes of row `row`, whatever the type; native byte order.
    ///
    /// # Errors
    /// [`Code::OutOfRange`] for a row past the end.
    pub fn row_bytes(&self, row: usize) -> Result<&'b [u8]> {
        let first = self.first_byte()?;
        let (from, count) = self.extent(row)?;
        let item = self.dtype().bytes();
        // SAFETY: within what shape, strides and offsets describe, which lives as long as the batch.
        Ok(unsafe { ffi::slice(first.wrapping_add(from * item), count * item) })
    }

    /// Where the items of a row start, and their count.
    fn extent(&self, row: usize) -> Result<(usize, usize)> {
        if row >= self.samples {
            return Err(
                self.refuse(Code::OutOfRange, &format!("row {row}: expected less than {}", self.samples))
            );
        }
        let (item_shape, item_strides) = (self.shape().get(1..), self.strides().get(1..));
        let (item_shape, item_strides) = (item_shape.unwrap_or(&[]), item_strides.unwrap_or(&[]));
        if !packed(item_shape, item_strides) {
            return Err(self.refuse(Code::Unsupported, "the items of a row are not contiguous"));
        }
        let item = product(item_shape);
        Ok(match self.offsets() {
            Some(offsets) => {
                let (begin, end) = (offsets[row] as usize, offsets[row + 1] as usize);
                (begin * item, (end - begin) * item)
            }
            None => (row * self.strides()[0] as usize, item),
        })
    }

    /// The rows, in order.
    ///
    /// # Errors
    /// As for [`Tensor::row`].
    pub fn rows<T: Element>(self) -> Result<impl ExactSizeIterator<Item = &'b [T]>> {
        self.first_byte()?;
        // What can be refused is refused for all rows alike.
        if self.samples > 0 {
            self.row::<T>(0)?;
        }
        Ok((0..self.samples).map(move |row| self.row::<T>(row).unwrap_or(&[])))
    }

    fn items<T: Element>(&self, from: usize, count: usize) -> Result<&'b [T]> {
        if !T::sees(self.dtype()) {
            return Err(
                self.refuse(Code::Mismatch, &format!("items are {}, expected {}", self.dtype(), T::DTYPE))
            );
        }
        let first = self.first_byte()?.cast::<T>();
        if first as usize % align_of::<T>() != 0 {
            let text = format!("data is at {first:p}, expected a multiple of {}", align_of::<T>());
            return Err(self.refuse(Code::Unsupported, &text));
        }
        // SAFETY: within what shape, strides and offsets describe, which lives as long as the batch; any bytes are a
        // value of `T`. Nobody writes to a borrowed batch.
        Ok(unsafe { ffi::slice(first.wrapping_add(from), count) })
    }

    /// The first byte, if the host may read it; an error for memory of a device.
    fn first_byte(&self) -> Result<*const u8> {
        if self.device() != Device::Cpu {
            let text = format!(
                "it is on {}, not in host memory; give as_ptr(), after Batch::wait, or Batch::dlpack to what runs \
                 there, or load with device=cpu",
                self.device()
            );
            return Err(self.refuse(Code::Unsupported, &text));
        }
        Ok(self.first())
    }

    fn first(&self) -> *const u8 {
        let data: *const u8 = self.view.data.cast();
        data.wrapping_add(self.view.byte_offset as usize)
    }

    #[cold]
    fn refuse(&self, code: Code, text: &str) -> Error {
        Error::new(code, format!("field '{}': {text}", self.name()))
    }
}

impl fmt::Debug for Tensor<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}{:?}", self.name(), self.dtype(), self.shape())
    }
}
