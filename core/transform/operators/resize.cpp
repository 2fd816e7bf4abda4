// resize and random_resized_crop.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr OperatorArgument kResizeArguments[] = {{"size", "integer, list or bucket", ""},
                                                 kFilterArgument,
                                                 {"max_size", "integer", "none"},
                                                 {"antialias", "true or false", "true"}};
constexpr OperatorArgument kRandomResizedCropArguments[] = {
    {"size", "integer, list or bucket", ""},
    {"scale", "list", "[0.08, 1]"},
    {"ratio", "list", "[3/4, 4/3]"},  // for people: the value is that of ViewStep
    kFilterArgument,
    {"antialias", "true or false", "true"}};

Result<ViewStep> resize_step(const Arguments& arguments, size_t index, const Plan& plan) {
  DL_ASSIGN_OR_RETURN(const std::optional<ViewStep> to_bucket,
                      bucket_step(arguments, index, ViewStep::Kind::kResize, plan));
  if (to_bucket) return *to_bucket;
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(index, 1, kMaxSide));
  if (sides.size() > 2) return arguments.expected(index, "the shorter side or [height, width]");
  return ViewStep{
      .kind = ViewStep::Kind::kResize, .height = sides[0], .width = sides.size() == 2 ? sides[1] : 0};
}

Status add_resize(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kSize, kFilter, kLimit, kAntialias };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(ViewStep step, resize_step(arguments, kSize, plan));
  DL_ASSIGN_OR_RETURN(step.filter, filter_argument(arguments, kFilter));
  DL_ASSIGN_OR_RETURN(step.antialias, arguments.boolean(kAntialias));
  if (arguments.given(kLimit)) {
    if (step.width != 0 || step.to_bucket)
      return arguments.fault_at(kLimit, "expected it only with one size, the shorter side, got ",
                                arguments.text_of(kSize), " and ", arguments.text_of(kLimit));
    DL_ASSIGN_OR_RETURN(step.max_size, arguments.integer(kLimit, step.height + 1, kMaxSide));
  }
  const FrameShape out = step.shape(shape);
  if (out.fixed()) DL_RETURN_IF_ERROR(want_countable(arguments, {out.height, out.width, out.channels}));
  plan.add_view(step);
  return Status::ok();
}

Status add_random_resized_crop(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kSize, kScale, kRatio, kFilter, kAntialias };
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_frame(arguments, plan));
  constexpr ViewStep::Kind kKind = ViewStep::Kind::kRandomResizedCrop;
  DL_ASSIGN_OR_RETURN(const std::optional<ViewStep> to_bucket, bucket_step(arguments, kSize, kKind, plan));
  ViewStep step{.kind = kKind};
  if (to_bucket) {
    step = *to_bucket;
  } else {
    DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
    step.height = size.height;
    step.width = size.width;
  }
  DL_ASSIGN_OR_RETURN(const Range scale, range_argument(arguments, kScale));
  step.scale_low = scale.low;
  step.scale_high = scale.high;
  if (arguments.given(kRatio)) {
    DL_ASSIGN_OR_RETURN(const Range ratio, range_argument(arguments, kRatio));
    step.ratio_low = ratio.low;
    step.ratio_high = ratio.high;
  }
  DL_ASSIGN_OR_RETURN(step.filter, filter_argument(arguments, kFilter));
  DL_ASSIGN_OR_RETURN(step.antialias, arguments.boolean(kAntialias));
  plan.add_view(step);
  return Status::ok();
}

}  // namespace

const Operator resize_operator = {
    {"resize", kResizeArguments,
     "Scales the image: a number is the length of the shorter side (max_size limits the longer one), or "
     "[height, width]. bucket scales it to cover the shape of the batch's bucket (bucket_by=aspect), and "
     "crops the middle. antialias=false uses as many taps to shrink as to enlarge.",
     "torchvision.transforms.v2.Resize", "0.1"},
    add_resize};
const Operator random_resized_crop_operator = {
    {"random_resized_crop", kRandomResizedCropArguments,
     "Crops a random part of the image, and scales it to size (or [height, width], or the bucket's shape). "
     "The part's share of the area and its ratio of width to height are drawn from scale and ratio.",
     "torchvision.transforms.v2.RandomResizedCrop", "0.1"},
    add_random_resized_crop};

}  // namespace dataline
