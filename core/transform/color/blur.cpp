// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/color/adjust.h"

#include <cstring>

#include "core/base/portable_math.h"

namespace dataline {
namespace {

int64_t reflected(int64_t at, int64_t size) {
  if (at < 0) return -at;
  return at < size ? at : 2 * (size - 1) - at;
}

// Adds `margin` reflected pixels on both sides of a line that is already in the middle.
void reflect_sides(float* values, int64_t margin, int64_t width, int64_t channels) {
  for (int64_t k = 1; k <= margin; ++k) {
    for (int64_t c = 0; c < channels; ++c) {
      values[(margin - k) * channels + c] = values[(margin + k) * channels + c];
      values[(margin + width - 1 + k) * channels + c] = values[(margin + width - 1 - k) * channels + c];
    }
  }
}

// Copies of the original lines, as many as the kernel is high, while the result overwrites the frame.
class OldLines {
 public:
  OldLines(std::byte* memory, int64_t lines, const Frame& frame)
      : memory_(memory), lines_(lines), frame_(frame) {}
  const uint8_t* line(int64_t y) {
    for (; kept_ <= y; ++kept_)
      std::memcpy(place(kept_), frame_.pixels + kept_ * frame_.line_bytes(),
                  static_cast<size_t>(frame_.line_bytes()));
    return reinterpret_cast<const uint8_t*>(place(y));
  }

 private:
  std::byte* place(int64_t y) const { return memory_ + y % lines_ * frame_.line_bytes(); }
  std::byte* memory_;
  int64_t lines_;
  const Frame& frame_;
  int64_t kept_ = 0;
};

}  // namespace

BlurSide gaussian_side(int64_t taps, double sigma) {
  BlurSide side;
  side.taps = taps;
  const int64_t half = taps / 2;
  std::array<double, BlurSide::kMax / 2 + 1> values{};
  double sum = 0;
  for (int64_t i = 0; i <= half; ++i) {
    const double x = static_cast<double>(half - i) / sigma;
    const double value = portable_exp(-0.5 * x * x);
    values[static_cast<size_t>(i)] = value;
    sum += i < half ? 2 * value : value;
  }
  for (size_t i = 0; i <= static_cast<size_t>(half); ++i)
    side.weights[i] = static_cast<float>(values[i] / sum);
  return side;
}

Status blur(const ColorKernels& kernels, const BlurSide& across, const BlurSide& down, FrameScratch& scratch,
            Frame& frame) {
  const int64_t margin = across.taps / 2, half = down.taps / 2;
  if (margin >= frame.width || half >= frame.height)
    return error(Code::kOutOfRange, "gaussian_blur: expected an image of at least ",
                 picture_size(half + 1, margin + 1), " for a kernel of ",
                 picture_size(down.taps, across.taps), ", got ", picture_size(frame.height, frame.width));
  const int64_t mark = scratch.mark(), line_bytes = frame.line_bytes();
  const int64_t values = (frame.width + 2 * margin) * frame.channels;
  const int64_t old_bytes = down.taps * line_bytes, sum_bytes = values * static_cast<int64_t>(sizeof(float));
  std::byte* const old_memory = scratch.take(old_bytes);
  std::byte* const sum_memory = scratch.take(sum_bytes);
  if (old_memory == nullptr || sum_memory == nullptr)
    return scratch.too_large(frame.height, frame.width, old_bytes + sum_bytes);
  float* const sums = reinterpret_cast<float*>(sum_memory);
  OldLines old(old_memory, down.taps, frame);
  std::array<const uint8_t*, BlurSide::kMax> lines{};
  for (int64_t y = 0; y < frame.height; ++y) {
    for (int64_t k = 0; k < down.taps; ++k)
      lines[static_cast<size_t>(k)] = old.line(reflected(y - half + k, frame.height));
    kernels.blur_columns({lines.data(), down.weights.data(), down.taps}, sums + margin * frame.channels,
                         line_bytes);
    reflect_sides(sums, margin, frame.width, frame.channels);
    kernels.blur_line(sums, across.weights.data(), across.taps, frame.channels,
                      reinterpret_cast<uint8_t*>(frame.pixels + y * line_bytes), line_bytes);
  }
  scratch.release(mark);
  return Status::ok();
}

}  // namespace dataline
