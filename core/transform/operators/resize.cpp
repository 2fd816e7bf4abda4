// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kSize, kFilter, kAntialias, kLimit };
constexpr OperatorArgument kArguments[] = {{"size", "integer or list", ""},
                                           kFilterArgument,
                                           {"antialias", "true or false", "true"},
                                           {"max_size", "integer", "none"}};

Status add(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(kSize, 1, kMaxSide));
  if (sides.size() > 2)
    return arguments.fault_at(kSize, "expected the shorter side or [height, width], got ",
                              arguments.text_of(kSize));
  ViewStep step;
  step.kind = ViewStep::Kind::kResize;
  step.height = sides[0];
  step.width = sides.size() == 2 ? sides[1] : 0;
  DL_ASSIGN_OR_RETURN(step.filter, filter_argument(arguments, kFilter));
  DL_ASSIGN_OR_RETURN(step.antialias, arguments.boolean(kAntialias));
  if (arguments.given(kLimit)) {
    if (step.width != 0)
      return arguments.fault_at(kLimit, "expected it beside one size, the shorter side's, got ",
                                arguments.text_of(kSize), " and ", arguments.text_of(kLimit));
    DL_ASSIGN_OR_RETURN(step.max_size, arguments.integer(kLimit, step.height + 1, kMaxSide));
  }
  const FrameShape out = step.shape(shape);
  if (out.fixed()) DL_RETURN_IF_ERROR(want_countable(arguments, {out.height, out.width, out.channels}));
  plan.add_view(step);
  return Status::ok();
}

}  // namespace

const Operator resize_operator = {
    {"resize", kArguments,
     "Scales the image: a number is the length of the shorter side (max_size limits the longer one), or "
     "[height, width]. antialias=false takes as many taps for smaller images as for larger ones.",
     "torchvision.transforms.v2.Resize", "0.1"},
    add};

}  // namespace dataline
