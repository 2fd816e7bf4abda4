//! One epoch as a stream, for asynchronous programs.
//!
//! Batches that are ready are taken by the task that polls. For the others a thread of the stream's own waits: so no executor's
//! thread is kept, any executor will do, and with `num_workers=0` the samples are loaded there.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Batch, Code, Loader, Next, Result};
use futures_core::stream::{FusedStream, Stream};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

/// The batches of one epoch, in order, as a [`Stream`]: for asynchronous programs what [`Loader::epoch`] is for others.
///
/// It begins with the epoch's loop, and another loop over the loader ends it, as with an [`Epoch`](crate::Epoch). A poll
/// takes one batch at most, so the position is that of what was delivered; a future of the next item may be dropped (a
/// `select!`, a time-out), the item comes with the next one. Dropping the stream ends a wait in progress; with
/// `num_workers=0` it waits for the batch that is being made.
///
/// ```
/// # use dataline::{Array, Dataset, EpochStream, Loader, Options};
/// # async fn train() -> dataline::Result<()> {
/// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[8], &[0u8; 8])?], &Options::new())?;
/// let loader = std::sync::Arc::new(Loader::new(&dataset, &Options::new().set("batch_size", 2))?);
/// let mut batches = EpochStream::new(&loader);
/// while let Some(batch) = batches.next().await { // or what futures::StreamExt has
///     println!("{} rows", batch?.len());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless they are polled"]
pub struct EpochStream {
    shared: Arc<Shared>,
    /// Loads in the thread that asks for a batch (`num_workers=0`).
    in_caller: bool,
    done: bool,
    waiter: Option<thread::JoinHandle<()>>,
}

struct Shared {
    loader: Arc<Loader<'static>>,
    /// Of its loop.
    number: u64,
    dropped: AtomicBool,
    room: Mutex<Room>,
    changed: Condvar,
}

/// Where the thread finds what is wanted, and puts it.
#[derive(Default)]
struct Room {
    wanted: Option<Waker>,
    found: Option<Option<Result<Batch>>>,
}

impl Shared {
    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: an item each time one is wanted, until the stream is dropped.
    fn wait(&self) {
        let mut room = self.room();
        while !self.dropped.load(SeqCst) {
            if room.wanted.is_none() || room.found.is_some() {
                room = self.changed.wait(room).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(room);
            let item = self.next();
            room = self.room();
            room.found = Some(item);
            if let Some(waker) = room.wanted.take() {
                drop(room); // who is woken may poll at once, here
                waker.wake();
                room = self.room();
            }
        }
    }

    fn next(&self) -> Option<Result<Batch>> {
        let going = || !self.dropped.load(SeqCst);
        item(self.loader.loops().take(self.number, -1, going)).flatten()
    }
}

/// `None`: not yet; else the item, of which `None` is the end.
fn item(found: Result<Next>) -> Option<Option<Result<Batch>>> {
    match found {
        Ok(Next::Batch(batch)) => Some(Some(Ok(batch))),
        Ok(Next::EndOfEpoch | Next::End) => Some(None),
        Ok(Next::TimedOut) => None,
        Err(error) => Some(Some(Err(error))),
    }
}

impl EpochStream {
    /// Begins a loop over one epoch, as [`Loader::epoch`] does. An error of that is the first item.
    pub fn new(loader: &Arc<Loader<'static>>) -> EpochStream {
        let begun = loader.loops().begin();
        let in_caller = loader.stats().map_or(true, |stats| stats.num_workers == 0);
        let (number, room, done) = match begun {
            Ok(Some((number, _))) => (number, Room::default(), false),
            Ok(None) => (0, Room::default(), true),
            Err(error) => (0, Room { wanted: None, found: Some(Some(Err(error))) }, false),
        };
        let shared = Shared {
            loader: Arc::clone(loader),
            number,
            dropped: AtomicBool::new(false),
            room: Mutex::new(room),
            changed: Condvar::new(),
        };
        EpochStream { shared: Arc::new(shared), in_caller, done, waiter: None }
    }

    /// The next batch; `None` at the end of the epoch. What `StreamExt::next` is, without that crate.
    ///
    /// # Errors
    /// As [`Loader::next`]. An error ends it, but for [`Code::BadSample`]: the item after that is the step's good samples.
    pub async fn next(&mut self) -> Option<Result<Batch>> {
        NextItem(self).await
    }

    fn deliver(&mut self, item: Option<Result<Batch>>) -> Poll<Option<Result<Batch>>> {
        self.done = match &item {
            None => true,
            Some(Err(error)) => error.code() != Code::BadSample,
            Some(Ok(_)) => false,
        };
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
            let at_once = item(shared.loader.loops().take(shared.number, 0, || true));
            if let Some(item) = at_once {
                return self.deliver(item);
            }
        }
        room.wanted = Some(context.waker().clone());
        shared.changed.notify_all();
        if self.waiter.is_none() {
            let shared = Arc::clone(&shared);
            let made = thread::Builder::new().name("dataline-stream".to_owned()).spawn(move || shared.wait());
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
            self.shared.dropped.store(true, SeqCst);
            drop(self.shared.room()); // it is before its look at `dropped`, or waits and hears of it
            self.shared.changed.notify_all();
            self.shared.loader.loops().interrupt_until(|| thread.is_finished());
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for EpochStream {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("EpochStream").field("done", &self.done).finish_non_exhaustive()
    }
}
