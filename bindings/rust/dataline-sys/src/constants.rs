//! The numbers of the header.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0

constants! {
    DL_OK: i32 = 0;
    /// once at the end of each epoch, including the last
    DL_END_OF_EPOCH: i32 = 1;
    /// on every call after the last of `epochs` epochs
    DL_END: i32 = 2;
    /// nothing is lost: a later call returns the batch
    DL_TIMEOUT: i32 = 3;
    /// the loader was cancelled, until a seek or load; or its token, permanently
    DL_CANCELLED: i32 = 4;
    /// an interrupt of the loader or its loop ended this call
    DL_INTERRUPTED: i32 = 5;
    /// an invalid value; in C also NULL or a wrong `struct_size`
    DL_ERR_INVALID_ARGUMENT: i32 = -1;
    /// no such option; the message names the most similar key
    DL_ERR_UNKNOWN_OPTION: i32 = -2;
    /// wrong type, out of range, or conflicting options
    DL_ERR_BAD_OPTION: i32 = -3;
    /// syntax error, unknown scheme or unknown key; see dl_error.column
    DL_ERR_BAD_URI: i32 = -4;
    /// syntax error, or does not fit the fields; see dl_error.column
    DL_ERR_BAD_TRANSFORM: i32 = -5;
    /// the message names the fields that exist
    DL_ERR_NO_SUCH_FIELD: i32 = -6;
    /// known, but not supported by this build, release or kind of dataset
    DL_ERR_UNSUPPORTED: i32 = -7;
    /// not possible now; the message states why
    DL_ERR_WRONG_STATE: i32 = -8;
    /// the object belongs to the parent process
    DL_ERR_FORKED: i32 = -9;
    /// the system has no memory left
    DL_ERR_NO_MEMORY: i32 = -20;
    /// the option `memory_budget` is too small; the message names the bytes
    DL_ERR_OVER_BUDGET: i32 = -21;
    /// too many held batches; the message names `max_leases` and their number
    DL_ERR_LEASES_HELD: i32 = -22;
    /// a thread could not be started
    DL_ERR_THREAD: i32 = -23;
    /// the process has too many open files
    DL_ERR_TOO_MANY_FILES: i32 = -24;
    /// no such file or directory
    DL_ERR_NOT_FOUND: i32 = -40;
    /// the process may not access the file
    DL_ERR_PERMISSION: i32 = -41;
    /// a directory, FIFO, socket or device where a file is needed
    DL_ERR_NOT_A_FILE: i32 = -42;
    /// reading or writing failed
    DL_ERR_IO: i32 = -43;
    /// a file is shorter than it declares, or became shorter while in use
    DL_ERR_TRUNCATED: i32 = -44;
    /// the content of a file is invalid
    DL_ERR_CORRUPT: i32 = -45;
    /// object arrays and pickles
    DL_ERR_UNSAFE_TYPE: i32 = -46;
    /// parts of a dataset do not fit each other
    DL_ERR_MISMATCH: i32 = -47;
    /// a file was modified while in use
    DL_ERR_CHANGED: i32 = -48;
    /// a bad sample with `on_error=raise`; the message names it
    DL_ERR_BAD_SAMPLE: i32 = -49;
    /// more than `max_bad` distinct bad samples
    DL_ERR_TOO_MANY_BAD: i32 = -50;
    /// an index, label, weight, epoch or step
    DL_ERR_OUT_OF_RANGE: i32 = -51;
    /// a callback of the host failed: a reader or an extension
    DL_ERR_READER: i32 = -52;
    /// larger than `max_bytes_per_sample` or another limit
    DL_ERR_TOO_LARGE: i32 = -53;
    /// nothing to deliver, now or later
    DL_ERR_EMPTY: i32 = -54;
    /// not a state, damaged, or of a different version
    DL_ERR_BAD_STATE: i32 = -70;
    /// the state is from a different dataset or configuration
    DL_ERR_STATE_REFUSED: i32 = -71;
    /// no driver, a driver that is too old, or no such device; see the message
    DL_ERR_NO_DEVICE: i32 = -80;
    /// the device failed, permanently: the loader can only be destroyed
    DL_ERR_DEVICE_LOST: i32 = -81;
    /// a bug in the library; please report it
    DL_ERR_INTERNAL: i32 = -99;
    DL_VERSION_MAJOR: i32 = 0;
    DL_VERSION_MINOR: i32 = 2;
    DL_VERSION_PATCH: i32 = 0;
    /// Incremented when a release could break a program built with an older header.
    DL_ABI_VERSION: i32 = 2;
    /// no release has a larger struct
    DL_STRUCT_MAX_BYTES: usize = 4096;
    DL_MEMORY_METADATA: i32 = 0;
    /// orders, indices, weights
    DL_MEMORY_TABLE: i32 = 1;
    /// batch slots, 2 MiB aligned, page-locked for a device; one block per loader
    DL_MEMORY_ARENA: i32 = 2;
    /// datasets held in memory, 2 MiB aligned
    DL_MEMORY_DATA: i32 = 3;
    /// a batch beyond `max_leases`
    DL_MEMORY_OVERFLOW: i32 = 4;
    /// 2 MiB aligned address space whose pages are touched only as needed: images during decoding (one block
    /// per worker), rows without a fixed size (one block per loader).
    DL_MEMORY_FRAMES: i32 = 5;
    /// progress of opening a large dataset
    DL_LOG_PROGRESS: i32 = 0;
    DL_LOG_INFO: i32 = 1;
    DL_LOG_WARNING: i32 = 2;
    DL_OPTION_BOOL: i32 = 1;
    DL_OPTION_INT: i32 = 2;
    /// bytes
    DL_OPTION_SIZE: i32 = 3;
    /// one of dl_option_info.choices
    DL_OPTION_WORD: i32 = 4;
    DL_OPTION_TEXT: i32 = 5;
    /// array of `int64_t`
    DL_OPTION_INDICES: i32 = 6;
    /// array of double
    DL_OPTION_WEIGHTS: i32 = 7;
    /// array of `int64_t`. Since 0.3
    DL_OPTION_LENGTHS: i32 = 8;
    DL_SCOPE_DATASET: i32 = 1;
    /// an option of both has the value 3
    DL_SCOPE_LOADER: i32 = 2;
    /// delivered as 0 or 1, whatever byte is stored
    DL_DTYPE_BOOL: i32 = 1;
    DL_DTYPE_U8: i32 = 2;
    DL_DTYPE_U16: i32 = 3;
    DL_DTYPE_U32: i32 = 4;
    DL_DTYPE_U64: i32 = 5;
    DL_DTYPE_I8: i32 = 6;
    DL_DTYPE_I16: i32 = 7;
    DL_DTYPE_I32: i32 = 8;
    DL_DTYPE_I64: i32 = 9;
    DL_DTYPE_F16: i32 = 10;
    DL_DTYPE_BF16: i32 = 11;
    DL_DTYPE_F32: i32 = 12;
    DL_DTYPE_F64: i32 = 13;
    /// two f32
    DL_DTYPE_C64: i32 = 14;
    /// two f64
    DL_DTYPE_C128: i32 = 15;
    DL_KIND_DENSE: i32 = 0;
    DL_KIND_RAGGED: i32 = 1;
    /// only in dl_array: dense, with rows `row_stride_bytes` apart
    DL_KIND_STRIDED: i32 = 2;
    DL_VIEW_READ_ONLY: u64 = 1;
    /// shares bytes with another view of the batch
    DL_VIEW_OVERLAPPING: u64 = 2;
    /// page-locked host memory
    DL_VIEW_PINNED: u64 = 4;
    /// values as in DLPack
    DL_DEVICE_CPU: i32 = 1;
    DL_DEVICE_CUDA: i32 = 2;
    /// 32 for a sample and one for the batch
    DL_MAX_RANK: i32 = 33;
    /// `read` was interrupted; not an errno. Since 0.3
    DL_READER_INTERRUPTED: i32 = -1000000005;
    DL_IMAGE_JPEG: i32 = 1;
    DL_IMAGE_PNG: i32 = 2;
    DL_IMAGE_WEBP: i32 = 3;
    /// PGM, PPM, PAM. Since 0.3
    DL_IMAGE_PNM: i32 = 4;
    /// only grows
    DL_METRIC_COUNTER: i32 = 1;
    /// current value
    DL_METRIC_GAUGE: i32 = 2;
    /// how often, and how long
    DL_METRIC_DURATION: i32 = 3;
    /// dl_metric.thread: all threads together
    DL_THREAD_ALL: i32 = -1;
    /// dl_metric.thread: the threads that call dl_loader_next
    DL_THREAD_CONSUMER: i32 = -2;
    /// workers and depth do not change
    DL_TUNE_OFF: i32 = 0;
    /// reports what it would try, and changes nothing
    DL_TUNE_WATCH: i32 = 1;
    /// changes workers and depth
    DL_TUNE_ON: i32 = 2;
    DL_SNIFF_NO: i32 = 0;
    DL_SNIFF_GUESS: i32 = 1;
    /// a header that other data could start with by chance
    DL_SNIFF_LIKELY: i32 = 2;
    /// a magic number that is long enough to be unique
    DL_SNIFF_CERTAIN: i32 = 3;
}
