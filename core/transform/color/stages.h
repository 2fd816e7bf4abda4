// The colour operators with parameters of their own, as stages of a frame. Those that are one change with a probability are
// made where the operator is (maybe_stage.h).
//
// Formulas and ranges follow torchvision.transforms.v2; each says which draws it takes (frame/draws.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/transform/color/kernels.h"
#include "core/transform/frame/stage.h"

namespace dataline {

struct FactorRange {
  double low = 1;
  double high = 1;
};

// v2.ColorJitter: brightness, contrast, saturation and hue, each with a factor of its range, in an order of its own for each
// image. Draws: 0..2 the order (Fisher-Yates of four), 3..6 the factors, uniform.
struct ColorJitter {
  std::optional<FactorRange> brightness, contrast, saturation, hue;  // what is not there is left out
};
// Brightness 0, contrast 1, saturation 2, hue 3, in the order drawn.
std::array<int, 4> jitter_order(const Draws& draws);
FrameStageRef make_color_jitter(const ColorJitter& jitter, const ColorKernels& kernels);

// v2.Grayscale: 1 or 3 channels. Draws nothing.
FrameStageRef make_grayscale(int64_t channels, const ColorKernels& kernels);

// v2.GaussianBlur: both sides with one sigma, uniform in its range. Draw 0, where the range is one.
struct GaussianBlur {
  int64_t height = 1, width = 1;  // of the kernel, odd
  double sigma_low = 0.1, sigma_high = 2;
};
FrameStageRef make_gaussian_blur(const GaussianBlur& plan, const ColorKernels& kernels);

}  // namespace dataline
