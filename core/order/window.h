// The geometry of shuffle=window: where each slot of an epoch comes from, before anything is drawn.
//
// The set is cut into blocks, runs of neighbouring records. Each epoch puts the blocks in a new order; their records, one
// block after the other, are the epoch's *line* of n places. Lane c of C owns the places [lo(c), lo(c + 1)) of the line and
// gives each step its share of slots, the same ones in every step:
//
//   one step of G slots    | lane 0: share(G, 1) - share(G, 0) slots | lane 1 | ... | lane C - 1 |    share(x, c) = floor(x c / C)
//   the line of n places   | lane 0: lo(1) places                    | lane 1 | ... | lane C - 1 |    lo(c) = T share(G, c) + share(L, c)
//
// with T = floor(n / G) whole steps and L = n mod G slots in the last, short one. So a contiguous part of a step (a rank's)
// touches few lanes, the same ones all the time, for every G and C; and a lane's slots in a step are consecutive places.
//
// A lane is cut into windows of W places, W a power of two. Places are shuffled inside their window, so a window's blocks
// are all open at once. Windows of different lanes end at different times: lane c is shifted by floor(c W / C), which
// shortens its first window.
//
// C and W follow from n, G, the number of blocks and how many may be open (make_window).
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dataline {

struct WindowSize {
  int64_t lanes = 1;  // C
  int32_t bits = 0;   // W = 2^bits
  int64_t places() const { return int64_t{1} << bits; }
};

// About open_blocks blocks are open over all lanes. A lane gives a step one slot where a block has few records, and up to
// kMaxLaneSlots where it has thousands: records are small then, and one key serves all of them. Ranks with fewer slots than
// that share a lane's blocks (bench/scale).
constexpr int64_t kMaxLaneSlots = 16;
constexpr int64_t kRecordsPerLaneSlot = 512;
WindowSize make_window(int64_t samples, int64_t blocks, int64_t open_blocks, int64_t step_slots);

// Slots [slot, slot + count) of one step, from one lane and one window.
struct WindowPiece {
  int64_t lane = 0, window = 0;
  int64_t begin = 0;   // the window's first place on the line
  int64_t length = 0;  // of the window
  int64_t offset = 0;  // of the first slot in the window
  int64_t count = 0;
};

class WindowLanes {
 public:
  WindowLanes(int64_t samples, int64_t step_slots, WindowSize size);

  const WindowSize& size() const { return size_; }
  // The longest piece at `slot` of at most `count` slots; slot < samples.
  WindowPiece piece(int64_t slot, int64_t count) const;
  // piece(slot, 1), without divisions where there is one lane.
  WindowPiece piece_of_one(int64_t slot) const {
    if (size_.lanes > 1) return piece(slot, 1);
    const int64_t window = slot >> size_.bits, begin = window << size_.bits;
    return {0, window, begin, std::min(size_.places(), lanes_.back().begin - begin), slot - begin, 1};
  }

  int64_t whole_steps() const { return steps_; }
  // Of a step; rows beyond the last step's slots belong to the last lane.
  int64_t lane_of_row(int64_t row) const;
  int64_t begin(int64_t lane) const { return lanes_[static_cast<size_t>(lane)].begin; }
  int64_t length(int64_t lane) const { return begin(lane + 1) - begin(lane); }
  // Of the lane's places, those that were given before step `step`.
  int64_t given(int64_t lane, int64_t step) const;
  // The first place of the window that the lane is in after `given` places, counted from the lane's begin.
  int64_t window_begin(int64_t lane, int64_t given) const;
  // Its end, counted likewise.
  int64_t window_end(int64_t lane, int64_t given) const;

  int64_t allocated_bytes() const { return static_cast<int64_t>(lanes_.size() * sizeof(Lane)); }

 private:
  struct Lane {
    int64_t row = 0;    // share(G, c)
    int64_t last = 0;   // share(L, c)
    int64_t begin = 0;  // lo(c)
    int64_t shift = 0;
  };
  int64_t slots_per_step(int64_t lane) const {
    return lanes_[static_cast<size_t>(lane) + 1].row - lanes_[static_cast<size_t>(lane)].row;
  }

  WindowSize size_;
  int64_t step_slots_, steps_, last_slots_;
  std::vector<Lane> lanes_;  // [C + 1]
};

}  // namespace dataline
