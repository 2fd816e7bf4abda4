//! Opening without waiting.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::value_of::Filled;
use crate::{ffi, Code, Dataset, Error, Options, Progress, Result};
use dataline_sys as sys;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

struct Handle(*mut sys::dl_opening);

// SAFETY: every call on an opening may be made from any thread; it is destroyed by its last owner.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// `None`: not open yet.
    fn wait(&self, timeout_ns: i64) -> Result<Option<Dataset<'static>>> {
        let mut dataset = ptr::null_mut();
        // SAFETY: a live handle; `dataset` takes the result.
        match ffi::soft(|error| unsafe { sys::dl_opening_wait(self.0, timeout_ns, &mut dataset, error) })? {
            // SAFETY: a dataset that the library returned from this call.
            sys::DL_OK => Ok(Some(unsafe { Dataset::own(dataset) })),
            sys::DL_TIMEOUT => Ok(None),
            status => Err(ffi::soft_error(status)),
        }
    }

    fn cancel(&self) {
        // SAFETY: a live handle.
        unsafe { sys::dl_opening_cancel(self.0) };
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the last owner of the handle.
        unsafe { sys::dl_opening_destroy(self.0) };
    }
}

/// A dataset that a thread of the library is opening. For programs that must not block, or that show
/// progress.
///
/// Dropping it ends the opening, and waits until its thread has noticed. The thread checks between files and
/// pieces of a file. This type may still change in a minor release.
///
/// ```
/// # use dataline::{Opening, Options};
/// # use std::time::Duration;
/// # fn main() -> dataline::Result<()> {
/// # let uri = format!("raw:{}?dtype=u8&shape=1", std::env::current_exe().unwrap().display());
/// let opening = Opening::start(&uri, &Options::new())?;
/// let dataset = loop {
///     match opening.wait_timeout(Duration::from_millis(16))? {
///         Some(dataset) => break dataset,
///         None => println!("{} files", opening.progress().files),
///     }
/// };
/// assert!(dataset.len() > Some(0));
/// # Ok(())
/// # }
/// ```
pub struct Opening {
    handle: Arc<Handle>,
}

impl Opening {
    /// Starts what [`Dataset::open`] does, and returns. The waits report errors in the URI or the data.
    ///
    /// # Errors
    /// [`Code::Thread`] if the thread could not be started.
    pub fn start(uri: &str, options: &Options) -> Result<Opening> {
        let uri = ffi::c_text("uri", uri)?;
        let options = options.raw()?;
        let mut handle = ptr::null_mut();
        ffi::hard(|error| {
            // SAFETY: live arguments.
            unsafe { sys::dl_dataset_open_async(uri.as_ptr(), options, &mut handle, error) }
        })?;
        Ok(Opening { handle: Arc::new(Handle(handle)) })
    }

    /// Waits for the dataset and returns it.
    ///
    /// # Errors
    /// As [`Dataset::open`]; [`Error::Cancelled`].
    pub fn wait(self) -> Result<Dataset<'static>> {
        let open = self.handle.wait(-1)?;
        open.ok_or_else(|| Error::new(Code::Internal, "a wait without limit timed out".to_owned()))
    }

    /// The dataset, or `None` if it is not open at the timeout; zero does not wait. It is returned once.
    ///
    /// # Errors
    /// As [`Opening::wait`]; [`Code::WrongState`] after it was returned.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<Option<Dataset<'static>>> {
        self.handle.wait(i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX))
    }

    /// [`Opening::wait`] for asynchronous programs, with any executor: a separate thread waits. Dropping the
    /// future ends the opening.
    ///
    /// # Errors
    /// As [`Opening::wait`]; [`Code::Thread`].
    pub async fn opened(self) -> Result<Dataset<'static>> {
        Opened { handle: self.handle, room: None }.await
    }

    /// The progress so far. Never blocks.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let mut raw = Progress::blank();
        // SAFETY: a live handle; `raw` states its size. Nothing else can be wrong.
        let _ = ffi::hard(|error| unsafe { sys::dl_opening_progress(self.handle.0, &mut raw, error) });
        // SAFETY: it has no texts.
        unsafe { Progress::of(&raw) }
    }

    /// Ends the opening soon, with [`Error::Cancelled`], unless it has already finished. Never blocks.
    pub fn cancel(&self) {
        self.handle.cancel();
    }

    /// Readable when a wait would not wait (an eventfd on Linux). Poll it; never read or close it. It lives
    /// as long as this object.
    ///
    /// # Errors
    /// [`Code::TooManyFiles`], [`Code::Unsupported`].
    pub fn wait_handle(&self) -> Result<isize> {
        let mut handle = 0;
        // SAFETY: a live handle; `handle` takes the result.
        ffi::hard(|error| unsafe { sys::dl_opening_wait_handle(self.handle.0, &mut handle, error) })?;
        Ok(handle)
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Opening").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

/// The result of a future's thread, and the waker to call.
#[derive(Default)]
struct Room {
    found: Option<Result<Dataset<'static>>>,
    waker: Option<Waker>,
}

fn locked(room: &Mutex<Room>) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Opened {
    handle: Arc<Handle>,
    /// Set when a thread waits.
    room: Option<Arc<Mutex<Room>>>,
}

impl Opened {
    fn begin(&mut self, waker: &Waker) -> Poll<Result<Dataset<'static>>> {
        if let Some(result) = self.handle.wait(0).transpose() {
            return Poll::Ready(result);
        }
        let room = Arc::new(Mutex::new(Room { found: None, waker: Some(waker.clone()) }));
        self.room = Some(Arc::clone(&room));
        let opening = Opening { handle: Arc::clone(&self.handle) };
        let body = move || {
            let found = opening.wait();
            let mut place = locked(&room);
            place.found = Some(found);
            let waker = place.waker.take();
            drop(place); // the woken task may poll here immediately
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        match thread::Builder::new().name("dataline-open".to_owned()).spawn(body) {
            Ok(_) => Poll::Pending, // it ends when the opening does
            Err(error) => Poll::Ready(Err(Error::new(Code::Thread, error.to_string()))),
        }
    }
}

impl Future for Opened {
    type Output = Result<Dataset<'static>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let room = match &self.room {
            None => return self.begin(context.waker()),
            Some(room) => room,
        };
        let mut room = locked(room);
        match room.found.take() {
            Some(found) => Poll::Ready(found),
            None => {
                room.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.handle.cancel();
    }
}
