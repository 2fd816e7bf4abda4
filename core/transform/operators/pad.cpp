// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/pad.h"

#include "core/transform/operators/color_checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kPadding, kFill, kMode };
}

Status add_pad(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(kPadding, 0, kMostSide));
  if (sides.size() == 3 || sides.size() > 4)
    return arguments.fault_at(kPadding, "expected 1, 2 or 4 numbers, got ", arguments.text_of(kPadding));
  Padding padding;
  padding.left = sides[0];
  padding.top = sides[sides.size() > 1 ? 1 : 0];
  padding.right = sides.size() == 4 ? sides[2] : padding.left;
  padding.bottom = sides.size() == 4 ? sides[3] : padding.top;
  DL_ASSIGN_OR_RETURN(padding.fill, fill_argument(arguments, kFill, shape.channels));
  if (arguments.given(kMode)) {
    constexpr std::array<std::string_view, 4> kModes{"constant", "edge", "reflect", "symmetric"};
    DL_ASSIGN_OR_RETURN(const size_t mode, arguments.choice(kMode, kModes));
    padding.mode = static_cast<PadMode>(mode);
    if (mode != 0 && arguments.given(kFill))
      return arguments.fault_at(kFill, "expected it with mode=constant only, got mode=", kModes[mode]);
  }
  if (shape.fixed()) {
    Status fits = padding.fits(shape.height, shape.width);
    if (!fits.is_ok()) return arguments.fault_at(kPadding, fits.message());
    DL_RETURN_IF_ERROR(
        want_countable(arguments, {padding.top + shape.height + padding.bottom,
                                   padding.left + shape.width + padding.right, shape.channels}));
  }
  plan.add_stage(std::make_unique<PadStage>(padding));
  return Status::ok();
}

}  // namespace dataline
