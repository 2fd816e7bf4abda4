// hflip and vflip.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kProbability };
constexpr double kDefaultProbability = 0.5;

Status add_flip(const Arguments& arguments, Plan& plan, bool vertical) {
  if (plan.in_frame()) {
    ViewStep step;
    step.kind = vertical ? ViewStep::Kind::kFlipY : ViewStep::Kind::kFlipX;
    DL_ASSIGN_OR_RETURN(step.probability, probability_argument(arguments, kProbability, kDefaultProbability));
    plan.add_view(step);
    return Status::ok();
  }
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  GeometryStep step;
  step.kind = GeometryStep::Kind::kFlip;
  step.vertical = vertical;
  DL_ASSIGN_OR_RETURN(step.probability, probability_argument(arguments, kProbability, kDefaultProbability));
  plan.add_geometry(step, image, {});
  return Status::ok();
}

}  // namespace

Status add_hflip(const Arguments& arguments, Plan& plan) { return add_flip(arguments, plan, false); }

Status add_vflip(const Arguments& arguments, Plan& plan) { return add_flip(arguments, plan, true); }

}  // namespace dataline
