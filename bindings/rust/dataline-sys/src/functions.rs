//! The functions of the header, in its order. One list, hence the length.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::arrow::*;
use crate::dlpack::*;
use crate::structs::*;
use std::os::raw::{c_char, c_void};

functions! {
    /// The library's version: major * 10000 + minor * 100 + patch.
    fn dl_version_number() -> i32;

    /// The same as text: "0.2.0".
    fn dl_version_string() -> *const c_char;

    /// The library's ABI: compare it with DL_ABI_VERSION.
    fn dl_abi_version() -> i32;

    /// Describes how the library was built: the optional parts and the compiler, as in
    /// `highway mimalloc libjpeg; gcc 12.2.0`. If the build has device kernels, the CUDA version that
    /// compiled them and their architectures follow: `; kernels: CUDA 12.0, sm_75 sm_80`. Missing parts come
    /// last, each with its cost: `; missing: highway (normalised rows ... slower), libwebp (...)`.
    fn dl_build_info() -> *const c_char;

    /// The name of a code, such as `DL_ERR_CORRUPT`. Never NULL.
    fn dl_status_name(status: dl_status) -> *const c_char;

    /// Does what DL_ERROR_INIT does, for hosts that cannot use a macro. `struct_size` is the size of the
    /// struct in the host.
    fn dl_error_init(error: *mut dl_error, struct_size: u32);

    /// Creates options with default values.
    fn dl_options_create(out: *mut *mut dl_options, error: *mut dl_error) -> dl_status;

    /// Destroys the options. NULL is allowed.
    fn dl_options_destroy(options: *mut dl_options);

    /// Copies options. Later changes to one do not affect the other. Arrays, tables, extensions and the
    /// cancel token are shared, not copied. Their `release` and `destroy` are called when neither object
    /// needs them. Since 0.3.
    fn dl_options_copy(
        options: *const dl_options, out: *mut *mut dl_options, error: *mut dl_error,
    ) -> dl_status;

    /// Sets an option from text, as the shell does: "256", "true", "64MiB", "full". Accepts every key except
    /// the arrays.
    ///
    /// Errors: DL_ERR_UNKNOWN_OPTION (the message names the most similar key), DL_ERR_BAD_OPTION (the message
    /// states what was expected).
    fn dl_options_set(
        options: *mut dl_options, key: *const c_char, value: *const c_char, error: *mut dl_error,
    ) -> dl_status;

    /// Sets an integer, size or boolean option from a number.
    fn dl_options_set_i64(
        options: *mut dl_options, key: *const c_char, value: i64, error: *mut dl_error,
    ) -> dl_status;

    /// Sets the array `sample_indices`. If `release` is NULL, the array is copied now. Otherwise it is
    /// borrowed: `release(context)` is called once, when neither these options nor anything created from them
    /// needs the array. If the call fails, nothing is borrowed and `release` is not called. These rules apply
    /// to every `release` parameter.
    fn dl_options_set_indices(
        options: *mut dl_options, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;

    /// Sets the array `weights`, one per sample. Lifetime: see dl_options_set_indices.
    fn dl_options_set_weights(
        options: *mut dl_options, weights: *const f64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;

    /// Sets the array `lengths`, one per sample. Lifetime: see dl_options_set_indices. Since 0.3.
    fn dl_options_set_lengths(
        options: *mut dl_options, lengths: *const i64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;

    /// dl_options_set_allocator and dl_options_set_log replace the previous table. The tables are copied.
    /// What they point to must stay valid until their `destroy` is called.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (a function is missing, or a wrong `struct_size`).
    fn dl_options_set_allocator(
        options: *mut dl_options, allocator: *const dl_allocator, error: *mut dl_error,
    ) -> dl_status;

    /// dl_options_set_allocator and dl_options_set_log replace the previous table. The tables are copied.
    /// What they point to must stay valid until their `destroy` is called.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (a function is missing, or a wrong `struct_size`).
    fn dl_options_set_log(options: *mut dl_options, log: *const dl_log, error: *mut dl_error) -> dl_status;

    /// Sets the cancel token. The options keep their own reference.
    fn dl_options_set_cancel_token(
        options: *mut dl_options, token: *mut dl_cancel_token, error: *mut dl_error,
    ) -> dl_status;

    /// Sets the environment for `rank=auto` and `world_size=auto`: "NAME=value" strings, ended by NULL, such
    /// as the C variable environ. The library never reads the environment itself. Launcher variables are
    /// copied and all others are ignored. dl_loader_create uses them if either option is auto. It fails with
    /// DL_ERR_INVALID_ARGUMENT if the values are not valid ranks or contradict each other. It fails with
    /// DL_ERR_BAD_OPTION if only one option is auto and the other differs from the launcher's value. Since
    /// 0.3.
    fn dl_options_set_environment(
        options: *mut dl_options, environment: *const *const c_char, error: *mut dl_error,
    ) -> dl_status;

    /// Returns the current value as text: the default if the key is not set, "" if there is none. Valid until
    /// the next call on these options.
    fn dl_options_get(
        options: *const dl_options, key: *const c_char, out: *mut *const c_char, error: *mut dl_error,
    ) -> dl_status;

    /// Detects the launcher from `environment` (see dl_options_set_environment). The first of these that is
    /// set is used: RANK and WORLD_SIZE (torchrun); JAX_PROCESS_ID and JAX_NUM_PROCESSES; the variables of
    /// Open MPI, of PMI, of a Slurm step; PMIX_RANK; JOB_COMPLETION_INDEX. The rank and the size always come
    /// from the same launcher. Slurm variables are used only inside a step. They are ignored if the step has
    /// one task per machine and its tasks start another launcher.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT if a variable of a launcher is missing, if two launchers contradict
    /// each other, or if a value is not a valid rank. The message names the variables and their values.
    ///
    /// Threading: any thread. Since 0.3.
    fn dl_launcher_detect(
        environment: *const *const c_char, out: *mut dl_launcher, error: *mut dl_error,
    ) -> dl_status;

    /// The number of options.
    fn dl_option_count() -> i32;

    /// Fills `*out` with option `index`. Its strings are never freed.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such option).
    fn dl_option_at(index: i32, out: *mut dl_option_info, error: *mut dl_error) -> dl_status;

    /// The number of operators.
    fn dl_transform_count(extensions: *const dl_extensions) -> i32;

    /// dl_transform_at fills `*out` with operator `index`, dl_transform_argument_at with one of its
    /// arguments. The strings live as long as the library, or as `extensions`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such operator or argument).
    fn dl_transform_at(
        extensions: *const dl_extensions, index: i32, out: *mut dl_transform_info, error: *mut dl_error,
    ) -> dl_status;

    /// dl_transform_at fills `*out` with operator `index`, dl_transform_argument_at with one of its
    /// arguments. The strings live as long as the library, or as `extensions`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such operator or argument).
    fn dl_transform_argument_at(
        extensions: *const dl_extensions, index: i32, argument: i32, out: *mut dl_argument_info,
        error: *mut dl_error,
    ) -> dl_status;

    /// dl_cancel_token_cancel ends dl_dataset_open and the waits of every loader created with the token: they
    /// return DL_CANCELLED. It never blocks and cannot be undone.
    ///
    /// Threading: any thread.
    fn dl_cancel_token_create(out: *mut *mut dl_cancel_token, error: *mut dl_error) -> dl_status;

    /// dl_cancel_token_cancel ends dl_dataset_open and the waits of every loader created with the token: they
    /// return DL_CANCELLED. It never blocks and cannot be undone.
    ///
    /// Threading: any thread.
    fn dl_cancel_token_cancel(token: *mut dl_cancel_token);

    /// Destroys the handle. NULL is allowed. Options keep their own references.
    fn dl_cancel_token_destroy(token: *mut dl_cancel_token);

    /// The name, such as "u8"; "?" for an unknown value.
    fn dl_dtype_name(dtype: i32) -> *const c_char;

    /// Bytes of one item; 0 for an unknown value.
    fn dl_dtype_bytes(dtype: i32) -> i32;

    /// The dtype with this name; 0 for an unknown name.
    fn dl_dtype_from_name(name: *const c_char) -> i32;

    /// Opens a dataset: `scheme:path[,path...][?key=value&...]`, or a bare path, whose format is detected.
    /// Files stay open. Only headers are read, except from .gz files and with `io=memory`. options may be
    /// NULL; only options of scope dataset apply.
    ///
    /// Files that change while in use. Every file is checked before a batch reads from it, and again when the
    /// batch has been copied. Truncated data is therefore a bad sample (DL_ERR_TRUNCATED, with file and
    /// offset), never zeros. If the modification time of a file changes after open and its size does not,
    /// every read of it fails with DL_ERR_CHANGED: open it again. A file that grew, or was unlinked, renamed
    /// or replaced, is read as it was at open. A change that affects neither size nor modification time is
    /// not detected. `io=auto` maps files on local file systems. Like `io=pread`, it uses pread for files on
    /// network and user-space file systems, and on unknown file systems without a block device.
    ///
    /// `fault_guard=true`. If a whole page of a mapped file is truncated during a read, or its disk fails,
    /// the kernel sends SIGBUS, which kills the process. With this option a SIGBUS handler turns it into an
    /// error (DL_ERR_TRUNCATED, DL_ERR_IO):
    ///
    /// - Others: The handler acts only on loads from mapped files of datasets opened with this option. It
    ///   forwards everything else to the previous handler (with its flags and mask) or the default action.
    ///   The first such dl_dataset_open installs it, with SA_ONSTACK, and it stays until the process ends. A
    ///   handler that the host installs later must forward faults it does not recognize. Each further
    ///   dl_dataset_open with this option logs a warning if another handler has been installed since. If the
    ///   host has restored the default action, the call also installs this handler again.
    /// - Threads: The handler runs in the loading thread: a worker, or the thread in dl_loader_next. Workers
    ///   block all signals except SIGBUS. A host thread that blocks SIGBUS and calls dl_loader_next is not
    ///   guarded.
    /// - fork: A child inherits the handler, and its datasets stay guarded.
    /// - Unloading: A shared library that installed it stays in memory (RTLD_NODELETE). dlclose is harmless.
    /// - Copies: A process may contain two copies of the library: the handler of the later one forwards to
    ///   that of the earlier one.
    /// - Windows: DL_ERR_UNSUPPORTED: the system does not allow a mapped file to be truncated.
    ///
    /// `io=pread` and `io=memory` do not need a guard, and ignore this option.
    ///
    /// Errors: DL_ERR_BAD_URI, DL_ERR_NOT_FOUND, DL_ERR_PERMISSION, DL_ERR_NOT_A_FILE, DL_ERR_TRUNCATED,
    /// DL_ERR_CORRUPT, DL_ERR_MISMATCH, DL_ERR_UNSAFE_TYPE, DL_ERR_UNSUPPORTED, DL_ERR_EMPTY,
    /// DL_ERR_TOO_MANY_FILES, DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY, DL_CANCELLED.
    fn dl_dataset_open(
        uri: *const c_char, options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Creates a dataset from arrays. If `release` is NULL, they are copied. Otherwise they are borrowed and
    /// must not change. `release(context)` is then called once, from any thread, when the dataset and
    /// everything created from it (loaders, composed datasets) have been freed.
    fn dl_dataset_from_arrays(
        arrays: *const dl_array, count: i32, release: dl_release, context: *mut c_void,
        options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Create a dataset from a table in memory. dl_dataset_from_arrow reads all arrays of a stream (Arrow's C
    /// stream interface). dl_dataset_from_arrow_array reads one array (C data interface). An array is a
    /// struct whose children are the columns, or a single column, which is called `data` if it has no name.
    /// Fields and types are the same as for the format `arrow`:
    ///
    /// - numbers and bool; times as their integers
    /// - binary and strings as ragged u8
    /// - `fixed_size_list` as dims, list as ragged
    /// - leaves of structs as `struct/leaf`
    /// - dictionaries as their values
    ///
    /// Batches are filled straight from the table's memory. Two kinds of values are first copied: bool, which
    /// Arrow stores as bits, and values whose nulls are filled. `keys` are the keys of an `arrow:` URI, such
    /// as `fields=image/bytes,label&nulls=fill(0)`. If it is NULL, all columns are read, and a sample with a
    /// null is bad.
    ///
    /// The call takes ownership of its Arrow arguments, even if it fails: their `release` is NULL afterwards.
    /// The stream and its schema are read and released in this call. The arrays are released from any thread,
    /// when the dataset and everything created from it have been freed. They must not change until then.
    /// Offsets and indices are checked. Arrow's structs do not contain the lengths of buffers, so the host
    /// must ensure that they are long enough. A saved state can be loaded only with the same rows in the same
    /// arrays.
    ///
    /// Since 0.3.
    ///
    /// Errors:
    ///
    /// - DL_ERR_READER: the stream failed. The message contains its text.
    /// - DL_ERR_UNSUPPORTED: an unsupported type. The message names it.
    /// - DL_ERR_BAD_URI: in `keys`.
    /// - DL_ERR_INVALID_ARGUMENT: an argument that was released already.
    /// - DL_ERR_CORRUPT, DL_ERR_NO_SUCH_FIELD, DL_ERR_TOO_LARGE, DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY,
    ///   DL_CANCELLED.
    fn dl_dataset_from_arrow(
        stream: *mut ArrowArrayStream, keys: *const c_char, options: *const dl_options,
        out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Create a dataset from a table in memory. dl_dataset_from_arrow reads all arrays of a stream (Arrow's C
    /// stream interface). dl_dataset_from_arrow_array reads one array (C data interface). An array is a
    /// struct whose children are the columns, or a single column, which is called `data` if it has no name.
    /// Fields and types are the same as for the format `arrow`:
    ///
    /// - numbers and bool; times as their integers
    /// - binary and strings as ragged u8
    /// - `fixed_size_list` as dims, list as ragged
    /// - leaves of structs as `struct/leaf`
    /// - dictionaries as their values
    ///
    /// Batches are filled straight from the table's memory. Two kinds of values are first copied: bool, which
    /// Arrow stores as bits, and values whose nulls are filled. `keys` are the keys of an `arrow:` URI, such
    /// as `fields=image/bytes,label&nulls=fill(0)`. If it is NULL, all columns are read, and a sample with a
    /// null is bad.
    ///
    /// The call takes ownership of its Arrow arguments, even if it fails: their `release` is NULL afterwards.
    /// The stream and its schema are read and released in this call. The arrays are released from any thread,
    /// when the dataset and everything created from it have been freed. They must not change until then.
    /// Offsets and indices are checked. Arrow's structs do not contain the lengths of buffers, so the host
    /// must ensure that they are long enough. A saved state can be loaded only with the same rows in the same
    /// arrays.
    ///
    /// Since 0.3.
    ///
    /// Errors:
    ///
    /// - DL_ERR_READER: the stream failed. The message contains its text.
    /// - DL_ERR_UNSUPPORTED: an unsupported type. The message names it.
    /// - DL_ERR_BAD_URI: in `keys`.
    /// - DL_ERR_INVALID_ARGUMENT: an argument that was released already.
    /// - DL_ERR_CORRUPT, DL_ERR_NO_SUCH_FIELD, DL_ERR_TOO_LARGE, DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY,
    ///   DL_CANCELLED.
    fn dl_dataset_from_arrow_array(
        schema: *mut ArrowSchema, array: *mut ArrowArray, keys: *const c_char, options: *const dl_options,
        out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Creates a dataset over the reader. The table is copied.
    fn dl_dataset_from_reader(
        reader: *const dl_reader, options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Combine datasets. The new dataset keeps its own references to the parts. options may be NULL. The
    /// allocator and `memory_budget` of the options apply to the indices that dl_dataset_subset copies. If
    /// `pack_length` is set, the samples of the new dataset are packed.
    ///
    /// - dl_dataset_zip: a sample has the fields of all parts. The lengths must be equal. `names[i]` renames
    ///   the field of part i, or prefixes its fields ("name/field") if there are several. names may be NULL.
    /// - dl_dataset_concat: the samples of the parts, one part after another. The fields must be equal.
    /// - dl_dataset_subset: the samples `indices[0..count)` of a dataset. The indices are borrowed if
    ///   `release` is set, and copied otherwise.
    fn dl_dataset_zip(
        parts: *const *mut dl_dataset, names: *const *const c_char, count: i32, options: *const dl_options,
        out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Combine datasets. The new dataset keeps its own references to the parts. options may be NULL. The
    /// allocator and `memory_budget` of the options apply to the indices that dl_dataset_subset copies. If
    /// `pack_length` is set, the samples of the new dataset are packed.
    ///
    /// - dl_dataset_zip: a sample has the fields of all parts. The lengths must be equal. `names[i]` renames
    ///   the field of part i, or prefixes its fields ("name/field") if there are several. names may be NULL.
    /// - dl_dataset_concat: the samples of the parts, one part after another. The fields must be equal.
    /// - dl_dataset_subset: the samples `indices[0..count)` of a dataset. The indices are borrowed if
    ///   `release` is set, and copied otherwise.
    fn dl_dataset_concat(
        parts: *const *mut dl_dataset, count: i32, options: *const dl_options, out: *mut *mut dl_dataset,
        error: *mut dl_error,
    ) -> dl_status;

    /// Combine datasets. The new dataset keeps its own references to the parts. options may be NULL. The
    /// allocator and `memory_budget` of the options apply to the indices that dl_dataset_subset copies. If
    /// `pack_length` is set, the samples of the new dataset are packed.
    ///
    /// - dl_dataset_zip: a sample has the fields of all parts. The lengths must be equal. `names[i]` renames
    ///   the field of part i, or prefixes its fields ("name/field") if there are several. names may be NULL.
    /// - dl_dataset_concat: the samples of the parts, one part after another. The fields must be equal.
    /// - dl_dataset_subset: the samples `indices[0..count)` of a dataset. The indices are borrowed if
    ///   `release` is set, and copied otherwise.
    fn dl_dataset_subset(
        dataset: *mut dl_dataset, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// The number of samples; -1: unknown (streams, later).
    fn dl_dataset_count(dataset: *const dl_dataset) -> i64;

    /// The schema: `*count` views, to step through with dl_view_at. count may be NULL.
    fn dl_dataset_fields(dataset: *const dl_dataset, count: *mut i32) -> *const dl_view;

    /// The format: "idx", "zip", "arrays", ...
    fn dl_dataset_format(dataset: *const dl_dataset) -> *const c_char;

    /// As passed to dl_dataset_open, or "".
    fn dl_dataset_uri(dataset: *const dl_dataset) -> *const c_char;

    /// The number of notes.
    fn dl_dataset_note_count(dataset: *const dl_dataset) -> i32;

    /// A note for the user; "" for an index out of range. "left out: ..." names a file, or bytes of a file,
    /// that are not in the dataset (`bad_files=skip`). "damaged: ..." names a file or a set that differs from
    /// what was written.
    fn dl_dataset_note(dataset: *const dl_dataset, index: i32) -> *const c_char;

    /// Class names, indexed by label (a folder's class directories, in order). dl_dataset_class_count is 0 if
    /// the dataset has none. A composed dataset has the classes of the first part that has any. A name is
    /// UTF-8, or the raw bytes of a directory name that is not UTF-8. It lives as long as the dataset.
    /// dl_dataset_class_name returns "" for an index out of range.
    fn dl_dataset_class_count(dataset: *const dl_dataset) -> i64;

    /// Class names, indexed by label (a folder's class directories, in order). dl_dataset_class_count is 0 if
    /// the dataset has none. A composed dataset has the classes of the first part that has any. A name is
    /// UTF-8, or the raw bytes of a directory name that is not UTF-8. It lives as long as the dataset.
    /// dl_dataset_class_name returns "" for an index out of range.
    fn dl_dataset_class_name(dataset: *const dl_dataset, index: i64) -> *const c_char;

    /// Reads one sample through the transforms of `options`, as a batch of one: for viewers, tests and
    /// checks. Options that define a sample apply (transform, seed, device, limits, memory). Options for
    /// order, batches, threads and bad samples do not. Random operators use the random numbers of the first
    /// sample of epoch 0. Each call plans and allocates memory as dl_loader_create does, which is too slow
    /// for training.
    ///
    /// Errors: those of dl_loader_create and dl_loader_next; DL_ERR_OUT_OF_RANGE for the index.
    fn dl_dataset_read(
        dataset: *const dl_dataset, index: i64, options: *const dl_options, out: *mut *mut dl_batch,
        error: *mut dl_error,
    ) -> dl_status;

    /// Releases the caller's reference. NULL is allowed.
    fn dl_dataset_destroy(dataset: *mut dl_dataset);

    /// Creates a loader: plans memory, starts the workers and starts loading. The loader keeps its own
    /// reference to the dataset. options may be NULL. The CUDA driver is loaded only for `device=cuda` and
    /// `pin_memory`.
    ///
    /// Errors:
    ///
    /// - DL_ERR_OUT_OF_RANGE: indices, weights or start.
    /// - DL_ERR_NO_MEMORY: for device memory, the message states how much is needed and how much is free.
    /// - DL_ERR_MISMATCH: the samples of the parts of a mix cannot share a batch.
    /// - DL_ERR_NO_DEVICE, DL_ERR_DEVICE_LOST: with `device=cuda`.
    /// - DL_ERR_BAD_OPTION, DL_ERR_BAD_TRANSFORM, DL_ERR_NO_SUCH_FIELD, DL_ERR_OVER_BUDGET, DL_ERR_THREAD,
    ///   DL_ERR_EMPTY, DL_ERR_UNSUPPORTED.
    fn dl_loader_create(
        dataset: *mut dl_dataset, options: *const dl_options, out: *mut *mut dl_loader, error: *mut dl_error,
    ) -> dl_status;

    /// Returns the next batch, in order. A negative `timeout_ns` waits without limit, 0 polls. Pass the batch
    /// to dl_batch_release. At the end of each epoch, one call returns DL_END_OF_EPOCH. After the last epoch,
    /// all calls return DL_END.
    ///
    /// With `num_workers=0`, the call loads the batch itself, regardless of the timeout. If another thread is
    /// already loading it, the call waits for that thread as it would for a worker. With workers, a call that
    /// waits also fills rows, in pieces of at most about 50 us. It does not do so with timeout 0, and it
    /// calls a host reader only if dl_reader.prompt is set.
    ///
    /// A system failure while a batch is filled is never a bad sample, regardless of `on_error`. The call
    /// fails with DL_ERR_NO_MEMORY, DL_ERR_TOO_MANY_FILES, or DL_ERR_IO (a device that fails every read, a
    /// call that is always interrupted), with `os_error` and the file. The position does not change and
    /// nothing is counted. The next call fills the batch again, with the same bytes. A read that fails on the
    /// device is tried twice. It makes a sample bad only if other samples can be read.
    ///
    /// Errors:
    ///
    /// - DL_ERR_BAD_SAMPLE: once per step. The position does not change, and the next call delivers the
    ///   step's good samples.
    /// - DL_ERR_WRONG_STATE: a reader, operator or storage calls this while it fills a batch of this loader,
    ///   and would wait for its own thread. With `device=cuda`, see also dl_batch_wait on CUDA graphs.
    /// - DL_ERR_DEVICE_LOST: with `device=cuda`. Every later call returns it too, even for batches loaded
    ///   before.
    /// - DL_ERR_TOO_MANY_BAD, DL_ERR_LEASES_HELD, DL_ERR_OVER_BUDGET, DL_ERR_FORKED.
    ///
    /// Threading: any thread; each call gets a different batch.
    fn dl_loader_next(
        loader: *mut dl_loader, timeout_ns: i64, out: *mut *mut dl_batch, error: *mut dl_error,
    ) -> dl_status;

    /// With `num_workers=0`, loads on the calling thread for about `budget_ns`, so that a frame loop can
    /// spread a batch over several frames. DL_OK: a batch, an end or an error is ready, and dl_loader_next
    /// returns immediately. DL_TIMEOUT: the budget is used up and work remains. The call may also return
    /// DL_CANCELLED or DL_INTERRUPTED.
    ///
    /// The budget is checked after each run (one sample if images are decoded, else up to 256 samples or
    /// about 1 MiB). A call loads at least one run, and exceeds the budget by at most one run. With a budget
    /// of 0 or less, or with workers, it loads nothing and only reports whether something is ready. With
    /// `lease_overflow=wait`, dl_loader_next still waits for a release if all leases are held.
    ///
    /// Errors: DL_ERR_FORKED, DL_ERR_DEVICE_LOST, DL_ERR_WRONG_STATE (see dl_loader_next).
    fn dl_loader_work(loader: *mut dl_loader, budget_ns: i64, error: *mut dl_error) -> dl_status;

    /// Starts a loop over one epoch, as the `for` loops of the bindings do. At the start of an epoch, or
    /// right after a seek or load, the loop covers the rest of that epoch. Otherwise it covers the next epoch
    /// from step 0. The previous loop ends. Pass `*out` to dl_epoch_release. Returns DL_END after the last
    /// epoch, or DL_CANCELLED.
    ///
    /// Errors: DL_ERR_FORKED, DL_ERR_NO_MEMORY. If the call fails, the previous loop continues. Since 0.3.
    fn dl_loader_epoch(loader: *mut dl_loader, out: *mut *mut dl_epoch, error: *mut dl_error) -> dl_status;

    /// Creates a handle that is not bound to an epoch, for a caller whose waits must be interrupted
    /// separately. dl_epoch_next on it does what dl_loader_next does, including DL_END. dl_epoch_interrupt on
    /// it does not affect the waits of other callers. The handle does not end other loops, and stays usable
    /// until the loader is destroyed (DL_CANCELLED). It is cheap enough to create one for each wait. Pass
    /// `*out` to dl_epoch_release.
    ///
    /// Errors: DL_ERR_FORKED, DL_ERR_NO_MEMORY. Since 0.3.
    fn dl_loader_stream(loader: *mut dl_loader, out: *mut *mut dl_epoch, error: *mut dl_error) -> dl_status;

    /// Does what dl_loader_next does, for one loop. Several threads may share the loop: each batch goes to
    /// one of them.
    ///
    /// DL_END_OF_EPOCH: the epoch is over. The first such result moves the position to (epoch + 1, 0). All
    /// other waiting callers and all later calls get the same result, without moving the position. Every
    /// thread therefore leaves the loop, and none gets a batch of the next epoch.
    ///
    /// DL_ERR_WRONG_STATE: the loop was ended before that, by a newer dl_loader_epoch or
    /// dl_loader_begin_epoch, a seek, a loaded state or the end of the loader. Callers that wait get it too.
    /// No batch is lost.
    ///
    /// dl_loader_next reads from the same stream and does not end loops. This loop does not receive batches
    /// that dl_loader_next has returned. If dl_loader_next has returned DL_END_OF_EPOCH, the loop is over
    /// too. Other results and errors: as dl_loader_next, but never DL_END. Since 0.3.
    fn dl_epoch_next(
        epoch: *mut dl_epoch, timeout_ns: i64, out: *mut *mut dl_batch, error: *mut dl_error,
    ) -> dl_status;

    /// Ends every dl_epoch_next that waits on this handle, with DL_INTERRUPTED. If no call is waiting, the
    /// next one returns DL_INTERRUPTED, so that no interrupt is lost. Never blocks. NULL is allowed.
    ///
    /// Threading: any thread, including in a signal handler. Since 0.3.
    fn dl_epoch_interrupt(epoch: *mut dl_epoch);

    /// Frees the handle, even after its loader was destroyed. NULL is allowed. If a handle is released in the
    /// middle of its epoch, that epoch stays the current one until another loop starts.
    ///
    /// Threading: once, when no other call on the handle is in progress or follows. Since 0.3.
    fn dl_epoch_release(epoch: *mut dl_epoch);

    /// Does what dl_loader_epoch does, without a handle, for one thread that calls dl_loader_next. Returns
    /// DL_END after the last epoch.
    fn dl_loader_begin_epoch(loader: *mut dl_loader, error: *mut dl_error) -> dl_status;

    /// Returns the position (epoch, step), 0 \<= step \<= steps. At (e, steps), DL_END_OF_EPOCH of epoch e
    /// has not been returned yet. At (e + 1, 0), it has. The position counts the batches that dl_loader_next
    /// has delivered, not prefetched ones.
    fn dl_loader_position(
        loader: *const dl_loader, epoch: *mut i64, step: *mut i64, error: *mut dl_error,
    ) -> dl_status;

    /// Moves to a position. Takes constant time, except that a Fisher-Yates or weighted order first builds
    /// its table. Clears dl_loader_cancel and dl_loader_interrupt. Leased batches stay valid.
    ///
    /// Errors: DL_ERR_OUT_OF_RANGE, DL_ERR_FORKED.
    fn dl_loader_seek(loader: *mut dl_loader, epoch: i64, step: i64, error: *mut dl_error) -> dl_status;

    /// The number of batches in an epoch, the same on every rank; -1: unknown.
    fn dl_loader_steps(loader: *const dl_loader) -> i64;

    /// Replaces the order (`sample_indices`), starting at the next epoch that has not begun. Only for loaders
    /// created with `sample_indices`, and with the same count. Lifetime: see dl_options_set_indices. The
    /// replaced order is kept until the next such call, so that a state saved with it can be loaded. To load
    /// an older state, first set its order again.
    fn dl_loader_set_indices(
        loader: *mut dl_loader, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;

    /// Saves the position and the identity of the job, as text of any length. The data is identified by
    /// properties that a copy on another machine shares: the base names and sizes of the files in order, and
    /// a checksum of the first and last 64 KiB of each (at most 64 files). If a device cannot read them, the
    /// call fails and the loader stays usable.
    ///
    /// On input `*bytes` is the capacity of text. On output it is the size of the text with its NUL. If text
    /// is NULL, only `*bytes` is set. A later call may need more or less, because the position moves. If the
    /// capacity is too small, the call fails with DL_ERR_INVALID_ARGUMENT: `*bytes` is the size needed, and
    /// nothing is written.
    fn dl_loader_state_save(
        loader: *const dl_loader, text: *mut c_char, bytes: *mut usize, error: *mut dl_error,
    ) -> dl_status;

    /// Seeks to a saved position. `num_workers`, `prefetch_depth`, io, memory and transform may differ from
    /// the job that saved it. rank and `world_size` may differ too, if the global batch is equal. With
    /// `tune=on`, the loader starts with the number of workers and the depth that the saved job had found.
    ///
    /// Errors: DL_ERR_BAD_STATE, DL_ERR_STATE_REFUSED (the message names the first line that differs, with
    /// both values).
    fn dl_loader_state_load(loader: *mut dl_loader, text: *const c_char, error: *mut dl_error) -> dl_status;

    /// Ends every current and later wait with DL_CANCELLED, until a seek or load. Never blocks.
    ///
    /// Threading: any thread.
    fn dl_loader_cancel(loader: *mut dl_loader);

    /// Ends every dl_loader_next, dl_epoch_next and dl_loader_work that waits, with DL_INTERRUPTED. If no
    /// call is waiting, the next of these calls returns DL_INTERRUPTED. Only a seek or load clears an
    /// interrupt before that. Never blocks.
    ///
    /// Threading: any thread, including in a signal handler.
    fn dl_loader_interrupt(loader: *mut dl_loader);

    /// Returns a handle for the host's event loop, which is signalled while dl_loader_next would not block.
    /// On Linux it is a descriptor that poll, select and epoll report as readable. On Windows it is a HANDLE
    /// for WaitForMultipleObjects. Only wait on it: never read, write, reset or close it. With
    /// `num_workers=0` it is signalled, except while `lease_overflow=wait` makes dl_loader_next wait for a
    /// release. The first call creates it. It lives as long as the loader.
    ///
    /// Errors: DL_ERR_TOO_MANY_FILES, DL_ERR_NO_MEMORY, DL_ERR_UNSUPPORTED (other systems).
    fn dl_loader_wait_handle(loader: *mut dl_loader, out: *mut isize, error: *mut dl_error) -> dl_status;

    /// Returns the schema of the batches, after transforms.
    fn dl_loader_fields(loader: *const dl_loader, count: *mut i32) -> *const dl_view;

    /// Fills `*out`.
    fn dl_loader_stats(loader: *const dl_loader, out: *mut dl_stats, error: *mut dl_error) -> dl_status;

    /// The number of bad samples found so far.
    fn dl_loader_bad_sample_count(loader: *const dl_loader) -> i64;

    /// Fills `*out` with bad sample `index`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such bad sample).
    fn dl_loader_bad_sample_at(
        loader: *const dl_loader, index: i64, out: *mut dl_bad_sample, error: *mut dl_error,
    ) -> dl_status;

    /// Cancels, joins the workers and frees the loader. NULL is allowed. Leased batches stay valid until they
    /// are released. A worker inside a host callback (dl_reader, dl_storage) sees `request->cancelled` and
    /// has one second to return. After that, the worker is abandoned together with what it uses, and a
    /// warning is logged. With a device, the call waits for the copies in flight and for the work queued on
    /// released batches. The loader's loops end: dl_epoch_next returns DL_ERR_WRONG_STATE, and the host
    /// releases them as usual.
    ///
    /// Threading: once, when no other call on the loader or on one of its loops is in progress. No call on
    /// the loader may follow.
    fn dl_loader_destroy(loader: *mut dl_loader);

    /// Returns all fields, in the order of dl_loader_fields.
    fn dl_batch_views(batch: *const dl_batch, count: *mut i32) -> *const dl_view;

    /// Fills `*out`.
    fn dl_batch_get_info(batch: *const dl_batch, out: *mut dl_batch_info, error: *mut dl_error) -> dl_status;

    /// dl_batch_retain adds a reference, dl_batch_release drops one. The last release returns the slot. NULL
    /// is allowed.
    ///
    /// Threading: any thread.
    fn dl_batch_retain(batch: *mut dl_batch);

    /// dl_batch_retain adds a reference, dl_batch_release drops one. The last release returns the slot. NULL
    /// is allowed.
    ///
    /// Threading: any thread.
    fn dl_batch_release(batch: *mut dl_batch);

    /// Batches in device memory (`device=cuda:N`) are delivered while their copies are still in flight. A
    /// `stream` is a CUstream or cudaStream_t of that device. NULL and cudaStreamLegacy are CUDA's legacy
    /// stream, however the program was compiled. cudaStreamPerThread is the stream of the calling thread. If
    /// a batch waited in it, any thread may release the batch. The library then uses the legacy stream, which
    /// runs after the streams of all threads. Neither call blocks the host.
    ///
    /// - dl_batch_wait: work that is queued later in `stream` starts only when the batch is complete. Call it
    ///   in each stream that reads the batch, before the first use. It always records the stream, which must
    ///   live until the batch is released. With `device_sync=host`, batches are already complete, and the
    ///   call does nothing else.
    /// - dl_batch_release_on: as dl_batch_release, but the memory is reused only after the work that is now
    ///   queued in `stream` is done.
    /// - dl_batch_release: the same for every stream that has waited for the batch and has not been passed to
    ///   dl_batch_release_on.
    ///
    /// If a stream reads a batch without having waited for it, either its work must be finished before the
    /// batch is released, or the stream must be passed to dl_batch_release_on.
    ///
    /// CUDA graphs. Any thread may make any call while a graph is being captured, without invalidating the
    /// capture. The exception is dl_batch_wait: it rejects a stream that is being captured
    /// (DL_ERR_WRONG_STATE), because the memory will hold another batch when the graph runs. Wait before the
    /// capture begins, and copy the batch into memory of your own that the graph reads. If a batch is
    /// released while a stream that used it is being captured, the release is ordered after that stream, once
    /// the capture is over. The stream must live until then. If no other memory is free meanwhile,
    /// dl_loader_next returns DL_ERR_WRONG_STATE after a second.
    ///
    /// `fork()`. A child must not access the memory of batches or slots. On Linux kernels older than 5.9,
    /// after `fork()` the parent's page-locked memory (`device=cuda`, `pin_memory`) may no longer be the
    /// pages that the device reads. On such kernels, do not fork while a loader exists. Start processes
    /// before the loader is created, or use `posix_spawn`.
    ///
    /// On the cpu device there is nothing to wait for, and dl_batch_release_on does what dl_batch_release
    /// does. dl_batch_release_on always drops the reference, even if it fails.
    ///
    /// Errors:
    ///
    /// - DL_ERR_INVALID_ARGUMENT: a stream of a different device, or one that was destroyed. The library then
    ///   waits for the whole device before it reuses the memory.
    /// - DL_ERR_WRONG_STATE, DL_ERR_DEVICE_LOST, DL_ERR_FORKED.
    ///
    /// Threading: any thread; the thread's current CUDA context is preserved.
    fn dl_batch_wait(batch: *mut dl_batch, stream: *mut c_void, error: *mut dl_error) -> dl_status;

    /// Batches in device memory (`device=cuda:N`) are delivered while their copies are still in flight. A
    /// `stream` is a CUstream or cudaStream_t of that device. NULL and cudaStreamLegacy are CUDA's legacy
    /// stream, however the program was compiled. cudaStreamPerThread is the stream of the calling thread. If
    /// a batch waited in it, any thread may release the batch. The library then uses the legacy stream, which
    /// runs after the streams of all threads. Neither call blocks the host.
    ///
    /// - dl_batch_wait: work that is queued later in `stream` starts only when the batch is complete. Call it
    ///   in each stream that reads the batch, before the first use. It always records the stream, which must
    ///   live until the batch is released. With `device_sync=host`, batches are already complete, and the
    ///   call does nothing else.
    /// - dl_batch_release_on: as dl_batch_release, but the memory is reused only after the work that is now
    ///   queued in `stream` is done.
    /// - dl_batch_release: the same for every stream that has waited for the batch and has not been passed to
    ///   dl_batch_release_on.
    ///
    /// If a stream reads a batch without having waited for it, either its work must be finished before the
    /// batch is released, or the stream must be passed to dl_batch_release_on.
    ///
    /// CUDA graphs. Any thread may make any call while a graph is being captured, without invalidating the
    /// capture. The exception is dl_batch_wait: it rejects a stream that is being captured
    /// (DL_ERR_WRONG_STATE), because the memory will hold another batch when the graph runs. Wait before the
    /// capture begins, and copy the batch into memory of your own that the graph reads. If a batch is
    /// released while a stream that used it is being captured, the release is ordered after that stream, once
    /// the capture is over. The stream must live until then. If no other memory is free meanwhile,
    /// dl_loader_next returns DL_ERR_WRONG_STATE after a second.
    ///
    /// `fork()`. A child must not access the memory of batches or slots. On Linux kernels older than 5.9,
    /// after `fork()` the parent's page-locked memory (`device=cuda`, `pin_memory`) may no longer be the
    /// pages that the device reads. On such kernels, do not fork while a loader exists. Start processes
    /// before the loader is created, or use `posix_spawn`.
    ///
    /// On the cpu device there is nothing to wait for, and dl_batch_release_on does what dl_batch_release
    /// does. dl_batch_release_on always drops the reference, even if it fails.
    ///
    /// Errors:
    ///
    /// - DL_ERR_INVALID_ARGUMENT: a stream of a different device, or one that was destroyed. The library then
    ///   waits for the whole device before it reuses the memory.
    /// - DL_ERR_WRONG_STATE, DL_ERR_DEVICE_LOST, DL_ERR_FORKED.
    ///
    /// Threading: any thread; the thread's current CUDA context is preserved.
    fn dl_batch_release_on(batch: *mut dl_batch, stream: *mut c_void, error: *mut dl_error) -> dl_status;

    /// Return a field as a DLPack tensor. The tensor holds the batch until its deleter is called, on any
    /// thread, even after the loader is destroyed. dl_batch_dlpack_versioned (DLPack 1.x) flags the tensor
    /// read-only if the view is. The tensors of dl_batch_dlpack have no such flag, so read-only fields fail
    /// with DL_ERR_UNSUPPORTED. For a ragged field, the tensor is the packed data.
    ///
    /// These calls do not wait until device memory is complete: call dl_batch_wait for each stream. The
    /// deleter does what dl_batch_release does. If no stream has waited, as with DLPack's `stream=-1`, the
    /// library assumes that CUDA's legacy stream reads the batch, and with it all blocking streams. It reuses
    /// the memory only after the work that was queued in them when the batch was released.
    fn dl_batch_dlpack(
        batch: *mut dl_batch, field: i32, out: *mut *mut DLManagedTensor, error: *mut dl_error,
    ) -> dl_status;

    /// Return a field as a DLPack tensor. The tensor holds the batch until its deleter is called, on any
    /// thread, even after the loader is destroyed. dl_batch_dlpack_versioned (DLPack 1.x) flags the tensor
    /// read-only if the view is. The tensors of dl_batch_dlpack have no such flag, so read-only fields fail
    /// with DL_ERR_UNSUPPORTED. For a ragged field, the tensor is the packed data.
    ///
    /// These calls do not wait until device memory is complete: call dl_batch_wait for each stream. The
    /// deleter does what dl_batch_release does. If no stream has waited, as with DLPack's `stream=-1`, the
    /// library assumes that CUDA's legacy stream reads the batch, and with it all blocking streams. It reuses
    /// the memory only after the work that was queued in them when the batch was released.
    fn dl_batch_dlpack_versioned(
        batch: *mut dl_batch, field: i32, out: *mut *mut DLManagedTensorVersioned, error: *mut dl_error,
    ) -> dl_status;

    /// Returns the batch as a record batch of Arrow's C data interface: a struct array of the rows that are
    /// not padding, without nulls. It has a child for each field of dl_batch_views:
    ///
    /// - dense: the type of the values, inside a `fixed_size_list` for each dim after the first
    /// - ragged: `large_list` of that
    /// - ragged u8 of one dim: `large_binary`
    ///
    /// The array shares the batch's memory, and holds the batch until the array is released (from any thread,
    /// even after the loader is destroyed). The same applies to a child that is moved out of it. Two kinds of
    /// fields are copied: bool, which Arrow stores as bits, and fields whose rows are not stored one after
    /// another (DL_VIEW_OVERLAPPING, several fields of one record). The schema does not hold the batch. The
    /// previous contents of `*schema` and `*array` are ignored; after an error they are unchanged.
    ///
    /// Errors: DL_ERR_UNSUPPORTED (bf16 and complex numbers, a dim above 2^31 - 1, a batch in device memory).
    /// Since 0.3.
    fn dl_batch_arrow(
        batch: *mut dl_batch, schema: *mut ArrowSchema, array: *mut ArrowArray, error: *mut dl_error,
    ) -> dl_status;

    /// Starts opening a dataset on a library thread, as dl_dataset_open does, and returns immediately. Use it
    /// if the host must not block, or wants to show progress. The options are copied. That thread calls their
    /// log and allocator.
    ///
    /// Errors: DL_ERR_THREAD (the thread could not be started). dl_opening_wait reports errors in the URI and
    /// the data.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_dataset_open_async(
        uri: *const c_char, options: *const dl_options, out: *mut *mut dl_opening, error: *mut dl_error,
    ) -> dl_status;

    /// Waits for an opening. A negative `timeout_ns` waits without limit, 0 polls. DL_OK: `*out` is the
    /// dataset, which the caller destroys. It is returned only once, and stays valid after the opening is
    /// destroyed. DL_TIMEOUT: it is not open yet. DL_CANCELLED and the errors of dl_dataset_open are returned
    /// by every call.
    ///
    /// Errors: DL_ERR_WRONG_STATE (the dataset was returned before), DL_ERR_FORKED (in a forked child), those
    /// of dl_dataset_open.
    ///
    /// Threading: any thread. If several wait, one gets the dataset.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_opening_wait(
        opening: *mut dl_opening, timeout_ns: i64, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Returns a handle (an eventfd on Linux) that becomes readable when dl_opening_wait no longer blocks.
    /// Poll it; never read or close it. The first call creates it. It lives as long as the opening.
    ///
    /// Errors: DL_ERR_TOO_MANY_FILES, DL_ERR_UNSUPPORTED, DL_ERR_FORKED.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_opening_wait_handle(opening: *mut dl_opening, out: *mut isize, error: *mut dl_error) -> dl_status;

    /// Fills `*out`. Never blocks.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_opening_progress(
        opening: *const dl_opening, out: *mut dl_progress, error: *mut dl_error,
    ) -> dl_status;

    /// Ends the opening soon, with DL_CANCELLED, unless it completes first. The cancel token of the options
    /// has the same effect, but this call does not cancel the token. Never blocks. NULL is allowed.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_opening_cancel(opening: *mut dl_opening);

    /// Cancels the opening, waits for its thread and frees it. If the dataset was not returned, it is freed
    /// too. The thread checks for cancellation between files, after every 8 MiB or 1024 entries, and between
    /// members of a .gz file. NULL is allowed. In a forked child it only frees memory. Do not call it from a
    /// callback.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_opening_destroy(opening: *mut dl_opening);

    /// Describes the local files that the dataset is read from, as lines of text "key: value". Compare this
    /// text with an earlier one to decide whether you can reuse something that was made from the dataset. Two
    /// texts are equal if the structure is equal (formats, fields, keys, order of parts) and if the canonical
    /// path, size, inode, modification time and status-change time of each file are equal. A remount does not
    /// change the text. Paths appear as digests. A storage object is described by its fingerprint instead. In
    /// a folder, every file is examined. `*bytes` and text: see dl_loader_state_save.
    ///
    /// Errors: DL_ERR_UNSUPPORTED (data in memory, a reader without files and fingerprint, objects without a
    /// fingerprint: changes cannot be detected).
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_dataset_identity(
        dataset: *const dl_dataset, text: *mut c_char, bytes: *mut usize, error: *mut dl_error,
    ) -> dl_status;

    /// Reads the header of an encoded image (a ragged u8 field) without decoding it. If field is NULL, it is
    /// `image`, or the only field of that kind. For a dataset from a reader, this calls `read`. On error,
    /// dl_error.sample_index is `index`.
    ///
    /// Errors:
    ///
    /// - DL_ERR_UNSUPPORTED: a field of a different kind.
    /// - DL_ERR_CORRUPT: not an image, or an inconsistent header.
    /// - DL_ERR_NO_SUCH_FIELD, DL_ERR_OUT_OF_RANGE, DL_ERR_TRUNCATED, and the errors of reading the sample.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_dataset_image_info(
        dataset: *const dl_dataset, field: *const c_char, index: i64, out: *mut dl_image_info,
        error: *mut dl_error,
    ) -> dl_status;

    /// Returns how to convert delivered values back to pixels: a value in a channel of field `field` (index
    /// in dl_loader_fields) is `pixel * scale + offset`, where `pixel` is the stored u8 or u16. If all
    /// channels have the same scale, pass any channel.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such field or channel), DL_ERR_UNSUPPORTED (the values do not map
    /// back to pixels).
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_pixel_scale(
        loader: *const dl_loader, field: i32, channel: i64, scale: *mut f64, offset: *mut f64,
        error: *mut dl_error,
    ) -> dl_status;

    /// The number of stages.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_plan_count(loader: *const dl_loader) -> i32;

    /// Fills `*out` with stage `index`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such stage).
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_plan_at(
        loader: *const dl_loader, index: i32, out: *mut dl_plan_stage, error: *mut dl_error,
    ) -> dl_status;

    /// Returns a table of what the loader measures. The table stays valid after the loader is destroyed, and
    /// then contains the last values. Destroy it with dl_metrics_destroy (NULL is allowed). In a forked
    /// child, calls on it return DL_ERR_FORKED.
    ///
    /// Threading: any thread. Any number of threads may read one dl_metrics, even while its loader is
    /// destroyed. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_metrics(
        loader: *const dl_loader, out: *mut *mut dl_metrics, error: *mut dl_error,
    ) -> dl_status;

    /// Returns a table of what the loader measures. The table stays valid after the loader is destroyed, and
    /// then contains the last values. Destroy it with dl_metrics_destroy (NULL is allowed). In a forked
    /// child, calls on it return DL_ERR_FORKED.
    ///
    /// Threading: any thread. Any number of threads may read one dl_metrics, even while its loader is
    /// destroyed. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_metrics_destroy(metrics: *mut dl_metrics);

    /// The number of rows. It grows once, when a trace begins. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_metrics_count(metrics: *const dl_metrics) -> i64;

    /// Fills `*out` with row `index`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such row).
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_metrics_at(
        metrics: *const dl_metrics, index: i64, out: *mut dl_metric, error: *mut dl_error,
    ) -> dl_status;

    /// Writes the table in Prometheus's text format 0.0.4. Names are, for example, `dataline_batches_total`
    /// and `dataline_worker_work_seconds_total{thread="0",stage="read"}`. `dataline_exposed_seconds_total` is
    /// the time that consumers waited in dl_loader_next. labels is added to each series, as in
    /// `rank="0",job="x"`; NULL: none. `*bytes`: see dl_loader_state_save.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (invalid labels, or too little room).
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_metrics_text(
        metrics: *const dl_metrics, labels: *const c_char, text: *mut c_char, bytes: *mut usize,
        error: *mut dl_error,
    ) -> dl_status;

    /// The number of stalls that are kept: the last 64. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_metrics_stall_count(metrics: *const dl_metrics) -> i64;

    /// Fills `*out` with stall `index`; the oldest is 0.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such stall).
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_metrics_stall_at(
        metrics: *const dl_metrics, index: i64, out: *mut dl_stall, error: *mut dl_error,
    ) -> dl_status;

    /// Starts a trace, which records what each thread does from now on, and the life of each batch. The text
    /// is JSON in Chrome's trace event format, which Perfetto and speedscope can open. Timestamps are the
    /// time of day in microseconds; the clock is read only once, so that they never jump. path is a new file,
    /// an empty one, or an older trace, which is overwritten. If path is NULL, sink receives the text. The
    /// trace ends with a log message when it reaches 256 MiB or when the disk is full. The job continues.
    ///
    /// Errors:
    ///
    /// - DL_ERR_INVALID_ARGUMENT: neither path nor sink, or both.
    /// - DL_ERR_WRONG_STATE: a trace is being written, or the file holds other data.
    /// - DL_ERR_NOT_A_FILE: a FIFO, a device or a directory.
    /// - DL_ERR_NOT_FOUND, DL_ERR_PERMISSION, DL_ERR_IO.
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_trace_start(
        loader: *mut dl_loader, path: *const c_char, sink: *const dl_trace_sink, error: *mut dl_error,
    ) -> dl_status;

    /// Ends the trace, as dl_loader_destroy does. Does nothing if there is no trace.
    ///
    /// Errors: DL_ERR_IO if the trace could not be written completely, or DL_ERR_TOO_LARGE if it reached a
    /// limit. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_trace_stop(loader: *mut dl_loader, error: *mut dl_error) -> dl_status;

    /// Sets the number of active workers: 1 to dl_tuned.most_workers. Other workers finish the rows that they
    /// are loading and then sleep. This ends tuning. Never blocks for long.
    ///
    /// Errors: DL_ERR_OUT_OF_RANGE, DL_ERR_WRONG_STATE (created with `num_workers=0`), DL_ERR_FORKED.
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_set_workers(loader: *mut dl_loader, count: i64, error: *mut dl_error) -> dl_status;

    /// Fills `*out`.
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_tuned(loader: *const dl_loader, out: *mut dl_tuned, error: *mut dl_error) -> dl_status;

    /// Creates a mix of datasets whose fields have the same names. If fields are stored differently, the
    /// transforms of the parts must convert them to the same type and shape. If only sizes differ, you can
    /// also use `homogeneous=batch`: each batch then has rows of one part. If `stage_count` is 0, stages may
    /// be NULL. `samples_per_epoch` is used only with weights; -1: the number of samples in all parts. Parts,
    /// stages, names and transforms are copied. The mix keeps its own references to the datasets. options may
    /// be NULL. With `pack_length`, the documents of one epoch (in the order of `shuffle=full` and seed 0)
    /// are packed. The result is no longer a mix: a row can contain documents of several parts.
    ///
    /// If parts of a mix have their own transforms or shapes, only a loader can produce its samples.
    /// dl_dataset_zip, dl_dataset_concat and dl_dataset_subset reject such a mix (DL_ERR_UNSUPPORTED).
    ///
    /// Errors:
    ///
    /// - DL_ERR_INVALID_ARGUMENT: a NULL, two equal names, weights and repeats in one mix, repeats with
    ///   stages or `samples_per_epoch`.
    /// - DL_ERR_OUT_OF_RANGE: an invalid weight, repeat, step or `samples_per_epoch`; all weights are 0.
    /// - DL_ERR_MISMATCH: the parts do not match. The message names both and suggests a fix.
    /// - DL_ERR_EMPTY: a part without samples.
    /// - DL_ERR_BAD_TRANSFORM, DL_ERR_NO_SUCH_FIELD: in the transform of a part.
    /// - DL_ERR_TOO_LARGE: over 1,024 different transforms and shapes.
    /// - DL_ERR_UNSUPPORTED: a part that is a mix. With `pack_length`: stages, parts without documents,
    ///   transforms of parts.
    /// - DL_ERR_OVER_BUDGET: packing needs 8 bytes per document.
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_dataset_mix(
        parts: *const dl_mix_part, part_count: i32, stages: *const dl_mix_stage, stage_count: i32,
        samples_per_epoch: i64, options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// The number of parts of a mix; 0 for other datasets. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_dataset_part_count(dataset: *const dl_dataset) -> i32;

    /// Fills `*out` with part `index`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such part).
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_dataset_part_at(
        dataset: *const dl_dataset, index: i32, out: *mut dl_part, error: *mut dl_error,
    ) -> dl_status;

    /// The number of parts of the mix that a loader delivers; 0 for other datasets. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_part_count(loader: *const dl_loader) -> i32;

    /// Fills `*out` with part `index`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such part).
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_loader_part_at(
        loader: *const dl_loader, index: i32, out: *mut dl_part, error: *mut dl_error,
    ) -> dl_status;

    /// Writes rows as a set: a directory of shards (part-00000.arrow, ...) and a manifest, dataline.manifest.
    /// dl_dataset_open reads the set as `FORMAT:PATH`. Until dl_writer_finish, the directory is called
    /// PATH.partial: PATH appears only when the set is complete. A shard is synced to the disk (fsync) before
    /// the manifest lists it. After a crash, or dl_writer_destroy without finish, dl_writer_create with the
    /// same arguments resumes after the last such shard. It first verifies the checksum of every finished
    /// shard. If one does not match, that shard and all later ones are written again.
    ///
    /// - uri: `FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]`. A shard ends after the append that makes it reach
    ///   `shard_bytes` (default: 256MiB). arrow and parquet accept a codec: none (default), lz4 or zstd.
    /// - fields: Those of one sample, as in dl_reader. Read during the call only. Names are 1 to 255 bytes of
    ///   UTF-8 without control characters and characters that set the direction of text, so that every set
    ///   can be opened.
    /// - job: A string that identifies the contents of the set; NULL: "". The call rejects a PATH.partial
    ///   whose finished shards have a different job, fields, `shard_bytes` or codec. It also rejects a
    ///   PATH.partial that was not made by a writer: a link, a file, or a directory with files but without a
    ///   manifest. It then changes nothing on the disk.
    ///
    /// The formats are:
    ///
    /// - arrow, parquet: any field except bf16 and complex ones. To read a parquet set, use the Parquet
    ///   plug-in.
    /// - tar: bytes, strings, a label; by WebDataset's conventions
    /// - tfrecord: tf.train.Example: bytes, integers as i64, f32
    /// - npy: one dense field
    /// - tokens: the integers of one field, one sample after another; sample boundaries are not kept
    ///
    /// Errors:
    ///
    /// - DL_ERR_UNSUPPORTED: a field that the format cannot store.
    /// - DL_ERR_WRONG_STATE: PATH exists, another process writes it, or PATH.partial was not made by a
    ///   writer.
    /// - DL_ERR_STATE_REFUSED: PATH.partial belongs to a different job.
    /// - DL_ERR_CORRUPT: the manifest of PATH.partial is damaged.
    /// - DL_ERR_NOT_FOUND: the parent directory of PATH does not exist.
    /// - DL_ERR_BAD_URI, DL_ERR_INVALID_ARGUMENT, DL_ERR_PERMISSION, DL_ERR_IO.
    ///
    /// Threading: append, finish and the counts may be called from any thread, even concurrently. The rows of
    /// one append stay together. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_create(
        uri: *const c_char, fields: *const dl_view, field_count: i32, job: *const c_char,
        out: *mut *mut dl_writer, error: *mut dl_error,
    ) -> dl_status;

    /// Appends the samples of all arrays: one array per field, in the order of the fields, with the same
    /// name, kind, dtype and shape. They are read during the call only. position (may be NULL) is what the
    /// host needs to resume after these rows. After a restart, dl_writer_position returns the position of the
    /// last finished shard.
    ///
    /// If a row cannot be stored, none of the rows of the call are stored, and the writer stays usable:
    /// DL_ERR_MISMATCH, DL_ERR_INVALID_ARGUMENT, DL_ERR_OUT_OF_RANGE, DL_ERR_TOO_LARGE. If the file system
    /// fails, for example because the disk is full (DL_ERR_IO, DL_ERR_PERMISSION and others), every later
    /// call returns that error. Finished shards are kept for the next dl_writer_create. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_append(
        writer: *mut dl_writer, arrays: *const dl_array, count: i32, position: *const c_char,
        error: *mut dl_error,
    ) -> dl_status;

    /// Ends the last shard and renames the set to PATH. Nothing can be appended afterwards.
    ///
    /// Errors: DL_ERR_EMPTY (no rows), DL_ERR_WRONG_STATE (already finished), and errors of files. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_finish(writer: *mut dl_writer, error: *mut dl_error) -> dl_status;

    /// Fills `*out`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_get_info(
        writer: *const dl_writer, out: *mut dl_writer_info, error: *mut dl_error,
    ) -> dl_status;

    /// The position of the last shard that was present at create; "": none. Valid as long as the writer.
    /// Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_position(writer: *const dl_writer) -> *const c_char;

    /// Destroys the writer. NULL is allowed. Without dl_writer_finish the finished shards stay, and the rows
    /// of the open shard are lost. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_destroy(writer: *mut dl_writer);

    /// The number of formats that can be written. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_format_count() -> i32;

    /// dl_writer_format_name returns the name of a format, dl_writer_format_doc one line about it. NULL for
    /// an index out of range. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_format_name(index: i32) -> *const c_char;

    /// dl_writer_format_name returns the name of a format, dl_writer_format_doc one line about it. NULL for
    /// an index out of range. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_writer_format_doc(index: i32) -> *const c_char;

    /// Creates an empty object.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_extensions_create(out: *mut *mut dl_extensions, error: *mut dl_error) -> dl_status;

    /// Destroys the object. NULL is allowed.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_extensions_destroy(extensions: *mut dl_extensions);

    /// Makes the extensions added so far available to these options. Later additions do not affect them.
    /// NULL: none.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_options_set_extensions(
        options: *mut dl_options, extensions: *const dl_extensions, error: *mut dl_error,
    ) -> dl_status;

    /// For callbacks: writes the code and the message (NUL-terminated UTF-8, truncated to fit) to `*error`,
    /// and returns the code. `error` may be NULL.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_error_set(error: *mut dl_error, code: dl_status, message: *const c_char) -> dl_status;

    /// Opens a local path, or `scheme://...` of a storage in `options` (may be NULL).
    ///
    /// Errors: those of dl_dataset_open for a file.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_file_open(
        path: *const c_char, options: *const dl_options, out: *mut *mut dl_file, error: *mut dl_error,
    ) -> dl_status;

    /// The size when it was opened.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_file_bytes(file: *const dl_file) -> i64;

    /// Reads all `bytes` bytes at `offset`. Pass the `cancelled` pointer that the callback received, so that
    /// the storage of the file can stop when the bytes are no longer needed (DL_CANCELLED). If it is NULL,
    /// the file uses the cancel token of `options`.
    ///
    /// Errors: DL_ERR_TRUNCATED, DL_ERR_CHANGED, DL_ERR_IO, which name path and offset.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_file_read(
        file: *const dl_file, offset: i64, bytes: i64, out: *mut c_void, cancelled: *const i32,
        error: *mut dl_error,
    ) -> dl_status;

    /// Destroys the file: once, after all reads. NULL is allowed.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_file_destroy(file: *mut dl_file);

    /// Adds a format: datasets opened with these extensions can use it.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_extensions_add_format(
        extensions: *mut dl_extensions, format: *const dl_format, error: *mut dl_error,
    ) -> dl_status;

    /// Adds an operator: loaders created with these extensions can use it.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_extensions_add_operator(
        extensions: *mut dl_extensions, table: *const dl_operator, error: *mut dl_error,
    ) -> dl_status;

    /// Returns random number `number` (0, 1, ...) of this operator for this row, as the library's own
    /// operators use it. It is a pure function of seed, epoch, slot, the operator's place in the transform
    /// and `number`. It does not depend on threads.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_operator_random(row: *const dl_operator_row, number: i64) -> u64;

    /// Adds a storage: datasets opened with these extensions can use it.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_extensions_add_storage(
        extensions: *mut dl_extensions, storage: *const dl_storage, error: *mut dl_error,
    ) -> dl_status;

    /// Sets the threads, and replaces those that were set before.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_extensions_set_threads(
        extensions: *mut dl_extensions, threads: *const dl_threads, error: *mut dl_error,
    ) -> dl_status;

    /// Loads a plug-in: a path, or a NAME without `/`, which the dynamic linker looks up as
    /// libdataline-NAME.so. It stays loaded until the process ends. If registration fails, nothing that it
    /// adds is kept.
    ///
    /// Errors:
    ///
    /// - DL_ERR_NOT_FOUND: the message states why the dynamic linker could not load it.
    /// - DL_ERR_TRUNCATED: the file is truncated. It is not loaded, because that would crash the process.
    /// - DL_ERR_UNSUPPORTED: no such entry point, or a different ABI.
    /// - DL_ERR_NOT_A_FILE, and what the plug-in returns.
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_extensions_load(
        extensions: *mut dl_extensions, path: *const c_char, error: *mut dl_error,
    ) -> dl_status;

    /// dl_format_count is the number of formats: those of the library, then those of `extensions` (may be
    /// NULL). dl_format_at fills `*out` with a format, dl_format_key_at with one of its keys. The strings
    /// live as long as the library, or as `extensions`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such format or key).
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_format_count(extensions: *const dl_extensions) -> i32;

    /// dl_format_count is the number of formats: those of the library, then those of `extensions` (may be
    /// NULL). dl_format_at fills `*out` with a format, dl_format_key_at with one of its keys. The strings
    /// live as long as the library, or as `extensions`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such format or key).
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_format_at(
        extensions: *const dl_extensions, index: i32, out: *mut dl_format_info, error: *mut dl_error,
    ) -> dl_status;

    /// dl_format_count is the number of formats: those of the library, then those of `extensions` (may be
    /// NULL). dl_format_at fills `*out` with a format, dl_format_key_at with one of its keys. The strings
    /// live as long as the library, or as `extensions`.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such format or key).
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_format_key_at(
        extensions: *const dl_extensions, index: i32, key: i32, out: *mut dl_format_key, error: *mut dl_error,
    ) -> dl_status;

    /// dl_storage_count is the number of storages of `extensions`. dl_storage_at fills `*out`: `struct_size`,
    /// scheme and doc; the rest is NULL.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such storage).
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_storage_count(extensions: *const dl_extensions) -> i32;

    /// dl_storage_count is the number of storages of `extensions`. dl_storage_at fills `*out`: `struct_size`,
    /// scheme and doc; the rest is NULL.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such storage).
    ///
    /// Unstable: may change or be removed in a minor release.
    fn dl_storage_at(
        extensions: *const dl_extensions, index: i32, out: *mut dl_storage, error: *mut dl_error,
    ) -> dl_status;
}
