// reshape and flatten.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kShape };
constexpr OperatorArgument kArguments[] = {{"shape", "shape", ""}};

Status add_reshape(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  DL_ASSIGN_OR_RETURN(std::vector<int64_t> shape, arguments.integers(kShape, 0));
  if (static_cast<int64_t>(shape.size()) > kMaxRank)
    return arguments.fault_at(kShape, "expected at most ", kMaxRank, " dims, got ",
                              static_cast<int64_t>(shape.size()));
  const std::optional<int64_t> wanted = checked_product(shape);
  const std::optional<int64_t> present = checked_product(plan.field().shape);
  if (!wanted || wanted != present)
    return arguments.fault_at(kShape, "expected ", present.value_or(0), " elements, as ",
                              field_type_text(plan.field()), " has, got ", shape_text(shape));
  plan.add_reshape(std::move(shape), "");
  return Status::ok();
}

Status add_flatten(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  plan.add_reshape({checked_product(plan.field().shape).value_or(0)}, "");
  return Status::ok();
}

}  // namespace

const Operator reshape_operator = {
    {"reshape", kArguments, "The same elements in another shape.", "numpy.reshape", "0.1"}, add_reshape};
const Operator flatten_operator = {{"flatten", {}, "One dim.", "torch.flatten", "0.1"}, add_flatten};

}  // namespace dataline
