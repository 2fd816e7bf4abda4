// What both orders of a mix share: its parts, and how each is gone through.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

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

  // Sample `index` of pass `pass` through a part, numbered through all parts. An order of a part that needs a table would
  // take its place here.
  int64_t sample(int64_t part, int64_t pass, int64_t index) const {
    return start(part) + (shuffled_ ? permuted(part, pass, index) : index);
  }
  int64_t permuted(int64_t part, int64_t pass, int64_t index) const;

 private:
  std::span<const int64_t> starts_;
  bool shuffled_;
  uint64_t seed_;
};

using MixOrderResult = Result<std::unique_ptr<const MixOrder>>;
MixOrderResult weighted_mix(const MixOrderSpec& spec);  // mix_weights.cpp
MixOrderResult repeated_mix(const MixOrderSpec& spec);  // mix_repeats.cpp

}  // namespace dataline
