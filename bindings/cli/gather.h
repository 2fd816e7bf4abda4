// The yardsticks of `bench`: memcpy, and a bare gather, which only copies the same rows in the same order into as many slots.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/cli/gather_loops.h"
#include "bindings/cli/stored_rows.h"

namespace dataline::cli {

// The row numbers of each batch, recorded beforehand.
class RowOrder {
 public:
  explicit RowOrder(int64_t most_rows) : most_rows_(most_rows) {}

  bool full() const { return static_cast<int64_t>(added_.size()) >= most_rows_; }
  void add(const int64_t* indices, int64_t count);  // one batch
  // Row numbers from `samples` on wrap around, because only the first rows were copied. Call after the last add().
  void finish(int64_t samples);

  size_t batches() const { return starts_.size() - 1; }
  size_t count(size_t batch) const { return starts_[batch + 1] - starts_[batch]; }
  const uint32_t* rows(size_t batch) const {
    return rows_.data() + starts_[batch];
  }  // readable for kSpare entries more
  bool consecutive(size_t batch) const { return consecutive_[batch] != 0; }

  static constexpr size_t kSpare = 64;

 private:
  int64_t most_rows_;
  std::vector<int64_t> added_;
  std::vector<uint32_t> rows_;
  std::vector<size_t> starts_{0};
  std::vector<uint8_t> consecutive_;
};

// What the gather did in a round, all its threads together.
struct Gathered {
  double samples_per_s = 0;
  double samples = 0;
  double cpu_seconds = 0;  // of its threads alone: a loader's workers may be filling batches beside them
};

// As many threads as the loader and its consumer kept cores busy, which is no whole number; at least one, and no more than there
// are cores for this process.
int64_t gather_threads(double cores_busy, int64_t usable_cores);

class Yardsticks {
 public:
  // Both must outlive this object. Times every known loop for a few times `trial_seconds` and keeps the fastest.
  // `slot_count`: how many the loader was seen to use, which decides whether they stay in the caches.
  Yardsticks(const StoredRows& rows, const RowOrder& order, int64_t slot_count, int64_t threads,
             double trial_seconds);

  Gathered gather(double seconds) const;
  void fill(size_t batch, std::byte* slot) const;  // one batch
  size_t slot_bytes() const { return slot_bytes_; }
  double memcpy_bytes_per_s(double seconds) const;  // one thread, file order, at least 64 MiB

 private:
  size_t most_ragged_bytes(const Piece& piece) const;
  void fill_ragged(const Piece& piece, size_t batch, std::byte* out) const;
  Gathered run_thread(size_t thread, double seconds) const;
  void choose_loops(double trial_seconds);

  const StoredRows& rows_;
  const RowOrder& order_;
  const size_t slot_count_;
  const size_t threads_;
  const size_t own_slots_;  // of a thread, which fills them in turn
  struct Copy {             // of one part of a piece
    const Piece* piece = nullptr;
    Part part;
    size_t place = 0;  // in a slot
    GatherLoop loop = nullptr;
    bool whole = false;  // rows that lie one behind the other: by one memcpy a tile, not by the loop
  };
  std::vector<Copy> copies_;
  size_t slot_bytes_ = 0;
  Region slots_;
};

}  // namespace dataline::cli
