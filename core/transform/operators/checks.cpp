// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

#include "core/base/checked.h"
#include "core/base/text.h"

namespace dataline {

Status want_dense(const Arguments& arguments, const Plan& plan) {
  if (plan.field().kind == FieldKind::kDense) return Status::ok();
  return arguments.fault("expected samples of one shape, got ", field_type_text(plan.field()),
                         ", whose length varies; pad_to makes them equal");
}

Status want_real(const Arguments& arguments, const Plan& plan) {
  const DType dtype = plan.field().dtype;
  if (dtype != DType::kC64 && dtype != DType::kC128) return Status::ok();
  return arguments.fault("expected real numbers, got ", dtype_name(dtype));
}

Result<ImageShape> want_image(const Arguments& arguments, const Plan& plan) {
  const Field& field = plan.field();
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  if (std::optional<ImageShape> image = plan.image()) return *image;
  if (field.axes.empty() && field.shape.size() == 3)
    return arguments.fault("expected axes HWC or CHW, got ", field_type_text(field),
                           " without axes; the URI can say axes=HWC");
  if (field.axes.empty())
    return arguments.fault("expected an image of 2 or 3 dims, got ", field_type_text(field));
  return arguments.fault("expected axes HW, HWC or CHW, got ", field.axes);
}

Status want_countable(const Arguments& arguments, const std::vector<int64_t>& shape) {
  const std::optional<int64_t> elements = checked_product(shape);
  const std::optional<int64_t> bytes =
      elements ? checked_multiply(*elements, dtype_bytes(DType::kC128)) : std::nullopt;
  if (bytes && *bytes <= std::numeric_limits<int64_t>::max() / 2) return Status::ok();
  return arguments.fault("expected a sample that can be held in memory, got shape ", shape_text(shape));
}

Result<Size> size_argument(const Arguments& arguments, size_t index) {
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(index, 1, kMostSide));
  if (sides.size() > 2)
    return arguments.fault_at(index, "expected one side or [height, width], got ", arguments.text_of(index));
  return Size{sides.front(), sides.back()};
}

}  // namespace dataline
