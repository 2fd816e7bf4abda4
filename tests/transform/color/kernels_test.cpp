// Loops of colour operators: every vector target writes the bytes of the plain ones, at any length and alignment, and none
// beside its own.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "core/base/random.h"
#include "tests/transform/support/runner.h"

namespace dataline::kernels_test {
namespace {

using Bytes8 = std::vector<uint8_t>;
constexpr int64_t kGuard = 64;
constexpr int64_t kMostPixels = 75;

// Random levels with runs of grey pixels, ends of the range and equal pairs.
Bytes8 levels(int64_t count, uint64_t seed) {
  Bytes8 out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t bits = random_bits(seed, i / 3 % 5 == 0 ? i / 3 : i);
    out[i] = bits % 11 == 0 ? 0 : bits % 13 == 0 ? 255 : static_cast<uint8_t>(bits >> 8);
  }
  return out;
}

// What `run` makes of the bytes at an odd place, with what lies around them.
Bytes8 result(const Bytes8& in, int64_t misalignment, const std::function<void(uint8_t*)>& run) {
  Bytes8 memory(in.size() + 2 * kGuard, 0xdd);
  std::copy(in.begin(), in.end(), memory.begin() + kGuard - misalignment);
  run(memory.data() + kGuard - misalignment);
  return memory;
}

using Loop = std::function<void(const ColorKernels&, uint8_t*, int64_t)>;

void expect_same(const char* name, const Loop& loop) {
  for (const SimdTarget target : tests::simd_targets()) {
    for (int64_t pixels = 0; pixels <= kMostPixels; ++pixels) {
      const Bytes8 in = levels(3 * pixels, static_cast<uint64_t>(pixels));
      const auto with = [&](const ColorKernels& kernels) {
        return result(in, pixels % 5, [&](uint8_t* at) { loop(kernels, at, pixels); });
      };
      ASSERT_EQ(with(color_kernels(target)), with(plain_color_kernels()))
          << name << " of " << pixels << " pixels on " << simd_target_name(target);
    }
  }
}

TEST(ColorKernels, PixelLoopsAreThePlainOnesOnEveryTarget) {
  expect_same("gray of three",
              [](const ColorKernels& k, uint8_t* at, int64_t n) { k.to_gray(at, at, 3, n); });
  expect_same("gray of one", [](const ColorKernels& k, uint8_t* at, int64_t n) { k.to_gray(at, at, 1, n); });
  for (const double factor : {0.0, 0.37, 1.0, 1.9, 1e6})
    expect_same("saturate",
                [&](const ColorKernels& k, uint8_t* at, int64_t n) { k.saturate(at, n, Blend(factor)); });
  for (const float shift : {-0.5F, -0.21F, 0.0F, 0.13F, 0.5F})
    expect_same("shift_hue",
                [&](const ColorKernels& k, uint8_t* at, int64_t n) { k.shift_hue(at, n, shift); });
}

TEST(ColorKernels, GraySumIsExactBeyondWhatALaneHolds) {
  const Bytes8 white(3 * 300001, 255);
  for (const SimdTarget target : tests::simd_targets())
    EXPECT_EQ(color_kernels(target).gray_sum(white.data(), 300001), 300001 * 254) << simd_target_name(target);
}

TEST(ColorKernels, NeighbourLoopsAreThePlainOnesOnEveryTarget) {
  for (const SimdTarget target : tests::simd_targets()) {
    for (const int64_t channels : {1, 3, 4}) {
      for (int64_t pixels = 3; pixels <= kMostPixels; ++pixels) {
        const int64_t bytes = pixels * channels;
        const Bytes8 a = levels(bytes, 1), b = levels(bytes, 2), c = levels(bytes, 3);
        for (const double factor : {0.0, 0.6, 2.7}) {
          const auto with = [&](const ColorKernels& kernels) {
            return result(a, pixels % 3, [&](uint8_t* to) {
              kernels.sharpen(a.data(), b.data(), c.data(), to, bytes, channels, Blend(factor));
            });
          };
          ASSERT_EQ(with(color_kernels(target)), with(plain_color_kernels()))
              << pixels << " pixels of " << channels << " on " << simd_target_name(target);
        }
      }
    }
  }
}

TEST(ColorKernels, BlurLoopsAreThePlainOnesOnEveryTarget) {
  constexpr std::array<float, 4> kWeights{0.05F, 0.1F, 0.2F, 0.3F};
  for (const SimdTarget target : tests::simd_targets()) {
    for (int64_t count = 0; count <= 150; ++count) {
      std::array<Bytes8, 7> lines;
      std::array<const uint8_t*, 7> at{};
      for (size_t i = 0; i < lines.size(); ++i) at[i] = (lines[i] = levels(count, i)).data();
      const auto with = [&](const ColorKernels& kernels) {
        std::vector<float> sums(static_cast<size_t>(count) + 6 * 3 + 1, -1.0F);
        kernels.blur_columns({at.data(), kWeights.data(), 7}, sums.data(), count);
        EXPECT_EQ(sums[static_cast<size_t>(count)], -1.0F);
        for (size_t i = static_cast<size_t>(count); i < sums.size(); ++i)
          sums[i] = static_cast<float>(i * 7 % 256);
        Bytes8 out = result(Bytes8(static_cast<size_t>(count)), count % 3, [&](uint8_t* to) {
          kernels.blur_line(sums.data(), kWeights.data(), 7, 3, to, count);
        });
        for (size_t i = 0; i < static_cast<size_t>(count); ++i) out.push_back(static_cast<uint8_t>(sums[i]));
        return out;
      };
      ASSERT_EQ(with(color_kernels(target)), with(plain_color_kernels()))
          << count << " values on " << simd_target_name(target);
    }
  }
}

// Of all 2^24 colours, against the exact sum: f32 may fall on the other side of a whole number for a few.
TEST(ColorKernels, GrayLevelsAreTheExactSumCutOff) {
  int64_t differ = 0;
  for (int32_t r = 0; r < 256; ++r) {
    for (int32_t g = 0; g < 256; ++g) {
      for (int32_t b = 0; b < 256; ++b) {
        const int32_t exact = (2989 * r + 5870 * g + 1140 * b) / 10000;
        const int32_t got = gray_level(static_cast<float>(r), static_cast<float>(g), static_cast<float>(b));
        differ += got != exact ? 1 : 0;
        ASSERT_LE(std::abs(got - exact), 1);
      }
    }
  }
  EXPECT_LE(differ, 24);
}

TEST(ColorKernels, BlendOfALevelWithItselfStaysWithinOneLevel) {
  for (int32_t step = 0; step <= 400; ++step) {
    const Blend blend(step / 100.0);
    for (int32_t level = 0; level < 256; ++level) {
      const float x = static_cast<float>(level);
      const int32_t got = blend_parts(x, blend.ratio, blend.high * x, blend.low * x);
      ASSERT_TRUE(got == level || got == level - 1) << level << " at " << step;
    }
  }
}

}  // namespace
}  // namespace dataline::kernels_test
