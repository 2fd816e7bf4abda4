//! Descriptions that `tests/layout.rs` compares with the header.
//!
//! SPDX-License-Identifier: Apache-2.0

/// A constant and its value.
pub struct Constant {
    pub name: &'static str,
    pub value: i64,
}

/// A member: its type as written in Rust, and its offset.
pub struct Member {
    pub name: &'static str,
    pub rust_type: &'static str,
    pub offset: usize,
    pub bytes: usize,
}

/// A struct of the header.
pub struct Layout {
    pub name: &'static str,
    pub bytes: usize,
    pub alignment: usize,
    pub members: std::vec::Vec<Member>,
}

/// A function: the types of its arguments and of its result, as written in Rust.
pub struct Function {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
    pub result: &'static str,
    /// Taken so that the linker must find it.
    pub address: fn() -> usize,
}

/// Bytes of the member behind a pointer that is never read.
pub(crate) fn bytes_behind<T>(_: *const T) -> usize {
    std::mem::size_of::<T>()
}

pub use crate::constants::CONSTANTS;
pub use crate::functions::FUNCTIONS;
pub use crate::structs::{layouts, CALLBACKS_IN_C};
