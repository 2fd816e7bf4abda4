//! Where memory is.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline_sys as sys;
use std::fmt;

/// Where a tensor's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// The host.
    Cpu,
    /// The CUDA device with this index.
    Cuda(i32),
    /// A type (as in DLPack) that this release of the crate does not know, and an index.
    Other(i32, i32),
}

impl Device {
    pub(crate) fn of(device_type: i32, index: i32) -> Device {
        match device_type {
            sys::DL_DEVICE_CPU => Device::Cpu,
            sys::DL_DEVICE_CUDA => Device::Cuda(index),
            other => Device::Other(other, index),
        }
    }
}

impl fmt::Display for Device {
    /// `cpu`, `cuda:0`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => out.write_str("cpu"),
            Device::Cuda(index) => write!(out, "cuda:{index}"),
            Device::Other(device_type, index) => write!(out, "{device_type}:{index}"),
        }
    }
}
