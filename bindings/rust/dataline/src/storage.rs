//! Storages that the program adds.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::callback::{answer, borrowed, utf8, CancelFlag, ExtensionError};
use crate::lend::{lend, no_panic};
use crate::{ffi, Code, Options, Result};
use dataline_sys as sys;
use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::os::raw::c_void;

/// A storage: it stores the bytes of `scheme://` paths. Formats read them like files. Formats that need a
/// directory reject them. Called from several threads concurrently; a panic becomes an error.
///
/// ```
/// use dataline::{Dataset, ExtensionError, Extensions, Options, Storage, StorageRequest, StoredObject, CancelFlag};
///
/// /// `zeros://COUNT`
/// struct Zeros;
/// struct Run(u64);
///
/// impl Storage for Zeros {
///     fn scheme(&self) -> &str {
///         "zeros"
///     }
///     fn open(&self, request: &StorageRequest<'_>) -> Result<Box<dyn StoredObject>, ExtensionError> {
///         Ok(Box::new(Run(request.path()["zeros://".len()..].parse()?)))
///     }
/// }
///
/// impl StoredObject for Run {
///     fn bytes(&self) -> u64 {
///         self.0
///     }
///     fn read(&self, _offset: u64, out: &mut [u8], _cancelled: CancelFlag<'_>) -> Result<(), ExtensionError> {
///         out.fill(0);
///         Ok(())
///     }
/// }
///
/// # fn main() -> dataline::Result<()> {
/// let mut extensions = Extensions::new()?;
/// extensions.add_storage(Zeros)?;
/// let dataset = Dataset::open("raw:zeros://100?dtype=u8&shape=4", &Options::new().extensions(&extensions))?;
/// assert_eq!(dataset.len(), Some(25));
/// # Ok(())
/// # }
/// ```
pub trait Storage: Send + Sync + 'static {
    /// The same rules as for a format's name; may also contain `+`. Read once.
    fn scheme(&self) -> &str;

    /// A description, for lists.
    fn doc(&self) -> &str {
        ""
    }

    /// Opens an object. A storage that wraps another one opens its object with
    /// [`File::open`](crate::File::open).
    ///
    /// # Errors
    /// Any problem with the object; see [`ExtensionError`].
    fn open(
        &self,
        request: &StorageRequest<'_>,
    ) -> std::result::Result<Box<dyn StoredObject>, ExtensionError>;
}

/// An object of a [`Storage`]; dropped after the last read.
pub trait StoredObject: Send + Sync + 'static {
    /// The size in bytes. Called once.
    fn bytes(&self) -> u64;

    /// A text that changes when the object's bytes change, such as a version or an ETag. `None`: unknown; the
    /// option `cache` and conversions that resume then reject the object. Called once.
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// Fills `out`, whose initial contents are unspecified, with the bytes at `offset`. The range is within
    /// the object.
    ///
    /// # Errors
    /// Any failed read; see [`ExtensionError`].
    fn read(
        &self,
        offset: u64,
        out: &mut [u8],
        cancelled: CancelFlag<'_>,
    ) -> std::result::Result<(), ExtensionError>;
}

/// The argument of [`Storage::open`].
pub struct StorageRequest<'a> {
    path: &'a str,
    cancelled: CancelFlag<'a>,
    options: ManuallyDrop<Options>,
}

impl<'a> StorageRequest<'a> {
    /// The complete path, with its scheme.
    #[must_use]
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// Whether the object is still wanted.
    #[must_use]
    pub fn cancelled(&self) -> CancelFlag<'a> {
        self.cancelled
    }

    /// The caller's options, for objects that `open` opens.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
}

impl fmt::Debug for StorageRequest<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StorageRequest").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The target of the pointer that the library keeps. A pointer to a trait object would be two pointers.
struct Object {
    opened: Box<dyn StoredObject>,
    fingerprint: CString, // the library reads it after `open`
}

pub(crate) fn add<S: Storage>(extensions: *mut sys::dl_extensions, storage: S) -> Result<()> {
    let scheme = ffi::c_text("scheme", storage.scheme())?;
    let doc = ffi::c_text("doc", storage.doc())?;
    lend(storage, |_, destroy, context| {
        let table = sys::dl_storage {
            struct_size: ffi::size::<sys::dl_storage>(),
            reserved: 0,
            scheme: scheme.as_ptr(),
            doc: doc.as_ptr(),
            context,
            open: Some(open::<S>),
            read: Some(read),
            close: Some(close),
            destroy,
        };
        // SAFETY: the table and its texts live for the call, its context until it is destroyed.
        ffi::hard(|error| unsafe { sys::dl_extensions_add_storage(extensions, &table, error) })
    })
}

unsafe extern "C" fn open<S: Storage>(
    context: *mut c_void,
    object: *mut sys::dl_storage_object,
    error: *mut sys::dl_error,
) -> sys::dl_status {
    let run = || {
        // SAFETY: the storage that was lent; the requested memory lives for this call.
        let (storage, object) = unsafe { (&*context.cast::<S>(), &mut *object) };
        // SAFETY: as above.
        let request = unsafe {
            StorageRequest {
                path: utf8("path", object.path)?,
                cancelled: CancelFlag::new(object.cancelled),
                options: borrowed(object.options),
            }
        };
        let opened = storage.open(&request)?;
        object.bytes = i64::try_from(opened.bytes())?;
        let fingerprint = ffi::c_text("fingerprint", &opened.fingerprint().unwrap_or_default())?;
        let made = Box::new(Object { opened, fingerprint });
        object.fingerprint = made.fingerprint.as_ptr();
        object.object = Box::into_raw(made).cast();
        Ok(())
    };
    // SAFETY: the library's error.
    unsafe { answer(error, Code::Reader, run) }
}

unsafe extern "C" fn read(
    _: *mut c_void,
    request: *mut sys::dl_storage_read,
    error: *mut sys::dl_error,
) -> sys::dl_status {
    let run = || {
        // SAFETY: the request lives for this call.
        let request = unsafe { &*request };
        // SAFETY: what `open` made, until `close`.
        let object = unsafe { &*request.object.cast::<Object>() };
        let bytes = usize::try_from(request.bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: room that nobody else accesses during the call, and its flag.
        let (out, cancelled) = unsafe {
            let out = std::slice::from_raw_parts_mut(request.out.cast::<u8>(), bytes);
            (out, CancelFlag::new(request.cancelled))
        };
        object.opened.read(u64::try_from(request.offset)?, out, cancelled)
    };
    // SAFETY: the library's error.
    unsafe { answer(error, Code::Reader, run) }
}

unsafe extern "C" fn close(_: *mut c_void, object: *mut c_void) {
    // SAFETY: what `open` made, which nobody uses any more.
    no_panic(|| drop(unsafe { Box::from_raw(object.cast::<Object>()) }));
}
