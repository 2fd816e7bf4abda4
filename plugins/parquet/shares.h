// The records of a request by the row group that they are in: a share is a group, and its records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "group_cache.h"
#include "group_places.h"

namespace dataline_parquet {

class Shares {
 public:
  static constexpr size_t kMostRecords = 64;  // of a request

  Shares(const dl_reader_request& request, const GroupPlaces& places)
      : records_(std::min<size_t>(static_cast<size_t>(request.record_count), kMostRecords)) {
    std::array<uint8_t, kSlots> slots;  // by a group's number: its share and one, or 0
    slots.fill(0);
    for (size_t r = 0; r < records_; ++r) {
      const size_t number = places.of(request.indices[r]);
      size_t slot = number % kSlots;
      while (slots[slot] != 0 && groups[slots[slot] - size_t{1}].number != number) slot = (slot + 1) % kSlots;
      if (slots[slot] == 0) {
        groups[count] = {number, 0};
        first[count] = places[number].first;
        slots[slot] = static_cast<uint8_t>(++count);
      }
      share[r] = static_cast<uint8_t>(slots[slot] - 1);
      ++groups[share[r]].rows;
    }
  }

  // Of shares `begin` to `end`, those of a share side by side; of all shares, in the order of the request.
  std::span<const int32_t> records(size_t begin, size_t end) {
    if (begin == 0 && end == count) return {kInOrder.data(), records_};
    if (!sorted_) sort();
    return {by_share_.data() + begins_[begin], static_cast<size_t>(begins_[end] - begins_[begin])};
  }

  size_t count = 0;
  std::array<GroupCache::Wanted, kMostRecords> groups;  // of each share its number, and how many rows of it
  std::array<int64_t, kMostRecords> first;              // the row that it begins with
  std::array<GroupCache::GroupRef, kMostRecords> held;
  std::array<uint8_t, kMostRecords> share;  // of each record

 private:
  static constexpr size_t kSlots = 128;  // half of them stay empty
  static constexpr std::array<int32_t, kMostRecords> kInOrder = [] {
    std::array<int32_t, kMostRecords> out{};
    for (size_t r = 0; r < kMostRecords; ++r) out[r] = static_cast<int32_t>(r);
    return out;
  }();

  void sort() {
    std::array<int32_t, kMostRecords> next;
    begins_[0] = 0;
    for (size_t s = 0; s < count; ++s) {
      next[s] = begins_[s];
      begins_[s + 1] = begins_[s] + static_cast<int32_t>(groups[s].rows);
    }
    for (size_t r = 0; r < records_; ++r)
      by_share_[static_cast<size_t>(next[share[r]]++)] = static_cast<int32_t>(r);
    sorted_ = true;
  }

  const size_t records_;
  bool sorted_ = false;
  std::array<int32_t, kMostRecords> by_share_;
  std::array<int32_t, kMostRecords + 1> begins_;
};

}  // namespace dataline_parquet
