//! What methods return, with what the header states of each member.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::Code;
use std::time::Duration;

choices! {
    /// The value of the option `tune`.
    Tune {
        /// Workers and depth do not change.
        #[default]
        Off = DL_TUNE_OFF,
        /// Reports what it would try, and changes nothing.
        Watch = DL_TUNE_WATCH,
        /// Changes workers and depth.
        On = DL_TUNE_ON,
    }
}

values! {
    /// Counters since the loader was created. delivered + skipped + dropped = the number of slots of this
    /// rank in the epochs so far.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    Stats from dl_stats {
        /// Workers in use; 0: the caller's thread.
        num_workers: i32 = num_workers,
        /// Batches delivered.
        batches: i64 = batches,
        /// Samples delivered, without pads.
        samples: i64 = samples,
        /// Bytes delivered.
        bytes: i64 = bytes,
        /// Bad samples that were skipped.
        skipped: i64 = skipped,
        /// Slots dropped by `last_batch=drop`.
        dropped: i64 = dropped,
        /// Rows added by `last_batch=pad`.
        padded: i64 = padded,
        /// Rows filled with a replacement sample.
        replaced: i64 = replaced,
        /// Distinct bad samples seen.
        bad: i64 = bad,
        /// Time that consumers waited in [`Loader::next`](crate::Loader::next); 0 with `num_workers=0`.
        wait: Duration = wait_ns,
        /// Calls of [`Loader::next`](crate::Loader::next) that had to wait.
        waits: i64 = waits,
        /// CPU time of worker threads; 0 with `num_workers=0`.
        worker_cpu: Duration = worker_cpu_ns,
        /// Size of the slots; for rows without a fixed size, the part touched so far.
        arena_bytes: i64 = arena_bytes,
        /// All host memory that the loader holds now.
        held_bytes: i64 = held_bytes,
        /// The memory limit in force.
        budget_bytes: i64 = budget_bytes,
        /// Batches held by consumers now.
        leases_held: i64 = leases_held,
        /// Batches delivered as a new allocation, beyond the slots for leases.
        lease_copies: i64 = lease_copies,
        /// Batches loaded, not yet delivered.
        ready_batches: i64 = ready_batches,
        /// Page-locked memory; 0 if the system refused it (logged once).
        pinned_bytes: i64 = pinned_bytes,
        /// Workers abandoned in a host callback that did not return.
        threads_abandoned: i64 = threads_abandoned,
        /// Device memory that the loader holds now.
        device_bytes: i64 = device_bytes,
        /// Bytes copied over the bus to the device.
        copied_bytes: i64 = copied_bytes,
        /// Images delivered although the decoder warned of damage (`on_warning=accept`).
        warned: i64 = warned,
        /// Samples that the cache provided (option cache).
        cache_read: i64 = cache_read,
        /// Samples that had to be processed; 0 without a cache.
        cache_made: i64 = cache_made,
    }
}

values! {
    /// A bad sample that the loader found (`on_error` replace, quarantine or raise). Bad samples are in order
    /// of delivery.
    #[derive(Clone, Debug, PartialEq, Eq)]
    BadSample from dl_bad_sample {
        /// The kind of error.
        code: Code = code,
        /// The part of a mix that it belongs to; 0 without a mix.
        source: i64 = source,
        /// Its index in that dataset.
        index: i64 = index,
        /// The epoch where it was found first.
        epoch: i64 = epoch,
        /// The step where it was found first.
        step: i64 = step,
        /// The slot where it was found first.
        slot: i64 = slot,
        /// The replacement sample; `None`: skipped.
        replacement: Option<i64> = replacement,
        /// Where the sample is stored (file, member or record), then what is wrong.
        message: String = message,
    }
}

values! {
    /// The progress of an opening. All numbers only grow. The library lists files before it opens the first
    /// one, so totals grow as well, but a total is never less than the part that is done. Log lines with
    /// `DL_LOG_PROGRESS` contain the same numbers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    Progress from dl_progress {
        /// [`Opening::wait`](crate::Opening::wait) would not wait.
        done: bool = done,
        /// Files opened so far.
        files: i64 = files,
        /// Files of the URI; 0: not known yet.
        total_files: i64 = total_files,
        /// Bytes read into memory (`io=memory`, .gz: as stored, then decompressed) or searched.
        bytes: i64 = bytes,
        /// Size of the files that were started; 0: only headers are read.
        total_bytes: i64 = total_bytes,
        /// Entries found in folders, label files and tars.
        entries: i64 = entries,
    }
}

values! {
    /// A call of [`Loader::next`](crate::Loader::next) that took 10 ms or more. If calls end with
    /// `DL_TIMEOUT` or [`Code::Interrupted`](crate::Code::Interrupted), their time is added to the next call
    /// that delivers a batch. The time between the calls does not count.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    Stall from dl_stall {
        /// Epoch of the batch that was delivered.
        epoch: i64 = epoch,
        /// Step of that batch.
        step: i64 = step,
        /// Duration of the call.
        wait: Duration = wait_ns,
        /// What the workers spent that time on, as `dl_metric.part`; "leases": the consumer held `max_leases`
        /// batches.
        cause: String = cause,
    }
}

values! {
    /// The workers and the depth in use, and what tuning does or would do.
    #[derive(Clone, Debug, Default, PartialEq)]
    Tuned from dl_tuned {
        /// The option `tune`.
        mode: Tune = mode,
        /// Active workers, perhaps only as a trial; 0: the caller's thread.
        num_workers: i64 = num_workers,
        /// The depth in use.
        prefetch_depth: i64 = prefetch_depth,
        /// Memory is planned for this many workers.
        most_workers: i64 = most_workers,
        /// Memory is planned for this depth.
        most_depth: i64 = most_depth,
        /// The best number so far; with [`Tune::Watch`](crate::Tune::Watch), the number to try next.
        wanted_workers: i64 = wanted_workers,
        /// The best depth so far; with [`Tune::Watch`](crate::Tune::Watch), the depth to try next.
        wanted_depth: i64 = wanted_depth,
        /// How often the setting changed so far.
        changes: i64 = changes,
        /// Nothing is tried now.
        frozen: bool = frozen,
        /// Batches consumed per second, in the last complete measurement. Before that 0, as is `wait_share`.
        batches_per_s: f64 = batches_per_s,
        /// Share of that time in which the consumer waited, 0 to 1.
        wait_share: f64 = wait_share,
        /// What tuning does, and why.
        text: String = text,
    }
}

values! {
    /// A part of a mix, as its dataset or a loader describes it.
    #[derive(Clone, Debug, Default, PartialEq)]
    PartInfo from dl_part {
        /// Name in the mix.
        name: String = name,
        /// Dataset: as in the recipe, or as its dataset was opened.
        uri: String = uri,
        /// The sample count of the part.
        samples: i64 = samples,
        /// Loader: samples delivered to this rank since create, without pads.
        delivered: i64 = delivered,
        /// Dataset: its repeat; 0: it has a weight.
        repeat: f64 = repeat,
        /// Loader: how many passes over the part the job has made at its position, over all ranks.
        epochs: f64 = epochs,
        /// The requested share of the samples drawn now; dataset: at the start of a job.
        share_asked: f64 = share_asked,
        /// Loader: the share of what was delivered.
        share_got: f64 = share_got,
        /// Dataset: the part's own transform, "" for none.
        transform: String = transform,
    }
}

values! {
    /// The progress of a writer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    WriterInfo from dl_writer_info {
        /// Samples appended, including those present at create.
        samples: i64 = samples,
        /// Samples present at create.
        resumed_samples: i64 = resumed_samples,
        /// Finished shards.
        shards: i64 = shards,
        /// Size of the finished shards.
        bytes: i64 = bytes,
    }
}
