// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/adjust.h"

#include <array>
#include <cstring>

#include "core/transform/color/levels.h"

namespace dataline {
namespace {

uint8_t* bytes_of(const Frame& frame) { return reinterpret_cast<uint8_t*>(frame.pixels); }
int64_t pixels_of(const Frame& frame) { return frame.height * frame.width; }

// As PyTorch's mean while the sum is below 2^24, and rounded once beyond.
float gray_mean(const ColorKernels& kernels, const Frame& frame) {
  int64_t sum = 0;
  const uint8_t* const bytes = bytes_of(frame);
  if (frame.channels == 3) sum = kernels.gray_sum(bytes, pixels_of(frame));
  for (int64_t i = 0; frame.channels == 1 && i < pixels_of(frame); ++i) sum += bytes[i];
  return static_cast<float>(static_cast<double>(sum) / static_cast<double>(pixels_of(frame)));
}

Status spread(FrameScratch& scratch, Frame& frame) {
  const int64_t pixels = pixels_of(frame);
  std::byte* const memory = scratch.take(3 * pixels);
  if (memory == nullptr) return scratch.too_large(frame.height, frame.width, 3 * pixels);
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t c = 0; c < 3; ++c) memory[3 * i + c] = frame.pixels[i];
  }
  frame.pixels = memory;
  frame.channels = 3;
  return Status::ok();
}

}  // namespace

void adjust_brightness(double factor, Frame& frame) { map_levels(brightness_levels(factor), frame); }

void adjust_contrast(const ColorKernels& kernels, double factor, Frame& frame) {
  if (frame.bytes() == 0) return;
  map_levels(contrast_levels(factor, gray_mean(kernels, frame)), frame);
}

void adjust_saturation(const ColorKernels& kernels, double factor, Frame& frame) {
  if (frame.channels == 3) kernels.saturate(bytes_of(frame), pixels_of(frame), Blend(factor));
}

void adjust_hue(const ColorKernels& kernels, double shift, Frame& frame) {
  if (frame.channels == 3) kernels.shift_hue(bytes_of(frame), pixels_of(frame), static_cast<float>(shift));
}

Status adjust_sharpness(const ColorKernels& kernels, double factor, FrameScratch& scratch, Frame& frame) {
  if (frame.height <= 2 || frame.width <= 2) return Status::ok();
  const int64_t mark = scratch.mark(), line_bytes = frame.line_bytes();
  // The lines above and at hand as they were; the result goes into the frame.
  std::array<std::byte*, 2> was{scratch.take(line_bytes), scratch.take(line_bytes)};
  if (was[1] == nullptr) return scratch.too_large(frame.height, frame.width, 2 * line_bytes);
  const auto line = [&](int64_t y) { return frame.pixels + y * line_bytes; };
  const auto bytes = [](std::byte* at) { return reinterpret_cast<uint8_t*>(at); };
  std::memcpy(was[0], line(0), static_cast<size_t>(line_bytes));
  const Blend blend(factor);
  for (int64_t y = 1; y + 1 < frame.height; ++y) {
    std::byte* const above = was[static_cast<size_t>(y - 1) % 2];
    std::byte* const here = was[static_cast<size_t>(y) % 2];
    std::memcpy(here, line(y), static_cast<size_t>(line_bytes));
    kernels.sharpen(bytes(above), bytes(here), bytes(line(y + 1)), bytes(line(y)), line_bytes, frame.channels,
                    blend);
  }
  scratch.release(mark);
  return Status::ok();
}

Status make_gray(const ColorKernels& kernels, int64_t channels, FrameScratch& scratch, Frame& frame) {
  if (frame.channels == 1) return channels == 3 ? spread(scratch, frame) : Status::ok();
  if (channels == 3) {
    kernels.gray_three(bytes_of(frame), pixels_of(frame));
  } else {
    kernels.gray_one(bytes_of(frame), bytes_of(frame), pixels_of(frame));
    frame.channels = 1;
  }
  return Status::ok();
}

}  // namespace dataline
