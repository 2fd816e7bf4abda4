// What both orders of a mix share: its parts, and how each is gone through.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/order/feistel.h"
#include "core/order/mix.h"

namespace dataline {

class MixParts {
 public:
  explicit MixParts(const MixOrderSpec& spec);

  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t start(int64_t part) const { return starts_[static_cast<size_t>(part)]; }
  int64_t count(int64_t part) const { return start(part + 1) - start(part); }
  int64_t total() const { return starts_.back(); }
  bool shuffled() const { return shuffled_; }
  uint64_t seed(int64_t part) const { return random_bits(seed_, static_cast<uint64_t>(part)); }

  // A pass through a part; of one in windows (mix_windows.h), where it is.
  struct Pass {
    int64_t number = -1;  // none
    Feistel feistel;
    int64_t lane = -1, window = -1;
    uint64_t key = 0;
  };
  // Sample `index` of pass `number` through a part, numbered through all parts. `pass`: the caller's, of this part; kept from
  // call to call, it saves making the keys.
  int64_t sample(int64_t part, int64_t number, int64_t index, Pass& pass) const {
    if (!shuffled_ || count(part) < 2) return start(part) + index;
    if (pass.number != number) begin(part, number, pass);
    return start(part) + static_cast<int64_t>(feistel_permute(pass.feistel, static_cast<uint64_t>(index)));
  }
  int64_t permuted(int64_t part, int64_t number, int64_t index) const {
    Pass pass;
    return sample(part, number, index, pass) - start(part);
  }

 private:
  void begin(int64_t part, int64_t number, Pass& pass) const;

  std::span<const int64_t> starts_;
  bool shuffled_;
  uint64_t seed_;
};

using MixOrderResult = Result<std::unique_ptr<const MixOrder>>;
MixOrderResult weighted_mix(const MixOrderSpec& spec);      // mix_weights.cpp
MixOrderResult repeated_mix(const MixOrderSpec& spec);      // mix_repeats.cpp
MixOrderResult stepped_mix(const MixOrderSpec& spec);       // mix_steps.cpp
MixOrderResult repeated_windows(const MixOrderSpec& spec);  // mix_blocks.cpp

// The first block of each part, and the end; kInternal where a block lies in two parts.
Result<std::vector<int64_t>> mix_first_blocks(const MixOrderSpec& spec);

}  // namespace dataline
