//! Arrays borrowed by the library, and released once.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::Result;
use dataline_sys as sys;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Calls `lend` with the owner in its final place and with what gives it back. Where the call fails, the library did
/// not take the loan, and the owner is dropped here.
pub(crate) fn lend<T: Send + Sync + 'static, R>(
    owner: T,
    lend: impl FnOnce(&T, sys::dl_release, *mut c_void) -> Result<R>,
) -> Result<R> {
    let owner = Box::into_raw(Box::new(owner));
    // SAFETY: the box is not touched until it is released.
    let done = lend(unsafe { &*owner }, Some(give_back::<T>), owner.cast());
    if done.is_err() {
        // SAFETY: the library does not call `release` after a failure.
        drop(unsafe { Box::from_raw(owner) });
    }
    done
}

/// # Safety
/// `context` is a `Box<T>` that nobody uses any more.
pub(crate) unsafe extern "C" fn give_back<T>(context: *mut c_void) {
    // SAFETY: the caller's promise.
    no_panic(|| drop(unsafe { Box::from_raw(context.cast::<T>()) }));
}

/// Runs what the library calls: a panic must not pass through it. What was thrown is not even dropped, for that might
/// panic again.
pub(crate) fn no_panic(run: impl FnOnce()) {
    if let Err(thrown) = catch_unwind(AssertUnwindSafe(run)) {
        std::mem::forget(thrown);
    }
}
