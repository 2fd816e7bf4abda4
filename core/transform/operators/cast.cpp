// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kDtype };
constexpr OperatorArgument kArguments[] = {{"dtype", "dtype", ""}};

Status add(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const DType to, arguments.dtype(kDtype));
  if (to != DType::kC64 && to != DType::kC128) DL_RETURN_IF_ERROR(want_real(arguments, plan));
  plan.add_cast(to);
  return Status::ok();
}

}  // namespace

const Operator cast_operator = {
    {"cast", kArguments,
     "Another dtype: integers saturate, floats go to integers toward zero (NaN to 0), to floats to "
     "nearest even.",
     "numpy.ndarray.astype, saturating", "0.1"},
    add};

}  // namespace dataline
