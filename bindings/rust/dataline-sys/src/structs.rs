//! The handles, callbacks and structs of the header. One list, hence the length.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::os::raw::{c_char, c_void};

/// 0 (DL_OK), a positive soft result, or a negative error
pub type dl_status = i32;

handles! {
    /// key-value settings of datasets and loaders
    dl_options
    /// samples by index; immutable
    dl_dataset
    /// a job's stream of batches; owns threads, slots and position
    dl_loader
    /// a loop over one epoch of a loader; threads may share it
    dl_epoch
    /// a lease on one batch; reference-counted; may outlive its loader
    dl_batch
    /// ends opens and waits from another thread
    dl_cancel_token
    /// formats, operators, ... added by the host; see "Extensions"
    dl_extensions
    /// a dataset that is being opened
    dl_opening
    /// measurements of a loader; outlives the loader
    dl_metrics
    /// writes a set
    dl_writer
    /// a file that host formats and storages read in place
    dl_file
}

callbacks! {
    /// a function of any type; cast it to its own type before the call
    fn dl_function();
    /// The type of dl_plugin_register.
    fn dl_plugin_register_function(plugin: *mut dl_plugin, error: *mut dl_error) -> dl_status;
    fn dl_allocator_allocate(context: *mut c_void, bytes: usize, alignment: usize, kind: i32) -> *mut c_void;
    fn dl_allocator_release(
        context: *mut c_void, memory: *mut c_void, bytes: usize, alignment: usize, kind: i32,
    );
    /// Releases a borrowed array or a table. Called once with its context, from any thread.
    fn dl_release(context: *mut c_void);
    fn dl_log_write(context: *mut c_void, level: i32, message: *const c_char, length: usize);
    fn dl_reader_read(context: *mut c_void, request: *mut dl_reader_request) -> i32;
    fn dl_reader_advise(context: *mut c_void, block: i64);
    fn dl_trace_sink_write(context: *mut c_void, text: *const c_char, bytes: usize) -> i32;
    fn dl_format_request_report(request: *const dl_format_request, files: i64, total_files: i64);
    fn dl_format_sniff(
        context: *mut c_void, path: *const c_char, bytes: *const c_void, count: i64, file_bytes: i64,
    ) -> i32;
    fn dl_format_open(
        context: *mut c_void, request: *const dl_format_request, out: *mut *mut dl_dataset,
        error: *mut dl_error,
    ) -> dl_status;
    fn dl_operator_prepare(
        context: *mut c_void, r#use: *mut dl_operator_use, error: *mut dl_error,
    ) -> dl_status;
    fn dl_operator_apply(context: *mut c_void, row: *mut dl_operator_row, error: *mut dl_error) -> dl_status;
    fn dl_operator_forget(context: *mut c_void, state: *mut c_void);
    fn dl_storage_open(
        context: *mut c_void, object: *mut dl_storage_object, error: *mut dl_error,
    ) -> dl_status;
    fn dl_storage_read_function(
        context: *mut c_void, request: *mut dl_storage_read, error: *mut dl_error,
    ) -> dl_status;
    fn dl_storage_close(context: *mut c_void, object: *mut c_void);
    fn dl_threads_start(context: *mut c_void, worker: i32, name: *const c_char);
    fn dl_threads_end(context: *mut c_void, worker: i32);
    fn dl_threads_run(
        context: *mut c_void, worker: i32, name: *const c_char, main: dl_release, argument: *mut c_void,
    ) -> i32;
    fn dl_plugin_find(name: *const c_char) -> dl_function;
}

/// The callbacks in C, for the comparison with the header.
#[doc(hidden)]
pub const CALLBACKS_IN_C: &str = "\
typedef void (*dl_function)(void);\n\
typedef dl_status (*dl_plugin_register_function)(dl_plugin*, dl_error*);\n\
typedef void* (*dl_allocator_allocate)(void*, size_t, size_t, int32_t);\n\
typedef void (*dl_allocator_release)(void*, void*, size_t, size_t, int32_t);\n\
typedef void (*dl_release)(void*);\n\
typedef void (*dl_log_write)(void*, int32_t, const char*, size_t);\n\
typedef int32_t (*dl_reader_read)(void*, dl_reader_request*);\n\
typedef void (*dl_reader_advise)(void*, int64_t);\n\
typedef int32_t (*dl_trace_sink_write)(void*, const char*, size_t);\n\
typedef void (*dl_format_request_report)(const struct dl_format_request*, int64_t, int64_t);\n\
typedef int32_t (*dl_format_sniff)(void*, const char*, const void*, int64_t, int64_t);\n\
typedef dl_status (*dl_format_open)(void*, const dl_format_request*, dl_dataset**, dl_error*);\n\
typedef dl_status (*dl_operator_prepare)(void*, dl_operator_use*, dl_error*);\n\
typedef dl_status (*dl_operator_apply)(void*, dl_operator_row*, dl_error*);\n\
typedef void (*dl_operator_forget)(void*, void*);\n\
typedef dl_status (*dl_storage_open)(void*, dl_storage_object*, dl_error*);\n\
typedef dl_status (*dl_storage_read_function)(void*, dl_storage_read*, dl_error*);\n\
typedef void (*dl_storage_close)(void*, void*);\n\
typedef void (*dl_threads_start)(void*, int32_t, const char*);\n\
typedef void (*dl_threads_end)(void*, int32_t);\n\
typedef int32_t (*dl_threads_run)(void*, int32_t, const char*, dl_release, void*);\n\
typedef dl_function (*dl_plugin_find)(const char*);\n\
";

structs! {
    /// Describes a failed call. The message is one line: what failed, where (file, offset, sample or option),
    /// what was expected and what was found.
    struct dl_error {
        struct_size: u32,
        code: dl_status,
        /// errno (on Windows, the errno that matches the system's error), or 0
        os_error: i32,
        /// 1-based position in a URI or transform, or 0
        column: i32,
        /// the first affected sample, or -1
        sample_index: i64,
        /// its dataset in a mix (dl_batch_info.sample_sources); else 0
        sample_source: i64,
        /// NUL-terminated, one line of printable UTF-8, truncated if longer
        message: [c_char; 512],
    }

    /// Allocates the memory of the datasets and loaders that are created with it: slots, tables, data,
    /// copies. Small objects (handles, names, schemas) come from C++ operator new instead. Callbacks run on
    /// any thread. The table is copied.
    ///
    /// - allocate: Returns NULL on failure. The call that needed the memory then returns DL_ERR_NO_MEMORY.
    ///   `alignment` is a power of two.
    /// - release: Receives the bytes, alignment and kind of the allocation.
    /// - destroy: May be NULL. Called once with `context`, from any thread, when no options, dataset, loader
    ///   or batch needs the table any more. Not called if the call that receives the table fails.
    struct dl_allocator {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        allocate: dl_allocator_allocate,
        release: dl_allocator_release,
        destroy: dl_release,
    }

    /// Receives log messages. Without this table nothing is logged. `write` is called from any thread;
    /// `message` is valid during the call. See dl_allocator for `destroy`.
    struct dl_log {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        write: dl_log_write,
        destroy: dl_release,
    }

    /// This process's place in its job, as reported by a launcher. Since 0.3.
    struct dl_launcher {
        struct_size: u32,
        reserved: u32,
        rank: i64,
        /// -1: the launcher reports the rank only (pmix, kubernetes)
        world_size: i64,
        /// rank on this machine, to choose a device; -1: not reported
        local_rank: i64,
        /// processes on this machine; -1: not reported
        local_world_size: i64,
        /// "torchrun", "jax", "openmpi", "pmi", "slurm", "pmix", "kubernetes", or "none": process 0 of 1
        family: *const c_char,
    }

    /// One row of the table of options.
    struct dl_option_info {
        struct_size: u32,
        /// `DL_OPTION_*`
        r#type: i32,
        /// `DL_SCOPE_*`
        scope: i32,
        /// 1: minimum and maximum apply
        has_range: i32,
        minimum: i64,
        maximum: i64,
        key: *const c_char,
        /// as text; "" if there is none
        default_value: *const c_char,
        /// "keep\|drop\|pad", or ""
        choices: *const c_char,
        /// "bytes", "samples", ""
        unit: *const c_char,
        doc: *const c_char,
        since: *const c_char,
    }

    /// A transform operator. dl_transform_at lists the operators of the library, then those of `extensions`
    /// (may be NULL). The strings live as long as the library, or as `extensions`.
    struct dl_transform_info {
        struct_size: u32,
        argument_count: i32,
        name: *const c_char,
        doc: *const c_char,
        /// the reference definition that it follows
        source: *const c_char,
        since: *const c_char,
    }

    /// An argument of a transform operator.
    struct dl_argument_info {
        struct_size: u32,
        reserved: u32,
        name: *const c_char,
        r#type: *const c_char,
        /// "": required
        default_value: *const c_char,
    }

    /// One tensor of a batch or of a schema. The first dim of a batch counts the samples. The schema of a
    /// dataset does not have this dim. In the schema of a loader, it is `batch_size`, or -1 if batches may
    /// differ in size.
    ///
    /// The samples of a ragged field differ in length. `data` is packed, and its first dim is the sum of all
    /// lengths (-1 in a schema). Sample i consists of the rows `[offsets[i], offsets[i + 1])`. Bytes and
    /// UTF-8 text are ragged u8.
    struct dl_view {
        struct_size: u32,
        /// `DL_KIND_*`
        kind: i32,
        /// bits `DL_VIEW_*`
        flags: u64,
        name: *const c_char,
        /// `DL_DTYPE_*`
        dtype: i32,
        rank: i32,
        /// `[rank]`; -1: unknown or varying (schemas only)
        shape: *const i64,
        /// `[rank]`, in elements; never NULL
        strides: *const i64,
        /// one letter per dim ("NHWC"), or "" if unknown
        axes: *const c_char,
        /// `DL_DEVICE_*`
        device_type: i32,
        device_index: i32,
        /// on `device_type`; 256-byte aligned for batches in slots; NULL in a schema
        data: *mut c_void,
        /// from data to the first element
        byte_offset: u64,
        /// ragged: `[samples + 1]`, in host memory; else NULL
        offsets: *const i64,
        /// delivered bytes (dense: of the whole shape; ragged: packed); -1 if varying
        bytes: i64,
        /// zero; planned: offsets in device memory, a second level of offsets, an event
        reserved: [u64; 4],
    }

    /// A field in host memory.
    ///
    /// - DL_KIND_DENSE: `shape[0]` is the number of samples. The data is packed, in C order.
    /// - DL_KIND_STRIDED: As dense, but sample i starts at `data + i * row_stride_bytes`. Each sample is
    ///   packed, in C order. If the stride is less than the size of a row, samples overlap. If it is 0, all
    ///   samples are the same row. If it is negative, later samples have lower addresses.
    /// - DL_KIND_RAGGED: data is packed and `shape[0]` is its number of rows. offsets has one entry more than
    ///   there are samples, as in dl_view.
    struct dl_array {
        struct_size: u32,
        /// `DL_KIND_*`
        kind: i32,
        name: *const c_char,
        /// `DL_DTYPE_*`
        dtype: i32,
        rank: i32,
        shape: *const i64,
        /// of one sample: "HWC"; NULL if unknown
        axes: *const c_char,
        data: *const c_void,
        /// strided: any number; else 0
        row_stride_bytes: i64,
        offsets: *const i64,
        /// ragged: entries in offsets minus one; dense: 0 or `shape[0]`
        sample_count: i64,
    }

    /// One field of one record, which a reader fills. No `struct_size`: cells are `request->cell_bytes`
    /// apart, so that later releases can append members. Use dl_reader_cell_at.
    struct dl_reader_cell {
        /// write at most capacity bytes here; 64-byte aligned
        data: *mut c_void,
        /// dense: the field's bytes; ragged: `max_bytes_per_sample`, or the field's own maximum if that is
        /// less
        capacity: i64,
        /// In: the field's bytes (dense) or 0. Out, ragged: bytes of the record, which must be whole items.
        /// More than capacity means that the sample is too large (DL_ERR_TOO_LARGE).
        bytes: i64,
        /// Out: NULL if the bytes are at data. Otherwise the address of the bytes in host memory, with any
        /// alignment. The bytes must not change until `request->release` is called. If that is not set, they
        /// must not change while the dataset or anything created from it exists.
        borrowed: *const c_void,
        /// out: nonzero if this record is bad; the host chooses the code
        status: i32,
        reserved32: i32,
        /// what the host writes here is ignored
        reserved: [u64; 3],
    }

    /// The records that one call of `read` must deliver. Valid only during the call. Borrowed memory is valid
    /// until `release`.
    struct dl_reader_request {
        struct_size: u32,
        /// 1 to 64
        record_count: i32,
        /// as in dl_reader
        field_count: i32,
        /// distance from one cell to the next
        cell_bytes: i32,
        /// `[record_count]`
        indices: *const i64,
        /// `[record_count]`: the position of each record in the order of the epoch, from which a reader can
        /// derive random numbers. A sample that replaces a bad one has the slot of the bad one. -1 if the
        /// record is read outside an epoch (by dl_dataset_image_info, or for the upload of `io=device`).
        slots: *const i64,
        /// -1 where slots are -1
        epoch: i64,
        /// the loader's seed; 0 in dl_dataset_image_info
        seed: u64,
        /// Becomes nonzero when the records are no longer needed: the loader is being destroyed, or was
        /// cancelled. Read it atomically (relaxed). `read` may then return any nonzero value, and the records
        /// do not count as bad. Valid until `read` returns.
        cancelled: *const i32,
        /// record r, field f: dl_reader_cell_at(request, r, f)
        cells: *mut dl_reader_cell,
        /// Where `read` may write why a record is bad: the text of record r starts at
        /// `messages + r * message_bytes`. Zeroed before the call. If the call fails, records without a text
        /// get the text of record 0.
        messages: *mut c_char,
        /// room for one text with its NUL
        message_bytes: i64,
        /// Out: called once, from the thread that called `read`, when the library no longer reads the memory
        /// that this call lent. Also called if the call failed. Must not call Dataline. NULL: the borrowed
        /// memory stays valid as long as the dataset.
        release: dl_release,
        /// out: for `release`
        release_context: *mut c_void,
        /// as in dl_reader_cell
        reserved: [u64; 4],
    }

    /// A reader is host code that delivers records. Worker threads call `read` concurrently. With
    /// `num_workers=0` the thread in dl_loader_next calls it; with `prompt`, both do. It returns one of:
    ///
    /// - 0: the cells are filled.
    /// - DL_READER_INTERRUPTED: the host needs its thread. The records do not count as bad, and the position
    ///   does not change. dl_loader_next returns DL_INTERRUPTED, and the next call reads the batch again.
    /// - another value, for example an errno: all records of the call are bad.
    ///
    /// `fields` is the schema: name, kind, dtype, rank, shape without the batch dim, axes. For a ragged
    /// field, bytes is its maximum, or 0 if that is not known. `destroy` (may be NULL) is called once, when
    /// `read` will not be called again and the library no longer reads borrowed memory.
    struct dl_reader {
        struct_size: u32,
        field_count: i32,
        /// read during the call only
        fields: *const dl_view,
        record_count: i64,
        context: *mut c_void,
        read: dl_reader_read,
        destroy: dl_release,
        /// A string that changes when the data changes; NULL for none. Saved states compare it. So does the
        /// option `cache`, which reuses samples as long as this string and `files` stay the same.
        fingerprint: *const c_char,
        /// The number of blocks. A block is a group of records that are cheap to read together, for example
        /// because they are compressed together. Block i ends before record `block_ends[i]`. The values
        /// ascend, and the last one is `record_count`. `shuffle=window` uses these blocks and ignores
        /// `shuffle_block`, so that each block is read within a short part of an epoch. Copied. 0, with
        /// `block_ends` NULL: no blocks. Since 0.3.
        block_count: i64,
        /// `[block_count]`. Since 0.3.
        block_ends: *const i64,
        /// How many blocks the reader can keep open. If records of more blocks are read, the reader has to
        /// open blocks again. 0: any number. `shuffle=window` keeps fewer blocks open at a time:
        /// `shuffle_blocks` is limited to a quarter of this number, but at least 1. Since 0.3.
        held_blocks: i64,
        /// 1: a call takes about as long as copying its records, with occasional waits of a few milliseconds
        /// for local storage. A consumer that waits for a batch then also calls `read` on its own thread, as
        /// long as calls take tens of microseconds on average. Its timeout may be late by one call. Each
        /// worker fills complete batches. 0: only workers call `read`. Since 0.3.
        prompt: i32,
        /// zero. Since 0.3.
        reserved: i32,
        /// A hint that block `block` of `block_ends` will be read soon. The reader can then do expensive
        /// work, such as decompression, while other threads read or the consumer computes. Called with
        /// `shuffle=window`, about once per epoch for each block, in the order in which blocks are opened.
        /// The threads that call `read` also call this function, concurrently. It must only record the number
        /// and return immediately, because a batch waits for it. Some blocks are never announced, and after a
        /// seek some announced blocks are not read. NULL: none. Since 0.3.
        advise: dl_reader_advise,
        /// The files that the records are read from, in order: paths on this machine, or in storages that the
        /// options contain. Each must exist. The library records their identity when the dataset is created,
        /// so it does not notice changes made before that. It then compares them like the files of its own
        /// formats: in saved states, for the option `cache`, and in dl_dataset_identity. Copied. 0, with
        /// files NULL: none. Since 0.3.
        file_count: i64,
        /// `[file_count]`. Since 0.3.
        files: *const *const c_char,
        /// `[file_count]`: the index after the last record of each file; the values ascend to `record_count`.
        /// A changed file then invalidates only its own samples in a cache. NULL: a record may be in any
        /// file. Copied. Since 0.3.
        file_ends: *const i64,
    }

    /// Counters since the loader was created. delivered + skipped + dropped = the number of slots of this
    /// rank in the epochs so far.
    struct dl_stats {
        struct_size: u32,
        /// workers in use; 0: the caller's thread
        num_workers: i32,
        /// batches delivered
        batches: i64,
        /// samples delivered, without pads
        samples: i64,
        /// bytes delivered
        bytes: i64,
        /// bad samples that were skipped
        skipped: i64,
        /// slots dropped by `last_batch=drop`
        dropped: i64,
        /// rows added by `last_batch=pad`
        padded: i64,
        /// rows filled with a replacement sample
        replaced: i64,
        /// distinct bad samples seen
        bad: i64,
        /// time that consumers waited in dl_loader_next; 0 with `num_workers=0`
        wait_ns: i64,
        /// calls of dl_loader_next that had to wait
        waits: i64,
        /// CPU time of worker threads; 0 with `num_workers=0`
        worker_cpu_ns: i64,
        /// size of the slots; for rows without a fixed size, the part touched so far
        arena_bytes: i64,
        /// all host memory that the loader holds now
        held_bytes: i64,
        /// the memory limit in force
        budget_bytes: i64,
        /// batches held by consumers now
        leases_held: i64,
        /// batches delivered as a new allocation, beyond the slots for leases
        lease_copies: i64,
        /// batches loaded, not yet delivered
        ready_batches: i64,
        /// page-locked memory; 0 if the system refused it (logged once)
        pinned_bytes: i64,
        /// workers abandoned in a host callback that did not return
        threads_abandoned: i64,
        /// device memory that the loader holds now
        device_bytes: i64,
        /// bytes copied over the bus to the device
        copied_bytes: i64,
        /// images delivered although the decoder warned of damage (`on_warning=accept`)
        warned: i64,
        /// samples that the cache provided (option cache). Since 0.3.
        cache_read: i64,
        /// samples that had to be processed; 0 without a cache. Since 0.3.
        cache_made: i64,
    }

    /// A bad sample that the loader found (`on_error` replace, quarantine or raise). Bad samples are in order
    /// of delivery.
    struct dl_bad_sample {
        struct_size: u32,
        /// the kind of error
        code: dl_status,
        /// the part of a mix that it belongs to; 0 without a mix
        source: i64,
        /// its index in that dataset
        index: i64,
        /// the epoch where it was found first
        epoch: i64,
        /// the step where it was found first
        step: i64,
        /// the slot where it was found first
        slot: i64,
        /// the replacement sample; -1: skipped
        replacement: i64,
        /// where the sample is stored (file, member or record), then what is wrong
        message: [c_char; 256],
    }

    /// A batch's place in the job, and where its rows come from. The arrays live as long as the batch.
    struct dl_batch_info {
        struct_size: u32,
        reserved: u32,
        epoch: i64,
        step: i64,
        /// rows, pads included
        samples: i64,
        /// rows that are not padding
        valid: i64,
        /// `[samples]`: which dataset of a mix; else 0
        sample_sources: *const i64,
        /// `[samples]`: index in it; for replaced samples, of the replacement
        sample_indices: *const i64,
    }

    /// The progress of an opening. All numbers only grow. The library lists files before it opens the first
    /// one, so totals grow as well, but a total is never less than the part that is done. Log lines with
    /// DL_LOG_PROGRESS contain the same numbers.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_progress {
        struct_size: u32,
        /// 1: dl_opening_wait would not wait
        done: i32,
        /// files opened so far
        files: i64,
        /// files of the URI; 0: not known yet
        total_files: i64,
        /// bytes read into memory (`io=memory`, .gz: as stored, then decompressed) or searched
        bytes: i64,
        /// size of the files that were started; 0: only headers are read
        total_bytes: i64,
        /// entries found in folders, label files and tars
        entries: i64,
    }

    /// The header of an encoded image.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_image_info {
        struct_size: u32,
        /// `DL_IMAGE_*`
        format: i32,
        /// pixels, as stored, before any Exif orientation
        width: i64,
        height: i64,
        /// as stored: 1 (grey or palette), 2 (grey and alpha), 3, 4 (RGBA or CMYK)
        channels: i32,
        /// per channel
        bits: i32,
        /// Exif, 1 to 8; 1 if absent
        orientation: i32,
        /// 1: progressive or interlaced
        progressive: i32,
        /// encoded size
        bytes: i64,
    }

    /// One stage of a sample: on the host, a copy over the bus, or on the device. Stages are listed in order,
    /// field by field. The bytes of all copies add up to the bus traffic of a sample.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_plan_stage {
        struct_size: u32,
        /// DL_DEVICE_CPU or DL_DEVICE_CUDA; for a copy, the destination
        device_type: i32,
        /// borrowed from the loader, like `text`
        field: *const c_char,
        /// "gather", "copy", operators as written ("normalize(mnist), chw"), or "with F": the field is part
        /// of the bytes of field F
        text: *const c_char,
        /// per sample; -1 if varying
        bytes_in: i64,
        bytes_out: i64,
    }

    /// One row of the table. Counters and gauges have the names of the members of dl_stats. The durations
    /// are:
    ///
    /// - `next`: calls of dl_loader_next that delivered a batch
    /// - `between`: the time from one such call to the next
    /// - `work`: a thread fills batches. `part` is the stage: "order", "read" (finding records, waiting for
    ///   storage), "pack", "copy to device", and for each field its operators ("image: decode" and others) or
    ///   a copy ("label: copy").
    /// - `wait`: a worker waits. `part` is the reason: "no room" (`prefetch_depth` batches are ready, the
    ///   consumer is slower), "no work" (other threads load the rest), "parked" (there is no CPU for it),
    ///   "device" (the device still reads all slots).
    /// - `off_cpu`: the part of `work` in which the thread was not on a CPU: "no CPU" (other threads used
    ///   them all), "storage" (and anything else that blocks). 0 if the system does not report it.
    /// - `device`: the device works on a batch, measured by its own clock: "copy", "kernels". Known when the
    ///   slot is reused.
    ///
    /// Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_metric {
        struct_size: u32,
        /// `DL_METRIC_*`
        kind: i32,
        /// borrowed from the dl_metrics, like the three below
        name: *const c_char,
        /// "" if the row is not divided
        part: *const c_char,
        /// "ns", "bytes", "samples", ...
        unit: *const c_char,
        doc: *const c_char,
        /// a worker, from 0; DL_THREAD_ALL; DL_THREAD_CONSUMER
        thread: i32,
        reserved: u32,
        /// duration: the sum
        value: i64,
        /// duration: how often. Count and sum are estimates if not every run is timed
        count: i64,
        /// stage: bytes that it read or produced
        bytes: i64,
        /// median of the times, rounded up by at most an eighth
        p50_ns: i64,
        p99_ns: i64,
        max_ns: i64,
    }

    /// A call of dl_loader_next that took 10 ms or more. If calls end with DL_TIMEOUT or DL_INTERRUPTED,
    /// their time is added to the next call that delivers a batch. The time between the calls does not count.
    /// Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_stall {
        struct_size: u32,
        reserved: u32,
        /// epoch of the batch that was delivered
        epoch: i64,
        /// step of that batch
        step: i64,
        /// duration of the call
        wait_ns: i64,
        /// What the workers spent that time on, as dl_metric.part; "leases": the consumer held `max_leases`
        /// batches. Borrowed from the dl_metrics.
        cause: *const c_char,
    }

    /// Receives a trace instead of a file. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_trace_sink {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        /// Receives the next piece of the text. Returns 0, or an error number, which ends the trace. Called
        /// from any thread, one call at a time. Not called after dl_loader_trace_stop or dl_loader_destroy
        /// has returned. Must not call Dataline.
        write: dl_trace_sink_write,
    }

    /// The workers and the depth in use, and what tuning does or would do. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_tuned {
        struct_size: u32,
        /// `DL_TUNE_*`: the option `tune`
        mode: i32,
        /// active workers, perhaps only as a trial; 0: the caller's thread
        num_workers: i64,
        /// the depth in use
        prefetch_depth: i64,
        /// memory is planned for this many workers
        most_workers: i64,
        /// memory is planned for this depth
        most_depth: i64,
        /// the best number so far; with DL_TUNE_WATCH, the number to try next
        wanted_workers: i64,
        /// the best depth so far; with DL_TUNE_WATCH, the depth to try next
        wanted_depth: i64,
        /// how often the setting changed so far
        changes: i64,
        /// 1: nothing is tried now
        frozen: i32,
        reserved: u32,
        /// Batches consumed per second, in the last complete measurement. Before that 0, as is `wait_share`.
        batches_per_s: f64,
        /// share of that time in which the consumer waited, 0 to 1
        wait_share: f64,
        /// what tuning does, and why
        text: [c_char; 160],
    }

    /// A part of a mix. Either every part has a repeat, or none. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_mix_part {
        struct_size: u32,
        reserved: u32,
        /// in messages, states and statistics; NULL: its number. Must be unique
        name: *const c_char,
        /// the mix keeps its own reference
        dataset: *const dl_dataset,
        /// Relative to the other parts. 0: the part is not drawn until a stage sets another weight. Each part
        /// has its own epochs.
        weight: f64,
        /// Each sample occurs `floor(repeat)` times in an epoch. The fraction is the share of samples that
        /// occur once more; they are drawn again for each epoch.
        repeat: f64,
        /// applied to its samples before the loader's transform; NULL: none
        transform: *const c_char,
    }

    /// Weights that apply from a step of the job on. Steps are counted over all epochs. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_mix_stage {
        struct_size: u32,
        reserved: u32,
        /// at least 1; ascending from stage to stage
        step: i64,
        /// `[part_count]`
        weights: *const f64,
    }

    /// A part of a mix, as its dataset or a loader describes it. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_part {
        struct_size: u32,
        reserved: u32,
        /// name in the mix; borrowed from the dataset or loader, like `uri` and `transform`
        name: *const c_char,
        /// dataset: as in the recipe, or as its dataset was opened; loader: NULL
        uri: *const c_char,
        /// the sample count of the part
        samples: i64,
        /// loader: samples delivered to this rank since create, without pads
        delivered: i64,
        /// dataset: its repeat; 0: it has a weight
        repeat: f64,
        /// Loader: how many passes over the part the job has made at its position, over all ranks.
        epochs: f64,
        /// the requested share of the samples drawn now; dataset: at the start of a job
        share_asked: f64,
        /// loader: the share of what was delivered
        share_got: f64,
        /// dataset: the part's own transform, "" for none; loader: NULL
        transform: *const c_char,
    }

    /// The progress of a writer. Since 0.3.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_writer_info {
        struct_size: u32,
        reserved: u32,
        /// samples appended, including those present at create
        samples: i64,
        /// samples present at create
        resumed_samples: i64,
        /// finished shards
        shards: i64,
        /// size of the finished shards
        bytes: i64,
    }

    /// A key that a format accepts in a URI.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_format_key {
        struct_size: u32,
        reserved: u32,
        name: *const c_char,
        /// The accepted words, as in `error|ignore` (all others are rejected), or the kind of value, as in
        /// "INTEGER".
        values: *const c_char,
        /// NULL: none
        default_value: *const c_char,
        doc: *const c_char,
    }

    /// What a format must open.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_format_request {
        struct_size: u32,
        key_count: i32,
        /// one path of the URI; if there are several, their datasets are concatenated
        path: *const c_char,
        /// `[key_count]`, in the order of the table: the value in the URI, or else the default; NULL:
        /// neither.
        values: *const *const c_char,
        /// options of the caller, for calls that `open` makes; never NULL
        options: *const dl_options,
        /// Becomes nonzero when the dataset is no longer needed: `open` may then return DL_CANCELLED. Read it
        /// atomically (relaxed), between files and in long loops. Never NULL. Since 0.3.
        cancelled: *const i32,
        /// `open` may call this to report its progress, for dl_opening_progress and the log: `files` of the
        /// `total_files` in the path are open. Neither number may decrease. Call it only on the thread that
        /// called `open`. Since 0.3.
        report: dl_format_request_report,
    }

    /// A format. Users open it as `name:path?key=value`. It is also detected by content or suffix, unless a
    /// format of the library is more certain about the file.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_format {
        struct_size: u32,
        key_count: i32,
        /// 2 to 32 characters of a-z 0-9 _, a letter first; keys and arguments: 1 to 32
        name: *const c_char,
        doc: *const c_char,
        /// `[key_count]`; NULL for none
        keys: *const dl_format_key,
        /// Suffixes of file names, separated by spaces: ".wav .flac"; NULL for none. Case is ignored. `open`
        /// receives the path of a directory unchanged. It must read the files with these suffixes, and leave
        /// out hidden names (".x") and `__MACOSX`. The library adds a note (dl_dataset_note) about the other
        /// files.
        suffixes: *const c_char,
        context: *mut c_void,
        /// Returns `DL_SNIFF_*`, from the first bytes of a file (up to 512) and its size. May be NULL.
        sniff: dl_format_sniff,
        /// Creates the dataset, with any function that creates one. The library then owns `*out`.
        open: dl_format_open,
        destroy: dl_release,
    }

    /// An argument of one use of an operator.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_argument_value {
        struct_size: u32,
        /// 1: set by the user; 0: the default
        given: i32,
        /// as written, but text without its quotes; NULL: absent (the default is "none")
        text: *const c_char,
        /// for a number, a shape (3x32x32) or a list of numbers; else NULL
        numbers: *const f64,
        number_count: i64,
    }

    /// One use of an operator in a transform.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_operator_use {
        struct_size: u32,
        argument_count: i32,
        /// in the order of the table; step by `struct_size`
        arguments: *const dl_argument_value,
        /// the input field of one sample, as in dl_dataset_fields
        input: *const dl_view,
        /// kind, dtype, rank, shape, axes and `max_bytes` describe the output field. In: the input field.
        ///
        /// DL_KIND_DENSE or DL_KIND_RAGGED
        kind: i32,
        dtype: i32,
        rank: i32,
        /// nonzero: the output also depends on slot, epoch and seed
        draws: i32,
        /// ragged: the first dim is -1
        shape: [i64; 33],
        /// one letter per dim, or ""
        axes: [c_char; 40],
        /// ragged: of the largest sample; -1: the option `max_bytes_per_sample`
        max_bytes: i64,
        /// nonzero: a row takes 100 us or more, so workers claim rows one by one
        heavy: i32,
        /// On error: the index of the wrong argument, so that dl_error.column points to it; else -1.
        wrong_argument: i32,
        /// kept for `apply`, passed to `forget` when the use ends
        state: *mut c_void,
        reserved: [u64; 4],
    }

    /// One row that an operator processes.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_operator_row {
        struct_size: u32,
        reserved32: u32,
        /// set by `prepare`; shared by all threads
        state: *mut c_void,
        /// any alignment
        input: *const c_void,
        input_bytes: i64,
        /// room for `capacity` bytes; not the input
        output: *mut c_void,
        capacity: i64,
        /// In, dense: the sample's bytes, else 0. Out: bytes written, which must be whole items. More than
        /// capacity means that the sample is too large (DL_ERR_TOO_LARGE).
        bytes: i64,
        /// the row's place in the order of the epoch
        slot: i64,
        epoch: i64,
        seed: u64,
        /// for dl_operator_random
        draw: [u64; 3],
        reserved: [u64; 4],
    }

    /// A transform operator: one field in, one field out, row by row.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_operator {
        struct_size: u32,
        argument_count: i32,
        /// same rules as for the name of a format
        name: *const c_char,
        doc: *const c_char,
        /// the reference definition it follows; NULL for none
        source: *const c_char,
        /// `[argument_count]`; passed in this order, or by name
        arguments: *const dl_argument_info,
        context: *mut c_void,
        /// Called when a loader is created: checks arguments and input, and describes the output field.
        prepare: dl_operator_prepare,
        /// an error is a bad sample
        apply: dl_operator_apply,
        /// may be NULL
        forget: dl_operator_forget,
        destroy: dl_release,
    }

    /// An object that a storage opens.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_storage_object {
        struct_size: u32,
        reserved32: u32,
        /// complete, with its scheme
        path: *const c_char,
        /// Becomes nonzero when the open is cancelled. Read it atomically. Never NULL.
        cancelled: *const i32,
        /// Options of the caller, for a storage that opens objects of another storage with dl_file_open.
        /// Never NULL.
        options: *const dl_options,
        /// out: for `read` and `close`
        object: *mut c_void,
        /// out
        bytes: i64,
        /// Out: a string that changes when the bytes of the object change, such as a version or an ETag
        /// (since 0.3). The library reads it before any other call for the object. NULL: changes cannot be
        /// detected, so the option `cache` and a resumed conversion reject the object.
        fingerprint: *const c_char,
        reserved: [u64; 3],
    }

    /// Bytes that a storage must read.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_storage_read {
        struct_size: u32,
        reserved32: u32,
        object: *mut c_void,
        offset: i64,
        /// within the object; all of them are needed
        bytes: i64,
        out: *mut c_void,
        /// Becomes nonzero when the bytes are no longer needed: the loader that reads is being destroyed, or
        /// was cancelled. Outside of a loader: the token of the options was cancelled. Read it atomically.
        /// `read` may then return DL_CANCELLED, and the samples do not count as bad. Valid until `read`
        /// returns. Never NULL.
        cancelled: *const i32,
        reserved: [u64; 4],
    }

    /// A storage provides the bytes of paths that start with `scheme://`. Formats read them as they read
    /// files with pread. Formats that need a directory (folder, mnist, cifar10, cifar100) do not support
    /// storages.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_storage {
        struct_size: u32,
        reserved: u32,
        /// like the name of a format, but may contain +
        scheme: *const c_char,
        doc: *const c_char,
        context: *mut c_void,
        open: dl_storage_open,
        read: dl_storage_read_function,
        /// may be NULL
        close: dl_storage_close,
        destroy: dl_release,
    }

    /// The threads that workers run on.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_threads {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        /// Called on each worker thread when it starts and before it ends, to name, pin or register it.
        /// `worker` counts from 0. May be NULL.
        start: dl_threads_start,
        end: dl_threads_end,
        /// NULL: the library starts the threads. Otherwise dl_loader_create calls this function, which must
        /// arrange that `main(argument)` soon runs once on a host thread. main returns when the loader is
        /// destroyed. Returns 0, or an error number (DL_ERR_THREAD). The thread needs 128 KiB of stack, in
        /// addition to what host readers and operators use. The host is responsible for its signals.
        ///
        /// dl_loader_destroy does not wait for workers whose main has not been called yet. If
        /// `main(argument)` is called after that, it frees its argument and returns immediately. If it is
        /// never called, a few bytes leak.
        run: dl_threads_run,
        destroy: dl_release,
    }

    /// What a plug-in receives. A plug-in is a shared library that exports the function
    /// `dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error)`. The function sets
    /// `plugin->built_for` and adds to `plugin->extensions`. A plug-in may link with this library, or call it
    /// only through `plugin->find(name)`. The latter also works if the host links the library statically.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_plugin {
        struct_size: u32,
        /// DL_ABI_VERSION of the library
        abi_version: i32,
        /// out: DL_ABI_VERSION of the header that the plug-in was built with
        built_for: i32,
        reserved32: i32,
        extensions: *mut dl_extensions,
        /// an exported function of the library, or NULL
        find: dl_plugin_find,
        reserved: [u64; 4],
    }

    /// A format, as dl_format_at describes it.
    ///
    /// Unstable: may change or be removed in a minor release.
    struct dl_format_info {
        struct_size: u32,
        key_count: i32,
        name: *const c_char,
        doc: *const c_char,
    }
}
