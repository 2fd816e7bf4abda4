//! The library's tables of options and of transform operators: keys, types, defaults, limits and docs.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::ffi;
use dataline_sys as sys;

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionType {
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// Bytes; as text also `64MiB`.
    Size,
    /// One of the choices.
    Word,
    /// Free text.
    Text,
    /// An array of `i64`: [`Options::sample_indices`](crate::Options::sample_indices).
    Indices,
    /// An array of `f64`: [`Options::weights`](crate::Options::weights).
    Weights,
    /// A number this release of the crate does not know.
    Other(i32),
}

/// Where an option counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionScope {
    /// When a dataset is opened.
    pub dataset: bool,
    /// When a loader is made.
    pub loader: bool,
}

/// An entry of the options table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OptionInfo {
    /// The key for [`Options::set`](crate::Options::set).
    pub key: &'static str,
    /// The type of its value.
    pub value_type: OptionType,
    /// Where it counts.
    pub scope: OptionScope,
    /// Minimum and maximum.
    pub range: Option<(i64, i64)>,
    /// As text; `""` for none.
    pub default_value: &'static str,
    /// The words it may be.
    pub choices: Vec<&'static str>,
    /// `"bytes"`, `"samples"`, or `""`.
    pub unit: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The release it came with.
    pub since: &'static str,
}

/// A transform operator.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransformInfo {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, in order.
    pub arguments: Vec<ArgumentInfo>,
    /// What it does.
    pub doc: &'static str,
    /// The definition it follows.
    pub source: &'static str,
    /// The release it came with.
    pub since: &'static str,
}

/// An argument of a transform operator.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArgumentInfo {
    /// Its name.
    pub name: &'static str,
    /// The type of its value.
    pub value_type: &'static str,
    /// `None`: it has to be given.
    pub default_value: Option<&'static str>,
}

/// All options, from the library in use.
///
/// ```
/// let table = dataline::options_table();
/// let batch_size = table.iter().find(|option| option.key == "batch_size").unwrap();
/// assert_eq!(batch_size.default_value, "32");
/// ```
#[must_use]
pub fn options_table() -> Vec<OptionInfo> {
    // SAFETY: no arguments.
    (0..unsafe { sys::dl_option_count() }).filter_map(option_at).collect()
}

fn option_at(index: i32) -> Option<OptionInfo> {
    let mut info =
        sys::dl_option_info { struct_size: ffi::size::<sys::dl_option_info>(), ..Default::default() };
    // SAFETY: `info` says its size; its texts are never freed.
    unsafe {
        ffi::hard(|error| sys::dl_option_at(index, &mut info, error)).ok()?;
        Some(OptionInfo {
            key: ffi::text(info.key),
            value_type: option_type(info.r#type),
            scope: OptionScope {
                dataset: info.scope & sys::DL_SCOPE_DATASET != 0,
                loader: info.scope & sys::DL_SCOPE_LOADER != 0,
            },
            range: if info.has_range != 0 { Some((info.minimum, info.maximum)) } else { None },
            default_value: ffi::text(info.default_value),
            choices: ffi::text(info.choices).split('|').filter(|word| !word.is_empty()).collect(),
            unit: ffi::text(info.unit),
            doc: ffi::text(info.doc),
            since: ffi::text(info.since),
        })
    }
}

fn option_type(number: i32) -> OptionType {
    match number {
        sys::DL_OPTION_BOOL => OptionType::Bool,
        sys::DL_OPTION_INT => OptionType::Int,
        sys::DL_OPTION_SIZE => OptionType::Size,
        sys::DL_OPTION_WORD => OptionType::Word,
        sys::DL_OPTION_TEXT => OptionType::Text,
        sys::DL_OPTION_INDICES => OptionType::Indices,
        sys::DL_OPTION_WEIGHTS => OptionType::Weights,
        other => OptionType::Other(other),
    }
}

/// All transform operators, from the library in use.
#[must_use]
pub fn transforms_table() -> Vec<TransformInfo> {
    // SAFETY: no arguments.
    (0..unsafe { sys::dl_transform_count() }).filter_map(transform_at).collect()
}

fn transform_at(index: i32) -> Option<TransformInfo> {
    let mut info =
        sys::dl_transform_info { struct_size: ffi::size::<sys::dl_transform_info>(), ..Default::default() };
    // SAFETY: `info` says its size; its texts are never freed.
    unsafe {
        ffi::hard(|error| sys::dl_transform_at(index, &mut info, error)).ok()?;
        Some(TransformInfo {
            name: ffi::text(info.name),
            arguments: (0..info.argument_count).filter_map(|argument| argument_at(index, argument)).collect(),
            doc: ffi::text(info.doc),
            source: ffi::text(info.source),
            since: ffi::text(info.since),
        })
    }
}

fn argument_at(index: i32, argument: i32) -> Option<ArgumentInfo> {
    let mut info =
        sys::dl_argument_info { struct_size: ffi::size::<sys::dl_argument_info>(), ..Default::default() };
    // SAFETY: `info` says its size; its texts are never freed.
    unsafe {
        ffi::hard(|error| sys::dl_transform_argument_at(index, argument, &mut info, error)).ok()?;
        Some(ArgumentInfo {
            name: ffi::text(info.name),
            value_type: ffi::text(info.r#type),
            default_value: Some(ffi::text(info.default_value)).filter(|text| !text.is_empty()),
        })
    }
}
