// Operators of RandAugment and TrivialAugmentWide against golden vectors that torchvision's classes made.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/transform/color/auto_augment.h"
#include "tests/transform/golden/golden.h"

namespace dataline::policy_test {
namespace {

AugmentSpace space_of(const GoldenCase& one) {
  return one.op.ends_with("_rand") ? AugmentSpace::kRand : AugmentSpace::kTrivialWide;
}
Augment augment_of(const GoldenCase& one) { return static_cast<Augment>(one.whole(0)); }

// Moved pixels: positions are f32 there and f64 here, so that one half way between two pixels may go to either.
GoldenRule rule_of(const GoldenCase& one) {
  if (!one.op.starts_with("policy")) return {};
  const bool moves = augment_of(one) >= Augment::kShearX && augment_of(one) <= Augment::kRotate;
  if (!moves) return {one.op + " levels", 0, 0};
  return one.arguments[3] == "nearest" ? GoldenRule{one.op + " nearest", 255, 1e-3}
                                       : GoldenRule{one.op + " bilinear", 2, 5e-3};
}

Status run(const GoldenCase& one, SimdTarget target, Canvas& canvas) {
  const float magnitude = augment_magnitude(space_of(one), augment_of(one), one.whole(1), 31,
                                            canvas.frame.height, canvas.frame.width);
  AugmentStyle style;
  if (one.arguments[3] == "bilinear") style = {Filter::kBilinear, {{20, 40, 60}}};
  return apply_augment(augment_of(one), static_cast<float>(one.whole(2)) * magnitude, style,
                       color_kernels(target), canvas.scratch, canvas.frame);
}

TEST(PolicyFidelity, EachOperatorGivesTheLevelsOfTorchvision) {
  EXPECT_EQ(compare_golden("color", rule_of, run), 6u);
}

TEST(PolicyFidelity, MagnitudesAreThoseOfTorchvisionsTables) {
  int64_t tables = 0;
  for (const GoldenCase& one : read_golden("color").cases) {
    tables += one.magnitudes.empty() ? 0 : 1;
    for (size_t bin = 0; bin < one.magnitudes.size(); ++bin) {
      EXPECT_EQ(augment_magnitude(space_of(one), augment_of(one), static_cast<int64_t>(bin),
                                  static_cast<int64_t>(one.magnitudes.size()), 224, 333),
                one.magnitudes[bin])
          << one.line << " bin " << bin;
    }
  }
  EXPECT_EQ(tables, 22);
}

}  // namespace
}  // namespace dataline::policy_test
