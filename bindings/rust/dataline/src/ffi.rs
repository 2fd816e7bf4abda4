//! Calls of the library: converts statuses and texts to Rust.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Code, Error, Failure, Result};
use dataline_sys as sys;
use std::ffi::{CStr, CString};
use std::io;
use std::mem::size_of;
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// Runs `call` with space for an error. Returns soft results unchanged.
///
/// The space is initialised as `DL_ERROR_INIT` does: a library of another release may know fewer members, and
/// then writes only those.
#[inline]
pub(crate) fn soft(call: impl FnOnce(*mut sys::dl_error) -> sys::dl_status) -> Result<sys::dl_status> {
    let mut error =
        sys::dl_error { struct_size: size::<sys::dl_error>(), sample_index: -1, ..Default::default() };
    let status = call(&mut error);
    if status < 0 {
        return Err(failure(&error));
    }
    Ok(status)
}

/// Runs `call`; soft results become errors.
pub(crate) fn hard(call: impl FnOnce(*mut sys::dl_error) -> sys::dl_status) -> Result<()> {
    match soft(call)? {
        sys::DL_OK => Ok(()),
        status => Err(soft_error(status)),
    }
}

pub(crate) fn soft_error(status: sys::dl_status) -> Error {
    match status {
        sys::DL_CANCELLED => Error::Cancelled,
        sys::DL_INTERRUPTED => Error::Interrupted,
        other => Error::new(Code::Internal, format!("unexpected status {other}")),
    }
}

#[cold]
fn failure(error: &sys::dl_error) -> Error {
    Error::from(Failure {
        code: Code::from_number(error.code),
        // SAFETY: of the room's zeros the library leaves the last one.
        message: unsafe { text_of(error.message.as_ptr()) },
        sample_index: Some(error.sample_index).filter(|&index| index >= 0),
        column: u32::try_from(error.column).ok().filter(|&column| column > 0),
        os_error: Some(error.os_error)
            .filter(|&number| number != 0)
            .map(|number| Arc::new(io::Error::from_raw_os_error(number))),
    })
}

/// A text of the library tables, which is never freed, or of the tables of extensions.
///
/// # Safety
/// NUL-terminated, and alive for `'a`.
pub(crate) unsafe fn text<'a>(from: *const c_char) -> &'a str {
    if from.is_null() {
        return "";
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(from) }.to_str().unwrap_or("?")
}

/// A copy of a text borrowed from the library.
///
/// # Safety
/// NUL-terminated, and alive during the call.
pub(crate) unsafe fn text_of(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

/// The text of `call(room, bytes, error)`, which follows the protocol of `dl_loader_state_save`.
pub(crate) fn text_from(
    mut call: impl FnMut(*mut c_char, &mut usize, *mut sys::dl_error) -> sys::dl_status,
) -> Result<String> {
    let mut bytes = 0;
    hard(|error| call(std::ptr::null_mut(), &mut bytes, error))?;
    loop {
        let mut text = vec![0u8; bytes];
        let written = hard(|error| call(text.as_mut_ptr().cast(), &mut bytes, error));
        if written.is_err() && bytes > text.len() {
            continue; // the text has grown since its length was returned
        }
        written?;
        text.truncate(bytes.saturating_sub(1)); // the NUL
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
}

/// Converts a text for the library.
pub(crate) fn c_text(what: &str, value: &str) -> Result<CString> {
    CString::new(value).map_err(|refused| {
        let at = refused.nul_position();
        Error::new(
            Code::InvalidArgument,
            format!("{what}: expected text without a NUL byte, got one at {at}"),
        )
    })
}

/// Converts a path for the library.
pub(crate) fn c_path(what: &str, path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|refused| {
        let at = refused.nul_position();
        Error::new(
            Code::InvalidArgument,
            format!("{what}: expected a path without a NUL byte, got one at {at}"),
        )
    })
}

/// Converts a length for the library.
pub(crate) fn length(count: usize) -> Result<i64> {
    let limit = || Error::new(Code::InvalidArgument, format!("length: expected less than 2^63, got {count}"));
    i64::try_from(count).map_err(|_| limit())
}

/// Converts a count of `what` for the library.
pub(crate) fn count(what: &str, count: usize) -> Result<i32> {
    let limit = || Error::new(Code::InvalidArgument, format!("{what}: expected less than 2^31, got {count}"));
    i32::try_from(count).map_err(|_| limit())
}

/// `len` items at `data`, which may be NULL if there are none.
///
/// # Safety
/// As for `slice::from_raw_parts`, but for NULL.
pub(crate) unsafe fn slice<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if data.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(data, count) }
}

/// Views borrowed from the library, as a sequence. The first view states the size of each: a later library
/// may have longer ones.
#[derive(Clone, Copy)]
pub(crate) struct Views<'a> {
    first: *const sys::dl_view,
    count: usize,
    lives: std::marker::PhantomData<&'a sys::dl_view>,
}

impl<'a> Views<'a> {
    /// # Safety
    /// `count` views at `first` that live for `'a`.
    pub(crate) unsafe fn new(first: *const sys::dl_view, count: i32) -> Views<'a> {
        let count = if first.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
        Views { first, count, lives: std::marker::PhantomData }
    }

    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = &'a sys::dl_view> {
        (0..self.count).map(move |index| {
            // SAFETY: the promise of `new`; the views before this one have the size that the first one states.
            unsafe { &*self.first.cast::<u8>().add(index * (*self.first).struct_size as usize).cast() }
        })
    }
}

/// `struct_size` of a struct.
pub(crate) fn size<T>() -> u32 {
    size_of::<T>() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaves other numbers in the stack space of the next call's locals.
    #[inline(never)]
    fn used_stack() -> u64 {
        let used = [0xA5A5_A5A5_A5A5_A5A5u64; 512];
        // SAFETY: a live local; volatile, so that it is written.
        let used = unsafe { std::ptr::read_volatile(&used) };
        used.iter().fold(0, |sum, number| sum ^ number)
    }

    /// Acts like a library whose `dl_error` ends after the code.
    fn code_alone(error: *mut sys::dl_error) -> sys::dl_status {
        // SAFETY: the space that `soft` provides.
        unsafe { (*error).code = sys::DL_ERR_CORRUPT };
        sys::DL_ERR_CORRUPT
    }

    #[test]
    fn what_the_library_does_not_write_of_an_error_is_empty() {
        assert_eq!(used_stack(), 0);
        let error = soft(code_alone).unwrap_err();
        assert_eq!(error.code(), Code::Corrupt);
        assert_eq!(error.message(), "");
        assert_eq!(error.sample_index(), None);
        assert_eq!(error.column(), None);
        assert!(std::error::Error::source(&error).is_none());
    }
}
