// SPDX-License-Identifier: Apache-2.0
#include "core/base/checked.h"
#include "core/transform/operators/checks.h"

namespace dataline {

Status add_flatten(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  plan.add_reshape({checked_product(plan.field().shape).value_or(0)}, "");
  return Status::ok();
}

}  // namespace dataline
