// A copy of a dataset's rows for the yardsticks of `bench`.
//
// It is made through a loader, in file order and without a transform, so no file format is needed here. Fields that are views of
// the same stored bytes (x and y of tokens) are stored once, because the loader reads them once too. Pages are 4 KiB for mapped
// files and 2 MiB for a dataset in memory, as those of the dataset itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bindings/cli/handles.h"
#include "bindings/cli/interrupts.h"

namespace dataline::cli {

// Zeroed anonymous memory, which the kernel allocates when it is touched.
class Region {
 public:
  enum class Pages { kSmall, kHuge };
  Region() = default;
  Region(int64_t bytes, Pages pages);  // throws std::bad_alloc
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

// Bytes of a row that a batch delivers as one tensor.
struct Part {
  int64_t from = 0;  // in the row
  int64_t bytes = 0;
};

// Rows of equal length or, if ragged, between offsets.
struct Piece {
  Region memory;
  int64_t row_bytes = 0;  // 0: ragged
  std::vector<int64_t> offsets;
  std::vector<Part> parts;  // one per tensor; ragged: none
};

struct StoredRows {
  int64_t samples = 0;  // copied: the first ones of the dataset
  std::vector<Piece> pieces;
  int64_t bytes() const;
};

// Copies at most `limit_bytes`. `like` are the options of the measured loader, whose limits also hold here. Throws Failure if the
// dataset cannot be read this way, or Interrupted.
StoredRows take_rows(dl_dataset* dataset, const dl_options* like, Region::Pages pages, int64_t limit_bytes,
                     const Interrupts& interrupts);

}  // namespace dataline::cli
