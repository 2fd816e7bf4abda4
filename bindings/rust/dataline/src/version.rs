//! The library in use.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::ffi;

/// The library's version: `"0.1.0"`.
#[must_use]
pub fn version() -> &'static str {
    // SAFETY: no arguments; the text is never freed.
    unsafe { ffi::text(dataline_sys::dl_version_string()) }
}

/// The version of the library's binary interface.
#[must_use]
pub fn abi_version() -> i32 {
    // SAFETY: no arguments.
    unsafe { dataline_sys::dl_abi_version() }
}

/// The parts it was built with, and the compiler: `"highway mimalloc; gcc 12.2.0"`; then, after `; missing: `, the missing parts and
/// what that costs.
#[must_use]
pub fn build_info() -> &'static str {
    // SAFETY: no arguments; the text is never freed.
    unsafe { ffi::text(dataline_sys::dl_build_info()) }
}
