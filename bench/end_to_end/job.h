// Dataline as a program uses it: owning handles over dataline.h, and the consumer's loop.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/end_to_end/measure.h"
#include "capi/dataline.h"

namespace bench {

// Key and value, as dl_options_set takes them.
using OptionList = std::vector<std::pair<std::string, std::string>>;

// As dl_dataset_open, of what it likes.
using DatasetMaker = std::function<dl_status(const dl_options*, dl_dataset**, dl_error*)>;

// A dataset and one loader on it. Any error ends the program with its message.
class Job {
 public:
  Job(const DatasetMaker& make, const OptionList& options);
  // `plugin`: the path of one that the URI needs; empty: none.
  Job(const std::string& uri, const OptionList& options, const dl_allocator* allocator = nullptr,
      const std::string& plugin = "");
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  dl_dataset* dataset() const { return dataset_; }
  dl_loader* loader() const { return loader_; }
  int64_t batches_per_epoch() const { return dl_loader_steps(loader_); }
  // The next batch, past epoch ends; the caller releases it.
  dl_batch* next();
  // Samples of one whole epoch in delivery order, after checking with `same` that each row holds that sample.
  // `same(views, row, sample)`. Leaves the loader at the start of the next epoch.
  std::vector<uint32_t> checked_epoch(const std::function<bool(const dl_view*, int64_t, int64_t)>& same);

 private:
  dl_options* options_ = nullptr;
  dl_dataset* dataset_ = nullptr;
  dl_loader* loader_ = nullptr;
};

int64_t batch_rows(const dl_batch* batch);
int64_t batch_bytes(const dl_batch* batch);  // of all fields

// Takes and releases so many batches.
void skip(Job& job, int64_t batches);

// Takes and releases batches until the time is up; reads the clock every `batches_per_look`.
Throughput consume(Job& job, double seconds, int64_t batches_per_look = 1);

// The same with a consumer that computes on each batch for `compute_ns`; its time in next and release is
// wait_ns.
Throughput consume_computing(Job& job, double seconds, int64_t compute_ns);

// The first byte of row `row` of a view.
inline const std::byte* row_data(const dl_view& view, int64_t row) {
  return static_cast<const std::byte*>(view.data) + view.byte_offset +
         row * view.strides[0] * dl_dtype_bytes(view.dtype);
}

}  // namespace bench
