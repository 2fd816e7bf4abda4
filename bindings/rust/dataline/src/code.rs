//! Codes of errors, as text.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code};
use dataline_sys as sys;
use std::fmt;

impl fmt::Display for Code {
    /// The name in `dataline.h`: `DL_ERR_CORRUPT`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: any number is allowed; the text is never freed.
        out.write_str(unsafe { ffi::text(sys::dl_status_name(self.number())) })
    }
}
