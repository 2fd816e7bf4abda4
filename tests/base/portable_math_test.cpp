// exp, log and the normal quantile: near the C library's, which is right but differs between machines, and the very bits of
// ours, which may not.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/portable_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/random.h"

namespace dataline::portable_math_test {
namespace {

double ulps(double got, double expected) {
  return std::fabs(got - expected) / (std::nextafter(std::fabs(expected), HUGE_VAL) - std::fabs(expected));
}

TEST(PortableMath, ExpAndLogAreWithinTwoUlps) {
  for (uint64_t i = 0; i < 200000; ++i) {
    const double u = random_unit(mix64(i));
    const double x = (u - 0.5) * 1400;
    if (std::fabs(x) < 707) {
      EXPECT_LE(ulps(portable_exp(x), std::exp(x)), 2) << x;
    }
    const double y = std::exp((u - 0.5) * 60);
    if (std::fabs(y - 1) > 1e-3) {
      EXPECT_LE(ulps(portable_log(y), std::log(y)), 2) << y;
    }
  }
}

TEST(PortableMath, SineAndCosineOfHalfTurnsAreNearAndExactAtQuarters) {
  for (uint64_t i = 0; i < 200000; ++i) {
    const double t = (random_unit(mix64(i)) - 0.5) * 4;
    EXPECT_NEAR(sin_pi(t), static_cast<double>(std::sin(t * 3.14159265358979323846L)), 2e-15) << t;
    EXPECT_NEAR(cos_pi(t), static_cast<double>(std::cos(t * 3.14159265358979323846L)), 2e-15) << t;
    EXPECT_EQ(to_nearest(t * 1000), std::llrint(t * 1000));
  }
  for (int quarter = -8; quarter <= 8; ++quarter) {
    EXPECT_EQ(sin_pi(quarter * 0.5), quarter % 2 == 0                        ? 0
                                     : quarter % 4 == 1 || quarter % 4 == -3 ? 1
                                                                             : -1)
        << quarter;
    EXPECT_EQ(cos_pi(quarter * 0.5), quarter % 2 != 0 ? 0 : quarter % 4 == 0 ? 1 : -1) << quarter;
  }
}

TEST(PortableMath, EndsOfTheRange) {
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-1e9), 0);
  EXPECT_EQ(portable_exp(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(portable_exp(1e9), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(portable_exp(std::nan(""))));
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_LE(ulps(portable_log(0x1p-1000), -1000 * portable_log(2)), 1);
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(PortableMath, QuantileInvertsTheNormalDistribution) {
  for (const double p :
       {1e-300, 1e-20, 1e-9, 0.001, 0.0749, 0.0751, 0.3, 0.5, 0.9249, 0.9251, 0.999, 1 - 1e-12}) {
    const double x = normal_quantile(p);
    const double back =
        p < 0.5 ? 0.5 * std::erfc(-x / std::sqrt(2.0)) : 1 - 0.5 * std::erfc(x / std::sqrt(2.0));
    EXPECT_NEAR(back / p, 1, 1e-11) << p;
  }
}

TEST(PortableMath, BitsAreTheSameOnEveryMachine) {
  uint64_t digest = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    const double u = random_unit(mix64(i)) + 0x1p-60;
    for (const double value : {portable_exp((u - 0.5) * 100), portable_log(u), normal_quantile(u)})
      digest = mix64(digest ^ std::bit_cast<uint64_t>(value));
  }
  EXPECT_EQ(digest, 7989601946091654336u);
}

}  // namespace
}  // namespace dataline::portable_math_test
