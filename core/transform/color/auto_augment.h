// Policies that choose operators at random: RandAugment and TrivialAugmentWide of torchvision.transforms.v2, with its tables
// of operators, magnitudes and signs (v2/_auto_augment.py).
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/status.h"
#include "core/transform/color/kernels.h"
#include "core/transform/pixels/draws.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

// In torchvision's order: the drawn number is the index.
enum class Augment : int32_t {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
};
constexpr int64_t kAugments = 14;

enum class AugmentSpace { kRand, kTrivialWide };

// The magnitude of bin `bin` of `bins`, equal to torch.linspace in f32; 0 for operators without one.
float augment_magnitude(AugmentSpace space, Augment augment, int64_t bin, int64_t bins, int64_t height,
                        int64_t width);
// Whether the sign is random.
bool augment_signed(Augment augment);

// How operators that move pixels resample and fill.
struct AugmentStyle {
  Filter filter = Filter::kNearest;            // or kBilinear
  std::optional<std::array<uint8_t, 4>> fill;  // one per channel; nothing: black, as torchvision's fill=None
};

// One operator with its signed magnitude (_apply_image_or_video_transform).
Status apply_augment(Augment augment, float magnitude, const AugmentStyle& style, const ColorKernels& kernels,
                     FrameScratch& scratch, Frame& frame);

// A drawn operator with its signed magnitude.
struct DrawnAugment {
  Augment augment = Augment::kIdentity;
  float magnitude = 0;
};

// `count` operators one after the other, each with bin `magnitude`. Draws of the k-th: 2k the operator, 2k + 1 its sign.
struct RandAugment {
  int64_t count = 2, magnitude = 9, bins = 31;
  AugmentStyle style;

  DrawnAugment draw(const Draws& draws, int64_t k, int64_t height, int64_t width) const;
};

// One operator with a random magnitude. Draws: 0 the operator, 1 its bin, 2 its sign.
struct TrivialAugment {
  int64_t bins = 31;
  AugmentStyle style;

  DrawnAugment draw(const Draws& draws, int64_t height, int64_t width) const;
};

}  // namespace dataline
