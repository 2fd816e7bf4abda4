//! What a call for the next batch returns.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Batch, Result};
use dataline_sys as sys;
use std::ptr;

/// The result of [`Loader::next`](crate::Loader::next).
#[derive(Debug)]
pub enum Next {
    /// The next batch, in order.
    Batch(Batch),
    /// Once at the end of each epoch, including the last.
    EndOfEpoch,
    /// After the last of `epochs` epochs, on every call.
    End,
    /// The timeout expired. Nothing is lost.
    TimedOut,
}

impl Next {
    /// The result of `call(&mut batch, error)`.
    ///
    /// # Safety
    /// When `call` returns `DL_OK`, it stores a batch that the caller owns.
    #[inline]
    pub(crate) unsafe fn of(
        call: impl FnOnce(*mut *mut sys::dl_batch, *mut sys::dl_error) -> sys::dl_status,
    ) -> Result<Next> {
        let mut batch = ptr::null_mut();
        match ffi::soft(|error| call(&mut batch, error))? {
            // SAFETY: the caller's promise.
            sys::DL_OK => Ok(Next::Batch(unsafe { Batch::own(batch) })),
            sys::DL_END_OF_EPOCH => Ok(Next::EndOfEpoch),
            sys::DL_END => Ok(Next::End),
            sys::DL_TIMEOUT => Ok(Next::TimedOut),
            status => Err(ffi::soft_error(status)),
        }
    }
}
