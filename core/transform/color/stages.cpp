// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/stages.h"

#include <array>
#include <utility>

#include "core/transform/color/adjust.h"
#include "core/transform/color/blur.h"

namespace dataline {
namespace {

constexpr int kParts = 4;

class ColorJitterStage : public FrameStage {
 public:
  ColorJitterStage(const ColorJitter& jitter, const ColorKernels& kernels)
      : jitter_(jitter), kernels_(kernels) {}
  // Also with four fixed factors: their order is drawn.
  bool draws() const override { return true; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override {
    static_cast<void>(scratch);
    for (const int part : jitter_order(draws)) {
      const std::optional<FactorRange>& range = range_of(part);
      if (range) adjust(part, draws.uniform(kParts - 1 + part, range->low, range->high), frame);
    }
    return Status::ok();
  }

 private:
  const std::optional<FactorRange>& range_of(int part) const {
    const std::array<const std::optional<FactorRange>*, kParts> ranges{&jitter_.brightness, &jitter_.contrast,
                                                                       &jitter_.saturation, &jitter_.hue};
    return *ranges[static_cast<size_t>(part)];
  }
  void adjust(int part, double factor, Frame& frame) const {
    if (part == 0) adjust_brightness(factor, frame);
    if (part == 1) adjust_contrast(kernels_, factor, frame);
    if (part == 2) adjust_saturation(kernels_, factor, frame);
    if (part == 3) adjust_hue(kernels_, factor, frame);
  }
  ColorJitter jitter_;
  ColorKernels kernels_;
};

class GrayscaleStage : public FrameStage {
 public:
  GrayscaleStage(int64_t channels, const ColorKernels& kernels) : channels_(channels), kernels_(kernels) {}
  FrameShape shape(const FrameShape& in) const override { return {in.height, in.width, channels_}; }
  bool draws() const override { return false; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override {
    static_cast<void>(draws);
    return make_gray(kernels_, channels_, scratch, frame);
  }

 private:
  int64_t channels_;
  ColorKernels kernels_;
};

class GaussianBlurStage : public FrameStage {
 public:
  GaussianBlurStage(const GaussianBlur& plan, const ColorKernels& kernels) : plan_(plan), kernels_(kernels) {}
  bool draws() const override { return plan_.sigma_low < plan_.sigma_high; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override {
    const double sigma = draws.uniform(0, plan_.sigma_low, plan_.sigma_high);
    return blur(kernels_, gaussian_side(plan_.width, sigma), gaussian_side(plan_.height, sigma), scratch,
                frame);
  }

 private:
  GaussianBlur plan_;
  ColorKernels kernels_;
};

}  // namespace

std::array<int, 4> jitter_order(const Draws& draws) {
  std::array<int, kParts> order{0, 1, 2, 3};
  for (int i = kParts - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(draws.below(kParts - 1 - i, i + 1))]);
  return order;
}

FrameStageRef make_color_jitter(const ColorJitter& jitter, const ColorKernels& kernels) {
  return std::make_unique<ColorJitterStage>(jitter, kernels);
}

FrameStageRef make_grayscale(int64_t channels, const ColorKernels& kernels) {
  return std::make_unique<GrayscaleStage>(channels, kernels);
}

FrameStageRef make_gaussian_blur(const GaussianBlur& plan, const ColorKernels& kernels) {
  return std::make_unique<GaussianBlurStage>(plan, kernels);
}

}  // namespace dataline
