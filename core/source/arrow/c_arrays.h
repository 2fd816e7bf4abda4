// The record batches of a table in the host's memory, as a table of numbers: what batches.h has of files.
//
// The interface does not say how long a buffer is: lengths, offsets and null counts are checked against each other, and what
// buffers hold when it is read; that they are as long as the lengths need, the host answers for, as with any pointer.
// Threads: one at a time.
// Memory: as batches.h; 1 bit a row of bitmaps that do not begin at a whole byte, which are copied.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/arrow_c_data.h"
#include "core/memory/host_memory.h"
#include "core/source/arrow/batches.h"
#include "core/source/arrow/columns.h"
#include "core/source/source.h"

namespace dataline {

struct OpenContext;

class CArrayReader {
 public:
  // Both outlive it. `is_table`: arrays are structs of the columns, not the only column.
  CArrayReader(const ArrowPlan& plan, bool is_table, const OpenContext& context);

  // kCorrupt: an array that contradicts its schema or itself; kUnsupported: a table with null rows; kCancelled, kTooLarge;
  // std::bad_alloc. What the array points to is referred to afterwards.
  Status add(const ArrowArray& array);
  ArrowTables take() { return std::move(tables_); }
  std::vector<Block> take_bitmaps() { return std::move(bitmaps_); }

 private:
  // A node of the layout (ArrowLayout::nodes): its items [first, first + items) are the batch's.
  struct Part {
    const ArrowArray* array = nullptr;
    int64_t first = 0, items = 0;
  };
  struct Slots {
    std::vector<int64_t> values, nulls;
  };

  Status find_parts(const ArrowLayout& layout, const ArrowArray& root, bool is_table);
  Status find_part(const ArrowLayout& layout, size_t node, const ArrowArray& array, Part& out);
  Status fill(const ArrowLayout& layout, Slots& slots);
  Status fill_slot(const ArrowTake& take, Slots& slots);
  Status fill_view_buffers(const ArrowTake& take, Slots& slots);
  Status add_dictionary(size_t column, Slots& batch);
  Result<int64_t> aligned(const std::byte* bits, int64_t first, int64_t count);
  template <typename... Parts>
  Status refuse(Code code, const Parts&... parts) const {
    return error(code, kArrowMemory, ": record batch ", tables_.batches.count(), ": ", parts...);
  }

  const ArrowPlan& plan_;
  const bool is_table_;
  const OpenContext& context_;
  ArrowTables tables_;
  Part root_;                   // of the batch
  std::vector<Part> parts_;     // of the layout that is being read
  std::vector<Block> bitmaps_;  // copies
};

}  // namespace dataline
