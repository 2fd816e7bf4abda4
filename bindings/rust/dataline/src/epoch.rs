//! One epoch as an iterator.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Batch, Code, Error, Loader, Result};
use std::fmt;
use std::iter::FusedIterator;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The batches of one epoch, in order; see [`Loader::epoch`].
///
/// Another loop over the same loader that begins (in this thread or another), [`Loader::seek`] and [`Loader::load_state`]
/// end it: the next item is then an error with [`Code::WrongState`].
///
/// An error ends it, but for [`Code::BadSample`]: the item after that is the step's good samples. `len` counts the
/// batches that are left, so such errors come on top, and calls of [`Loader::next`] take batches away.
///
/// `len` panics where the number of batches is not known ([`Loader::steps`] is `None`); `size_hint` does not.
///
/// Threads share an epoch by a loop over `&epoch` each: every batch goes to one of them. An error goes to one of them too,
/// and ends the others' loops as if the epoch were over.
///
/// ```
/// # use dataline::{Array, Dataset, Loader, Options};
/// # fn main() -> dataline::Result<()> {
/// # let dataset = Dataset::from_arrays(&[Array::dense("x", &[100], &[1u8; 100])?], &Options::new())?;
/// let loader = Loader::new(&dataset, &Options::new().set("batch_size", 8))?;
/// let epoch = loader.epoch();
/// let count = || (&epoch).try_fold(0, |sum, batch| Ok(sum + batch?.len()));
/// let counts: dataline::Result<Vec<usize>> = std::thread::scope(|threads| {
///     let workers: Vec<_> = (0..3).map(|_| threads.spawn(count)).collect();
///     workers.into_iter().map(|worker| worker.join().unwrap()).collect()
/// });
/// assert_eq!(counts?.iter().sum::<usize>(), 100);
/// # Ok(())
/// # }
/// ```
///
/// It cannot be used after its loader:
///
/// ```compile_fail,E0505
/// fn count(loader: dataline::Loader<'static>) -> usize {
///     let epoch = loader.epoch();
///     drop(loader);
///     epoch.count()
/// }
/// ```
#[must_use = "batches are loaded ahead, and taken by iterating"]
pub struct Epoch<'l> {
    loader: &'l Loader<'l>,
    /// Of its loop.
    number: u64,
    /// Batches; `usize::MAX` when not known.
    left: AtomicUsize,
    failed: Mutex<Option<Error>>,
    done: AtomicBool,
}

const NOT_KNOWN: usize = usize::MAX;

impl<'l> Epoch<'l> {
    pub(crate) fn begin(loader: &'l Loader<'_>) -> Epoch<'l> {
        let (number, left, failed) = match Epoch::start(loader) {
            Ok(Some((number, left))) => (number, left, None),
            Ok(None) => (0, 0, None),
            Err(error) => (0, 0, Some(error)),
        };
        // No loop has number 0: it is over, or it is never asked for a batch.
        let done = AtomicBool::new(number == 0 && failed.is_none());
        Epoch { loader, number, left: AtomicUsize::new(left), failed: Mutex::new(failed), done }
    }

    fn start(loader: &Loader<'_>) -> Result<Option<(u64, usize)>> {
        Ok(loader.loops().begin()?.map(|(number, step)| {
            let step = usize::try_from(step).unwrap_or(usize::MAX);
            (number, loader.steps().map_or(NOT_KNOWN, |steps| steps.saturating_sub(step)))
        }))
    }

    fn left(&self) -> Option<usize> {
        Some(self.left.load(Relaxed)).filter(|&left| left != NOT_KNOWN)
    }

    fn end(&self) {
        self.done.store(true, Relaxed);
        self.left.store(0, Relaxed);
    }

    fn take_batch(&self) -> Option<Result<Batch>> {
        if self.done.load(Relaxed) {
            return None;
        }
        if self.number == 0 {
            self.end();
            return self.failed.lock().unwrap_or_else(PoisonError::into_inner).take().map(Err);
        }
        match self.loader.loops().next(self.number) {
            Ok(Some(batch)) => {
                let less = |left: usize| {
                    Some(left).filter(|&left| left != NOT_KNOWN).map(|left| left.saturating_sub(1))
                };
                let _ = self.left.fetch_update(Relaxed, Relaxed, less);
                Some(Ok(batch))
            }
            Ok(None) => {
                self.end();
                None
            }
            Err(error) => {
                if error.code() != Code::BadSample {
                    self.end();
                }
                Some(Err(error))
            }
        }
    }
}

impl Iterator for Epoch<'_> {
    type Item = Result<Batch>;

    #[inline]
    fn next(&mut self) -> Option<Result<Batch>> {
        self.take_batch()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left().unwrap_or(0), self.left())
    }
}

impl ExactSizeIterator for Epoch<'_> {}

impl FusedIterator for Epoch<'_> {}

/// For threads that share it.
impl Iterator for &Epoch<'_> {
    type Item = Result<Batch>;

    #[inline]
    fn next(&mut self) -> Option<Result<Batch>> {
        self.take_batch()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.left()) // others take some
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
