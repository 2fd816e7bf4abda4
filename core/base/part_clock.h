// Divides the time of one thread's rows among the parts of a program: decoding, each group of operators. Only every fourth row of
// a program is timed: parts change with every line of an image, and a look at the clock takes 25 ns. It stands for those before it.
// Threads: one thread writes; the histograms may be read by others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "core/base/thread.h"

namespace dataline {

class Histogram;

// What one thread has spent on the parts of one program.
struct PartTimes {
  Histogram* parts = nullptr;  // PartClock::kMostParts
  int64_t runs = 1;            // for how many runs of rows this one stands
  int64_t rows = 0;
  int64_t untimed = 0;  // since the last row that was timed
};

class PartClock {
 public:
  static constexpr int32_t kMostParts = 12;  // of one program; what is beyond counts with the last

  // A row of the program whose times these are.
  void begin_row(PartTimes& times) {
    times.untimed += times.runs;
    parts_ = times.rows++ % kEvery == 0 ? times.parts : nullptr;
    if (parts_ == nullptr) return;
    weight_ = std::exchange(times.untimed, 0);
    spent_ns_.fill(0);
    part_ = 0;
    since_ns_ = monotonic_ns();
  }
  // The part that is worked on from here; returns the one before.
  int32_t enter(int32_t part) {
    if (parts_ == nullptr) return part;
    const int64_t now_ns = monotonic_ns();
    spent_ns_[static_cast<size_t>(part_)] += now_ns - since_ns_;
    since_ns_ = now_ns;
    const int32_t before = part_;
    part_ = part < kMostParts ? part : kMostParts - 1;
    return before;
  }
  void end_row();

 private:
  static constexpr int64_t kEvery = 4;

  Histogram* parts_ = nullptr;  // null: the row is not timed
  int64_t weight_ = 1;          // for how many rows it stands
  int64_t since_ns_ = 0;
  int32_t part_ = 0;
  std::array<int64_t, kMostParts> spent_ns_{};
};

}  // namespace dataline
