//! Arrays borrowed by the library, and released once.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::Result;
use dataline_sys as sys;
use std::any::Any;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Calls `lend` with the owner at its final address and with the function that releases it. If the call
/// fails, the library has not taken the loan, and the owner is dropped here.
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
/// `context` is a `Box<T>` that is no longer used.
pub(crate) unsafe extern "C" fn give_back<T>(context: *mut c_void) {
    // SAFETY: the caller's promise.
    no_panic(|| drop(unsafe { Box::from_raw(context.cast::<T>()) }));
}

/// The text of a panic. A payload that is not text is not dropped, because its drop might panic too.
pub(crate) fn panic_text(thrown: Box<dyn Any + Send>) -> String {
    let text = match thrown.downcast::<String>() {
        Ok(text) => *text,
        Err(thrown) => match thrown.downcast::<&str>() {
            Ok(text) => (*text).to_owned(),
            Err(thrown) => {
                std::mem::forget(thrown);
                "no text".to_owned()
            }
        },
    };
    format!("panicked: {text}")
}

/// Runs a callback of the library: a panic must not unwind through the library.
pub(crate) fn no_panic(run: impl FnOnce()) {
    if let Err(thrown) = catch_unwind(AssertUnwindSafe(run)) {
        panic_text(thrown);
    }
}
