// hflip and vflip.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kProbability };
constexpr OperatorArgument kArguments[] = {kProbabilityArgument};

template <bool kVertical>
Status add(const Arguments& arguments, Plan& plan) {
  ImageShape image;
  if (!plan.in_frame()) {
    DL_ASSIGN_OR_RETURN(image, want_image(arguments, plan));
  }
  GeometryStep step;
  step.kind = GeometryStep::Kind::kFlip;
  step.vertical = kVertical;
  DL_ASSIGN_OR_RETURN(step.probability, probability_argument(arguments, kProbability));
  plan.add_geometry(step, image, {});
  return Status::ok();
}

}  // namespace

const Operator hflip_operator = {{"hflip", kArguments, "Mirrors the image left to right with probability p.",
                                  "torchvision.transforms.v2.RandomHorizontalFlip", "0.1"},
                                 add<false>};
const Operator vflip_operator = {{"vflip", kArguments, "Mirrors the image top to bottom with probability p.",
                                  "torchvision.transforms.v2.RandomVerticalFlip", "0.1"},
                                 add<true>};

}  // namespace dataline
