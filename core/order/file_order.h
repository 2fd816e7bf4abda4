// shuffle=none: slot i is sample i.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/order/order.h"

namespace dataline {

class FileOrder final : public Order {
 public:
  explicit FileOrder(int64_t sample_count) : sample_count_(sample_count) {}

  int64_t slots() const override { return sample_count_; }
  bool samples(int64_t, const EpochTable*, int64_t first, int64_t count, int64_t* out) const override {
    for (int64_t i = 0; i < count; ++i) out[i] = first + i;
    return true;
  }

 private:
  int64_t sample_count_;
};

}  // namespace dataline
