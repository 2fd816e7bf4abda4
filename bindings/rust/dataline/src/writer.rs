//! Sets that a program writes.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::field::Schema;
use crate::{ffi, Array, Field, Result};
use dataline_sys as sys;
use std::fmt;
use std::ptr;

/// Writes rows as a set: a directory of shards and a manifest. [`Dataset::open`](crate::Dataset::open) opens
/// it as `FORMAT:PATH`.
///
/// The set is `PATH.partial` until [`Writer::finish`], so `PATH` is always a complete set. A writer dropped
/// without finish leaves its finished shards in `PATH.partial`; rows of the open shard are lost. A new writer
/// with the same arguments resumes after the last finished shard. [`Writer::position`] then returns the
/// position passed with the last rows of that shard.
///
/// Any number of threads may append. This type may still change in a minor release.
///
/// ```
/// use dataline::{Array, Dataset, DType, Field, Options, Writer};
///
/// # fn main() -> dataline::Result<()> {
/// # let path = std::env::temp_dir().join(format!("dataline-doc-{}", std::process::id()));
/// # let path = path.to_str().unwrap();
/// let fields = [Field::dense("x", DType::F32, &[2]), Field::ragged("text", DType::U8, &[])];
/// let writer = Writer::create(&format!("arrow:{path}?shard_bytes=64MiB"), &fields, "cleaned, 2nd try")?;
/// let rows = [
///     Array::dense("x", &[2, 2], &[0.5f32, 1.0, 1.5, 2.0])?,
///     Array::ragged("text", b"onethree", &[], &[0, 3, 8])?,
/// ];
/// writer.append(&rows, "row 2")?;
/// writer.finish()?;
/// assert_eq!(Dataset::open(&format!("arrow:{path}"), &Options::new())?.len(), Some(2));
/// # std::fs::remove_dir_all(path).unwrap();
/// # Ok(())
/// # }
/// ```
pub struct Writer {
    handle: *mut sys::dl_writer,
}

// SAFETY: several threads may use a writer of the library concurrently.
unsafe impl Send for Writer {}
// SAFETY: as above.
unsafe impl Sync for Writer {}

impl Writer {
    /// Starts a set, or resumes an unfinished one. `uri` is `FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]`,
    /// with a format of [`writer_formats_table`](crate::writer_formats_table). `fields` are the fields of one
    /// sample, for example [`Dataset::fields`](crate::Dataset::fields). `job` identifies the input of the
    /// set. A `PATH.partial` with finished shards of another job, other fields, another `shard_bytes` or
    /// `codec` is rejected.
    ///
    /// # Errors
    /// [`BadUri`](crate::Code::BadUri) with its column, [`Unsupported`](crate::Code::Unsupported) (a field
    /// that the format cannot store), [`WrongState`](crate::Code::WrongState) (`PATH` exists, or another
    /// process writes it), [`StateRefused`](crate::Code::StateRefused), [`NotFound`](crate::Code::NotFound)
    /// (the parent directory), and file errors.
    pub fn create(uri: &str, fields: &[Field], job: &str) -> Result<Writer> {
        let uri = ffi::c_text("uri", uri)?;
        let job = ffi::c_text("job", job)?;
        let schema = Schema::of(fields)?;
        let views = schema.views(fields);
        let count = ffi::count("fields", views.len())?;
        let mut handle = ptr::null_mut();
        // SAFETY: live arguments, which are read during the call only.
        ffi::hard(|error| unsafe {
            sys::dl_writer_create(uri.as_ptr(), views.as_ptr(), count, job.as_ptr(), &mut handle, error)
        })?;
        Ok(Writer { handle })
    }

    /// Appends the samples of all arrays, one array per field in field order. Samples of one call stay
    /// together. `position`: what the program needs to resume after these rows.
    ///
    /// # Errors
    /// [`Mismatch`](crate::Code::Mismatch), [`InvalidArgument`](crate::Code::InvalidArgument),
    /// [`OutOfRange`](crate::Code::OutOfRange), [`TooLarge`](crate::Code::TooLarge): no row is written, and
    /// the writer stays usable. [`WrongState`](crate::Code::WrongState) after [`Writer::finish`]. After a
    /// file-system error ([`Io`](crate::Code::Io): a full disk) every call returns that error.
    pub fn append(&self, arrays: &[Array<'_>], position: &str) -> Result<()> {
        let position = ffi::c_text("position", position)?;
        let raw = arrays.iter().map(Array::raw).collect::<Result<Vec<_>>>()?;
        let count = ffi::count("arrays", raw.len())?;
        // SAFETY: a live handle and arguments, which are read during the call only.
        ffi::hard(|error| unsafe {
            sys::dl_writer_append(self.handle, raw.as_ptr(), count, position.as_ptr(), error)
        })
    }

    pub(crate) fn raw(&self) -> *mut sys::dl_writer {
        self.handle
    }

    /// The position of the last shard that existed when the writer was created; `""`: none.
    #[must_use]
    pub fn position(&self) -> String {
        // SAFETY: a live handle; the borrowed text is copied.
        unsafe { ffi::text_of(sys::dl_writer_position(self.handle)) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own.
        unsafe { sys::dl_writer_destroy(self.handle) };
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Writer").field("info", &self.info()).finish_non_exhaustive()
    }
}
