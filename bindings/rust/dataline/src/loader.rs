//! Loaders.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::cancel::Shared;
use crate::lend::lend;
use crate::trace::Tracing;
use crate::{ffi, field, Batch, CancelHandle, Dataset, Device, Epoch, Field, Metrics, Next, Options};
use crate::{Code, Error, PixelScale, PlanStage, Result};
use dataline_sys as sys;
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::io::BorrowedFd;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

/// A job's stream of batches; owns threads, slots and position. `'a` is the lifetime of the data that its
/// dataset borrows.
///
/// Any thread, also concurrently: each call of [`Loader::next`] gets a different batch. Held batches stay
/// valid after the loader is dropped.
pub struct Loader<'a> {
    handle: *mut sys::dl_loader,
    shared: Arc<Shared>,
    tracing: Tracing, // dropped after the handle is destroyed
    borrowed: PhantomData<&'a [u8]>,
}

// SAFETY: the library's loaders lock themselves; they are destroyed by their only owner.
unsafe impl Send for Loader<'_> {}
// SAFETY: as above.
unsafe impl Sync for Loader<'_> {}

/// The position of a loader. Counts batches that were delivered, not those loaded ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 0.
    pub epoch: u64,
    /// Batches delivered in this epoch. If equal to [`Loader::steps`], the end of the epoch has not been
    /// returned yet.
    pub step: u64,
}

impl<'a> Loader<'a> {
    /// Plans memory, starts the workers and starts to load.
    ///
    /// # Errors
    /// [`Error::Call`](crate::Error::Call) for invalid options and transforms,
    /// [`Error::Machine`](crate::Error::Machine) if memory or threads do not suffice.
    pub fn new(dataset: &Dataset<'a>, options: &Options) -> Result<Loader<'a>> {
        let mut handle = ptr::null_mut();
        options.give_environment()?;
        let options = options.raw()?;
        // SAFETY: live arguments; the loader keeps its own reference on the dataset.
        ffi::hard(|error| unsafe { sys::dl_loader_create(dataset.raw(), options, &mut handle, error) })?;
        let shared = Arc::new(Shared::new(handle));
        Ok(Loader { handle, shared, tracing: Tracing::default(), borrowed: PhantomData })
    }

    /// The batches of one epoch. After [`Loader::seek`] or [`Loader::load_state`], the rest of the current
    /// epoch. If the current epoch was left in the middle, the next epoch from its first step. Empty after
    /// the last epoch. The same as `for batch in &loader`.
    ///
    /// It ends the current loop over the same loader, if any: the next item of that loop is an error. Threads
    /// share an epoch by sharing one [`Epoch`].
    pub fn epoch(&self) -> Epoch<'_> {
        Epoch::begin(self)
    }

    /// Returns the next batch, in order. `None` waits without limit; zero polls. With `num_workers=0` the
    /// call itself loads, without regard to the timeout. It takes batches from the same stream as loops do,
    /// and ends no loop.
    ///
    /// # Errors
    /// [`BadSample`](crate::Code::BadSample) with `on_error=raise`: once per step; the next call delivers the
    /// good samples of that step. [`LeasesHeld`](crate::Code::LeasesHeld), [`Forked`](crate::Code::Forked),
    /// cancelled, interrupted.
    #[inline]
    pub fn next(&self, timeout: Option<Duration>) -> Result<Next> {
        let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let timeout_ns = timeout.map_or(-1, nanoseconds);
        // SAFETY: a live handle; the library passes the batch to the caller.
        unsafe { Next::of(|batch, error| sys::dl_loader_next(self.handle, timeout_ns, batch, error)) }
    }

    /// `num_workers=0`: loads on this thread for about `budget`, for example in a frame loop; at least one
    /// run of samples. True: [`Loader::next`] returns immediately.
    ///
    /// # Errors
    /// [`Code::Forked`](crate::Code::Forked), a lost device; cancelled, interrupted.
    pub fn work(&self, budget: Duration) -> Result<bool> {
        let budget_ns = i64::try_from(budget.as_nanos()).unwrap_or(i64::MAX);
        let mut due = true;
        ffi::hard(|error| {
            // SAFETY: a live handle.
            let status = unsafe { sys::dl_loader_work(self.handle, budget_ns, error) };
            due = status != sys::DL_TIMEOUT;
            if due {
                status
            } else {
                sys::DL_OK
            }
        })?;
        Ok(due)
    }

    pub(crate) fn raw(&self) -> *mut sys::dl_loader {
        self.handle
    }

    pub(crate) fn tracing(&self) -> &Tracing {
        &self.tracing
    }

    /// The loader's measurements, as a table that outlives it. With `stats=full`, or after a trace has
    /// started, also where the time goes.
    ///
    /// # Errors
    /// [`Code::Forked`](crate::Code::Forked).
    pub fn metrics(&self) -> Result<Metrics> {
        // SAFETY: a live handle.
        unsafe { Metrics::of(self.handle) }
    }

    /// The current position.
    ///
    /// # Errors
    /// [`Code::Forked`](crate::Code::Forked).
    pub fn position(&self) -> Result<Position> {
        let (mut epoch, mut step) = (0, 0);
        // SAFETY: a live handle.
        ffi::hard(|error| unsafe { sys::dl_loader_position(self.handle, &mut epoch, &mut step, error) })?;
        Ok(Position { epoch: u64::try_from(epoch).unwrap_or(0), step: u64::try_from(step).unwrap_or(0) })
    }

    /// Seeks to a step of an epoch. Clears a cancel and an interrupt, and ends the current loop. Held batches
    /// stay valid.
    ///
    /// # Errors
    /// [`OutOfRange`](crate::Code::OutOfRange), which names the limits.
    pub fn seek(&self, epoch: u64, step: u64) -> Result<()> {
        let clamp = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        // SAFETY: a live handle.
        ffi::hard(|error| unsafe { sys::dl_loader_seek(self.handle, clamp(epoch), clamp(step), error) })
    }

    /// Batches per epoch, the same on every rank; `None` if unknown.
    #[must_use]
    pub fn steps(&self) -> Option<usize> {
        // SAFETY: a live handle.
        usize::try_from(unsafe { sys::dl_loader_steps(self.handle) }).ok()
    }

    /// Replaces the order, starting with the next epoch that has not begun. For loaders created with
    /// [`Options::sample_indices`]. Borrowed from `owner` as there.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`](crate::Code::InvalidArgument) or
    /// [`Code::OutOfRange`](crate::Code::OutOfRange) if the length differs from that of the first order, or
    /// an index does not exist.
    pub fn set_indices(&self, owner: impl AsRef<[i64]> + Send + Sync + 'static) -> Result<()> {
        lend(owner, |owner, release, context| {
            let indices = owner.as_ref();
            let count = ffi::length(indices.len())?;
            // SAFETY: the owner keeps its address until it is released.
            ffi::hard(|error| unsafe {
                sys::dl_loader_set_indices(self.handle, indices.as_ptr(), count, release, context, error)
            })
        })
    }

    /// The position and the identity of the job, as text. Any language and the shell can resume from it.
    ///
    /// # Errors
    /// [`Code::Forked`](crate::Code::Forked).
    pub fn save_state(&self) -> Result<String> {
        // SAFETY: a live handle, and room of that size.
        ffi::text_from(|room, bytes, error| unsafe {
            sys::dl_loader_state_save(self.handle, room, bytes, error)
        })
    }

    /// Seeks to a saved position. Threads, depth, I/O, memory and transform may differ from the saving job.
    /// Rank and world size may differ too, if the global batch is equal.
    ///
    /// # Errors
    /// [`Error::State`](crate::Error::State): damaged, or of another job; names both values.
    pub fn load_state(&self, text: &str) -> Result<()> {
        let text = ffi::c_text("state", text)?;
        // SAFETY: a live handle and text.
        ffi::hard(|error| unsafe { sys::dl_loader_state_load(self.handle, text.as_ptr(), error) })
    }

    /// A handle that ends this loader's waits from other threads.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle { shared: Arc::clone(&self.shared) }
    }

    /// A file descriptor that is readable while [`Loader::next`] would not wait. Poll it; never read it.
    ///
    /// # Errors
    /// [`Code::Forked`](crate::Code::Forked); [`Code::TooManyFiles`](crate::Code::TooManyFiles) if the
    /// process has too many open files.
    pub fn wait_handle(&self) -> Result<BorrowedFd<'_>> {
        let mut handle = -1;
        // SAFETY: a live handle.
        ffi::hard(|error| unsafe { sys::dl_loader_wait_handle(self.handle, &mut handle, error) })?;
        // SAFETY: the descriptor lives as long as the loader.
        Ok(unsafe { BorrowedFd::borrow_raw(handle as i32) })
    }

    /// The schema of batches, after transforms. The first dim is -1 if batches may differ in size.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        let mut count = 0;
        // SAFETY: a live handle; borrowed results are copied.
        unsafe { field::fields_of(sys::dl_loader_fields(self.handle, &mut count), count) }
    }

    /// The device of its batches.
    #[must_use]
    pub fn device(&self) -> Device {
        let mut count = 0;
        // SAFETY: a live handle; the views live as long as it.
        let views = unsafe {
            let first = sys::dl_loader_fields(self.handle, &mut count);
            ffi::Views::new(first, count)
        };
        views.iter().next().map_or(Device::Cpu, |view| Device::of(view.device_type, view.device_index))
    }

    /// How to recover the pixels of a field: the value delivered in a channel is `pixel * scale + offset`,
    /// where `pixel` is the stored u8 or u16. If all channels have the same scale, any channel works.
    ///
    /// # Errors
    /// [`Code::NoSuchField`], [`Code::InvalidArgument`] for a channel that does not exist,
    /// [`Code::Unsupported`] if values do not map back to pixels.
    pub fn pixel_scale(&self, field: &str, channel: usize) -> Result<PixelScale> {
        let names: Vec<String> = self.fields().into_iter().map(|one| one.name).collect();
        let place = names.iter().position(|name| name == field).ok_or_else(|| {
            Error::new(Code::NoSuchField, format!("no field '{field}'; the fields are {}", names.join(", ")))
        })?;
        let (place, channel) = (ffi::count("fields", place)?, ffi::length(channel)?);
        let mut found = PixelScale { scale: 1.0, offset: 0.0 };
        let (scale, offset) = (&mut found.scale, &mut found.offset);
        // SAFETY: a live handle.
        ffi::hard(|error| unsafe {
            sys::dl_loader_pixel_scale(self.handle, place, channel, scale, offset, error)
        })?;
        Ok(found)
    }

    /// Where each stage of a sample runs, in order, field by field: on the host, copies over the bus, on the
    /// device.
    ///
    /// # Errors
    /// Only [`Error::Internal`](crate::Error::Internal).
    pub fn plan(&self) -> Result<Vec<PlanStage>> {
        let device = self.device();
        // SAFETY: a live handle.
        (0..unsafe { sys::dl_loader_plan_count(self.handle) })
            .map(|index| {
                let size = ffi::size::<sys::dl_plan_stage>();
                let mut stage = sys::dl_plan_stage { struct_size: size, ..Default::default() };
                // SAFETY: a live handle; `stage` states its size.
                ffi::hard(|error| unsafe { sys::dl_loader_plan_at(self.handle, index, &mut stage, error) })?;
                // SAFETY: its texts live as long as the loader.
                Ok(unsafe { PlanStage::of(&stage, device) })
            })
            .collect()
    }
}

impl<'l> IntoIterator for &'l Loader<'_> {
    type Item = Result<Batch>;
    type IntoIter = Epoch<'l>;

    fn into_iter(self) -> Epoch<'l> {
        self.epoch()
    }
}

impl Drop for Loader<'_> {
    fn drop(&mut self) {
        self.shared.close();
        // SAFETY: the handle is this value's own, and no cancel handle reaches it any more.
        unsafe { sys::dl_loader_destroy(self.handle) };
    }
}

impl fmt::Debug for Loader<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Loader")
            .field("steps", &self.steps())
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}
