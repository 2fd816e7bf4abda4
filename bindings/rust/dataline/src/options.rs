//! Options by key.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::lend::{lend, no_panic};
use crate::memory::{self, Allocator};
use crate::{ffi, launcher, options_table, CancelToken, Code, Error, Extensions, OptionType, Result, Value};
use dataline_sys as sys;
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::ptr;

/// Settings of a dataset and of a loader, by the keys of [`options_table`](crate::options_table).
///
/// A builder: the first error is kept. The call that uses the options, or [`Options::check`], reports it.
/// Datasets and loaders copy the options. Clone them to derive a variation:
/// `let validation = options.clone().set("shuffle", "none")`.
///
/// ```
/// use dataline::{Code, Options};
///
/// let options = Options::new().set("batch_size", 256).set("shuffle", "full").set("memory_budget", "64MiB");
/// assert_eq!(options.get("batch_size").unwrap(), "256");
///
/// let error = Options::new().set("batchsize", 256).check().unwrap_err();
/// assert_eq!(error.code(), Code::UnknownOption);
/// assert!(error.message().contains("batch_size")); // the nearest one
/// ```
///
/// They can move to another thread, but two threads cannot share them:
///
/// ```compile_fail,E0277
/// fn share<T: Sync>(_: T) {}
/// share(dataline::Options::new());
/// ```
pub struct Options {
    handle: *mut sys::dl_options,
    failed: Option<Error>,
}

// SAFETY: the library keeps nothing of a thread. Not Sync: one call at a time.
unsafe impl Send for Options {}

/// The severity of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogLevel {
    /// Opening a large dataset makes progress.
    Progress,
    /// Useful information.
    Info,
    /// Something should be changed.
    Warning,
}

impl Options {
    /// All options at their defaults.
    #[must_use]
    pub fn new() -> Options {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` takes the result.
        let made = ffi::hard(|error| unsafe { sys::dl_options_create(&mut handle, error) });
        Options { handle, failed: made.err() }
    }

    /// Sets `key`. If a key is set twice, the last value applies.
    #[must_use]
    pub fn set(self, key: &str, value: impl Into<Value>) -> Options {
        let value = value.into();
        self.and(|handle| {
            let named = ffi::c_text("key", key)?;
            let text = match &value {
                Value::Integer(number) => {
                    // SAFETY: a live handle and text.
                    return ffi::hard(|error| unsafe {
                        sys::dl_options_set_i64(handle, named.as_ptr(), *number, error)
                    });
                }
                Value::Boolean(value) if takes_text(key) => {
                    let message = format!("option {key}: expected text, got {value}"); // not a directory called "true"
                    return Err(Error::new(Code::BadOption, message));
                }
                Value::Boolean(value) => value.to_string(),
                Value::Text(text) => text.clone(),
            };
            let text = ffi::c_text("value", &text)?;
            // SAFETY: a live handle and texts.
            ffi::hard(|error| unsafe { sys::dl_options_set(handle, named.as_ptr(), text.as_ptr(), error) })
        })
    }

    /// Your own order (`sample_indices`), borrowed from `owner` (a `Vec`, an `Arc<[i64]>`, a
    /// `&'static [i64]`). The owner is dropped when nothing needs it.
    #[must_use]
    pub fn sample_indices(self, owner: impl AsRef<[i64]> + Send + Sync + 'static) -> Options {
        self.and(|handle| {
            lend(owner, |owner, release, context| {
                let indices = owner.as_ref();
                let count = ffi::length(indices.len())?;
                // SAFETY: the owner keeps its address until it is released.
                ffi::hard(|error| unsafe {
                    sys::dl_options_set_indices(handle, indices.as_ptr(), count, release, context, error)
                })
            })
        })
    }

    /// One weight per sample (`weights`), borrowed from `owner` as in [`Options::sample_indices`].
    #[must_use]
    pub fn weights(self, owner: impl AsRef<[f64]> + Send + Sync + 'static) -> Options {
        self.and(|handle| {
            lend(owner, |owner, release, context| {
                let weights = owner.as_ref();
                let count = ffi::length(weights.len())?;
                // SAFETY: the owner keeps its address until it is released.
                ffi::hard(|error| unsafe {
                    sys::dl_options_set_weights(handle, weights.as_ptr(), count, release, context, error)
                })
            })
        })
    }

    /// The length of each sample (`lengths`), for `bucket_edges`; borrowed from `owner` as in [`Options::sample_indices`].
    #[must_use]
    pub fn lengths(self, owner: impl AsRef<[i64]> + Send + Sync + 'static) -> Options {
        self.and(|handle| {
            lend(owner, |owner, release, context| {
                let lengths = owner.as_ref();
                let count = ffi::length(lengths.len())?;
                // SAFETY: the owner keeps its address until it is released.
                ffi::hard(|error| unsafe {
                    sys::dl_options_set_lengths(handle, lengths.as_ptr(), count, release, context, error)
                })
            })
        })
    }

    /// A token that ends the opening and every wait of everything created with these options.
    #[must_use]
    pub fn cancel_token(self, token: &CancelToken) -> Options {
        // SAFETY: live handles; the options keep their own reference.
        self.and(|handle| {
            ffi::hard(|error| unsafe { sys::dl_options_set_cancel_token(handle, token.raw(), error) })
        })
    }

    /// Formats, operators, storages and threads of your own: what `extensions` contains now.
    #[must_use]
    pub fn extensions(self, extensions: &Extensions) -> Options {
        // SAFETY: live handles; the options keep what is there.
        self.and(|handle| {
            ffi::hard(|error| unsafe { sys::dl_options_set_extensions(handle, extensions.raw(), error) })
        })
    }

    /// A callback for log messages; without one nothing is logged:
    /// `options.log(|level, text| eprintln!("{level:?} {text}"))`. Called from any thread; must not call
    /// Dataline. Dropped when nothing created with these options needs it.
    #[must_use]
    pub fn log<F: Fn(LogLevel, &str) + Send + Sync + 'static>(self, write: F) -> Options {
        self.and(|handle| {
            lend(write, |_, release, context| {
                let mut table = sys::dl_log { struct_size: ffi::size::<sys::dl_log>(), ..Default::default() };
                table.context = context;
                table.write = Some(write_remark::<F>);
                table.destroy = release;
                // SAFETY: the table is copied; its context lives until it is destroyed.
                ffi::hard(|error| unsafe { sys::dl_options_set_log(handle, &table, error) })
            })
        })
    }

    /// Your own memory for everything created with these options, instead of the default. See
    /// [`Allocator`].
    ///
    /// ```
    /// use dataline::{Array, Dataset, Loader, Options};
    /// use std::alloc::System;
    ///
    /// # fn main() -> dataline::Result<()> {
    /// let options = Options::new().allocator(&System).set("batch_size", 10);
    /// let dataset = Dataset::from_arrays(&[Array::dense("x", &[100], &[1u8; 100])?], &options)?;
    /// let loader = Loader::new(&dataset, &options)?; // its slots are one block of System
    /// # loader.next(None)?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn allocator<A: Allocator>(self, allocator: &'static A) -> Options {
        self.and(|handle| {
            let table = memory::table(allocator);
            // SAFETY: the table is copied; its context is never freed.
            ffi::hard(|error| unsafe { sys::dl_options_set_allocator(handle, &table, error) })
        })
    }

    /// The current value as text: the default if not set, `""` for none.
    ///
    /// # Errors
    /// [`Code::UnknownOption`](crate::Code::UnknownOption), and earlier errors.
    pub fn get(&self, key: &str) -> Result<String> {
        let key = ffi::c_text("key", key)?;
        let mut out = ptr::null();
        let handle = self.raw()?;
        // SAFETY: a live handle; the text is copied before the next call, for Options are not Sync.
        ffi::hard(|error| unsafe { sys::dl_options_get(handle, key.as_ptr(), &mut out, error) })?;
        // SAFETY: the text that was just given.
        Ok(unsafe { ffi::text_of(out) })
    }

    /// Reports the first error.
    ///
    /// # Errors
    /// The error that a call using these options would return.
    pub fn check(&self) -> Result<()> {
        self.raw().map(|_| ())
    }

    /// For loaders. The library does not read the environment: it uses this copy when rank or world_size is
    /// auto.
    pub(crate) fn give_environment(&self) -> Result<()> {
        self.raw()?;
        // SAFETY: a live handle, which no other call uses, for Options are not Sync; the variables are copied.
        launcher::with_environment(|environment| {
            ffi::hard(|error| unsafe { sys::dl_options_set_environment(self.handle, environment, error) })
        })
    }

    /// Options of another owner, who destroys them: never dropped here.
    pub(crate) fn borrowed(handle: *mut sys::dl_options) -> Options {
        Options { handle, failed: None }
    }

    pub(crate) fn raw(&self) -> Result<*const sys::dl_options> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => Ok(self.handle),
        }
    }

    fn and(mut self, change: impl FnOnce(*mut sys::dl_options) -> Result<()>) -> Options {
        if self.failed.is_none() {
            self.failed = change(self.handle).err();
        }
        self
    }
}

unsafe extern "C" fn write_remark<F: Fn(LogLevel, &str)>(
    context: *mut c_void,
    level: i32,
    message: *const c_char,
    length: usize,
) {
    no_panic(|| {
        // SAFETY: the context is the `F` that was lent; the message lives for the call.
        let (write, bytes) = unsafe { (&*context.cast::<F>(), ffi::slice(message.cast::<u8>(), length)) };
        let level = match level {
            sys::DL_LOG_PROGRESS => LogLevel::Progress,
            sys::DL_LOG_INFO => LogLevel::Info,
            _ => LogLevel::Warning,
        };
        write(level, &String::from_utf8_lossy(bytes));
    });
}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

impl Clone for Options {
    /// The same settings. Later changes of one object do not affect the other. Arrays, log, allocator,
    /// extensions and the cancel token are shared, and dropped when neither object needs them.
    fn clone(&self) -> Options {
        let mut handle = ptr::null_mut();
        let made = self.raw().and_then(|options| {
            // SAFETY: a live handle; `handle` takes the result.
            ffi::hard(|error| unsafe { sys::dl_options_copy(options, &mut handle, error) })
        });
        Options { handle, failed: made.err() }
    }
}

fn takes_text(key: &str) -> bool {
    options_table().iter().any(|option| option.key == key && option.value_type == OptionType::Text)
}

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own, or NULL.
        unsafe { sys::dl_options_destroy(self.handle) };
    }
}

impl fmt::Debug for Options {
    /// The options that are not at their defaults.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = &self.failed {
            return out.debug_tuple("Options").field(error).finish();
        }
        let set = options_table().into_iter().filter_map(|option| {
            let value = self.get(option.key).ok().filter(|value| value != option.default_value)?;
            Some((option.key, value))
        });
        out.debug_map().entries(set).finish()
    }
}
