// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kClasses, kDtype };
}

Status add_one_hot(const Arguments& arguments, Plan& plan) {
  const Field& field = plan.field();
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  if (!dtype_is_integer(field.dtype))
    return arguments.fault("expected integer labels, got ", dtype_name(field.dtype));
  DL_ASSIGN_OR_RETURN(const int64_t classes, arguments.integer(kClasses, 1));
  DType dtype = DType::kF32;
  if (arguments.given(kDtype)) {
    DL_ASSIGN_OR_RETURN(dtype, arguments.dtype(kDtype));
  }
  std::vector<int64_t> shape = field.shape;
  shape.push_back(classes);
  DL_RETURN_IF_ERROR(want_countable(arguments, shape));
  if (static_cast<int64_t>(shape.size()) > kMaxRank)
    return arguments.fault("expected at most ", kMaxRank - 1, " dims, got ", field_type_text(field));
  plan.add_one_hot(classes, dtype);
  return Status::ok();
}

}  // namespace dataline
