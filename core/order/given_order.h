// sample_indices: the caller's own order, the same every epoch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/order/order.h"

namespace dataline {

class GivenOrder final : public Order {
 public:
  explicit GivenOrder(std::span<const int64_t> indices)
      : indices_(indices) {}  // borrowed, checked by create()

  int64_t slots() const override { return static_cast<int64_t>(indices_.size()); }
  bool samples(int64_t, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    std::copy_n(indices_.data() + first, count, out);
    return false;
  }

 private:
  std::span<const int64_t> indices_;
};

}  // namespace dataline
