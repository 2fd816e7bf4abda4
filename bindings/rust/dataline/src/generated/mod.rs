//! What capi/api/generate.py writes.
//!
//! SPDX-License-Identifier: Apache-2.0
pub(crate) mod codes;
mod methods;
pub(crate) mod values;
