// A worker's cache of tap tables, so that images of one size build them once. Random crops need new tables each time: those
// replace the least recently used one, in place.
//
// Memory: kKept tables of at most kKeptBytes; a larger one is built in the row's scratch and not cached.
// Threads: externally synchronized; each worker has its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/transform/resample/taps.h"

namespace dataline {

struct Table {
  Taps taps;
  const int32_t* pairs = nullptr;  // taps.weights, each twice in an i32; there a 15-bit 1 is 0x7fff
};

inline int64_t table_bytes(const TapsWanted& wanted) {
  return taps_bytes(wanted) + 4 +
         wanted.count * max_taps(wanted.axis) * static_cast<int64_t>(sizeof(int32_t));
}

Table build_table(const TapsWanted& wanted, std::byte* memory);

class TableCache {
 public:
  static constexpr size_t kKept = 4;
  static constexpr int64_t kKeptBytes = 16 << 10;

  // memory(bytes) allocates tables that are not cached. Null if it returned null. Valid until the next get().
  template <typename Memory>
  const Table* get(const TapsWanted& wanted, Memory memory) {
    for (Entry& entry : entries_)
      if (entry.used != 0 && entry.wanted == wanted) {
        entry.used = ++clock_;
        return &entry.table;
      }
    const int64_t bytes = table_bytes(wanted);
    if (bytes > kKeptBytes) {
      std::byte* at = memory(bytes);
      if (at == nullptr) return nullptr;
      long_ = build_table(wanted, at);
      return &long_;
    }
    Entry& oldest = *std::min_element(entries_.begin(), entries_.end(),
                                      [](const Entry& a, const Entry& b) { return a.used < b.used; });
    oldest.wanted = wanted;
    oldest.used = ++clock_;
    oldest.table = build_table(wanted, oldest.memory.data());
    return &oldest.table;
  }

 private:
  struct Entry {
    TapsWanted wanted;
    uint64_t used = 0;  // time of last use; 0: never
    Table table;
    alignas(64) std::array<std::byte, kKeptBytes> memory;
  };

  std::array<Entry, kKept> entries_;
  Table long_;
  uint64_t clock_ = 0;
};

}  // namespace dataline
