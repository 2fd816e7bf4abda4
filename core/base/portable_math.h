// exp, log, sine and the normal quantile from +, -, *, / and sqrt alone. The C library's versions differ in the last bit
// between machines, and so would everything drawn or weighted with them.
//
// Accuracy: 2 ulp of f64 (quantile: 16 digits of the argument's tail).
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace dataline {

double portable_exp(double x);  // 0 below -745, infinity above 709.78; NaN for NaN
double portable_log(double x);  // x > 0 and finite, not subnormal

// sin(pi t) and cos(pi t), |t| < 2^50, with an error below 1e-15 (cosine: after t + 0.5 is rounded); exact where the
// result is 0, 1 or -1.
double sin_pi(double t);
double cos_pi(double t);

// Rounds half to even, |value| < 2^51. std::llrint would be a function call.
inline int64_t to_nearest(double value) {
  constexpr double kShift = 0x1.8p52;
  return std::bit_cast<int64_t>(value + kShift) - std::bit_cast<int64_t>(kShift);
}

// x with P(normal < x) = p, 0 < p < 1. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988).
double normal_quantile(double p);

}  // namespace dataline
