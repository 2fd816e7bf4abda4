// Gaussian blur as torchvision.transforms.v2.functional.gaussian_blur_image: reflected at the borders, rounded to nearest.
//
// Separable, in f32, where torchvision convolves in 2D: a level may differ where a sum is half way between two. Cost:
// proportional to the sum of both kernel sides; extra memory of about as many lines as the kernel is high.
// Threads: pure functions; a BlurKernel is a value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/transform/color/kernels.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

// One side of a kernel: odd, at most kMax; weights[i] for the taps i and taps - 1 - i.
struct BlurSide {
  static constexpr int64_t kMax = 255;
  int64_t taps = 1;
  std::array<float, kMax / 2 + 1> weights{1};
};

// torchvision's _get_gaussian_kernel1d: weights exp(-x^2 / (2 sigma^2)), x in pixels from the middle, with sum 1.
BlurSide gaussian_side(int64_t taps, double sigma);

// In place. kOutOfRange if a side of the frame is not larger than half the kernel's: the reflection would run out of pixels.
Status blur(const ColorKernels& kernels, const BlurSide& across, const BlurSide& down, FrameScratch& scratch,
            Frame& frame);

}  // namespace dataline
