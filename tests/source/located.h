// Single runs of a source, asked for exactly as a test says; and what tests of files that shrink need.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/thread.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"
#include "tests/source/source_support.h"
#include "tests/support/in_child.h"

namespace dataline {

constexpr IoMode kIoModes[] = {IoMode::kMmap, IoMode::kPread, IoMode::kMemory};

inline OpenContext context_for(IoMode io) { return test_context(io); }

// Bytes that differ from their neighbours.
inline std::string pattern_bytes(int64_t count) {
  std::string out(static_cast<size_t>(count), '\0');
  uint32_t state = 1;
  for (char& c : out) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>(state >> 24);
  }
  return out;
}

struct LocateOptions {
  bool contiguous = false;
  bool cold = false;
  int64_t opened_ns = 0;
};

// One run: its pointers live as long as this object.
class Located {
 public:
  Located(const Source& source, std::vector<int64_t> indices, LocateOptions options = {})
      : source_(source), indices_(std::move(indices)) {
    size_t count = indices_.size(), column_count = source.schema().columns.size();
    // A guard of one record shows writes past the end of the scratch.
    auto scratch_bytes = static_cast<size_t>(source.scratch_bytes(0));
    scratch_.assign((count + 1) * scratch_bytes + 64 + kGuardBytes, std::byte{0xee});
    auto address = reinterpret_cast<uintptr_t>(scratch_.data());
    std::byte* scratch = scratch_.data() + (64 - address % 64) % 64;
    data_.assign(column_count, std::vector<const std::byte*>(count, nullptr));
    bytes_.assign(column_count, std::vector<int64_t>(count, -1));
    for (size_t c = 0; c < column_count; ++c) columns_.push_back({data_[c].data(), bytes_[c].data(), false});
    Run run;
    run.count = static_cast<int64_t>(count);
    run.indices = indices_.data();
    run.contiguous = options.contiguous;
    run.cold = options.cold;
    run.opened_ns = options.opened_ns;
    run.scratch = scratch;
    run.columns = columns_.data();
    run.errors = &errors_;
    source.locate(run);
    for (size_t i = 0; i < kGuardBytes; ++i) EXPECT_EQ(scratch[count * scratch_bytes + i], std::byte{0xee});
    for (size_t c = 0; c < column_count; ++c) check_contiguous(c);
  }

  const RowErrors& errors() const { return errors_; }
  bool contiguous(size_t column) const { return columns_[column].contiguous; }
  const std::byte* data(size_t column, size_t row) const { return data_[column][row]; }

  // A row of a field; "(failed)" where it has none.
  std::string field(size_t field, size_t row) const {
    const FieldPlace& place = source_.schema().places[field];
    const std::byte* data = data_[static_cast<size_t>(place.column)][row];
    if (data == nullptr) return "(failed)";
    auto bytes = static_cast<size_t>(source_.schema().fields[field].bytes());
    return std::string(reinterpret_cast<const char*>(data) + place.offset, bytes);
  }

 private:
  static constexpr size_t kGuardBytes = 64;

  void check_contiguous(size_t c) const {
    if (!columns_[c].contiguous) return;
    int64_t row_bytes = source_.schema().columns[c].row_bytes;
    for (size_t i = 0; i + 1 < indices_.size(); ++i) EXPECT_EQ(data_[c][i + 1], data_[c][i] + row_bytes);
    for (const std::byte* data : data_[c]) EXPECT_NE(data, nullptr);
  }

  const Source& source_;
  std::vector<int64_t> indices_;
  std::vector<std::byte> scratch_;
  std::vector<std::vector<const std::byte*>> data_;
  std::vector<std::vector<int64_t>> bytes_;
  std::vector<Run::ColumnRows> columns_;
  RowErrors errors_;
};

// All of a field's samples, one after another: in order and in full runs, and again in an order that is not
// contiguous, which must give the same.
inline std::string all_samples(const Source& source, size_t field = 0) {
  int64_t count = source.count();
  std::string in_order, scattered(static_cast<size_t>(count * source.schema().fields[field].bytes()), '\0');
  for (int64_t first = 0; first < count; first += kMaxRunRecords) {
    std::vector<int64_t> indices(static_cast<size_t>(std::min(kMaxRunRecords, count - first)));
    std::iota(indices.begin(), indices.end(), first);
    Located run(source, indices, {.contiguous = true});
    for (size_t i = 0; i < indices.size(); ++i) in_order += run.field(field, i);
    std::reverse(indices.begin(), indices.end());
    for (bool cold : {false, true}) {
      Located backwards(source, indices, {.cold = cold});
      for (size_t i = 0; i < indices.size(); ++i) {
        std::string row = backwards.field(field, i);
        std::memcpy(scattered.data() + static_cast<size_t>(indices[i]) * row.size(), row.data(), row.size());
      }
      EXPECT_TRUE(backwards.errors().empty());
    }
    EXPECT_TRUE(run.errors().empty());
  }
  EXPECT_TRUE(in_order == scattered) << "runs of neighbours and other runs differ";
  return in_order;
}

}  // namespace dataline
