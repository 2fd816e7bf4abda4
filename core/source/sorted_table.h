// Ascending numbers in four bytes each: where documents end, where rows begin.
//
// A number is its low 32 bits, and how often a multiple of 2^32 was passed up to it. Those places are a short list: a file
// of 2^35 tokens has eight.
// Threads: immutable once built.
// Memory: counted (HostMemory); add() and reserve() throw as MetadataResource does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory/host_memory.h"

namespace dataline {

class SortedTable {
 public:
  explicit SortedTable(std::shared_ptr<HostMemory> memory)
      : memory_(std::make_unique<MetadataResource>(std::move(memory), MemoryKind::kTable)),
        low_(memory_.get()),
        passed_(memory_.get()) {}

  void reserve(int64_t count) { low_.reserve(static_cast<size_t>(count)); }
  // Not below the last one, and not negative.
  void add(int64_t value) {
    while (static_cast<int64_t>(passed_.size()) < value >> 32) passed_.push_back(size());
    low_.push_back(static_cast<uint32_t>(value));
  }
  void drop_last() {
    low_.pop_back();
    while (!passed_.empty() && passed_.back() >= size()) passed_.pop_back();
  }
  void shrink() { low_.shrink_to_fit(); }

  int64_t size() const { return static_cast<int64_t>(low_.size()); }
  int64_t back() const { return low_.empty() ? 0 : (*this)[size() - 1]; }
  int64_t operator[](int64_t i) const {
    return (passed_.empty() ? 0 : high(i)) << 32 | low_[static_cast<size_t>(i)];
  }

 private:
  int64_t high(int64_t i) const {
    return std::upper_bound(passed_.begin(), passed_.end(), i) - passed_.begin();
  }

  std::unique_ptr<MetadataResource> memory_;
  std::pmr::vector<uint32_t> low_;
  std::pmr::vector<int64_t> passed_;  // [k]: the first index whose number is at least (k + 1) * 2^32
};

}  // namespace dataline
