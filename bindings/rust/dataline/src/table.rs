//! Tables of options, transform operators, formats and storages: keys, types, defaults, limits and docs.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Extensions, FormatKey};
use dataline_sys as sys;
use std::ptr;

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionType {
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// A number of bytes; text such as `64MiB` is also accepted.
    Size,
    /// One of the choices.
    Word,
    /// Free text.
    Text,
    /// An array of `i64`: [`Options::sample_indices`](crate::Options::sample_indices).
    Indices,
    /// An array of `f64`: [`Options::weights`](crate::Options::weights).
    Weights,
    /// An array of `i64`: [`Options::lengths`](crate::Options::lengths).
    Lengths,
    /// A number that this release of the crate does not know.
    Other(i32),
}

/// Where an option applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionScope {
    /// When a dataset is opened.
    pub dataset: bool,
    /// When a loader is created.
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
    /// Where it applies.
    pub scope: OptionScope,
    /// Minimum and maximum.
    pub range: Option<(i64, i64)>,
    /// The default as text; `""` for none.
    pub default_value: &'static str,
    /// The allowed words.
    pub choices: Vec<&'static str>,
    /// `"bytes"`, `"samples"`, or `""`.
    pub unit: &'static str,
    /// A description.
    pub doc: &'static str,
    /// The release that added it.
    pub since: &'static str,
}

/// A transform operator.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransformInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its arguments, in order.
    pub arguments: Vec<ArgumentInfo<'a>>,
    /// A description.
    pub doc: &'a str,
    /// The definition that it follows.
    pub source: &'a str,
    /// The release that added it.
    pub since: &'a str,
}

/// An argument of a transform operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// The type of its value.
    pub value_type: &'a str,
    /// The default. `None`: the argument is required. `"none"`: it may be absent.
    pub default_value: Option<&'a str>,
}

impl<'a> ArgumentInfo<'a> {
    /// A required argument, for an [`Operator`](crate::Operator).
    #[must_use]
    pub fn new(name: &'a str, value_type: &'a str) -> ArgumentInfo<'a> {
        ArgumentInfo { name, value_type, default_value: None }
    }

    /// Sets a default.
    #[must_use]
    pub fn with_default(self, value: &'a str) -> ArgumentInfo<'a> {
        ArgumentInfo { default_value: Some(value), ..self }
    }
}

/// A format.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FormatInfo<'a> {
    /// The name, which is the scheme of its URIs.
    pub name: &'a str,
    /// The keys of its URIs.
    pub keys: Vec<FormatKey<'a>>,
    /// A description.
    pub doc: &'a str,
}

/// A storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageInfo<'a> {
    /// The start of its paths, before `://`.
    pub scheme: &'a str,
    /// A description.
    pub doc: &'a str,
}

/// A format that a [`Writer`](crate::Writer) writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriterFormatInfo {
    /// The name, which is the scheme of its URIs.
    pub name: &'static str,
    /// What it stores.
    pub doc: &'static str,
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
    // SAFETY: `info` states its size; its texts are never freed.
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
        sys::DL_OPTION_LENGTHS => OptionType::Lengths,
        other => OptionType::Other(other),
    }
}

fn raw(extensions: Option<&Extensions>) -> *const sys::dl_extensions {
    extensions.map_or(ptr::null(), Extensions::raw)
}

/// All transform operators: those of the library in use, then those of the extensions.
#[must_use]
pub fn transforms_table(extensions: Option<&Extensions>) -> Vec<TransformInfo<'_>> {
    let extensions = raw(extensions);
    // SAFETY: live extensions or NULL, whose texts the result borrows.
    let at = |index| unsafe { transform_at(extensions, index) };
    // SAFETY: as above.
    (0..unsafe { sys::dl_transform_count(extensions) }).filter_map(at).collect()
}

/// # Safety
/// Extensions that are alive and unchanged for `'a`, or NULL.
unsafe fn transform_at<'a>(extensions: *const sys::dl_extensions, index: i32) -> Option<TransformInfo<'a>> {
    let mut info =
        sys::dl_transform_info { struct_size: ffi::size::<sys::dl_transform_info>(), ..Default::default() };
    // SAFETY: `info` states its size; its texts live as long as the extensions.
    unsafe {
        ffi::hard(|error| sys::dl_transform_at(extensions, index, &mut info, error)).ok()?;
        let arguments = 0..info.argument_count;
        Some(TransformInfo {
            name: ffi::text(info.name),
            arguments: arguments.filter_map(|number| argument_at(extensions, index, number)).collect(),
            doc: ffi::text(info.doc),
            source: ffi::text(info.source),
            since: ffi::text(info.since),
        })
    }
}

/// # Safety
/// As for `transform_at`.
unsafe fn argument_at<'a>(
    extensions: *const sys::dl_extensions,
    index: i32,
    argument: i32,
) -> Option<ArgumentInfo<'a>> {
    let mut info =
        sys::dl_argument_info { struct_size: ffi::size::<sys::dl_argument_info>(), ..Default::default() };
    // SAFETY: `info` states its size; its texts live as long as the extensions.
    unsafe {
        ffi::hard(|error| sys::dl_transform_argument_at(extensions, index, argument, &mut info, error))
            .ok()?;
        Some(ArgumentInfo {
            name: ffi::text(info.name),
            value_type: ffi::text(info.r#type),
            default_value: Some(ffi::text(info.default_value)).filter(|text| !text.is_empty()),
        })
    }
}

/// All formats: those of the library in use, then those of the extensions.
///
/// ```
/// let table = dataline::formats_table(None);
/// assert!(table.iter().any(|format| format.name == "npy"));
/// ```
#[must_use]
pub fn formats_table(extensions: Option<&Extensions>) -> Vec<FormatInfo<'_>> {
    let extensions = raw(extensions);
    // SAFETY: live extensions or NULL, whose texts the result borrows.
    let at = |index| unsafe { format_at(extensions, index) };
    // SAFETY: as above.
    (0..unsafe { sys::dl_format_count(extensions) }).filter_map(at).collect()
}

/// # Safety
/// As for `transform_at`.
unsafe fn format_at<'a>(extensions: *const sys::dl_extensions, index: i32) -> Option<FormatInfo<'a>> {
    let mut info =
        sys::dl_format_info { struct_size: ffi::size::<sys::dl_format_info>(), ..Default::default() };
    // SAFETY: `info` states its size; its texts live as long as the extensions.
    unsafe {
        ffi::hard(|error| sys::dl_format_at(extensions, index, &mut info, error)).ok()?;
        let keys = 0..info.key_count;
        Some(FormatInfo {
            name: ffi::text(info.name),
            keys: keys.filter_map(|number| key_at(extensions, index, number)).collect(),
            doc: ffi::text(info.doc),
        })
    }
}

/// # Safety
/// As for `transform_at`.
unsafe fn key_at<'a>(extensions: *const sys::dl_extensions, index: i32, key: i32) -> Option<FormatKey<'a>> {
    let mut info =
        sys::dl_format_key { struct_size: ffi::size::<sys::dl_format_key>(), ..Default::default() };
    // SAFETY: `info` states its size; its texts live as long as the extensions.
    unsafe {
        ffi::hard(|error| sys::dl_format_key_at(extensions, index, key, &mut info, error)).ok()?;
        let found =
            FormatKey::new(ffi::text(info.name), ffi::text(info.values)).with_doc(ffi::text(info.doc));
        Some(if info.default_value.is_null() {
            found
        } else {
            found.with_default(ffi::text(info.default_value))
        })
    }
}

/// The storages of extensions.
#[must_use]
pub fn storages_table(extensions: &Extensions) -> Vec<StorageInfo<'_>> {
    let extensions = extensions.raw();
    // SAFETY: live extensions, whose texts the result borrows.
    let at = |index| unsafe { storage_at(extensions, index) };
    // SAFETY: as above.
    (0..unsafe { sys::dl_storage_count(extensions) }).filter_map(at).collect()
}

/// # Safety
/// As for `transform_at`.
unsafe fn storage_at<'a>(extensions: *const sys::dl_extensions, index: i32) -> Option<StorageInfo<'a>> {
    let mut info = sys::dl_storage { struct_size: ffi::size::<sys::dl_storage>(), ..Default::default() };
    // SAFETY: `info` states its size; its texts live as long as the extensions.
    unsafe {
        ffi::hard(|error| sys::dl_storage_at(extensions, index, &mut info, error)).ok()?;
        Some(StorageInfo { scheme: ffi::text(info.scheme), doc: ffi::text(info.doc) })
    }
}

/// The formats that a [`Writer`](crate::Writer) writes.
///
/// ```
/// let names: Vec<_> = dataline::writer_formats_table().iter().map(|format| format.name).collect();
/// assert_eq!(names, ["arrow", "parquet", "tar", "tfrecord", "npy", "tokens"]);
/// ```
#[must_use]
pub fn writer_formats_table() -> Vec<WriterFormatInfo> {
    // SAFETY: indices that there are; the texts are never freed.
    let at = |index| unsafe {
        WriterFormatInfo {
            name: ffi::text(sys::dl_writer_format_name(index)),
            doc: ffi::text(sys::dl_writer_format_doc(index)),
        }
    };
    // SAFETY: no arguments.
    (0..unsafe { sys::dl_writer_format_count() }).map(at).collect()
}
