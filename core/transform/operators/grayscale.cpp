// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/adjust.h"
#include "core/transform/operators/checks.h"
#include "core/transform/operators/stages.h"

namespace dataline {
namespace {

enum Argument : size_t { kProbability, kChannels };
constexpr OperatorArgument kArguments[] = {{"p", "number", "none"}, {"channels", "1 or 3", "none"}};

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

Status add(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_colors(arguments, plan));
  if (arguments.given(kProbability) == arguments.given(kChannels))
    return arguments.fault("expected p=, how often, or channels=, 1 or 3 of every image, got ",
                           arguments.given(kChannels) ? "both" : "none");
  const ColorKernels kernels = color_kernels(plan.target());
  if (arguments.given(kChannels)) {
    DL_ASSIGN_OR_RETURN(const int64_t channels, arguments.integer(kChannels, 1, 3));
    if (channels == 2)
      return arguments.fault_at(kChannels, "expected 1 or 3, got ", arguments.text_of(kChannels));
    plan.add_stage(make_grayscale(channels, kernels));
    return Status::ok();
  }
  DL_ASSIGN_OR_RETURN(const double probability, probability_argument(arguments, kProbability));
  plan.add_stage(
      make_maybe(probability, [kernels, channels = shape.channels](FrameScratch& scratch, Frame& frame) {
        return make_gray(kernels, channels, scratch, frame);
      }));
  return Status::ok();
}

}  // namespace

FrameStageRef make_grayscale(int64_t channels, const ColorKernels& kernels) {
  return std::make_shared<GrayscaleStage>(channels, kernels);
}

const Operator grayscale_operator = {{"grayscale", kArguments,
                                      "Grey, 0.2989 R + 0.587 G + 0.114 B: with probability p in as many "
                                      "channels as before, or always in channels= 1 or 3.",
                                      "torchvision.transforms.v2.RandomGrayscale, Grayscale", "0.1"},
                                     add};

}  // namespace dataline
