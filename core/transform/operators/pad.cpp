// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/pad.h"

#include "core/transform/operators/color_checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kPadding, kFill, kMode };
}

Status add_pad(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(Padding padding, padding_argument(arguments, {kPadding, kFill, kMode}));
  DL_ASSIGN_OR_RETURN(padding.fill, fill_argument(arguments, kFill, shape.channels));
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
