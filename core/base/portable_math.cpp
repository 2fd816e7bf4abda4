// SPDX-License-Identifier: Apache-2.0
#include "core/base/portable_math.h"

#include <cmath>
#include <limits>
#include <span>

namespace dataline {
namespace {

// log(2) in two parts: integer multiples of the high part up to 2^11 are exact.
constexpr double kLog2High = 0x1.62e42fefa0000p-1;
constexpr double kLog2Low = 0x1.cf79abc9e3b39p-40;
constexpr double kPerLog2 = 1.4426950408889634074;

// coefficients[0] + coefficients[1] * x + ...
double polynomial(std::span<const double> coefficients, double x) {
  double sum = 0;
  for (size_t i = coefficients.size(); i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// As polynomial(), with a first coefficient of 1 that is left out.
double polynomial_from_1(std::span<const double> coefficients, double x) {
  return polynomial(coefficients, x) * x + 1;
}

}  // namespace

double portable_exp(double x) {
  constexpr double kMin = -745.2, kMax = 709.79;
  constexpr int kTerms = 14;  // |r| <= log(2) / 2: the next term is below 2^-58
  if (std::isnan(x)) return x;
  if (x < kMin) return 0;
  if (x > kMax) return std::numeric_limits<double>::infinity();
  const double twos = std::floor(x * kPerLog2 + 0.5);
  const double r = (x - twos * kLog2High) - twos * kLog2Low;
  double sum = 1;
  for (int k = kTerms; k > 0; --k) sum = 1 + sum * r / k;
  return std::ldexp(sum, static_cast<int>(twos));
}

double portable_log(double x) {
  constexpr double kRootHalf = 0.70710678118654752440;
  constexpr int kLastPower = 23;  // of f, |f| < 0.1716
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < kRootHalf) {
    m *= 2;
    --exponent;
  }
  // log(m) = 2 artanh(f)
  const double f = (m - 1) / (m + 1), square = f * f;
  double sum = 0;
  for (int k = kLastPower; k > 1; k -= 2) sum = (sum + 1.0 / k) * square;
  return exponent * kLog2High + (2 * f * sum + exponent * kLog2Low + 2 * f);
}

// Taylor around the nearest zero or extremum.
double sin_pi(double t) {
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

double cos_pi(double t) { return sin_pi(t + 0.5); }

double normal_quantile(double p) {
  static constexpr double kMiddleTop[] = {
      3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kMiddleBottom[] = {
      4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
      3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3};
  static constexpr double kNearTop[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                        5.76949722146069140550e0,  3.64784832476320460504e0,
                                        1.27045825245236838258e0,  2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kNearBottom[] = {2.05319162663775882187e0,  1.67638483018380384940e0,
                                           6.89767334985100004550e-1, 1.48103976427480074590e-1,
                                           1.51986665636164571966e-2, 5.47593808499534494600e-4,
                                           1.05075007164441684324e-9};
  static constexpr double kFarTop[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                       1.78482653991729133580e0,  2.96560571828504891230e-1,
                                       2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                       2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kFarBottom[] = {5.99832206555887937690e-1, 1.36929880922735805310e-1,
                                          1.48753612908506148525e-2, 7.86869131145613259100e-4,
                                          1.84631831751005468180e-5, 1.42151175831644588870e-7,
                                          2.04426310338993978564e-15};
  constexpr double kMiddle = 0.425, kSplit = 5.0, kNear = 1.6;
  const double q = p - 0.5;
  if (std::fabs(q) <= kMiddle) {
    const double r = kMiddle * kMiddle - q * q;
    return q * polynomial(kMiddleTop, r) / polynomial_from_1(kMiddleBottom, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  const double away = r <= kSplit
                          ? polynomial(kNearTop, r - kNear) / polynomial_from_1(kNearBottom, r - kNear)
                          : polynomial(kFarTop, r - kSplit) / polynomial_from_1(kFarBottom, r - kSplit);
  return q < 0 ? -away : away;
}

}  // namespace dataline
