//! Extensions that a program adds to the library.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, format, operator, storage, threads};
use crate::{Format, Operator, Result, Storage, Threads};
use dataline_sys as sys;
use std::fmt;
use std::ptr;

/// Formats, operators, storages and threads of your own. If you set them in options
/// ([`Options::extensions`](crate::Options::extensions)), datasets opened with these options support the
/// formats and storages, and loaders use the operators and threads. Nothing is global: other options are not
/// affected.
///
/// An extension is dropped, by any thread, when no extensions, options, dataset or loader needs it. If adding
/// it fails, it is dropped immediately.
pub struct Extensions {
    handle: *mut sys::dl_extensions,
}

// SAFETY: the library keeps no thread-local state, and all extensions are Send and Sync.
unsafe impl Send for Extensions {}
// SAFETY: a shared one is only read.
unsafe impl Sync for Extensions {}

impl Extensions {
    /// An empty set of extensions.
    ///
    /// # Errors
    /// [`Code::NoMemory`](crate::Code::NoMemory).
    pub fn new() -> Result<Extensions> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` takes the result.
        ffi::hard(|error| unsafe { sys::dl_extensions_create(&mut handle, error) })?;
        Ok(Extensions { handle })
    }

    /// Adds a format.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`](crate::Code::InvalidArgument) for an invalid name, or a name that the
    /// library or these extensions already have.
    pub fn add_format(&mut self, format: impl Format) -> Result<()> {
        format::add(self.handle, format)
    }

    /// Adds an operator of transforms.
    ///
    /// # Errors
    /// As [`add_format`](Extensions::add_format).
    pub fn add_operator(&mut self, operator: impl Operator) -> Result<()> {
        operator::add(self.handle, operator)
    }

    /// Adds a storage.
    ///
    /// # Errors
    /// As [`add_format`](Extensions::add_format).
    pub fn add_storage(&mut self, storage: impl Storage) -> Result<()> {
        storage::add(self.handle, storage)
    }

    /// Sets the worker threads, and replaces those set before.
    ///
    /// # Errors
    /// [`Code::NoMemory`](crate::Code::NoMemory).
    pub fn set_threads(&mut self, threads: impl Threads) -> Result<()> {
        threads::set(self.handle, threads)
    }

    /// Loads a plug-in: a path, or a NAME without `/`. For a NAME, the dynamic linker searches for
    /// `libdataline-NAME.so`. Its code runs in this process with all rights of the program, and stays loaded
    /// until the process ends. Either everything that it adds is added, or nothing.
    ///
    /// # Errors
    /// [`Code::NotFound`](crate::Code::NotFound) with the linker's message,
    /// [`Code::Unsupported`](crate::Code::Unsupported) for a library that is not a plug-in or is built for
    /// another ABI, and the errors of the plug-in.
    pub fn load(&mut self, path: &str) -> Result<()> {
        let path = ffi::c_text("plug-in", path)?;
        // SAFETY: a live handle and text.
        ffi::hard(|error| unsafe { sys::dl_extensions_load(self.handle, path.as_ptr(), error) })
    }

    pub(crate) fn raw(&self) -> *const sys::dl_extensions {
        self.handle
    }
}

impl Drop for Extensions {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own.
        unsafe { sys::dl_extensions_destroy(self.handle) };
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Extensions").finish_non_exhaustive()
    }
}
