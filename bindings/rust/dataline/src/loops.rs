//! Tracks which loop over a loader is current, and the synchronization of loops, seeks and loads.
//!
//! A loop is one epoch. A new loop, a seek or a load ends the current loop: its next call is an error, so that no
//! batch goes astray between two loops. All that take from one [`Epoch`](crate::Epoch) share its loop, and all see its end.
//! The library has one position and no notion of loops; they are identified by a number here.
//!
//! The turn is held by a loop inside `dl_loader_next`, and by what ends loops while it does so. The latter interrupts the
//! former, which comes back when that is done and finds its number outdated, so a batch is never taken between the end of
//! one loop and the begin of another. [`Loader::next`](crate::Loader::next) holds no turn: its calls are counted, and a
//! loop that sees some looks where the loader is.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::cancel::Shared;
use crate::{ffi, Batch, Code, Error, Next, Result};
use dataline_sys as sys;
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

const ENDED: &str =
    "this loop's epoch was ended by another loop over the same loader (begin_epoch, seek or load_state)";

/// Of the current loop.
#[derive(Default)]
struct Turn {
    number: u64,
    epoch: i64,
    over: bool,
    strangers: u64,
}

pub(crate) struct Loops {
    loader: *mut sys::dl_loader,
    turn: Mutex<Turn>,
    /// Those that wait for the turn to end loops.
    wanted: AtomicUsize,
    /// Interrupts of those.
    evictions_begun: AtomicU64,
    evictions_done: AtomicU64,
    /// Counts the interrupts of the program.
    shared: Arc<Shared>,
    /// Calls of `Loader::next`, counted before they can take anything.
    strangers: AtomicU64,
}

// SAFETY: the library's loaders lock themselves; whoever has this keeps the loader.
unsafe impl Send for Loops {}
// SAFETY: as above.
unsafe impl Sync for Loops {}

impl Loops {
    pub(crate) fn new(loader: *mut sys::dl_loader, shared: Arc<Shared>) -> Loops {
        Loops {
            loader,
            turn: Mutex::default(),
            wanted: AtomicUsize::new(0),
            evictions_begun: AtomicU64::new(0),
            evictions_done: AtomicU64::new(0),
            shared,
            strangers: AtomicU64::new(0),
        }
    }

    /// Begins a loop, and says its number and the step it begins at; `None` after the last epoch.
    pub(crate) fn begin(&self) -> Result<Option<(u64, i64)>> {
        let mut turn = self.seize()?;
        // SAFETY: a live handle.
        let status = ffi::soft(|error| unsafe { sys::dl_loader_begin_epoch(self.loader, error) })?;
        if status != sys::DL_OK && status != sys::DL_END {
            return Err(ffi::soft_error(status));
        }
        turn.number += 1;
        if status == sys::DL_END {
            return Ok(None);
        }
        let (epoch, step) = self.position()?;
        *turn = Turn { number: turn.number, epoch, over: false, strangers: self.strangers.load(SeqCst) };
        Ok(Some((turn.number, step)))
    }

    /// Moves the position by a call; if that succeeds, the current loop is ended.
    pub(crate) fn displace(
        &self,
        call: impl FnOnce(*mut sys::dl_loader, *mut sys::dl_error) -> sys::dl_status,
    ) -> Result<()> {
        let mut turn = self.seize()?;
        ffi::hard(|error| call(self.loader, error))?;
        turn.number += 1;
        Ok(())
    }

    /// The next batch of a loop; `None` at its end, to all who share it.
    #[inline]
    pub(crate) fn next(&self, number: u64) -> Result<Option<Batch>> {
        Ok(match self.take(number, -1, || true)? {
            Next::Batch(batch) => Some(batch),
            _ => None,
        })
    }

    /// The same, within a time, or while `going`.
    #[inline]
    pub(crate) fn take(&self, number: u64, timeout_ns: i64, going: impl Fn() -> bool) -> Result<Next> {
        loop {
            let calm = self.calm();
            let mut turn = self.take_turn()?;
            if turn.number != number {
                return Err(Error::new(Code::WrongState, ENDED.to_owned()));
            }
            if turn.over || self.taken_to_its_end(&mut turn)? {
                return Ok(Next::EndOfEpoch);
            }
            if !going() {
                return Ok(Next::TimedOut);
            }
            let (status, batch) = self.call_next(timeout_ns)?;
            match (status, batch) {
                (sys::DL_INTERRUPTED, _) if self.evicted(calm) => (),
                (sys::DL_TIMEOUT, _) => return Ok(Next::TimedOut),
                (_, Some(batch)) if self.strangers.load(SeqCst) == 0 || batch.epoch() == turn.epoch => {
                    return Ok(Next::Batch(batch))
                }
                (_, Some(_)) => {
                    // A call of Loader::next took the end of the epoch at the same time.
                    turn.number += 1;
                    return Err(Error::new(Code::WrongState, ENDED.to_owned()));
                }
                (sys::DL_END_OF_EPOCH | sys::DL_END, None) => {
                    turn.over = true;
                    return Ok(Next::EndOfEpoch);
                }
                (status, None) => return Err(ffi::soft_error(status)),
            }
        }
    }

    /// `Loader::next`.
    #[inline]
    pub(crate) fn next_of_any(&self, timeout: Option<Duration>) -> Result<Next> {
        self.strangers.fetch_add(1, SeqCst);
        let deadline =
            timeout.filter(|time| !time.is_zero()).and_then(|time| Instant::now().checked_add(time));
        let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let mut timeout_ns = timeout.map_or(-1, nanoseconds);
        loop {
            let calm = self.calm();
            match self.call_next(timeout_ns)? {
                (_, Some(batch)) => return Ok(Next::Batch(batch)),
                (sys::DL_END_OF_EPOCH, _) => return Ok(Next::EndOfEpoch),
                (sys::DL_END, _) => return Ok(Next::End),
                (sys::DL_TIMEOUT, _) => return Ok(Next::TimedOut),
                (sys::DL_INTERRUPTED, _) if self.evicted(calm) => {
                    if let Some(deadline) = deadline {
                        timeout_ns = nanoseconds(deadline.saturating_duration_since(Instant::now()));
                    }
                }
                (status, _) => return Err(ffi::soft_error(status)),
            }
        }
    }

    #[inline]
    fn call_next(&self, timeout_ns: i64) -> Result<(sys::dl_status, Option<Batch>)> {
        let mut batch = ptr::null_mut();
        // SAFETY: a live handle; `batch` takes the result.
        let status =
            ffi::soft(|error| unsafe { sys::dl_loader_next(self.loader, timeout_ns, &mut batch, error) })?;
        // SAFETY: the batch is the caller's now.
        let taken = if status == sys::DL_OK { Some(unsafe { Batch::own(batch) }) } else { None };
        Ok((status, taken))
    }

    /// The turn, for a loop. Whoever is to end loops goes first.
    #[inline]
    fn take_turn(&self) -> Result<MutexGuard<'_, Turn>> {
        if self.wanted.load(SeqCst) == 0 {
            match self.turn.try_lock() {
                Ok(turn) => return Ok(turn),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => (),
            }
        }
        self.position()?; // in a forked child the thread that has the turn is gone, and this says so
        while self.wanted.load(SeqCst) != 0 {
            thread::yield_now();
        }
        Ok(self.turn.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The turn, for what ends loops: the one inside `dl_loader_next` is interrupted.
    fn seize(&self) -> Result<MutexGuard<'_, Turn>> {
        self.position()?; // as in take_turn()
        self.wanted.fetch_add(1, SeqCst);
        let turn = loop {
            match self.turn.try_lock() {
                Ok(turn) => break turn,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => (),
            }
            self.interrupt();
        };
        self.wanted.fetch_sub(1, SeqCst);
        Ok(turn)
    }

    /// Ends the waits in progress until `done`; those that are not meant go on.
    #[cfg(feature = "futures")]
    pub(crate) fn interrupt_until(&self, done: impl Fn() -> bool) {
        while !done() {
            self.interrupt();
        }
    }

    /// It ends only waits that have begun, so again and again.
    fn interrupt(&self) {
        self.evictions_begun.fetch_add(1, SeqCst);
        // SAFETY: a live handle.
        unsafe { sys::dl_loader_interrupt(self.loader) };
        self.evictions_done.fetch_add(1, SeqCst);
        thread::yield_now();
    }

    /// Who interrupted so far: those that end loops, and the program.
    #[inline]
    fn calm(&self) -> (u64, u64) {
        (self.evictions_done.load(SeqCst), self.shared.interrupts())
    }

    /// Whether a later interrupt came from here and not from the program. One already in progress counts.
    fn evicted(&self, calm: (u64, u64)) -> bool {
        self.evictions_begun.load(SeqCst) != calm.0 && self.shared.interrupts() == calm.1
    }

    pub(crate) fn position(&self) -> Result<(i64, i64)> {
        let (mut epoch, mut step) = (0, 0);
        // SAFETY: a live handle.
        ffi::hard(|error| unsafe { sys::dl_loader_position(self.loader, &mut epoch, &mut step, error) })?;
        Ok((epoch, step))
    }

    /// Whether calls of `Loader::next` have come to the end of the loop's epoch.
    #[inline]
    fn taken_to_its_end(&self, turn: &mut Turn) -> Result<bool> {
        let strangers = self.strangers.load(SeqCst);
        if strangers != turn.strangers {
            turn.strangers = strangers;
            turn.over = self.position()?.0 != turn.epoch;
        }
        Ok(turn.over)
    }
}
