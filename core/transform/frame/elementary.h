// Sine, cosine and rounding that give the same bits on every platform, beside core/base/portable_math.h: the last bits of a
// libm's differ, and weights and positions are rounded from them. f64 products and sums that no compiler may fuse
// (-ffp-contract=off).
//
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace dataline {

// To the nearest integer, halves to the even one, for |value| < 2^51: std::llrint is a call.
inline int64_t to_nearest(double value) {
  constexpr double kShift = 0x1.8p52;
  return std::bit_cast<int64_t>(value + kShift) - std::bit_cast<int64_t>(kShift);
}

// sin(pi t), |t| < 2^50, off by less than 1e-15; exact where it is 0, 1 or -1. Taylor around the nearest of those.
inline double sin_pi(double t) {
  constexpr double kPi = 3.14159265358979323846;
  const int64_t turns = to_nearest(t);
  const double r = t - static_cast<double>(turns);  // -0.5 .. 0.5
  const bool steep = r > -0.25 && r < 0.25;
  const double y = (steep ? r : 0.5 - std::abs(r)) * kPi, z = y * y;
  double sine;
  if (steep) {
    double series = -1.0 / 1307674368000.0;  // down from 1/15!
    for (const double term :
         {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0})
      series = series * z + term;
    sine = y * series;
  } else {
    double series = 1.0 / 20922789888000.0;  // down from 1/16!
    for (const double term : {-1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0,
                              -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0})
      series = series * z + term;
    sine = r < 0 ? -series : series;
  }
  return (turns & 1) != 0 ? -sine : sine;
}

inline double cos_pi(double t) { return sin_pi(t + 0.5); }

}  // namespace dataline
