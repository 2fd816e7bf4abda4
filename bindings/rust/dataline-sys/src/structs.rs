//! The handles, callbacks and structs of the header; one list, hence the length.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::os::raw::{c_char, c_void};

/// 0 (DL_OK), a positive soft result, or a negative error
pub type dl_status = i32;

handles! {
    /// key-value settings of a dataset and of a loader
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
    /// formats, operators, ... of the host's: see "Extensions"
    dl_extensions
    /// Opening without waiting, for hosts that must not block and want to show how far it is.
    /// dl_dataset_open_async begins what dl_dataset_open does, on a thread of the library, and returns. The
    /// options are copied; their log and allocator are called from that thread. Errors: DL_ERR_THREAD (the
    /// thread could not be started); whatever is wrong with the URI or the data, dl_opening_wait says.
    ///
    /// a dataset that is being opened
    dl_opening
    /// what a loader measures; outlives it
    dl_metrics
    /// Writes rows as a set: a directory of shards (part-00000.arrow, ...) and a manifest, dataline.manifest,
    /// that dl_dataset_open reads by `FORMAT:PATH`. Until dl_writer_finish it is PATH.partial, so that PATH
    /// is a whole set or is not there. A shard is on the disk (fsync) before the manifest counts it. After a
    /// crash, or dl_writer_destroy without finish, dl_writer_create with the same arguments goes on behind
    /// the last such shard, once its bytes have been compared with their checksum; shards that are not what
    /// the manifest says are written again, from the first one on.
    ///
    /// uri: `FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]`; formats are arrow and parquet (any field but bf16
    /// and complex ones), tar (bytes, texts, a label; by WebDataset's conventions), tfrecord
    /// (tf.train.Example: bytes, whole numbers as i64, f32), npy (one dense field) and tokens (the whole
    /// numbers of one field, one after another, without where samples end). A shard ends with the append by
    /// which it has shard_bytes (256MiB). arrow and parquet take a codec: none (the default), lz4 or zstd. A
    /// set of parquet is read by the plug-in for Parquet. fields: those of one sample, as in dl_reader; read
    /// during the call only. Names are 1 to 255 bytes of UTF-8 without control characters, so that every set
    /// opens again. job: text that says what the set is made of; a PATH.partial with finished shards of
    /// another job, other fields, another shard_bytes or codec is refused. So is one that no writer made: a
    /// link, a file, a directory with files and without a manifest of a set; nothing in it is changed. NULL:
    /// "". Threads: append, finish and the counts from any thread, also at once; an append is one piece.
    /// Since 0.3.
    dl_writer
    /// a file, read where it is: for formats and storages of the host's
    dl_file
}

callbacks! {
    /// a function of any type, to be cast to its own before it is called
    fn dl_function();
    /// The type of dl_plugin_register.
    fn dl_plugin_register_function(plugin: *mut dl_plugin, error: *mut dl_error) -> dl_status;
    fn dl_allocator_allocate(context: *mut c_void, bytes: usize, alignment: usize, kind: i32) -> *mut c_void;
    fn dl_allocator_release(
        context: *mut c_void, memory: *mut c_void, bytes: usize, alignment: usize, kind: i32,
    );
    /// Gives back what was lent, or ends a table: called once with its context, from any thread.
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
    /// An error. The message is one line with file, offset, sample or option, expected and got.
    struct dl_error {
        struct_size: u32,
        code: dl_status,
        /// errno (on Windows the one that fits the system's error), or 0
        os_error: i32,
        /// 1-based, in a URI or transform text, or 0
        column: i32,
        /// the (first) sample concerned, or -1
        sample_index: i64,
        /// the dataset of a mix that it belongs to (dl_batch_info.sample_sources); 0
        sample_source: i64,
        /// NUL-terminated, one line of printable UTF-8, truncated when longer
        message: [c_char; 512],
    }

    /// Memory for the datasets and loaders created with it: slots, tables, data, copies. Small descriptions
    /// (handles, names, schemas) come from the C++ run-time's operator new. Called from any thread.
    /// `allocate` returns NULL on failure (the call then returns DL_ERR_NO_MEMORY); alignment is a power of
    /// two. `release` gets the bytes, alignment and kind of the allocation. The table is copied. `destroy`
    /// (may be NULL) is called once with `context`, from any thread, when neither the options nor any
    /// dataset, loader or batch made with them needs the table; not if the call that takes it fails.
    struct dl_allocator {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        allocate: dl_allocator_allocate,
        release: dl_allocator_release,
        destroy: dl_release,
    }

    /// Log messages. Called from any thread; `message` is valid during the call. Without a table nothing is
    /// logged. `destroy` as in dl_allocator.
    struct dl_log {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        write: dl_log_write,
        destroy: dl_release,
    }

    /// Which process of a job a launcher says that this one is. Since 0.3.
    struct dl_launcher {
        struct_size: u32,
        reserved: u32,
        rank: i64,
        /// -1: it tells the rank only (pmix, kubernetes)
        world_size: i64,
        /// among those of this machine, to choose a device; -1: it does not say
        local_rank: i64,
        /// -1: it does not say
        local_world_size: i64,
        /// "torchrun", "jax", "openmpi", "pmi", "slurm", "pmix", "kubernetes", or "none": process 0 of 1
        family: *const c_char,
    }

    /// A row of the table of options.
    struct dl_option_info {
        struct_size: u32,
        r#type: i32,
        scope: i32,
        /// minimum and maximum apply
        has_range: i32,
        minimum: i64,
        maximum: i64,
        key: *const c_char,
        /// as text; "" for none
        default_value: *const c_char,
        /// "keep\|drop\|pad", or ""
        choices: *const c_char,
        /// "bytes", "samples", ""
        unit: *const c_char,
        doc: *const c_char,
        since: *const c_char,
    }

    /// Transform operators, enumerated in the same way: those of the library, then those of `extensions` (may
    /// be NULL), whose strings live as long as it does.
    struct dl_transform_info {
        struct_size: u32,
        argument_count: i32,
        name: *const c_char,
        doc: *const c_char,
        /// the reference definition it follows
        source: *const c_char,
        since: *const c_char,
    }

    /// An argument of an operator.
    struct dl_argument_info {
        struct_size: u32,
        reserved: u32,
        name: *const c_char,
        r#type: *const c_char,
        /// "": required
        default_value: *const c_char,
    }

    /// One tensor of a batch, or of a schema. The first dim of a batch is the samples; a dataset's schema has
    /// no such dim; in a loader's schema it is batch_size, or -1 where batches may differ in size. Ragged
    /// (samples of different length): `data` is packed, its first dim is the sum of all lengths, and sample i
    /// is rows \[offsets\[i\], offsets\[i + 1\]). Bytes and UTF-8 text are ragged u8. In a schema that first
    /// dim is -1.
    struct dl_view {
        struct_size: u32,
        kind: i32,
        flags: u64,
        name: *const c_char,
        dtype: i32,
        rank: i32,
        /// \[rank\]; -1: unknown or varying (schemas only)
        shape: *const i64,
        /// \[rank\], in elements; never NULL
        strides: *const i64,
        /// one letter per dim ("NHWC"), or "" when unknown
        axes: *const c_char,
        device_type: i32,
        device_index: i32,
        /// on device_type; 256-byte aligned for batches in slots; NULL in a schema
        data: *mut c_void,
        /// from data to the first element
        byte_offset: u64,
        /// ragged: \[samples + 1\], host memory; else NULL
        offsets: *const i64,
        /// of the data delivered (dense: product of shape; ragged: packed); -1 when varying
        bytes: i64,
        /// zero; later: offsets in device memory, a second level of offsets, an event
        reserved: [u64; 4],
    }

    /// A field in host memory. Dense: shape\[0\] is the samples, in C order and packed. Strided: the same,
    /// but sample i is at data + i * row_stride_bytes, itself in C order and packed; with less than a row,
    /// samples overlap, with 0 all are the same row, and a negative stride goes down from data. Ragged: data
    /// is packed, shape\[0\] its rows, offsets\[samples + 1\] as in dl_view.
    struct dl_array {
        struct_size: u32,
        kind: i32,
        name: *const c_char,
        dtype: i32,
        rank: i32,
        shape: *const i64,
        /// of one sample: "HWC"; NULL when unknown
        axes: *const c_char,
        data: *const c_void,
        /// strided: any number; else 0
        row_stride_bytes: i64,
        offsets: *const i64,
        /// ragged: entries in offsets minus one; dense: 0 or shape\[0\]
        sample_count: i64,
    }

    /// One field of one record, for a reader to fill. No struct_size: cells stand request->cell_bytes apart,
    /// so that later ones may be longer; take them with dl_reader_cell_at.
    struct dl_reader_cell {
        /// write at most capacity bytes here; 64-byte aligned
        data: *mut c_void,
        /// dense: the field's bytes; ragged: max_bytes_per_sample, or the field's own maximum if less
        capacity: i64,
        /// in: the field's bytes (dense) or 0; out, ragged: bytes of the record, whole items. More than
        /// capacity means that the sample is too large (DL_ERR_TOO_LARGE)
        bytes: i64,
        /// out: NULL: the bytes are at data. Else they are here, in memory of the host's that does not change
        /// while the dataset or anything made from it lives, or until request->release is called, if that is
        /// set. Rows are converted straight from it; any alignment
        borrowed: *const c_void,
        /// out: nonzero when this record is bad; any code of the host's
        status: i32,
        reserved32: i32,
        /// what the host writes here is ignored
        reserved: [u64; 3],
    }

    /// What one call of `read` is asked for. Valid during the call only, unlike the memory that `release`
    /// returns.
    struct dl_reader_request {
        struct_size: u32,
        /// 1 to 64
        record_count: i32,
        /// that of dl_reader
        field_count: i32,
        /// from one cell to the next
        cell_bytes: i32,
        /// \[record_count\]
        indices: *const i64,
        /// \[record_count\]: the place of each record in the epoch's order, for random draws (a sample that
        /// replaces a bad one has the slot of that one); -1 where the record is not read for a place in an
        /// epoch (dl_dataset_image_info; the upload of io=device)
        slots: *const i64,
        /// -1 where slots are
        epoch: i64,
        /// of the loader; 0 in dl_dataset_image_info
        seed: u64,
        /// becomes nonzero when nobody wants the records any more: the loader is being destroyed, or was
        /// cancelled. Read it atomically (relaxed). `read` may then return any nonzero value; the records do
        /// not count as bad. Valid until `read` returns
        cancelled: *const i32,
        /// record r, field f: dl_reader_cell_at(request, r, f)
        cells: *mut dl_reader_cell,
        /// why a record is bad: the text of record r begins at messages + r * message_bytes; zeroed. Of a
        /// call that fails, records without a text have that of record 0
        messages: *mut c_char,
        /// of one text with its NUL
        message_bytes: i64,
        /// out: called once, from the thread that called `read`, when no borrowed memory of this call is read
        /// any more; also when the call failed. Must not call Dataline. NULL: what is borrowed lives as long
        /// as the dataset.
        release: dl_release,
        /// out: for `release`
        release_context: *mut c_void,
        /// as in the cell
        reserved: [u64; 4],
    }

    /// Records from the host's own code. `read` is called from worker threads, concurrently; with
    /// num_workers=0 from the thread in dl_loader_next, with `prompt` from both. It returns 0, or another
    /// value (an errno, for example) when all records of the call are bad, but DL_READER_INTERRUPTED when the
    /// host wants its thread back: the records do not count as bad, the position stays, dl_loader_next
    /// returns DL_INTERRUPTED, and the next call reads the batch again. `fields` is the schema (name, kind,
    /// dtype, rank, shape without the batch dim, axes; of a ragged field, bytes is its maximum, 0 where that
    /// is not known). `destroy` (may be NULL) is called once, when `read` will not be called again and
    /// nothing borrowed is read any more.
    struct dl_reader {
        struct_size: u32,
        field_count: i32,
        /// read during the call only
        fields: *const dl_view,
        record_count: i64,
        context: *mut c_void,
        read: dl_reader_read,
        destroy: dl_release,
        /// text that is another one when the data is; NULL for none. Saved states compare it, and so does the
        /// option `cache`, which reuses samples as long as it and `files` stay the same
        fingerprint: *const c_char,
        /// Records that cost little together once one of them is read, such as those of a compressed group:
        /// block i ends before record block_ends\[i\], rising, the last one is record_count. shuffle=window
        /// takes these blocks as they are, whatever shuffle_block says, so that each is read within one
        /// stretch of an epoch. Copied. NULL, with 0: none
        block_count: i64,
        /// \[block_count\]
        block_ends: *const i64,
        /// so many blocks the reader can keep open; reading a record of one more costs as much as opening it
        /// again. 0: any number. shuffle=window opens fewer at a time: shuffle_blocks is at most a quarter of
        /// it, and at least 1
        held_blocks: i64,
        /// 1: a call takes as long as copying its records does, and now and then some milliseconds; it waits
        /// for nothing but this machine's storage. A consumer that waits for a batch then calls `read` too,
        /// in its own thread, as long as calls take tens of microseconds on average; its deadline may be late
        /// by one call. Workers take whole batches. 0: only workers call it
        prompt: i32,
        /// zero
        reserved: i32,
        /// Block `block` of block_ends is read soon: a hint, so that what costs, as inflating it, can be done
        /// while other threads read or the consumer computes. Called with shuffle=window, about once an epoch
        /// for each block, in the order in which they are opened, by threads that then call `read`,
        /// concurrently. It notes the number and returns at once: a batch waits for it. Not every block is
        /// told of, and after a seek some that were are not read. NULL: none
        advise: dl_reader_advise,
        /// The files that the records are read from, in order: paths of this machine, or of storages that the
        /// options know. Each must exist. The library notes them as they are now, so a file that is opened
        /// later may be another one. It compares them wherever it compares its own files: in saved states,
        /// for the option `cache`, in dl_dataset_identity. Copied. NULL, with 0: none
        file_count: i64,
        files: *const *const c_char,
        /// \[file_count\]: the record after the last one of each file, rising to record_count; NULL: a record
        /// may be in any file. With it a file that was changed makes only its own samples anew in a cache.
        /// Copied
        file_ends: *const i64,
    }

    /// Counters since create. delivered + skipped + dropped = the rank's slots of the epochs so far.
    struct dl_stats {
        struct_size: u32,
        /// in use; 0: the caller's thread
        num_workers: i32,
        /// delivered
        batches: i64,
        /// delivered, without pads
        samples: i64,
        /// delivered
        bytes: i64,
        /// bad samples left out
        skipped: i64,
        /// slots left out by last_batch=drop
        dropped: i64,
        /// rows added by last_batch=pad
        padded: i64,
        /// rows filled with a replacement sample
        replaced: i64,
        /// distinct bad samples seen
        bad: i64,
        /// consumers waited in next; 0 with num_workers=0
        wait_ns: i64,
        /// calls of next that had to wait
        waits: i64,
        /// CPU time of worker threads; 0 with num_workers=0
        worker_cpu_ns: i64,
        /// the slots; for rows without a fixed size, what was touched so far
        arena_bytes: i64,
        /// all host memory the loader holds now
        held_bytes: i64,
        /// the limit in force
        budget_bytes: i64,
        /// batches held by consumers now
        leases_held: i64,
        /// batches delivered as a fresh allocation, beyond the slots for leases
        lease_copies: i64,
        /// loaded and not yet delivered
        ready_batches: i64,
        /// page-locked; 0 where that was refused (logged once)
        pinned_bytes: i64,
        /// workers abandoned in a read of the host's that did not return
        threads_abandoned: i64,
        /// device memory the loader holds now
        device_bytes: i64,
        /// copied over the bus to the device
        copied_bytes: i64,
        /// images delivered although the decoder warned of damage (on_warning=accept)
        warned: i64,
        /// samples that were found in the cache (option cache)
        cache_read: i64,
        /// samples that were not, and were read and made; 0 without a cache
        cache_made: i64,
    }

    /// A bad sample found so far (on_error replace, quarantine or raise), in order of delivery.
    struct dl_bad_sample {
        struct_size: u32,
        code: dl_status,
        source: i64,
        index: i64,
        /// where it was first found
        epoch: i64,
        step: i64,
        slot: i64,
        /// the replacement sample, or -1: skipped
        replacement: i64,
        /// where the sample is stored (file, member or record), then what is wrong with it
        message: [c_char; 256],
    }

    /// What a batch is: its place in the job, and where its rows come from. The arrays live as long as the
    /// batch.
    struct dl_batch_info {
        struct_size: u32,
        reserved: u32,
        epoch: i64,
        step: i64,
        /// rows, pads included
        samples: i64,
        /// rows that are not pads
        valid: i64,
        /// \[samples\]: which dataset of a mix; 0
        sample_sources: *const i64,
        /// \[samples\]: index in it; for replaced samples, of the replacement
        sample_indices: *const i64,
    }

    /// How far an opening is. All numbers only grow; totals grow too, as more becomes known (files are listed
    /// before the first is opened), and are never less than what is done of them. The log's DL_LOG_PROGRESS
    /// lines are made of the same numbers.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_progress {
        struct_size: u32,
        /// dl_opening_wait would not wait
        done: i32,
        /// opened
        files: i64,
        /// that the URI stands for; 0: not known yet
        total_files: i64,
        /// read into memory (io=memory, .gz: as stored, then inflated) or searched
        bytes: i64,
        /// of those files that were begun; 0: only headers are read
        total_bytes: i64,
        /// found in folders, label files and tars
        entries: i64,
    }

    /// The header of an encoded image.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_image_info {
        struct_size: u32,
        /// DL_IMAGE_*
        format: i32,
        /// pixels, as stored: before any Exif orientation
        width: i64,
        height: i64,
        /// as stored: 1 grey or palette, 2 grey and alpha, 3, 4 (RGBA or CMYK)
        channels: i32,
        /// per channel
        bits: i32,
        /// Exif, 1 to 8; 1 when absent
        orientation: i32,
        /// or interlaced
        progressive: i32,
        /// encoded
        bytes: i64,
    }

    /// Where each stage of a sample runs, in order, field by field: on the host, as a copy over the bus, on
    /// the device. The bytes of all copies add up to the bus traffic of a sample.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_plan_stage {
        struct_size: u32,
        /// DL_DEVICE_CPU or DL_DEVICE_CUDA; for a copy, the destination
        device_type: i32,
        /// borrowed from the loader, like `text`
        field: *const c_char,
        /// "gather", "copy", operators as written ("normalize(mnist), chw"), or "with F": the field is part
        /// of the bytes of field F
        text: *const c_char,
        /// per sample; -1 when varying
        bytes_in: i64,
        bytes_out: i64,
    }

    /// - A row of the table. Names, by kind: counters and gauges the members of dl_stats next, between calls
    ///   of dl_loader_next that delivered a batch; the time from one to the next work a thread fills batches;
    ///   `part` is the stage: "order", "read" (finding records, waiting for storage), per field "image:
    ///   decode" and its other operators or "label: copy", "pack", "copy to device" wait a worker waits;
    ///   `part` is why: "no room" (prefetch_depth batches are ready, the consumer is slower), "no work"
    ///   (others load what is left), "parked" (there is no CPU for it), "device" (all slots are still read by
    ///   it) off_cpu of work, without a CPU: "no CPU" (others had them all), "storage" (and what else
    ///   blocks); 0 where the system does not tell device the device works for a batch, by its own clock:
    ///   "copy", "kernels"; known when the slot is used again
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_metric {
        struct_size: u32,
        /// DL_METRIC_*
        kind: i32,
        /// like the three below, borrowed from the dl_metrics
        name: *const c_char,
        /// "" where nothing is divided
        part: *const c_char,
        /// "ns", "bytes", "samples", ...
        unit: *const c_char,
        doc: *const c_char,
        /// a worker, from 0; DL_THREAD_ALL; DL_THREAD_CONSUMER
        thread: i32,
        reserved: u32,
        /// of a duration the sum
        value: i64,
        /// of a duration: how often; of what is timed only now and then an estimate, as the sum is
        count: i64,
        /// of a stage: what it read or made
        bytes: i64,
        /// of one time: half were at most this long, rounded up by an eighth at most
        p50_ns: i64,
        p99_ns: i64,
        max_ns: i64,
    }

    /// A call of dl_loader_next that took 10 ms or more; calls that end with DL_TIMEOUT count as one with the
    /// call that then delivers, without the time between them.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_stall {
        struct_size: u32,
        reserved: u32,
        /// of the batch that it delivered
        epoch: i64,
        step: i64,
        wait_ns: i64,
        /// what the workers spent that time with, as `part` of dl_metric; "leases": the consumer held
        /// max_leases batches. Borrowed from the dl_metrics
        cause: *const c_char,
    }

    /// Where a trace goes instead of a file.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_trace_sink {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        /// Takes the next piece of the text. 0, or an error number, which ends the trace. Called from any
        /// thread, one at a time; it must not call Dataline. Not after dl_loader_trace_stop or
        /// dl_loader_destroy has returned.
        write: dl_trace_sink_write,
    }

    /// What is in force, and what tuning makes of it.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_tuned {
        struct_size: u32,
        /// DL_TUNE_*
        mode: i32,
        /// that work now, perhaps only to be tried; 0: the caller's thread
        num_workers: i64,
        /// now
        prefetch_depth: i64,
        /// that memory is planned for
        most_workers: i64,
        most_depth: i64,
        /// the best so far; with DL_TUNE_WATCH what would be tried next
        wanted_workers: i64,
        wanted_depth: i64,
        /// of what is in force, so far
        changes: i64,
        /// 1: nothing is tried now
        frozen: i32,
        reserved: u32,
        /// consumed, in the last whole measurement; 0 before that, like wait_share
        batches_per_s: f64,
        /// of that time, the consumer waited; 0 to 1
        wait_share: f64,
        /// what it does, and why
        text: [c_char; 160],
    }

    /// A part of a mix. Either every part has a repeat, or none.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_mix_part {
        struct_size: u32,
        reserved: u32,
        /// in messages, states and statistics; NULL: its number. No two are equal
        name: *const c_char,
        /// keeps its own reference
        dataset: *const dl_dataset,
        /// relative to the others; 0: not drawn, until a stage says otherwise. A part goes through its own
        /// epochs
        weight: f64,
        /// each sample comes floor(repeat) times in an epoch; the fraction of them, drawn for each epoch,
        /// once more
        repeat: f64,
        /// of its samples, before the loader's; NULL: none
        transform: *const c_char,
    }

    /// Weights that hold from a step of the job on, which counts over all epochs.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_mix_stage {
        struct_size: u32,
        reserved: u32,
        /// at least 1; ascending from stage to stage
        step: i64,
        /// \[part_count\]
        weights: *const f64,
    }

    /// A part as its dataset or a loader describes it.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_part {
        struct_size: u32,
        reserved: u32,
        /// borrowed from the dataset or loader, like `uri` and `transform`
        name: *const c_char,
        /// of the dataset: as the recipe has it, or as its dataset was opened; of a loader: NULL
        uri: *const c_char,
        /// the part has
        samples: i64,
        /// of a loader: to this rank since create, without pads
        delivered: i64,
        /// of the dataset; 0: it has a weight
        repeat: f64,
        /// of a loader: how often the job has gone through the part by its position, over all ranks
        epochs: f64,
        /// of the samples drawn now; of the dataset: at the beginning of a job
        share_asked: f64,
        /// of a loader: of what was delivered
        share_got: f64,
        /// of the dataset: the part's own, "" for none; of a loader: NULL
        transform: *const c_char,
    }

    /// How far a writer is.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_writer_info {
        struct_size: u32,
        reserved: u32,
        /// appended, with those that were there at create
        samples: i64,
        /// that were there at create
        resumed_samples: i64,
        /// finished
        shards: i64,
        /// of them
        bytes: i64,
    }

    /// A key that a format takes in a URI.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_format_key {
        struct_size: u32,
        reserved: u32,
        name: *const c_char,
        /// the words it takes, "error\|ignore" (others are refused), or what it takes, "INTEGER"
        values: *const c_char,
        /// NULL: none
        default_value: *const c_char,
        doc: *const c_char,
    }

    /// What a format is asked to open.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_format_request {
        struct_size: u32,
        key_count: i32,
        /// one path of the URI; several are opened one by one, and concatenated
        path: *const c_char,
        /// \[key_count\], in the order of the table: as given, else the default; NULL: neither
        values: *const *const c_char,
        /// of the caller, for calls that `open` makes; never NULL
        options: *const dl_options,
        /// becomes nonzero when nobody wants the dataset any more: `open` may then return DL_CANCELLED. Read
        /// it atomically (relaxed), between files and in long loops. Never NULL
        cancelled: *const i32,
        /// `open` says how far it is, for dl_opening_progress and the log: `files` opened of the
        /// `total_files` that the path stands for, which both only grow. From the thread that `open` was
        /// called in
        report: dl_format_request_report,
    }

    /// A format: opened as `name:path?key=value`, or found by content or suffix where no format of the
    /// library claims the file with more certainty.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_format {
        struct_size: u32,
        key_count: i32,
        /// 2 to 32 of a-z 0-9 _, a letter first; those of keys and arguments may have 1
        name: *const c_char,
        doc: *const c_char,
        /// \[key_count\]; NULL for none
        keys: *const dl_format_key,
        /// Suffixes of file names, separated by spaces: ".wav .flac"; NULL for none. They ignore case. `open`
        /// receives the path of a directory as it is. It must read the files with these suffixes, and leave
        /// out hidden names (".x") and __MACOSX; the library adds a note (dl_dataset_note) about the other
        /// files.
        suffixes: *const c_char,
        context: *mut c_void,
        /// DL_SNIFF_*, from the first bytes of a file (up to 512) and its size. May be NULL.
        sniff: dl_format_sniff,
        /// Makes the dataset, by any of the calls that do: the library takes over the reference in *out.
        open: dl_format_open,
        destroy: dl_release,
    }

    /// An argument of one use of an operator.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_argument_value {
        struct_size: u32,
        /// by the user; else the default
        given: i32,
        /// as written, a text without its quotes; NULL: absent (the default is "none")
        text: *const c_char,
        /// of a number, a shape (3x32x32) or a list of numbers; NULL otherwise
        numbers: *const f64,
        number_count: i64,
    }

    /// One use of an operator in a transform.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_operator_use {
        struct_size: u32,
        argument_count: i32,
        /// in the order of the table; stepped through by struct_size
        arguments: *const dl_argument_value,
        /// the field before, of one sample, as in dl_dataset_fields
        input: *const dl_view,
        /// The field after. In: as before.
        ///
        /// DL_KIND_DENSE or DL_KIND_RAGGED
        kind: i32,
        dtype: i32,
        rank: i32,
        /// nonzero: rows depend on slot, epoch and seed too, not on the input alone
        draws: i32,
        /// ragged: the first dim is -1
        shape: [i64; 33],
        /// one letter per dim, or ""
        axes: [c_char; 40],
        /// ragged: of the largest sample; -1: the option max_bytes_per_sample
        max_bytes: i64,
        /// nonzero: a row takes 100 us or more, so that rows are shared out one by one
        heavy: i32,
        /// with an error: the argument that is wrong, so that error.column points there; else -1
        wrong_argument: i32,
        /// kept for `apply`, given to `forget` when the use is over
        state: *mut c_void,
        reserved: [u64; 4],
    }

    /// One row that an operator makes.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_operator_row {
        struct_size: u32,
        reserved32: u32,
        /// of the use; shared by all threads
        state: *mut c_void,
        /// any alignment
        input: *const c_void,
        input_bytes: i64,
        /// room for `capacity` bytes; not the input
        output: *mut c_void,
        capacity: i64,
        /// in: dense: the sample's bytes, else 0. Out: bytes written, whole items; more than capacity means
        /// that the sample is too large (DL_ERR_TOO_LARGE)
        bytes: i64,
        /// the row's place in the epoch's order
        slot: i64,
        epoch: i64,
        seed: u64,
        /// for dl_operator_random
        draw: [u64; 3],
        reserved: [u64; 4],
    }

    /// An operator of transforms: one field in, one field out, row by row.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_operator {
        struct_size: u32,
        argument_count: i32,
        /// as a format's
        name: *const c_char,
        doc: *const c_char,
        /// the reference definition it follows; NULL for none
        source: *const c_char,
        /// \[argument_count\]; by their places in this order, or by name
        arguments: *const dl_argument_info,
        context: *mut c_void,
        /// At create: checks arguments and input, and says what comes out.
        prepare: dl_operator_prepare,
        /// an error is a bad sample
        apply: dl_operator_apply,
        /// may be NULL
        forget: dl_operator_forget,
        destroy: dl_release,
    }

    /// An object that a storage opens.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_storage_object {
        struct_size: u32,
        reserved32: u32,
        /// whole, with its scheme
        path: *const c_char,
        /// becomes nonzero (read it atomically) when the open is cancelled; never NULL
        cancelled: *const i32,
        /// of the caller: a storage that wraps another opens that with dl_file_open; never NULL
        options: *const dl_options,
        /// out: for `read` and `close`
        object: *mut c_void,
        /// out
        bytes: i64,
        /// out: text that is another one when the object has other bytes, such as a version or an ETag; read
        /// before any other call for the object. NULL: nobody can tell when it changes, so the option `cache`
        /// and a conversion that resumes refuse it
        fingerprint: *const c_char,
        reserved: [u64; 3],
    }

    /// Bytes that a storage is asked for.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_storage_read {
        struct_size: u32,
        reserved32: u32,
        object: *mut c_void,
        offset: i64,
        /// within the object; all of them are wanted
        bytes: i64,
        out: *mut c_void,
        /// becomes nonzero (read it atomically) when nobody wants the bytes any more: the loader that reads
        /// is being destroyed, or was cancelled; outside of a loader, when the token of the options is
        /// cancelled. `read` may then return DL_CANCELLED; the samples do not count as bad. Valid until
        /// `read` returns; never NULL
        cancelled: *const i32,
        reserved: [u64; 4],
    }

    /// A storage: where the bytes of paths that begin with `scheme://` are. Formats read them as they read
    /// files by pread; only formats that need a directory (folder, mnist, cifar10, cifar100) refuse them.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_storage {
        struct_size: u32,
        reserved: u32,
        /// as a format's name, also with +
        scheme: *const c_char,
        doc: *const c_char,
        context: *mut c_void,
        open: dl_storage_open,
        read: dl_storage_read_function,
        /// may be NULL
        close: dl_storage_close,
        destroy: dl_release,
    }

    /// The workers' threads.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_threads {
        struct_size: u32,
        reserved: u32,
        context: *mut c_void,
        /// On each worker, first and last (to name, pin or register it). `worker` counts from 0. May be NULL.
        start: dl_threads_start,
        end: dl_threads_end,
        /// NULL: the library starts threads. Else called in dl_loader_create: arranges that main(argument)
        /// runs once, soon, on a thread of the host's that may be used until it returns, which is when the
        /// loader is destroyed; 0, or an error number (DL_ERR_THREAD). It needs 128 KiB of stack, besides
        /// what readers and operators of the host's take. Signals are the host's business then. Workers that
        /// have not begun load nothing; dl_loader_destroy does not wait for them, and main(argument) may then
        /// still be called, and returns at once; it frees what it was given, so never calling it leaks a few
        /// bytes.
        run: dl_threads_run,
        destroy: dl_release,
    }

    /// What a plug-in gets: a shared library that exports the function `dl_status
    /// dl_plugin_register(dl_plugin* plugin, dl_error* error)`, which sets plugin->built_for and adds what it
    /// has to plugin->extensions. It may link with this library, or call it through plugin->find(name) alone,
    /// which also works where the host has the library linked statically.
    ///
    /// Unstable: may change, or go, in a minor release.
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

    /// A format, as dl_format_at shows it.
    ///
    /// Unstable: may change, or go, in a minor release.
    struct dl_format_info {
        struct_size: u32,
        key_count: i32,
        name: *const c_char,
        doc: *const c_char,
    }
}
