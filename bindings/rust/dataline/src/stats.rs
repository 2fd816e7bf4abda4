//! What a loader counted, and the bad samples it met.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code};
use dataline_sys as sys;

macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// Counters since the loader was made. delivered + skipped + dropped = the rank's slots of the epochs passed
        /// through.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Stats {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl From<&sys::dl_stats> for Stats {
            fn from(from: &sys::dl_stats) -> Stats {
                Stats { $($name: from.$name,)* }
            }
        }
    };
}

stats! {
    /// In use; 0: the caller's thread.
    num_workers: i32,
    /// Delivered.
    batches: i64,
    /// Delivered, without pads.
    samples: i64,
    /// Delivered.
    bytes: i64,
    /// Samples left out because they were bad.
    skipped: i64,
    /// Slots left out by `last_batch=drop`.
    dropped: i64,
    /// Rows added by `last_batch=pad`.
    padded: i64,
    /// Rows filled with a replacement sample.
    replaced: i64,
    /// Distinct bad samples seen.
    bad: i64,
    /// Nanoseconds that consumers waited for batches; with `num_workers=0` it is the loading.
    wait_ns: i64,
    /// Calls that had to wait.
    waits: i64,
    /// CPU time of worker threads; 0 with `num_workers=0`.
    worker_cpu_ns: i64,
    /// The slots.
    arena_bytes: i64,
    /// All host memory the loader holds now.
    held_bytes: i64,
    /// The current limit.
    budget_bytes: i64,
    /// Batches held by consumers now.
    leases_held: i64,
    /// Batches delivered as a fresh allocation (`lease_overflow=copy`).
    lease_copies: i64,
    /// Loaded and waiting to be taken.
    ready_batches: i64,
    /// Page-locked; 0 where that was refused.
    pinned_bytes: i64,
    /// Workers left behind in a [`Source`](crate::Source) that never returned.
    threads_abandoned: i64,
    /// Device memory the loader holds now.
    device_bytes: i64,
    /// Sent over the bus to the device.
    copied_bytes: i64,
    /// Images delivered though their decoder warned of damage (`on_warning=accept`).
    warned: i64,
    /// Samples that were found in the cache (`cache=DIR`).
    cache_read: i64,
    /// Samples that were not, and were read and made; 0 without a cache.
    cache_made: i64,
}

/// A bad sample that a loader met.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadSample {
    /// What is wrong with it.
    pub code: Code,
    /// Which dataset of a mix.
    pub source: i64,
    /// Its index there.
    pub index: i64,
    /// Where it was first met.
    pub epoch: i64,
    /// Where it was first met.
    pub step: i64,
    /// Where it was first met.
    pub slot: i64,
    /// The sample that stood in; `None`: skipped.
    pub replacement: Option<i64>,
    /// One line.
    pub message: String,
}

impl From<&sys::dl_bad_sample> for BadSample {
    fn from(from: &sys::dl_bad_sample) -> BadSample {
        BadSample {
            code: Code::from_number(from.code),
            source: from.source,
            index: from.index,
            epoch: from.epoch,
            step: from.step,
            slot: from.slot,
            replacement: Some(from.replacement).filter(|&index| index >= 0),
            // SAFETY: the library ends its messages with a NUL.
            message: unsafe { ffi::text_of(from.message.as_ptr()) },
        }
    }
}
