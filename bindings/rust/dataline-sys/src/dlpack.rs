//! DLPack's own structs (1.1), which `dataline.h` only declares: the data for a consumer, and the deleter
//! that it calls.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::os::raw::c_void;

/// The device of a tensor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// 1: CPU, 2: CUDA
    pub device_type: i32,
    pub device_id: i32,
}

/// The type of a tensor's items.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// 0: signed, 1: unsigned, 2: float, 4: bfloat, 5: complex, 6: bool
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

/// A tensor.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// NULL for a tensor without items
    pub data: *mut c_void,
    pub device: DLDevice,
    pub ndim: i32,
    pub dtype: DLDataType,
    /// `[ndim]`
    pub shape: *mut i64,
    /// `[ndim]`, in items; never NULL in Dataline's tensors
    pub strides: *mut i64,
    /// From data to the first item
    pub byte_offset: u64,
}

/// A tensor with its owner, without version and flags.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    pub dl_tensor: DLTensor,
    pub manager_ctx: *mut c_void,
    /// Called once by the last consumer, from any thread
    pub deleter: Option<unsafe extern "C" fn(tensor: *mut DLManagedTensor)>,
}

/// The version of a [`DLManagedTensorVersioned`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// If it differs from the supported version, the consumer may only call the deleter
    pub major: u32,
    pub minor: u32,
}

/// In [`DLManagedTensorVersioned::flags`]: the consumer must not write.
pub const DLPACK_FLAG_BITMASK_READ_ONLY: u64 = 1;

/// A tensor with its owner, since DLPack 1.0.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    pub version: DLPackVersion,
    pub manager_ctx: *mut c_void,
    /// Called once by the last consumer, from any thread
    pub deleter: Option<unsafe extern "C" fn(tensor: *mut DLManagedTensorVersioned)>,
    pub flags: u64,
    pub dl_tensor: DLTensor,
}
