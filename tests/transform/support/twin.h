// Plain twins of the operators, written from the words of the specification and from nothing else: one sample,
// one element at a time, no fusing. What the engine makes of a text must equal them bit for bit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/transform/support/tensor.h"

namespace dataline::tests {

// Where a random operator is: its draws depend on this alone.
struct Draw {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t slot = 0;
  int64_t place = 0;
  uint64_t bits(uint64_t number) const;
};

Tensor twin_cast(const Tensor& in, DType to);
Tensor twin_scale(const Tensor& in, double factor);
Tensor twin_normalize(const Tensor& in, const std::vector<double>& mean,
                      const std::vector<double>& deviation);
Tensor twin_reshape(const Tensor& in, std::vector<int64_t> shape);
Tensor twin_chw(const Tensor& in);
Tensor twin_hwc(const Tensor& in);
Tensor twin_pad_to(const Tensor& in, int64_t length, double value);
Tensor twin_one_hot(const Tensor& in, int64_t classes, DType dtype);  // labels in range
// Padding: left, top, right, bottom.
Tensor twin_random_crop(const Tensor& in, int64_t height, int64_t width, std::array<int64_t, 4> padding,
                        double fill, const Draw& draw);
Tensor twin_center_crop(const Tensor& in, int64_t height, int64_t width);
Tensor twin_hflip(const Tensor& in, double probability, const Draw& draw);
Tensor twin_vflip(const Tensor& in, double probability, const Draw& draw);

}  // namespace dataline::tests
