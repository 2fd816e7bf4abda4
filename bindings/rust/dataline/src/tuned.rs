//! The workers and depth in use, and what tuning would change.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::ffi;
use dataline_sys as sys;

/// The value of the option `tune`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tune {
    /// Workers and depth do not change.
    #[default]
    Off,
    /// Only reports what it would try.
    Watch,
    /// Changes workers and depth.
    On,
}

/// The workers and depth in use, and what tuning would change.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tuned {
    /// The option `tune`.
    pub mode: Tune,
    /// Active workers, possibly only to try this number; 0: the caller's thread.
    pub num_workers: i64,
    /// The current depth.
    pub prefetch_depth: i64,
    /// The maximum workers that memory is planned for.
    pub most_workers: i64,
    /// The maximum depth that memory is planned for.
    pub most_depth: i64,
    /// The best number so far; with [`Tune::Watch`] the number to try next.
    pub wanted_workers: i64,
    /// The best depth so far; with [`Tune::Watch`] the depth to try next.
    pub wanted_depth: i64,
    /// Changes of workers and depth so far.
    pub changes: i64,
    /// Nothing is being tried now.
    pub frozen: bool,
    /// Batches consumed per second, in the last complete measurement; 0 before that.
    pub batches_per_s: f64,
    /// The share of that time that the consumer waited, 0 to 1.
    pub wait_share: f64,
    /// What tuning does, and why.
    pub text: String,
}

pub(crate) fn blank() -> sys::dl_tuned {
    sys::dl_tuned { struct_size: ffi::size::<sys::dl_tuned>(), ..Default::default() }
}

impl From<&sys::dl_tuned> for Tuned {
    fn from(from: &sys::dl_tuned) -> Tuned {
        Tuned {
            mode: match from.mode {
                sys::DL_TUNE_ON => Tune::On,
                sys::DL_TUNE_WATCH => Tune::Watch,
                _ => Tune::Off,
            },
            num_workers: from.num_workers,
            prefetch_depth: from.prefetch_depth,
            most_workers: from.most_workers,
            most_depth: from.most_depth,
            wanted_workers: from.wanted_workers,
            wanted_depth: from.wanted_depth,
            changes: from.changes,
            frozen: from.frozen != 0,
            batches_per_s: from.batches_per_s,
            wait_share: from.wait_share,
            // SAFETY: the library ends it with a NUL.
            text: unsafe { ffi::text_of(from.text.as_ptr()) },
        }
    }
}
