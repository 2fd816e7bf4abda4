// SPDX-License-Identifier: Apache-2.0
#include "core/order/window.h"

#include <algorithm>
#include <bit>

#include "core/base/checked.h"

namespace dataline {
namespace {

// floor(total * part / parts)
int64_t share(int64_t total, int64_t part, int64_t parts) {
  return static_cast<int64_t>(static_cast<u128>(total) * static_cast<u128>(part) / static_cast<u128>(parts));
}

}  // namespace

WindowSize make_window(int64_t samples, int64_t blocks, int64_t open_blocks, int64_t step_slots) {
  const int64_t records = samples / blocks;
  const int64_t lane_slots = std::clamp<int64_t>(records / kRecordsPerLaneSlot, 1, kMaxLaneSlots);
  const int64_t slots = std::min(step_slots, samples);
  WindowSize size;
  size.lanes = std::min(open_blocks, (slots + lane_slots - 1) / lane_slots);
  // The places of open_blocks blocks, divided by the lanes, to the nearest power of two: up from 3/2 of one.
  const u128 open = static_cast<u128>(samples) * static_cast<u128>(std::min(open_blocks, blocks));
  const u128 places = open / (static_cast<u128>(blocks) * static_cast<u128>(size.lanes));
  const auto wanted = std::max<uint64_t>(static_cast<uint64_t>(places), 1);
  const uint64_t below = std::bit_floor(wanted);
  size.bits = std::countr_zero(below) + (wanted - below >= below - below / 2 ? 1 : 0);
  return size;
}

WindowLanes::WindowLanes(int64_t samples, int64_t step_slots, WindowSize size)
    : size_(size),
      step_slots_(step_slots),
      steps_(samples / step_slots),
      last_slots_(samples % step_slots),
      lanes_(static_cast<size_t>(size.lanes) + 1) {
  for (int64_t c = 0; c <= size.lanes; ++c) {
    Lane& lane = lanes_[static_cast<size_t>(c)];
    lane.row = share(step_slots_, c, size.lanes);
    lane.last = share(last_slots_, c, size.lanes);
    lane.begin = steps_ * lane.row + lane.last;
    lane.shift = share(size.places(), c, size.lanes);
  }
}

WindowPiece WindowLanes::piece(int64_t slot, int64_t count) const {
  const int64_t step = slot / step_slots_;
  const int64_t row = slot - step * step_slots_;
  const bool whole = step < steps_;
  const int64_t slots = whole ? step_slots_ : last_slots_;
  // The last lane whose share begins at or before the row. No overflow: below 2^40 rows times 2^20 lanes.
  const int64_t c = ((row + 1) * size_.lanes - 1) / slots;
  const Lane& lane = lanes_[static_cast<size_t>(c)];
  const Lane& next = lanes_[static_cast<size_t>(c) + 1];
  const int64_t first_row = whole ? lane.row : lane.last;
  const int64_t end_row = whole ? next.row : next.last;
  const int64_t at = step * (next.row - lane.row) + row - first_row;  // in the lane

  WindowPiece piece;
  piece.lane = c;
  const uint64_t shift = static_cast<uint64_t>(lane.shift);
  piece.window = static_cast<int64_t>((static_cast<uint64_t>(at) + shift) >> size_.bits);
  // Unsigned, because the end of a window beyond the lane can be above 2^63.
  const uint64_t window = static_cast<uint64_t>(piece.window) << size_.bits;
  const uint64_t begin = std::max(window, shift) - shift;
  const uint64_t lane_length = static_cast<uint64_t>(next.begin - lane.begin);
  const uint64_t end = std::min(window + (uint64_t{1} << size_.bits) - shift, lane_length);
  piece.begin = lane.begin + static_cast<int64_t>(begin);
  piece.length = static_cast<int64_t>(end - begin);
  piece.offset = at - static_cast<int64_t>(begin);
  piece.count = std::min({count, end_row - row, piece.length - piece.offset});
  return piece;
}

int64_t WindowLanes::lane_of_row(int64_t row) const {
  const int64_t slots = steps_ > 0 ? step_slots_ : last_slots_;
  return std::min(((row + 1) * size_.lanes - 1) / slots, size_.lanes - 1);
}

int64_t WindowLanes::given(int64_t lane, int64_t step) const {
  return step < steps_ || (step == steps_ && last_slots_ > 0) ? step * slots_per_step(lane) : length(lane);
}

int64_t WindowLanes::window_begin(int64_t lane, int64_t given) const {
  const uint64_t shift = static_cast<uint64_t>(lanes_[static_cast<size_t>(lane)].shift);
  const uint64_t window = (static_cast<uint64_t>(given) + shift) >> size_.bits << size_.bits;
  return static_cast<int64_t>(std::max(window, shift) - shift);
}

int64_t WindowLanes::window_end(int64_t lane, int64_t given) const {
  const uint64_t shift = static_cast<uint64_t>(lanes_[static_cast<size_t>(lane)].shift);
  const uint64_t window = (static_cast<uint64_t>(given) + shift) >> size_.bits << size_.bits;
  return static_cast<int64_t>(
      std::min(window + (uint64_t{1} << size_.bits) - shift, static_cast<uint64_t>(length(lane))));
}

}  // namespace dataline
