// mixup and cutmix: nothing is done to a row; what is asked for is kept in the plan, for finished batches.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kAlpha, kLabels };
constexpr double kDefaultAlpha = 1;
constexpr double kLeastAlpha = 1e-6, kMostAlpha = 1e6;
constexpr std::string_view kUsualLabels = "label";

Result<double> alpha_argument(const Arguments& arguments) {
  if (!arguments.given(kAlpha)) return kDefaultAlpha;
  DL_ASSIGN_OR_RETURN(const double alpha, arguments.number(kAlpha));
  if (alpha >= kLeastAlpha && alpha <= kMostAlpha) return alpha;
  return arguments.fault_at(kAlpha, "expected a number from 0.000001 to 1000000, got ",
                            arguments.text_of(kAlpha));
}

Result<MixRequest> read_request(const Arguments& arguments, const Plan& plan, MixKind kind) {
  MixRequest request;
  request.kind = kind;
  DL_ASSIGN_OR_RETURN(request.alpha, alpha_argument(arguments));
  request.labels = kUsualLabels;
  if (arguments.given(kLabels)) {
    DL_ASSIGN_OR_RETURN(const std::string_view labels, arguments.word(kLabels));
    request.labels = labels;
  }
  request.place = plan.place();
  request.column = arguments.column();
  request.labels_column = arguments.column_of(kLabels);
  return request;
}

Status want_one_size(const Arguments& arguments, const Plan& plan) {
  if (!plan.field().varies()) return Status::ok();
  return arguments.fault("expected images of one size, got ", field_type_text(plan.field()),
                         ": put resize([h, w]) or random_resized_crop before");
}

}  // namespace

Status add_mixup(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  DL_RETURN_IF_ERROR(want_one_size(arguments, plan));
  if (!dtype_is_float(plan.field().dtype)) {
    return arguments.fault("expected floats, got ", dtype_name(plan.field().dtype),
                           ": put normalize or cast(f32) before");
  }
  DL_ASSIGN_OR_RETURN(MixRequest request, read_request(arguments, plan, MixKind::kMixup));
  plan.add_mix(std::move(request));
  return Status::ok();
}

Status add_cutmix(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_RETURN_IF_ERROR(want_one_size(arguments, plan));
  if (image.pixels() < 1) return arguments.fault("expected pixels, got ", field_type_text(plan.field()));
  DL_ASSIGN_OR_RETURN(MixRequest request, read_request(arguments, plan, MixKind::kCutmix));
  request.shape = image;
  plan.add_mix(std::move(request));
  return Status::ok();
}

}  // namespace dataline
