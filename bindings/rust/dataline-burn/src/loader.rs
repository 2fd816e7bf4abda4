//! The data loader.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::pass::{Nothing, Pass};
use burn_core::data::dataloader::{DataLoader, DataLoaderIterator};
use burn_core::tensor::Device;
use dataline::{Batch, Dataset, Loader, Options, Result};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Turns a batch into the item of a training step, on a device.
pub(crate) type Collate<O> = dyn Fn(&Batch, &Device) -> Result<O> + Send + Sync;

/// State that a loader and its slices share.
struct Job<O> {
    /// Options are not `Sync`; they are only read.
    options: Mutex<Options>,
    collate: Box<Collate<O>>,
}

/// State between two passes.
struct Idle {
    /// Its threads keep running, and load the next epoch between passes.
    loader: Option<Loader<'static>>,
    /// The epoch of the next pass.
    epoch: u64,
}

/// A [`DataLoader`] over a Dataline dataset. The k-th pass ([`DataLoader::iter`]) is the k-th epoch from the
/// option `start_epoch`. With `shuffle=full` every pass therefore has its own order, which is the same on
/// each run. Threads, slots and batches loaded ahead are kept from pass to pass. Concurrent passes have their
/// own loaders.
///
/// `sample_indices` and `weights` refer to samples of the complete dataset. With these options,
/// [`DataLoader::slice`] fails or selects the wrong part; use [`Dataset::subset`] instead.
///
/// `num_workers`, `batch_size`, `shuffle`, `seed` and all other settings are [`Options`]. Leave `epochs` at
/// its default, because burn counts the epochs.
pub struct BurnLoader<O> {
    job: Arc<Job<O>>,
    /// Why a slice could not be created; its first item reports this.
    dataset: Result<Arc<Dataset<'static>>>,
    device: Device,
    items: usize,
    idle: Arc<Mutex<Idle>>,
}

impl<O: Send + 'static> BurnLoader<O> {
    /// A loader for the default device. The iterating thread calls `collate`.
    ///
    /// # Errors
    /// Like [`Loader::new`], which is called here once, so that wrong options are reported before training.
    pub fn new<C>(dataset: Dataset<'static>, options: Options, collate: C) -> Result<BurnLoader<O>>
    where
        C: Fn(&Batch, &Device) -> Result<O> + Send + Sync + 'static,
    {
        let loader = Loader::new(&dataset, &options)?;
        let epoch = loader.position()?.epoch;
        let items = items_of(&dataset, &loader, &options)?;
        Ok(BurnLoader {
            job: Arc::new(Job { options: Mutex::new(options), collate: Box::new(collate) }),
            dataset: Ok(Arc::new(dataset)),
            device: Device::default(),
            items,
            idle: Arc::new(Mutex::new(Idle { loader: Some(loader), epoch })),
        })
    }

    /// The same data for another device, or another part of it. Continues with the same epoch, with its own
    /// threads.
    fn derive(&self, dataset: Result<Arc<Dataset<'static>>>, device: Device) -> BurnLoader<O> {
        let idle = Idle { loader: None, epoch: locked(&self.idle).epoch };
        let mut derived =
            BurnLoader { job: self.job.clone(), dataset, device, items: 0, idle: Arc::new(Mutex::new(idle)) };
        if let Err(error) = derived.prepare() {
            derived.dataset = Err(error);
        }
        derived
    }

    /// Creates the loader of a derived one, and counts its items. A part without samples has none.
    fn prepare(&mut self) -> Result<()> {
        let dataset = self.dataset.clone()?;
        if dataset.is_empty() {
            return Ok(());
        }
        let options = locked(&self.job.options);
        let loader = Loader::new(&dataset, &options)?;
        self.items = items_of(&dataset, &loader, &options)?;
        locked(&self.idle).loader = Some(loader);
        Ok(())
    }

    /// A pass over the next epoch, with the idle loader if there is one.
    fn pass(&self) -> Result<Option<Pass<'_, O>>> {
        let dataset = self.dataset.as_ref().map_err(Clone::clone)?;
        if dataset.is_empty() {
            return Ok(None);
        }
        let (loader, epoch) = {
            let mut idle = locked(&self.idle);
            let epoch = idle.epoch;
            idle.epoch += 1;
            (idle.loader.take(), epoch)
        };
        let loader = match loader {
            Some(loader) => loader,
            None => Loader::new(dataset, &locked(&self.job.options))?,
        };
        let at = loader.position()?;
        if at.epoch != epoch {
            loader.seek(epoch, 0)?; // left in the middle, or new
        }
        Ok(Some(Pass::new(loader, self)))
    }

    pub(crate) fn items(&self) -> usize {
        self.items
    }

    pub(crate) fn collate(&self, batch: &Batch) -> Result<O> {
        (self.job.collate)(batch, &self.device)
    }

    /// Takes a loader back from a pass.
    pub(crate) fn put_back(&self, loader: Loader<'static>) {
        locked(&self.idle).loader = Some(loader);
    }
}

impl<O: Send + 'static> DataLoader<O> for BurnLoader<O> {
    /// The next epoch. An item is an error if a batch could not be delivered. After a bad sample
    /// (`on_error=raise`), the next item contains the good samples of the step. After any other error, the
    /// iterator ends.
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<O> + 'a> {
        match self.pass() {
            Ok(Some(pass)) => Box::new(pass),
            Ok(None) => Box::new(Nothing::because(None)),
            Err(error) => Box::new(Nothing::because(Some(error))),
        }
    }

    /// The number of rows that a pass delivers to this rank, including pads.
    fn num_items(&self) -> usize {
        self.items
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<O>> {
        Arc::new(self.derive(self.dataset.clone(), device.clone()))
    }

    /// Samples `start .. end` of the dataset, shuffled among themselves if the options request it. If the
    /// range is invalid (an end past the last sample), the first item is the error.
    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<O>> {
        let part = |dataset: &Arc<Dataset<'static>>| {
            let indices: Vec<i64> = (start..end).filter_map(|index| i64::try_from(index).ok()).collect();
            dataset.subset(indices).map(Arc::new)
        };
        let dataset = self.dataset.as_ref().map_err(Clone::clone).and_then(part);
        Arc::new(self.derive(dataset, self.device.clone()))
    }
}

impl<O> fmt::Debug for BurnLoader<O> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BurnLoader")
            .field("dataset", &self.dataset)
            .field("device", &self.device)
            .field("items", &self.items)
            .finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of rows that a pass delivers: this rank's share of each step, by the rule of `batch_size` in
/// the library's table of options, if no sample is bad.
fn items_of(dataset: &Dataset<'_>, loader: &Loader<'_>, options: &Options) -> Result<usize> {
    let number = |key: &str| options.get(key).map(|text| text.parse::<usize>().ok());
    let slots = match number("samples_per_epoch")? {
        Some(slots) => slots,
        None => dataset.len().unwrap_or(0),
    };
    let (rank, ranks) = (number("rank")?.unwrap_or(0), number("world_size")?.unwrap_or(1));
    let step = match number("global_batch_size")? {
        Some(step) => step,
        None => number("batch_size")?.unwrap_or(1) * ranks,
    };
    let share = |slots: usize| slots * (rank + 1) / ranks - slots * rank / ranks;
    let whole = slots / step;
    // A step more than whole ones: the last, kept short or padded. Otherwise there is none, or it is dropped.
    let last = match loader.steps() {
        Some(steps) if steps > whole && options.get("last_batch")? == "pad" => share(step),
        Some(steps) if steps > whole => share(slots % step),
        _ => 0,
    };
    Ok(whole * share(step) + last)
}
