//! Traces of a loader.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Loader, Result};
use dataline_sys as sys;
use std::io::Write;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, PoisonError};

const EIO: i32 = 5;

/// Receives the pieces; a second box keeps its address stable.
type Writer = Mutex<Box<dyn Write + Send>>;

/// The writer of a loader's last trace, dropped when another replaces it, or after the loader.
#[derive(Default)]
pub(crate) struct Tracing(Mutex<Option<Box<Writer>>>);

impl Loader<'_> {
    /// Starts a trace: writes what each thread does, and the life of each batch, as JSON in Chrome's trace
    /// event format, which Perfetto and speedscope open. `path` is a new or empty file, or an older trace,
    /// which is overwritten. At 256 MiB, or when the disk is full, the trace ends and the job continues.
    ///
    /// # Errors
    /// [`WrongState`](crate::Code::WrongState): a trace is being written, or the file holds other data;
    /// [`NotFound`](crate::Code::NotFound), [`Permission`](crate::Code::Permission), [`Io`](crate::Code::Io).
    pub fn trace_start(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = ffi::c_text("path", &path.as_ref().to_string_lossy())?;
        // SAFETY: a live handle and text.
        ffi::hard(|error| unsafe {
            sys::dl_loader_trace_start(self.raw(), path.as_ptr(), ptr::null(), error)
        })
    }

    /// [`Loader::trace_start`] with a writer. Threads of the library call it, one at a time; it must not call
    /// Dataline. If it fails, the trace ends. It is dropped with the loader, or when another writer replaces
    /// it.
    ///
    /// # Errors
    /// [`WrongState`](crate::Code::WrongState): a trace is being written; [`Io`](crate::Code::Io): the writer failed.
    pub fn trace_to(&self, writer: impl Write + Send + 'static) -> Result<()> {
        let kept: Box<Writer> = Box::new(Mutex::new(Box::new(writer)));
        let context = &*kept as *const Writer as *mut c_void;
        let mut sink =
            sys::dl_trace_sink { struct_size: ffi::size::<sys::dl_trace_sink>(), ..Default::default() };
        sink.context = context;
        sink.write = Some(write_piece);
        // SAFETY: a live handle; the writer is kept until nobody writes.
        ffi::hard(|error| unsafe { sys::dl_loader_trace_start(self.raw(), ptr::null(), &sink, error) })?;
        let before = self.tracing().0.lock().unwrap_or_else(PoisonError::into_inner).replace(kept);
        drop(before);
        Ok(())
    }

    /// Ends the trace. Dropping the loader does the same. Does nothing without a trace.
    ///
    /// # Errors
    /// [`Io`](crate::Code::Io): the trace is incomplete.
    pub fn trace_stop(&self) -> Result<()> {
        // SAFETY: a live handle.
        ffi::hard(|error| unsafe { sys::dl_loader_trace_stop(self.raw(), error) })
    }
}

unsafe extern "C" fn write_piece(context: *mut c_void, text: *const c_char, bytes: usize) -> i32 {
    let written = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the context is the writer that is kept; the text lives for the call.
        let (writer, text) = unsafe { (&*context.cast::<Writer>(), ffi::slice(text.cast::<u8>(), bytes)) };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(text).err().map(|error| error.raw_os_error().unwrap_or(EIO))
    }));
    match written {
        Ok(failed) => failed.unwrap_or(0),
        Err(thrown) => {
            std::mem::forget(thrown); // dropping it might panic again
            EIO
        }
    }
}
