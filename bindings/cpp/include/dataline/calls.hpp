// Calls of Dataset, Loader and others that are one call of dataline.h: f() throws, try_f() returns a Result.
// Generated from capi/api.json by capi/api/generate.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/filled.hpp>

#include <cstdint>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {
namespace detail {

// Simple calls of Dataset.
template <typename Self>
class DatasetCalls {
 public:
  // The parts of a mix; none for other datasets. dl_part documents the members. Texts borrow from this
  // object.
  Result<std::vector<dl_part>> try_parts() const {
    return listed<dl_part>(dl_dataset_part_count, dl_dataset_part_at, handle());
  }
  std::vector<dl_part> parts() const { return try_parts().value(); }

 private:
  dl_dataset* handle() const noexcept { return static_cast<const Self*>(this)->get(); }
};

// Simple calls of Loader.
template <typename Self>
class LoaderCalls {
 public:
  // Counters since the loader was created. delivered + skipped + dropped = the number of slots of this rank
  // in the epochs so far. dl_stats documents the members.
  Result<dl_stats> try_stats() const { return filled<dl_stats>(dl_loader_stats, handle()); }
  dl_stats stats() const { return try_stats().value(); }

  // The bad samples found so far. dl_bad_sample documents the members.
  Result<std::vector<dl_bad_sample>> try_bad_samples() const {
    return listed<dl_bad_sample>(dl_loader_bad_sample_count, dl_loader_bad_sample_at, handle());
  }
  std::vector<dl_bad_sample> bad_samples() const { return try_bad_samples().value(); }

  // Sets the number of active workers: 1 to dl_tuned.most_workers. Other workers finish the rows that they
  // are loading and then sleep. This ends tuning. Never blocks for long. Errors: DL_ERR_OUT_OF_RANGE,
  // DL_ERR_WRONG_STATE (created with num_workers=0), DL_ERR_FORKED.
  Result<void> try_set_workers(int64_t count) { return called(dl_loader_set_workers, handle(), count); }
  void set_workers(int64_t count) { try_set_workers(count).value(); }

  // The workers and the depth in use, and what tuning does or would do. dl_tuned documents the members.
  Result<dl_tuned> try_tuned() const { return filled<dl_tuned>(dl_loader_tuned, handle()); }
  dl_tuned tuned() const { return try_tuned().value(); }

  // The parts of the mix that a loader delivers; none for other datasets. dl_part documents the members.
  // Texts borrow from this object.
  Result<std::vector<dl_part>> try_parts() const {
    return listed<dl_part>(dl_loader_part_count, dl_loader_part_at, handle());
  }
  std::vector<dl_part> parts() const { return try_parts().value(); }

 private:
  dl_loader* handle() const noexcept { return static_cast<const Self*>(this)->get(); }
};

// Simple calls of Opening.
template <typename Self>
class OpeningCalls {
 public:
  // The progress of an opening. All numbers only grow. The library lists files before it opens the first one,
  // so totals grow as well, but a total is never less than the part that is done. Log lines with
  // DL_LOG_PROGRESS contain the same numbers. Never blocks. dl_progress documents the members.
  Result<dl_progress> try_progress() const { return filled<dl_progress>(dl_opening_progress, handle()); }
  dl_progress progress() const { return try_progress().value(); }

 private:
  dl_opening* handle() const noexcept { return static_cast<const Self*>(this)->get(); }
};

// Simple calls of Metrics.
template <typename Self>
class MetricsCalls {
 public:
  // The stalls that are kept: the last 64. dl_stall documents the members. Texts borrow from this object.
  Result<std::vector<dl_stall>> try_stalls() const {
    return listed<dl_stall>(dl_metrics_stall_count, dl_metrics_stall_at, handle());
  }
  std::vector<dl_stall> stalls() const { return try_stalls().value(); }

 private:
  dl_metrics* handle() const noexcept { return static_cast<const Self*>(this)->get(); }
};

// Simple calls of Writer.
template <typename Self>
class WriterCalls {
 public:
  // Ends the last shard and renames the set to PATH. Nothing can be appended afterwards. Errors: DL_ERR_EMPTY
  // (no rows), DL_ERR_WRONG_STATE (already finished), and errors of files.
  Result<void> try_finish() { return called(dl_writer_finish, handle()); }
  void finish() { try_finish().value(); }

  // The progress of a writer. dl_writer_info documents the members. Errors: DL_ERR_INVALID_ARGUMENT.
  Result<dl_writer_info> try_info() const { return filled<dl_writer_info>(dl_writer_get_info, handle()); }
  dl_writer_info info() const { return try_info().value(); }

 private:
  dl_writer* handle() const noexcept { return static_cast<const Self*>(this)->get(); }
};

}  // namespace detail
}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
