// exp, log and the normal quantile from sums, products, quotients and square roots alone: the C library's differ in the
// last bit from machine to machine, and with them whatever is drawn or weighted by them.
//
// Accuracy: 2 units in the last place of f64 (quantile: 16 digits of the argument's tail).
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dataline {

double portable_exp(double x);  // 0 below -745, infinity above 709.78; NaN for NaN
double portable_log(double x);  // x > 0 and finite, not subnormal

// x with P(normal < x) = p, 0 < p < 1. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988).
double normal_quantile(double p);

}  // namespace dataline
