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
    int64_t i = 0;
    for (; i + kBlock <= count; i += kBlock) {
      for (int64_t k = 0; k < kBlock; ++k) out[i + k] = first + i + k;
    }
    for (; i < count; ++i) out[i] = first + i;
    return true;
  }

 private:
  static constexpr int64_t kBlock = 16;  // a fixed inner loop, which compilers vectorize at -O2 too
  int64_t sample_count_;
};

}  // namespace dataline
