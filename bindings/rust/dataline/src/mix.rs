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
}
