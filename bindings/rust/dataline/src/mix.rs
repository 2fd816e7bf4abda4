//! Mixes of datasets, and their parts.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Code, Dataset, Error, Options, Result};
use dataline_sys as sys;

/// The share of a part in a mix. All parts of a mix use the same kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// The weight, relative to the other parts; each part has its own epochs. 0: not drawn, until a
    /// stage changes the weight.
    Weight(f64),
    /// How often an epoch repeats each sample of the part. For a fraction, each epoch draws again which
    /// samples are repeated once more.
    Repeat(f64),
}

/// A part of a mix: [`Dataset::mix`].
#[derive(Clone, Debug)]
pub struct MixPart<'d, 'a> {
    /// The name in messages, states and statistics; `""`: the part's index.
    pub name: &'d str,
    /// The dataset that it draws from.
    pub dataset: &'d Dataset<'a>,
    /// The share.
    pub share: Share,
    /// Applied to its samples, before the loader's transform; `""`: none. Use it to make differently stored parts
    /// match.
    pub transform: &'d str,
}

/// Weights, one per part, that apply from a step of the job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixStage {
    /// At least 1; counts over all epochs.
    pub step: i64,
    /// One weight per part.
    pub weights: Vec<f64>,
}

/// A part of a mix, described by its dataset or by a loader.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PartInfo {
    /// The name in the mix.
    pub name: String,
    /// Dataset: the URI in the recipe. Loader: `""`.
    pub uri: String,
    /// The sample count of the part.
    pub samples: i64,
    /// Loader: samples delivered to this rank since the loader was created, without pads.
    pub delivered: i64,
    /// Dataset: how often an epoch repeats each sample; 0: the part has a weight.
    pub repeat: f64,
    /// Loader: how many passes over the part the job has made so far, over all ranks.
    pub epochs: f64,
    /// Loader: the requested share of the samples drawn now. Dataset: the share at the start of a job.
    pub share_asked: f64,
    /// Loader: the share of the delivered samples.
    pub share_got: f64,
    /// Dataset: the part's own transform, `""` for none. Loader: `""`.
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
    /// Draws from all parts by weight, or repeats each sample. `samples_per_epoch` applies to weights;
    /// `None`: the sample count of all parts together. The option `pack_length` packs the documents that are
    /// drawn.
    ///
    /// # Errors
    /// [`Code::Mismatch`] names two parts that do not match. [`Code::OutOfRange`], [`Code::InvalidArgument`],
    /// [`Code::Empty`], [`Code::Unsupported`]. For a part's transform: [`Code::BadTransform`] and
    /// [`Code::NoSuchField`].
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
            return Err(Error::new(Code::InvalidArgument, "a stage of a mix needs one weight per part"));
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
    /// Only [`Error::Internal`].
    pub fn parts(&self) -> Result<Vec<PartInfo>> {
        // SAFETY: a live handle.
        (0..unsafe { sys::dl_dataset_part_count(self.raw()) })
            .map(|index| {
                let mut part = blank_part();
                // SAFETY: a live handle; `part` states its size.
                ffi::hard(|error| unsafe { sys::dl_dataset_part_at(self.raw(), index, &mut part, error) })?;
                // SAFETY: its texts live as long as the dataset.
                Ok(unsafe { PartInfo::of(&part) })
            })
            .collect()
    }
}
