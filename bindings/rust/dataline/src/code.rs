//! Codes of errors.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::ffi;
use dataline_sys as sys;
use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $constant:ident,)*) => {
        /// The kind of an error, as in `dataline.h`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)*
            /// A number that this release of the crate does not know.
            Other(i32),
        }

        impl Code {
            /// The number in `dataline.h`.
            #[must_use]
            pub fn number(self) -> i32 {
                match self {
                    $(Code::$name => sys::$constant,)*
                    Code::Other(number) => number,
                }
            }

            /// The code for a number in `dataline.h`.
            #[must_use]
            pub fn from_number(number: i32) -> Code {
                match number {
                    $(sys::$constant => Code::$name,)*
                    other => Code::Other(other),
                }
            }
        }
    };
}

codes! {
    /// The loader or a token was cancelled.
    Cancelled = DL_CANCELLED,
    /// The call was interrupted.
    Interrupted = DL_INTERRUPTED,
    /// An invalid value.
    InvalidArgument = DL_ERR_INVALID_ARGUMENT,
    /// An unknown option; the message names the nearest key.
    UnknownOption = DL_ERR_UNKNOWN_OPTION,
    /// Wrong type, out of range, or conflicting options.
    BadOption = DL_ERR_BAD_OPTION,
    /// A URI that does not parse, or an unknown scheme or key; with a column.
    BadUri = DL_ERR_BAD_URI,
    /// A transform that does not parse or does not fit the fields; with a column.
    BadTransform = DL_ERR_BAD_TRANSFORM,
    /// No such field.
    NoSuchField = DL_ERR_NO_SUCH_FIELD,
    /// Known, but not in this build, this release or this kind of dataset.
    Unsupported = DL_ERR_UNSUPPORTED,
    /// Not possible now.
    WrongState = DL_ERR_WRONG_STATE,
    /// The loader belongs to the parent process.
    Forked = DL_ERR_FORKED,
    /// Out of memory.
    NoMemory = DL_ERR_NO_MEMORY,
    /// `memory_budget` is too small; names the minimum that works.
    OverBudget = DL_ERR_OVER_BUDGET,
    /// Too many batches are held; names `max_leases`.
    LeasesHeld = DL_ERR_LEASES_HELD,
    /// A worker thread could not be started.
    Thread = DL_ERR_THREAD,
    /// The process has too many open files.
    TooManyFiles = DL_ERR_TOO_MANY_FILES,
    /// No such file.
    NotFound = DL_ERR_NOT_FOUND,
    /// No permission to read the file.
    Permission = DL_ERR_PERMISSION,
    /// A directory, FIFO, socket or device where a file is needed.
    NotAFile = DL_ERR_NOT_A_FILE,
    /// Reading failed.
    Io = DL_ERR_IO,
    /// A file is shorter than its header states, or became shorter while in use.
    Truncated = DL_ERR_TRUNCATED,
    /// The file's content is invalid.
    Corrupt = DL_ERR_CORRUPT,
    /// Object arrays and pickles.
    UnsafeType = DL_ERR_UNSAFE_TYPE,
    /// Parts of a dataset, or a requested type, that do not match.
    Mismatch = DL_ERR_MISMATCH,
    /// A file was modified while in use.
    Changed = DL_ERR_CHANGED,
    /// A bad sample, with `on_error=raise`; names the step, the samples and the causes.
    BadSample = DL_ERR_BAD_SAMPLE,
    /// More than `max_bad` distinct bad samples.
    TooManyBad = DL_ERR_TOO_MANY_BAD,
    /// An index, label, weight, epoch or step is out of range.
    OutOfRange = DL_ERR_OUT_OF_RANGE,
    /// A [`Source`](crate::Source) failed.
    Reader = DL_ERR_READER,
    /// Larger than `max_bytes_per_sample` or another limit.
    TooLarge = DL_ERR_TOO_LARGE,
    /// Nothing to deliver, now or later.
    Empty = DL_ERR_EMPTY,
    /// Not a state, damaged, or of another version.
    BadState = DL_ERR_BAD_STATE,
    /// A state of another dataset or configuration; names both values.
    StateRefused = DL_ERR_STATE_REFUSED,
    /// No such device.
    NoDevice = DL_ERR_NO_DEVICE,
    /// The device was lost.
    DeviceLost = DL_ERR_DEVICE_LOST,
    /// A bug in the library; please report it.
    Internal = DL_ERR_INTERNAL,
}

impl fmt::Display for Code {
    /// The name in `dataline.h`: `DL_ERR_CORRUPT`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: any number is allowed; the text is never freed.
        out.write_str(unsafe { ffi::text(sys::dl_status_name(self.number())) })
    }
}
