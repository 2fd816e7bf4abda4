// reshape, flatten, chw, hwc and pad_to: the shape of samples and the order of their elements.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr OperatorArgument kReshapeArguments[] = {{"shape", "shape", ""}};
constexpr OperatorArgument kPadToArguments[] = {{"length", "integer or bucket", ""},
                                                {"value", "number", "0"}};

Status add_reshape(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  DL_ASSIGN_OR_RETURN(std::vector<int64_t> shape, arguments.integers(0, 0));
  if (static_cast<int64_t>(shape.size()) > kMaxRank)
    return arguments.fault_at(0, "expected at most ", kMaxRank, " dims, got ",
                              static_cast<int64_t>(shape.size()));
  const std::optional<int64_t> wanted = checked_product(shape);
  const std::optional<int64_t> present = checked_product(plan.field().shape);
  if (!wanted || wanted != present)
    return arguments.fault_at(0, "expected ", present.value_or(0), " elements, as ",
                              field_type_text(plan.field()), " has, got ", shape_text(shape));
  plan.add_reshape(std::move(shape), "");
  return Status::ok();
}

Status add_flatten(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  plan.add_reshape({checked_product(plan.field().shape).value_or(0)}, "");
  return Status::ok();
}

// A field without axes is assumed to have the other layout: three dims are HWC for chw and CHW for hwc.
template <ImageLayout kLayout>
Status add_layout(const Arguments& arguments, Plan& plan) {
  const Field& field = plan.field();
  if (field.axes.empty() && field.kind == FieldKind::kDense && field.shape.size() == 3) {
    const std::vector<int64_t>& shape = field.shape;
    const ImageShape image = kLayout == ImageLayout::kPlanar
                                 ? ImageShape{ImageLayout::kInterleaved, shape[2], shape[0], shape[1]}
                                 : ImageShape{ImageLayout::kPlanar, shape[0], shape[1], shape[2]};
    plan.add_layout(image, kLayout);
    return Status::ok();
  }
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_frame_or_image(arguments, plan));
  plan.add_layout(image, kLayout);
  return Status::ok();
}

Status add_pad_to_bucket(const Arguments& arguments, size_t length, size_t value, Plan& plan) {
  const Field& field = plan.field();
  if (plan.buckets() != BucketBy::kLength)
    return arguments.fault_at(length, "bucket: needs batches by length, the loader's option bucket_edges");
  if (field.kind != FieldKind::kRagged)
    return arguments.fault_at(length, "bucket: expected sequences of varying lengths, got ",
                              field_type_text(field));
  DL_ASSIGN_OR_RETURN(std::vector<std::byte> element, arguments.element(value, field.dtype));
  plan.add_bucket_padding(std::move(element));
  return Status::ok();
}

Status add_pad_to(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kLength, kValue };
  const Field& field = plan.field();
  if (field.shape.empty())
    return arguments.fault("expected a sequence, got a single ", dtype_name(field.dtype));
  if (field.axes.find('H') != std::string::npos)
    return arguments.fault("expected a sequence, got an image with axes ", field.axes);
  if (says_bucket(arguments, kLength)) return add_pad_to_bucket(arguments, kLength, kValue, plan);
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

const Operator reshape_operator = {
    {"reshape", kReshapeArguments, "Changes the shape, keeps the elements.", "numpy.reshape", "0.1"},
    add_reshape};
const Operator flatten_operator = {{"flatten", {}, "Changes the shape to one dim.", "torch.flatten", "0.1"},
                                   add_flatten};
const Operator chw_operator = {
    {"chw", {}, "Channels first: HWC to CHW, HW to 1xHxW.", "torchvision.transforms.ToTensor", "0.1"},
    add_layout<ImageLayout::kPlanar>};
const Operator hwc_operator = {
    {"hwc", {}, "Channels last: CHW to HWC, HW to HxWx1.", "numpy.moveaxis", "0.1"},
    add_layout<ImageLayout::kInterleaved>};
const Operator pad_to_operator = {{"pad_to", kPadToArguments,
                                   "Pads the first dim to a length with a value; sequences of varying "
                                   "lengths become dense. A longer sequence is an error. pad_to(bucket) pads "
                                   "to the edge of the batch's bucket (bucket_edges), and must be last.",
                                   "torch.nn.utils.rnn.pad_sequence", "0.1"},
                                  add_pad_to};

}  // namespace dataline
