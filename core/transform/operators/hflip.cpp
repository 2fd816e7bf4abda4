// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kProbability };
constexpr double kDefaultProbability = 0.5;
}  // namespace

Status add_hflip(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  GeometryStep step;
  step.kind = GeometryStep::Kind::kFlip;
  step.probability = kDefaultProbability;
  if (arguments.given(kProbability)) {
    DL_ASSIGN_OR_RETURN(step.probability, arguments.number(kProbability));
    if (!(step.probability >= 0 && step.probability <= 1))
      return arguments.fault_at(kProbability, "expected a number from 0 to 1, got ",
                                arguments.text_of(kProbability));
  }
  plan.add_geometry(step, image, {});
  return Status::ok();
}

}  // namespace dataline
