// SPDX-License-Identifier: Apache-2.0
#include "core/transform/mix/beta.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/portable_math.h"

namespace dataline {
namespace {

// An attempt fails with a probability of 1/2 at most.
constexpr int64_t kAttempts = 1000;

// In (0, 1), 53 bits.
double open_unit(const Draws& draws, int64_t number) {
  return (static_cast<double>(draws.bits(number) >> 11) + 0.5) * 0x1.0p-53;
}

std::optional<double> by_powers(double u, double v, double a) {
  double x = portable_log(u) / a, y = portable_log(v) / a;
  if (portable_exp(x) + portable_exp(y) > 1) return std::nullopt;
  const double larger = std::max(x, y);
  x = portable_exp(x - larger);
  y = portable_exp(y - larger);
  return x / (x + y);
}

std::optional<double> by_disc(double u, double v, double a) {
  u = 2 * u - 1;
  v = 2 * v - 1;
  const double s = u * u + v * v;
  if (s > 1 || s < 0x1.0p-100) return std::nullopt;
  const double power = portable_exp(portable_log(s) * (2 / (2 * a - 1)));
  return 0.5 + u * v / s * std::sqrt(std::max(1 - power, 0.0));
}

}  // namespace

double draw_symmetric_beta(const Draws& draws, int64_t first, double a) {
  for (int64_t attempt = 0; attempt < kAttempts; ++attempt) {
    const double u = open_unit(draws, first + 2 * attempt), v = open_unit(draws, first + 2 * attempt + 1);
    const std::optional<double> value = a <= 1 ? by_powers(u, v, a) : by_disc(u, v, a);
    if (value) return static_cast<double>(static_cast<float>(*value));
  }
  return 0.5;
}

}  // namespace dataline
