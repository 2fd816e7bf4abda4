//! Safe callbacks from the library: a panic ends here, and an error becomes a status with a message.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::lend::panic_text;
use crate::operator::WrongArgument;
use crate::{Code, Error, Options};
use dataline_sys as sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::io;
use std::mem::ManuallyDrop;
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicI32, Ordering};

/// The error of an extension. An [`Error`](crate::Error), for example from [`File`](crate::File) or
/// [`Error::new`](crate::Error::new), keeps its code. An [`io::Error`] becomes `NotFound`, `Permission` or
/// `Io`. Other errors become `BadTransform` in [`Operator::prepare`](crate::Operator::prepare) and `Reader`
/// elsewhere.
pub type ExtensionError = Box<dyn std::error::Error + Send + Sync>;

/// The error in the form that the library receives.
struct Told {
    code: Code,
    text: String,
    os_error: i32,
}

impl Told {
    /// The error is dropped here, where a panic is caught.
    fn of(error: ExtensionError, otherwise: Code) -> Told {
        if let Some(known) = error.downcast_ref::<Error>() {
            let os_error = known.failure().and_then(|failure| failure.os_error.as_ref()?.raw_os_error());
            let text = known.message().to_owned();
            return Told { code: known.code(), text, os_error: os_error.unwrap_or(0) };
        }
        let text = error.to_string();
        if let Some(system) = error.downcast_ref::<io::Error>() {
            let code = match system.kind() {
                io::ErrorKind::NotFound => Code::NotFound,
                io::ErrorKind::PermissionDenied => Code::Permission,
                _ => Code::Io,
            };
            return Told { code, text, os_error: system.raw_os_error().unwrap_or(0) };
        }
        let code = if error.is::<WrongArgument>() { Code::BadTransform } else { otherwise };
        Told { code, text, os_error: 0 }
    }
}

/// Returns the status of a callback, and writes its message to `error`. `otherwise`: the code of errors that
/// have none.
///
/// # Safety
/// `error` is the error that the library passed to this call.
pub(crate) unsafe fn answer(
    error: *mut sys::dl_error,
    otherwise: Code,
    run: impl FnOnce() -> Result<(), ExtensionError>,
) -> sys::dl_status {
    let told = match catch_unwind(AssertUnwindSafe(|| run().map_err(|error| Told::of(error, otherwise)))) {
        Ok(Ok(())) => return sys::DL_OK,
        Ok(Err(told)) => told,
        Err(thrown) => Told { code: Code::Reader, text: panic_text(thrown), os_error: 0 },
    };
    let text = CString::new(told.text.replace('\0', "?")).unwrap_or_default();
    // SAFETY: the library's error, and a live text.
    unsafe {
        let status = sys::dl_error_set(error, told.code.number(), text.as_ptr());
        if !error.is_null() {
            (*error).os_error = told.os_error;
        }
        status
    }
}

/// A text of the library that must be UTF-8.
///
/// # Safety
/// NUL-terminated, and alive for `'a`.
pub(crate) unsafe fn utf8<'a>(what: &str, from: *const c_char) -> Result<&'a str, Error> {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(from) };
    text.to_str().map_err(|_| {
        Error::new(Code::InvalidArgument, format!("{what} {text:?}: expected UTF-8, which this crate needs"))
    })
}

/// The caller's options, borrowed for a call.
///
/// # Safety
/// They outlive the result, and nobody changes them.
pub(crate) unsafe fn borrowed(options: *const sys::dl_options) -> ManuallyDrop<Options> {
    ManuallyDrop::new(Options::borrowed(options as *mut sys::dl_options))
}

/// Whether the result of a call is still wanted.
#[derive(Clone, Copy)]
pub struct CancelFlag<'a>(&'a AtomicI32);

impl<'a> CancelFlag<'a> {
    /// # Safety
    /// An i32 that the library sets atomically, and that lives for `'a`.
    pub(crate) unsafe fn new(flag: *const i32) -> CancelFlag<'a> {
        // SAFETY: the caller's promise.
        CancelFlag(unsafe { &*flag.cast::<AtomicI32>() })
    }

    pub(crate) fn as_ptr(self) -> *const i32 {
        (self.0 as *const AtomicI32).cast()
    }

    /// True if the result is no longer wanted; return any error.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

impl fmt::Debug for CancelFlag<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("CancelFlag").field(&self.is_cancelled()).finish()
    }
}
