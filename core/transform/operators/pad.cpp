// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "core/base/checked.h"
#include "core/transform/elements/fill.h"
#include "core/transform/operators/padding.h"

namespace dataline {
namespace {

enum Argument : size_t { kPadding, kFill, kMode };
constexpr OperatorArgument kArguments[] = {
    {"padding", "integer or list", ""}, kFillArgument, kPadModeArgument};

// The source of the pixel at `at`, which may be outside [0, size).
int64_t source_of(int64_t at, int64_t size, PadMode mode) {
  if (mode == PadMode::kEdge) return std::clamp<int64_t>(at, 0, size - 1);
  const int64_t mirror = mode == PadMode::kReflect ? 0 : 1;
  if (at < 0) return -at - mirror;
  return at < size ? at : 2 * size - 2 - at + mirror;
}

void copy_pixel(std::byte* to, const std::byte* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}

// Takes memory for the padded frame from the scratch.
class PadStage : public FrameStage {
 public:
  explicit PadStage(const Padding& padding) : padding_(padding) {}
  FrameShape shape(const FrameShape& in) const override;
  bool draws() const override { return false; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override;

 private:
  Padding padding_;
};

FrameShape PadStage::shape(const FrameShape& in) const {
  FrameShape out = in;
  if (in.height != FrameShape::kVaries) out.height += padding_.top + padding_.bottom;
  if (in.width != FrameShape::kVaries) out.width += padding_.left + padding_.right;
  return out;
}

Status PadStage::apply(const Draws&, FrameScratch& scratch, Frame& frame) const {
  const Padding& padding = padding_;
  DL_RETURN_IF_ERROR(padding.fits(frame.height, frame.width));
  Frame out = frame;
  out.height += padding.top + padding.bottom;
  out.width += padding.left + padding.right;
  out.pixels = scratch.take(out.bytes());
  if (out.pixels == nullptr) return scratch.too_large(out.height, out.width, out.bytes());
  const int64_t line = out.line_bytes(), pixel = frame.channels;
  const std::byte* const fill = reinterpret_cast<const std::byte*>(padding.fill.data());
  for (int64_t y = 0; y < frame.height; ++y) {
    std::byte* const to = out.pixels + (y + padding.top) * line;
    std::byte* const inner = to + padding.left * pixel;
    std::memcpy(inner, frame.pixels + y * frame.line_bytes(), static_cast<size_t>(frame.line_bytes()));
    std::byte* const after = inner + frame.line_bytes();
    if (padding.mode == PadMode::kConstant) {
      fill_elements(to, padding.left, fill, pixel);
      fill_elements(after, padding.right, fill, pixel);
      continue;
    }
    for (int64_t x = -padding.left; x < 0; ++x)
      copy_pixel(inner + x * pixel, inner + source_of(x, frame.width, padding.mode) * pixel, pixel);
    for (int64_t x = frame.width; x < frame.width + padding.right; ++x)
      copy_pixel(inner + x * pixel, inner + source_of(x, frame.width, padding.mode) * pixel, pixel);
  }
  for (int64_t y = -padding.top; y < frame.height + padding.bottom; ++y) {
    if (y >= 0 && y < frame.height) continue;
    std::byte* const to = out.pixels + (y + padding.top) * line;
    if (padding.mode == PadMode::kConstant)
      fill_elements(to, out.width, fill, pixel);
    else
      std::memcpy(to, out.pixels + (source_of(y, frame.height, padding.mode) + padding.top) * line,
                  static_cast<size_t>(line));
  }
  frame = out;
  return Status::ok();
}

Status add(const Arguments& arguments, Plan& plan) {
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
  plan.add_stage(make_pad(padding));
  return Status::ok();
}

}  // namespace

Status Padding::fits(int64_t height, int64_t width) const {
  if (mode == PadMode::kConstant) return Status::ok();
  const int64_t beyond = mode == PadMode::kReflect ? 1 : 0;
  int64_t min_height = std::max(top, bottom) + beyond, min_width = std::max(left, right) + beyond;
  if (mode == PadMode::kEdge) min_height = min_width = 1;
  if (height >= min_height && width >= min_width) return Status::ok();
  return error(Code::kOutOfRange, "pad: expected an image of at least ", min_height, "x", min_width,
               " for this padding and mode, got ", height, "x", width);
}

FrameStageRef make_pad(const Padding& padding) { return std::make_shared<PadStage>(padding); }

Result<Padding> padding_argument(const Arguments& arguments, const PaddingArguments& places) {
  Padding padding;
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(places.padding, 0, kMaxSide));
  if (sides.size() == 3 || sides.size() > 4) {
    return arguments.fault_at(places.padding, "expected 1, 2 or 4 numbers, got ",
                              arguments.text_of(places.padding));
  }
  padding.left = sides[0];
  padding.top = sides[sides.size() > 1 ? 1 : 0];
  padding.right = sides.size() == 4 ? sides[2] : padding.left;
  padding.bottom = sides.size() == 4 ? sides[3] : padding.top;
  DL_ASSIGN_OR_RETURN(padding.mode,
                      arguments.choice<PadMode>(places.mode, {{"constant", PadMode::kConstant},
                                                              {"edge", PadMode::kEdge},
                                                              {"reflect", PadMode::kReflect},
                                                              {"symmetric", PadMode::kSymmetric}}));
  if (padding.mode != PadMode::kConstant && arguments.given(places.fill)) {
    DL_ASSIGN_OR_RETURN(const std::string_view mode, arguments.word(places.mode));
    return arguments.fault_at(places.fill, "expected it with mode=constant only, got mode=", mode);
  }
  return padding;
}

const Operator pad_operator = {{"pad", kArguments,
                                "Borders: all sides, [left and right, top and bottom] or [left, top, right, "
                                "bottom]; of fill, or by mode of pixels of the image.",
                                "torchvision.transforms.v2.Pad", "0.1"},
                               add};

}  // namespace dataline
