// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/adjust.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dataline {
namespace {

uint8_t* bytes_of(const Frame& frame) { return reinterpret_cast<uint8_t*>(frame.pixels); }
int64_t pixels_of(const Frame& frame) { return frame.height * frame.width; }

// Equal to PyTorch's mean while the sum is below 2^24; above, rounded once.
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

constexpr int64_t kLevels = 256;

template <typename Level>
LevelTable levels_of(Level level) {
  LevelTable table{};
  for (int64_t i = 0; i < kLevels; ++i) table[static_cast<size_t>(i)] = level(static_cast<int32_t>(i));
  return table;
}

struct FactorRange {
  uint8_t min = 255;
  uint8_t max = 0;
};

// 48 bytes at a time: whole pixels of one and of three channels, so that each lane belongs to one channel.
std::array<FactorRange, 3> ranges_of(const Frame& frame) {
  constexpr int64_t kBlock = 48;
  std::array<uint8_t, kBlock> min, max;
  min.fill(255);
  max.fill(0);
  const uint8_t* const bytes = bytes_of(frame);
  const int64_t count = frame.bytes();
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    std::array<uint8_t, kBlock> block;  // a copy, because gcc does not vectorize possible overlaps
    std::memcpy(block.data(), bytes + i, kBlock);
    for (size_t k = 0; k < kBlock; ++k) {
      min[k] = std::min(min[k], block[k]);
      max[k] = std::max(max[k], block[k]);
    }
  }
  for (size_t k = 0; i < count; ++i, ++k) {
    min[k] = std::min(min[k], bytes[i]);
    max[k] = std::max(max[k], bytes[i]);
  }
  std::array<FactorRange, 3> out;
  for (size_t k = 0; k < kBlock; ++k) {
    FactorRange& range = out[k % static_cast<size_t>(frame.channels)];
    range.min = std::min(range.min, min[k]);
    range.max = std::max(range.max, max[k]);
  }
  return out;
}

using LevelCounts = std::array<int64_t, kLevels>;

// Even and odd pixels have separate counters: equal neighbours would otherwise serialize on store forwarding.
template <size_t kChannels>
std::array<LevelCounts, 3> count_levels(const uint8_t* bytes, int64_t pixels) {
  std::array<std::array<uint32_t, kLevels>, 2 * kChannels> counts{};
  std::array<LevelCounts, 3> out{};
  constexpr int64_t kMaxPixels = int64_t{1} << 31;  // per iteration, so that no counter overflows
  while (pixels > 0) {
    const int64_t now = std::min(pixels, kMaxPixels);
    for (int64_t i = 0; i < now; ++i) {
      const size_t half = (i & 1) != 0 ? kChannels : 0;
      for (size_t c = 0; c < kChannels; ++c) ++counts[half + c][*bytes++];
    }
    for (size_t c = 0; c < 2 * kChannels; ++c) {
      for (size_t level = 0; level < kLevels; ++level) out[c % kChannels][level] += counts[c][level];
      counts[c].fill(0);
    }
    pixels -= now;
  }
  return out;
}

LevelTable equalized(const LevelCounts& histogram, int64_t pixels) {
  const LevelTable same = levels_of([](int32_t level) { return static_cast<uint8_t>(level); });
  size_t last = kLevels - 1;
  while (last > 0 && histogram[last] == 0) --last;
  const int64_t step = (pixels - histogram[last]) / (kLevels - 1);
  if (step == 0) return same;
  LevelTable table{};
  int64_t below = 0;
  for (size_t level = 0; level < kLevels; ++level) {
    table[level] =
        level == 0 ? 0 : static_cast<uint8_t>(std::min<int64_t>((below + step / 2) / step, kLevels - 1));
    below += histogram[level];
  }
  return table;
}

LevelTable stretched(FactorRange range) {
  const bool flat = range.max == range.min;
  const float min = flat ? 0.0F : static_cast<float>(range.min);
  const float width = static_cast<float>(range.max) - static_cast<float>(range.min);
  const float step = flat ? 1.0F : width * static_cast<float>(1.0 / 255.0);
  return levels_of([&](int32_t level) { return cut_to_byte((static_cast<float>(level) - min) / step); });
}

}  // namespace

LevelTable solarize_levels(double threshold) {
  const float from = static_cast<float>(threshold);
  return levels_of([&](int32_t level) {
    return static_cast<uint8_t>(static_cast<float>(level) >= from ? 255 - level : level);
  });
}

LevelTable posterize_levels(int64_t bits) {
  const int32_t kept = 0xff & ~(0xff >> bits);
  return levels_of([&](int32_t level) { return static_cast<uint8_t>(level & kept); });
}

LevelTable invert_levels() {
  return levels_of([](int32_t level) { return static_cast<uint8_t>(255 - level); });
}

ChannelTables autocontrast_levels(const Frame& frame) {
  const std::array<FactorRange, 3> ranges = ranges_of(frame);
  ChannelTables tables;
  for (size_t c = 0; c < static_cast<size_t>(frame.channels); ++c) tables[c] = stretched(ranges[c]);
  return tables;
}

ChannelTables equalize_levels(const Frame& frame) {
  const int64_t pixels = frame.height * frame.width;
  const std::array<LevelCounts, 3> histograms = frame.channels == 1
                                                    ? count_levels<1>(bytes_of(frame), pixels)
                                                    : count_levels<3>(bytes_of(frame), pixels);
  ChannelTables tables;
  for (size_t c = 0; c < static_cast<size_t>(frame.channels); ++c)
    tables[c] = equalized(histograms[c], pixels);
  return tables;
}

void map_levels(const LevelTable& table, Frame& frame) {
  uint8_t* const bytes = bytes_of(frame);
  const int64_t count = frame.bytes();
  for (int64_t i = 0; i < count; ++i) bytes[i] = table[bytes[i]];
}

void map_levels(const ChannelTables& tables, Frame& frame) {
  if (frame.channels == 1) return map_levels(tables[0], frame);
  uint8_t* const bytes = bytes_of(frame);
  const int64_t count = frame.bytes();
  for (int64_t i = 0; i + 3 <= count; i += 3) {
    bytes[i] = tables[0][bytes[i]];
    bytes[i + 1] = tables[1][bytes[i + 1]];
    bytes[i + 2] = tables[2][bytes[i + 2]];
  }
}

void adjust_brightness(double factor, Frame& frame) {
  const float ratio = static_cast<float>(factor);
  const auto level_of = [&](int32_t level) { return cut_to_byte(static_cast<float>(level) * ratio); };
  map_levels(levels_of(level_of), frame);
}

void adjust_contrast(const ColorKernels& kernels, double factor, Frame& frame) {
  if (frame.bytes() == 0) return;
  const float ratio = static_cast<float>(factor), mean = gray_mean(kernels, frame);
  // (1 - ratio) * mean has 48 bits: two parts hold it exactly.
  const double rest = static_cast<double>(static_cast<float>(1.0 - factor)) * static_cast<double>(mean);
  const float high = static_cast<float>(rest);
  const float low = static_cast<float>(rest - static_cast<double>(high));
  const auto level_of = [&](int32_t level) {
    return blend_parts(static_cast<float>(level), ratio, high, low);
  };
  map_levels(levels_of(level_of), frame);
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
  // Copies of the original line above and of the current line; the result overwrites the frame.
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
  kernels.to_gray(bytes_of(frame), bytes_of(frame), channels, pixels_of(frame));
  frame.channels = channels;
  return Status::ok();
}

}  // namespace dataline
