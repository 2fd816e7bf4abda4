// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/pad.h"

#include <algorithm>
#include <cstring>

#include "core/base/checked.h"
#include "core/transform/fill.h"

namespace dataline {
namespace {

// Where the pixel at `at`, which may lie outside [0, size), comes from.
int64_t source_of(int64_t at, int64_t size, PadMode mode) {
  if (mode == PadMode::kEdge) return std::clamp<int64_t>(at, 0, size - 1);
  const int64_t mirror = mode == PadMode::kReflect ? 0 : 1;
  if (at < 0) return -at - mirror;
  return at < size ? at : 2 * size - 2 - at + mirror;
}

void copy_pixel(std::byte* to, const std::byte* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}

}  // namespace

Status Padding::fits(int64_t height, int64_t width) const {
  if (mode == PadMode::kConstant) return Status::ok();
  const int64_t beyond = mode == PadMode::kReflect ? 1 : 0;
  int64_t least_height = std::max(top, bottom) + beyond, least_width = std::max(left, right) + beyond;
  if (mode == PadMode::kEdge) least_height = least_width = 1;
  if (height >= least_height && width >= least_width) return Status::ok();
  return error(Code::kOutOfRange, "pad: expected an image of at least ", least_height, "x", least_width,
               " for this padding and mode, got ", height, "x", width);
}

FrameShape PadStage::shape(const FrameShape& in) const {
  FrameShape out = in;
  if (in.height != FrameShape::kVaries) out.height += padding_.top + padding_.bottom;
  if (in.width != FrameShape::kVaries) out.width += padding_.left + padding_.right;
  return out;
}

Status PadStage::apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const {
  static_cast<void>(draws);
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

}  // namespace dataline
