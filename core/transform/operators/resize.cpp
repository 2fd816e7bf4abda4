// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kSize, kFilter, kAntialias, kMaxSize };
}

Status add_resize(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(kSize, 1, kMostSide));
  if (sides.size() > 2)
    return arguments.fault_at(kSize, "expected the shorter side or [height, width], got ",
                              arguments.text_of(kSize));
  ViewStep step;
  step.kind = ViewStep::Kind::kResize;
  step.height = sides[0];
  step.width = sides.size() == 2 ? sides[1] : 0;
  DL_ASSIGN_OR_RETURN(step.filter, filter_argument(arguments, kFilter));
  if (arguments.given(kAntialias)) {
    DL_ASSIGN_OR_RETURN(step.antialias, arguments.boolean(kAntialias));
  }
  if (arguments.given(kMaxSize)) {
    if (step.width != 0)
      return arguments.fault_at(kMaxSize, "expected it beside one size, the shorter side's, got ",
                                arguments.text_of(kSize), " and ", arguments.text_of(kMaxSize));
    DL_ASSIGN_OR_RETURN(step.most, arguments.integer(kMaxSize, step.height + 1, kMostSide));
  }
  const FrameShape out = step.shape(shape);
  if (out.fixed()) DL_RETURN_IF_ERROR(want_countable(arguments, {out.height, out.width, out.channels}));
  plan.add_view(step);
  return Status::ok();
}

}  // namespace dataline
