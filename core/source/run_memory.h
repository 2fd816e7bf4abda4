// A run's arrays, and what the host lent for its rows.
// Threads: one thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/source/host/host.h"
#include "core/source/source.h"

namespace dataline {

// A run of at most `records` records, and the memory that it needs to find them. What the host lent for the rows goes back
// at the end, or earlier by ReturnLoans.
struct RunMemory {
  // `scratch`: as Run::scratch.
  RunMemory(const Source& source, int64_t records, std::byte* scratch)
      : columns_(source.schema().columns.size()),
        data_(columns_.size() * static_cast<size_t>(records)),
        bytes_(data_.size()) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      const size_t first = c * static_cast<size_t>(records);
      columns_[c] = {data_.data() + first, bytes_.data() + first, false};
    }
    run.columns = columns_.data();
    run.errors = &errors;
    run.scratch = scratch;
    run.call = &call;
  }
  void locate(const Source& source) {
    errors.clear();
    source.locate(run);
    if (!errors.empty()) shorten_places(source, run);
  }

  Run run;
  RowErrors errors;
  HostLoans loans;
  HostCall call{loans};

 private:
  std::vector<Run::ColumnRows> columns_;
  std::vector<const std::byte*> data_;
  std::vector<int64_t> bytes_;
};

}  // namespace dataline
