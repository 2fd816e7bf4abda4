//! Where each stage of a sample runs.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Device};
use dataline_sys as sys;

/// A stage of a sample on its way from the file to the batch: [`Loader::plan`](crate::Loader::plan).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanStage {
    /// The field.
    pub field: String,
    /// Where it runs. For a copy, the destination.
    pub runs_on: Device,
    /// `gather`, `copy`, or operators as written: `normalize(mnist), chw`.
    pub text: String,
    /// Bytes of one sample before the stage; `None`: varying.
    pub bytes_in: Option<u64>,
    /// Bytes of one sample after the stage; `None`: varying.
    pub bytes_out: Option<u64>,
}

impl PlanStage {
    /// # Safety
    /// The stage's texts are live.
    pub(crate) unsafe fn of(stage: &sys::dl_plan_stage, device: Device) -> PlanStage {
        // A loader has one device, and a stage states only its type.
        let runs_on = if stage.device_type == sys::DL_DEVICE_CPU { Device::Cpu } else { device };
        PlanStage {
            // SAFETY: the caller's promise, as below.
            field: unsafe { ffi::text_of(stage.field) },
            runs_on,
            // SAFETY: as above.
            text: unsafe { ffi::text_of(stage.text) },
            bytes_in: u64::try_from(stage.bytes_in).ok(),
            bytes_out: u64::try_from(stage.bytes_out).ok(),
        }
    }

    /// Whether it sends the field over the bus.
    #[must_use]
    pub fn crosses_bus(&self) -> bool {
        self.runs_on != Device::Cpu && self.text == "copy"
    }
}
