// Sets cut into blocks, and window orders of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/order/window.h"
#include "tests/order/order_support.h"

namespace dataline {

// A set of `blocks` blocks, of which block i has 1 + (i * 7919) mod `spread` records.
inline std::vector<int64_t> uneven_ends(int64_t blocks, int64_t spread) {
  std::vector<int64_t> ends;
  int64_t end = 0;
  for (int64_t i = 0; i < blocks; ++i) ends.push_back(end += 1 + i * 7919 % spread);
  return ends;
}

inline std::vector<int64_t> even_ends(int64_t blocks, int64_t records) {
  std::vector<int64_t> ends;
  for (int64_t i = 1; i <= blocks; ++i) ends.push_back(i * records);
  return ends;
}

// `ends` is only read here.
inline OrderSpec window_spec(const std::vector<int64_t>& ends, int64_t open_blocks, int64_t step_slots,
                             uint64_t seed = 0) {
  OrderSpec spec = order_spec(ends.back(), Shuffle::kWindow, seed);
  spec.block_ends = ends;
  spec.open_blocks = open_blocks;
  spec.step_slots = step_slots;
  return spec;
}

inline std::unique_ptr<const Order> make_window_order(const std::vector<int64_t>& ends, int64_t open_blocks,
                                                      int64_t step_slots, uint64_t seed = 0) {
  return make_order(window_spec(ends, open_blocks, step_slots, seed));
}

}  // namespace dataline
