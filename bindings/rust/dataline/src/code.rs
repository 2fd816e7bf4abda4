//! Codes of errors.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::ffi;
use dataline_sys as sys;
use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $constant:ident,)*) => {
        /// What kind of error it is, as in `dataline.h`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)*
            /// A number this release of the crate does not know.
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

            /// The code of a number in `dataline.h`.
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
    /// A value that makes no sense.
    InvalidArgument = DL_ERR_INVALID_ARGUMENT,
    /// The message names the nearest key.
    UnknownOption = DL_ERR_UNKNOWN_OPTION,
    /// Wrong type, out of range, or options that contradict each other.
    BadOption = DL_ERR_BAD_OPTION,
    /// Does not parse, or an unknown scheme or key; with a column.
    BadUri = DL_ERR_BAD_URI,
    /// Does not parse or does not fit the fields; with a column.
    BadTransform = DL_ERR_BAD_TRANSFORM,
    /// There is no field of that name.
    NoSuchField = DL_ERR_NO_SUCH_FIELD,
    /// Known, but not in this build, this release or this kind of dataset.
    Unsupported = DL_ERR_UNSUPPORTED,
    /// Not possible now.
    WrongState = DL_ERR_WRONG_STATE,
    /// The loader belongs to the parent process.
    Forked = DL_ERR_FORKED,
    /// There is no memory.
    NoMemory = DL_ERR_NO_MEMORY,
    /// Names the minimum `memory_budget` that works.
    OverBudget = DL_ERR_OVER_BUDGET,
    /// Too many batches are held; names `max_leases`.
    LeasesHeld = DL_ERR_LEASES_HELD,
    /// A worker thread could not be started.
    Thread = DL_ERR_THREAD,
    /// The process may open no more files.
    TooManyFiles = DL_ERR_TOO_MANY_FILES,
    /// No such file.
    NotFound = DL_ERR_NOT_FOUND,
    /// The file may not be read.
    Permission = DL_ERR_PERMISSION,
    /// A directory, FIFO, socket or device where a file is needed.
    NotAFile = DL_ERR_NOT_A_FILE,
    /// Reading failed.
    Io = DL_ERR_IO,
    /// A file is shorter than it says, or became shorter while in use.
    Truncated = DL_ERR_TRUNCATED,
    /// The file's content makes no sense.
    Corrupt = DL_ERR_CORRUPT,
    /// Object arrays and pickles.
    UnsafeType = DL_ERR_UNSAFE_TYPE,
    /// Parts of a dataset, or a type asked for, that do not fit.
    Mismatch = DL_ERR_MISMATCH,
    /// A file was replaced while in use.
    Changed = DL_ERR_CHANGED,
    /// With `on_error=raise`: names the step, the samples and the causes.
    BadSample = DL_ERR_BAD_SAMPLE,
    /// More than `max_bad` distinct bad samples.
    TooManyBad = DL_ERR_TOO_MANY_BAD,
    /// An index, label, weight, epoch or step.
    OutOfRange = DL_ERR_OUT_OF_RANGE,
    /// A [`Source`](crate::Source) failed.
    Reader = DL_ERR_READER,
    /// Larger than `max_bytes_per_sample` or another limit.
    TooLarge = DL_ERR_TOO_LARGE,
    /// There is nothing to deliver, now or later.
    Empty = DL_ERR_EMPTY,
    /// Not a state, damaged, or of another version.
    BadState = DL_ERR_BAD_STATE,
    /// A state of another dataset or configuration; names both values.
    StateRefused = DL_ERR_STATE_REFUSED,
    /// There is no such device.
    NoDevice = DL_ERR_NO_DEVICE,
    /// The device went away.
    DeviceLost = DL_ERR_DEVICE_LOST,
    /// A defect of the library; please report it.
    Internal = DL_ERR_INTERNAL,
}

impl fmt::Display for Code {
    /// The name in `dataline.h`: `DL_ERR_CORRUPT`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: any number is allowed; the text is never freed.
        out.write_str(unsafe { ffi::text(sys::dl_status_name(self.number())) })
    }
}
