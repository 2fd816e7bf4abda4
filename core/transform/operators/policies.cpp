// rand_augment and trivial_augment.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/color_checks.h"

namespace dataline {
namespace {

constexpr int64_t kMostBins = 1 << 16;

Result<int64_t> bins_argument(const Arguments& arguments, size_t index, int64_t fallback) {
  if (!arguments.given(index)) return fallback;
  return arguments.integer(index, 2, kMostBins);
}

}  // namespace

Status add_rand_augment(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kCount, kMagnitude, kBins, kFilter, kFill };
  constexpr int64_t kMostOperators = 100;
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_colors(arguments, plan));
  RandAugment augment;
  if (arguments.given(kCount)) {
    DL_ASSIGN_OR_RETURN(augment.count, arguments.integer(kCount, 0, kMostOperators));
  }
  DL_ASSIGN_OR_RETURN(augment.bins, bins_argument(arguments, kBins, augment.bins));
  if (arguments.given(kMagnitude)) {
    DL_ASSIGN_OR_RETURN(augment.magnitude, arguments.integer(kMagnitude, 0, augment.bins - 1));
  } else if (augment.magnitude >= augment.bins) {
    return arguments.fault_at(kBins, "expected more than m, ", augment.magnitude, ", got ",
                              arguments.text_of(kBins));
  }
  DL_ASSIGN_OR_RETURN(augment.style, style_arguments(arguments, kFilter, kFill, shape.channels));
  plan.add_stage(make_rand_augment(augment, color_kernels(plan.target())));
  return Status::ok();
}

Status add_trivial_augment(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kBins, kFilter, kFill };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_colors(arguments, plan));
  TrivialAugment augment;
  DL_ASSIGN_OR_RETURN(augment.bins, bins_argument(arguments, kBins, augment.bins));
  DL_ASSIGN_OR_RETURN(augment.style, style_arguments(arguments, kFilter, kFill, shape.channels));
  plan.add_stage(make_trivial_augment(augment, color_kernels(plan.target())));
  return Status::ok();
}

}  // namespace dataline
