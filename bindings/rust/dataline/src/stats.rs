//! Counters of a loader, and the bad samples it found.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code};
use dataline_sys as sys;

macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// Counters since the loader was created. delivered + skipped + dropped = the rank's slots of the
        /// epochs so far.
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
    /// Workers in use; 0: the caller's thread.
    num_workers: i32,
    /// Batches delivered.
    batches: i64,
    /// Samples delivered, without pads.
    samples: i64,
    /// Bytes delivered.
    bytes: i64,
    /// Samples skipped because they were bad.
    skipped: i64,
    /// Slots dropped by `last_batch=drop`.
    dropped: i64,
    /// Rows added by `last_batch=pad`.
    padded: i64,
    /// Rows filled with a replacement sample.
    replaced: i64,
    /// Distinct bad samples seen.
    bad: i64,
    /// Nanoseconds that consumers waited for batches; 0 with `num_workers=0`.
    wait_ns: i64,
    /// Calls that had to wait.
    waits: i64,
    /// CPU time of worker threads; 0 with `num_workers=0`.
    worker_cpu_ns: i64,
    /// The bytes of the slots.
    arena_bytes: i64,
    /// All host memory the loader holds now.
    held_bytes: i64,
    /// The current memory limit.
    budget_bytes: i64,
    /// Batches that consumers hold now.
    leases_held: i64,
    /// Batches delivered in a separate allocation (`lease_overflow=copy`).
    lease_copies: i64,
    /// Batches that are loaded and not taken yet.
    ready_batches: i64,
    /// Page-locked bytes; 0 if the system refused.
    pinned_bytes: i64,
    /// Workers abandoned in a [`Source`](crate::Source) that never returned.
    threads_abandoned: i64,
    /// Device memory the loader holds now.
    device_bytes: i64,
    /// Bytes sent over the bus to the device.
    copied_bytes: i64,
    /// Images delivered although their decoder warned of damage (`on_warning=accept`).
    warned: i64,
    /// Samples found in the cache (`cache=DIR`).
    cache_read: i64,
    /// Samples not found in the cache, which were read and computed; 0 without a cache.
    cache_made: i64,
}

/// A bad sample that a loader found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadSample {
    /// The kind of error.
    pub code: Code,
    /// The part of a mix that it belongs to; 0 without a mix.
    pub source: i64,
    /// Its index in that dataset.
    pub index: i64,
    /// The epoch where it was first found.
    pub epoch: i64,
    /// The step where it was first found.
    pub step: i64,
    /// The slot where it was first found.
    pub slot: i64,
    /// The sample that replaced it; `None`: skipped.
    pub replacement: Option<i64>,
    /// The error message, one line.
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
