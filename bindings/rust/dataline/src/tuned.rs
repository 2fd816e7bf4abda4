//! How many workers work, how far ahead, and what tuning makes of it.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::ffi;
use dataline_sys as sys;

/// What the option `tune` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tune {
    /// Nothing moves by itself.
    #[default]
    Off,
    /// Only says what it would try.
    Watch,
    /// Workers and depth move.
    On,
}

/// Workers and depth in force, and what tuning makes of them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tuned {
    /// The option `tune`.
    pub mode: Tune,
    /// That work now, perhaps only to be tried; 0: the caller's thread.
    pub num_workers: i64,
    /// Now.
    pub prefetch_depth: i64,
    /// That memory is planned for.
    pub most_workers: i64,
    /// That memory is planned for.
    pub most_depth: i64,
    /// The best so far; with [`Tune::Watch`] what would be tried next.
    pub wanted_workers: i64,
    /// As `wanted_workers`.
    pub wanted_depth: i64,
    /// Of what is in force, so far.
    pub changes: i64,
    /// Nothing is tried now.
    pub frozen: bool,
    /// Consumed, in the last whole measurement; 0 before that.
    pub batches_per_s: f64,
    /// Of that time, the consumer waited; 0 to 1.
    pub wait_share: f64,
    /// What it does, and why.
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
