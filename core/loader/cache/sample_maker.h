// Makes what a cache keeps of a record: reads it, and runs the operators before the cut of each field.
//
// A kept sample: the bytes of each field as u64, then the fields, each from a multiple of 64 on; zeros between them.
//
// Threads: make() by as many at once as there are states, which are made at create; the rest is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/base/thread_mutex.h"
#include "core/loader/cache/cut.h"
#include "core/memory/host_memory.h"
#include "core/source/source.h"

namespace dataline {

struct MadeSample {
  int64_t bytes = 0;
  bool whole = true;  // false: an image is in it as it is stored, and it is not to be kept
};

class SampleMaker {
 public:
  // `source` has a column for each field; `quality`: of JPEG files.
  SampleMaker(SourceRef source, std::vector<CutField> fields, int64_t max_bytes_per_sample, int quality);
  ~SampleMaker();
  Status add_states(int64_t count, HostMemory& memory);
  int64_t state_bytes() const;  // of one, in all
  bool heavy() const;

  const std::vector<CutField>& fields() const { return fields_; }
  int64_t sample_bytes() const { return sample_bytes_; }  // of the largest
  // Whether these bytes are a sample as make() makes them.
  bool is_sample(const std::byte* sample, int64_t bytes) const;
  // Points row `row` of the columns into a sample.
  void point(const std::byte* sample, Run& run, int64_t row) const;

  // Of record run.indices[row], into sample_bytes() at `out`. `as_stored`: images that are only decoded stay as they are.
  // The record's error, of a program with its place; kTooLarge names max_bytes_per_sample. A file that changed meanwhile is an
  // error whatever was made of it.
  Result<MadeSample> make(const Run& run, int64_t row, bool as_stored, std::byte* out) const
      DL_EXCLUDES(mutex_);

 private:
  struct State;

  int64_t head_bytes() const;
  std::unique_ptr<State> take_state() const DL_EXCLUDES(mutex_);
  void give_back(std::unique_ptr<State> state) const DL_EXCLUDES(mutex_);
  Result<MadeSample> make_fields(bool as_stored, std::byte* out, State& state) const;
  Result<int64_t> run_program(size_t field, std::byte* to, State& state) const;
  Result<int64_t> write_file(size_t field, const RowExtent& size, std::byte* to, State& state) const;
  Result<int64_t> copy_stored(size_t field, std::byte* to, const State& state) const;
  Status changed(const Run& run, State& state) const;

  const SourceRef source_;
  const std::vector<CutField> fields_;
  const int64_t max_bytes_per_sample_;
  const int quality_;
  std::vector<int64_t> rooms_;  // of each field
  int64_t sample_bytes_ = 0, frame_bytes_ = 0;
  mutable ThreadMutex mutex_;
  mutable std::vector<std::unique_ptr<State>> states_ DL_GUARDED_BY(mutex_);  // that nobody uses now
};

}  // namespace dataline
