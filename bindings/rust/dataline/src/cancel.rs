//! Ending waits from other threads.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Result};
use dataline_sys as sys;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A loader's handle while the loader lives, for those who may call it after its end.
pub(crate) struct Shared {
    loader: Mutex<*mut sys::dl_loader>,
    interrupts: AtomicU64,
}

// SAFETY: cancel and interrupt may be called from any thread, and the pointer is used under the lock.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub(crate) fn new(loader: *mut sys::dl_loader) -> Shared {
        Shared { loader: Mutex::new(loader), interrupts: AtomicU64::new(0) }
    }

    /// How many the program asked for; each is counted before it happens.
    pub(crate) fn interrupts(&self) -> u64 {
        self.interrupts.load(SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, *mut sys::dl_loader> {
        self.loader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After it no call through this handle reaches the loader.
    pub(crate) fn close(&self) {
        *self.lock() = ptr::null_mut();
    }
}

/// Ends the waits of a [`Loader`](crate::Loader) from any thread. After the loader's end it does nothing.
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
    /// Ends every wait now and later with [`Error::Cancelled`](crate::Error::Cancelled), until a seek or load. Never
    /// blocks.
    pub fn cancel(&self) {
        let loader = self.shared.lock();
        // SAFETY: live while the lock is held, or NULL, which is fine.
        unsafe { sys::dl_loader_cancel(*loader) };
    }

    /// Ends only the waits in progress, with [`Error::Interrupted`](crate::Error::Interrupted). Never blocks.
    pub fn interrupt(&self) {
        self.shared.interrupts.fetch_add(1, SeqCst);
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

/// Ends opening and every wait of the datasets and loaders made with it
/// ([`Options::cancel_token`](crate::Options::cancel_token)), permanently.
#[derive(Clone)]
pub struct CancelToken {
    token: Arc<Token>,
}

impl CancelToken {
    /// Not cancelled.
    ///
    /// # Errors
    /// [`Code::NoMemory`](crate::Code::NoMemory).
    pub fn new() -> Result<CancelToken> {
        let mut token = ptr::null_mut();
        // SAFETY: `token` takes the result.
        ffi::hard(|error| unsafe { sys::dl_cancel_token_create(&mut token, error) })?;
        Ok(CancelToken { token: Arc::new(Token(token)) })
    }

    /// For good. Any thread; never blocks.
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
