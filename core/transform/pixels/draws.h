// Random numbers of one operator for one row: a pure function of (seed, epoch, slot, operator's place, number of the
// draw). They do not depend on workers, timing or other operators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/random.h"

namespace dataline {

struct Range {
  double low = 0;
  double high = 0;
};

class Draws {
 public:
  // key: random_key(seed, epoch, Domain::kAugment); slot: position in the epoch's order; place: operator's index in its
  // list.
  Draws(uint64_t key, uint64_t slot, int64_t place)
      : key_(key), slot_(slot), place_(static_cast<uint64_t>(place)) {}

  // `number`: index of the draw within this operator, from 0; the same number gives the same bits.
  uint64_t bits(int64_t number) const {
    return random_bits(key_, slot_, place_ | static_cast<uint64_t>(number) << 32);
  }
  double unit(int64_t number) const { return random_unit(bits(number)); }  // [0, 1)
  double uniform(int64_t number, double low, double high) const { return low + (high - low) * unit(number); }
  double uniform(int64_t number, const Range& range) const { return uniform(number, range.low, range.high); }
  int64_t below(int64_t number, int64_t bound) const {  // [0, bound)
    return static_cast<int64_t>(random_below(bits(number), static_cast<uint64_t>(bound)));
  }

 private:
  uint64_t key_;
  uint64_t slot_;
  uint64_t place_;
};

}  // namespace dataline
