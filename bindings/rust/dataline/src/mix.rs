//! Mixes of datasets, and their parts.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code, Dataset, Error, Options, Result};
use dataline_sys as sys;

/// How much of a part a mix holds. All parts of a mix have the same kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// Relative to the other parts; a part goes through its own epochs. 0: not drawn, until a stage says otherwise.
    Weight(f64),
    /// An epoch has each sample of the part so many times; of a fraction, those that come once more are drawn anew.
    Repeat(f64),
}

/// A part of a mix: [`Dataset::mix`].
#[derive(Clone, Debug)]
pub struct MixPart<'d, 'a> {
    /// In messages, states and statistics; `""`: its number.
    pub name: &'d str,
    /// What it draws from.
    pub dataset: &'d Dataset<'a>,
    /// How much of it.
    pub share: Share,
    /// Of its samples, before the loader's transform; `""`: none. Parts that are stored differently become alike by it.
    pub transform: &'d str,
}

/// Weights, one a part, from a step of the job on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixStage {
    /// At least 1; counts over all epochs.
    pub step: i64,
    /// One a part.
    pub weights: Vec<f64>,
}

/// A part of a mix as its dataset or a loader describes it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PartInfo {
    /// As the mix has it.
    pub name: String,
    /// Of a dataset: as the recipe has it; `""` of a loader.
    pub uri: String,
    /// The part has.
    pub samples: i64,
    /// Of a loader: to this rank since it was made, without pads.
    pub delivered: i64,
    /// Of a dataset: how often an epoch has each sample; 0: it has a weight.
    pub repeat: f64,
    /// Of a loader: how often the job has gone through the part by now, over all ranks.
    pub epochs: f64,
    /// Of the samples drawn now; of a dataset, at the beginning of a job.
    pub share_asked: f64,
    /// Of a loader: of what was delivered.
    pub share_got: f64,
    /// Of a dataset: the part's own; `""` for none, and of a loader.
    pub transform: String,
}

impl PartInfo {
    /// # Safety
    /// The part's texts are live.
    pub(crate) unsafe fn of(part: &sys::dl_part) -> PartInfo {
        PartInfo {
            // SAFETY: the caller's promise, as below.
            name: unsafe { ffi::text_of(part.name) },
            // SAFETY: as above.
            uri: if part.uri.is_null() { String::new() } else { unsafe { ffi::text_of(part.uri) } },
            samples: part.samples,
            delivered: part.delivered,
            repeat: part.repeat,
            epochs: part.epochs,
            share_asked: part.share_asked,
            share_got: part.share_got,
            // SAFETY: as above.
            transform: if part.transform.is_null() {
                String::new()
            } else {
                unsafe { ffi::text_of(part.transform) }
            },
        }
    }
}

pub(crate) fn blank_part() -> sys::dl_part {
    sys::dl_part { struct_size: ffi::size::<sys::dl_part>(), ..Default::default() }
}

impl<'a> Dataset<'a> {
    /// Draws from all parts in their shares, or each sample so many times. `samples_per_epoch`: of weights; `None`: as
    /// many as the parts have. Of the options, `pack_length` packs the documents that are drawn.
    ///
    /// # Errors
    /// [`Code::Mismatch`] names two parts that do not fit;
    /// [`Code::OutOfRange`], [`Code::InvalidArgument`], [`Code::Empty`], [`Code::Unsupported`]; of a part's transform
    /// [`Code::BadTransform`] and [`Code::NoSuchField`].
    pub fn mix(
        parts: &[MixPart<'_, 'a>],
        schedule: &[MixStage],
        samples_per_epoch: Option<i64>,
        options: &Options,
    ) -> Result<Dataset<'a>> {
        let names = parts.iter().map(|part| ffi::c_text("name", part.name)).collect::<Result<Vec<_>>>()?;
        let transforms = parts
            .iter()
            .map(|part| ffi::c_text("MixPart::transform", part.transform))
            .collect::<Result<Vec<_>>>()?;
        let raw: Vec<_> = parts
            .iter()
            .zip(names.iter().zip(&transforms))
            .map(|(part, (name, transform))| {
                let (weight, repeat) = match part.share {
                    Share::Weight(weight) => (weight, 0.0),
                    Share::Repeat(repeat) => (0.0, repeat),
                };
                sys::dl_mix_part {
                    struct_size: ffi::size::<sys::dl_mix_part>(),
                    name: if part.name.is_empty() { std::ptr::null() } else { name.as_ptr() },
                    dataset: part.dataset.raw(),
                    weight,
                    repeat,
                    transform: if part.transform.is_empty() { std::ptr::null() } else { transform.as_ptr() },
                    ..Default::default()
                }
            })
            .collect();
        if schedule.iter().any(|stage| stage.weights.len() != parts.len()) {
            return Err(Error::new(Code::InvalidArgument, "a stage of a mix needs one weight a part"));
        }
        let stages: Vec<_> = schedule
            .iter()
            .map(|stage| sys::dl_mix_stage {
                struct_size: ffi::size::<sys::dl_mix_stage>(),
                step: stage.step,
                weights: stage.weights.as_ptr(),
                ..Default::default()
            })
            .collect();
        let (part_count, stage_count) =
            (ffi::count("parts", raw.len())?, ffi::count("stages", stages.len())?);
        let samples = samples_per_epoch.unwrap_or(-1);
        let options = options.raw()?;
        // SAFETY: live arguments; the new dataset keeps its own references.
        Dataset::made(|out, error| unsafe {
            sys::dl_dataset_mix(
                raw.as_ptr(),
                part_count,
                stages.as_ptr(),
                stage_count,
                samples,
                options,
                out,
                error,
            )
        })
    }

    /// The parts of a mix; empty for other datasets.
    ///
    /// # Errors
    /// [`Error::Internal`] at most.
    pub fn parts(&self) -> Result<Vec<PartInfo>> {
        // SAFETY: a live handle.
        (0..unsafe { sys::dl_dataset_part_count(self.raw()) })
            .map(|index| {
                let mut part = blank_part();
                // SAFETY: a live handle; `part` says its size.
                ffi::hard(|error| unsafe { sys::dl_dataset_part_at(self.raw(), index, &mut part, error) })?;
                // SAFETY: its texts live as long as the dataset.
                Ok(unsafe { PartInfo::of(&part) })
            })
            .collect()
    }
}
