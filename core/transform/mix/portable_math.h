// Logarithm and exponential that have the same bits on every machine, which those of the C library do not: sums and
// products of IEEE doubles, never contracted (-ffp-contract=off). About one unit in the last place from the truth.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace dataline {

// ln 2 in two parts: the upper one has 21 bits to spare, so that small multiples of it are exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// Of a normal number above 0.
inline double portable_log(double x) {
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1, kHalf = uint64_t{0x3fe} << 52;
  const auto bits = std::bit_cast<uint64_t>(x);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 0x3fe;
  double m = std::bit_cast<double>((bits & kMantissa) | kHalf);  // [1/2, 1)
  if (m < 0x1.6a09e667f3bcdp-1) {                                // the square root of 1/2
    m *= 2;
    --exponent;
  }
  // 2 atanh(s), |s| < 0.172: the terms left out are below 2^-60.
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int term = 21; term >= 3; term -= 2) sum = (sum + 1.0 / term) * square;
  const double e = static_cast<double>(exponent);
  return e * kLn2High + (e * kLn2Low + (2 * s * sum + 2 * s));
}

// Of a number up to 700; 0 below -700.
inline double portable_exp(double x) {
  if (x < -700) return 0;
  const double scaled = x * 0x1.71547652b82fep+0;  // to the base 2
  const auto exponent = static_cast<int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const double k = static_cast<double>(exponent);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| < 0.35: the terms left out are below 2^-60
  double sum = 1;
  for (int term = 14; term >= 1; --term) sum = 1 + sum * r / term;
  return sum * std::bit_cast<double>(static_cast<uint64_t>(exponent + 0x3ff) << 52);
}

}  // namespace dataline
