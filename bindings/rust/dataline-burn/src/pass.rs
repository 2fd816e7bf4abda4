//! One pass over an epoch.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::BurnLoader;
use burn_core::data::dataloader::{DataLoaderIterator, Progress};
use burn_core::data::dataset::DatasetError;
use dataline::{Code, Error, Loader, Next};
use std::marker::PhantomData;

fn progress(processed: usize, total: usize) -> Progress {
    Progress::new(processed, total, Some("items".to_owned()))
}

/// Holds a loader until the pass ends, then returns it for the next pass.
pub(crate) struct Pass<'a, O: Send + 'static> {
    loader: Option<Loader<'static>>,
    of: &'a BurnLoader<O>,
    processed: usize,
    done: bool,
}

impl<'a, O: Send + 'static> Pass<'a, O> {
    pub(crate) fn new(loader: Loader<'static>, of: &'a BurnLoader<O>) -> Pass<'a, O> {
        Pass { loader: Some(loader), of, processed: 0, done: false }
    }
}

impl<O: Send + 'static> Iterator for Pass<'_, O> {
    type Item = Result<O, DatasetError>;

    fn next(&mut self) -> Option<Result<O, DatasetError>> {
        let loader = self.loader.as_ref().filter(|_| !self.done)?;
        let failure = match loader.next(None) {
            Ok(Next::Batch(batch)) => {
                self.processed += batch.len();
                return Some(self.of.collate(&batch).map_err(DatasetError::new));
            }
            Ok(_) => {
                self.done = true;
                return None;
            }
            Err(failure) => failure,
        };
        self.done = failure.code() != Code::BadSample;
        Some(Err(DatasetError::new(failure)))
    }
}

impl<O: Send + 'static> DataLoaderIterator<O> for Pass<'_, O> {
    fn progress(&self) -> Progress {
        progress(self.processed, self.of.items())
    }
}

impl<O: Send + 'static> Drop for Pass<'_, O> {
    fn drop(&mut self) {
        if let Some(loader) = self.loader.take() {
            self.of.put_back(loader);
        }
    }
}

/// A pass without a batch: the dataset has no samples, or the pass could not start and its only item is the
/// error.
pub(crate) struct Nothing<O> {
    error: Option<Error>,
    of: PhantomData<fn() -> O>,
}

impl<O> Nothing<O> {
    pub(crate) fn because(error: Option<Error>) -> Nothing<O> {
        Nothing { error, of: PhantomData }
    }
}

impl<O> Iterator for Nothing<O> {
    type Item = Result<O, DatasetError>;

    fn next(&mut self) -> Option<Result<O, DatasetError>> {
        self.error.take().map(|error| Err(DatasetError::new(error)))
    }
}

impl<O> DataLoaderIterator<O> for Nothing<O> {
    fn progress(&self) -> Progress {
        progress(0, 0)
    }
}
