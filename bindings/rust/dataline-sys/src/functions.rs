//! The functions of the header, in its order; one list, hence the length.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::arrow::*;
use crate::dlpack::*;
use crate::structs::*;
use std::os::raw::{c_char, c_void};

functions! {
    /// major * 10000 + minor * 100 + patch of the library in use
    fn dl_version_number() -> i32;

    /// "0.2.0"
    fn dl_version_string() -> *const c_char;

    /// compare with DL_ABI_VERSION
    fn dl_abi_version() -> i32;

    /// "highway mimalloc libjpeg; gcc 12.2.0": the optional parts of the build, and the compiler. Then, if
    /// there are any, the kernels for devices, by the CUDA that compiled them, with the cards they have code
    /// for ("; kernels: CUDA 12.0, sm_75 sm_80"), and missing parts with what each costs: "mimalloc; gcc
    /// 12.2.0; missing: highway (normalised rows ... slower), libwebp (...)".
    fn dl_build_info() -> *const c_char;

    /// "DL_ERR_CORRUPT"; never NULL
    fn dl_status_name(status: dl_status) -> *const c_char;

    /// What DL_ERROR_INIT does, for hosts that cannot use a macro; struct_size is the bytes that the host
    /// has.
    fn dl_error_init(error: *mut dl_error, struct_size: u32);

    /// Options that are all at their defaults.
    fn dl_options_create(out: *mut *mut dl_options, error: *mut dl_error) -> dl_status;

    /// NULL is fine
    fn dl_options_destroy(options: *mut dl_options);

    /// The same settings once more: a later change of one is none of the other. Arrays, tables, extensions
    /// and the cancel token are shared, not copied; their `release` and `destroy` are called when neither
    /// needs them.
    fn dl_options_copy(
        options: *const dl_options, out: *mut *mut dl_options, error: *mut dl_error,
    ) -> dl_status;

    /// As text, as the shell does: "256", "true", "64MiB", "full". Any key except the arrays.
    /// DL_ERR_UNKNOWN_OPTION names the nearest key; DL_ERR_BAD_OPTION says what was expected.
    fn dl_options_set(
        options: *mut dl_options, key: *const c_char, value: *const c_char, error: *mut dl_error,
    ) -> dl_status;

    /// As a number, for integer, size and boolean keys.
    fn dl_options_set_i64(
        options: *mut dl_options, key: *const c_char, value: i64, error: *mut dl_error,
    ) -> dl_status;

    /// The array of `sample_indices`. `release` NULL: copied now. Else borrowed: `release(context)` is called
    /// once, when neither these options nor anything created from them needs the array. When the call fails
    /// nothing is borrowed and `release` is not called. The same holds for every `release` parameter.
    fn dl_options_set_indices(
        options: *mut dl_options, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;

    /// The array of `weights`, one per sample; lifetime as for indices.
    fn dl_options_set_weights(
        options: *mut dl_options, weights: *const f64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;

    /// The array of `lengths`, one per sample; lifetime as for indices.
    fn dl_options_set_lengths(
        options: *mut dl_options, lengths: *const i64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;

    /// The tables are copied; what they point to must live until their `destroy`. dl_options_set_allocator
    /// and dl_options_set_log replace what was set before. DL_ERR_INVALID_ARGUMENT: a function is missing, or
    /// a wrong struct_size.
    fn dl_options_set_allocator(
        options: *mut dl_options, allocator: *const dl_allocator, error: *mut dl_error,
    ) -> dl_status;

    /// The tables are copied; what they point to must live until their `destroy`. dl_options_set_allocator
    /// and dl_options_set_log replace what was set before. DL_ERR_INVALID_ARGUMENT: a function is missing, or
    /// a wrong struct_size.
    fn dl_options_set_log(options: *mut dl_options, log: *const dl_log, error: *mut dl_error) -> dl_status;

    /// keeps its own reference
    fn dl_options_set_cancel_token(
        options: *mut dl_options, token: *mut dl_cancel_token, error: *mut dl_error,
    ) -> dl_status;

    /// The environment, as "NAME=value" strings ended by NULL (environ of C), for `rank=auto` and
    /// `world_size=auto`: the library reads none by itself. Variables of launchers are copied, all others are
    /// ignored; dl_loader_create looks at them when one of the two options is auto. DL_ERR_INVALID_ARGUMENT
    /// of that call names variables that are no ranks or contradict each other, DL_ERR_BAD_OPTION a number
    /// beside auto that is not the launcher's. Since 0.3.
    fn dl_options_set_environment(
        options: *mut dl_options, environment: *const *const c_char, error: *mut dl_error,
    ) -> dl_status;

    /// The current value as text (the default when not set; "" for none). Borrowed until the next change.
    fn dl_options_get(
        options: *const dl_options, key: *const c_char, out: *mut *const c_char, error: *mut dl_error,
    ) -> dl_status;

    /// What `environment` says, as for dl_options_set_environment: RANK and WORLD_SIZE (torchrun), else
    /// JAX_PROCESS_ID and JAX_NUM_PROCESSES, else Open MPI's, PMI's, those of a Slurm step, else PMIX_RANK,
    /// else JOB_COMPLETION_INDEX. Rank and size are always of one family. Of Slurm only a step counts, and
    /// one with a task a machine whose tasks start another launcher does not.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT names the variables and their values: half a set, two families that
    /// contradict each other, values that are no ranks.
    ///
    /// Threading: any thread. Since 0.3.
    fn dl_launcher_detect(
        environment: *const *const c_char, out: *mut dl_launcher, error: *mut dl_error,
    ) -> dl_status;

    /// rows of the table
    fn dl_option_count() -> i32;

    /// Fills *out; its strings are never freed.
    fn dl_option_at(index: i32, out: *mut dl_option_info, error: *mut dl_error) -> dl_status;

    /// operators
    fn dl_transform_count(extensions: *const dl_extensions) -> i32;

    /// dl_transform_at and dl_transform_argument_at fill *out, whose strings live as long as the library, or
    /// as `extensions`. DL_ERR_INVALID_ARGUMENT: no such operator or argument.
    fn dl_transform_at(
        extensions: *const dl_extensions, index: i32, out: *mut dl_transform_info, error: *mut dl_error,
    ) -> dl_status;

    /// dl_transform_at and dl_transform_argument_at fill *out, whose strings live as long as the library, or
    /// as `extensions`. DL_ERR_INVALID_ARGUMENT: no such operator or argument.
    fn dl_transform_argument_at(
        extensions: *const dl_extensions, index: i32, argument: i32, out: *mut dl_argument_info,
        error: *mut dl_error,
    ) -> dl_status;

    /// A cancelled token ends dl_dataset_open and the waits of every loader created with it (DL_CANCELLED).
    /// dl_cancel_token_cancel: any thread, never blocks, cannot be undone.
    fn dl_cancel_token_create(out: *mut *mut dl_cancel_token, error: *mut dl_error) -> dl_status;

    /// A cancelled token ends dl_dataset_open and the waits of every loader created with it (DL_CANCELLED).
    /// dl_cancel_token_cancel: any thread, never blocks, cannot be undone.
    fn dl_cancel_token_cancel(token: *mut dl_cancel_token);

    /// NULL is fine
    fn dl_cancel_token_destroy(token: *mut dl_cancel_token);

    /// "u8"; "?" for an unknown value
    fn dl_dtype_name(dtype: i32) -> *const c_char;

    /// 0 for an unknown value
    fn dl_dtype_bytes(dtype: i32) -> i32;

    /// 0 for an unknown name
    fn dl_dtype_from_name(name: *const c_char) -> i32;

    /// Opens `scheme:path[,path...][?key=value&...]` or a bare path, whose format is detected. Files stay
    /// open; only headers are read (except .gz and io=memory). options may be NULL; those of scope dataset
    /// apply.
    ///
    /// Files that change while in use. Every file is checked before a batch reads from it and again when the
    /// batch has been copied, so that truncated data is a bad sample (DL_ERR_TRUNCATED, with file and offset)
    /// and never zeros. A file of unchanged size that was modified since open (by its modification time) is
    /// DL_ERR_CHANGED as a whole: open it again. One that grew, was unlinked, renamed or replaced is read as
    /// it was at open. A change of contents that affects neither size nor modification time is not detected.
    /// io=auto maps files of local file systems and reads all others (network, user space, unknown ones
    /// without a block device) by pread, as io=pread does.
    ///
    /// fault_guard=true. When a whole page of a mapped file is truncated, or its disk fails, during a read,
    /// the kernel sends SIGBUS, which kills the process. With this option a SIGBUS handler turns it into an
    /// error like the above (DL_ERR_TRUNCATED, DL_ERR_IO). Its rules:
    ///
    /// - Others: It acts only on loads from mapped files of datasets opened with this option, and forwards
    ///   everything else to the previous handler (with its flags and mask) or the default action. The first
    ///   such dl_dataset_open installs it, with SA_ONSTACK, until the process ends. A handler that the host
    ///   installs later must forward faults it does not know. When another such dataset is opened, a handler
    ///   installed over ours is logged, and ours is installed again if the host has restored the default
    ///   action.
    /// - Threads: It runs in the loading thread: a worker, or the one in dl_loader_next. Workers block all
    ///   signals except SIGBUS; a host thread that blocks SIGBUS and calls dl_loader_next is not guarded.
    /// - fork: A child inherits the handler and its datasets stay guarded.
    /// - Unloading: A shared library that has installed it stays in memory (RTLD_NODELETE); dlclose is
    ///   harmless.
    /// - Copies: Two copies of the library in one process both work: the later one forwards to the earlier.
    /// - Windows: DL_ERR_UNSUPPORTED: the system does not let a mapped file be truncated.
    ///
    /// io=pread and io=memory need no guard; the option has no effect there.
    ///
    /// Errors: DL_ERR_BAD_URI, DL_ERR_NOT_FOUND, DL_ERR_PERMISSION, DL_ERR_NOT_A_FILE, DL_ERR_TRUNCATED,
    /// DL_ERR_CORRUPT, DL_ERR_MISMATCH, DL_ERR_UNSAFE_TYPE, DL_ERR_UNSUPPORTED, DL_ERR_EMPTY,
    /// DL_ERR_TOO_MANY_FILES, DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY; DL_CANCELLED.
    fn dl_dataset_open(
        uri: *const c_char, options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// `release` NULL: copied. Else the arrays are borrowed and must not change; `release(context)` is called
    /// once, from any thread, when the dataset and everything made from it (loaders, composed datasets) are
    /// gone.
    fn dl_dataset_from_arrays(
        arrays: *const dl_array, count: i32, release: dl_release, context: *mut c_void,
        options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// A table in memory, by Arrow's C stream interface (dl_dataset_from_arrow: all its arrays) or C data
    /// interface (dl_dataset_from_arrow_array: one): structs whose children are the columns, or arrays of one
    /// column, which is called `data` if it has no name. Fields and types are those of the format `arrow`:
    /// numbers, bool, times as their integers, binary and strings as ragged u8, fixed_size_list as dims, list
    /// as ragged, leaves of structs as `struct/leaf`, dictionaries as their values. Values are delivered from
    /// where they lie; copied are bool, which Arrow stores as bits, and values with nulls that are filled.
    /// `keys`: those of an `arrow:` URI, as "fields=image/bytes,label&nulls=fill(0)"; NULL: all columns, and
    /// a sample with a null is bad.
    ///
    /// What is passed is taken, on an error too: its `release` is NULL afterwards. The arrays are released
    /// when the dataset and all that came of it are gone, by any thread; they must not change. The stream is
    /// read and released in this call, its schema too. What Arrow's structs cannot say, how long a buffer is,
    /// the host answers for; offsets and indices are checked. A saved state belongs to the same rows in the
    /// same arrays.
    ///
    /// Errors: DL_ERR_READER (the stream's own, with its text), DL_ERR_CORRUPT, DL_ERR_UNSUPPORTED (a type
    /// that is not read, by name), DL_ERR_NO_SUCH_FIELD, DL_ERR_BAD_URI (in `keys`), DL_ERR_TOO_LARGE,
    /// DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY, DL_ERR_INVALID_ARGUMENT (released already); DL_CANCELLED.
    fn dl_dataset_from_arrow(
        stream: *mut ArrowArrayStream, keys: *const c_char, options: *const dl_options,
        out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// A table in memory, by Arrow's C stream interface (dl_dataset_from_arrow: all its arrays) or C data
    /// interface (dl_dataset_from_arrow_array: one): structs whose children are the columns, or arrays of one
    /// column, which is called `data` if it has no name. Fields and types are those of the format `arrow`:
    /// numbers, bool, times as their integers, binary and strings as ragged u8, fixed_size_list as dims, list
    /// as ragged, leaves of structs as `struct/leaf`, dictionaries as their values. Values are delivered from
    /// where they lie; copied are bool, which Arrow stores as bits, and values with nulls that are filled.
    /// `keys`: those of an `arrow:` URI, as "fields=image/bytes,label&nulls=fill(0)"; NULL: all columns, and
    /// a sample with a null is bad.
    ///
    /// What is passed is taken, on an error too: its `release` is NULL afterwards. The arrays are released
    /// when the dataset and all that came of it are gone, by any thread; they must not change. The stream is
    /// read and released in this call, its schema too. What Arrow's structs cannot say, how long a buffer is,
    /// the host answers for; offsets and indices are checked. A saved state belongs to the same rows in the
    /// same arrays.
    ///
    /// Errors: DL_ERR_READER (the stream's own, with its text), DL_ERR_CORRUPT, DL_ERR_UNSUPPORTED (a type
    /// that is not read, by name), DL_ERR_NO_SUCH_FIELD, DL_ERR_BAD_URI (in `keys`), DL_ERR_TOO_LARGE,
    /// DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY, DL_ERR_INVALID_ARGUMENT (released already); DL_CANCELLED.
    fn dl_dataset_from_arrow_array(
        schema: *mut ArrowSchema, array: *mut ArrowArray, keys: *const c_char, options: *const dl_options,
        out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// A dataset over the reader, whose table is copied.
    fn dl_dataset_from_reader(
        reader: *const dl_reader, options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Composed datasets keep their own references to the parts. options may be NULL; the copy that subset
    /// makes of its indices comes from their allocator, within their memory_budget, and pack_length packs
    /// what was composed.
    ///
    /// - dl_dataset_zip: fields side by side; equal lengths; names\[i\] renames (one field) or prefixes
    ///   ("name/field") those of part i; names may be NULL.
    /// - dl_dataset_concat: one after another; equal fields.
    /// - dl_dataset_subset: samples indices\[0..count) of a dataset; borrowed with `release`, else copied.
    fn dl_dataset_zip(
        parts: *const *mut dl_dataset, names: *const *const c_char, count: i32, options: *const dl_options,
        out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// Composed datasets keep their own references to the parts. options may be NULL; the copy that subset
    /// makes of its indices comes from their allocator, within their memory_budget, and pack_length packs
    /// what was composed.
    ///
    /// - dl_dataset_zip: fields side by side; equal lengths; names\[i\] renames (one field) or prefixes
    ///   ("name/field") those of part i; names may be NULL.
    /// - dl_dataset_concat: one after another; equal fields.
    /// - dl_dataset_subset: samples indices\[0..count) of a dataset; borrowed with `release`, else copied.
    fn dl_dataset_concat(
        parts: *const *mut dl_dataset, count: i32, options: *const dl_options, out: *mut *mut dl_dataset,
        error: *mut dl_error,
    ) -> dl_status;

    /// Composed datasets keep their own references to the parts. options may be NULL; the copy that subset
    /// makes of its indices comes from their allocator, within their memory_budget, and pack_length packs
    /// what was composed.
    ///
    /// - dl_dataset_zip: fields side by side; equal lengths; names\[i\] renames (one field) or prefixes
    ///   ("name/field") those of part i; names may be NULL.
    /// - dl_dataset_concat: one after another; equal fields.
    /// - dl_dataset_subset: samples indices\[0..count) of a dataset; borrowed with `release`, else copied.
    fn dl_dataset_subset(
        dataset: *mut dl_dataset, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// samples; -1 unknown (streams, later)
    fn dl_dataset_count(dataset: *const dl_dataset) -> i64;

    /// The schema: *count views, stepped through by dl_view_at. count may be NULL.
    fn dl_dataset_fields(dataset: *const dl_dataset, count: *mut i32) -> *const dl_view;

    /// "idx", "zip", "arrays", ...
    fn dl_dataset_format(dataset: *const dl_dataset) -> *const c_char;

    /// as given to open, or ""
    fn dl_dataset_uri(dataset: *const dl_dataset) -> *const c_char;

    /// of dl_dataset_note
    fn dl_dataset_note_count(dataset: *const dl_dataset) -> i32;

    /// A remark for the user. One that begins with "left out: " names a file, or bytes of one, that are not
    /// in the dataset (bad_files=skip); with "damaged: ", a file or a set that is not what was written.
    fn dl_dataset_note(dataset: *const dl_dataset, index: i32) -> *const c_char;

    /// Class names, indexed by label (a folder's class directories, in order). The count is 0 where the
    /// dataset has none. Composed datasets take those of their first part that has any. A name is UTF-8, or
    /// the raw bytes of a directory's name that is not; it lives as long as the dataset.
    /// dl_dataset_class_name is "" out of range.
    fn dl_dataset_class_count(dataset: *const dl_dataset) -> i64;

    /// Class names, indexed by label (a folder's class directories, in order). The count is 0 where the
    /// dataset has none. Composed datasets take those of their first part that has any. A name is UTF-8, or
    /// the raw bytes of a directory's name that is not; it lives as long as the dataset.
    /// dl_dataset_class_name is "" out of range.
    fn dl_dataset_class_name(dataset: *const dl_dataset, index: i64) -> *const c_char;

    /// One sample through the transforms of `options`, as a batch of one: for viewers, tests and checks. The
    /// options that say what a sample is apply (transform, seed, device, limits, memory); those of order,
    /// batches, threads and bad samples do not. Random operators draw as for the first sample of epoch 0. It
    /// plans and allocates as dl_loader_create does, so it is no way to train.
    ///
    /// Errors: those of dl_loader_create and dl_loader_next; DL_ERR_OUT_OF_RANGE for the index.
    fn dl_dataset_read(
        dataset: *const dl_dataset, index: i64, options: *const dl_options, out: *mut *mut dl_batch,
        error: *mut dl_error,
    ) -> dl_status;

    /// drops the caller's reference; NULL is fine
    fn dl_dataset_destroy(dataset: *mut dl_dataset);

    /// Plans memory, starts the workers and begins to load. Keeps its own reference to the dataset. options
    /// may be NULL.
    ///
    /// Errors: DL_ERR_BAD_OPTION, DL_ERR_BAD_TRANSFORM, DL_ERR_NO_SUCH_FIELD, DL_ERR_OUT_OF_RANGE (indices,
    /// weights, start), DL_ERR_OVER_BUDGET, DL_ERR_NO_MEMORY (of a device: says how much is needed and free),
    /// DL_ERR_THREAD, DL_ERR_EMPTY, DL_ERR_UNSUPPORTED, DL_ERR_MISMATCH (parts of a mix whose samples do not
    /// fit one batch), and with device=cuda DL_ERR_NO_DEVICE, DL_ERR_DEVICE_LOST. A driver is opened only for
    /// device=cuda and pin_memory.
    fn dl_loader_create(
        dataset: *mut dl_dataset, options: *const dl_options, out: *mut *mut dl_loader, error: *mut dl_error,
    ) -> dl_status;

    /// The next batch, in order. timeout_ns: \< 0 waits without limit, 0 polls. dl_batch_release returns the
    /// batch's slot. DL_END_OF_EPOCH ends each epoch once; DL_END follows the last. With num_workers=0 the
    /// call does the work itself, whatever the timeout; while another thread does the work, the call waits
    /// for that as for a worker. With workers a call that would wait fills rows too, in pieces of at most
    /// about 50 us, but never calls the host's reader and never with timeout 0.
    ///
    /// Errors: DL_ERR_BAD_SAMPLE (once per step, the position stays; the next call delivers the step's good
    /// samples), DL_ERR_TOO_MANY_BAD, DL_ERR_LEASES_HELD, DL_ERR_OVER_BUDGET, DL_ERR_FORKED, and with
    /// device=cuda DL_ERR_DEVICE_LOST, then on every call, even for batches loaded before, and
    /// DL_ERR_WRONG_STATE (dl_batch_wait says of CUDA graphs when). DL_ERR_WRONG_STATE also in a reader, an
    /// operator or a storage that is called to fill a batch of this loader, where the call would wait for
    /// what its own thread does. A failure of the machine while a batch is filled is never a bad sample,
    /// whatever on_error says: DL_ERR_NO_MEMORY, DL_ERR_TOO_MANY_FILES, or DL_ERR_IO (a device that fails
    /// every read, a call that is always interrupted), with os_error and the file. The position stays,
    /// nothing is counted, and the next call fills the batch again, with the same bytes. A failed device read
    /// is tried twice, and is a bad sample only if other samples can be read.
    ///
    /// Threading: any thread; each call gets a different batch.
    fn dl_loader_next(
        loader: *mut dl_loader, timeout_ns: i64, out: *mut *mut dl_batch, error: *mut dl_error,
    ) -> dl_status;

    /// num_workers=0: loads on the calling thread, for about budget_ns, so that a frame loop can spread a
    /// batch over several frames. DL_OK: a batch, an end or an error is due, and dl_loader_next returns at
    /// once. DL_TIMEOUT: the budget is spent and more is to be done. The budget is looked at after each run
    /// (a sample where images are decoded, else up to 256 samples or about 1 MiB): a call loads one run at
    /// least, and lasts one longer at most. With a budget of 0 or less, or with workers, it loads nothing and
    /// only says whether something is due. With lease_overflow=wait dl_loader_next still waits for a release
    /// where all leases are held. DL_CANCELLED, DL_INTERRUPTED; errors: DL_ERR_FORKED, DL_ERR_DEVICE_LOST,
    /// DL_ERR_WRONG_STATE (as dl_loader_next).
    fn dl_loader_work(loader: *mut dl_loader, budget_ns: i64, error: *mut dl_error) -> dl_status;

    /// A loop over one epoch, as the `for` loops of the bindings are: the rest of this epoch at its start or
    /// right after a seek or load, else the next one from step 0. It ends the loop before it. *out is
    /// released by dl_epoch_release. Since 0.3. DL_END after the last epoch; DL_CANCELLED.
    ///
    /// Errors: DL_ERR_FORKED, DL_ERR_NO_MEMORY; the loop before it then continues.
    fn dl_loader_epoch(loader: *mut dl_loader, out: *mut *mut dl_epoch, error: *mut dl_error) -> dl_status;

    /// A handle without an epoch, for a caller whose waits end alone: dl_epoch_next on it is dl_loader_next,
    /// also with DL_END, and dl_epoch_interrupt ends no other caller's wait. It ends no loop, and nothing
    /// ends it but the end of the loader (DL_CANCELLED). Cheap: one for each wait will do. *out is released
    /// by dl_epoch_release. Since 0.3.
    ///
    /// Errors: DL_ERR_FORKED, DL_ERR_NO_MEMORY.
    fn dl_loader_stream(loader: *mut dl_loader, out: *mut *mut dl_epoch, error: *mut dl_error) -> dl_status;

    /// As dl_loader_next, for one loop. Several threads may share it: each batch goes to one of them.
    ///
    /// DL_END_OF_EPOCH when the epoch is over. The first one moves the position to (epoch + 1, 0); every
    /// other caller that waits and every later call also gets it, and moves nothing, so that all threads see
    /// the end and none reaches into the next epoch. DL_ERR_WRONG_STATE when the loop was ended before that,
    /// by a newer dl_loader_epoch or dl_loader_begin_epoch, a seek, a loaded state or the end of the loader;
    /// callers that wait get it too, and no batch is lost. dl_loader_next takes from the same stream and ends
    /// no loop: its batches are missing here, and an end that it returned is the loop's end too. Other
    /// results and errors: as dl_loader_next, but never DL_END. Since 0.3.
    fn dl_epoch_next(
        epoch: *mut dl_epoch, timeout_ns: i64, out: *mut *mut dl_batch, error: *mut dl_error,
    ) -> dl_status;

    /// Every dl_epoch_next that waits on this handle returns DL_INTERRUPTED; if none waits, the next call
    /// does. So it is never lost. Any thread, also in a signal handler; never blocks. NULL is fine. Since
    /// 0.3.
    fn dl_epoch_interrupt(epoch: *mut dl_epoch);

    /// Frees the handle, also after its loader was destroyed; NULL is fine.
    ///
    /// Threading: once, when no other call on the handle is in progress or follows. An epoch that is released
    /// in the middle stays the current one until another loop begins. Since 0.3.
    fn dl_epoch_release(epoch: *mut dl_epoch);

    /// dl_loader_epoch without a handle, for one thread that calls dl_loader_next. DL_END after the last
    /// epoch.
    fn dl_loader_begin_epoch(loader: *mut dl_loader, error: *mut dl_error) -> dl_status;

    /// Position: (epoch, step), 0 \<= step \<= steps. (e, steps): DL_END_OF_EPOCH of epoch e is still due; (e
    /// \+ 1, 0): it was delivered. Counts what dl_loader_next delivered, not what was loaded ahead.
    fn dl_loader_position(
        loader: *const dl_loader, epoch: *mut i64, step: *mut i64, error: *mut dl_error,
    ) -> dl_status;

    /// O(1) (a Fisher-Yates or weighted order builds its table first). Clears a cancel. Leased batches stay
    /// valid.
    fn dl_loader_seek(loader: *mut dl_loader, epoch: i64, step: i64, error: *mut dl_error) -> dl_status;

    /// batches in an epoch, the same on every rank; -1 unknown
    fn dl_loader_steps(loader: *const dl_loader) -> i64;

    /// Replaces the order (sample_indices) from the next epoch that has not begun; lifetime as in
    /// dl_options_set_indices. The length must be that of the first. Only for loaders created with
    /// sample_indices. The replaced order is kept until the next such call, so that a state saved under it
    /// can be loaded; to load an older one, set its order again first.
    fn dl_loader_set_indices(
        loader: *mut dl_loader, indices: *const i64, count: i64, release: dl_release, context: *mut c_void,
        error: *mut dl_error,
    ) -> dl_status;

    /// The position and the identity of the job, as text of any length. It identifies the data by what a copy
    /// on another machine has too: base names and sizes of the files in order, and a checksum of the first
    /// and last 64 KiB of each (at most 64 files). A device that cannot read them fails the call; the loader
    /// stays usable. *bytes: in, the room in text; out, the bytes of the text with its NUL. text may be NULL
    /// to ask for that length; a later call may need more or less, when the position has moved.
    /// DL_ERR_INVALID_ARGUMENT when the room is too small: *bytes then says what is needed, and nothing is
    /// written.
    fn dl_loader_state_save(
        loader: *const dl_loader, text: *mut c_char, bytes: *mut usize, error: *mut dl_error,
    ) -> dl_status;

    /// Seeks to a saved position. num_workers, prefetch_depth, io, memory and transform may differ from the
    /// saving job; rank and world_size too, with an equal global batch. With tune=on it begins with the
    /// workers and the depth that the saving job had found. DL_ERR_BAD_STATE; DL_ERR_STATE_REFUSED names the
    /// first line that differs, with both values.
    fn dl_loader_state_load(loader: *mut dl_loader, text: *const c_char, error: *mut dl_error) -> dl_status;

    /// Ends every current and later wait with DL_CANCELLED, until a seek or load. Any thread; never blocks.
    fn dl_loader_cancel(loader: *mut dl_loader);

    /// Every dl_loader_next, dl_epoch_next and dl_loader_work that waits returns DL_INTERRUPTED; if none
    /// waits, the next of these calls does. So it is never lost, but for a seek or load, which clears it. Any
    /// thread, also in a signal handler; never blocks.
    fn dl_loader_interrupt(loader: *mut dl_loader);

    /// A handle for the host's event loop, signalled while next would not wait. On Linux a descriptor that
    /// poll, select and epoll report as readable; on Windows a HANDLE that WaitForMultipleObjects takes;
    /// elsewhere DL_ERR_UNSUPPORTED. Of what kind it is beyond that may change: only wait on it, never read,
    /// write, reset or close it. With num_workers=0 signalled, except where lease_overflow=wait has next wait
    /// for a release. Made on the first call (DL_ERR_TOO_MANY_FILES, DL_ERR_NO_MEMORY); lives as long as the
    /// loader.
    fn dl_loader_wait_handle(loader: *mut dl_loader, out: *mut isize, error: *mut dl_error) -> dl_status;

    /// The output schema after transforms.
    fn dl_loader_fields(loader: *const dl_loader, count: *mut i32) -> *const dl_view;

    /// Fills *out.
    fn dl_loader_stats(loader: *const dl_loader, out: *mut dl_stats, error: *mut dl_error) -> dl_status;

    /// found so far
    fn dl_loader_bad_sample_count(loader: *const dl_loader) -> i64;

    /// Fills *out. DL_ERR_INVALID_ARGUMENT: no such bad sample.
    fn dl_loader_bad_sample_at(
        loader: *const dl_loader, index: i64, out: *mut dl_bad_sample, error: *mut dl_error,
    ) -> dl_status;

    /// Cancels, joins the workers and frees; NULL is fine. Batches still leased stay valid until they are
    /// released. A worker inside a read of the host's (dl_reader, dl_storage) sees request->cancelled and is
    /// given one second, then abandoned together with what it uses, and this is logged. With a device, waits
    /// for the copies in flight and for the work queued on released batches.
    ///
    /// Threading: once, when no other call on the loader or on one of its loops is in progress; no call on
    /// the loader follows. Its loops have ended: dl_epoch_next returns DL_ERR_WRONG_STATE, and they are
    /// released as ever.
    fn dl_loader_destroy(loader: *mut dl_loader);

    /// All fields, in the order of dl_loader_fields.
    fn dl_batch_views(batch: *const dl_batch, count: *mut i32) -> *const dl_view;

    /// Fills *out.
    fn dl_batch_get_info(batch: *const dl_batch, out: *mut dl_batch_info, error: *mut dl_error) -> dl_status;

    /// dl_batch_retain adds a reference, dl_batch_release drops one: any thread; NULL is fine. The last
    /// release returns the slot.
    fn dl_batch_retain(batch: *mut dl_batch);

    /// dl_batch_retain adds a reference, dl_batch_release drops one: any thread; NULL is fine. The last
    /// release returns the slot.
    fn dl_batch_release(batch: *mut dl_batch);

    /// Batches in device memory (device=cuda:N) are delivered while their copies are still in flight. A
    /// `stream` is a CUstream or cudaStream_t of that device. NULL and cudaStreamLegacy are CUDA's legacy
    /// stream, whatever the program was compiled for; cudaStreamPerThread is that of the thread that calls,
    /// and a batch that waited in it may be released by any thread: the legacy stream, which comes after the
    /// streams of all threads, then stands for it. Neither call waits on the host.
    ///
    /// - dl_batch_wait: work queued later in `stream` starts after the batch is complete. Call it before the
    ///   first use in each stream that reads the batch. It always records the stream, which must live until
    ///   the batch is released; with device_sync=host batches are complete already, and that is all it does.
    /// - dl_batch_release_on: dl_batch_release, but the memory is written again only after the work now in
    ///   `stream` is done.
    /// - dl_batch_release: the same for every stream that waited for the batch and was not released since.
    ///
    /// A stream that reads a batch without having waited for it must be finished, or be passed to
    /// dl_batch_release_on, before the batch is released.
    ///
    /// CUDA graphs: every call may be made while a graph is captured, on any thread, and breaks no capture.
    /// dl_batch_wait refuses a stream that is being captured (DL_ERR_WRONG_STATE), since a batch's memory
    /// holds another batch when the graph runs: wait before the capture begins, and copy the batch into
    /// memory of your own that the graph reads. A batch that is released while a stream that used it is being
    /// captured is ordered behind that stream when the capture is over: the stream must live until then, and
    /// if no other memory is left dl_loader_next returns DL_ERR_WRONG_STATE after a second.
    ///
    /// fork(): a child must not touch the memory of batches or slots. Where they are page-locked
    /// (device=cuda, pin_memory) and the kernel is older than 5.9, whose fork() may give the parent other
    /// pages than the device reads, do not fork while a loader lives: start processes by posix_spawn or
    /// before the loader.
    ///
    /// On the cpu device there is nothing to wait for, and dl_batch_release_on is dl_batch_release.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (a stream of another device, or one that was destroyed: before the
    /// memory is written again the host then waits for the whole device), DL_ERR_WRONG_STATE,
    /// DL_ERR_DEVICE_LOST, DL_ERR_FORKED. dl_batch_release_on drops the reference whatever it returns.
    ///
    /// Threading: any thread; the thread's current CUDA context is preserved.
    fn dl_batch_wait(batch: *mut dl_batch, stream: *mut c_void, error: *mut dl_error) -> dl_status;

    /// Batches in device memory (device=cuda:N) are delivered while their copies are still in flight. A
    /// `stream` is a CUstream or cudaStream_t of that device. NULL and cudaStreamLegacy are CUDA's legacy
    /// stream, whatever the program was compiled for; cudaStreamPerThread is that of the thread that calls,
    /// and a batch that waited in it may be released by any thread: the legacy stream, which comes after the
    /// streams of all threads, then stands for it. Neither call waits on the host.
    ///
    /// - dl_batch_wait: work queued later in `stream` starts after the batch is complete. Call it before the
    ///   first use in each stream that reads the batch. It always records the stream, which must live until
    ///   the batch is released; with device_sync=host batches are complete already, and that is all it does.
    /// - dl_batch_release_on: dl_batch_release, but the memory is written again only after the work now in
    ///   `stream` is done.
    /// - dl_batch_release: the same for every stream that waited for the batch and was not released since.
    ///
    /// A stream that reads a batch without having waited for it must be finished, or be passed to
    /// dl_batch_release_on, before the batch is released.
    ///
    /// CUDA graphs: every call may be made while a graph is captured, on any thread, and breaks no capture.
    /// dl_batch_wait refuses a stream that is being captured (DL_ERR_WRONG_STATE), since a batch's memory
    /// holds another batch when the graph runs: wait before the capture begins, and copy the batch into
    /// memory of your own that the graph reads. A batch that is released while a stream that used it is being
    /// captured is ordered behind that stream when the capture is over: the stream must live until then, and
    /// if no other memory is left dl_loader_next returns DL_ERR_WRONG_STATE after a second.
    ///
    /// fork(): a child must not touch the memory of batches or slots. Where they are page-locked
    /// (device=cuda, pin_memory) and the kernel is older than 5.9, whose fork() may give the parent other
    /// pages than the device reads, do not fork while a loader lives: start processes by posix_spawn or
    /// before the loader.
    ///
    /// On the cpu device there is nothing to wait for, and dl_batch_release_on is dl_batch_release.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (a stream of another device, or one that was destroyed: before the
    /// memory is written again the host then waits for the whole device), DL_ERR_WRONG_STATE,
    /// DL_ERR_DEVICE_LOST, DL_ERR_FORKED. dl_batch_release_on drops the reference whatever it returns.
    ///
    /// Threading: any thread; the thread's current CUDA context is preserved.
    fn dl_batch_release_on(batch: *mut dl_batch, stream: *mut c_void, error: *mut dl_error) -> dl_status;

    /// A field as a DLPack tensor, which holds the batch until its deleter is called (any thread, also after
    /// the loader is destroyed). dl_batch_dlpack_versioned (1.x): flagged read-only where the view is.
    /// dl_batch_dlpack: such tensors have no such flag, and read-only fields are refused with
    /// DL_ERR_UNSUPPORTED. Ragged: the packed data. In device memory these calls do not wait: use
    /// dl_batch_wait for each stream; the deleter is a dl_batch_release. Where no stream has waited, as with
    /// DLPack's stream=-1, the memory is written again only after the work that CUDA's legacy stream, and
    /// with it each blocking stream, has when the batch is released.
    fn dl_batch_dlpack(
        batch: *mut dl_batch, field: i32, out: *mut *mut DLManagedTensor, error: *mut dl_error,
    ) -> dl_status;

    /// A field as a DLPack tensor, which holds the batch until its deleter is called (any thread, also after
    /// the loader is destroyed). dl_batch_dlpack_versioned (1.x): flagged read-only where the view is.
    /// dl_batch_dlpack: such tensors have no such flag, and read-only fields are refused with
    /// DL_ERR_UNSUPPORTED. Ragged: the packed data. In device memory these calls do not wait: use
    /// dl_batch_wait for each stream; the deleter is a dl_batch_release. Where no stream has waited, as with
    /// DLPack's stream=-1, the memory is written again only after the work that CUDA's legacy stream, and
    /// with it each blocking stream, has when the batch is released.
    fn dl_batch_dlpack_versioned(
        batch: *mut dl_batch, field: i32, out: *mut *mut DLManagedTensorVersioned, error: *mut dl_error,
    ) -> dl_status;

    /// dl_batch_arrow: the batch as a record batch of Arrow's C data interface, which is a struct array of
    /// the rows that are not pads, with a child for each field of dl_batch_views, without nulls. Dense: the
    /// type of its values, inside a fixed_size_list for each dim after the first; ragged: large_list of that;
    /// ragged u8 of one dim: large_binary. The array shares the batch's memory and holds the batch until it
    /// is released (any thread, also after the loader is destroyed), as its children do where they were moved
    /// out. Copied are bool, which Arrow stores as bits, and fields whose rows do not lie one after another
    /// (flag DL_VIEW_OVERLAPPING, several fields of one record). The schema holds nothing. What *schema and
    /// *array hold before is not looked at; after an error it is still there.
    ///
    /// Errors: DL_ERR_UNSUPPORTED: bf16 and complex numbers, a dim above 2^31 - 1, a batch in device memory.
    fn dl_batch_arrow(
        batch: *mut dl_batch, schema: *mut ArrowSchema, array: *mut ArrowArray, error: *mut dl_error,
    ) -> dl_status;

    /// Opening without waiting, for hosts that must not block and want to show how far it is.
    /// dl_dataset_open_async begins what dl_dataset_open does, on a thread of the library, and returns. The
    /// options are copied; their log and allocator are called from that thread.
    ///
    /// Errors: DL_ERR_THREAD (the thread could not be started); whatever is wrong with the URI or the data,
    /// dl_opening_wait says.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_dataset_open_async(
        uri: *const c_char, options: *const dl_options, out: *mut *mut dl_opening, error: *mut dl_error,
    ) -> dl_status;

    /// timeout_ns: \< 0 waits without limit, 0 polls. DL_TIMEOUT: it is not open yet. DL_OK: *out is the
    /// dataset, for the caller to destroy; it is handed out once, and needs the opening no more. After that:
    /// DL_ERR_WRONG_STATE. DL_CANCELLED, and the errors of dl_dataset_open: on every call. DL_ERR_FORKED in a
    /// forked child.
    ///
    /// Threading: any thread; of several that wait one gets the dataset.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_opening_wait(
        opening: *mut dl_opening, timeout_ns: i64, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// A handle that is readable once dl_opening_wait would not wait: an eventfd on Linux (poll it, never
    /// read or close it). Made on the first call; lives as long as the opening.
    ///
    /// Errors: DL_ERR_TOO_MANY_FILES, DL_ERR_UNSUPPORTED, DL_ERR_FORKED.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_opening_wait_handle(opening: *mut dl_opening, out: *mut isize, error: *mut dl_error) -> dl_status;

    /// Fills *out.
    ///
    /// Threading: any thread; never blocks.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_opening_progress(
        opening: *const dl_opening, out: *mut dl_progress, error: *mut dl_error,
    ) -> dl_status;

    /// Ends it soon, with DL_CANCELLED, unless it is done by then. The cancel token of the options does so
    /// too; this cancels no token. Any thread; never blocks; NULL is fine.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_opening_cancel(opening: *mut dl_opening);

    /// Cancels, waits for the thread (which looks at it between files, pieces of 8 MiB, members of a .gz and
    /// 1024 entries) and frees, also the dataset if nobody took it; NULL is fine. In a forked child it only
    /// frees. Not from a callback.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_opening_destroy(opening: *mut dl_opening);

    /// Which files of this machine the dataset is read from, as text of lines "key: value": compare it to
    /// decide whether something that was made of the dataset earlier may be reused. Two texts are equal while
    /// the structure (formats, fields, keys, order of parts) and, of each file, canonical path, size, times
    /// of modification and of status change, and inode are; a remount changes nothing. Paths are in it as
    /// digests. An object of a storage has its fingerprint instead. Looks at every file of a folder. *bytes
    /// and text: as in dl_loader_state_save.
    ///
    /// Errors: DL_ERR_UNSUPPORTED for data in memory, a reader without files and fingerprint, and objects
    /// without one: nobody can tell when these change.
    ///
    /// Threading: any thread. Since 0.3.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_dataset_identity(
        dataset: *const dl_dataset, text: *mut c_char, bytes: *mut usize, error: *mut dl_error,
    ) -> dl_status;

    /// Reads the header of an encoded image (a ragged u8 field) without decoding it. field NULL: `image`, or
    /// the only field of that kind.
    ///
    /// Errors: DL_ERR_NO_SUCH_FIELD, DL_ERR_UNSUPPORTED (a field of another kind), DL_ERR_OUT_OF_RANGE,
    /// DL_ERR_CORRUPT (not an image, or an inconsistent header), DL_ERR_TRUNCATED, and the errors of reading
    /// the sample; the error's sample_index is `index`. For a dataset from a reader this calls `read`.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_dataset_image_info(
        dataset: *const dl_dataset, field: *const c_char, index: i64, out: *mut dl_image_info,
        error: *mut dl_error,
    ) -> dl_status;

    /// How to recover pixels: the value delivered in a channel of field `field` (index in dl_loader_fields)
    /// is pixel * scale + offset, where pixel is the stored u8 or u16. Where all channels are alike, any
    /// channel will do.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (no such field or channel), DL_ERR_UNSUPPORTED (the values do not map
    /// back to pixels).
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_pixel_scale(
        loader: *const dl_loader, field: i32, channel: i64, scale: *mut f64, offset: *mut f64,
        error: *mut dl_error,
    ) -> dl_status;

    /// stages
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_plan_count(loader: *const dl_loader) -> i32;

    /// Fills *out. DL_ERR_INVALID_ARGUMENT: no such stage.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_plan_at(
        loader: *const dl_loader, index: i32, out: *mut dl_plan_stage, error: *mut dl_error,
    ) -> dl_status;

    /// What a loader measures, as a table. It stays valid when the loader is destroyed, and tells its last
    /// numbers then. *out ends with dl_metrics_destroy (NULL is fine). In a forked child its calls return
    /// DL_ERR_FORKED.
    ///
    /// Threading: any thread; any number of threads may read one dl_metrics, also while its loader is
    /// destroyed.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_metrics(
        loader: *const dl_loader, out: *mut *mut dl_metrics, error: *mut dl_error,
    ) -> dl_status;

    /// What a loader measures, as a table. It stays valid when the loader is destroyed, and tells its last
    /// numbers then. *out ends with dl_metrics_destroy (NULL is fine). In a forked child its calls return
    /// DL_ERR_FORKED.
    ///
    /// Threading: any thread; any number of threads may read one dl_metrics, also while its loader is
    /// destroyed.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_metrics_destroy(metrics: *mut dl_metrics);

    /// rows; grows once, when a trace begins
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_metrics_count(metrics: *const dl_metrics) -> i64;

    /// Fills *out. DL_ERR_INVALID_ARGUMENT: no such row.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_metrics_at(
        metrics: *const dl_metrics, index: i64, out: *mut dl_metric, error: *mut dl_error,
    ) -> dl_status;

    /// The table in Prometheus's text format 0.0.4, names as dataline_batches_total,
    /// dataline_worker_work_seconds_total{thread="0",stage="read"}; dataline_exposed_seconds_total is what
    /// consumers waited in dl_loader_next. labels: `rank="0",job="x"`, added to each series; NULL: none.
    /// *bytes as in dl_loader_state_save. DL_ERR_INVALID_ARGUMENT: labels that are not of that form, or too
    /// little room.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_metrics_text(
        metrics: *const dl_metrics, labels: *const c_char, text: *mut c_char, bytes: *mut usize,
        error: *mut dl_error,
    ) -> dl_status;

    /// the last 64 are kept
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_metrics_stall_count(metrics: *const dl_metrics) -> i64;

    /// Fills *out, from the oldest that is kept. DL_ERR_INVALID_ARGUMENT: no such stall.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_metrics_stall_at(
        metrics: *const dl_metrics, index: i64, out: *mut dl_stall, error: *mut dl_error,
    ) -> dl_status;

    /// Writes what each thread does from now on, and the life of each batch, as JSON in Chrome's trace event
    /// format, which Perfetto and speedscope open. Times are the time of day, in microseconds, from one look
    /// at that clock: they never jump. path: a new file, an empty one or an older trace, which is
    /// overwritten; or NULL, and sink takes the text. At most 256 MiB; then, or when the disk is full, the
    /// trace ends with a line in the log and the job goes on.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (neither or both), DL_ERR_WRONG_STATE (a trace is being written; the
    /// file holds other data), DL_ERR_NOT_A_FILE (a FIFO, a device, a directory), DL_ERR_NOT_FOUND,
    /// DL_ERR_PERMISSION, DL_ERR_IO.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_trace_start(
        loader: *mut dl_loader, path: *const c_char, sink: *const dl_trace_sink, error: *mut dl_error,
    ) -> dl_status;

    /// Ends the trace; so does dl_loader_destroy. Without one it does nothing. Where it could not be written
    /// whole, why: DL_ERR_IO, on some limits DL_ERR_TOO_LARGE.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_trace_stop(loader: *mut dl_loader, error: *mut dl_error) -> dl_status;

    /// From now on `count` workers work, 1 to the most that memory is planned for (dl_tuned.most_workers;
    /// with tune=off num_workers); the others sleep once the rows that they hold are loaded. The host knows
    /// better: with tune=on, tuning ends.
    ///
    /// Errors: DL_ERR_OUT_OF_RANGE, DL_ERR_WRONG_STATE (made with num_workers=0: there are none),
    /// DL_ERR_FORKED.
    ///
    /// Threading: any thread; never blocks for long.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_set_workers(loader: *mut dl_loader, count: i64, error: *mut dl_error) -> dl_status;

    /// Fills *out.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_tuned(loader: *const dl_loader, out: *mut dl_tuned, error: *mut dl_error) -> dl_status;

    /// A mix of datasets whose fields have the same names. Fields that are stored differently become alike by
    /// the transforms of parts; where only sizes differ, batches of one part each may have them
    /// (homogeneous=batch). stages may be NULL with a stage_count of 0. samples_per_epoch: of weights; -1: as
    /// many as all parts have together. options may be NULL: of them, pack_length packs the documents that an
    /// epoch draws (with shuffle=full and seed 0), and what comes of it is no mix any more, but rows of all
    /// parts. Parts, stages, names and transforms are copied; the mix keeps its own references to the
    /// datasets.
    ///
    /// Errors: DL_ERR_INVALID_ARGUMENT (a NULL, two equal names, weights and repeats in one mix, repeats with
    /// stages or samples_per_epoch), DL_ERR_OUT_OF_RANGE (a weight, repeat, step or samples_per_epoch that
    /// cannot be; all weights 0), DL_ERR_MISMATCH (names both parts and what would make them fit),
    /// DL_ERR_EMPTY (a part without samples), DL_ERR_BAD_TRANSFORM and DL_ERR_NO_SUCH_FIELD (of a part's
    /// transform), DL_ERR_TOO_LARGE (over 1,024 different transforms and shapes), DL_ERR_UNSUPPORTED (a part
    /// that is a mix; with pack_length: stages, parts that hold no documents, transforms of parts),
    /// DL_ERR_OVER_BUDGET (the documents to pack need 8 bytes each). Only a loader makes the samples of a mix
    /// whose parts have transforms or shapes of their own: dl_dataset_zip, _concat and _subset refuse it
    /// (DL_ERR_UNSUPPORTED).
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_dataset_mix(
        parts: *const dl_mix_part, part_count: i32, stages: *const dl_mix_stage, stage_count: i32,
        samples_per_epoch: i64, options: *const dl_options, out: *mut *mut dl_dataset, error: *mut dl_error,
    ) -> dl_status;

    /// The parts of a mix; 0 for other datasets.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_dataset_part_count(dataset: *const dl_dataset) -> i32;

    /// Fills *out. DL_ERR_INVALID_ARGUMENT: no such part.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_dataset_part_at(
        dataset: *const dl_dataset, index: i32, out: *mut dl_part, error: *mut dl_error,
    ) -> dl_status;

    /// The parts of the mix that a loader delivers; 0 for other datasets.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_part_count(loader: *const dl_loader) -> i32;

    /// Fills *out. DL_ERR_INVALID_ARGUMENT: no such part.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_loader_part_at(
        loader: *const dl_loader, index: i32, out: *mut dl_part, error: *mut dl_error,
    ) -> dl_status;

    /// Errors: DL_ERR_BAD_URI, DL_ERR_UNSUPPORTED (a field that the format does not hold),
    /// DL_ERR_INVALID_ARGUMENT, DL_ERR_WRONG_STATE (PATH exists, another process writes it, or PATH.partial
    /// was not made by a writer), DL_ERR_STATE_REFUSED (PATH.partial is another job's), DL_ERR_CORRUPT (its
    /// manifest), DL_ERR_NOT_FOUND (the directory around it), DL_ERR_PERMISSION, DL_ERR_IO.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_create(
        uri: *const c_char, fields: *const dl_view, field_count: i32, job: *const c_char,
        out: *mut *mut dl_writer, error: *mut dl_error,
    ) -> dl_status;

    /// Appends the samples of all arrays: one array per field, in their order, of the same name, kind, dtype
    /// and shape. They are read during the call only. position (may be NULL): what the host needs to go on
    /// after these rows; dl_writer_position gives that of the last finished shard back. Rows that cannot be
    /// stored (DL_ERR_MISMATCH, DL_ERR_INVALID_ARGUMENT, DL_ERR_OUT_OF_RANGE, DL_ERR_TOO_LARGE) are refused
    /// as a whole, and the writer stays usable. After a failure of the file system (DL_ERR_IO,
    /// DL_ERR_PERMISSION, ...: a full disk) each call gives that error; what is finished stays for the next
    /// dl_writer_create.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_append(
        writer: *mut dl_writer, arrays: *const dl_array, count: i32, position: *const c_char,
        error: *mut dl_error,
    ) -> dl_status;

    /// Ends the last shard and gives the set its name. DL_ERR_EMPTY: there is no row. Afterwards the writer
    /// can be destroyed only.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_finish(writer: *mut dl_writer, error: *mut dl_error) -> dl_status;

    /// Errors: DL_ERR_INVALID_ARGUMENT.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_get_info(
        writer: *const dl_writer, out: *mut dl_writer_info, error: *mut dl_error,
    ) -> dl_status;

    /// The position of the last shard that was there at create; "": none. Valid as long as the writer.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_position(writer: *const dl_writer) -> *const c_char;

    /// NULL is fine. Without dl_writer_finish what is finished stays; rows of the shard that is open are
    /// lost.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_destroy(writer: *mut dl_writer);

    /// How many formats are written.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_format_count() -> i32;

    /// The name of one, and a line on it; NULL for an index that is none.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_format_name(index: i32) -> *const c_char;

    /// see dl_writer_format_name
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_writer_format_doc(index: i32) -> *const c_char;

    /// One with nothing in it.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_extensions_create(out: *mut *mut dl_extensions, error: *mut dl_error) -> dl_status;

    /// NULL is fine
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_extensions_destroy(extensions: *mut dl_extensions);

    /// What was added so far; later additions have no effect on the options. NULL: none.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_options_set_extensions(
        options: *mut dl_options, extensions: *const dl_extensions, error: *mut dl_error,
    ) -> dl_status;

    /// For callbacks: writes code and message (NUL-terminated UTF-8, truncated when longer) as far as the
    /// struct has room, and returns the code. `error` may be NULL.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_error_set(error: *mut dl_error, code: dl_status, message: *const c_char) -> dl_status;

    /// Opens a local path, or `scheme://...` of a storage that `options` (may be NULL) know.
    ///
    /// Errors: those of dl_dataset_open for a file.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_file_open(
        path: *const c_char, options: *const dl_options, out: *mut *mut dl_file, error: *mut dl_error,
    ) -> dl_status;

    /// its size when it was opened
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_file_bytes(file: *const dl_file) -> i64;

    /// All `bytes` bytes from `offset` on. `cancelled`: the word that a callback was given, so that a storage
    /// that the file is in gives up when nobody wants the bytes any more (DL_CANCELLED); NULL: the token of
    /// the options tells. DL_ERR_TRUNCATED, DL_ERR_CHANGED, DL_ERR_IO name path and offset.
    ///
    /// Threading: any thread.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_file_read(
        file: *const dl_file, offset: i64, bytes: i64, out: *mut c_void, cancelled: *const i32,
        error: *mut dl_error,
    ) -> dl_status;

    /// once, after all reads; NULL is fine
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_file_destroy(file: *mut dl_file);

    /// The format becomes known to datasets opened with these extensions.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_extensions_add_format(
        extensions: *mut dl_extensions, format: *const dl_format, error: *mut dl_error,
    ) -> dl_status;

    /// The operator becomes known to loaders created with these extensions.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_extensions_add_operator(
        extensions: *mut dl_extensions, table: *const dl_operator, error: *mut dl_error,
    ) -> dl_status;

    /// Draw `number` (0, 1, ...) of this operator for this row: a pure function of seed, epoch, slot, the
    /// operator's place in the transform and the number, as the library's own operators draw. Does not depend
    /// on threads.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_operator_random(row: *const dl_operator_row, number: i64) -> u64;

    /// The storage becomes known to datasets opened with these extensions.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_extensions_add_storage(
        extensions: *mut dl_extensions, storage: *const dl_storage, error: *mut dl_error,
    ) -> dl_status;

    /// Replaces those set before.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_extensions_set_threads(
        extensions: *mut dl_extensions, threads: *const dl_threads, error: *mut dl_error,
    ) -> dl_status;

    /// Loads a plug-in: a path, or a NAME without `/`, for which libdataline-NAME.so is looked for as the
    /// dynamic linker does. It stays loaded until the process ends. All that it adds is added, or nothing.
    ///
    /// Errors: DL_ERR_NOT_FOUND (says why the linker refused), DL_ERR_NOT_A_FILE, DL_ERR_TRUNCATED (a library
    /// that was cut is not loaded: it would end the process), DL_ERR_UNSUPPORTED (no such entry point;
    /// another ABI), what the plug-in returns.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_extensions_load(
        extensions: *mut dl_extensions, path: *const c_char, error: *mut dl_error,
    ) -> dl_status;

    /// Formats: those of the library, then those of `extensions` (may be NULL), enumerated as transforms are:
    /// dl_format_count of them. dl_format_at and dl_format_key_at fill *out, whose strings live as long as
    /// the library, or as `extensions`. DL_ERR_INVALID_ARGUMENT: no such format or key.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_format_count(extensions: *const dl_extensions) -> i32;

    /// Formats: those of the library, then those of `extensions` (may be NULL), enumerated as transforms are:
    /// dl_format_count of them. dl_format_at and dl_format_key_at fill *out, whose strings live as long as
    /// the library, or as `extensions`. DL_ERR_INVALID_ARGUMENT: no such format or key.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_format_at(
        extensions: *const dl_extensions, index: i32, out: *mut dl_format_info, error: *mut dl_error,
    ) -> dl_status;

    /// Formats: those of the library, then those of `extensions` (may be NULL), enumerated as transforms are:
    /// dl_format_count of them. dl_format_at and dl_format_key_at fill *out, whose strings live as long as
    /// the library, or as `extensions`. DL_ERR_INVALID_ARGUMENT: no such format or key.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_format_key_at(
        extensions: *const dl_extensions, index: i32, key: i32, out: *mut dl_format_key, error: *mut dl_error,
    ) -> dl_status;

    /// Storages of `extensions`: dl_storage_count of them. dl_storage_at fills *out: struct_size, scheme and
    /// doc, the rest is NULL. DL_ERR_INVALID_ARGUMENT: no such storage.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_storage_count(extensions: *const dl_extensions) -> i32;

    /// Storages of `extensions`: dl_storage_count of them. dl_storage_at fills *out: struct_size, scheme and
    /// doc, the rest is NULL. DL_ERR_INVALID_ARGUMENT: no such storage.
    ///
    /// Unstable: may change, or go, in a minor release.
    fn dl_storage_at(
        extensions: *const dl_extensions, index: i32, out: *mut dl_storage, error: *mut dl_error,
    ) -> dl_status;
}
