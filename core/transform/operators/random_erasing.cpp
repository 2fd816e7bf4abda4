// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/erase.h"
#include "core/transform/operators/color_checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kProbability, kScale, kRatio, kValue };

// Empty: normal values.
Result<std::vector<std::byte>> value_argument(const Arguments& arguments, DType dtype, int64_t channels) {
  if (!arguments.given(kValue) || !arguments.word(kValue).is_ok())
    return arguments.elements(kValue, dtype, channels);
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const size_t choice,
                      arguments.choice(kValue, std::array<std::string_view, 1>{"random"}));
  if (dtype_is_float(dtype)) return std::vector<std::byte>();
  return arguments.fault_at(kValue, "expected a number, or floats to erase with normal values, got ",
                            dtype_name(dtype), ": put random_erasing after normalize");
}

}  // namespace

Status add_random_erasing(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_RETURN_IF_ERROR(want_real(arguments, plan));
  Erasing erasing;
  DL_ASSIGN_OR_RETURN(erasing.probability,
                      probability_argument(arguments, kProbability, erasing.probability));
  if (arguments.given(kScale)) {
    DL_ASSIGN_OR_RETURN(const Range scale, bounds_argument(arguments, kScale, 0, 1));
    erasing.scale_low = scale.low;
    erasing.scale_high = scale.high;
  }
  DL_ASSIGN_OR_RETURN(const Range ratio,
                      range_argument(arguments, kRatio, {erasing.ratio_low, erasing.ratio_high}));
  erasing.ratio_low = ratio.low;
  erasing.ratio_high = ratio.high;
  const DType dtype = plan.field().dtype;
  if (dtype == DType::kU8) {
    DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
    DL_ASSIGN_OR_RETURN(erasing.value, value_argument(arguments, dtype, shape.channels));
    plan.add_stage(std::make_unique<EraseStage>(std::move(erasing)));
    return Status::ok();
  }
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_ASSIGN_OR_RETURN(erasing.value, value_argument(arguments, dtype, image.channels));
  const bool draws = erasing.probability > 0;
  plan.add_pass(std::make_unique<ErasePass>(std::move(erasing), image, dtype, plan.place()), draws);
  return Status::ok();
}

}  // namespace dataline
