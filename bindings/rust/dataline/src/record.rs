//! The record that a source fills.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{CancelFlag, Element, Field, Kind, SourceError};
use dataline_sys as sys;
use std::fmt;
use std::mem::size_of_val;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicI32, Ordering};

trait Anything {}
impl<T> Anything for T {}

/// The owner of memory that a record lends. A raw pointer and not a box, because pointers to its contents are
/// in use.
pub(crate) struct Kept(NonNull<dyn Anything>);

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: of a box, in lend().
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// One record to fill, for [`Source::read`](crate::Source::read). Dense fields must be filled completely.
/// Ragged fields get any number of items (none if not set). `'s` is the minimum lifetime of the source, so
/// the source's own data can be lent.
pub struct Record<'s> {
    fields: &'s [Field],
    request: NonNull<sys::dl_reader_request>, // of a call of `read`, as long as this object
    at: usize,
    filled: Vec<bool>,
    kept: Vec<Kept>,
}

impl<'s> Record<'s> {
    /// # Safety
    /// `request` belongs to a call of `read` for records with these fields, and outlives the record.
    pub(crate) unsafe fn new(fields: &'s [Field], request: NonNull<sys::dl_reader_request>) -> Record<'s> {
        Record { fields, request, at: 0, filled: vec![false; fields.len()], kept: Vec::new() }
    }

    /// Continues with record number `at` of the call.
    pub(crate) fn begin(&mut self, at: usize) {
        self.at = at;
        self.filled.fill(false);
    }

    pub(crate) fn into_kept(self) -> Vec<Kept> {
        self.kept
    }

    pub(crate) fn fail(&mut self) {
        for field in 0..self.fields.len() {
            self.cell(field).status = 1;
        }
    }

    /// The sample's place in the epoch's order. Random draws should depend on it. A sample that replaces a
    /// bad one has the place of the bad one. `None` for a record that is read outside an epoch
    /// ([`Dataset::image_info`](crate::Dataset::image_info), the upload of `io=device`).
    #[must_use]
    pub fn slot(&self) -> Option<i64> {
        let request = self.request();
        // SAFETY: the call has a slot for each record.
        let slot = unsafe { *request.slots.add(self.at) };
        (slot >= 0).then_some(slot)
    }

    /// The epoch; `None` if there is no [`slot`](Record::slot).
    #[must_use]
    pub fn epoch(&self) -> Option<i64> {
        let epoch = self.request().epoch;
        (epoch >= 0).then_some(epoch)
    }

    /// The loader's seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.request().seed
    }

    /// True when the sample is no longer wanted: the loader is being dropped or was cancelled. The result of
    /// `read` is then ignored.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        is_cancelled(self.request())
    }

    /// The same, for [`File::read_at_unless`](crate::File::read_at_unless).
    #[must_use]
    pub fn cancel_flag(&self) -> CancelFlag<'_> {
        // SAFETY: an i32 that the library sets atomically, and that lives for the call.
        unsafe { CancelFlag::new(self.request().cancelled) }
    }

    /// Copies `values` into field number `field`. Ragged: if they exceed the space, the sample is bad, with
    /// code `TooLarge`.
    ///
    /// # Errors
    /// A wrong type or number of items; return the error with `?`.
    pub fn put<T: Element>(&mut self, field: usize, values: &[T]) -> Result<(), SourceError> {
        self.expect::<T>(field)?;
        self.put_raw(field, values.as_ptr().cast(), size_of_val(values))
    }

    /// Copies bytes into field number `field`, whatever its type; native byte order.
    ///
    /// # Errors
    /// A wrong number of bytes; return the error with `?`.
    pub fn put_bytes(&mut self, field: usize, bytes: &[u8]) -> Result<(), SourceError> {
        self.put_raw(field, bytes.as_ptr(), bytes.len())
    }

    /// Like [`put`](Record::put), but without the copy: the library converts directly from `values`, which
    /// the source owns, or which have a static lifetime.
    ///
    /// # Errors
    /// As [`put`](Record::put).
    pub fn borrow<T: Element>(&mut self, field: usize, values: &'s [T]) -> Result<(), SourceError> {
        self.expect::<T>(field)?;
        self.lend_raw(field, values.as_ptr().cast(), size_of_val(values))
    }

    /// Like [`put`](Record::put), but without the copy: the library converts directly from `owner`'s values.
    /// `owner` is dropped afterwards, by the thread that calls `read`; a panic in its drop is caught.
    ///
    /// # Errors
    /// As [`put`](Record::put).
    pub fn lend<T: Element, O: AsRef<[T]> + 'static>(
        &mut self,
        field: usize,
        owner: O,
    ) -> Result<(), SourceError> {
        self.expect::<T>(field)?;
        let owner = NonNull::from(Box::leak(Box::new(owner)));
        self.kept.push(Kept(owner));
        // SAFETY: it stays there untouched until it is dropped, when the rows are made.
        let values = unsafe { owner.as_ref() }.as_ref();
        let (from, bytes) = (values.as_ptr().cast(), size_of_val(values));
        self.lend_raw(field, from, bytes)
    }

    fn put_raw(&mut self, field: usize, from: *const u8, bytes: usize) -> Result<(), SourceError> {
        let room = self.fit(field, bytes)?;
        let cell = self.cell(field);
        if bytes <= room && bytes > 0 {
            // SAFETY: the cell has this room, and nobody else accesses it during the call.
            unsafe { ptr::copy_nonoverlapping(from, cell.data.cast::<u8>(), bytes) };
        }
        self.set(field, bytes, ptr::null())
    }

    fn lend_raw(&mut self, field: usize, from: *const u8, bytes: usize) -> Result<(), SourceError> {
        self.fit(field, bytes)?;
        self.set(field, bytes, if bytes > 0 { from } else { ptr::null() })
    }

    fn set(&mut self, field: usize, bytes: usize, borrowed: *const u8) -> Result<(), SourceError> {
        let cell = self.cell(field);
        cell.bytes = i64::try_from(bytes)?;
        cell.borrowed = borrowed.cast();
        self.filled[field] = true;
        Ok(())
    }

    /// The space of the field; checks that these bytes fill it if it is dense.
    fn fit(&mut self, field: usize, bytes: usize) -> Result<usize, SourceError> {
        let about = self.about(field)?;
        let room = usize::try_from(self.cell(field).capacity)?;
        if about.kind == Kind::Dense && bytes != room {
            return Err(format!("field '{}': expected {room} bytes, got {bytes}", about.name).into());
        }
        Ok(room)
    }

    fn expect<T: Element>(&self, field: usize) -> Result<(), SourceError> {
        let about = self.about(field)?;
        if T::sees(about.dtype) {
            return Ok(());
        }
        Err(format!("field '{}': expected {}, got {}", about.name, about.dtype, T::DTYPE).into())
    }

    /// The bytes of dense field number `field`, to write directly. Their initial contents are unspecified.
    ///
    /// # Errors
    /// A ragged field; return the error with `?`.
    pub fn bytes_mut(&mut self, field: usize) -> Result<&mut [u8], SourceError> {
        let about = self.about(field)?;
        if about.kind == Kind::Ragged {
            return Err(format!("field '{}' is ragged: write it with put, not directly", about.name).into());
        }
        let cell = self.cell(field);
        let room = usize::try_from(cell.capacity)?;
        let data = cell.data.cast::<u8>();
        cell.borrowed = ptr::null();
        self.filled[field] = true;
        if room == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the cell has this room, and nobody else accesses it during the call.
        Ok(unsafe { std::slice::from_raw_parts_mut(data, room) })
    }

    fn request(&self) -> &sys::dl_reader_request {
        // SAFETY: promised to new().
        unsafe { self.request.as_ref() }
    }

    /// Field number `field` of this record. The library states the distance between cells: later libraries
    /// may have longer ones.
    fn cell(&mut self, field: usize) -> &mut sys::dl_reader_cell {
        let request = self.request();
        let number = self.at * self.fields.len() + field;
        let step = usize::try_from(request.cell_bytes).unwrap_or(0);
        // SAFETY: the call has a cell for each field of each record, which nobody else accesses meanwhile.
        unsafe { &mut *request.cells.cast::<u8>().add(number * step).cast::<sys::dl_reader_cell>() }
    }

    fn about(&self, field: usize) -> Result<&'s Field, SourceError> {
        let count = self.fields.len();
        self.fields.get(field).ok_or_else(|| format!("field {field}: expected less than {count}").into())
    }

    /// Checks for missing fields after a source has returned.
    pub(crate) fn finished(&self) -> Result<(), SourceError> {
        let missing = |(field, filled): &(&Field, &bool)| field.kind == Kind::Dense && !**filled;
        match self.fields.iter().zip(self.filled.iter()).find(missing) {
            Some((field, _)) => Err(format!("field '{}' was not filled", field.name).into()),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Record")
            .field("slot", &self.slot())
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}

pub(crate) fn is_cancelled(request: &sys::dl_reader_request) -> bool {
    // SAFETY: an i32 that the library sets atomically, and that lives for the call.
    unsafe { (*request.cancelled.cast::<AtomicI32>()).load(Ordering::Relaxed) != 0 }
}
