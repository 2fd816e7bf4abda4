//! Raw declarations of Dataline's C interface, one to one as in `dataline.h`, which says what each does.
//!
//! Kept by hand; `tests/layout.rs` compiles C against the header and compares every constant, struct, member and
//! signature. The safe interface is the crate `dataline`.
//!
//! Minimum Rust: 1.63.
//!
//! SPDX-License-Identifier: Apache-2.0
#![allow(non_camel_case_types)]

#[doc(hidden)]
pub mod check;
mod constants;
mod dlpack;
mod functions;
mod structs;

pub use constants::*;
pub use dlpack::*;
pub use functions::*;
pub use structs::*;

/// 0, a positive soft result, or a negative error.
pub type dl_status = i32;

/// Releases what was borrowed; called once, from any thread.
pub type dl_release = Option<unsafe extern "C" fn(context: *mut std::os::raw::c_void)>;
