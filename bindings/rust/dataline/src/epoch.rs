//! One epoch as an iterator.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Batch, Code, Error, Loader, Next, Result};
use std::fmt;
use std::iter::FusedIterator;

/// The batches of one epoch, in order; see [`Loader::epoch`].
///
/// An error ends it, but for [`Code::BadSample`]: the item after that is the step's good samples. `len` counts the
/// batches that are left, so such errors come on top, and another thread that takes batches of the loader takes them
/// away.
///
/// `len` panics where the number of batches is not known ([`Loader::steps`] is `None`); `size_hint` does not.
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
    /// Batches; `None` when not known.
    left: Option<usize>,
    failed: Option<Error>,
    done: bool,
}

impl<'l> Epoch<'l> {
    pub(crate) fn begin(loader: &'l Loader<'_>) -> Epoch<'l> {
        let mut epoch = Epoch { loader, left: Some(0), failed: None, done: false };
        match epoch.start() {
            Ok(left) => epoch.left = left,
            Err(error) => epoch.failed = Some(error),
        }
        epoch
    }

    fn start(&mut self) -> Result<Option<usize>> {
        if !self.loader.begin_epoch()? {
            self.done = true;
            return Ok(Some(0));
        }
        let step = usize::try_from(self.loader.position()?.step).unwrap_or(usize::MAX);
        Ok(self.loader.steps().map(|steps| steps.saturating_sub(step)))
    }
}

impl Iterator for Epoch<'_> {
    type Item = Result<Batch>;

    #[inline]
    fn next(&mut self) -> Option<Result<Batch>> {
        if self.done {
            return None;
        }
        if let Some(error) = self.failed.take() {
            self.done = true;
            return Some(Err(error));
        }
        match self.loader.next(None) {
            Ok(Next::Batch(batch)) => {
                self.left = self.left.map(|left| left.saturating_sub(1));
                Some(Ok(batch))
            }
            Ok(_) => {
                self.done = true;
                self.left = Some(0);
                None
            }
            Err(error) => {
                if error.code() != Code::BadSample {
                    self.done = true;
                    self.left = Some(0);
                }
                Some(Err(error))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.unwrap_or(0), self.left)
    }
}

impl ExactSizeIterator for Epoch<'_> {}

impl FusedIterator for Epoch<'_> {}

impl fmt::Debug for Epoch<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Epoch").field("left", &self.left).field("done", &self.done).finish_non_exhaustive()
    }
}
