// The record batches of an Arrow file, as a table of numbers: of each its first row and its slots (columns.h).
//
// Every offset and length is compared with the message's body, the file and the number of rows before it becomes a slot, so
// that finding a row of a batch is arithmetic. What lies inside buffers (offsets of lists, indices of dictionaries) is
// checked when it is read.
// Threads: immutable once read.
// Memory: 8 bytes a batch, and 8 for each buffer of a batch that is used.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/memory/mapped_file.h"
#include "core/source/arrow/columns.h"
#include "core/source/arrow/messages.h"

namespace dataline {

constexpr std::string_view kArrowMemory = "Arrow data";  // what messages call a table in memory

class ArrowBatches {
 public:
  ArrowBatches(std::shared_ptr<HostMemory> memory, int32_t slots)
      : memory_(std::make_unique<MetadataResource>(std::move(memory), MemoryKind::kTable)),
        starts_(memory_.get()),
        slots_(memory_.get()),
        width_(static_cast<size_t>(slots)) {
    starts_.push_back(0);
  }

  // std::bad_alloc. The sum of all rows does not overflow: the caller has compared it.
  void add(int64_t rows, std::span<const int64_t> slots) {
    starts_.push_back(rows_ += rows);
    slots_.insert(slots_.end(), slots.begin(), slots.end());
    if (first_rows_ == 0) first_rows_ = rows;
  }

  int64_t rows() const { return rows_; }
  int64_t count() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t start(int64_t batch) const { return starts_[static_cast<size_t>(batch)]; }
  int64_t rows_of(int64_t batch) const { return start(batch + 1) - start(batch); }
  const int64_t* slots(int64_t batch) const { return slots_.data() + static_cast<size_t>(batch) * width_; }

  // The batch of a row. Most files have batches of one length: there the first guess is right.
  int64_t batch_of(int64_t row) const {
    const int64_t guess = row / first_rows_;
    if (guess < count() && start(guess) <= row && row < start(guess + 1)) return guess;
    return std::upper_bound(starts_.begin(), starts_.end(), row) - starts_.begin() - 1;
  }

 private:
  std::unique_ptr<MetadataResource> memory_;
  std::pmr::vector<int64_t> starts_;  // [count + 1]
  std::pmr::vector<int64_t> slots_;   // [count * width]
  size_t width_;
  int64_t rows_ = 0, first_rows_ = 0;  // first_rows_: of the first batch that has any
};

struct ArrowTables {
  ArrowBatches batches;
  std::vector<ArrowBatches>
      dictionaries;            // of ArrowPlan::dictionaries: their batches in the order of the file
  std::vector<int64_t> nulls;  // by slot of ArrowPlan::batch: how many its bitmaps say
  bool value_nulls = false;    // some value of a dictionary is null
  bool end_mark = true;
  int64_t left_out = 0;                 // bytes at the end of a file that was cut
  std::vector<Block> view_tables = {};  // of ArrowViewBuffer
  // Of a file with compressed buffers: what the slots speak of instead.
  std::optional<MappedFile> inflated = {};
  std::string codecs = {};  // what they were compressed with

  // Those that have the values of a column.
  const ArrowBatches& of(const ArrowColumn& column) const {
    return column.dictionary < 0 ? batches : dictionaries[static_cast<size_t>(column.dictionary)];
  }
};

// Reads all messages: of the footer, or of a stream that lie in `rest`, behind its schema. With compressed buffers all that is used is put
// into memory. kTruncated, kCorrupt, kUnsupported (tensors, unknown codecs), kTooLarge, kOverBudget, kCancelled; std::bad_alloc.
Result<ArrowTables> read_arrow_file(const MappedFile& file, const ArrowPlan& plan, const ArrowFooter& footer,
                                    const OpenContext& context);
// `cut`: a message that is cut is the end, and so is what lies behind the end mark: a footer.
Result<ArrowTables> read_arrow_stream(const MappedFile& file, const ArrowPlan& plan, FileExtent rest,
                                      bool cut, const OpenContext& context);

// Room for a table of so many, kept in `tables`; null for none.
Result<ArrowViewBuffer*> add_view_table(int64_t count, HostMemory& memory, ArrowTables& tables);

// The most units (columns.h) that a row of a ragged column has, by its offsets: 4 or 8 bytes a row are read. Of more than 16 million
// rows: what no row can exceed, the values of a batch together. kTruncated, kIo, kCancelled.
// A null file: the slots are addresses in memory.
Result<int64_t> longest_arrow_row(const MappedFile* file, const ArrowBatches& batches,
                                  const ArrowValues& values, const OpenContext& context);

}  // namespace dataline
