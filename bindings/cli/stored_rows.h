// A dataset's rows in memory of the program's own, for the yardsticks of `bench`.
//
// They are taken through the loader, in file order and untransformed, so no file format is known here.
// Fields that are two looks at the same stored bytes (tokens: x and y) are kept once, or the bare loop
// would read twice what the loader reads. Pages are of the kind the set itself has: 4 KiB for mapped files,
// 2 MiB for a set held in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bindings/cli/handles.h"
#include "bindings/cli/interrupts.h"

namespace dataline::cli {

// Anonymous memory, zero; it takes room only where it was touched.
class Region {
 public:
  enum class Pages { kSmall, kHuge };
  Region() = default;
  Region(int64_t bytes, Pages pages);  // std::bad_alloc
  ~Region();
  Region(Region&& other) noexcept { swap(other); }
  Region& operator=(Region&& other) noexcept {
    swap(other);
    return *this;
  }
  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  void swap(Region& other) noexcept;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

// Stored bytes that a batch gets as one tensor.
struct Part {
  int64_t from = 0;  // in the row
  int64_t bytes = 0;
};

// Rows of equal length, or (ragged) between offsets.
struct Piece {
  Region memory;
  int64_t row_bytes = 0;  // 0: ragged
  std::vector<int64_t> offsets;
  std::vector<Part> parts;  // one tensor each; ragged: none
};

struct StoredRows {
  int64_t samples = 0;  // taken; the set's first
  std::vector<Piece> pieces;
  int64_t bytes() const;
};

// At most `limit_bytes`. Throws Failure when the set cannot be read this way, Interrupted.
// `like`: the options of the measured loader; its limits hold here too.
StoredRows take_rows(dl_dataset* dataset, const dl_options* like, Region::Pages pages, int64_t limit_bytes,
                     const Interrupts& interrupts);

}  // namespace dataline::cli
