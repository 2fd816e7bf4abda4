// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kLength, kValue };
constexpr OperatorArgument kArguments[] = {{"length", "integer", ""}, {"value", "number", "0"}};

Status add(const Arguments& arguments, Plan& plan) {
  const Field& field = plan.field();
  if (field.shape.empty())
    return arguments.fault("expected a sequence, got a single ", dtype_name(field.dtype));
  if (field.axes.find('H') != std::string::npos)
    return arguments.fault("expected a sequence, got an image with axes ", field.axes);
  DL_ASSIGN_OR_RETURN(const int64_t length, arguments.integer(kLength, 0));
  std::vector<int64_t> shape = field.shape;
  shape[0] = length;
  DL_RETURN_IF_ERROR(want_countable(arguments, shape));
  if (field.kind == FieldKind::kDense && field.shape[0] > length)
    return arguments.fault_at(kLength, "expected at least ", field.shape[0], ", the length of ",
                              field_type_text(field), ", got ", length);
  DL_ASSIGN_OR_RETURN(std::vector<std::byte> element, arguments.element(kValue, field.dtype));
  plan.add_padding(length, std::move(element));
  return Status::ok();
}

}  // namespace

const Operator pad_to_operator = {
    {"pad_to", kArguments,
     "Fills the first dim up to a length with a value; sequences of their own lengths become dense. "
     "A longer one is an error.",
     "torch.nn.utils.rnn.pad_sequence", "0.1"},
    add};

}  // namespace dataline
