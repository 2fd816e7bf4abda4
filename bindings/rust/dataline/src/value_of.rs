//! Structs that the library fills, as values: each member in the type that it has in Rust.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code, Result};
use dataline_sys as sys;
use std::os::raw::c_char;
use std::time::Duration;

/// A value that the library fills as the struct `Raw`.
pub(crate) trait Filled: Sized {
    type Raw;

    /// An empty struct that states its size.
    fn blank() -> Self::Raw;

    /// # Safety
    /// The texts of `raw` are live.
    unsafe fn of(raw: &Self::Raw) -> Self;
}

/// The value that `call` fills.
///
/// # Safety
/// `call` fills the struct, and its texts stay live until this returns.
pub(crate) unsafe fn filled<T: Filled>(
    call: impl FnOnce(*mut T::Raw, *mut sys::dl_error) -> sys::dl_status,
) -> Result<T> {
    let mut raw = T::blank();
    ffi::hard(|error| call(&mut raw, error))?;
    // SAFETY: the caller's promise.
    Ok(unsafe { T::of(&raw) })
}

/// Reads a member of type `C`.
pub(crate) trait Reads<C> {
    /// # Safety
    /// A text is NULL, or NUL-terminated and live.
    unsafe fn read(from: &C) -> Self;
}

macro_rules! reads {
    ($($c:ty as $type:ty: $from:ident => $value:expr;)*) => {
        $(impl Reads<$c> for $type {
            unsafe fn read($from: &$c) -> $type {
                $value
            }
        })*
    };
}

reads! {
    i32 as i32: from => *from;
    i64 as i64: from => *from;
    f64 as f64: from => *from;
    i32 as bool: from => *from != 0;
    i32 as Code: from => Code::from_number(*from);
    i64 as Duration: from => Duration::from_nanos(u64::try_from(*from).unwrap_or(0));
    i64 as Option<i64>: from => Some(*from).filter(|&number| number >= 0);
    // SAFETY: the caller's promise.
    *const c_char as String: from => unsafe { ffi::text_of(*from) };
}

impl<const N: usize> Reads<[c_char; N]> for String {
    unsafe fn read(from: &[c_char; N]) -> String {
        // SAFETY: the library ends its texts with a NUL.
        unsafe { ffi::text_of(from.as_ptr()) }
    }
}
