//! Which process of a job this one is.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Result};
use dataline_sys as sys;
use std::env;
use std::ffi::CString;
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// The values of `rank=auto` and `world_size=auto`, and the local rank on this machine, for choosing a
/// device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launcher {
    /// `"torchrun"`, `"jax"`, `"openmpi"`, `"pmi"`, `"slurm"`, `"pmix"`, `"kubernetes"`, or `"none"`: process 0 of 1.
    pub family: &'static str,
    /// From 0.
    pub rank: u64,
    /// `None`: the launcher reports only the rank.
    pub world_size: Option<u64>,
    /// The rank among the processes of this machine; `None`: the launcher does not report it.
    pub local_rank: Option<u64>,
    /// `None`: the launcher does not report it.
    pub local_world_size: Option<u64>,
}

/// Reads the environment now: torchrun, Open MPI, PMI, a Slurm step, ...
///
/// # Errors
/// [`Code::InvalidArgument`](crate::Code::InvalidArgument) names variables that are not ranks, are
/// incomplete, or contradict each other.
pub fn launcher() -> Result<Launcher> {
    let mut found = sys::dl_launcher { struct_size: ffi::size::<sys::dl_launcher>(), ..Default::default() };
    with_environment(|environment| {
        // SAFETY: live arguments.
        ffi::hard(|error| unsafe { sys::dl_launcher_detect(environment, &mut found, error) })
    })?;
    let said = |number: i64| u64::try_from(number).ok();
    Ok(Launcher {
        // SAFETY: a constant of the library.
        family: unsafe { ffi::text(found.family) },
        rank: said(found.rank).unwrap_or_default(),
        world_size: said(found.world_size),
        local_rank: said(found.local_rank),
        local_world_size: said(found.local_world_size),
    })
}

/// Calls `call` with the environment in C's form. The library does not read the environment.
pub(crate) fn with_environment<T>(call: impl FnOnce(*const *const c_char) -> T) -> T {
    let joined = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok() // none has a NUL
    };
    let entries: Vec<CString> = env::vars_os().filter_map(joined).collect();
    let pointers: Vec<*const c_char> =
        entries.iter().map(|entry| entry.as_ptr()).chain([ptr::null()]).collect();
    call(pointers.as_ptr())
}
