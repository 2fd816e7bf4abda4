// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kFactor };
constexpr OperatorArgument kArguments[] = {{"factor", "number", ""}};

Status add(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_real(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double factor, arguments.number(kFactor));
  const float rounded = static_cast<float>(factor);
  if (!std::isfinite(rounded) || rounded == 0)
    return arguments.fault_at(kFactor, "expected a number other than 0 that f32 holds, got ",
                              arguments.text_of(kFactor));
  // Adding -0 changes nothing, not even the sign of a zero.
  plan.add_affine({rounded}, {-0.0f});
  return Status::ok();
}

}  // namespace

const Operator scale_operator = {{"scale", kArguments, "Multiplies by a number; the result is f32.",
                                  "torchvision.transforms.v2.ToDtype(scale=True)", "0.1"},
                                 add};

}  // namespace dataline
