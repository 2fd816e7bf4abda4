// mixup and cutmix. Rows are left alone; the request is kept in the plan and carried out on finished batches (mix/mix.h).
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr OperatorArgument kMixArguments[] = {{"alpha", "number", "1"},
                                              {"labels", "field, by name", "label", "", kByName}};
constexpr double kMinAlpha = 1e-6, kMaxAlpha = 1e6;

Result<MixRequest> read_request(const Arguments& arguments, const Plan& plan, MixKind kind) {
  enum Argument : size_t { kAlpha, kLabels };
  MixRequest request;
  request.mix.kind = kind;
  DL_ASSIGN_OR_RETURN(request.mix.alpha, arguments.number(kAlpha));
  if (!(request.mix.alpha >= kMinAlpha && request.mix.alpha <= kMaxAlpha))
    return arguments.expected(kAlpha, "a number from 0.000001 to 1000000");
  DL_ASSIGN_OR_RETURN(request.labels, arguments.word(kLabels));
  request.mix.place = plan.place();
  request.column = arguments.column();
  request.labels_column = arguments.column_of(kLabels);
  return request;
}

Status add_mixup(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  if (!dtype_is_float(plan.field().dtype))
    return arguments.fault("expected floats, got ", dtype_name(plan.field().dtype),
                           ": put normalize or cast(f32) before");
  DL_ASSIGN_OR_RETURN(MixRequest request, read_request(arguments, plan, MixKind::kMixup));
  plan.add_mix(request);
  return Status::ok();
}

Status add_cutmix(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  if (image.pixels() < 1) return arguments.fault("expected pixels, got ", field_type_text(plan.field()));
  DL_ASSIGN_OR_RETURN(MixRequest request, read_request(arguments, plan, MixKind::kCutmix));
  request.mix.shape = image;
  plan.add_mix(request);
  return Status::ok();
}

}  // namespace

const Operator mixup_operator = {
    {"mixup", kMixArguments,
     "Must be last. Works on finished batches: lambda * row + (1 - lambda) * the row before, for the image "
     "and the float field labels. One lambda per batch, from Beta(alpha, alpha).",
     "torchvision.transforms.v2.MixUp", "0.1"},
    add_mixup};
const Operator cutmix_operator = {
    {"cutmix", kMixArguments,
     "Must be last. Works on finished batches: each image gets a rectangle of the image before it, and its "
     "float field labels that share of the area. One lambda per batch, from Beta(alpha, alpha).",
     "torchvision.transforms.v2.CutMix", "0.1"},
    add_cutmix};

}  // namespace dataline
