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

/// The version of the binary interface.
#[must_use]
pub fn abi_version() -> i32 {
    // SAFETY: no arguments.
    unsafe { dataline_sys::dl_abi_version() }
}

/// The optional parts of the build, and the compiler: `"highway mimalloc; gcc 12.2.0"`. If parts are missing,
/// `; missing: ` follows, with the parts and what each costs.
#[must_use]
pub fn build_info() -> &'static str {
    // SAFETY: no arguments; the text is never freed.
    unsafe { ffi::text(dataline_sys::dl_build_info()) }
}
