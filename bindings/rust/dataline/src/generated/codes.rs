//! The codes of errors.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0

codes! {
    /// The loader was cancelled, until a seek or load; or its token, permanently.
    Cancelled = DL_CANCELLED,
    /// An interrupt of the loader or its loop ended this call.
    Interrupted = DL_INTERRUPTED,
    /// An invalid value; in C also NULL or a wrong `struct_size`.
    InvalidArgument = DL_ERR_INVALID_ARGUMENT,
    /// No such option; the message names the most similar key.
    UnknownOption = DL_ERR_UNKNOWN_OPTION,
    /// Wrong type, out of range, or conflicting options.
    BadOption = DL_ERR_BAD_OPTION,
    /// Syntax error, unknown scheme or unknown key; see [`Failure::column`](crate::Failure::column).
    BadUri = DL_ERR_BAD_URI,
    /// Syntax error, or does not fit the fields; see [`Failure::column`](crate::Failure::column).
    BadTransform = DL_ERR_BAD_TRANSFORM,
    /// The message names the fields that exist.
    NoSuchField = DL_ERR_NO_SUCH_FIELD,
    /// Known, but not supported by this build, release or kind of dataset.
    Unsupported = DL_ERR_UNSUPPORTED,
    /// Not possible now; the message states why.
    WrongState = DL_ERR_WRONG_STATE,
    /// The object belongs to the parent process.
    Forked = DL_ERR_FORKED,
    /// The system has no memory left.
    NoMemory = DL_ERR_NO_MEMORY,
    /// The option `memory_budget` is too small; the message names the bytes.
    OverBudget = DL_ERR_OVER_BUDGET,
    /// Too many held batches; the message names `max_leases` and their number.
    LeasesHeld = DL_ERR_LEASES_HELD,
    /// A thread could not be started.
    Thread = DL_ERR_THREAD,
    /// The process has too many open files.
    TooManyFiles = DL_ERR_TOO_MANY_FILES,
    /// No such file or directory.
    NotFound = DL_ERR_NOT_FOUND,
    /// The process may not access the file.
    Permission = DL_ERR_PERMISSION,
    /// A directory, FIFO, socket or device where a file is needed.
    NotAFile = DL_ERR_NOT_A_FILE,
    /// Reading or writing failed.
    Io = DL_ERR_IO,
    /// A file is shorter than it declares, or became shorter while in use.
    Truncated = DL_ERR_TRUNCATED,
    /// The content of a file is invalid.
    Corrupt = DL_ERR_CORRUPT,
    /// Object arrays and pickles.
    UnsafeType = DL_ERR_UNSAFE_TYPE,
    /// Parts of a dataset do not fit each other.
    Mismatch = DL_ERR_MISMATCH,
    /// A file was modified while in use.
    Changed = DL_ERR_CHANGED,
    /// A bad sample with `on_error=raise`; the message names it.
    BadSample = DL_ERR_BAD_SAMPLE,
    /// More than `max_bad` distinct bad samples.
    TooManyBad = DL_ERR_TOO_MANY_BAD,
    /// An index, label, weight, epoch or step.
    OutOfRange = DL_ERR_OUT_OF_RANGE,
    /// A callback of the host failed: a reader or an extension.
    Reader = DL_ERR_READER,
    /// Larger than `max_bytes_per_sample` or another limit.
    TooLarge = DL_ERR_TOO_LARGE,
    /// Nothing to deliver, now or later.
    Empty = DL_ERR_EMPTY,
    /// Not a state, damaged, or of a different version.
    BadState = DL_ERR_BAD_STATE,
    /// The state is from a different dataset or configuration.
    StateRefused = DL_ERR_STATE_REFUSED,
    /// No driver, a driver that is too old, or no such device; see the message.
    NoDevice = DL_ERR_NO_DEVICE,
    /// The device failed, permanently: the loader can only be destroyed.
    DeviceLost = DL_ERR_DEVICE_LOST,
    /// A bug in the library; please report it.
    Internal = DL_ERR_INTERNAL,
}
