// chw and hwc. A field without axes is assumed to have the other layout: three dims are HWC for chw and CHW for hwc.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

template <ImageLayout kLayout>
Status add(const Arguments& arguments, Plan& plan) {
  const Field& field = plan.field();
  if (field.axes.empty() && field.kind == FieldKind::kDense && field.shape.size() == 3) {
    const std::vector<int64_t>& shape = field.shape;
    const ImageShape image = kLayout == ImageLayout::kPlanar
                                 ? ImageShape{ImageLayout::kInterleaved, shape[2], shape[0], shape[1]}
                                 : ImageShape{ImageLayout::kPlanar, shape[0], shape[1], shape[2]};
    plan.add_layout(image, kLayout);
    return Status::ok();
  }
  ImageShape image;
  if (plan.in_frame()) {
    image = *plan.image();
  } else {
    DL_ASSIGN_OR_RETURN(image, want_image(arguments, plan));
  }
  plan.add_layout(image, kLayout);
  return Status::ok();
}

}  // namespace

const Operator chw_operator = {
    {"chw", {}, "Channels first: HWC to CHW, HW to 1xHxW.", "torchvision.transforms.ToTensor", "0.1"},
    add<ImageLayout::kPlanar>};
const Operator hwc_operator = {
    {"hwc", {}, "Channels last: CHW to HWC, HW to HxWx1.", "numpy.moveaxis", "0.1"},
    add<ImageLayout::kInterleaved>};

}  // namespace dataline
