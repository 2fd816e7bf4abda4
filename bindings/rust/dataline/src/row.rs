//! The row that an operator makes.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, DType, Element, ExtensionError, Field, Kind};
use dataline_sys as sys;
use std::fmt;
use std::mem::size_of;
use std::ptr;

/// The input and the output field.
pub(crate) struct Shown {
    input: DType,
    output: DType,
    ragged: bool,
}

impl Shown {
    pub(crate) fn of(input: &Field, output: &Field) -> Shown {
        Shown { input: input.dtype, output: output.dtype, ragged: output.kind == Kind::Ragged }
    }
}

/// A row for [`Operator::apply`](crate::Operator::apply): its input, and space for its output. A dense output
/// must be filled completely.
pub struct OperatorRow<'a> {
    row: &'a mut sys::dl_operator_row,
    shown: &'a Shown,
    filled: bool,
}

impl<'a> OperatorRow<'a> {
    /// # Safety
    /// The row of a callback, which lives for `'a`, for a use with these fields.
    pub(crate) unsafe fn new(row: &'a mut sys::dl_operator_row, shown: &'a Shown) -> OperatorRow<'a> {
        OperatorRow { row, shown, filled: false }
    }

    /// The input's bytes, at any alignment.
    #[must_use]
    pub fn input(&self) -> &'a [u8] {
        let count = usize::try_from(self.row.input_bytes).unwrap_or(0);
        // SAFETY: promised to new(); the output is elsewhere.
        unsafe { ffi::slice(self.row.input.cast::<u8>(), count) }
    }

    /// The input's items.
    ///
    /// # Errors
    /// The items have another type; return the error with `?`.
    pub fn items<T: Element>(&self) -> Result<impl ExactSizeIterator<Item = T> + 'a, ExtensionError> {
        expect::<T>("input", self.shown.input)?;
        // SAFETY: as many bytes as a T has, of which any are a value.
        let item = |bytes: &[u8]| unsafe { ptr::read_unaligned(bytes.as_ptr().cast::<T>()) };
        Ok(self.input().chunks_exact(size_of::<T>()).map(item))
    }

    /// Writes the output. Ragged: if it exceeds the space, the sample is bad, with code `TooLarge`.
    ///
    /// # Errors
    /// A wrong type or number of items; return the error with `?`.
    pub fn put<T: Element>(&mut self, items: impl IntoIterator<Item = T>) -> Result<(), ExtensionError> {
        expect::<T>("output", self.shown.output)?;
        let mut written = 0;
        let room = self.output();
        let expected = room.len();
        let mut cells = room.chunks_exact_mut(size_of::<T>());
        for item in items {
            if let Some(cell) = cells.next() {
                // SAFETY: room for a T.
                unsafe { ptr::write_unaligned(cell.as_mut_ptr().cast(), item) };
            }
            written += size_of::<T>();
        }
        if self.shown.ragged {
            self.set_bytes(written);
        } else if written != expected {
            return Err(format!("expected {expected} bytes of output, got {written}").into());
        }
        Ok(())
    }

    /// The space for the output, to write directly, at any alignment. Its initial contents are unspecified.
    /// Dense: the sample's bytes. Ragged: all the space; set the used bytes with
    /// [`set_bytes`](OperatorRow::set_bytes).
    #[must_use]
    pub fn output(&mut self) -> &mut [u8] {
        let room = if self.shown.ragged { self.row.capacity } else { self.row.bytes };
        let room = usize::try_from(room).unwrap_or(0);
        self.filled = true;
        if room == 0 {
            return &mut [];
        }
        // SAFETY: promised to new(): room that nobody else accesses during the call.
        unsafe { std::slice::from_raw_parts_mut(self.row.output.cast::<u8>(), room) }
    }

    /// Ragged: sets the bytes written. If they exceed the space, the sample is too large. No effect on a
    /// dense output.
    pub fn set_bytes(&mut self, bytes: usize) {
        if self.shown.ragged {
            self.row.bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        }
    }

    /// The row's place in the epoch's order.
    #[must_use]
    pub fn slot(&self) -> i64 {
        self.row.slot
    }

    /// The epoch.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.row.epoch
    }

    /// The loader's seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.row.seed
    }

    /// Draw `number` of this operator for this row: 64 random bits. It depends only on seed, epoch, slot, the
    /// operator's position in the transform and the number. Set
    /// [`OperatorUse::draws`](crate::OperatorUse::draws) when using it.
    #[must_use]
    pub fn random(&self, number: u32) -> u64 {
        // SAFETY: the row of this call.
        unsafe { sys::dl_operator_random(&*self.row, i64::from(number)) }
    }

    /// Checks for missing output after an operator has returned.
    pub(crate) fn finished(&self) -> Result<(), ExtensionError> {
        if self.filled || self.shown.ragged || self.row.bytes == 0 {
            return Ok(());
        }
        Err("the output was not filled".into())
    }
}

fn expect<T: Element>(what: &str, dtype: DType) -> Result<(), ExtensionError> {
    if T::sees(dtype) {
        return Ok(());
    }
    Err(format!("{what}: expected {dtype}, got {}", T::DTYPE).into())
}

impl fmt::Debug for OperatorRow<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OperatorRow")
            .field("slot", &self.slot())
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}
