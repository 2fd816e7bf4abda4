//! One epoch as a stream, for asynchronous programs.
//!
//! The polling task takes batches that are ready. For the others, a thread of the stream waits. So the stream
//! never blocks an executor's thread and works with any executor. With `num_workers=0` that thread loads the
//! samples.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::epoch::{is_last, Loop};
use crate::{Batch, Code, Loader, Next, Result};
use futures_core::stream::{FusedStream, Stream};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

/// The batches of one epoch, in order, as a [`Stream`]: the counterpart of [`Loader::epoch`] for asynchronous
/// programs.
///
/// The loop starts when the stream is created. A newer loop over the loader ends it, as it ends an
/// [`Epoch`](crate::Epoch). A poll takes at most one batch. A future of the next item may be dropped (a
/// `select!`, a timeout): the next future then returns that item. Dropping the stream interrupts a wait in
/// progress. With `num_workers=0` it waits for the samples that are being loaded.
///
/// ```
/// # use dataline::{Array, Dataset, EpochStream, Loader, Options};
/// # async fn train() -> dataline::Result<()> {
/// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[8], &[0u8; 8])?], &Options::new())?;
/// let loader = std::sync::Arc::new(Loader::new(&dataset, &Options::new().set("batch_size", 2))?);
/// let mut batches = EpochStream::new(&loader);
/// while let Some(batch) = batches.next().await { // or use futures::StreamExt
///     println!("{} rows", batch?.len());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless they are polled"]
pub struct EpochStream {
    shared: Arc<Shared>,
    /// Loads on the thread that requests a batch (`num_workers=0`).
    in_caller: bool,
    done: bool,
    waiter: Option<thread::JoinHandle<()>>,
}

struct Shared {
    epoch: Loop,
    room: Mutex<Room>,
    changed: Condvar,
    _loader: Arc<Loader<'static>>, // alive while the stream is
}

/// The request to the stream's thread, and its result.
#[derive(Default)]
struct Room {
    wanted: Option<Waker>,
    found: Option<Option<Result<Batch>>>,
    dropped: bool,
}

impl Shared {
    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: takes an item each time one is requested, until the stream is dropped.
    fn run(&self) {
        let mut room = self.room();
        while !room.dropped {
            if room.wanted.is_none() || room.found.is_some() {
                room = self.changed.wait(room).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(room);
            let item = item(self.epoch.next(-1)).flatten();
            room = self.room();
            room.found = Some(item);
            if let Some(waker) = room.wanted.take() {
                drop(room); // the task may poll inside wake()
                waker.wake();
                room = self.room();
            }
        }
    }
}

/// `None`: not yet. Otherwise the item, which is `None` at the end.
fn item(found: Result<Next>) -> Option<Option<Result<Batch>>> {
    match found {
        Ok(Next::Batch(batch)) => Some(Some(Ok(batch))),
        Ok(Next::EndOfEpoch | Next::End) => Some(None),
        Ok(Next::TimedOut) => None,
        Err(error) => Some(Some(Err(error))),
    }
}

impl EpochStream {
    /// Starts a loop over one epoch, as [`Loader::epoch`] does. If that fails, the first item is the error.
    pub fn new(loader: &Arc<Loader<'static>>) -> EpochStream {
        let epoch = Loop::begin(loader);
        let in_caller = epoch.has_begun() && loader.stats().map_or(true, |stats| stats.num_workers == 0);
        let shared =
            Shared { epoch, room: Mutex::default(), changed: Condvar::new(), _loader: Arc::clone(loader) };
        EpochStream { shared: Arc::new(shared), in_caller, done: false, waiter: None }
    }

    /// The next batch; `None` at the end of the epoch. The same as `StreamExt::next`, without that crate.
    ///
    /// # Errors
    /// As [`Loader::next`]. The stream ends after an error, except after [`Code::BadSample`] and [`Code::Interrupted`], as
    /// an [`Epoch`](crate::Epoch) does.
    pub async fn next(&mut self) -> Option<Result<Batch>> {
        NextItem(self).await
    }

    fn deliver(&mut self, item: Option<Result<Batch>>) -> Poll<Option<Result<Batch>>> {
        self.done = is_last(&item);
        Poll::Ready(item)
    }
}

impl Stream for EpochStream {
    type Item = Result<Batch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Batch>>> {
        if self.done {
            return Poll::Ready(None);
        }
        let shared = Arc::clone(&self.shared);
        let mut room = shared.room();
        if let Some(item) = room.found.take() {
            return self.deliver(item);
        }
        if room.wanted.is_none() && !self.in_caller {
            let at_once = item(shared.epoch.next(0));
            if let Some(item) = at_once {
                return self.deliver(item);
            }
        }
        room.wanted = Some(context.waker().clone());
        shared.changed.notify_all();
        if self.waiter.is_none() {
            let shared = Arc::clone(&shared);
            let made = thread::Builder::new().name("dataline-stream".to_owned()).spawn(move || shared.run());
            match made {
                Ok(thread) => self.waiter = Some(thread),
                Err(error) => {
                    room.wanted = None;
                    return self.deliver(Some(Err(crate::Error::new(Code::Thread, error.to_string()))));
                }
            }
        }
        Poll::Pending
    }
}

struct NextItem<'s>(&'s mut EpochStream);

impl Future for NextItem<'_> {
    type Output = Option<Result<Batch>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.0).poll_next(context)
    }
}

impl FusedStream for EpochStream {
    fn is_terminated(&self) -> bool {
        self.done
    }
}

impl Drop for EpochStream {
    fn drop(&mut self) {
        if let Some(thread) = self.waiter.take() {
            self.shared.room().dropped = true;
            self.shared.changed.notify_all();
            self.shared.epoch.interrupt(); // only the thread calls next now: its wait ends, or its next call does not wait
            if thread.thread().id() != thread::current().id() {
                // else: dropped inside wake()
                let _ = thread.join();
            }
        }
    }
}

impl fmt::Debug for EpochStream {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("EpochStream").field("done", &self.done).finish_non_exhaustive()
    }
}
