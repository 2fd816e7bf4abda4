//! Ending waits from other threads.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Result};
use dataline_sys as sys;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A loader's handle, for calls that may come after the loader is dropped. NULL from then on.
pub(crate) struct Shared(Mutex<*mut sys::dl_loader>);

// SAFETY: cancel and interrupt may be called from any thread, and the pointer is used under the lock.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub(crate) fn new(loader: *mut sys::dl_loader) -> Shared {
        Shared(Mutex::new(loader))
    }

    fn lock(&self) -> MutexGuard<'_, *mut sys::dl_loader> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After this, no call through this handle reaches the loader.
    pub(crate) fn close(&self) {
        *self.lock() = ptr::null_mut();
    }
}

/// Ends the waits of a [`Loader`](crate::Loader) from any thread. Does nothing after the loader is dropped.
///
/// ```
/// # use dataline::{Array, Dataset, Error, Loader, Options};
/// # fn main() -> dataline::Result<()> {
/// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[8], &[0u8; 8])?], &Options::new())?;
/// let loader = Loader::new(&dataset, &Options::new())?;
/// let handle = loader.cancel_handle();
/// std::thread::spawn(move || handle.cancel()).join().unwrap();
/// assert!(matches!(loader.next(None), Err(Error::Cancelled)));
/// loader.seek(0, 0)?; // ends the cancel
/// assert!(loader.next(None).is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CancelHandle {
    pub(crate) shared: Arc<Shared>,
}

impl CancelHandle {
    /// Ends every current and later wait with [`Error::Cancelled`](crate::Error::Cancelled), until a seek or
    /// load. Never blocks.
    pub fn cancel(&self) {
        let loader = self.shared.lock();
        // SAFETY: live while the lock is held, or NULL, which is fine.
        unsafe { sys::dl_loader_cancel(*loader) };
    }

    /// Ends every current wait with [`Error::Interrupted`](crate::Error::Interrupted). If no thread waits, it
    /// ends the next call: [`Loader::next`](crate::Loader::next), [`Loader::work`](crate::Loader::work) or
    /// the next item of a loop, unless a seek or load comes first. No batch is lost. Never blocks. To
    /// interrupt only one loop, call [`Epoch::interrupt`](crate::Epoch::interrupt).
    pub fn interrupt(&self) {
        let loader = self.shared.lock();
        // SAFETY: live while the lock is held, or NULL, which is fine.
        unsafe { sys::dl_loader_interrupt(*loader) };
    }
}

impl fmt::Debug for CancelHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CancelHandle").finish_non_exhaustive()
    }
}

struct Token(*mut sys::dl_cancel_token);

// SAFETY: a token is cancelled from any thread; it is destroyed by its last owner.
unsafe impl Send for Token {}
// SAFETY: as above.
unsafe impl Sync for Token {}

impl Drop for Token {
    fn drop(&mut self) {
        // SAFETY: the last owner of the handle.
        unsafe { sys::dl_cancel_token_destroy(self.0) };
    }
}

/// Ends the opening of datasets and every wait of the datasets and loaders created with it
/// ([`Options::cancel_token`](crate::Options::cancel_token)), permanently.
#[derive(Clone)]
pub struct CancelToken {
    token: Arc<Token>,
}

impl CancelToken {
    /// A token that is not cancelled.
    ///
    /// # Errors
    /// [`Code::NoMemory`](crate::Code::NoMemory).
    pub fn new() -> Result<CancelToken> {
        let mut token = ptr::null_mut();
        // SAFETY: `token` takes the result.
        ffi::hard(|error| unsafe { sys::dl_cancel_token_create(&mut token, error) })?;
        Ok(CancelToken { token: Arc::new(Token(token)) })
    }

    /// Cancels permanently. Any thread; never blocks.
    pub fn cancel(&self) {
        // SAFETY: a live handle.
        unsafe { sys::dl_cancel_token_cancel(self.raw()) };
    }

    pub(crate) fn raw(&self) -> *mut sys::dl_cancel_token {
        self.token.0
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CancelToken").finish_non_exhaustive()
    }
}
