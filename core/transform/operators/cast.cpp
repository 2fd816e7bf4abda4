// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kDtype };
}

Status add_cast(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const DType to, arguments.dtype(kDtype));
  if (to != DType::kC64 && to != DType::kC128) DL_RETURN_IF_ERROR(want_real(arguments, plan));
  plan.add_cast(to);
  return Status::ok();
}

}  // namespace dataline
