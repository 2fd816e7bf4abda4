// What counts as a weight, decided by its bits: hosts that flush denormals to zero get the same order as the
// others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace dataline {

// Whether a sample of this weight can be drawn; the weight is finite and not negative. Weights below 2^-1022
// (denormal numbers) count as 0.
inline bool can_be_drawn(double weight) { return (std::bit_cast<uint64_t>(weight) << 1 >> 53) != 0; }

}  // namespace dataline
