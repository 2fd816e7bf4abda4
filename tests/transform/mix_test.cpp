// mixup and cutmix: what they draw, and what they make of rows. The twin is torchvision's formula, written out.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/mix/mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/transform/elements/convert.h"
#include "tests/transform/support/runner.h"

namespace dataline::tests::mix_test {
namespace {

// The regularized incomplete beta function I_x(a, a) for x <= 1/2, by its power series (DLMF 8.17.7), and the
// symmetry.
double beta_cdf(double x, double a) {
  if (x > 0.5) return 1 - beta_cdf(1 - x, a);
  if (x <= 0) return 0;
  double term = 1, sum = 1 / a;
  for (int n = 1; n < 100000 && std::abs(term) > 1e-18 * std::abs(sum); ++n) {
    term *= (n - a) / n * x;
    sum += term / (a + n);
  }
  return std::exp(a * std::log(x) + std::lgamma(2 * a) - 2 * std::lgamma(a)) * sum;
}

double lambda_of(double alpha, int64_t step) {
  BatchMix mix;
  mix.alpha = alpha;
  return draw_mix(mix, 7, 3, step).lambda;
}

// Kolmogorov-Smirnov at 1e-6: the seed is fixed, so a pass stays a pass.
TEST(MixLambda, FollowsTheSymmetricBetaDistribution) {
  constexpr int64_t kCount = 20000;
  for (double alpha : {0.05, 0.1, 0.2, 0.4, 0.5, 0.8, 1.0, 1.5, 2.0, 4.0, 8.0}) {
    std::vector<double> values;
    for (int64_t step = 0; step < kCount; ++step) values.push_back(lambda_of(alpha, step));
    std::sort(values.begin(), values.end());
    double distance = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      // Values are rounded to f32: near 1 many share one, which the distribution does not.
      if (values[static_cast<size_t>(i)] > 0.9999) continue;
      const double truth = beta_cdf(values[static_cast<size_t>(i)], alpha);
      distance = std::max({distance, std::abs(truth - static_cast<double>(i) / kCount),
                           std::abs(truth - static_cast<double>(i + 1) / kCount)});
    }
    EXPECT_LT(distance * std::sqrt(kCount), 2.69) << "alpha " << alpha;
  }
}

TEST(MixLambda, IsInRangeForEveryAlphaThatTheGrammarTakes) {
  for (double alpha : {1e-6, 1e-3, 1.0, 1e3, 1e6}) {
    for (int64_t step = 0; step < 2000; ++step) {
      const double lambda = lambda_of(alpha, step);
      ASSERT_GE(lambda, 0);
      ASSERT_LE(lambda, 1);
      if (alpha >= 1e3) {
        EXPECT_NEAR(lambda, 0.5, 8 / std::sqrt(8 * alpha));
      }
    }
  }
}

TEST(MixLambda, HasTheSameBitsEverywhere) {
  std::vector<float> values;
  for (double alpha : {0.2, 1.0, 8.0}) {
    for (int64_t step = 0; step < 3; ++step) values.push_back(static_cast<float>(lambda_of(alpha, step)));
  }
  const std::vector<float> golden = {0x1.fb00fap-10f, 0x1.431ddp-10f, 0x1.b44542p-23f,
                                     0x1.e9247p-1f,   0x1.a927d2p-3f, 0x1.6750cp-5f,
                                     0x1.fbcad4p-2f,  0x1.812bf2p-2f, 0x1.f8f9fp-2f};
  EXPECT_EQ(values, golden);
}

TEST(MixLambda, DiffersByStepEpochSeedAndPlace) {
  BatchMix mix, later = mix;
  later.place = 4;
  const double first = draw_mix(mix, 7, 3, 0).lambda;
  EXPECT_EQ(first, draw_mix(mix, 7, 3, 0).lambda);
  EXPECT_NE(first, draw_mix(mix, 7, 3, 1).lambda);
  EXPECT_NE(first, draw_mix(mix, 7, 4, 0).lambda);
  EXPECT_NE(first, draw_mix(mix, 8, 3, 0).lambda);
  EXPECT_NE(first, draw_mix(later, 7, 3, 0).lambda);
}

BatchMix cutmix_of(int64_t height, int64_t width) {
  BatchMix mix;
  mix.kind = MixKind::kCutmix;
  mix.shape = {ImageLayout::kPlanar, 3, height, width};
  return mix;
}

TEST(CutmixBox, IsTorchvisionsForTheDrawnLambdaAndMiddle) {
  const BatchMix mix = cutmix_of(48, 32);
  BatchMix plain = mix;
  plain.kind = MixKind::kMixup;
  bool clipped = false;
  for (int64_t step = 0; step < 3000; ++step) {
    const MixDraw box = draw_mix(mix, 1, 2, step);
    const double r = 0.5 * std::sqrt(1 - draw_mix(plain, 1, 2, step).lambda);
    const int64_t half_width = static_cast<int64_t>(r * 32), half_height = static_cast<int64_t>(r * 48);
    EXPECT_GE(box.left, 0);
    EXPECT_GE(box.top, 0);
    EXPECT_LE(box.right, 32);
    EXPECT_LE(box.bottom, 48);
    EXPECT_GE(box.right - box.left, half_width);
    EXPECT_LE(box.right - box.left, 2 * half_width);
    EXPECT_GE(box.bottom - box.top, half_height);
    EXPECT_LE(box.bottom - box.top, 2 * half_height);
    clipped = clipped || box.right - box.left < 2 * half_width;
    const double area = static_cast<double>((box.right - box.left) * (box.bottom - box.top));
    EXPECT_EQ(box.lambda, 1 - area / (48 * 32));
  }
  EXPECT_TRUE(clipped) << "the middle is drawn over the whole image";
}

TEST(CutmixBox, MiddlesAreUniform) {
  const BatchMix mix = cutmix_of(4, 8);
  constexpr int kCount = 32000;
  std::vector<int> columns(8), rows(4);
  for (int64_t step = 0; step < kCount; ++step) {
    const MixDraw box = draw_mix(mix, 5, 0, step);
    // Of half a side of 1 the box is whole, and so its middle known, everywhere but at 0 and 1.
    if (box.right - box.left == 2) ++columns[static_cast<size_t>(box.left + 1)];
    if (box.bottom - box.top == 2) ++rows[static_cast<size_t>(box.top + 1)];
  }
  for (const std::vector<int>& counts : {columns, rows}) {
    const double mean =
        std::accumulate(counts.begin() + 2, counts.end(), 0.0) / static_cast<double>(counts.size() - 2);
    ASSERT_GT(mean, 500);
    for (size_t c = 2; c < counts.size(); ++c) EXPECT_NEAR(counts[c], mean, 5 * std::sqrt(mean)) << c;
  }
}

// Rows with a gap behind each, and what lies in the gap.
struct Rows {
  Rows(DType dtype, int64_t count, int64_t elements, uint64_t seed)
      : in(random_tensor(dtype, {count, elements}, "", seed)),
        row_bytes(elements * dtype_bytes(dtype)),
        stride(row_bytes + 24),
        memory(static_cast<size_t>(count * stride), std::byte{0xa5}),
        scratch(static_cast<size_t>(row_bytes)) {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(memory.data() + i * stride, in.at(0) + i * row_bytes, static_cast<size_t>(row_bytes));
    rows = {memory.data(), count, stride, row_bytes, scratch.data()};
  }
  bool gaps_are_whole() const {
    for (int64_t i = 0; i < rows.count; ++i) {
      for (int64_t b = row_bytes; b < stride; ++b)
        if (memory[static_cast<size_t>(i * stride + b)] != std::byte{0xa5}) return false;
    }
    return true;
  }
  template <typename T>
  T now(int64_t row, int64_t element) const {
    T value;
    std::memcpy(&value, memory.data() + row * stride + element * static_cast<int64_t>(sizeof(T)),
                sizeof value);
    return value;
  }
  template <typename T>
  T before(int64_t row, int64_t element) const {
    T value;
    std::memcpy(&value, in.at(0) + row * row_bytes + element * static_cast<int64_t>(sizeof(T)), sizeof value);
    return value;
  }

  Tensor in;
  int64_t row_bytes, stride;
  std::vector<std::byte> memory, scratch;
  MixRows rows;
};

template <typename Stored, typename Real>
void expect_blend(DType dtype) {
  const double lambda = static_cast<double>(0.3127f);
  const Real share = static_cast<Real>(lambda), rest = static_cast<Real>(1 - lambda);
  for (SimdTarget target : simd_targets()) {
    for (int64_t count : {1, 2, 3, 7}) {
      for (int64_t elements : {1, 5, 16, 33, 511, 512, 1500}) {
        Rows rows(dtype, count, elements, static_cast<uint64_t>(elements + count));
        blend_rows(rows.rows, dtype, lambda, target);
        EXPECT_TRUE(rows.gaps_are_whole());
        int64_t wrong = 0;
        for (int64_t i = 0; i < count; ++i) {
          for (int64_t e = 0; e < elements; ++e) {
            const Real mine = convert<Real>(rows.before<Stored>(i, e));
            const Real other = convert<Real>(rows.before<Stored>((i + count - 1) % count, e));
            const Stored expected = convert<Stored>(other * rest + mine * share);
            const Stored got = rows.now<Stored>(i, e);
            // Of two NaNs either may be passed on.
            if (std::isnan(convert<double>(expected)) && std::isnan(convert<double>(got))) continue;
            wrong += std::memcmp(&expected, &got, sizeof got) != 0 ? 1 : 0;
          }
        }
        EXPECT_EQ(wrong, 0) << dtype_name(dtype) << " " << count << "x" << elements;
      }
    }
  }
}

TEST(MixRows, BlendIsTorchvisionsFormulaInEveryType) {
  expect_blend<float, float>(DType::kF32);
  expect_blend<double, double>(DType::kF64);
  expect_blend<Half, float>(DType::kF16);
  expect_blend<Bfloat, float>(DType::kBf16);
}

TEST(MixRows, PasteTakesTheRectangleOfTheRowBefore) {
  for (ImageLayout layout : {ImageLayout::kPlanar, ImageLayout::kInterleaved}) {
    for (int64_t count : {1, 2, 5}) {
      const ImageShape shape{layout, 3, 6, 9};
      Rows rows(DType::kF32, count, 3 * shape.pixels(), 11);
      const MixDraw draw{.lambda = 0.5, .top = 2, .bottom = 6, .left = 1, .right = 4};
      paste_rows(rows.rows, shape, 4, draw);
      EXPECT_TRUE(rows.gaps_are_whole());
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t y = 0; y < 6; ++y) {
          for (int64_t x = 0; x < 9; ++x) {
            for (int64_t c = 0; c < 3; ++c) {
              const int64_t at = layout == ImageLayout::kPlanar ? (c * 6 + y) * 9 + x : (y * 9 + x) * 3 + c;
              const bool inside = y >= 2 && y < 6 && x >= 1 && x < 4;
              const int64_t from = inside ? (i + count - 1) % count : i;
              ASSERT_EQ(rows.now<uint32_t>(i, at), rows.before<uint32_t>(from, at))
                  << i << " " << y << " " << x;
            }
          }
        }
      }
    }
  }
}

TEST(MixRows, NoRowsAndNoBytesAreFine) {
  blend_rows({}, DType::kF32, 0.5, SimdTarget::kPlain);
  paste_rows({}, {ImageLayout::kPlanar, 3, 4, 4}, 4,
             {.lambda = 1, .top = 0, .bottom = 2, .left = 0, .right = 2});
}

}  // namespace
}  // namespace dataline::tests::mix_test
