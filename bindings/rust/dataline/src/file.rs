//! Files, and objects of storages.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, CancelFlag, Options, Result};
use dataline_sys as sys;
use std::fmt;
use std::ptr;

/// An open file: a local path, or `scheme://...` of a [`Storage`](crate::Storage) in the options. For formats
/// and storages of your own. Any thread may read.
///
/// ```
/// use dataline::{File, Options};
///
/// # fn main() -> dataline::Result<()> {
/// # let path = std::env::temp_dir().join(format!("dataline-file-{}", std::process::id()));
/// # std::fs::write(&path, b"0123456789").unwrap();
/// let file = File::open(path.to_str().unwrap(), &Options::new())?;
/// let mut middle = vec![0; file.len() as usize - 6];
/// file.read_at(3, &mut middle)?;
/// assert_eq!(middle, b"3456");
/// # std::fs::remove_file(path).unwrap();
/// # Ok(())
/// # }
/// ```
pub struct File {
    handle: *mut sys::dl_file,
}

// SAFETY: the library's files are immutable and may be used from any thread.
unsafe impl Send for File {}
// SAFETY: as above.
unsafe impl Sync for File {}

impl File {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of [`Dataset::open`](crate::Dataset::open) for a file.
    pub fn open(path: &str, options: &Options) -> Result<File> {
        let path = ffi::c_text("path", path)?;
        let options = options.raw()?;
        let mut handle = ptr::null_mut();
        // SAFETY: live arguments.
        ffi::hard(|error| unsafe { sys::dl_file_open(path.as_ptr(), options, &mut handle, error) })?;
        Ok(File { handle })
    }

    /// The size in bytes when the file was opened.
    #[must_use]
    pub fn len(&self) -> u64 {
        // SAFETY: a live handle.
        u64::try_from(unsafe { sys::dl_file_bytes(self.handle) }).unwrap_or(0)
    }

    /// Whether the file is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `out` with the bytes at `offset`.
    ///
    /// # Errors
    /// [`Code::Truncated`](crate::Code::Truncated), [`Code::Changed`](crate::Code::Changed) and
    /// [`Code::Io`](crate::Code::Io), with path and offset.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.read(offset, out, ptr::null())
    }

    /// [`File::read_at`] for a callback: the storage of the file stops reading when the bytes are no longer
    /// wanted.
    ///
    /// # Errors
    /// Those of [`File::read_at`]; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn read_at_unless(&self, cancelled: CancelFlag<'_>, offset: u64, out: &mut [u8]) -> Result<()> {
        self.read(offset, out, cancelled.as_ptr())
    }

    fn read(&self, offset: u64, out: &mut [u8], cancelled: *const i32) -> Result<()> {
        let bytes = ffi::length(out.len())?;
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        let to = out.as_mut_ptr().cast();
        // SAFETY: a live handle, room for the bytes, and a flag that lives for the call, or none.
        ffi::hard(|error| unsafe { sys::dl_file_read(self.handle, offset, bytes, to, cancelled, error) })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own.
        unsafe { sys::dl_file_destroy(self.handle) };
    }
}

impl fmt::Debug for File {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("File").field("len", &self.len()).finish_non_exhaustive()
    }
}
