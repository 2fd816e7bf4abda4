// Beta(a, a), from counters: the same bits on every machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/transform/frame/draws.h"

namespace dataline {

// One value, rounded to f32 as torch.distributions.Beta gives it. Takes draws from `first` on, a pair an attempt.
// a <= 1: Joehnk's algorithm (M. D. Joehnk, Metrika 8, 1964), in logarithms, so that a may be as small as it likes.
// a > 1: the symmetric beta by a point of the unit disc (L. Devroye, "Random variate generation in one line of code",
// 1996; after G. Ulrich, Applied Statistics 33, 1984).
double draw_symmetric_beta(const Draws& draws, int64_t first, double a);

}  // namespace dataline
