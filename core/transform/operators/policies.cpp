// rand_augment and trivial_augment.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/auto_augment.h"
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr int64_t kMaxBins = 1 << 16;
constexpr OperatorArgument kBinsArgument = {"bins", "integer", "31"};
constexpr OperatorArgument kRandArguments[] = {
    {"n", "integer", "2"}, {"m", "integer", "9"}, kBinsArgument, kNearestArgument, kFillArgument};
constexpr OperatorArgument kTrivialArguments[] = {kBinsArgument, kNearestArgument, kFillArgument};

// Without fill= pixels from outside are black, as torchvision's fill=None.
Result<AugmentStyle> style_arguments(const Arguments& arguments, size_t filter, size_t fill,
                                     int64_t channels) {
  AugmentStyle style;
  DL_ASSIGN_OR_RETURN(style.filter, warp_filter_argument(arguments, filter));
  if (arguments.given(fill)) {
    DL_ASSIGN_OR_RETURN(style.fill, fill_argument(arguments, fill, channels));
  }
  return style;
}

Status add_rand_augment(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kCount, kMagnitude, kBins, kFilter, kFill };
  constexpr int64_t kMaxOperators = 100;
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_colors(arguments, plan));
  RandAugment augment;
  DL_ASSIGN_OR_RETURN(augment.count, arguments.integer(kCount, 0, kMaxOperators));
  DL_ASSIGN_OR_RETURN(augment.bins, arguments.integer(kBins, 2, kMaxBins));
  if (!arguments.given(kMagnitude) && augment.magnitude >= augment.bins) {
    return arguments.expected(kBins, "more than m, ", augment.magnitude);
  }
  DL_ASSIGN_OR_RETURN(augment.magnitude, arguments.integer(kMagnitude, 0, augment.bins - 1));
  DL_ASSIGN_OR_RETURN(augment.style, style_arguments(arguments, kFilter, kFill, shape.channels));
  const auto apply = [augment, kernels = color_kernels(plan.target())](const Draws& draws,
                                                                       FrameScratch& scratch, Frame& frame) {
    for (int64_t k = 0; k < augment.count; ++k) {
      const DrawnAugment drawn = augment.draw(draws, k, frame.height, frame.width);
      DL_RETURN_IF_ERROR(
          apply_augment(drawn.augment, drawn.magnitude, augment.style, kernels, scratch, frame));
    }
    return Status::ok();
  };
  plan.add_stage({augment.count > 0, apply});
  return Status::ok();
}

Status add_trivial_augment(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kBins, kFilter, kFill };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_colors(arguments, plan));
  TrivialAugment augment;
  DL_ASSIGN_OR_RETURN(augment.bins, arguments.integer(kBins, 2, kMaxBins));
  DL_ASSIGN_OR_RETURN(augment.style, style_arguments(arguments, kFilter, kFill, shape.channels));
  const auto apply = [augment, kernels = color_kernels(plan.target())](const Draws& draws,
                                                                       FrameScratch& scratch, Frame& frame) {
    const DrawnAugment drawn = augment.draw(draws, frame.height, frame.width);
    return apply_augment(drawn.augment, drawn.magnitude, augment.style, kernels, scratch, frame);
  };
  plan.add_stage({true, apply});
  return Status::ok();
}

}  // namespace

const Operator rand_augment_operator = {{"rand_augment", kRandArguments,
                                         "Applies n operators in a row, drawn from 14 (shears, shifts, "
                                         "rotation, colours), each with magnitude m of bins.",
                                         "torchvision.transforms.v2.RandAugment", "0.1"},
                                        add_rand_augment};
const Operator trivial_augment_operator = {{"trivial_augment", kTrivialArguments,
                                            "Applies one operator, drawn from 14 (shears, shifts, rotation, "
                                            "colours), with a magnitude drawn from bins.",
                                            "torchvision.transforms.v2.TrivialAugmentWide", "0.1"},
                                           add_trivial_augment};

}  // namespace dataline
