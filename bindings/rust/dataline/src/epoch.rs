//! One epoch as an iterator.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Batch, Code, Loader, Next, Result};
use dataline_sys as sys;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Owns the library's handle of a loop over one epoch.
struct Handle(*mut sys::dl_epoch);

// SAFETY: any thread may call the library's epochs. Only the owner releases one.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the only owner, so no other call is in progress. The loader may be gone already.
        unsafe { sys::dl_epoch_release(self.0) };
    }
}

/// A loop over one epoch. `Ok(None)` after the last epoch; `Err` if the loop could not start.
pub(crate) struct Loop(Result<Option<Handle>>);

impl Loop {
    pub(crate) fn begin(loader: &Loader<'_>) -> Loop {
        Loop(Loop::handle(loader))
    }

    fn handle(loader: &Loader<'_>) -> Result<Option<Handle>> {
        let mut epoch = ptr::null_mut();
        // SAFETY: a live handle; `epoch` receives the result.
        match ffi::soft(|error| unsafe { sys::dl_loader_epoch(loader.raw(), &mut epoch, error) })? {
            sys::DL_OK => Ok(Some(Handle(epoch))),
            sys::DL_END => Ok(None),
            status => Err(ffi::soft_error(status)),
        }
    }

    /// Whether there is an epoch to take batches from.
    pub(crate) fn has_begun(&self) -> bool {
        matches!(self.0, Ok(Some(_)))
    }

    /// The next batch, the end of the epoch or a time-out. Several threads may call it; each gets a different batch.
    #[inline]
    pub(crate) fn next(&self, timeout_ns: i64) -> Result<Next> {
        match &self.0 {
            // SAFETY: a live handle; the library passes the batch to the caller.
            Ok(Some(handle)) => unsafe {
                Next::of(|batch, error| sys::dl_epoch_next(handle.0, timeout_ns, batch, error))
            },
            Ok(None) => Ok(Next::EndOfEpoch),
            Err(error) => Err(error.clone()),
        }
    }

    pub(crate) fn interrupt(&self) {
        if let Ok(Some(handle)) = &self.0 {
            // SAFETY: a live handle.
            unsafe { sys::dl_epoch_interrupt(handle.0) };
        }
    }
}

/// Whether iteration stops after `item`. A bad sample and an interrupt lose no batch: the next call
/// continues.
pub(crate) fn is_last(item: &Option<Result<Batch>>) -> bool {
    match item {
        None => true,
        Some(Err(error)) => !matches!(error.code(), Code::BadSample | Code::Interrupted),
        Some(Ok(_)) => false,
    }
}

/// The batches from the loader's position to the end of its epoch; `None` if unknown.
fn remaining(loader: &Loader<'_>) -> Option<usize> {
    let step = loader.position().map_or(0, |position| position.step);
    loader.steps().map(|steps| steps.saturating_sub(usize::try_from(step).unwrap_or(usize::MAX)))
}

/// The batches of one epoch, in order; see [`Loader::epoch`].
///
/// A newer loop over the same loader, [`Loader::seek`] and [`Loader::load_state`] end it, from any thread:
/// the next item is then an error with [`Code::WrongState`].
///
/// Iteration stops after an error, with two exceptions. After [`Code::BadSample`], the next item contains the
/// good samples of that step. After [`Code::Interrupted`], the next item is the batch that was due. `len` is
/// the number of remaining batches. Errors are additional items, and calls of [`Loader::next`] take batches
/// from the loop.
///
/// `len` panics if the number of batches is unknown ([`Loader::steps`] is `None`); `size_hint` does not.
///
/// Threads share an epoch: each loops over `&epoch`. Each batch goes to one of them. All of them see the end
/// of the epoch, or an error that ends it.
///
/// ```
/// # use dataline::{Array, Dataset, Loader, Options};
/// # fn main() -> dataline::Result<()> {
/// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[100], &[1u8; 100])?], &Options::new())?;
/// let loader = Loader::new(&dataset, &Options::new().set("batch_size", 8))?;
/// let epoch = loader.epoch();
/// let count = || epoch.iter().try_fold(0, |sum, batch| Ok(sum + batch?.len()));
/// let counts: dataline::Result<Vec<usize>> = std::thread::scope(|threads| {
///     let workers: Vec<_> = (0..3).map(|_| threads.spawn(count)).collect();
///     workers.into_iter().map(|worker| worker.join().unwrap()).collect()
/// });
/// assert_eq!(counts?.iter().sum::<usize>(), 100);
/// # Ok(())
/// # }
/// ```
///
/// It cannot outlive its loader:
///
/// ```compile_fail,E0505
/// fn count(loader: dataline::Loader<'static>) -> usize {
///     let epoch = loader.epoch();
///     drop(loader);
///     epoch.count()
/// }
/// ```
#[must_use = "batches are loaded ahead; iterate to take them"]
pub struct Epoch<'l> {
    inner: Loop,
    /// The number of batches when it started; `None` if unknown.
    total: Option<usize>,
    /// Batches of `total` taken by all threads.
    taken: AtomicUsize,
    done: bool,
    loader: PhantomData<&'l Loader<'l>>,
}

impl<'l> Epoch<'l> {
    pub(crate) fn begin(loader: &'l Loader<'_>) -> Epoch<'l> {
        let inner = Loop::begin(loader);
        let total = if inner.has_begun() { remaining(loader) } else { Some(0) };
        Epoch { inner, total, taken: AtomicUsize::new(0), done: false, loader: PhantomData }
    }

    /// The batches that one of several threads takes; the same as `for batch in &epoch`.
    pub fn iter(&self) -> Batches<'_> {
        Batches { epoch: self, done: false }
    }

    /// Interrupts every call that waits for a batch of this epoch: its item is
    /// [`Error::Interrupted`](crate::Error::Interrupted). If no thread waits, the next call is interrupted.
    /// No batch is lost. Any thread; never blocks.
    ///
    /// ```
    /// # use dataline::{Array, Dataset, Error, Loader, Options};
    /// # fn main() -> dataline::Result<()> {
    /// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[8], &[0u8; 8])?], &Options::new())?;
    /// let loader = Loader::new(&dataset, &Options::new().set("batch_size", 4))?;
    /// let epoch = loader.epoch();
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| epoch.interrupt());
    /// });
    /// let mut batches = epoch.iter();
    /// assert!(matches!(batches.next(), Some(Err(Error::Interrupted))));
    /// assert_eq!(batches.count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn interrupt(&self) {
        self.inner.interrupt();
    }

    fn left(&self) -> Option<usize> {
        self.total.map(|total| total.saturating_sub(self.taken.load(Relaxed)))
    }

    #[inline]
    fn take_batch(&self) -> Option<Result<Batch>> {
        match self.inner.next(-1) {
            Ok(Next::Batch(batch)) => {
                self.taken.fetch_add(1, Relaxed);
                Some(Ok(batch))
            }
            Ok(_) => {
                self.taken.store(self.total.unwrap_or(0), Relaxed); // also those that Loader::next took
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl Iterator for Epoch<'_> {
    type Item = Result<Batch>;

    #[inline]
    fn next(&mut self) -> Option<Result<Batch>> {
        if self.done {
            return None;
        }
        let item = self.take_batch();
        self.done = is_last(&item);
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = if self.done { Some(0) } else { self.left() };
        (left.unwrap_or(0), left)
    }
}

impl ExactSizeIterator for Epoch<'_> {}

impl FusedIterator for Epoch<'_> {}

impl<'e> IntoIterator for &'e Epoch<'_> {
    type Item = Result<Batch>;
    type IntoIter = Batches<'e>;

    fn into_iter(self) -> Batches<'e> {
        self.iter()
    }
}

impl fmt::Debug for Epoch<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Epoch")
            .field("left", &self.left())
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

/// The batches of an [`Epoch`] that one of several threads takes; see [`Epoch::iter`].
#[must_use = "batches are loaded ahead; iterate to take them"]
pub struct Batches<'e> {
    epoch: &'e Epoch<'e>,
    done: bool,
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch>;

    #[inline]
    fn next(&mut self) -> Option<Result<Batch>> {
        if self.done {
            return None;
        }
        let item = self.epoch.take_batch();
        self.done = is_last(&item);
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, if self.done { Some(0) } else { self.epoch.left() }) // others take some
    }
}

impl FusedIterator for Batches<'_> {}

impl fmt::Debug for Batches<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Batches").field("epoch", self.epoch).field("done", &self.done).finish()
    }
}
