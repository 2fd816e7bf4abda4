//! Formats that the program adds: the trait, and the table that calls it (hence the length).
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::callback::{answer, borrowed, utf8, ExtensionError};
use crate::lend::{lend, no_panic};
use crate::{ffi, Code, Dataset, Options, Result};
use dataline_sys as sys;
use std::ffi::CString;
use std::fmt;
use std::mem::{forget, ManuallyDrop};
use std::os::raw::{c_char, c_void};
use std::ptr;

/// How certain a format is that a file belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sniff {
    /// Not this format.
    No,
    /// Possibly this format.
    Guess,
    /// A header that other data could start with by chance.
    Likely,
    /// A magic number that is long enough.
    Certain,
}

/// A key of a format's URIs: `name:path?key=value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatKey<'a> {
    /// The name.
    pub name: &'a str,
    /// Allowed words, `"error|ignore"` (others are rejected), or the kind of value, `"INTEGER"`.
    pub values: &'a str,
    /// The default; `None`: no default.
    pub default_value: Option<&'a str>,
    /// What it does.
    pub doc: &'a str,
}

impl<'a> FormatKey<'a> {
    /// A key without a default.
    #[must_use]
    pub fn new(name: &'a str, values: &'a str) -> FormatKey<'a> {
        FormatKey { name, values, default_value: None, doc: "" }
    }

    /// Sets a default.
    #[must_use]
    pub fn with_default(self, value: &'a str) -> FormatKey<'a> {
        FormatKey { default_value: Some(value), ..self }
    }

    /// Sets the description.
    #[must_use]
    pub fn with_doc(self, doc: &'a str) -> FormatKey<'a> {
        FormatKey { doc, ..self }
    }
}

/// The first bytes of a file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FirstBytes<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// Up to 512 bytes.
    pub bytes: &'a [u8],
    /// The size of the complete file.
    pub file_bytes: u64,
}

/// The argument of [`Format::open`].
pub struct FormatRequest<'a> {
    path: &'a str,
    values: Vec<(&'a str, Option<&'a str>)>,
    options: ManuallyDrop<Options>,
}

impl<'a> FormatRequest<'a> {
    /// One path of the URI, for [`File::open`](crate::File::open). Several paths are opened one by one and
    /// concatenated.
    #[must_use]
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// The value of a key: from the URI, else the default. `None`: neither, or no such key.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.values.iter().find(|(name, _)| *name == key)?.1
    }

    /// The caller's options, for the files and the dataset that `open` creates.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
}

impl fmt::Debug for FormatRequest<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FormatRequest")
            .field("path", &self.path)
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}

/// A format of your own, opened as `name:path?key=value`. A file without a scheme is matched by content or
/// suffix, if no format of the library matches it with more certainty. Called from several threads
/// concurrently; a panic becomes an error.
///
/// ```
/// use dataline::{Array, Dataset, ExtensionError, Extensions, File, Format, FormatRequest, Options};
///
/// /// Every byte of a file is a sample.
/// struct Bytes;
///
/// impl Format for Bytes {
///     fn name(&self) -> &str {
///         "bytes"
///     }
///     fn open(&self, request: &FormatRequest<'_>) -> Result<Dataset<'static>, ExtensionError> {
///         let file = File::open(request.path(), request.options())?;
///         let mut bytes = vec![0; file.len() as usize];
///         file.read_at(0, &mut bytes)?;
///         Ok(Dataset::from_arrays(&[Array::dense("x", &[bytes.len()], &bytes)?], request.options())?)
///     }
/// }
///
/// # fn main() -> dataline::Result<()> {
/// # let path = std::env::temp_dir().join(format!("dataline-format-{}", std::process::id()));
/// # std::fs::write(&path, b"0123456789").unwrap();
/// let mut extensions = Extensions::new()?;
/// extensions.add_format(Bytes)?;
/// let options = Options::new().extensions(&extensions);
/// let dataset = Dataset::open(&format!("bytes:{}", path.display()), &options)?;
/// assert_eq!(dataset.len(), Some(10));
/// # std::fs::remove_file(path).unwrap();
/// # Ok(())
/// # }
/// ```
pub trait Format: Send + Sync + 'static {
    /// 2 to 32 characters of `a-z 0-9 _`, a letter first. Like every description of the format, read once.
    fn name(&self) -> &str;

    /// A description, for lists.
    fn doc(&self) -> &str {
        ""
    }

    /// The keys of its URIs.
    fn keys(&self) -> Vec<FormatKey<'_>> {
        Vec::new()
    }

    /// The file-name suffixes: `&[".wav", ".flac"]`.
    fn suffixes(&self) -> &[&str] {
        &[]
    }

    /// How certain it is about a file without a scheme. Must not call Dataline.
    fn sniff(&self, file: &FirstBytes<'_>) -> Sniff {
        let _ = file;
        Sniff::No
    }

    /// Creates the dataset, with any call that does: [`Dataset::from_source`], [`Dataset::lend_arrays`],
    /// [`Dataset::open`].
    ///
    /// # Errors
    /// Any problem with the file; see [`ExtensionError`].
    fn open(&self, request: &FormatRequest<'_>) -> std::result::Result<Dataset<'static>, ExtensionError>;
}

struct Added<F> {
    format: F,
    keys: Vec<String>,
}

pub(crate) fn add<F: Format>(extensions: *mut sys::dl_extensions, format: F) -> Result<()> {
    let name = ffi::c_text("format", format.name())?;
    let doc = ffi::c_text("doc", format.doc())?;
    let suffixes = ffi::c_text("suffixes", &format.suffixes().join(" "))?;
    let keys = format.keys();
    let texts = keys.iter().map(key_texts).collect::<Result<Vec<_>>>()?;
    let keys: Vec<String> = keys.iter().map(|key| key.name.to_owned()).collect();
    let key_count = ffi::count("keys", keys.len())?;
    lend(Added { format, keys }, |_, destroy, context| {
        let keys: Vec<sys::dl_format_key> = texts.iter().map(raw_key).collect();
        let table = sys::dl_format {
            struct_size: ffi::size::<sys::dl_format>(),
            key_count,
            name: name.as_ptr(),
            doc: doc.as_ptr(),
            keys: keys.as_ptr(),
            suffixes: suffixes.as_ptr(),
            context,
            sniff: Some(sniff::<F>),
            open: Some(open::<F>),
            destroy,
        };
        // SAFETY: the table and its texts live for the call, its context until it is destroyed.
        ffi::hard(|error| unsafe { sys::dl_extensions_add_format(extensions, &table, error) })
    })
}

struct KeyTexts {
    name: CString,
    values: CString,
    default_value: Option<CString>,
    doc: CString,
}

fn key_texts(key: &FormatKey<'_>) -> Result<KeyTexts> {
    Ok(KeyTexts {
        name: ffi::c_text("key", key.name)?,
        values: ffi::c_text("values", key.values)?,
        default_value: key.default_value.map(|value| ffi::c_text("default", value)).transpose()?,
        doc: ffi::c_text("doc", key.doc)?,
    })
}

/// Points into the texts.
fn raw_key(texts: &KeyTexts) -> sys::dl_format_key {
    sys::dl_format_key {
        struct_size: ffi::size::<sys::dl_format_key>(),
        reserved: 0,
        name: texts.name.as_ptr(),
        values: texts.values.as_ptr(),
        default_value: texts.default_value.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
        doc: texts.doc.as_ptr(),
    }
}

unsafe extern "C" fn sniff<F: Format>(
    context: *mut c_void,
    path: *const c_char,
    bytes: *const c_void,
    count: i64,
    file_bytes: i64,
) -> i32 {
    let mut sure = Sniff::No;
    no_panic(|| {
        // SAFETY: the format that was lent, and the library's arguments for this call.
        unsafe {
            let added = &*context.cast::<Added<F>>();
            let bytes = ffi::slice(bytes.cast::<u8>(), usize::try_from(count).unwrap_or(0));
            let file_bytes = u64::try_from(file_bytes).unwrap_or(0);
            if let Ok(path) = utf8("path", path) {
                sure = added.format.sniff(&FirstBytes { path, bytes, file_bytes });
            }
        }
    });
    match sure {
        Sniff::No => sys::DL_SNIFF_NO,
        Sniff::Guess => sys::DL_SNIFF_GUESS,
        Sniff::Likely => sys::DL_SNIFF_LIKELY,
        Sniff::Certain => sys::DL_SNIFF_CERTAIN,
    }
}

unsafe extern "C" fn open<F: Format>(
    context: *mut c_void,
    request: *const sys::dl_format_request,
    out: *mut *mut sys::dl_dataset,
    error: *mut sys::dl_error,
) -> sys::dl_status {
    let run = || {
        // SAFETY: the format that was lent; the request lives for this call.
        let added = unsafe { &*context.cast::<Added<F>>() };
        // SAFETY: as above.
        let request = unsafe { read_request(&added.keys, &*request) }?;
        let dataset = added.format.open(&request)?;
        // SAFETY: the library's place for the result, of which it takes over the reference.
        unsafe { *out = dataset.raw() };
        forget(dataset);
        Ok(())
    };
    // SAFETY: the library's error.
    unsafe { answer(error, Code::Reader, run) }
}

/// # Safety
/// The argument of a callback, for a format with these keys.
unsafe fn read_request<'a>(
    keys: &'a [String],
    request: &'a sys::dl_format_request,
) -> Result<FormatRequest<'a>> {
    // SAFETY: the caller's promise: there is a value for each key.
    unsafe {
        let given =
            ffi::slice(request.values, keys.len().min(usize::try_from(request.key_count).unwrap_or(0)));
        let value = |(key, &text): (&'a String, &*const c_char)| {
            Ok((key.as_str(), if text.is_null() { None } else { Some(utf8(key, text)?) }))
        };
        Ok(FormatRequest {
            path: utf8("path", request.path)?,
            values: keys.iter().zip(given).map(value).collect::<Result<_>>()?,
            options: borrowed(request.options),
        })
    }
}
