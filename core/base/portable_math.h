// exp, log, sine and the normal quantile from sums, products, quotients and square roots alone: the C library's differ in the
// last bit from machine to machine, and with them whatever is drawn or weighted by them.
//
// Accuracy: 2 units in the last place of f64 (quantile: 16 digits of the argument's tail).
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace dataline {

double portable_exp(double x);  // 0 below -745, infinity above 709.78; NaN for NaN
double portable_log(double x);  // x > 0 and finite, not subnormal

// sin(pi t) and cos(pi t), |t| < 2^50, off by less than 1e-15 (the cosine: once t + 0.5 is rounded); exact where they
// are 0, 1 or -1.
double sin_pi(double t);
double cos_pi(double t);

// To the nearest integer, halves to the even one, for |value| < 2^51: std::llrint is a call.
inline int64_t to_nearest(double value) {
  constexpr double kShift = 0x1.8p52;
  return std::bit_cast<int64_t>(value + kShift) - std::bit_cast<int64_t>(kShift);
}

// x with P(normal < x) = p, 0 < p < 1. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988).
double normal_quantile(double p);

}  // namespace dataline
