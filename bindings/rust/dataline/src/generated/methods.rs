//! The methods that are one call of the library.
//!
//! Generated from capi/api.json by capi/api/generate.py; do not edit.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{BadSample, Dataset, Loader, Metrics, PartInfo, Stall, Stats, Tuned, Writer, WriterInfo};

methods! {
    Dataset<'_> {
        /// The parts of a mix; none for other datasets.
        ///
        /// # Errors
        /// None now; later libraries may return some.
        list parts: PartInfo = dl_dataset_part_count, dl_dataset_part_at;
    }
}

methods! {
    Loader<'_> {
        /// Counters since the loader was created. delivered + skipped + dropped = the number of slots of this
        /// rank in the epochs so far.
        ///
        /// # Errors
        /// [`Code::Forked`](crate::Code::Forked).
        record stats: Stats = dl_loader_stats;
        /// The bad samples found so far.
        ///
        /// # Errors
        /// [`Code::Forked`](crate::Code::Forked).
        list bad_samples: BadSample = dl_loader_bad_sample_count, dl_loader_bad_sample_at;
        /// Sets the number of active workers: 1 to [`Tuned::most_workers`](crate::Tuned::most_workers). Other
        /// workers finish the rows that they are loading and then sleep. This ends tuning. Never blocks for
        /// long.
        ///
        /// # Errors
        /// [`Code::OutOfRange`](crate::Code::OutOfRange), [`Code::WrongState`](crate::Code::WrongState)
        /// (created with `num_workers=0`), [`Code::Forked`](crate::Code::Forked).
        set set_workers(count: i64) = dl_loader_set_workers;
        /// The workers and the depth in use, and what tuning does or would do.
        ///
        /// # Errors
        /// [`Code::Forked`](crate::Code::Forked).
        record tuned: Tuned = dl_loader_tuned;
        /// The parts of the mix that a loader delivers; none for other datasets.
        ///
        /// # Errors
        /// [`Code::Forked`](crate::Code::Forked).
        list parts: PartInfo = dl_loader_part_count, dl_loader_part_at;
    }
}

methods! {
    Metrics {
        /// The stalls that are kept: the last 64.
        ///
        /// # Errors
        /// [`Code::Forked`](crate::Code::Forked).
        list stalls: Stall = dl_metrics_stall_count, dl_metrics_stall_at;
    }
}

methods! {
    Writer {
        /// Ends the last shard and renames the set to PATH. Nothing can be appended afterwards.
        ///
        /// # Errors
        /// [`Code::Empty`](crate::Code::Empty) (no rows), [`Code::WrongState`](crate::Code::WrongState)
        /// (already finished), and errors of files.
        set finish() = dl_writer_finish;
        /// The progress of a writer.
        ///
        /// # Errors
        /// [`Code::InvalidArgument`](crate::Code::InvalidArgument).
        record info: WriterInfo = dl_writer_get_info;
    }
}
