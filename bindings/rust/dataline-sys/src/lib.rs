//! Raw declarations of Dataline's C interface, one to one as in `dataline.h`, which documents them.
//!
//! Constants, structs and functions are generated from the header's description, `capi/api.json` (`capi/api/update.sh`).
//! `tests/layout.rs` compiles C against the header and compares every constant, struct, member and signature. The safe
//! interface is the crate `dataline`.
//!
//! Minimum Rust: 1.63.
//!
//! SPDX-License-Identifier: Apache-2.0
#![allow(non_camel_case_types)]

#[macro_use]
mod macros;

mod arrow;
#[doc(hidden)]
pub mod check;
mod constants;
mod dlpack;
mod functions;
mod structs;

pub use arrow::*;
pub use constants::*;
pub use dlpack::*;
pub use functions::*;
pub use structs::*;
