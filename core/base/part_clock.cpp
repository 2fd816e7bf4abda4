// SPDX-License-Identifier: Apache-2.0
#include "core/base/part_clock.h"

#include "core/base/histogram.h"

namespace dataline {

// Not in the header: the transform, which has a clock, is compiled without the scheduler of tests/interleave, and a
// histogram is of another size with it.
void PartClock::end_row() {
  if (parts_ == nullptr) return;
  enter(part_);
  for (int32_t part = 0; part < kMostParts; ++part) {
    const int64_t spent_ns = spent_ns_[static_cast<size_t>(part)];
    if (spent_ns > 0) parts_[part].add(spent_ns, weight_);
  }
  parts_ = nullptr;
}

}  // namespace dataline
