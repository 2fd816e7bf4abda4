//! Calls of the library: statuses and texts made Rust's.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Code, Error, Failure, Result};
use dataline_sys as sys;
use std::ffi::{CStr, CString};
use std::io;
use std::mem::{size_of, MaybeUninit};
use std::os::raw::c_char;
use std::ptr::addr_of_mut;
use std::sync::Arc;

/// Runs `call` with room for an error. Soft results come back as they are.
///
/// The room is not cleared: the library writes all of it when, and only when, the status is negative.
#[inline]
pub(crate) fn soft(call: impl FnOnce(*mut sys::dl_error) -> sys::dl_status) -> Result<sys::dl_status> {
    let mut room = MaybeUninit::<sys::dl_error>::uninit();
    let error = room.as_mut_ptr();
    // SAFETY: the member is within `room`.
    unsafe { addr_of_mut!((*error).struct_size).write(size_of::<sys::dl_error>() as u32) };
    let status = call(error);
    if status < 0 {
        // SAFETY: after a negative status the members are written and the message is NUL-terminated.
        return Err(unsafe { failure(error) });
    }
    Ok(status)
}

/// Runs `call`, whose soft results are errors here.
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
unsafe fn failure(error: *const sys::dl_error) -> Error {
    // SAFETY: the caller says that the members are written.
    unsafe {
        let os_error = (*error).os_error;
        let column = (*error).column;
        let sample_index = (*error).sample_index;
        Error::from(Failure {
            code: Code::from_number((*error).code),
            message: text_of(std::ptr::addr_of!((*error).message).cast()),
            sample_index: if sample_index >= 0 { Some(sample_index) } else { None },
            column: u32::try_from(column).ok().filter(|&column| column > 0),
            os_error: if os_error != 0 {
                Some(Arc::new(io::Error::from_raw_os_error(os_error)))
            } else {
                None
            },
        })
    }
}

/// A text of the library's own tables, which is never freed.
///
/// # Safety
/// NUL-terminated, and never freed.
pub(crate) unsafe fn text(from: *const c_char) -> &'static str {
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

/// A text for the library.
pub(crate) fn c_text(what: &str, value: &str) -> Result<CString> {
    CString::new(value).map_err(|refused| {
        let at = refused.nul_position();
        Error::new(
            Code::InvalidArgument,
            format!("{what}: expected text without a NUL byte, got one at {at}"),
        )
    })
}

/// A length for the library.
pub(crate) fn length(count: usize) -> Result<i64> {
    let limit = || Error::new(Code::InvalidArgument, format!("length: expected less than 2^63, got {count}"));
    i64::try_from(count).map_err(|_| limit())
}

/// A count for the library, of `what`.
pub(crate) fn count(what: &str, count: usize) -> Result<i32> {
    let limit = || Error::new(Code::InvalidArgument, format!("{what}: expected less than 2^31, got {count}"));
    i32::try_from(count).map_err(|_| limit())
}

/// `len` items at `data`, which may be NULL when there are none.
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

/// Views borrowed from the library, as a sequence. Each is as long as the first says: a later library may have longer ones.
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
            // SAFETY: the promise of `new`; the views before this one have the size that the first says.
            unsafe { &*self.first.cast::<u8>().add(index * (*self.first).struct_size as usize).cast() }
        })
    }
}

/// `struct_size` of a struct.
pub(crate) fn size<T>() -> u32 {
    size_of::<T>() as u32
}
