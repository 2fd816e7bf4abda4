//! The record that a source fills.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Element, Field, Kind, SourceError};
use dataline_sys as sys;
use std::mem::size_of_val;
use std::ptr;

/// One record, to be filled by [`Source::read`](crate::Source::read): each dense field wholly, ragged ones with any
/// number of items (none when left alone).
#[derive(Debug)]
pub struct Record<'r> {
    pub(crate) fields: &'r [Field],
    pub(crate) cells: &'r mut [sys::dl_reader_cell],
    pub(crate) filled: &'r mut [bool],
}

impl Record<'_> {
    /// Copies `values` into field number `field`. Ragged: more than its share of a slot makes the sample a bad one, of
    /// code `TooLarge`.
    ///
    /// # Errors
    /// A wrong type or number of items; pass it on with `?`.
    pub fn put<T: Element>(&mut self, field: usize, values: &[T]) -> Result<(), SourceError> {
        let about = self.about(field)?;
        if !T::sees(about.dtype) {
            return Err(format!("field '{}': expected {}, got {}", about.name, about.dtype, T::DTYPE).into());
        }
        self.put_raw(field, values.as_ptr().cast(), size_of_val(values))
    }

    /// Copies bytes into field number `field`, whatever its type; native byte order.
    ///
    /// # Errors
    /// A wrong number of bytes; pass it on with `?`.
    pub fn put_bytes(&mut self, field: usize, bytes: &[u8]) -> Result<(), SourceError> {
        self.put_raw(field, bytes.as_ptr(), bytes.len())
    }

    fn put_raw(&mut self, field: usize, from: *const u8, bytes: usize) -> Result<(), SourceError> {
        let about = self.about(field)?;
        let cell = &self.cells[field];
        let room = usize::try_from(cell.capacity)?;
        if about.kind == Kind::Dense && bytes != room {
            return Err(format!("field '{}': expected {room} bytes, got {bytes}", about.name).into());
        }
        if bytes <= room && bytes > 0 {
            // SAFETY: the cell has this room, and nobody else accesses it during the call.
            unsafe { ptr::copy_nonoverlapping(from, cell.data.cast::<u8>(), bytes) };
        }
        self.cells[field].bytes = i64::try_from(bytes)?;
        self.filled[field] = true;
        Ok(())
    }

    /// The bytes of dense field number `field`, to be written in place; what they hold before is not said.
    ///
    /// # Errors
    /// A ragged field; pass it on with `?`.
    pub fn bytes_mut(&mut self, field: usize) -> Result<&mut [u8], SourceError> {
        let about = self.about(field)?;
        if about.kind == Kind::Ragged {
            return Err(
                format!("field '{}' is ragged: its bytes are put, not written in place", about.name).into()
            );
        }
        let cell = &self.cells[field];
        let room = usize::try_from(cell.capacity)?;
        self.filled[field] = true;
        if room == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the cell has this room, and nobody else accesses it during the call.
        Ok(unsafe { std::slice::from_raw_parts_mut(cell.data.cast::<u8>(), room) })
    }

    fn about(&self, field: usize) -> Result<&Field, SourceError> {
        let count = self.fields.len();
        self.fields.get(field).ok_or_else(|| format!("field {field}: expected less than {count}").into())
    }

    /// What is missing after a source said that it was done.
    pub(crate) fn finished(&self) -> Result<(), SourceError> {
        let missing = |(field, filled): &(&Field, &bool)| field.kind == Kind::Dense && !**filled;
        match self.fields.iter().zip(self.filled.iter()).find(missing) {
            Some((field, _)) => Err(format!("field '{}' was not filled", field.name).into()),
            None => Ok(()),
        }
    }
}
