// Divides the time of one thread's rows among the parts of a program: decoding, each group of operators. Only every fourth row
// is timed: parts change with every line of an image, and a look at the clock takes 25 ns.
// Threads: one thread writes; the histograms may be read by others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/base/thread.h"

namespace dataline {

class Histogram;

class PartClock {
 public:
  static constexpr int32_t kMostParts = 12;  // of one program; what is beyond counts with the last

  // A row of a program whose parts are counted in `parts`, kMostParts of them.
  void begin_row(Histogram* parts) {
    parts_ = rows_++ % kEvery == 0 ? parts : nullptr;
    if (parts_ == nullptr) return;
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
  int64_t rows_ = 0;
  int64_t since_ns_ = 0;
  int32_t part_ = 0;
  std::array<int64_t, kMostParts> spent_ns_{};
};

}  // namespace dataline
