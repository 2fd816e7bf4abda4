// chw and hwc. By the field's axes where it has them; else three dims are taken as what is not asked for: HWC by
// chw, CHW by hwc.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

Status add_layout(const Arguments& arguments, Plan& plan, ImageLayout layout) {
  const Field& field = plan.field();
  if (field.axes.empty() && field.kind == FieldKind::kDense && field.shape.size() == 3) {
    const std::vector<int64_t>& shape = field.shape;
    const ImageShape image = layout == ImageLayout::kPlanar
                                 ? ImageShape{ImageLayout::kInterleaved, shape[2], shape[0], shape[1]}
                                 : ImageShape{ImageLayout::kPlanar, shape[0], shape[1], shape[2]};
    plan.add_layout(image, layout);
    return Status::ok();
  }
  if (plan.in_frame()) {
    plan.add_layout(*plan.image(), layout);
    return Status::ok();
  }
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  plan.add_layout(image, layout);
  return Status::ok();
}

}  // namespace

Status add_chw(const Arguments& arguments, Plan& plan) {
  return add_layout(arguments, plan, ImageLayout::kPlanar);
}

Status add_hwc(const Arguments& arguments, Plan& plan) {
  return add_layout(arguments, plan, ImageLayout::kInterleaved);
}

}  // namespace dataline
