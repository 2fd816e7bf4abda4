// Where the blocks of a set begin, for shuffle=window.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/order/order.h"

namespace dataline {

class BlockTable {
 public:
  // A copy. `ends` ascend to `samples`; kTooLarge: more than 2^32 - 1.
  static Result<BlockTable> create(std::span<const int64_t> ends, int64_t samples, HostMemory& memory);

  int64_t count() const { return count_; }
  int64_t end() const { return firsts()[count_]; }
  int64_t first(int64_t block) const { return firsts()[block]; }
  RecordRange records(int64_t block) const {
    return {firsts()[block], firsts()[block + 1] - firsts()[block]};
  }
  // The block that holds the record.
  int64_t block_of(int64_t record) const;

  int64_t allocated_bytes() const { return memory_.bytes(); }
  void add_to(Digest& digest) const { digest.add({memory_.data(), static_cast<size_t>(memory_.bytes())}); }

 private:
  BlockTable(Block memory, int64_t count) : memory_(std::move(memory)), count_(count) {}
  const int64_t* firsts() const { return reinterpret_cast<const int64_t*>(memory_.data()); }

  Block memory_;  // the first record of each block, and the end
  int64_t count_;
};

}  // namespace dataline
